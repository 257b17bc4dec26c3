"""Runs the functions of one script or module, call by call, for the server that started this process.

One JSON line in, one out. What the tool prints goes to stderr, never between the answers.
"""

import sys

# The workspace is not littered, and an edit within the same second is seen.
sys.dont_write_bytecode = True
# The folder it was started in is no place for Python's own modules.
sys.path = [folder for folder in sys.path if folder]

import importlib
import importlib.util
import inspect
import io
import json
import os
import re
import resource
import traceback

# Ours alone, whatever the tool does to the streams it knows.
answers = os.dup(1)
prints = os.dup(2)
requests = os.fdopen(os.dup(0), "rb")
# Whoever reads stdin reads nothing, instead of the next request.
nothing = os.open(os.devnull, os.O_RDONLY)
os.dup2(nothing, 0)

OWN = os.getpid()
LONG = re.compile(r"\d{19}")
DEPTH_MAX = 100
# Made once: `json.dumps` makes one for each call.
encode = json.JSONEncoder(allow_nan=False, ensure_ascii=False).encode
WORKSPACE = os.path.realpath(sys.argv[1])
loop = None
loaded = None
stamps = {}
looked_at = set()
modules = 0


def set_streams():
    """As they were at the beginning; a tool may have closed or replaced them."""
    os.dup2(prints, 1)
    os.dup2(prints, 2)
    for name, number in (("stdout", 1), ("stderr", 2)):
        stream = getattr(sys, name)
        if stream is not streams.get(name) or stream is None or stream.closed:
            raw = open(number, "wb", buffering=0, closefd=False)
            stream = io.TextIOWrapper(io.BufferedWriter(raw, 1 << 16), encoding="utf-8", errors="backslashreplace")
            streams[name] = stream
            setattr(sys, name, stream)
    if sys.stdin is not streams.get("stdin") or sys.stdin.closed:
        streams["stdin"] = sys.stdin = io.TextIOWrapper(open(0, "rb", closefd=False))


streams = {}


def stamp(path):
    try:
        found = os.stat(path)
        return (found.st_mtime_ns, found.st_size, found.st_ino)
    except OSError:
        return None


def note_files():
    """Every file of the workspace that was loaded; where one changes, this process is no longer the right one."""
    global modules
    if len(sys.modules) == modules:
        return
    modules = len(sys.modules)
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if path and path not in looked_at:
            looked_at.add(path)
            if os.path.realpath(path).startswith(WORKSPACE + os.sep):
                stamps[path] = stamp(path)


def is_stale():
    return any(stamp(path) != known for path, known in stamps.items())


def load(request):
    global loaded
    if loaded is None:
        if "script" in request:
            path = os.path.join(WORKSPACE, request["script"])
            if not os.path.exists(path):
                raise FileNotFoundError(path)
            stamps[path] = stamp(path)
            sys.path.insert(0, os.path.dirname(path))
            spec = importlib.util.spec_from_file_location("tool", path)
            module = importlib.util.module_from_spec(spec)
            sys.modules["tool"] = module
            # Compiled here and now: Python's own cache looks at whole seconds.
            with open(path, "rb") as file:
                exec(compile(file.read(), path, "exec"), module.__dict__)
        else:
            sys.path.insert(0, WORKSPACE)
            module = importlib.import_module(request["module"])
        loaded = module
    name = request["function"]
    function = loaded
    for part in name.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        raise LookupError(f"there is no function '{name}' in it")
    return function


def mismatch(function, arguments):
    """Why the function cannot be called with these, if it cannot."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None  # Some functions written in C tell no signature.
    try:
        signature.bind(**arguments)
    except TypeError as error:
        return str(error)
    return None


def run(function, arguments):
    global loop
    result = function(**arguments)
    if inspect.isawaitable(result):
        # Not needed by most, and slow to load.
        import asyncio

        if loop is None or loop.is_closed():
            loop = asyncio.new_event_loop()
            asyncio.set_event_loop(loop)

        async def wait():
            return await result

        result = loop.run_until_complete(wait())
    return result


def place(error):
    """The last line of the workspace's own code in the traceback."""
    if isinstance(error, SyntaxError) and error.filename:
        return {"file": shown(error.filename), "line": error.lineno, "column": error.offset}
    own = None
    for frame in traceback.extract_tb(error.__traceback__):
        if not frame.filename.startswith("<"):
            own = {"file": shown(frame.filename), "line": frame.lineno, "function": frame.name}
    return own


def shown(path):
    path = os.path.realpath(path)
    return os.path.relpath(path, WORKSPACE) if path.startswith(WORKSPACE + os.sep) else os.path.basename(path)


def fault(step, error, message=None):
    if message is None:
        try:
            message = str(error)
        except BaseException:
            message = "it cannot say why"
    said = {"step": step, "type": type(error).__name__, "message": message[:4000]}
    found = place(error)
    if found:
        said["place"] = found
    return {"error": said}


def answer(request):
    """The answer, as text or as what becomes it."""
    step = "load"
    try:
        function = load(request)
        step = "call"
        arguments = request["arguments"]
        try:
            result = run(function, arguments)
        except TypeError:
            # Looked at only now: that takes longer than most calls.
            wrong = mismatch(function, arguments)
            if wrong is None:
                raise
            return {"error": {"step": "arguments", "type": "TypeError", "message": wrong}}
        if os.getpid() != OWN:
            os._exit(0)  # A copy of this process that the tool has made and forgotten.
        step = "result"
        text = encode(result)
        text.encode()  # Half a surrogate pair is no text.
        if LONG.search(text) or text.count("[") + text.count("{") > DEPTH_MAX:
            check(result, 0)
        return '{"result": ' + text
    except SystemExit as error:
        return fault(step, error, f"the script called sys.exit({error.code!r})")
    except BaseException as error:
        try:
            traceback.print_exc()
        except BaseException:
            pass
        return fault(step, error)


def check(value, depth):
    """Refuses what JSON can write but few can read."""
    if depth > DEPTH_MAX:
        raise ValueError(f"it is nested deeper than {DEPTH_MAX} levels")
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise ValueError("an integer has more than 64 bits; return it as text")
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            check(item, depth + 1)


def has_children():
    """Whether something that the call has started still runs. Orphans come to us, too."""
    try:
        while True:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return True
    except ChildProcessError:
        return False


def write(number, text):
    while text:
        text = text[os.write(number, text):]


def main():
    write(answers, json.dumps({"pid": OWN}).encode() + b"\n")
    for line in requests:
        request = json.loads(line)
        if is_stale():
            said = {"stale": True}
        else:
            set_streams()
            said = answer(request)
            if os.getpid() != OWN:
                os._exit(0)
            note_files()
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except BaseException:
                    pass
        if isinstance(said, str):
            text = said
        else:
            text = json.dumps(said, ensure_ascii=True)[:-1]
        # What becomes of this process is for the server to decide.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        text += f', "peak_kib": {peak}'
        if has_children():
            text += ', "left": true'
        text += f', "mark": "{request["mark"]}"'
        # Behind everything that was printed: who has read it finds all of that.
        write(answers, text.encode() + b"}\n")


main()
