"""The scenario `mcp`: calls over MCP in both eras beside the same call over REST and the bare server, a long list, and a
server that stands in front of another one.

What it is beside other programs is peers.py's.
"""

import json
import statistics
import time
import urllib.request

MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}


def message(method, params, modern):
    if modern:
        params = {**params, "_meta": META}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, ensure_ascii=False)


def headers(bench, method, name=None, session=None):
    lines = [*bench.key_header(), "--header", "Accept: application/json, text/event-stream"]
    if session:
        return [*lines, "--header", f"Mcp-Session-Id: {session}"]
    lines += ["--header", f"MCP-Protocol-Version: {MODERN}", "--header", f"Mcp-Method: {method}"]
    return lines + (["--header", f"Mcp-Name: {name}"] if name else [])


def post(bench, server, body, extra=()):
    request = urllib.request.Request(server.url + "/mcp", data=body.encode(), method="POST")
    for name, value in [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream"),
                        ("X-API-Key", bench.key), *extra]:
        request.add_header(name, value)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.headers, json.load(answer)


def session_of(bench, server):
    begin = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    return post(bench, server, message("initialize", begin, False))[0]["Mcp-Session-Id"]


def call(bench, server, conns, tool, sent, cleaned, session=None):
    body = message("tools/call", {"name": tool, "arguments": {"data": sent}}, not session)
    return bench.load(server, "/mcp", conns, "--method", "POST", *headers(bench, "tools/call", tool, session), "--body", body,
                      "--expect", f"/result/structuredContent/result={json.dumps(cleaned, ensure_ascii=False)}")


def run(bench, report, engine, number, tool, sent, cleaned):
    """`bench` and `report` are run.py's; `tool` takes `data` and gives it back cleaned."""
    if engine != "sqlite":
        report.note("measured on SQLite only: what differs between the engines is the log, which rest-call measures")
        return
    ours = bench.server(0, False)
    bare = bench.start([bench.bench, "bare-echo", "--listen", "127.0.0.1:0"])
    bare.reference = True
    session = session_of(bench, ours)
    rounds = []
    for _ in range(bench.options.rounds):
        rounds.append((bench.call(bare, 8), bench.call(ours, 8), call(bench, ours, 8, tool, sent, cleaned),
                       call(bench, ours, 8, tool, sent, cleaned, session)))
    cases = ("bare-echo c=8", "rest-call c=8", "mcp modern c=8", "mcp legacy c=8")
    errors = sum(report.row("mcp", engine, case, [r[i] for r in rounds])[1] for i, case in enumerate(cases))
    over = lambda a, b: statistics.median(r[a]["rps"] / r[b]["rps"] for r in rounds)
    report.goal("call over MCP, modern, over the same call over REST, 8 connections", engine, over(2, 1), 0.8, at_least=True, errors=errors)
    report.goal("call over MCP, legacy, over the same call over REST, 8 connections", engine, over(3, 1), 0.8, at_least=True, errors=errors)
    long_list(bench, report, engine)
    gateway(bench, report, engine, ours, tool, sent, cleaned, number)


def short_tools(count):
    """As short as in comparisons of programs: a name, a sentence, one text."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    return [{"name": f"idle_{n:04}", "description": f"The tool idle_{n:04} of the benchmark.", "kind": "builtin",
             "config": {"name": "serialize_for_cell"}, "input_schema": schema} for n in range(count)]


def long_list(bench, report, engine):
    """Whose definitions are short, and whose are as people write them: there most of the time is the kernel's, for half a megabyte."""
    servers = {"short": bench.serve("short", short_tools(1_000), {}), "long": bench.server(1_000, False)}
    body = message("tools/list", {}, True)
    measure = lambda server: bench.load(server, "/mcp", 1, "--method", "POST", *headers(bench, "tools/list"), "--body", body,
                                        "--expect", '/result/resultType="complete"')
    rounds = [{name: measure(server) for name, server in servers.items()} for _ in range(bench.options.rounds)]
    for name, goal in (("short", 100), ("long", None)):
        mid, errors = report.row("mcp", engine, f"tools/list of 1,000, {name}", [r[name] for r in rounds])
        if goal:
            report.goal(f"tools/list of 1,000 tools, {name}, processor time of the server", engine, mid["server_cpu_us"], goal, " µs", errors=errors)


def gateway(bench, report, engine, upstream, tool, sent, cleaned, number):
    server = {"url": upstream.url + "/mcp", "headers": {"X-API-Key": bench.key}}
    between = bench.serve("gateway", [], {"up": server})
    name = f"up.{tool}"
    listed = message("tools/list", {}, True)
    extra = [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/list")]
    deadline = time.monotonic() + 30
    while not any(it["name"] == name for it in post(bench, between, listed, extra)[1]["result"]["tools"]):
        if time.monotonic() > deadline:
            raise RuntimeError("the gateway does not list its upstream's tools")
        time.sleep(0.05)
    for conns in (1, 8):
        rounds = [(call(bench, upstream, conns, tool, sent, cleaned), call(bench, between, conns, name, sent, cleaned))
                  for _ in range(bench.options.rounds)]
        _, first = report.row("mcp", engine, f"upstream itself c={conns}", [r[0] for r in rounds])
        _, second = report.row("mcp", engine, f"through the gateway c={conns}", [r[1] for r in rounds])
        if conns == 1:
            added = statistics.median(r[1]["p50_us"] - r[0]["p50_us"] for r in rounds) / 1000
            report.goal("added by the gateway, median, one connection", engine, added, 0.12, " ms", errors=first + second)
        else:
            # A figure: an upstream that is as quick as its gateway is the hardest there is. `mcp-peers` has the goal.
            ratio = statistics.median(r[1]["rps"] / r[0]["rps"] for r in rounds)
            report.note(f"gateway over its upstream, which is this program as well, 8 connections: {ratio:.3f}")
            report.goal("errors through the gateway, 8 connections", engine, first + second, 0)
