//! Scripts that misbehave: each gets its own clear error, the next call works, and nothing of it is left.

use crate::crib::{Crib, sandbox, until};
use serde_json::json;
use std::time::{Duration, Instant};

/// Everything that one script can do wrong, by name.
const SCRIPT: &str = r#"
import os, sys, subprocess, threading, time

def execute(what):
    if what == "fine":
        return "fine"
    return globals()[what]()

def endless():
    while True:
        pass

def exits():
    os._exit(3)

def leaves():
    sys.exit("enough")

def crashes():
    os.kill(os.getpid(), 11)

def allocates():
    parts = []
    while True:
        parts.append(bytearray(8 << 20))

def floods():
    line = "x" * 1023
    for i in range(100 * 1024):
        print(line)
    return "flooded"

def tree():
    for i in range(50):
        subprocess.Popen(["sh", "-c", "setsid sleep 98765 & exec sleep 98765"], start_new_session=True)
    while True:
        time.sleep(1)

def not_json():
    return {1, 2}

def not_a_number():
    return float("nan")

def half_a_letter():
    return "\ud800"

def circle():
    a = []
    a.append(a)
    return a

def deep():
    a = []
    for i in range(100_000):
        a = [a]
    return a

def closes():
    sys.stdout.close()
    os.close(1)
    os.close(2)
    return "closed"

def replaces():
    sys.stdout = sys.stderr = None
    return "replaced"

def writes():
    print("before")
    os.write(1, b"{\"result\": \"mine\"}\n")
    return "written"

def garbles():
    for number in range(3, 20):
        try:
            os.write(number, b"garbage\n")
        except OSError:
            pass
    return "garbled"

def reads():
    return sys.stdin.read()

def copies():
    if os.fork() == 0:
        return "child"
    return "parent"

def interrupts():
    raise KeyboardInterrupt

def raises():
    class Odd(BaseException):
        def __str__(self):
            raise ValueError("no text")
    raise Odd()

def many_threads():
    for i in range(50):
        threading.Thread(target=time.sleep, args=(98765,), daemon=True).start()
    return "threads"

def huge():
    return 10 ** 25

def nested():
    a = []
    for i in range(200):
        a = [a]
    return a

def shouts():
    raise ValueError("x" * 20_000_000)

def large():
    return "x" * (4 << 20)

def detaches():
    sys.stdout.detach()
    return "detached"

def deletes():
    del sys.stdout
    return "deleted"

def leaves_oddly():
    class Odd:
        def __repr__(self):
            raise ValueError("no text")
    sys.exit(Odd())

def raises_half_a_letter():
    raise ValueError("file \udcff")

def raises_nowhere():
    raise SyntaxError("odd", (object(), object(), object(), ""))
"#;

struct Case {
    what: &'static str,
    /// A code and part of the message, or the answer.
    ends: Result<&'static str, (&'static str, &'static str)>,
}

const fn fails(what: &'static str, code: &'static str, part: &'static str) -> Case {
    Case {
        what,
        ends: Err((code, part)),
    }
}

const fn answers(what: &'static str, data: &'static str) -> Case {
    Case {
        what,
        ends: Ok(data),
    }
}

const CASES: [Case; 31] = [
    fails("endless", "timeout", "1"),
    fails(
        "exits",
        "tool_execution_error",
        "ended its process with exit code 3",
    ),
    fails(
        "leaves",
        "tool_execution_error",
        "called sys.exit('enough')",
    ),
    fails("crashes", "tool_execution_error", "SIGSEGV"),
    fails(
        "allocates",
        "tool_execution_error",
        "more memory than the 128 MiB",
    ),
    fails(
        "floods",
        "tool_execution_error",
        "printed more than the 32 MiB",
    ),
    fails("tree", "timeout", "1"),
    fails("not_json", "tool_execution_error", "set is not JSON"),
    fails("not_a_number", "tool_execution_error", "not JSON compliant"),
    fails(
        "half_a_letter",
        "tool_execution_error",
        "surrogates not allowed",
    ),
    fails("circle", "tool_execution_error", "Circular reference"),
    fails("deep", "tool_execution_error", "recursion"),
    answers("closes", "closed"),
    answers("replaces", "replaced"),
    answers("writes", "written"),
    fails(
        "garbles",
        "tool_execution_error",
        "where its answer should be",
    ),
    answers("reads", ""),
    answers("copies", "parent"),
    fails("interrupts", "tool_execution_error", "KeyboardInterrupt"),
    fails("raises", "tool_execution_error", "Odd"),
    answers("many_threads", "threads"),
    fails("large", "output_too_large", ""),
    fails("huge", "tool_execution_error", "more than 64 bits"),
    fails("nested", "tool_execution_error", "nested deeper than 100"),
    fails("shouts", "tool_execution_error", "xxxx"),
    answers("detaches", "detached"),
    answers("deletes", "deleted"),
    fails("leaves_oddly", "tool_execution_error", "called sys.exit"),
    fails(
        "raises_half_a_letter",
        "tool_execution_error",
        "ValueError: file \\udcff",
    ),
    fails("raises_nowhere", "tool_execution_error", "SyntaxError: odd"),
    answers("fine", "fine"),
];

#[test]
fn each_misdeed_has_its_own_error_and_the_next_call_works() {
    let limit = (128 << 20).to_string();
    let crib = Crib::of(sandbox().with("TOOLCRIB_PYTHON_MEMORY_BYTES_MAX", &limit));
    crib.add_python("misdeeds", SCRIPT);
    assert_eq!(
        crib.call("misdeeds", &json!({"what": "fine"})).data(),
        "fine"
    );
    let before = resident_kib(crib.server.pid());
    let mut slowest = (Duration::ZERO, "");
    for Case { what, ends } in CASES {
        let began = Instant::now();
        // Long enough for those that end by themselves, also on a busy machine.
        let seconds = if matches!(ends, Err(("timeout", _))) {
            1.0
        } else {
            20.0
        };
        let answer = crib.call_within("misdeeds", &json!({"what": what}), seconds);
        slowest = slowest.max((began.elapsed(), what));
        assert!(answer.body.to_string().len() < 64 << 10, "{what}");
        match ends {
            Ok(data) => assert_eq!(answer.data(), data, "{what}"),
            Err((code, part)) => {
                let message = answer.failed(code);
                assert!(message.contains(part), "{what}: {message}");
            }
        }
        let next = crib.call("misdeeds", &json!({"what": "fine"}));
        assert_eq!(next.data(), "fine", "after {what}");
    }
    crib.nothing_left_of("sleep 98765");
    let grown = resident_kib(crib.server.pid()).saturating_sub(before);
    let left = crib.below().len();
    println!(
        "misdeeds of scripts: {} cases, slowest {} ({:?}), server grew by {} KiB, {left} processes below it",
        CASES.len(),
        slowest.1,
        slowest.0,
        grown
    );
    // A supervisor and an interpreter.
    assert!(left <= 4, "{:?}", crib.below());
    assert!(grown < 64 << 10, "{grown} KiB");
}

#[test]
fn a_script_that_is_wrong_or_gone_says_so_until_it_is_mended() {
    let crib = Crib::new();
    crib.add_python("fragile", "def execute():\n    return 1\n");
    assert_eq!(crib.call("fragile", &json!({})).data(), &json!(1));

    crib.sandbox
        .write("fragile.py", "def execute():\n    retrun 2\n");
    let answer = crib.call("fragile", &json!({}));
    let message = answer.failed("tool_execution_error");
    assert!(
        message.contains("fragile.py cannot be loaded: SyntaxError"),
        "{message}"
    );
    assert_eq!(answer.details()["place"]["line"], 2);

    std::fs::remove_file(crib.sandbox.workspace().join("fragile.py")).unwrap();
    let answer = crib.call("fragile", &json!({}));
    let message = answer.failed("tool_execution_error");
    assert!(
        message.contains("the script fragile.py is not there"),
        "{message}"
    );

    crib.sandbox
        .write("fragile.py", "import not_there_at_all\n");
    let answer = crib.call("fragile", &json!({}));
    let message = answer.failed("tool_execution_error");
    assert!(
        message.contains("ModuleNotFoundError: No module named 'not_there_at_all'"),
        "{message}"
    );

    crib.sandbox
        .write("fragile.py", "def execute():\n    return 3\n");
    assert_eq!(crib.call("fragile", &json!({})).data(), &json!(3));
}

#[test]
fn one_endless_script_does_not_hold_up_another() {
    let crib = Crib::new();
    crib.add_python("slow", "def execute():\n    while True: pass\n");
    crib.add_python("quick", "def execute():\n    return 1\n");
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| crib.call_within("slow", &json!({}), 2.0));
        while !slow.is_finished() {
            assert_eq!(crib.call("quick", &json!({})).data(), &json!(1));
        }
        slow.join().unwrap().failed("timeout");
    });
}

fn resident_kib(pid: u32) -> u64 {
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4
}

/// What stands around a call's prints is told apart from what a caller can write.
#[test]
fn nobodys_prints_are_in_somebody_elses_entry() {
    let crib = Crib::new();
    crib.add_python(
        "echo",
        "import time\ndef execute(x):\n    print('got', x, flush=True)\n    return 1\n",
    );
    let hostile = "\u{0}\u{0}end of call\u{0}\u{0}\n\u{0}end \u{0}\n\u{0}begin \u{0}\n";
    for _ in 0..3 {
        crib.call("echo", &json!({"x": hostile})).data();
        let answer = crib.call("echo", &json!({"x": "mine"}));
        assert_eq!(crib.printed(&answer), "got mine\n");
    }
}

#[test]
fn what_is_printed_late_is_in_nobodys_entry() {
    let crib = Crib::new();
    crib.add_python(
        "replaces",
        "import io, sys\ndef execute(x):\n    print('for', x)\n    sys.stdout = io.StringIO()\n",
    );
    crib.add_python("lingers", LINGERS);
    for x in ["alice", "bob"] {
        let answer = crib.call("replaces", &json!({"x": x}));
        assert_eq!(crib.printed(&answer), format!("for {x}\n"));
    }
    let first = crib.call("lingers", &json!({"x": "alice"}));
    crib.sandbox.write("go", "");
    let has_printed = crib.sandbox.workspace().join("printed");
    until("it has printed", || has_printed.exists().then_some(()));
    let second = crib.call("lingers", &json!({"x": "bob"}));
    assert_eq!(first.data(), second.data(), "the same process");
    assert_eq!(crib.printed(&second), "for bob\n");
}

/// Leaves something behind that prints between two calls.
const LINGERS: &str = r#"
import os, sys, threading, time

def late():
    while not os.path.exists("go"):
        time.sleep(0.001)
    print("late on stdout", end="")
    print("late on stderr", end="", file=sys.stderr)
    open("printed", "w").close()

def execute(x):
    print("for", x)
    if x == "alice":
        threading.Thread(target=late, daemon=True).start()
    return os.getpid()
"#;

#[test]
fn what_was_printed_before_a_crash_is_in_the_log() {
    let crib = Crib::new();
    crib.add_python(
        "crashes",
        "import os, sys\ndef execute(how):\n    print('one')\n    print('two', file=sys.stderr)\n    exec(how)\n",
    );
    let answer = crib.call("crashes", &json!({"how": "os._exit(3)"}));
    answer.failed("tool_execution_error");
    let printed = crib.printed(&answer);
    assert!(
        printed.contains("one\n") && printed.contains("two\n"),
        "{printed}"
    );
    let answer = crib.call("crashes", &json!({"how": "os.kill(os.getpid(), 11)"}));
    answer.failed("tool_execution_error");
    assert!(crib.printed(&answer).contains("two\n"));
}

/// A call that is said not to have run may be tried again; this one has run.
#[test]
fn a_wrong_type_inside_a_wrapped_function_is_its_own_error() {
    let crib = Crib::new();
    crib.add_python("wrapped", WRAPPED);
    let answer = crib.call("wrapped", &json!({"x": 1}));
    let message = answer.failed("tool_execution_error");
    assert!(message.contains("unsupported operand"), "{message}");
    let path = crib.sandbox.workspace().join("effects");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "ran\n");
}

const WRAPPED: &str = r#"
import functools

def with_database(function):
    @functools.wraps(function)
    def wrapper(**arguments):
        return function(database=None, **arguments)
    return wrapper

@with_database
def execute(database, x):
    with open("effects", "a") as file:
        file.write("ran\n")
    return database + x
"#;
