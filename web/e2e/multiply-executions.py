"""Multiplies the calls in the execution log of a server that is not running: usage: multiply-executions.py DATA_FOLDER COUNT DAYS.

What the server itself has written is taken as it is laid out, whatever that is: the newest day's file, its tables and its rows.
Only what must differ from row to row is made up: the time, the id (whose beginning is the time), and the tool it was a call of.
"""

import json
import os
import pathlib
import random
import sqlite3
import sys
import time

DAY_MS = 86_400_000


def identifier(at: int) -> bytes:
    """A UUID of version 7."""
    tail = bytearray(os.urandom(10))
    tail[0] = 0x70 | tail[0] & 0x0F
    tail[2] = 0x80 | tail[2] & 0x3F
    return at.to_bytes(6, "big") + bytes(tail)


def date_of(day: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(day * DAY_MS / 1000))


def main() -> None:
    folder, count, days = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    newest = max(folder.rglob("executions-*.db"))
    tools = json.loads(sys.stdin.read())
    source = sqlite3.connect(newest)
    source.row_factory = sqlite3.Row
    rows = [dict(row) for row in source.execute("SELECT * FROM executions")]
    layout = [sql for (sql,) in source.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()]
    version = source.execute("PRAGMA user_version").fetchone()[0]
    if not rows:
        sys.exit(f"{newest} holds no calls to multiply")
    source.close()

    names = list(rows[0])
    insert = f"INSERT INTO executions ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    now = time.time_ns() // 1_000_000
    # In the order of time, which is the order of the file: the same from run to run but for the ids.
    rng = random.Random(10)
    times = sorted(now - 60_000 - rng.randrange(days * DAY_MS) for _ in range(count))
    file, day = None, None
    for number, at in enumerate(times):
        if at // DAY_MS != day:
            if file:
                file.commit()
                file.close()
            day = at // DAY_MS
            path = newest.with_name(f"executions-{date_of(day)}.db")
            is_new = not path.exists()
            file = sqlite3.connect(path, isolation_level=None)
            if is_new:
                file.execute("PRAGMA journal_mode = WAL")
                for sql in layout:
                    file.execute(sql)
                file.execute(f"PRAGMA user_version = {version}")
            file.execute("BEGIN")
        row = dict(rows[number % len(rows)], id=identifier(at), started_at=at, tool_name=rng.choice(tools))
        row["elapsed_us"] = int(rng.lognormvariate(7, 1.5))
        file.execute(insert, [row[name] for name in names])
    file.commit()
    file.close()


main()
