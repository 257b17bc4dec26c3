"""The scenario `sql`: a row by its key through a tool of kind `sql`, over MCP and REST, beside a bare server that runs the same
guarded query. Each engine is measured as the database of the tool; the log is on SQLite.
"""

import json
import statistics

import mcp

TOOL = {
    "name": "user_by_id", "description": "A user by their id", "kind": "sql",
    "config": {"source": "bench", "query": "SELECT id, name FROM bench_users WHERE id = :id", "result": "row"},
    "input_schema": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
}
ASKED = {"id": "{i%10000}"}
ROW = '{"id":{i%10000},"name":"user-{i%10000}"}'


def servers(bench, engine):
    """Where the rows are, a bare server that reads them, and ours."""
    workspace = bench.folder / f"workspace-sql-{engine}"
    workspace.mkdir(exist_ok=True)
    if engine == "postgres":
        place = bench.database()
        source, bare_arguments = f'kind = "postgres"\nurl = "{place}"\nallow_superuser = true', ["--postgres", place]
    else:
        # Another one each time: what makes the table takes none that is there.
        place = bench.folder / f"bench-sql-{bench.made}.db"
        source, bare_arguments = f'kind = "sqlite"\npath = "{place}"', ["--sqlite", place]
    # It makes the table.
    bare = bench.start([bench.bench, "bare-sql", "--listen", "127.0.0.1:0", *bare_arguments])
    (workspace / "tools.json").write_text(json.dumps({"version": 1, "tools": [TOOL]}))
    (workspace / "mcp.json").write_text('{"mcpServers": {}}')
    (workspace / "toolcrib.toml").write_text(f"[sources.bench]\n{source}\n")
    command = [bench.binary, "serve", "--workspace", workspace, "--data", bench.folder / f"data-sql-{engine}", "--listen", "127.0.0.1:0"]
    return place, bare, bench.start(command, bench.environment(False))


def run(bench, report, engine):
    """`bench` and `report` are run.py's."""
    _, bare, ours = servers(bench, engine)
    asked = json.dumps({"arguments": ASKED}).replace('"{i%10000}"', "{i%10000}")
    over_mcp = mcp.message("tools/call", {"name": TOOL["name"], "arguments": ASKED}, True).replace('"{i%10000}"', "{i%10000}")
    rounds = []
    for _ in range(bench.options.rounds):
        rounds.append((
            bench.load(bare, "/", 8, "--method", "POST", "--body", asked, "--expect", '/name="user-{i%10000}"'),
            bench.load(ours, f"/api/v1/tools/{TOOL['name']}/call", 8, "--method", "POST", *bench.key_header(), "--body", asked,
                       "--expect", f"/data={ROW}"),
            bench.load(ours, "/mcp", 8, "--method", "POST", *mcp.headers(bench, "tools/call", TOOL["name"]), "--body", over_mcp,
                       "--expect", f"/result/structuredContent={ROW}"),
        ))
    cases = ("bare-sql c=8", "sql over REST c=8", "sql over MCP c=8")
    rows = [report.row("sql", engine, case, [r[i] for r in rounds]) for i, case in enumerate(cases)]
    errors = sum(errors for _, errors in rows)
    ratio = statistics.median(r[2]["rps"] / r[0]["rps"] for r in rounds)
    report.goal("sql tool over MCP over a bare server with the same guarded query, 8 connections", engine, ratio, 0.6, at_least=True, errors=errors)
    report.goal("resident after that", engine, (rows[2][0]["server_rss_kb"] or 0) / 1024, 60, " MB")
