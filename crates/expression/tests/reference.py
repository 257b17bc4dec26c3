"""Writes programs and what CPython makes of them, a JSON line each: [source, {"value": ...} or {"raises": ...}].

usage: reference.py SEED COUNT ARGUMENTS     (ARGUMENTS is a JSON object)
"""

import ast
import base64
import collections
import datetime
import functools
import itertools
import json
import math
import random
import re
import resource
import sys
import unicodedata
import warnings

CHOICE = random.Random(int(sys.argv[1]))
ARGUMENTS = sys.argv[3]

NUMBERS = """a b n 1 2 3 0 10 100 0.1 0.5 1.5 2.675 -1 1e3 7 True xs[0] xs[-1] d['x'] d['y'] len(ws) len(s) 1_000 2**53
 9007199254740993 0x1f flag 10**25 10**400 1e22 5e-324 0.3 -0.0""".split()

OPERATORS = "+ - * / // % + - * /".split()

POWERS = "2 3 0.5 -1 0 (-2) n 10 (1/3)".split()

CALLS = """abs({}) round({}) round({},2) round({},-1) int({}) float({}) -{} +{} max({},{}) min({},{},{}) sum(xs) sum([{},{}])
 sqrt(abs({})) math.floor({}) ceil({}) divmod({},{})[0] divmod({},{})[1] pow({},2) pow(abs({}),0.5) sin({}) exp({}%50)
 math.log(abs({})+1) ({}~if~{}~else~{}) len(str({})) hypot({},{}) trunc({}) fsum([{},{},{}]) math.fmod({},7) atan2({},{})
 int({})~<<~2 int({})&255 int({})>>1 factorial(abs(int({}))%25) gcd(int({}),12) asinh({}) comb(40,abs(int({}))%40)
 prod([{},{}]) dist([{},1],[2,{}]) isqrt(abs(int({}))) pow(abs(int({})),5,97) cos({}) tan({}) log10(abs({})+1)""".split()

TEXTS = ["s", "t", "ws[0]", "ws[1]", "'abc'", "'  x y '", "''", "'한국어'", "'ABC def'", "'3.14'", "'a-b_c'"]

ON_TEXT = """{t}.upper() {t}.lower() {t}.title() {t}.strip() {t}.replace('a','bb') {t}[1:] {t}[::-1] {t}[:3] ({t}+{t}) ({t}*2)
 ','.join(ws) str({n}) repr({t}) f"{{n}:.3f}" f"{{n}}" f"{{t}:>12}" f"{{t}!r}" {t}.capitalize() {t}.swapcase()
 {t}.center(abs(int({n}))%20,'*') {t}.zfill(8) {t}.ljust(7,'.') '%s'%({t},) '%d|%5.2f|%-6s|%x'%(int({n}),{n},{t},abs(int({n})))
 '%+08.3f|%e|%g|%05d'%({n},{n},{n},int({n})) '{}-{}'.format({t},{n}) '{0:<8}|{1:,}'.format({t},int({n})) chr(97+abs(int({n}))%26)
 hex(int({n})) bin(int({n})) '-'.join({t}.split()) {t}.partition(',')[2] json.dumps({t}) json.dumps(d) re.sub('[aeiou]','*',{t})
 {t}.removeprefix('a') format({n},'.2e') {t}.expandtabs(2) {t}.casefold() str({b}) str(xs) str(d) f"{{n}:08.2f}" f"{{n}:+.1%}"
 f"{{n}:,.2f}" f"{{n}:g}" f"{{n}:.3g}" ''.join(map(str.upper,{t})) f"{{n}:^14}" """.split()

LISTS = """xs sorted(xs) sorted(xs,reverse=True) [x*2~for~x~in~xs] [x/3~for~x~in~xs~if~x>{n}] [x**2~for~x~in~xs] [round(x,1)~for~x~in~xs]
 list(map(abs,xs)) list(map(round,xs)) list(filter(lambda~x:~x>{n},xs)) [{n},{n},{t}] xs[1:3] xs[::-1] list(zip(xs,ws))
 list(enumerate(ws)) {t}.split(',') list({t}) sorted(ws,key=len) sorted(ws,key=str.lower) [i//2~for~i~in~range(7)]
 list(range(1,20,3)) (xs+[{n}]) ([{n}]*3) list(d.keys()) list(d.items()) re.findall('[a-z]+',{t}) list(reversed(xs)) [*xs,{n}]
 [p~for~p~in~[1,2,3]~for~q~in~[4,5]~if~p!=q] list(itertools.chain(xs,[1])) list(itertools.accumulate(xs)) [len(w)~for~w~in~ws]
 [x%3~for~x~in~xs] [divmod(x,2)~for~x~in~xs] [x//0.3~for~x~in~xs] list(dict.fromkeys([3,1,3]))""".split()

OTHERS = """len({l}) {n}~in~xs {t}~in~{t} any(x>{n}~for~x~in~xs) all(x>{n}~for~x~in~xs) sum(x>{n}~for~x~in~xs) sum(x/2~for~x~in~xs)
 max(xs)-min(xs) sum(xs)/len(xs) d.get('q',{n}) {b} ({b})+({b}) isinstance({n},int) type({n}).__name__ [{n}]<[{n}] ({n},{t}) {t}=={t}
 (date(2024,1,31)+timedelta(days=abs(int({n}))%1000)).isoformat() (date(2024,3,1)-date(2023,12,25)).days date(2024,5,17).weekday()
 datetime.datetime(2024,2,29,12,30).strftime('%Y/%m/%d~%H:%M') str(timedelta(seconds=abs(int({n}))*1000)) timedelta(days=2).total_seconds()
 str(timedelta(days={n}%99,seconds={n}%99)) timedelta(minutes={n}%99)/timedelta(seconds=7) timedelta(hours={n}%99)//timedelta(minutes=7)
 dict(collections.Counter('banana')) functools.reduce(lambda~p,q:~p*q,[1,2,3,4]) functools.reduce(lambda~p,q:~p/q,xs)
 json.loads(json.dumps({l})) base64.b64encode({t}.encode()).decode() [x~if~x>0~else~-x~for~x~in~xs] (lambda~p,q=2:~p/q)({n}) {t}<{t}
 sorted([{n},{n},{n}]) str({n})[:4] math.isclose({n},{n}) (y:={n})+y unicodedata.normalize('NFC',{t}) {l}[0] dict(zip(ws,xs))
 int({t}.isdigit()) ws[abs(int({n}))%5] {t}.count('a') {t}.find('o') min(ws,key=len) bool({t}) round(sum(xs)/len(xs),{n}) float({n}).is_integer()""".split()

SNIPPETS = [
    "acc = 0\nfor x in xs:\n    acc += x / 7\nresult = acc",
    "acc = 1\nfor x in xs:\n    acc *= x\nresult = acc",
    "acc = {n}\nacc /= {n}\nacc",
    "acc = {n}\nacc //= {n}\nacc",
    "acc = {n}\nacc **= 2\nacc",
    "acc = {n}\nacc %= {n}\nacc",
    "acc = {n}\nacc -= {n}\nresult = acc",
    "acc = {n}\nacc += {b}\nacc",
    "def f(p, q=3):\n    return p / q + p // q\nresult = f({n})",
    "c = 0\nfor w in ws:\n    if len(w) > 3:\n        c += 1\nc",
    "c = dict()\nfor w in ws:\n    c[w[0].lower()] = c.get(w[0].lower(), 0) + len(w)\nresult = c",
    "c = dict(k=1)\nc['K'.lower()] += {n}\nc['K'.lower()] /= {n}\nc",
    "ys = list(xs)\nys[0] /= {n}\nys[1] += {n}\nys[1 + 1] **= 2\nys",
    "try:\n    r = {n} / {n}\nexcept ZeroDivisionError:\n    r = None\nr",
    "try:\n    r = {n} ** 9.5\nexcept (OverflowError, ZeroDivisionError):\n    r = None\nr",
    "if {b}:\n    result = {n}\nelse:\n    result = {n}",
    "result = {n}\nfor i in range(3):\n    result = result / 2 + i",
    "i = 0\nwhile i < 5:\n    i += 2\ni",
    "x, *y = xs\n(x, y)",
    "def fact(k):\n    return 1 if k < 2 else k * fact(k - 1)\nfact(20)",
    "c = 0\nfor x in xs:\n    c += x > {n}\nc",
    "rows = [dict(p=1.5, q=2), dict(p=0.1, q=3)]\nresult = round(sum(r['p'] * r['q'] for r in rows), 2)",
    "s2 = ''\nfor ch in s:\n    s2 = ch + s2\ns2",
    "return {n} if {b} else {n}",
    "total = {n} + {n}",
    "class P:\n    def __init__(self, v):\n        self.v = v\n    def half(self):\n        return self.v / 2\nP({n}).half()",
    "sum = 0\nfor x in xs:\n    sum += x\nsum / 4",
    "def f(round):\n    return round * 2\nf({n}) + round({n}, 1)",
    "float = {n}\nfloat / 3",
]


def number(depth=3):
    chance = CHOICE.random()
    if depth <= 0 or chance < 0.35:
        return CHOICE.choice(NUMBERS)
    if chance < 0.75:
        return f"({number(depth - 1)} {CHOICE.choice(OPERATORS)} {number(depth - 1)})"
    if chance < 0.8:
        return f"({number(depth - 1)}) ** {CHOICE.choice(POWERS)}"
    return filled(CHOICE.choice(CALLS), depth - 1)


def boolean(depth=1):
    if depth <= 0 or CHOICE.random() < 0.5:
        return f"{number(1)} {CHOICE.choice(['<', '>', '==', '!=', '<=', '>='])} {number(1)}"
    form = CHOICE.choice(["({} and {})", "({} or {})", "not {}"])
    return re.sub(r"\{\}", lambda _: boolean(depth - 1), form)


def text(depth=2):
    if depth <= 0 or CHOICE.random() < 0.3:
        return CHOICE.choice(TEXTS)
    return filled(CHOICE.choice(ON_TEXT), depth - 1)


def filled(form, depth):
    """A form with its holes filled. `{{n}:.2f}` is a hole in the braces of an f-string."""
    if form.startswith("'{"):  # the braces of str.format are its own
        parts = form.split(".format(", 1)
        return parts[0] + ".format(" + filled(parts[1], depth)
    makers = {"n": lambda: number(min(depth, 2)), "": lambda: number(depth), "t": lambda: text(depth), "b": boolean,
              "l": lambda: filled(CHOICE.choice(LISTS), 1)}
    return re.sub(r"\{([ntbl]?)\}", lambda hole: makers[hole.group(1)](), form).replace("~", " ")


def program():
    chance = CHOICE.random()
    if chance < 0.3:
        return number()
    if chance < 0.45:
        return text()
    if chance < 0.6:
        return filled(CHOICE.choice(LISTS), 1)
    if chance < 0.85:
        return filled(CHOICE.choice(OTHERS), 2)
    return filled(CHOICE.choice(SNIPPETS), 2)


def plain_sum(items, start=0):
    """As before 3.12, which adds floats with compensation."""
    return functools.reduce(lambda total, item: total + item, items, start)


def names():
    known = {module.__name__: module
             for module in (base64, collections, datetime, functools, itertools, json, math, re, unicodedata)}
    known |= {name: getattr(math, name) for name in dir(math) if not name.startswith("_") and name != "pow"}
    known |= {"date": datetime.date, "timedelta": datetime.timedelta, "sum": plain_sum}
    return known | json.loads(ARGUMENTS)


def value_of(source):
    tree, known = ast.parse(source), names()
    if any(isinstance(part, ast.Return) for part in tree.body):
        inner = "".join(f"    {line}\n" for line in source.splitlines())
        exec(compile(f"def outer():\n{inner}value = outer()", "x", "exec"), known)
        return known["value"]
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.Assign(targets=[ast.Name("value", ast.Store())], value=last.value)
        ast.fix_missing_locations(tree)
    exec(compile(tree, "x", "exec"), known)
    if "result" in known:
        return known["result"]
    return known["value"] if isinstance(last, ast.Expr) else known[last.targets[0].id]


def as_json(value):
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise OverflowError("not finite")
        return value
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in value.items()}
    raise TypeError(type(value).__name__)


def main():
    # CPython itself has no bounds.
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (300, 300))
    warnings.simplefilter("ignore")
    made = 0
    while made < int(sys.argv[2]):
        source = program()
        try:
            outcome = {"value": as_json(value_of(source))}
        except SyntaxError:
            continue  # a quote within the same quotes: Python before 3.12
        except (MemoryError, Exception) as error:
            outcome = {"raises": type(error).__name__}
        print(json.dumps([source, outcome]))
        made += 1


main()
