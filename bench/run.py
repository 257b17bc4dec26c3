#!/usr/bin/env python3
"""Runs the scenarios of bench/README.md and says PASS or FAIL for each goal.

Servers that are compared run side by side and are visited in turn (A B A B ...), so that the noise of the machine falls on
all of them; ratios are taken within a round and the median of the rounds counts. Python 3.9 or later, standard library only.
"""

import argparse
import json
import os
import pathlib
import queue
import resource
import secrets
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

import host
import kinds
import mcp
import mcp_faults
import peers
import runs
import soak
import sql

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = "serialize_for_cell"
CALL_PATH = f"/api/v1/tools/{TOOL}/call"
# A non-breaking space goes in and a plain one must come back: the answer shows that the tool has run. The reference echoes.
SENT = "row {i} of the quarterly table,\u00a0column {j}: 1,250.00 KRW"
CLEANED = SENT.replace("\u00a0", " ")
NOISE = "noise: rounds differ by more than 20 %"


class Problem(Exception):
    """Something a person has to mend before the figures mean anything."""


class Bench:
    """The programs, the temporary folder and every process of this run."""

    def __init__(self, options):
        self.options = options
        self.bench = find(options.bench, "bench", "cargo build --release -p bench")
        self.binary = find(options.binary, "toolcrib", "make build")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="toolcrib-bench-"))
        self.key = secrets.token_urlsafe(32)
        self.processes = []
        self.databases = []
        self.made = 0

    def close(self):
        while self.processes:
            end(self.processes.pop())
        for name in self.databases:
            run_sql(self.options.postgres, f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)', check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def tool(self, *arguments, env=None):
        """Runs one bench subcommand to its end; gives back its last line."""
        process = subprocess.Popen([self.bench, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=env)
        # On the list while it runs: `first-answer` has a server below it and must be ended kindly, also on Ctrl-C.
        self.processes.append(process)
        out, errors = process.communicate(timeout=120 + 20 * self.options.seconds)
        self.processes.remove(process)
        if process.returncode != 0:
            raise Problem(f"bench {arguments[0]}: {errors.strip()[-2000:]}")
        return json.loads(out.splitlines()[-1])

    def workspace(self, count):
        folder = self.folder / f"workspace-{count}"
        if not folder.exists():
            self.tool("make-tools", "--count", count, "--out", folder)
        return folder

    def environment(self, postgres):
        """Environment of one server: a key of this run and, for PostgreSQL, a database of its own."""
        env = {k: v for k, v in os.environ.items() if k != "DATABASE_URL" and not k.startswith("TOOLCRIB_")}
        env["TOOLCRIB_ADMIN_KEY"] = self.key
        if postgres:
            env["DATABASE_URL"] = self.database()
        return env

    def database(self):
        """The URL of an empty PostgreSQL database, which goes with this run."""
        name = f"toolcrib_bench_{secrets.token_hex(6)}"
        run_sql(self.options.postgres, f'CREATE DATABASE "{name}"')
        self.databases.append(name)
        return urllib.parse.urlsplit(self.options.postgres)._replace(path=f"/{name}").geturl()

    def serve_command(self, tools):
        self.made += 1
        data = self.folder / f"data-{self.made}"
        return [self.binary, "serve", "--workspace", self.workspace(tools), "--data", data, "--listen", "127.0.0.1:0"]

    def server(self, tools, postgres):
        return self.start(self.serve_command(tools), self.environment(postgres))

    def serve(self, name, tools, servers):
        """Our program with these tools and upstream servers, on SQLite."""
        folder = self.folder / name
        folder.mkdir()
        (folder / "tools.json").write_text(json.dumps({"version": 1, "tools": tools}))
        (folder / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
        command = [self.binary, "serve", "--workspace", folder, "--data", self.folder / f"{name}-data", "--listen", "127.0.0.1:0"]
        return self.start(command, self.environment(False))

    def start(self, command, env=None):
        """Starts a server and waits for its `listening on` line."""
        self.made += 1
        log = self.folder / f"server-{self.made}.log"
        with log.open("wb") as errors:
            process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=errors, text=True, env=env)
        self.processes.append(process)
        lines = lines_of(process)
        deadline = time.monotonic() + 60
        while True:
            try:
                line = lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                raise Problem(f"{command[0]} did not print `listening on http://ADDR`:\n{log.read_text(errors='replace')[-2000:]}")
            if line.startswith("listening on "):
                return Server(line.split()[-1].rstrip("/"), process)

    def load(self, server, path, conns, *arguments):
        return self.tool("load", "--url", server.url + path, "--conns", conns, "--seconds", self.options.seconds,
                         "--pid", server.process.pid, *arguments)

    def key_header(self):
        return ["--header", f"X-API-Key: {self.key}"]

    def call(self, server, conns):
        """`rest-call`, or the reference: the same request, byte for byte."""
        expected = SENT if server.reference else CLEANED
        return self.load(server, CALL_PATH, conns, "--method", "POST", *self.key_header(),
                         "--body", '{"arguments":{"data":"%s"}}' % SENT,
                         "--expect", '/status="success"', "--expect", f'/data="{expected}"')


class Server:
    def __init__(self, url, process):
        self.url, self.process, self.reference = url, process, False


class Report:
    """Lines for people and one JSON document for machines."""

    def __init__(self):
        self.rows, self.goals = [], []

    def row(self, scenario, engine, case, figures):
        errors = sum(f["errors"] for f in figures)
        first = next((f["first_error"] for f in figures if f["first_error"]), None)
        mid = {k: median(f[k] for f in figures)
               for k in ("rps", "p50_us", "p95_us", "p99_us", "max_us", "server_cpu_us", "client_cpu_us", "server_rss_kb")}
        self.rows.append({"scenario": scenario, "engine": engine, "case": case, "errors": errors, "first_error": first,
                          "median": mid, "rounds": figures})
        rps = [f["rps"] for f in figures]
        spread = f"  ({NOISE})" if min(rps) < 0.8 * max(rps) else ""
        print(f"  {case:<22} {number(mid['rps']):>8} req/s  p50 {number(mid['p50_us']):>7}  p95 {number(mid['p95_us']):>7}  "
              f"p99 {number(mid['p99_us']):>7} µs  CPU server {number(mid['server_cpu_us']):>6} client {number(mid['client_cpu_us']):>5} µs  "
              f"{number((mid['server_rss_kb'] or 0) / 1024):>5} MB  errors {errors}{spread}", flush=True)
        if first:
            print(f"    first error: {first}")
        return mid, errors

    def goal(self, text, engine, value, limit, unit="", at_least=False, errors=0, only=None):
        """A figure against its goal; where the goal holds for another engine `only`, the figure alone."""
        if only not in (None, engine):
            print(f"  figure  {text} [{engine}]: {number(value, 3)}{unit}")
            return
        met = value is not None and (value >= limit if at_least else value <= limit)
        verdict = "PASS" if met and not errors else "FAIL"
        sign = ">=" if at_least else "<="
        self.goals.append({"goal": text, "engine": engine, "value": value, "limit": limit, "sign": sign, "unit": unit,
                           "errors": errors, "verdict": verdict})
        print(f"  {verdict}  {text} [{engine}]: {number(value, 3)}{unit} (goal {sign} {limit}{unit})"
              + (f", {errors} errors" if errors else ""), flush=True)

    def note(self, text):
        print(f"  {text}", flush=True)


def rest_call(bench, report, engine):
    ours = bench.server(0, engine == "postgres")
    bare = bench.start([bench.bench, "bare-echo", "--listen", "127.0.0.1:0"])
    bare.reference = True
    for conns in (1, 8, 32):
        rounds = [(bench.call(ours, conns), bench.call(bare, conns)) for _ in range(bench.options.rounds)]
        mine, errors = report.row("rest-call", engine, f"rest-call c={conns}", [a for a, _ in rounds])
        reference, bare_errors = report.row("rest-call", engine, f"bare-echo c={conns}", [b for _, b in rounds])
        ratio = median(over(a["rps"], b["rps"]) for a, b in rounds)
        report.note(f"rest-call / bare-echo at {conns} connections: {number(ratio, 3)}")
        if conns == 1:
            report.note(f"median added over bare-echo, everything on: {number(mine['p50_us'] - reference['p50_us'])} µs "
                        "(the executor in process is measured by its own bench)" if mine["p50_us"] and reference["p50_us"] else "no figures")
        if conns == 32:
            report.goal("rest-call over bare-echo, 32 connections", engine, ratio, 0.5, at_least=True, errors=errors + bare_errors, only="sqlite")


def many_tools(bench, report, engine):
    # Two servers with few tools: by what they differ, two equal servers differ on this machine. Their mean is the base.
    labels = {10: "10 tools c=1", 10_000: "10,000 tools c=1", 11: "11 tools c=1"}
    servers = [(count, bench.server(count, engine == "postgres")) for count in labels]
    # A difference of 5 % needs more rounds than a factor of two. Each goes first as often as the others.
    rounds = []
    for i in range(3 * bench.options.rounds):
        turn = i % len(servers)
        rounds.append({count: bench.call(server, 1) for count, server in servers[turn:] + servers[:turn]})
    errors = sum(report.row("many-tools", engine, label, [r[count] for r in rounds])[1] for count, label in labels.items())
    # Medians of all rounds are compared, not rounds: what is looked for is smaller than the noise of one round.
    few, other, many = (median(r[count]["p50_us"] for r in rounds) for count in (10, 11, 10_000))
    report.note(f"of the two with few tools, one over the other: {number(over(other, few), 3)}")
    ratio = over(many, statistics.mean((few, other)) if few and other else None)
    report.goal("median with 10,000 tools over few tools", engine, ratio, 1.05, errors=errors, only="sqlite")


def start(bench, report, engine):
    for count, limit in ((0, 60), (1_000, 120)):
        figures = []
        bench.workspace(count)
        for _ in range(bench.options.rounds):
            figures.append(first_answer(bench, engine, count, 0))
        times = [f["first_answer_ms"] for f in figures]
        report.rows.append({"scenario": "start", "engine": engine, "case": f"{count} tools", "rounds": figures})
        report.goal(f"start to first answer, {'empty' if count == 0 else f'{count:,} tools'}", engine, median(times), limit, " ms", only="sqlite")
        report.note(f"all rounds: {', '.join(number(t) for t in times)} ms")


def idle(bench, report, engine):
    bench.workspace(0)
    figures = [first_answer(bench, engine, 0, 3) for _ in range(min(3, bench.options.rounds))]
    report.rows.append({"scenario": "idle", "engine": engine, "case": "0 tools", "rounds": figures})
    report.goal("resident when idle", engine, median(f["rss_kb"] / 1024 for f in figures), 30, " MB")


def first_answer(bench, engine, count, idle_seconds):
    """One start on an empty data folder, up to a checked tool list: key, catalogue and registry have all worked."""
    return bench.tool("first-answer", "--path", "/api/v1/tools?limit=1", *bench.key_header(), "--expect-items", "/items=1",
                      "--idle-seconds", idle_seconds, "--", *bench.serve_command(count), env=bench.environment(engine == "postgres"))


def lists(bench, report, engine):
    server = bench.server(10_000, engine == "postgres")
    for made in range(1_000):
        body = json.dumps({"name": f"user_{made}", "role": "viewer"}).encode()
        headers = {"X-API-Key": bench.key, "Content-Type": "application/json"}
        urllib.request.urlopen(urllib.request.Request(f"{server.url}/api/v1/users", body, headers), timeout=30).close()
    cases = {"list": ("/api/v1/tools?limit=50", ["--expect-items", "/items=50"]),
             "get": ("/api/v1/tools/bench_{i%10000}", ["--expect", '/name="bench_{i%10000}"']),
             "list users": ("/api/v1/users?limit=50", ["--expect-items", "/items=50"]),
             "get user": ("/api/v1/users/user_{i%1000}", ["--expect", '/name="user_{i%1000}"'])}
    figures = {case: [] for case in cases}
    for _ in range(bench.options.rounds):
        for case, (path, expect) in cases.items():
            figures[case].append(bench.load(server, path, 8, *bench.key_header(), *expect))
    for case, rounds in figures.items():
        mid, errors = report.row("lists", engine, f"{case} 10,000 c=8", rounds)
        report.goal(f"{case} at 10,000 tools and 1,000 users, 8 connections, p99", engine, thousandth(mid["p99_us"]), 10, " ms", errors=errors)


def slow(bench, report, engine):
    server = bench.server(0, engine == "postgres")
    calm, pressed, held = [], [], []
    for _ in range(bench.options.rounds):
        calm.append(bench.call(server, 8))
        attack = subprocess.Popen([bench.bench, "slow", "--url", server.url + CALL_PATH, "--half-open", "5000", "--slow", "1000",
                                   "--seconds", str(bench.options.seconds + 2), *bench.key_header()],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        bench.processes.append(attack)
        lines = lines_of(attack)
        opened = json_line(lines, 120)
        pressed.append(bench.call(server, 8))
        held.append({"opened": opened, "ended": json_line(lines, 120 + bench.options.seconds)})
        end(attack)
        settle(server.process.pid)
    _, calm_errors = report.row("slow", engine, "calm c=8", calm)
    _, errors = report.row("slow", engine, "under attack c=8", pressed)
    report.rows.append({"scenario": "slow", "engine": engine, "case": "attack", "rounds": held})
    opened, ended = held[-1]["opened"], held[-1]["ended"]
    report.note(f"last round: {opened['half_open']} half-open and {opened['slow']} slow opened in {opened['open_ms']} ms")
    for manner in ("half_open", "slow"):
        was = ended[manner]
        report.note(f"  {manner}: held to the end {was['held']}, closed {was['closed']} after {was['closed_after_ms']} ms, "
                    f"statuses {was['statuses']}, not opened {was['not_opened']} {was['first_refusal'] or ''}")
    if (opened["half_open"], opened["slow"]) != (5000, 1000):
        report.note("FEWER than 5,000 + 1,000: raise the hard limit on open files (ulimit -Hn) above 6,100")
    ratio = median(over(b["p99_us"], a["p99_us"]) for a, b in zip(calm, pressed))
    fewer = int((opened["half_open"], opened["slow"]) != (5000, 1000))
    report.goal("healthy p99 under 5,000 half-open + 1,000 slow, over calm", engine, ratio, 3, "x", errors=calm_errors + errors + fewer)


SCENARIOS = {"rest-call": rest_call, "many-tools": many_tools, "start": start, "idle": idle, "lists": lists, "slow": slow,
             "kinds": lambda bench, report, engine: kinds.run(bench, report, engine, number),
             "mcp": lambda bench, report, engine: mcp.run(bench, report, engine, number, TOOL, SENT, CLEANED),
             "mcp-faults": mcp_faults.faults, "mcp-sessions": mcp_faults.sessions, "mcp-peers": peers.mcp, "sql": sql.run,
             "sql-peers": peers.rows, "runs": runs.scenario, "soak": soak.run}
# What takes minutes runs where it is named.
LONG = {"soak"}


def find(given, name, how):
    """A program: the one given, or the one in the project's target folder."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    places = [pathlib.Path(given)] if given else [target / "release" / name, ROOT / "target" / "release" / name]
    for place in places:
        if place.is_file():
            return place.resolve()
    raise Problem(f"there is no {places[0]}: build it with `{how}`, or name it with --{'binary' if name == 'toolcrib' else name}")


def run_sql(url, statement, check=True):
    """One statement over PostgreSQL's own protocol, for a server that asks for no password: needs no client program."""
    place = urllib.parse.urlsplit(url)
    try:
        with socket.create_connection((place.hostname, place.port or 5432), timeout=60) as connection:
            words = ["user", place.username or "postgres", "database", place.path.lstrip("/") or "postgres"]
            body = struct.pack("!i", 196608) + b"".join(w.encode() + b"\0" for w in words) + b"\0"
            connection.sendall(struct.pack("!i", len(body) + 4) + body)
            answers = connection.makefile("rb")
            error = until_ready(answers)
            if error is None:
                text = statement.encode() + b"\0"
                connection.sendall(b"Q" + struct.pack("!i", len(text) + 4) + text)
                error = until_ready(answers)
    except OSError as problem:
        error = str(problem)
    if check and error is not None:
        raise Problem(f"{statement}: {error}; --postgres wants the URL of a database whose user may create databases and needs no password")


def until_ready(answers):
    """Reads messages until the server waits for the next statement; gives back the text of an error, or None."""
    error = None
    while True:
        head = answers.read(5)
        if len(head) < 5:
            return error or "the server closed the connection"
        kind, length = head[:1], struct.unpack("!i", head[1:])[0]
        body = answers.read(length - 4)
        if kind == b"E":
            fields = dict((part[:1], part[1:]) for part in body.split(b"\0") if part)
            error = fields.get(b"M", b"refused").decode(errors="replace")
            if fields.get(b"S") == b"FATAL":
                return error
        elif kind == b"R" and body[:4] != b"\0\0\0\0":
            return "the server asks for a password"
        elif kind == b"Z":
            return error


def lines_of(process):
    """Lines of a process as they come, then None; read to the end so that it never waits for us."""
    lines = queue.Queue()

    def read():
        for line in process.stdout:
            lines.put(line.strip())
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


def json_line(lines, patience):
    try:
        line = lines.get(timeout=patience)
    except queue.Empty:
        line = None
    if line is None:
        raise Problem("bench slow ended or fell silent before it had printed its figures")
    return json.loads(line)


def end(process):
    """Ends one process by its id, kindly first."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
    process.wait()


def settle(pid):
    """Waits until a server has let go of the connections of an attack: they must not disturb the next calm measurement."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and len(os.listdir(f"/proc/{pid}/fd")) > 200:
        time.sleep(0.05)


def over(a, b):
    return a / b if a is not None and b else None


def median(values):
    known = [v for v in values if v is not None]
    return statistics.median(known) if known else None


def thousandth(value):
    return None if value is None else value / 1000


def number(value, digits=0):
    if value is None:
        return "-"
    return f"{value:,.{digits if digits or value >= 100 else 1}f}"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(name for name in SCENARIOS if name not in LONG),
                        help=f"scenarios, with commas between: {','.join(SCENARIOS)} (default: all but {','.join(LONG)})")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="length of one measurement")
    parser.add_argument("--postgres", metavar="URL", default=os.environ.get("TOOLCRIB_TEST_POSTGRES"),
                        help="measure PostgreSQL too: URL of a database whose user may create databases (default: TOOLCRIB_TEST_POSTGRES)")
    parser.add_argument("--engines", default="", help="sqlite,postgres (default: sqlite, and postgres when --postgres is given)")
    parser.add_argument("--binary", help="the toolcrib program (default: target/release/toolcrib)")
    parser.add_argument("--bench", help="the bench program (default: target/release/bench)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "target" / "bench-results.json")
    options = parser.parse_args()
    options.only = [name for name in options.only.split(",") if name]
    unknown = [name for name in options.only if name not in SCENARIOS]
    if unknown:
        parser.error(f"--only: there is no scenario {', '.join(unknown)}; known: {', '.join(SCENARIOS)}")
    options.engines = [e for e in options.engines.split(",") if e] or (["sqlite", "postgres"] if options.postgres else ["sqlite"])
    if set(options.engines) - {"sqlite", "postgres"} or ("postgres" in options.engines and not options.postgres):
        parser.error("--engines: expected sqlite, postgres or both, and postgres needs --postgres URL")
    if options.rounds < 1 or not 0.1 <= options.seconds <= 600:
        parser.error("--rounds: at least 1; --seconds: 0.1 to 600")
    return options


def run(bench, report):
    for engine in bench.options.engines:
        for name in bench.options.only:
            print(f"\n{name} [{engine}]  load average {os.getloadavg()[0]:.1f}", flush=True)
            began = host.processor_time()
            try:
                SCENARIOS[name](bench, report, engine)
            except (Problem, RuntimeError, OSError, ArithmeticError, subprocess.SubprocessError) as problem:
                # One broken scenario must not hide the others; it counts as a failed goal.
                report.goals.append({"goal": name, "engine": engine, "verdict": "FAIL", "problem": str(problem)})
                print(f"  FAIL  {name}: {problem}", flush=True)
            host.note_stolen(report, began)
            while bench.processes:
                end(bench.processes.pop())


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # The servers inherit it: 6,000 connections are more files than the usual soft limit.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    report, began = Report(), list(os.getloadavg())
    try:
        bench = Bench(options)
        try:
            run(bench, report)
        finally:
            bench.close()
    except Problem as problem:
        sys.exit(f"run.py: {problem}")
    except KeyboardInterrupt:
        sys.exit(130)
    document = {"cores": os.cpu_count(), "load_average": {"began": began, "ended": list(os.getloadavg())}, "rounds": options.rounds,
                "seconds": options.seconds, "goals": report.goals, "rows": report.rows}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(document, indent=1) + "\n")
    failed = [goal for goal in report.goals if goal["verdict"] == "FAIL"]
    print(f"\n{len(report.goals) - len(failed)} of {len(report.goals)} goals met; load average {began[0]:.1f} at the start, "
          f"{os.getloadavg()[0]:.1f} at the end, {os.cpu_count()} cores; all figures in {options.out}")
    for goal in failed:
        print(f"FAIL  {goal['goal']} [{goal['engine']}]: {goal.get('problem') or number(goal['value'], 3) + goal['unit']}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
