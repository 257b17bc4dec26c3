"""A server that does on demand what servers should not: fake.py legacy|modern stdio|http|sse NOTE [PORT].

What it runs it writes into the file NOTE, a line each, so that a test can see what ran, and how often.
"""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ERA, TRANSPORT, NOTE = sys.argv[1:4]
MODERN = "2026-07-28"
lock = threading.Lock()
extra_tools = []
mark = "Where"
sessions = {}
streams = []
refusals = []
answers_strangers = False
in_flight = 0
in_flight_max = 0
asked = {}
cancelled = set()
pages = os.environ.get("FAKE_PAGES") == "1"
doubles = os.environ.get("FAKE_DOUBLES") == "1"
token = os.environ.get("FAKE_TOKEN")
accept_none = os.environ.get("FAKE_BREAK")


def note(line):
    with lock, open(NOTE, "a") as file:
        file.write(line + "\n")


def text(value):
    return {"content": [{"type": "text", "text": value, "x-content": {"deep": [None]}}], "x-result": 1}


def tools():
    schema = {"type": "object", "properties": {"where": {"type": "string", "x-mcp-header": mark}}}
    names = ["echo", "count", "odd", *extra_tools]
    long = int(os.environ.get("FAKE_LONG_TOOL", 0))
    if long:
        return [{"name": "long", "description": "x" * long}, {"name": "short"}]
    every = [{"name": name, "inputSchema": schema, "x-unknown": {"a": [1, None]}} for name in names]
    bad = {"name": "bad", "inputSchema": {"x-mcp-header": "root", "type": "object"}}
    return every + ([bad] if ERA == "modern" else [])


class Call:
    """One request, and the ways to talk about it while it runs."""

    def __init__(self, message, send, ask):
        self.id = message["id"]
        self.params = message.get("params", {})
        self.send = send
        self.ask = ask

    def progress(self, n):
        token = self.params.get("_meta", {}).get("progressToken")
        if token is not None:
            params = {"progressToken": token, "progress": n, "total": 3}
            self.send({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})


def run(call):
    """The result of a tool, or None where there is no answer."""
    global in_flight, in_flight_max
    name = call.params["name"]
    arguments = call.params.get("arguments", {})
    note(f"{name} {arguments['n']}" if "n" in arguments else name)
    if name == "echo":
        return text(arguments.get("text", ""))
    if name == "big":
        return text("x" * arguments["bytes"])
    if name == "where":
        return text(json.dumps([os.getcwd(), {k: os.environ.get(k) for k in ["BASE", "BOTH", "OWN", "SECRET"]}]))
    if name == "pid":
        return text(str(os.getpid()))
    if name == "flood":
        for _ in range(300):
            sys.stderr.write("e" * 9999 + "\n")
        sys.stderr.write("the last words\n")
        sys.stderr.flush()
        return text("flooded")
    if name == "die":
        sys.stderr.write("dying as asked\n")
        sys.stderr.flush()
        os._exit(3)
    if name == "hang":
        call.progress(1)
        for _ in range(6000):
            time.sleep(0.01)
            if call.id in cancelled:
                note("hang cancelled")
                return None
        return None
    if name == "wait":
        while not os.path.exists(NOTE + ".go"):
            time.sleep(0.01)
        return text("waited")
    if name == "ask":
        method = arguments["method"]
        params = {"message": "well?", "requestedSchema": {"type": "object", "properties": {}}}
        return text(json.dumps(call.ask(method, params)))
    if name == "together":
        with lock:
            in_flight += 1
            in_flight_max = max(in_flight, in_flight_max)
        until = time.time() + arguments["seconds"]
        while in_flight < arguments["calls"] and time.time() < until:
            time.sleep(0.005)
        answer = call.ask("elicitation/create", {"message": arguments["who"]})
        time.sleep(0.02)
        with lock:
            in_flight -= 1
        return text(json.dumps([in_flight_max, answer]))
    if name == "forget":
        in_flight_max = 0
        return text("")
    if name == "grow":
        extra_tools.append(f"grown{len(extra_tools)}")
        for _ in range(arguments.get("times", 1)):
            broadcast({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        return text("grown")
    if name == "remark":
        global mark
        mark = "Whither"
        return text("")
    if name == "touch":
        broadcast({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": arguments["uri"]}})
        return text("")
    if name == "forget_sessions":
        global answers_strangers
        answers_strangers = arguments.get("answers_strangers", False)
        sessions.clear()
        return text("")
    if name == "end_streams":
        refusals.extend(arguments["refusals"])
        return text("")
    return text(f"no tool {name}")


def answer(message, send, ask):
    """The answer to a request."""
    method, params = message["method"], message.get("params", {})
    if method == "server/discover" and ERA == "modern":
        return {"supportedVersions": [MODERN], "capabilities": capabilities(), "resultType": "complete"}
    if method == "initialize" and ERA == "legacy":
        return {"protocolVersion": "2025-06-18", "capabilities": capabilities(), "serverInfo": {"name": "fake"}}
    if method == "ping":
        return {}
    if method == "tools/list" and accept_none == "no-list":
        raise ValueError("the list is broken")
    if method == "tools/list" and accept_none == "slow-list":
        note("lists")
        threading.Event().wait(60)
    if method == "tools/list":
        every = tools()
        at = int(params.get("cursor", 0))
        if pages and at + 1 < len(every):
            return {"tools": every[at : at + 1], "nextCursor": str(at + 1)}
        return {"tools": every[at:]}
    if method == "resources/list" and doubles:
        return {"resources": [{"uri": uri, "name": "r"} for uri in ("x://a", "x://b", "x://a", "x://a")]}
    if method == "resources/templates/list" and doubles:
        return {"resourceTemplates": [{"uriTemplate": "x://{n}", "name": str(n)} for n in range(3)]}
    if method == "prompts/list" and doubles:
        return {"prompts": [{"name": "p", "title": str(n)} for n in range(1500)]}
    if method == "tools/call":
        if ERA == "modern" and params["name"] == "ask" and "inputResponses" not in params:
            asks = {"a": {"method": params["arguments"]["method"], "params": {"message": "well?"}}}
            note("asks")
            return {"resultType": "input_required", "inputRequests": asks, "requestState": "state"}
        if params["name"] == "endless":
            return {"resultType": "input_required", "requestState": "again"}
        return run(Call(message, send, ask))
    if method in ("resources/subscribe", "resources/unsubscribe"):
        note(method + " " + params["uri"])
        return {}
    if method == "logging/setLevel":
        note("level " + params["level"])
        return {}
    raise KeyError(method)


def capabilities():
    prompts = {"prompts": {}} if doubles else {}
    return {"tools": {"listChanged": True}, "logging": {}, "resources": {"subscribe": True}, **prompts}


def reply(message, send, ask):
    """Handles one message and sends what there is to send."""
    if "method" not in message:
        asked.pop(message["id"])(message)
        return
    if message["method"] == "notifications/cancelled":
        cancelled.add(message["params"]["requestId"])
        return
    if "id" not in message:
        return
    try:
        result = answer(message, send, ask)
    except (KeyError, ValueError) as error:
        code = -32601 if isinstance(error, KeyError) else -32603
        send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": str(error)}})
        return
    if result is not None:
        send({"jsonrpc": "2.0", "id": message["id"], "result": result})


def asker(send):
    """A way to ask the client, over `send`."""

    def ask(method, params):
        if ERA == "modern":
            return "answered"
        got, done = [], threading.Event()
        with lock:
            id = f"q{len(asked)}-{time.time()}"
            asked[id] = lambda message: (got.append(message), done.set())
        send({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        done.wait(20)
        return [got[0].get("result"), got[0].get("error")] if got else "no answer"

    return ask


# Over stdio.


def stdio_send(message):
    with lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def raw(line):
    with lock:
        sys.stdout.write(line)
        sys.stdout.flush()


def odd_over_stdio(message):
    """Faults of which only the pipe is capable. Whether it was one."""
    if message.get("method") != "tools/call":
        return False
    name, id = message["params"]["name"], message["id"]
    if name == "noise":
        note(name)
        raw("hello, I am a log line\n\n[1,2\n{\"id\":\n\x00\x01\n[]\n\"x\"\n")
        stdio_send({"jsonrpc": "2.0", "id": 999999, "result": {}})
        stdio_send({"jsonrpc": "2.0", "id": None, "result": {}})
        stdio_send({"jsonrpc": "2.0", "id": "x", "result": {}})
        stdio_send({"jsonrpc": "2.0", "id": id, "result": text("through")})
        stdio_send({"jsonrpc": "2.0", "id": id, "result": text("again")})
        return True
    if name == "half":
        note(name)
        raw(json.dumps({"jsonrpc": "2.0", "id": id, "result": text("half")})[:30])
        os._exit(0)
    if name == "neither":
        stdio_send({"jsonrpc": "2.0", "id": id})
        return True
    if name == "deaf":
        note(name)
        os.close(0)
        threading.Event().wait(30)
    return False


def stdio():
    broadcast.send = stdio_send
    if accept_none == "die-at-discover":
        message = json.loads(sys.stdin.readline())
        if message["method"] != "initialize":
            sys.exit(4)
        reply(message, stdio_send, None)
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "server/discover" and accept_none == "ignore-discover":
            continue
        if odd_over_stdio(message):
            continue
        threading.Thread(target=reply, args=(message, stdio_send, asker(stdio_send)), daemon=True).start()


def broadcast(message):
    if TRANSPORT == "stdio":
        broadcast.send(message)
    for send in list(streams):
        send(message)


# Over HTTP.


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        note("connection")
        super().setup()

    def log_message(self, *args):
        pass

    def refuse(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def error(self, status, code, message):
        self.answer_error(status, None, code, message)

    def answer_error(self, status, id, code, message):
        body = {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}
        self.refuse(status, json.dumps(body).encode(), [("Content-Type", "application/json")])

    def begin_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def event(self, message, id=None):
        data = (f"id: {id}\n" if id else "") + f"event: message\ndata: {json.dumps(message)}\n\n"
        self.chunk(data.encode())

    def place(self, id, breaks):
        """The id of an event before the stream breaks off so often."""
        return f"resume-{id}-{breaks}"

    def chunk(self, data):
        with lock:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

    def end_stream(self):
        self.wfile.write(b"0\r\n\r\n")

    def cut(self):
        self.close_connection = True
        self.connection.shutdown(2)

    def allowed(self):
        if token and self.headers.get("Authorization") != f"Bearer {token}":
            note("refused")
            self.refuse(401, b"", [("WWW-Authenticate", 'Bearer resource_metadata="https://x.example/meta"')])
            return False
        session = self.headers.get("Mcp-Session-Id")
        if session and session not in sessions:
            self.error(404, -32001, "Session not found")
            return False
        return True

    def do_DELETE(self):
        note("delete")
        sessions.pop(self.headers.get("Mcp-Session-Id"), None)
        self.refuse(200)

    def events(self):
        """The oldest transport: everything comes on this one stream."""
        self.begin_stream()
        endpoint = os.environ.get("FAKE_ENDPOINT", "message?session=1")
        for _ in range(int(os.environ.get("FAKE_EARLY", 0))):
            self.chunk(b"data: %s\n\n" % (b"x" * 1000))
        data = f"event: endpoint\ndata: {endpoint}\n\n".encode()
        self.open = threading.Event()
        streams[:] = [self]
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.open.wait(30)

    def post_message(self, message):
        if message.get("params", {}).get("name") == "unknown":
            note("unknown")
            return self.refuse(404)
        self.refuse(202)
        stream = streams[0]
        if message.get("params", {}).get("name") == "cut":
            note("cut")
            stream.cut()
            return stream.open.set()
        threading.Thread(target=reply, args=(message, stream.event, asker(stream.event)), daemon=True).start()

    def do_GET(self):
        if TRANSPORT == "sse":
            return self.allowed() and self.events()
        if ERA == "modern":
            return self.refuse(405)
        if not self.allowed():
            return
        last = self.headers.get("Last-Event-ID")
        if not last and refusals:
            note("stream refused")
            return self.refuse(refusals.pop())
        self.begin_stream()
        if last and last.startswith("resume-"):
            note("resumed")
            id, breaks = map(int, last.split("-")[1:])
            if breaks > 1:
                self.event({"jsonrpc": "2.0", "method": "notifications/x"}, self.place(id, breaks - 1))
            else:
                self.event({"jsonrpc": "2.0", "id": id, "result": text("resumed")})
            return self.end_stream()
        streams.append(self.event)
        note("stream")
        try:
            while True:
                if refusals:
                    streams.remove(self.event)
                    return self.end_stream()
                time.sleep(0.2)
                with lock:
                    self.wfile.write(b"3\r\n:\n\n\r\n")
                    self.wfile.flush()
        except OSError:
            streams.remove(self.event)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        message = json.loads(body)
        if TRANSPORT == "sse":
            return self.post_message(message) if self.path.startswith("/message") else self.refuse(404)
        session = self.headers.get("Mcp-Session-Id")
        if answers_strangers and session and session not in sessions and "id" in message:
            return self.answer_error(404, message["id"], -32001, "Session not found")
        if not self.allowed():
            return
        method, params = message.get("method"), message.get("params", {})
        if ERA == "modern":
            meta = params.get("_meta", {})
            if meta.get("io.modelcontextprotocol/protocolVersion") != MODERN:
                return self.error(400, -32602, "no version")
            mirrored = self.headers.get("Mcp-Method") == method
            where = params.get("arguments", {}).get("where")
            if not mirrored or (method == "tools/call" and self.headers.get(f"Mcp-Param-{mark}") != where):
                return self.error(400, -32020, "header mismatch")
            if method == "subscriptions/listen":
                return self.listen(message)
        elif method != "initialize" and self.headers.get("Mcp-Session-Id") not in sessions:
            return self.error(400, -32000, "Bad Request: Server not initialized")
        if "id" not in message or method is None:
            reply(message, None, None)
            return self.refuse(202)
        name = params.get("name")
        if name == "status":
            note(name)
            return self.refuse(params["arguments"]["status"], b"sorry", [("Retry-After", "7")])
        if name == "redirect":
            return self.refuse(307, b"", [("Location", params["arguments"].get("to", "/elsewhere"))])
        if name == "logged_out":
            note(name)
            return self.answer_error(400, message["id"], -32000, "The session of the browser has ended")
        if name == "no_order":
            note(name)
            return self.answer_error(404, message["id"], -32000, "order 17 not found")
        if name == "close_database":
            note(name)
            return self.refuse(400, b"could not close the database session", [("Content-Type", "text/plain")])
        if name == "cut":
            note(name)
            self.begin_stream()
            return self.cut()
        if name == "resume":
            note(name)
            arguments = params.get("arguments", {})
            self.begin_stream()
            if "retry" in arguments:
                self.chunk(b"retry: %d\n\n" % arguments["retry"])
            self.event({"jsonrpc": "2.0", "method": "notifications/x"}, self.place(message["id"], arguments.get("breaks", 1)))
            return self.end_stream()
        if name in ("ask", "hang", "together"):
            return self.stream(message)
        self.plain(message)

    def listen(self, message):
        self.begin_stream()
        self.event({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {}})
        note("listens")
        streams.append(self.event)
        try:
            while True:
                time.sleep(0.2)
                with lock:
                    self.wfile.write(b"3\r\n:\n\n\r\n")
                    self.wfile.flush()
        except OSError:
            streams.remove(self.event)

    def stream(self, message):
        self.begin_stream()
        if message["params"]["name"] == "hang" and ERA == "modern":
            note("hang")
            Call(message, self.event, None).progress(1)
            try:
                while True:
                    time.sleep(0.01)
                    with lock:
                        self.wfile.write(b"3\r\n:\n\n\r\n")
                        self.wfile.flush()
            except OSError:
                return note("hang cancelled")
        reply(message, self.event, asker(self.event))
        # Some end a stream a little after its last event.
        time.sleep(0.02)
        self.end_stream()
        note("stream ended")

    def plain(self, message):
        got = []
        reply(message, got.append, None)
        body = json.dumps(got[0]).encode()
        headers = [("Content-Type", "application/json")]
        if message["method"] == "initialize":
            session = f"s{time.time()}"
            sessions[session] = True
            headers.append(("Mcp-Session-Id", session))
        status = 404 if ERA == "modern" and "error" in got[0] else 200
        self.refuse(status, body, headers)


note(f"start {os.getpid()}")
with open(NOTE) as file:
    starts = sum(line.startswith("start ") for line in file)
if accept_none == "crash" or (accept_none == "crash-2-to-5" and 2 <= starts <= 5):
    sys.stderr.write("cannot find my settings\n")
    sys.exit(5)
if accept_none == "mute":
    print("Welcome! I am not a server.", flush=True)
    threading.Event().wait(30)
if TRANSPORT == "stdio":
    stdio()
else:
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[4])), Handler)
    server.daemon_threads = True
    server.serve_forever()
