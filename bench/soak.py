"""The scenario `soak`: a million calls of every kind, over every face, one in ten of them wrong; then what they left behind.

Not part of `make bench`: it takes minutes. Memory is that of the server and all processes below it, after each slice; the first
slices fill caches and are not counted. What grows with the number of calls shows as a slope, whatever it is.
"""

import json
import os
import pathlib
import subprocess
import time
import urllib.request

import kinds
import mcp
import mcp_faults
import sql

CALLS = 1_000_000
SLICE = 50_000
# Slices that fill caches, pools and the allocator's arenas: 100,000 calls.
WARM = 2
GROWTH_MB = 5.0
ECHO = {"data": "row {i},\u00a0column {j}"}
CLEANED = '"row {i}, column {j}"'


def workspace(bench, echo, rows):
    folder = kinds.workspace(bench.folder / "soak", echo.url)
    tools = json.loads((folder / "tools.json").read_text())["tools"]
    # One that fails while it runs, and one that is over its time: both are errors of the tool, not of the request.
    (folder / "fail.py").write_text("def execute(n):\n    raise ValueError('no ' + str(n))\n")
    number = {"type": "object", "properties": {"n": {"type": "integer"}}}
    tools.append({"name": "k_fail", "description": "fails", "kind": "python", "config": {"script": "fail.py"},
                  "input_schema": number, "parallel_capable": True})
    (folder / "tools.json").write_text(json.dumps({"version": 1, "tools": [*tools, sql.TOOL]}))
    (folder / "toolcrib.toml").write_text(f'[sources.bench]\nkind = "sqlite"\npath = "{rows}"\n')
    return folder


def mixture(bench, server, session):
    """Name, how many of a thousand, path, and what `bench load` is told of it. One in ten is an error that is expected."""
    def rest(tool, arguments, *expect, status=200):
        return (f"/api/v1/tools/{tool}/call", ["--method", "POST", *bench.key_header(), "--status", status,
                                               "--body", json.dumps({"arguments": arguments}, ensure_ascii=False).replace('"{i%10000}"', "{i%10000}"),
                                               *(part for it in expect for part in ("--expect", it))])

    def over_mcp(tool, arguments, expect, session=None):
        body = mcp.message("tools/call", {"name": tool, "arguments": arguments}, not session)
        return "/mcp", ["--method", "POST", *mcp.headers(bench, "tools/call", tool, session), "--body", body, "--expect", expect]

    cleaned = f"/result/structuredContent/result={CLEANED}"
    return [
        ("builtin over REST", 200, *rest("serialize_for_cell", ECHO, f"/data={CLEANED}")),
        ("calculator over REST", 80, *rest("calculator", {"expression": "{i} + {j}"}, '/status="success"')),
        ("builtin over MCP, modern", 200, *over_mcp("serialize_for_cell", ECHO, cleaned)),
        ("builtin over MCP, legacy", 100, *over_mcp("serialize_for_cell", ECHO, cleaned, session)),
        ("sql over REST", 100, *rest("user_by_id", sql.ASKED, f"/data={sql.ROW}")),
        ("expression over REST", 80, *rest("k_expression", {"num1": 6, "num2": 7}, "/data=42")),
        ("python over REST", 60, *rest("k_python", {"n": 41}, "/data=42")),
        ("http over REST", 60, *rest("k_http", {}, '/data="x"')),
        ("shell over REST", 2, *rest("k_shell", {}, '/data=""')),
        ("list of tools", 9, "/api/v1/tools?limit=50", [*bench.key_header(), "--expect", "/items/0/is_active=true"]),
        ("choosing", 9, "/api/v1/select", ["--method", "POST", *bench.key_header(), "--body", '{"query":"what is {i} times {j}?"}',
                                           "--expect", '/outcome="call"']),
        ("wrong: arguments", 30, *rest("calculator", {"expression": 5}, '/status="error"', status=422)),
        ("wrong: no such tool", 20, *rest("made_up_{i}", {}, '/status="error"', status=404)),
        ("wrong: a sum that has no answer", 20, *rest("calculator", {"expression": "{i} / 0"}, '/status="error"', status=502)),
        ("wrong: fails in its script", 10, *rest("k_fail", {"n": 1}, '/status="error"', status=502)),
        ("wrong: no such tool over MCP", 10, "/mcp", ["--method", "POST", *mcp.headers(bench, "tools/call", "made_up"), "--status", 400,
                                                      "--body", mcp.message("tools/call", {"name": "made_up", "arguments": {}}, True),
                                                      "--expect", "/error/code=-32602"]),
        ("wrong: key", 10, "/api/v1/tools", ["--header", "X-API-Key: not-{i}-a-key", "--status", 401]),
    ]


def slice_of(bench, server, mixed, calls):
    """All kinds at once, each with its share of the calls; how many were sent and what was not as expected."""
    running = []
    for name, share, path, told in mixed:
        count = calls * share // 1000
        command = [bench.bench, "load", "--url", server.url + path, "--conns", 2, "--seconds", 3600, "--warmup", 0,
                   "--requests-max", count, "--timeout-seconds", 60, *told]
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        bench.processes.append(process)
        running.append((name, count, process))
    sent, problems = 0, []
    for name, count, process in running:
        out, errors = process.communicate(timeout=3600)
        bench.processes.remove(process)
        if process.returncode != 0:
            raise RuntimeError(f"{name}: {errors.strip()[-1000:]}")
        figures = json.loads(out.splitlines()[-1])
        sent += figures["requests"]
        if figures["errors"] or figures["requests"] != count:
            problems.append(f"{name}: {figures['errors']} errors, {figures['requests']} of {count}: {figures['first_error']}")
    return sent, problems


def metrics(bench, server):
    request = urllib.request.Request(server.url + "/metrics", headers={"X-API-Key": bench.key})
    with urllib.request.urlopen(request, timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


def tree(pid):
    """The server and everything below it that lives."""
    children, found, waiting = {}, [], [pid]
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        fields = text.rsplit(") ", 1)[1].split()
        if fields[0] not in "ZX":
            children.setdefault(int(fields[1]), []).append(int(text.split(" ", 1)[0]))
    while waiting:
        found.append(waiting.pop())
        waiting.extend(children.get(found[-1], []))
    return found


def state(bench, server):
    """Memory in MB, files and threads of the whole tree, and tasks of the server."""
    resident = files = threads = 0
    everyone = tree(server.process.pid)
    for pid in everyone:
        try:
            resident += mcp_faults.resident(pid)
            files += mcp_faults.files(pid)
            threads += len(os.listdir(f"/proc/{pid}/task"))
        except (OSError, StopIteration):
            continue
    return {"mb": resident / 1024, "files": files, "threads": threads, "processes": len(everyone),
            "tasks": metrics(bench, server)["toolcrib_tasks"]}


def settled(bench, server):
    """The state once the connections of the last slice are gone: a closed one needs a moment on both sides."""
    last, deadline = state(bench, server), time.monotonic() + 10
    while time.monotonic() < deadline:
        time.sleep(0.5)
        now = state(bench, server)
        if (now["files"], now["tasks"], now["threads"]) == (last["files"], last["tasks"], last["threads"]):
            return now
        last = now
    return last


def slope(points):
    """Of the straight line nearest to the points, by least squares."""
    middle_x = sum(x for x, _ in points) / len(points)
    middle_y = sum(y for _, y in points) / len(points)
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / sum((x - middle_x) ** 2 for x, _ in points)


def run(bench, report, engine):
    """`bench` and `report` are run.py's. The engine is the log's and the registry's; rows are read from SQLite."""
    calls = int(os.environ.get("SOAK_CALLS", CALLS))
    each = max(calls // (CALLS // SLICE), 1_000)
    echo = bench.start([bench.bench, "bare-echo", "--listen", "127.0.0.1:0"])
    rows = bench.folder / f"soak-{engine}.db"
    bench.start([bench.bench, "bare-sql", "--listen", "127.0.0.1:0", "--sqlite", rows])
    folder = bench.folder / "soak"
    if not folder.exists():
        workspace(bench, echo, rows)
    command = [bench.binary, "serve", "--workspace", folder, "--data", bench.folder / f"soak-data-{engine}", "--listen", "127.0.0.1:0"]
    server = bench.start(command, bench.environment(engine == "postgres"))
    mixed = mixture(bench, server, mcp.session_of(bench, server))
    states, sent, problems, began = [], 0, [], time.monotonic()
    while sent < calls:
        count, wrong = slice_of(bench, server, mixed, each)
        sent, problems = sent + count, problems + wrong
        states.append((sent, settled(bench, server)))
        now = states[-1][1]
        report.note(f"{sent:>9,} calls after {time.monotonic() - began:5.0f} s: {now['mb']:.1f} MB, {now['files']} files, "
                    f"{now['threads']} threads, {now['processes']} processes, {now['tasks']:.0f} tasks")
    for problem in problems[:5]:
        report.note(f"not as expected: {problem}")
    report.rows.append({"scenario": "soak", "engine": engine, "case": "states", "rounds": [now | {"calls": n} for n, now in states]})
    counted = states[WARM - 1:]
    growth = slope([(n, now["mb"]) for n, now in counted]) * (counted[-1][0] - counted[0][0])
    report.goal("calls that were answered otherwise than expected", engine, len(problems), 0)
    report.goal(f"memory that grew over the last {counted[-1][0] - counted[0][0]:,} calls, by the slope", engine, growth, GROWTH_MB, " MB")
    for what in ("files", "tasks", "threads", "processes"):
        grown = slope([(n, now[what]) for n, now in counted]) * (counted[-1][0] - counted[0][0])
        report.goal(f"{what} that were added, by the slope", engine, grown, 4)
