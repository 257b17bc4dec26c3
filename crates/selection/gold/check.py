#!/usr/bin/env python3
"""Checks the gold set for tool selection and prints how it is made up.

gold.jsonl is asked over the whole pool: the builtins, the tools that `init` makes, and tools.json. So is
web_search.jsonl, but for rows that name their own pool in `tools`: there a tool of tools.json would be the better answer.

A row is dev or test by the first byte of sha256(query): even is dev, odd is test. Nobody reads the test half while tuning;
`--half dev` and `--half test` print one of them as JSON lines, for an evaluation. fresh.jsonl, fresh_web.jsonl and fresh_office.jsonl have no halves:
nothing is learned from any of their rows, and `scripts/train-outcome` prints how it does on them.
"""
import argparse
import collections
import hashlib
import json
import pathlib
import re
import sys
import unicodedata

HERE = pathlib.Path(__file__).resolve().parent
BUILTINS = {
    "calculator", "code_execution", "doc_parser", "get_sim_search", "get_text_embedding", "query_bga_database",
    "request_human_input", "serialize_for_cell", "web_fetch", "web_search"}
DEMO = {"clean_text", "convert_units", "get_user_daily_limit", "multiply_numbers"}
TAGS = ["plain", "several", "near", "rule", "typo", "chat", "short", "long"]
FIELDS = {"query", "outcome", "gold", "lang", "about", "tags", "tools"}
OUTCOMES = ["call", "none", "ask"]
LANGUAGES = ["en", "ko"]
ROWS_MIN = 280
HALF_MIN = 90
OUTCOME_MIN = 15
WEB_MIN = 50
# Two prompts whose character trigrams overlap by this much are one prompt in two spellings.
NEAR = 0.8
# What is learned from may not come as near as this to a row of a test half.
LEAK = 0.55
# What is learned from: texts in the program, and rows.
LEARNED = [
    "src/kinds.rs", "src/background.rs", "examples/evaluate/idle.rs", "training/ask.jsonl", "training/plain.jsonl",
    "training/pool.jsonl", "training/style.jsonl", "training/web.jsonl", "training/direct.jsonl", "training/now.jsonl",
    "training/office.jsonl", "training/parts.jsonl"]
# What nothing is learned from at all: rows that tell how what was learned does elsewhere.
FRESH = ["fresh.jsonl", "fresh_web.jsonl", "fresh_office.jsonl"]


def half(query):
    return "test" if hashlib.sha256(query.encode()).digest()[0] % 2 else "dev"


def normal(text):
    text = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"[\W_]+", "", text)


def trigrams(text):
    text = normal(text)
    return {text[at:at + 3] for at in range(max(1, len(text) - 2))}


def hangul_share(text):
    """How many of the letters are Hangul. What is quoted, addresses and names of files say nothing about the language."""
    text = re.sub(r"https?://\S+|\"[^\"]*\"|`[^`]*`|\S+@\S+|\S+[._/-]\w+", " ", text)
    hangul = len(re.findall(r"[가-힣ㄱ-ㅎㅏ-ㅣ]", text))
    latin = len(re.findall(r"[A-Za-z]", text))
    return hangul / max(1, hangul + latin)


def read(name):
    rows = []
    for number, line in enumerate((HERE / name).read_text(encoding="utf-8").splitlines(), 1):
        row = json.loads(line)
        row["at"] = f"{name}:{number}"
        rows.append(row)
    return rows


def check_row(row, pool, required, fail):
    def wrong(text):
        fail(f"{row['at']}: {text}: {row.get('query', '')[:60]}")
    if extra := set(row) - FIELDS - {"at"}:
        wrong(f"unknown fields {extra}")
    query, outcome, gold, language = row.get("query"), row.get("outcome"), row.get("gold"), row.get("lang")
    if not isinstance(query, str) or query != query.strip() or not query or len(query) > 1000:
        return wrong("query is no text, or begins or ends with a space")
    if outcome not in OUTCOMES or language not in LANGUAGES or not isinstance(gold, list):
        return wrong("outcome, gold or lang is not what it may be")
    if (outcome == "call") != bool(gold) or len(set(gold)) != len(gold):
        wrong("only calls have tools, and each of them once")
    if unknown := set(gold) - pool:
        wrong(f"unknown tools {unknown}")
    if outcome == "ask" and not required.get(row.get("about")):
        wrong("about names no tool that needs something")
    if outcome != "ask" and "about" in row:
        wrong("only asks are about something")
    tags = row.get("tags")
    if not tags or set(tags) - set(TAGS) or len(set(tags)) != len(tags):
        return wrong("tags are not what they may be")
    if ("several" in tags) != (len(gold) > 1):
        wrong("several is for calls of more than one tool")
    words = len(query.split())
    if ("long" in tags) != (words >= (40 if language == "en" else 30)) and not ("long" in tags and words >= 15):
        wrong(f"long, or not: {words} words")
    if "short" in tags and words > 8:
        wrong(f"short has {words} words")
    share = hangul_share(query)
    if (language == "ko") != (share > 0.1):
        wrong(f"does not look like {language} ({share:.2f} Hangul)")
    if "tools" in row and (set(row["tools"]) - pool or set(gold) - set(row["tools"])):
        wrong("tools must be of the pool and hold the gold")


def check_doubles(rows, examples, fail):
    seen = {}
    for row in rows:
        other = seen.setdefault(normal(row["query"]), row)
        if other is not row:
            fail(f"{row['at']}: the same as {other['at']}: {row['query'][:60]}")
    known = [(row["at"], row["query"], trigrams(row["query"])) for row in rows]
    for index, (at, query, grams) in enumerate(known):
        for other, _, others in known[:index]:
            if len(grams & others) / len(grams | others) >= NEAR:
                fail(f"{at}: nearly the same as {other}: {query[:60]}")
        for example in examples:
            others = trigrams(example)
            if len(grams & others) / len(grams | others) >= NEAR:
                fail(f"{at}: an example of a tool: {query[:60]}")


def learned(path):
    """The texts of a file and where they stand."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if path.suffix == ".jsonl":
            yield number, json.loads(line)["query"]
        else:
            for text in re.findall(r'"((?:[^"\\\\]|\\\\.)*)"', line):
                yield number, text


def leaks(rows):
    """Where something is learned from that is nearly a row that is kept back. Which row is not told: nobody is to read it."""
    held = [trigrams(row["query"]) for row in rows if half(row["query"]) == "test"]
    held += [trigrams(row["query"]) for name in FRESH for row in read(name)]
    for name in LEARNED:
        for number, text in learned(HERE.parent / name):
            grams = trigrams(text)
            if any(len(grams & others) / len(grams | others) >= LEAK for others in held):
                yield name, number


def table(rows, title):
    print(f"\n{title}: {len(rows)} rows")
    print(f"{'':14}{'all':>6}" + "".join(f"{f'{part} {language}':>9}" for part in ("dev", "test") for language in LANGUAGES))
    def line(name, chosen):
        cells = [sum(half(row["query"]) == part and row["lang"] == language for row in chosen)
                 for part in ("dev", "test") for language in LANGUAGES]
        print(f"{name:14}{len(chosen):>6}" + "".join(f"{cell:>9}" for cell in cells))
    line("all", rows)
    for outcome in OUTCOMES:
        line(outcome, [row for row in rows if row["outcome"] == outcome])
    for tag in TAGS:
        line(f"  {tag}", [row for row in rows if tag in row["tags"]])


def check_counts(rows, web, fail):
    if len(rows) < ROWS_MIN or len(web) < WEB_MIN:
        fail("too few rows")
    for name, chosen in (("gold", rows), ("web_search", web)):
        languages = collections.Counter(row["lang"] for row in chosen)
        if abs(languages["en"] - languages["ko"]) > len(chosen) // 20:
            fail(f"{name}: the languages are not even: {dict(languages)}")
    count = collections.Counter((half(row["query"]), row["lang"], row["outcome"]) for row in rows)
    for part in ("dev", "test"):
        for language in LANGUAGES:
            cells = [count[part, language, outcome] for outcome in OUTCOMES]
            if sum(cells) < HALF_MIN or min(cells) < OUTCOME_MIN:
                fail(f"{part} {language}: too few rows: {cells}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--half", choices=["dev", "test"], help="print the rows of this half")
    arguments.add_argument("--file", default="gold.jsonl", choices=["gold.jsonl", "web_search.jsonl"])
    arguments.add_argument("--pool", help="what `toolcrib tools list --json` printed, to check names and examples against")
    options = arguments.parse_args()
    if options.half:
        for line in (HERE / options.file).read_text(encoding="utf-8").splitlines():
            if half(json.loads(line)["query"]) == options.half:
                print(line)
        return 0
    tools = json.loads((HERE / "tools.json").read_text(encoding="utf-8"))["tools"]
    names = [tool["name"] for tool in tools]
    faults = []
    if len(set(names)) != len(names) or set(names) & (BUILTINS | DEMO):
        faults.append("tools.json: a name is there twice")
    pool = set(names) | BUILTINS | DEMO
    required = {tool["name"]: tool["input_schema"].get("required") for tool in tools}
    stored = json.loads((HERE / "pool.json").read_text(encoding="utf-8"))["items"]
    required |= {item["name"]: item["input_schema"].get("required") for item in stored if item["name"] not in required}
    examples = [example for tool in tools for example in tool.get("examples", [])]
    if options.pool:
        items = json.loads(pathlib.Path(options.pool).read_text(encoding="utf-8"))["items"]
        examples += [example for item in items for example in item.get("examples") or []]
        if differ := pool ^ {item["name"] for item in items}:
            faults.append(f"the pool is another: {sorted(differ)}")
    rows, web = read("gold.jsonl"), read("web_search.jsonl")
    for row in rows + web:
        check_row(row, pool, required, faults.append)
    check_doubles(rows + web, examples, faults.append)
    check_counts(rows, web, faults.append)
    found = collections.Counter()
    for name, number in leaks(rows + web):
        found[name] += 1
        faults.append(f"{name}:{number}: nearly a row of a test half")
    print("near to a row of a test half:", ", ".join(f"{name} {found[name]}" for name in LEARNED))
    table(rows, "gold.jsonl")
    table(web, "web_search.jsonl")
    used = collections.Counter(name for row in rows for name in row["gold"])
    asked = collections.Counter(row["about"] for row in rows if row["outcome"] == "ask")
    print("\nnever called:", ", ".join(sorted(pool - set(used))) or "none")
    print("calls of a tool:", ", ".join(f"{name} {number}" for name, number in used.most_common()))
    print("asks about a tool:", ", ".join(f"{name} {number}" for name, number in asked.most_common()))
    for fault in faults:
        print("fault:", fault)
    print(f"\n{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
