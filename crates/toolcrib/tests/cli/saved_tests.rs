//! `toolcrib tools test`: which tests run, what they may expect, and when their outcome is out of date.

use crate::harness::Sandbox;
use crate::newcomer::path;
use serde_json::json;

const DOUBLE: &str = r#"{"name": "double", "description": "doubles", "kind": "expression",
  "config": {"expression": "a * 2"},
  "input_schema": {"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]},
  "tests": [{"arguments": {"a": 2}, "expect": 4}, {"arguments": {"a": "x"}, "expect_error": "invalid_input"}]}"#;

#[test]
fn all_tests_run_or_those_of_the_tools_that_are_named() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["tools", "add", DOUBLE]);
    let said = sandbox.ok(&["tools", "test"]);
    for part in [
        "pass clean_text {",
        "pass convert_units {",
        "pass double {\"a\":2}",
        "pass double {\"a\":\"x\"}",
    ] {
        assert!(said.contains(part), "{part}\nnot in\n{said}");
    }
    let two = sandbox.json(&["tools", "test", "double", "clean_text"]);
    assert_eq!((&two["passed"], &two["failed"]), (&json!(3), &json!(0)));
    assert_eq!(two["tools"][0]["tool"], "double");
    let patch = r#"{"tests": [{"arguments": {"a": 2}, "expect_error": "timeout"}]}"#;
    sandbox.ok(&["tools", "update", "double", patch, "--patch"]);
    let done = sandbox.run(&["tools", "test"]);
    assert_eq!(done.code, 1, "{done:?}");
    let said = "fail double {\"a\":2}\n  expected the error timeout\n  got      4";
    assert!(done.stdout.contains(said), "{done:?}");
    // The demo's own tools have three.
    assert_eq!(done.stderr, "error: 1 of 6 tests failed\n");
    // One that is switched off is left out, unless it is named.
    sandbox.ok(&["tools", "disable", "double"]);
    sandbox.ok(&["tools", "test"]);
    assert_eq!(sandbox.run(&["tools", "test", "double"]).code, 1);
}

#[test]
fn a_definition_that_is_not_saved_may_expect_a_failure_too() {
    let sandbox = Sandbox::new();
    let said = sandbox.ok(&["tools", "test", "--file", DOUBLE]);
    assert_eq!(said, "pass {\"a\":2}\npass {\"a\":\"x\"}\n");
}

/// Saved and not saved.
#[test]
fn a_test_has_a_name_and_may_expect_a_part() {
    let sandbox = Sandbox::new();
    let named = DOUBLE.replace(
        r#"{"arguments": {"a": 2}, "expect": 4}"#,
        r#"{"name": "two", "arguments": {"a": 2}, "expect_contains": 4.0}, {"name": "three", "arguments": {"a": 3}, "expect_contains": 7}"#,
    );
    sandbox.ok(&["tools", "add", &named]);
    for asked in [
        ["tools", "test", "double"].as_slice(),
        &["tools", "test", "--file", &named],
    ] {
        let done = sandbox.run(asked);
        assert_eq!(done.code, 1, "{done:?}");
        let said = "pass two {\"a\":2}\nfail three {\"a\":3}\n  expected 7 in it\n  got      6\n";
        assert!(done.stdout.starts_with(said), "{done:?}");
    }
}

#[test]
fn a_test_expects_one_thing_that_can_be() {
    let sandbox = Sandbox::new();
    for (test, said) in [
        (
            r#"{"arguments": {}, "expect": 1, "expect_error": "timeout"}"#,
            "found several",
        ),
        (
            r#"{"arguments": {}}"#,
            "expected \"expect\", \"expect_contains\" or \"expect_error\", found nothing",
        ),
        (
            r#"{"arguments": {}, "expect_error": "invalid_inptu"}"#,
            "Did you mean \"invalid_input\"?",
        ),
        (
            r#"{"name": 1, "arguments": {}, "expect_contains": 1}"#,
            "expected a string",
        ),
        (
            r#"{"arguments": {}, "expekt": 1}"#,
            "Did you mean \"expect\"?",
        ),
    ] {
        let definition = DOUBLE.replace(r#"{"arguments": {"a": 2}, "expect": 4}"#, test);
        let done = sandbox.run(&["tools", "add", &definition]);
        assert_eq!(done.code, 1, "{done:?}");
        assert!(done.stderr.contains(said), "{said}: {done:?}");
        assert_eq!(done.stderr.lines().count(), 1, "{done:?}");
    }
}

#[test]
fn an_outcome_is_outdated_by_other_tests_and_by_another_script() {
    let sandbox = Sandbox::new().with("PATH", &path());
    let script = "def execute(a):\n    return a * 2\n";
    sandbox.write("double.py", script);
    let tool = json!({"name": "double", "description": "doubles", "kind": "python",
        "config": {"script": "double.py"}, "input_schema": {"type": "object"},
        "tests": [{"arguments": {"a": 1}, "expect": 3}]});
    sandbox.ok(&["tools", "add", &tool.to_string()]);
    let list = || sandbox.ok(&["tools", "list", "--q", "double"]);
    let tested = || sandbox.json(&["tools", "show", "double"])["tested"].clone();
    assert_eq!(sandbox.run(&["tools", "test", "double"]).code, 1);
    assert!(list().contains("on, 1 failing"), "{}", list());
    assert_eq!(tested()["is_current"], true);
    sandbox.write("double.py", &script.replace("2", "3"));
    assert_eq!(tested()["is_current"], false);
    assert!(list().contains("on, tests outdated"), "{}", list());
    let doctor = sandbox.ok(&["doctor"]);
    let said = "'double' was changed after the tests saved with it last ran";
    assert!(doctor.contains(said), "{doctor}");
    sandbox.ok(&["tools", "test", "double"]);
    assert_eq!(tested()["is_current"], true);
    let patch = r#"{"tests": [{"arguments": {"a": 2}, "expect": 6}]}"#;
    sandbox.ok(&["tools", "update", "double", patch, "--patch"]);
    assert!(list().contains("on, tests outdated"), "{}", list());
    sandbox.ok(&["tools", "update", "double", r#"{"tests": []}"#, "--patch"]);
    assert_eq!(tested(), json!(null));
    assert!(!list().contains("tests"), "{}", list());
}
