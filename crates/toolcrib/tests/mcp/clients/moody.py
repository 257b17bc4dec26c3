"""An upstream server over stdio with moods: moody.py [modern].

Its tools: `chat` says a megabyte at a time until nobody wants it any more; `doubt` asks something and takes it back once
the file that it is told exists; `rows` answers with a list, of which it says so; `fail` fails at length.
"""

import json
import os
import sys
import threading
import time

MODERN = "2026-07-28"
IS_MODERN = sys.argv[1:] == ["modern"]
lock = threading.Lock()
cancelled, answered = set(), []

TOOLS = [
    {"name": "chat", "inputSchema": {"type": "object"}},
    {"name": "doubt", "inputSchema": {"type": "object"}},
    {"name": "rows", "description": None, "title": 5, "inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}},
    {"name": "fail", "inputSchema": {"type": "object"}},
]


def say(**message):
    with lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def chat(id):
    line = "x" * (1 << 20)
    until = time.time() + 60
    while id not in cancelled and time.time() < until:
        say(method="notifications/message", params={"level": "info", "data": line})
        time.sleep(0.01)


def doubt(id, arguments):
    asked = {"message": "well?", "requestedSchema": {"type": "object", "properties": {}}}
    say(id="q", method="elicitation/create", params=asked)
    while not os.path.exists(arguments["file"]):
        time.sleep(0.01)
    say(method="notifications/cancelled", params={"requestId": "q"})
    while not os.path.exists(arguments["file"] + ".end"):
        time.sleep(0.01)
    say(id=id, result=text(f"answered {answered}"))


def call(id, params):
    name, arguments = params["name"], params.get("arguments", {})
    if name == "chat":
        chat(id)
    elif name == "doubt":
        doubt(id, arguments)
    elif name == "rows":
        say(id=id, result={**text("[1]"), "structuredContent": [1], "resultType": "complete"})
    else:
        say(id=id, result={**text("x" * arguments["bytes"]), "isError": True})


for line in sys.stdin:
    message = json.loads(line)
    method, params, id = message.get("method"), message.get("params", {}), message.get("id")
    if method == "notifications/cancelled":
        cancelled.add(params["requestId"])
    elif method is None:
        answered.append(id)
    elif id is None:
        pass
    elif method == "tools/call":
        threading.Thread(target=call, args=(id, params), daemon=True).start()
    elif method == "server/discover" and IS_MODERN:
        say(id=id, result={"supportedVersions": [MODERN], "capabilities": {"tools": {}}, "resultType": "complete"})
    elif method == "initialize" and not IS_MODERN:
        able = {"tools": {}, "logging": {}}
        info = {"name": "moody", "version": "1"}
        say(id=id, result={"protocolVersion": "2025-06-18", "capabilities": able, "serverInfo": info})
    elif method == "tools/list":
        say(id=id, result={"tools": TOOLS, "resultType": "complete"})
    elif method == "logging/setLevel":
        say(id=id, result={})
    else:
        say(id=id, error={"code": -32601, "message": "no such method"})
