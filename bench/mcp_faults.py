"""The scenarios `mcp-faults` and `mcp-sessions`: what a bad upstream does to everybody else, and what sessions cost.

The bad upstream is the one of the tests (crates/mcp/tests/it/fake.py): it writes down whatever it runs.
"""

import http.client
import itertools
import json
import os
import pathlib
import random
import socket
import statistics
import threading
import time

import mcp

FAKE = pathlib.Path(__file__).resolve().parent.parent / "crates/mcp/tests/it/fake.py"
KILLS = 50
# What the upstream is asked to do wrong, in turn; the call is the one that fails, and nothing else may.
FAULTS = [("die", {}), ("hang", {}), ("noise", {}), ("half", {}), ("big", {"bytes": 10_000_000}), ("neither", {})]


class Api:
    """Calls over REST, one connection each thread."""

    def __init__(self, bench, server):
        self.place, self.key, self.local = server.url.split("//")[1], bench.key, threading.local()

    def call(self, tool, arguments, timeout=None):
        if not hasattr(self.local, "line"):
            self.local.line = http.client.HTTPConnection(self.place, timeout=30)
        body = {"arguments": arguments, **({"timeout_seconds": timeout} if timeout else {})}
        headers = {"X-API-Key": self.key, "Content-Type": "application/json"}
        self.local.line.request("POST", f"/api/v1/tools/{tool}/call", json.dumps(body), headers)
        return json.load(self.local.line.getresponse())


def workspace(folder, note):
    folder.mkdir()
    any_arguments = {"type": "object"}
    names = [*(name for name, _ in FAULTS), "count", "pid"]
    tools = [{"name": f"bad_{name}", "description": "of the bad server", "kind": "mcp", "input_schema": any_arguments,
              "parallel_capable": True, "config": {"server_name": "bad", "tool_name": name}} for name in names]
    (folder / "tools.json").write_text(json.dumps({"version": 1, "tools": tools}))
    bad = {"command": "python3", "args": [str(FAKE), "legacy", "stdio", str(note)]}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"bad": bad}}))


def below(pid):
    """How many processes a server has started that live."""
    children = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        fields = text.rsplit(") ", 1)[1].split()
        if fields[0] not in "ZX":
            children.setdefault(int(fields[1]), []).append(int(text.split(" ", 1)[0]))
    waiting, found = [pid], 0
    while waiting:
        for child in children.get(waiting.pop(), []):
            found += 1
            waiting.append(child)
    return found


def files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def resident(pid):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def until(what, done, seconds=60):
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise RuntimeError(f"it did not come to pass: {what}")
        time.sleep(0.05)


def misbehave(api, over, counted, figures):
    """Kills the upstream again and again, and lets it do everything else that is wrong between."""
    for number, (fault, arguments) in enumerate(itertools.cycle(FAULTS)):
        if figures["kills"] >= KILLS or over.is_set():
            break
        # A call that is under way when the server dies may have run once; never twice.
        name = f"k{number}"
        counted.append(name)
        waiting = threading.Thread(target=api.call, args=("bad_count", {"n": name}))
        waiting.start()
        pid = api.call("bad_pid", {})
        if number % 2 == 0 and pid["status"] == "success":
            try:
                os.kill(int(pid["data"]), 9)
                figures["kills"] += 1
            except ProcessLookupError:
                pass
        else:
            api.call(f"bad_{fault}", arguments, 0.2)
            figures["kills"] += fault in ("die", "half")
        waiting.join()
        over.wait(random.uniform(0.1, 0.4))
    over.set()


def faults(bench, report, engine):
    """Other tools while an upstream is killed and misbehaves."""
    if engine != "sqlite":
        report.note("measured on SQLite only")
        return
    folder, note = bench.folder / "faults", bench.folder / "faults.note"
    note.touch()
    workspace(folder, note)
    command = [bench.binary, "serve", "--workspace", folder, "--data", bench.folder / "faults-data", "--listen", "127.0.0.1:0"]
    server = bench.start(command, bench.environment(False))
    api, pid = Api(bench, server), server.process.pid
    until("the bad server answers", lambda: api.call("bad_count", {"n": "first"})["status"] == "success")
    children, open_files = below(pid), files(pid)
    calm = [bench.call(server, 1) for _ in range(4 * bench.options.rounds)]
    over, counted, figures = threading.Event(), ["first"], {"kills": 0}
    trouble = threading.Thread(target=misbehave, args=(api, over, counted, figures))
    trouble.start()
    bad = []
    while not over.is_set():
        bad.append(bench.call(server, 1))
    trouble.join()
    until("the bad server is well again", lambda: api.call("bad_count", {"n": "last"})["status"] == "success")
    report.row("mcp-faults", engine, "calm", calm)
    errors = report.row("mcp-faults", engine, "in trouble", bad)[1]
    ratio = statistics.median(r["p99_us"] for r in bad) / statistics.median(r["p99_us"] for r in calm)
    report.note(f"{figures['kills']} deaths of the upstream, {len(counted)} calls of it under way meanwhile")
    report.goal("p99 of other tools in trouble over calm", engine, ratio, 1.5, errors=errors)
    ran = [line for line in note.read_text().splitlines() if line.startswith("count ")]
    twice = [name for name in counted[1:] if ran.count(f"count {name}") > 1]
    report.goal("calls that ran twice", engine, len(twice), 0)
    until("the processes of the upstream are gone", lambda: below(pid) <= children)
    report.goal("processes that are left", engine, below(pid) - children, 0)
    until("its files are closed", lambda: files(pid) <= open_files + 2)
    report.goal("files that are left open", engine, files(pid) - open_files, 2)


def begin(bench, server, keep):
    """A legacy session; with `keep`, and the stream that it holds open."""
    session = mcp.session_of(bench, server)
    if not keep:
        return None
    place = server.url.split("//")[1]
    host, port = place.rsplit(":", 1)
    stream = socket.create_connection((host, int(port)), timeout=60)
    stream.sendall((f"GET /mcp HTTP/1.1\r\nHost: {place}\r\nX-API-Key: {bench.key}\r\nAccept: text/event-stream\r\n"
                    f"Mcp-Session-Id: {session}\r\n\r\n").encode())
    if b"200" not in stream.recv(4096):
        raise RuntimeError("the session has no stream")
    return stream


def sessions(bench, report, engine):
    """2,000 sessions that nobody uses any more, and 1,000 that somebody holds."""
    if engine != "sqlite":
        report.note("measured on SQLite only")
        return
    environment = bench.environment(False)
    environment["TOOLCRIB_MCP_SESSION_IDLE_SECONDS"] = "5"
    server = bench.start(bench.serve_command(0), environment)
    pid = server.process.pid
    # What the first hundred need is needed once.
    for _ in range(100):
        begin(bench, server, False)
    time.sleep(12)
    before = resident(pid)
    for _ in range(2_000):
        begin(bench, server, False)
    peak = resident(pid)
    time.sleep(12)
    after = resident(pid)
    report.note(f"2,000 sessions opened and abandoned: {before} kB before, {peak} kB with them, {after} kB after their time")
    report.goal("memory after 2,000 abandoned sessions over before", engine, after / before, 1.1)
    before = resident(pid)
    held = [begin(bench, server, True) for _ in range(1_000)]
    each = (resident(pid) - before) / len(held)
    report.goal("memory of a session that is held, its stream included", engine, each, 40, " kB")
    for stream in held:
        stream.close()
