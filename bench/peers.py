"""The scenarios `mcp-peers` and `sql-peers`: the same calls to other programs in the same run. What it needs is not part of this
project: `BENCH_PEERS` names a folder with the packages `load` (a generator that speaks MCP in both eras) and `rmcp-server` (a bare
server made with rmcp, the protocol's own library); MCP Toolbox is installed by its name. Without it they say so and measure nothing.
"""

import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import time
import urllib.parse

import mcp as scenario
import sql

TOOLBOX = "toolbox-server==1.15.0"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "toolcrib" / "peers"
OWN_ECHO = ["--tool", "serialize_for_cell", "--args", '{"data":"{s}"}', "--match", "contains"]
# Tools that every workspace has.
BUILT_IN = 10
ROW = ["--args", '{"id":{i}}', "--expect", '"user-{i}"', "--match", "contains"]


def is_here(report):
    if os.environ.get("BENCH_PEERS"):
        return True
    report.note("skipped: BENCH_PEERS names no folder with the packages of other programs")
    return False


def program(name):
    """A package of the folder, built in our own cache: the folder itself may be for reading only."""
    source = CACHE / "src" / name
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(pathlib.Path(os.environ["BENCH_PEERS"]) / name, source)
    target = CACHE / "target"
    subprocess.run(["cargo", "build", "--quiet", "--release", "--target-dir", target], cwd=source, check=True)
    return target / "release" / name


class Peers:
    def __init__(self, bench):
        self.bench, self.generator = bench, program("load")

    def start(self, command, address, log):
        """Starts a program that does not say when it listens."""
        with (self.bench.folder / log).open("wb") as out:
            process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        self.bench.processes.append(process)
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(address, timeout=1).close()
                return process.pid
            except OSError:
                if time.monotonic() > deadline or process.poll() is not None:
                    raise RuntimeError(f"{command[0]} does not listen: see {log}")
                time.sleep(0.05)

    def ready(self, url, *arguments):
        """Waits for the first right answer."""
        subprocess.run([self.generator, "--url", url, "--until-ok", "--seconds", "60", *arguments], check=True, stdout=subprocess.DEVNULL)

    def load(self, url, pid, conns, *arguments):
        command = [self.generator, "--url", url, "--conns", str(conns), "--seconds", str(self.bench.options.seconds), "--pid", str(pid), *arguments]
        ran = subprocess.run(command, capture_output=True, text=True)
        if not ran.stdout.strip():
            raise RuntimeError(f"load: {ran.stderr.strip()[-500:]}")
        figures = json.loads(ran.stdout)
        figures["server_rss_kb"] = figures.get("rss_mb_after", 0) * 1024
        return {"first_error": None, **figures}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def measured(bench, report, scenario, engine, cells):
    """Visits all in turn; `cells` are names with what measures them. Gives the rounds and the number of errors."""
    rounds = [{name: measure() for name, measure in cells.items()} for _ in range(bench.options.rounds)]
    errors = sum(report.row(scenario, engine, name, [r[name] for r in rounds])[1] for name in cells)
    return rounds, errors


def ratio(rounds, one, other):
    return statistics.median(r[one]["rps"] / r[other]["rps"] for r in rounds)


def mcp(bench, report, engine):
    if engine != "sqlite":
        return report.note("measured on SQLite only: what differs between the engines is the log, which rest-call measures")
    if not is_here(report):
        return
    peers, port = Peers(bench), free_port()
    bare = f"http://127.0.0.1:{port}/mcp"
    bare_pid = peers.start([program("rmcp-server"), port], ("127.0.0.1", port), "rmcp.log")
    ours = bench.serve("peers", [], {"up": {"url": bare}})
    url, pid, key = ours.url + "/mcp", ours.process.pid, bench.key_header()
    through = ["--tool", "up.echo", *key]
    peers.ready(url, *through)
    for era in ("modern", "legacy"):
        spoken = ["--proto", era]
        cells = {f"rmcp {era} c=8": lambda: peers.load(bare, bare_pid, 8, *spoken),
                 f"native {era} c=8": lambda: peers.load(url, pid, 8, *spoken, *OWN_ECHO, *key),
                 f"gateway {era} c=8": lambda: peers.load(url, pid, 8, *spoken, *through)}
        rounds, errors = measured(bench, report, "mcp-peers", engine, cells)
        direct, native, between = cells
        report.goal(f"native call, {era}, over a bare rmcp server's, 8 connections", engine, ratio(rounds, native, direct), 1.0, at_least=True, errors=errors)
        report.goal(f"gateway, {era}, over calling its upstream directly, 8 connections", engine, ratio(rounds, between, direct), 0.45, at_least=True, errors=errors)
    cells = {"rmcp modern c=1": lambda: peers.load(bare, bare_pid, 1), "gateway modern c=1": lambda: peers.load(url, pid, 1, *through)}
    rounds, errors = measured(bench, report, "mcp-peers", engine, cells)
    direct, between = cells
    added = statistics.median(r[between]["p50_us"] - r[direct]["p50_us"] for r in rounds) / 1000
    report.goal("added by the gateway, median, one connection", engine, added, 0.12, " ms", errors=errors)
    lists(bench, report, engine, peers)


def lists(bench, report, engine, peers):
    """All of 1,000 tools, with the definitions that the other has: the rest of our thousand are built in."""
    port = free_port()
    bare = f"http://127.0.0.1:{port}/mcp"
    bare_pid = peers.start([program("rmcp-server"), port, 998], ("127.0.0.1", port), "rmcp-list.log")
    ours = bench.serve("list", scenario.short_tools(1_000 - BUILT_IN), {})
    url, pid, key = ours.url + "/mcp", ours.process.pid, bench.key_header()
    peers.ready(url, "--list", "1000", *key)
    cells = {"rmcp list of 1,000": lambda: peers.load(bare, bare_pid, 1, "--list", "1000"),
             "own list of 1,000": lambda: peers.load(url, pid, 1, "--list", "1000", *key)}
    rounds, errors = measured(bench, report, "mcp-peers", engine, cells)
    theirs, listed = cells
    times = statistics.median(r[listed]["rps"] / r[theirs]["rps"] for r in rounds)
    spent = statistics.median(r[listed]["server_cpu_us"] for r in rounds)
    report.note(f"tools/list of 1,000 tools, over a bare rmcp server's: {times:.1f}")
    report.goal("tools/list of 1,000 tools, processor time of the server", engine, spent, 100, " µs", errors=errors)


def toolbox():
    """The program of the package, installed once."""
    place = CACHE / "toolbox"
    if not (place / "installed").exists():
        subprocess.run(["python3", "-m", "venv", place], check=True)
        subprocess.run([place / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", TOOLBOX], check=True)
        (place / "installed").touch()
    found = [it for it in place.rglob("*") if it.is_file() and it.stat().st_size > 50_000_000 and os.access(it, os.X_OK)]
    if not found:
        raise RuntimeError(f"{TOOLBOX} holds no program")
    return found[0]


def toolbox_config(bench, engine, place):
    if engine == "postgres":
        at = urllib.parse.urlsplit(place)
        source = f'type: postgres\nhost: {at.hostname}\nport: "{at.port}"\ndatabase: {at.path.lstrip("/")}\nuser: {at.username}\npassword: "x"'
        sort, mark = "postgres-sql", "$1"
    else:
        source, sort, mark = f"type: sqlite\ndatabase: {place}", "sqlite-sql", "?"
    config = bench.folder / f"toolbox-{engine}.yaml"
    config.write_text(f"kind: source\nname: bench\n{source}\n---\nkind: tool\nname: user_by_id\ntype: {sort}\nsource: bench\n"
                      f"description: A user by their id.\nstatement: SELECT id, name FROM bench_users WHERE id = {mark}\n"
                      "parameters:\n  - {name: id, type: integer, description: number of the user}\n")
    return config


def rows(bench, report, engine):
    if not is_here(report):
        return
    peers, port = Peers(bench), free_port()
    place, _, ours = sql.servers(bench, engine)
    url, pid = ours.url + "/mcp", ours.process.pid
    command = [toolbox(), "--config", toolbox_config(bench, engine, place), "--address", "127.0.0.1", "--port", port]
    other_pid = peers.start(command, ("127.0.0.1", port), f"toolbox-{engine}.log")
    other = f"http://127.0.0.1:{port}/mcp"
    asked = ["--tool", sql.TOOL["name"], *ROW]
    peers.ready(other, *asked)
    cells = {"Toolbox c=8": lambda: peers.load(other, other_pid, 8, *asked),
             "sql over MCP c=8": lambda: peers.load(url, pid, 8, *asked, *bench.key_header())}
    rounds, errors = measured(bench, report, "sql-peers", engine, cells)
    theirs, own = cells
    goal = 1.5 if engine == "postgres" else 3.0
    report.goal("sql tool over MCP over MCP Toolbox, 8 connections", engine, ratio(rounds, own, theirs), goal, at_least=True, errors=errors)
    report.goal("resident after that", engine, rounds[-1][own]["server_rss_kb"] / 1024, 60, " MB")
