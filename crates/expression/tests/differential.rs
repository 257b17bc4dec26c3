//! Generated programs, and what CPython makes of them: the same value, or a refusal that the documentation names.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

use expression::{Evaluator, Fault, Kind, Limits};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::process::Command;

fn python() -> PathBuf {
    match std::env::var_os("TOOLCRIB_TEST_PYTHON") {
        Some(folder) => PathBuf::from(folder).join("python3"),
        None => "python3".into(),
    }
}

fn arguments() -> Map<String, Value> {
    let Value::Object(arguments) = json!({
        "a": 7, "b": 2.5, "n": -3, "s": "Hello, Wörld", "t": "a,b;c d", "xs": [3, 1, 2.5, -4, 10],
        "ws": ["kim", "Lee", "park", "Ω", "zoë"], "d": {"x": 1, "y": 2.5, "z": [1, 2]}, "flag": true
    }) else {
        unreachable!()
    };
    arguments
}

/// What docs/expressions.md lists under limits and what is not there.
fn is_documented(fault: &Fault) -> bool {
    let reasons = [
        "complex number",
        "1048576 bits",
        "4300 digits",
        "at most 20000",
    ];
    fault.kind == Kind::Unsupported || reasons.iter().any(|reason| fault.message.contains(reason))
}

fn compare(seed: u32, count: usize) {
    let arguments = arguments();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference.py");
    let given = Value::Object(arguments.clone()).to_string();
    let ran = Command::new(python())
        .args([script, &seed.to_string(), &count.to_string(), &given])
        .output();
    let Ok(ran) = ran else {
        println!("differential: skipped, there is no python3 to compare with");
        return;
    };
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let mut evaluator = Evaluator::new();
    let limits = Limits {
        duration_ms: 5000,
        ..Limits::default()
    };
    let (mut same, mut refused) = (0, 0);
    for line in String::from_utf8(ran.stdout).unwrap().lines() {
        let (source, expected): (String, Value) = serde_json::from_str(line).unwrap();
        let evaluated = evaluator.evaluate(&source, &arguments, &limits);
        match (evaluated, expected.get("value")) {
            (Ok(evaluated), Some(value)) => {
                assert_eq!(evaluated.value, *value, "seed {seed}: {source}");
                same += 1;
            }
            (Ok(evaluated), None) => {
                panic!("seed {seed}: {source}: {}, but {expected}", evaluated.value);
            }
            (Err(_), None) => same += 1,
            (Err(fault), Some(value)) => {
                assert!(
                    is_documented(&fault),
                    "seed {seed}: {source}: {fault}, but {value}"
                );
                refused += 1;
            }
        }
    }
    assert_eq!(same + refused, count);
    assert!(refused < count / 20, "{refused} of {count} were refused");
}

#[test]
fn generated_programs_have_the_value_that_cpython_gives_them() {
    compare(1, 2500);
}

#[test]
fn and_others_too() {
    // A longer look where tests are given the time for it.
    let (seeds, count) = match std::env::var_os("TOOLCRIB_SOAK") {
        Some(_) => (2..42, 10_000),
        None => (2..3, 2500),
    };
    for seed in seeds {
        compare(seed, count);
    }
}
