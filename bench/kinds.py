"""The scenario `kinds`: every kind of tool over REST, beside its bare runner and beside a tool that does nothing.

What a call of a kind costs is what its runner costs and what the server adds to any call; the goal holds the sum.
"""

import json
import pathlib
import statistics

# The reference server of the other scenarios is the API that the http tool calls.
ECHO_PATH = "/api/v1/tools/x/call"
ECHO_BODY = {"arguments": {"data": "x"}}

# Name, kind, config, arguments, answer, bare runner, what the call may be over runner and server together. What is above 1 is
# the kind's own: waking up for another process's answer, which the blocking bare runners do not, and for programs a
# supervisor that ends them with everything they start, which is one more program to start. The executor's part is the call
# that does nothing, and the same for all.
KINDS = [
    ("k_python", "python", {"script": "add.py"}, {"n": 41}, 42, "python", 2.0),
    ("k_expression", "expression", {"expression": "num1 * num2"}, {"num1": 6, "num2": 7}, 42, "expression", 1.5),
    ("k_shell", "shell", {"command": ["/bin/true"], "stdin": ""}, {}, "", "shell", 12.0),
    ("k_http", "http", None, {}, "x", None, 2.0),
]


def workspace(folder, echo):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    (folder / "add.py").write_text("def execute(n):\n    return n + 1\n")
    tools = []
    for name, kind, config, arguments, *_ in KINDS:
        schema = {"type": "object", "properties": {key: {"type": "integer"} for key in arguments}}
        config = config or {"base_url": echo, "method": "POST", "path": ECHO_PATH, "body": ECHO_BODY, "response": "/tool_name"}
        # The goal for Python is for a tool as people write it, which says nothing of itself: it may have effects, so that it
        # has begun is written down before it runs.
        told = {} if kind == "python" else {"read_only": True}
        tools.append({"name": name, "description": f"measures {kind}", "kind": kind, "config": config,
                      "input_schema": schema, "parallel_capable": True, "annotations": told})
    (folder / "tools.json").write_text(json.dumps({"version": 1, "tools": tools}))
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {}}))
    return folder


def run(bench, report, engine, number):
    """`bench` and `report` are run.py's."""
    if engine != "sqlite":
        report.note("measured on SQLite only: the runners do not depend on the engine")
        return
    echo = bench.start([bench.bench, "bare-echo", "--listen", "127.0.0.1:0"])
    folder = workspace(bench.folder / "kinds", echo.url)
    command = [bench.binary, "serve", "--workspace", folder, "--data", bench.folder / "kinds-data", "--listen", "127.0.0.1:0"]
    server = bench.start(command, bench.environment(False))
    for name, kind, _, arguments, answer, runner, limit in KINDS:
        rounds = []
        for _ in range(bench.options.rounds):
            bare = bench.tool("runner", runner, "--calls", 300 if kind == "shell" else 3000, "--program", bench.binary) if runner else None
            nothing = bench.call(server, 1)
            called = bench.load(server, f"/api/v1/tools/{name}/call", 1, "--method", "POST", *bench.key_header(),
                                "--body", json.dumps({"arguments": arguments}), "--expect", f"/data={json.dumps(answer)}")
            if bare is None:
                bare = bench.load(echo, ECHO_PATH, 1, "--method", "POST", "--body", json.dumps(ECHO_BODY))
            rounds.append((bare, nothing, called))
        mid = lambda i: statistics.median(r[i]["p50_us"] for r in rounds)
        errors = sum(r[2]["errors"] for r in rounds)
        ratio = statistics.median(r[2]["p50_us"] / (r[0]["p50_us"] + r[1]["p50_us"]) for r in rounds)
        report.note(f"{kind:<10} call {number(mid(2), 1)} µs, bare runner {number(mid(0), 1)} µs ({number(mid(2) / mid(0), 2)} of it), "
                    f"a call that does nothing {number(mid(1), 1)} µs")
        report.goal(f"{kind} over its bare runner and a call that does nothing", engine, ratio, limit, errors=errors)
        if kind == "expression":
            report.goal("expression, sealed worker and its socket, median", engine, mid(0), 20, " µs")
        if kind == "python":
            each = bench.tool("runner", "python-process", "--calls", 60)
            report.note(f"a Python process for each call: {number(each['p50_us'] / 1000, 1)} ms")
            report.goal("python, warm, median over REST", engine, mid(2) / 1000, 0.25, " ms", errors=errors)
