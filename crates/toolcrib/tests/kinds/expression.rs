//! Expressions through the whole server: values, faults, limits.

use crate::crib::Crib;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn add(crib: &Crib, name: &str, expression: &str, names: &[&str]) {
    let properties: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| ((*name).to_owned(), json!({})))
        .collect();
    let schema = json!({"input_schema": {"type": "object", "properties": properties}});
    crib.add(
        name,
        "expression",
        &json!({"expression": expression}),
        &schema,
    );
}

#[test]
fn expressions_and_snippets_have_values() {
    let crib = Crib::new();
    for (number, (source, arguments, expected)) in [
        // Seed 003, type B.
        ("num1 * num2", json!({"num1": 5, "num2": 3}), json!(15)),
        ("result = a * b", json!({"a": 5, "b": 3}), json!(15)),
        ("a / b", json!({"a": 1, "b": 4}), json!(0.25)),
        (
            "sorted(set(words))",
            json!({"words": ["b", "a", "b"]}),
            json!(["a", "b"]),
        ),
        (
            "total = 0\nfor x in xs:\n    total += x\nresult = {'sum': total, 'n': len(xs)}",
            json!({"xs": [1, 2, 3]}),
            json!({"sum": 6, "n": 3}),
        ),
        ("f'{name:>5}!'", json!({"name": "한"}), json!("    한!")),
        ("sqrt(x) + round(2.675, 2)", json!({"x": 16}), json!(6.67)),
        ("b if b is not None else 'none'", json!({}), json!("none")),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("e{number}");
        let names: Vec<&str> = ["num1", "num2", "a", "b", "words", "xs", "name", "x"].to_vec();
        add(&crib, &name, source, &names);
        assert_eq!(crib.call(&name, &arguments).data(), &expected, "{source}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let crib = Crib::new();
    let (status, answer) = crib.try_add(
        "broken",
        "expression",
        &json!({"expression": "a = 1\nresult = a +"}),
        &json!({}),
    );
    assert_eq!(status, 422, "{answer}");
    assert!(answer.to_string().contains("line 2"), "{answer}");
    add(&crib, "divides", "x = 1\nresult = 1 / n", &["n"]);
    let answer = crib.call("divides", &json!({"n": 0}));
    let message = answer.failed("tool_execution_error");
    assert!(
        message.contains("ZeroDivisionError: division by zero"),
        "{message}"
    );
    assert_eq!(answer.details()["line"], 2);
}

#[test]
fn bombs_end_in_time_and_the_next_call_works() {
    let crib = Crib::new();
    add(&crib, "fine", "1 + 1", &[]);
    let before = resident_kib(crib.server.pid());
    let mut slowest = (Duration::ZERO, "");
    let bombs = [
        "while True: pass",
        "pow(3, 7**100000, 11**100000)",
        "x = [0]\nwhile True: x = x + x",
        "[[0] * 10**6 for i in range(10**6)]",
        "('a' * 10**7).join(['b'] * 1000)",
        "f = lambda n: f(n + 1)\nf(0)",
        "sum(i * i for i in range(10**12))",
        "7 ** 20000000",
        "str(10 ** 3000000)",
        "open('/etc/passwd').read()",
        "__import__('os').system('id')",
        "().__class__.__mro__[1].__subclasses__()",
    ];
    for (number, source) in bombs.into_iter().enumerate() {
        let name = format!("bomb{number}");
        // Some are refused before they are stored.
        let (status, _) = crib.try_add(
            &name,
            "expression",
            &json!({"expression": source}),
            &json!({}),
        );
        if status == 422 {
            continue;
        }
        assert_eq!(status, 201, "{source}");
        let began = Instant::now();
        let answer = crib.call(&name, &json!({}));
        slowest = slowest.max((began.elapsed(), source));
        assert_ne!(answer.status, 200, "{source}: {}", answer.body);
        assert_eq!(
            crib.call("fine", &json!({})).data(),
            &json!(2),
            "after {source}"
        );
    }
    let grown = resident_kib(crib.server.pid()).saturating_sub(before);
    println!(
        "{} bombs: slowest {:?} ({}), server grew by {grown} KiB",
        bombs.len(),
        slowest.0,
        slowest.1
    );
    // One second, and what a busy machine adds: unbounded, each would take minutes.
    assert!(slowest.0 < Duration::from_secs(15), "{slowest:?}");
    assert!(grown < 32 << 10, "{grown} KiB");
}

fn resident_kib(pid: u32) -> u64 {
    let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4
}
