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
import time
import traceback

# Ours alone, whatever the tool does to the streams it knows.
answers = os.dup(1)
prints = os.dup(2)
requests = os.fdopen(os.dup(0), "rb")
# Whoever reads stdin reads nothing, instead of the next request.
nothing = os.open(os.devnull, os.O_RDWR)
os.dup2(nothing, 0)

OWN = os.getpid()
LONG = re.compile(r"\d{19}")
DEPTH_MAX = 100
# Made once: `json.dumps` makes one for each call.
encode = json.JSONEncoder(allow_nan=False, ensure_ascii=False).encode
WORKSPACE = os.path.realpath(sys.argv[1])
# How far the time of a file may lag behind the clock.
COARSE_NS = 10_000_000
loop = None
loaded = None
stamps = {}
looked_at = set()
modules = None
streams = {}


class Mismatch(Exception):
    """The function cannot be called with these arguments, and was not."""


def open_stream(number):
    if number == 0:
        return io.TextIOWrapper(open(0, "rb", closefd=False))
    raw = open(number, "wb", buffering=0, closefd=False)
    # Line by line where it often tells why there was a crash. For all that is printed that would take too long.
    by_line = number == 2
    return io.TextIOWrapper(
        io.BufferedWriter(raw, 1 << 16), encoding="utf-8", errors="backslashreplace", line_buffering=by_line)


def set_streams():
    """As they were at the beginning; a tool may have closed or replaced them."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            stream = streams[name]
            if stream.closed:
                raise ValueError
            if number > 0:
                # Printed since the last call, by what that has left behind: it goes to where nobody reads.
                stream.flush()
        except BaseException:
            stream = streams[name] = open_stream(number)
        setattr(sys, name, stream)
    os.dup2(prints, 1)
    os.dup2(prints, 2)


def flush_streams():
    """So that what this call has printed is in no other call's log; the tool's own streams may lead to ours."""
    for name in ("stdout", "stderr"):
        own = streams[name]
        try:
            shown = getattr(sys, name, None)
            if shown is not own and shown is not None:
                shown.flush()
        except BaseException:
            pass
        try:
            own.flush()
        except BaseException:
            pass


def exit_at_once(status):
    """Instead of `os._exit`, which drops what was printed. A copy of this process has that from us."""
    if os.getpid() == OWN:
        flush_streams()
    really_exit(status)


really_exit = os._exit
os._exit = exit_at_once


def stamp(path):
    try:
        found = os.stat(path)
        return (found.st_mtime_ns, found.st_size, found.st_ino)
    except OSError:
        return None


def note_files(began):
    """Every file of the workspace that was loaded; where one changes, this process is no longer the right one."""
    global modules
    # One that came and one that went leave the number as it was.
    known = (len(sys.modules), next(reversed(sys.modules.values()), None))
    if modules is not None and known[0] == modules[0] and known[1] is modules[1]:
        return
    modules = known
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str) and path not in looked_at:
            looked_at.add(path)
            if os.path.realpath(path).startswith(WORKSPACE + os.sep):
                found = stamp(path)
                # Written while the call ran, perhaps after it was loaded: equal to no stamp.
                is_new = found and began - COARSE_NS <= found[0] <= time.time_ns() + COARSE_NS
                stamps[path] = "new" if is_new else found


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
    if isinstance(function, type):
        return None  # A part of it may have run nevertheless: it is made in two steps.
    for is_inner in (False, True):
        try:
            signature = inspect.signature(function, follow_wrapped=is_inner)
        except (TypeError, ValueError):
            continue  # Some functions written in C tell no signature, but perhaps what they wrap does.
        try:
            signature.bind(**arguments)
        except TypeError as error:
            return str(error)[:4000]
        return None
    return None


def run(function, arguments):
    global loop
    try:
        result = function(**arguments)
    except TypeError as error:
        # Nothing of it has run only where the traceback ends here. Looked at only now: that takes longer than most calls.
        wrong = mismatch(function, arguments) if error.__traceback__.tb_next is None else None
        if wrong is None:
            raise
        raise Mismatch(wrong) from None
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


def place(step, error):
    """The last line of the workspace's own code in the traceback, or of any where there is none."""
    if isinstance(error, SyntaxError) and error.filename:
        line, column = error.lineno, error.offset
        return {"file": shown(error.filename), "line": line and int(line), "column": column and int(column)}
    own = other = None
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename.startswith("<"):
            continue
        elif is_own(frame.filename):
            own = frame
        else:
            other = frame
    # What cannot be written as JSON is found out by Python's own code, and that is nobody's fault.
    found = own or (other if step != "result" else None)
    return found and {"file": shown(found.filename), "line": found.lineno, "function": found.name}


def is_own(path):
    """What was installed may lie inside the workspace, too."""
    path = os.path.realpath(path)
    return path.startswith(WORKSPACE + os.sep) and f"{os.sep}site-packages{os.sep}" not in path


def shown(path):
    path = os.path.realpath(path)
    path = os.path.relpath(path, WORKSPACE) if path.startswith(WORKSPACE + os.sep) else os.path.basename(path)
    return whole(path)


def whole(text):
    """Half a surrogate pair is no text."""
    return text.encode("utf-8", "backslashreplace").decode()


def fault(step, error):
    is_exit = isinstance(error, SystemExit)
    try:
        message = f"the script called sys.exit({error.code!r})" if is_exit else str(error)
        message = whole(message[:4000])
    except BaseException:
        message = "the script called sys.exit" if is_exit else "it cannot say why"
    said = {"step": step, "type": type(error).__name__, "message": message}
    try:
        found = place(step, error)
    except BaseException:
        found = None
    if found:
        said["place"] = found
    return {"error": said}


def answer(request):
    """The answer, as text or as what becomes it."""
    step = "load"
    try:
        function = load(request)
        step = "call"
        result = run(function, request["arguments"])
        if os.getpid() != OWN:
            os._exit(0)  # A copy of this process that the tool has made and forgotten.
        step = "result"
        text = encode(result)
        text.encode()  # Half a surrogate pair is no text.
        if LONG.search(text) or text.count("[") + text.count("{") > DEPTH_MAX:
            check(result, 0)
        return '{"result": ' + text
    except Mismatch as error:
        return {"error": {"step": "arguments", "type": "TypeError", "message": str(error)}}
    except SystemExit as error:
        return fault(step, error)
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
            began = time.time_ns()
            set_streams()
            said = answer(request)
            if os.getpid() != OWN:
                os._exit(0)
            note_files(began)
            flush_streams()
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
        # What is printed from now on belongs to no call.
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        # Behind everything that was printed: who has read it finds all of that.
        write(answers, text.encode() + b"}\n")


main()
