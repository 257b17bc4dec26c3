//! docs/expressions.md: every example in it does what it says.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use expression::{Evaluator, Limits, check};
use serde_json::{Map, Value};

/// A row that has an example: its last two cells.
struct Row {
    example: String,
    promised: String,
}

fn document() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/expressions.md");
    std::fs::read_to_string(path).unwrap()
}

fn arguments(document: &str) -> Map<String, Value> {
    let text = document.split("```json\n").nth(1).unwrap();
    serde_json::from_str(text.split("```").next().unwrap()).unwrap()
}

/// The tables whose last but one column is called `example`, and those without a heading there.
fn rows(document: &str) -> Vec<Row> {
    let cells = |line: &str| -> Vec<String> {
        let line = line.replace("\\|", "\u{0}");
        let inner = line
            .trim_start_matches('|')
            .trim_end()
            .trim_end_matches('|');
        inner
            .split('|')
            .map(|cell| cell.trim().replace('\u{0}', "|"))
            .collect()
    };
    let mut rows = Vec::new();
    let mut examples = false;
    let mut previous = "";
    for line in document.lines() {
        if line.starts_with("|---") {
            let heading = cells(previous);
            examples = heading
                .iter()
                .rev()
                .nth(1)
                .is_some_and(|cell| cell == "example");
        } else if !line.starts_with('|') {
            examples = false;
        } else if examples {
            let mut cells = cells(line);
            let (promised, example) = (cells.pop().unwrap(), cells.pop().unwrap());
            rows.push(Row { example, promised });
        }
        previous = line;
    }
    rows.retain(|row| row.example != "example");
    rows
}

fn code(cell: &str) -> String {
    cell.replace("`⏎`", "\n").trim_matches('`').to_owned()
}

#[test]
fn every_example_does_what_it_says() {
    let document = document();
    let arguments = arguments(&document);
    let rows = rows(&document);
    assert!(rows.len() > 80, "{} rows were found", rows.len());
    let mut evaluator = Evaluator::new();
    for Row { example, promised } in rows {
        let source = code(&example);
        let evaluated = evaluator.evaluate(&source, &arguments, &Limits::default());
        match promised.strip_prefix("refused: ") {
            Some(message) => {
                let fault = evaluated.map(|done| done.value).expect_err(&source);
                assert!(fault.message.contains(&code(message)), "{source}: {fault}");
            }
            None => {
                let promised: Value = serde_json::from_str(&code(&promised)).unwrap();
                let value = evaluated
                    .unwrap_or_else(|fault| panic!("{source}: {fault}"))
                    .value;
                assert_eq!(value.to_string(), promised.to_string(), "{source}");
            }
        }
    }
}

#[test]
fn the_limits_are_those_of_the_code() {
    let document = document();
    let limits = Limits::default();
    let kib = |bytes: usize| format!("{} KiB", bytes >> 10);
    for (row, value) in [
        ("time", format!("{} second,", limits.duration_ms / 1000)),
        (
            "memory",
            format!("{} MiB for", limits.memory_bytes_max >> 20),
        ),
        (
            "calls of functions",
            format!("{} deep", limits.recursion_max),
        ),
        ("source", kib(limits.source_bytes_max)),
        ("what is printed", kib(limits.printed_bytes_max)),
        (
            "value",
            format!(
                "{} MiB as JSON, {} levels",
                limits.result_bytes_max >> 20,
                limits.result_depth_max
            ),
        ),
    ] {
        let line = format!("| {row} | {value}");
        assert!(document.contains(&line), "{line}");
    }
}

#[test]
fn the_modules_are_those_of_the_code() {
    let document = document();
    let line = document.lines().find(|line| line.starts_with("Modules: "));
    let named: Vec<&str> = line.unwrap().split('`').skip(1).step_by(2).collect();
    assert_eq!(named.len(), 12);
    for module in named {
        check(&format!("import {module}"), &[]).unwrap();
    }
}
