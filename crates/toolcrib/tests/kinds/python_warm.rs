//! The processes that stay warm between two calls: which one serves, and which does not any more.

use crate::crib::{Crib, until};
use serde_json::json;

#[test]
fn a_warm_process_serves_until_a_file_of_its_script_changes() {
    let crib = Crib::new();
    crib.sandbox.write("words.py", "WORD = 'one'\n");
    crib.add_python(
        "counting",
        "import os, words\ncalls = 0\ndef execute():\n    global calls\n    calls += 1\n    return [os.getpid(), calls, words.WORD]\n",
    );
    let first = crib.call("counting", &json!({})).data().clone();
    let second = crib.call("counting", &json!({})).data().clone();
    assert_eq!(
        (&first[0], &second[1]),
        (&second[0], &json!(2)),
        "the same process"
    );
    // The helper module, not the script itself.
    crib.sandbox.write("words.py", "WORD = 'another'\n");
    let third = crib.call("counting", &json!({})).data().clone();
    assert_eq!((&third[1], &third[2]), (&json!(1), &json!("another")));
    assert_ne!(third[0], first[0]);
}

#[test]
fn a_file_that_changes_during_a_call_is_noticed() {
    let crib = Crib::new();
    crib.sandbox.write("words.py", "WORD = 'one'\n");
    crib.sandbox.write("late.py", "WORD = 'early'\n");
    crib.add_python("edits", EDITS);
    let call = |what: &str| crib.call("edits", &json!({"what": what})).data().clone();
    assert_eq!(call("edit"), "one");
    assert_eq!(call("edit"), "two");
    // One module less and one more: as many as before.
    call("nothing");
    assert_eq!(call("swap"), "early");
    crib.sandbox.write("late.py", "WORD = 'later'\n");
    assert_eq!(call("swap"), "later");
}

const EDITS: &str = r#"
import sys, types, words
sys.modules["nobody"] = types.ModuleType("nobody")

def execute(what):
    if what == "edit":
        with open("words.py", "w") as file:
            file.write("WORD = 'two'\n")
    if what == "swap":
        sys.modules.pop("nobody", None)
        import late
        return late.WORD
    return words.WORD
"#;

#[test]
fn an_edit_counts_for_all_that_wait() {
    let crib = Crib::new();
    // All are started at once: none ends before all have begun.
    let script = |word: &str| {
        format!(
            "import os, time\ndef execute(n):\n    open(f'here{{n}}', 'w').close()\n    \
             while not all(os.path.exists(f'here{{i}}') for i in range(4)):\n        time.sleep(0.001)\n    \
             return '{word}'\n"
        )
    };
    crib.sandbox.write("gathers.py", &script("old"));
    crib.add(
        "gathers",
        "python",
        &json!({"script": "gathers.py"}),
        &json!({"parallel_capable": true}),
    );
    std::thread::scope(|scope| {
        let call = |n: i32| crib.call("gathers", &json!({ "n": n })).data().clone();
        let calls: Vec<_> = (0..4).map(|n| scope.spawn(move || call(n))).collect();
        for call in calls {
            assert_eq!(call.join().unwrap(), "old");
        }
    });
    crib.sandbox.write("gathers.py", &script("newer"));
    assert_eq!(crib.call("gathers", &json!({"n": 0})).data(), "newer");
}

#[test]
fn one_that_ended_while_it_waited_is_passed_over() {
    let crib = Crib::new();
    crib.add_python("who", "import os\ndef execute():\n    return os.getpid()\n");
    let first = crib.call("who", &json!({})).data().clone();
    let supervised = crib.below();
    let raw = i32::try_from(first.as_i64().unwrap()).unwrap();
    let pid = rustix::process::Pid::from_raw(raw).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    until("it and its supervisor are gone", || {
        let left = crib.below();
        let is_left = |(pid, line): &(u32, String)| {
            left.iter().any(|(other, _)| other == pid)
                && line.contains("Runs the functions of one script")
        };
        (!supervised.iter().any(is_left)).then_some(())
    });
    assert_ne!(crib.call("who", &json!({})).data(), &first);
}
