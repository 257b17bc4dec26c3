"""The scenario `runs`: many runs at a time whose model writes slowly, and one that calls a tool over and over.

The model is the load generator's own and writes the time into its text, so that what is measured is what this program adds:
from a piece written by the model to the same piece read by whoever follows the run, and from a call that the model asks for to
the tool's first byte. Reading the last event of the model's turn and storing the journal are both in that.
"""

RUNS = 200
DELAY_MS = 100.0
KB = 200.0
START_US = 1_000.0


def scenario(bench, report, engine):
    server = bench.server(0, engine == "postgres")
    address = server.url.removeprefix("http://")
    found = bench.tool("runs", "--address", address, "--key", bench.key, "--pid", server.process.pid, "--runs", RUNS)
    missing = found["expected"] - found["events"]
    report.note(f"{found['runs']} runs at a time: {found['events']:,} pieces of text, delay p50 {found['delay_p50_ms']:.1f} ms, "
                f"p99 {found['delay_p99_ms']:.1f} ms, at most {found['delay_max_ms']:.1f} ms; {found['kb_per_run']:.0f} kB a run "
                f"({found['rss_before_kb'] // 1024} to {found['rss_peak_kb'] // 1024} MB)")
    report.note(f"{found['calls']} calls one after the other: from the model's wish to the tool's start p50 {found['start_p50_us']:.0f} µs, "
                f"p99 {found['start_p99_us']:.0f} µs")
    report.goal(f"delay of a piece of text, {RUNS} runs, p99", engine, found["delay_p99_ms"], DELAY_MS, " ms", errors=missing)
    report.goal("memory of a run", engine, found["kb_per_run"], KB, " kB")
    report.goal("from the model's wish to the tool's start, median", engine, found["start_p50_us"], START_US, " µs", only="sqlite")
