//! Every pair of eras and transports: clients of both eras on one side, upstream servers of both on the other, ours
//! between. Each cell is a client that calls one upstream and sees structured data, an error, progress, a cancelled call
//! that the upstream heard of, and a question that it answers.

use crate::client::{Client, Story, call};
use crate::crib::{Crib, sandbox};
use crate::harness::ADMIN_KEY;
use crate::programs::{LEGACY, Listening, MODERN};
use crate::world::{is_progress, listed, noted, servers, stdio};
use serde_json::{Value, json};
use std::path::Path;

const CLIENTS: [(&str, &str); 5] = [
    ("legacy", "http"),
    ("legacy", "sse"),
    ("legacy", "stdio"),
    ("modern", "http"),
    ("modern", "stdio"),
];

/// Name and the version of the protocol that it is spoken with. The last speaks both eras, but its transport only one.
const UPSTREAMS: [(&str, &str); 6] = [
    ("legacy_stdio", "2025-11-25"),
    ("legacy_http", "2025-11-25"),
    ("legacy_sse", "2025-11-25"),
    ("modern_stdio", "2026-07-28"),
    ("modern_http", "2026-07-28"),
    ("modern_sse", "2025-11-25"),
];

/// What is done in each cell, step by step.
const STEPS: [&str; 7] = [
    "spoken",
    "call",
    "structured",
    "error",
    "progress",
    "cancel",
    "elicit",
];

fn steps(upstream: &str, note: &Path) -> Vec<Value> {
    let tool = |name: &str| format!("{upstream}.{name}");
    let slow = |arguments: Value, option: &str| json!({"action": "call", "name": tool("slow"), "arguments": arguments, option: true});
    vec![
        call(&tool("spoken"), &json!({})),
        call(&tool("add"), &json!({"a": 19, "b": 23})),
        call(&tool("measure"), &json!({"text": "four"})),
        call(&tool("fail"), &json!({})),
        slow(json!({"seconds": 0.3}), "progress"),
        slow(json!({"seconds": 60, "file": note}), "cancel_on_progress"),
        call(&tool("ask"), &json!({"question": "Which color?"})),
    ]
}

/// Panics where a cell is not as it should be.
fn is_green(story: &Story, first: usize, (upstream, version): (&str, &str), note: &Path) {
    assert_eq!(story.text(first), version);
    assert_eq!(story.text(first + 1), "42");
    let measured = &story.result(first + 2)["structuredContent"];
    assert_eq!(*measured, json!({"text": "four", "length": 4}));
    let failed = story.result(first + 3);
    assert_eq!(failed["isError"], true, "{failed}");
    assert!(failed.to_string().contains("this tool fails"), "{failed}");
    is_progress(story, first + 4);
    let cancelled = story.of(first + 5, "cancelled");
    assert_eq!(cancelled.len(), 1, "{:?}", story.step(first + 5));
    noted(note, "cancelled");
    let asked = story.of(first + 6, "elicitation");
    assert_eq!(asked.len(), 1, "{:?}", story.step(first + 6));
    let question = format!("[{upstream}] Which color?");
    assert_eq!(asked[0]["params"]["message"], question);
    assert_eq!(story.text(first + 6), "accept: blue");
}

/// One client and all upstreams.
fn row(crib: &Crib, era: &'static str, transport: &'static str) -> String {
    let url = crib.server.url();
    let client = match transport {
        "http" => Client::new(transport, &format!("{url}/mcp"), era).with_key(ADMIN_KEY),
        "sse" => Client::new(transport, &format!("{url}/sse"), era).with_key(ADMIN_KEY),
        _ => Client::new(transport, &stdio(&crib.sandbox), era),
    };
    let note = |upstream: &str| {
        let name = format!("{era}-{transport}-{upstream}");
        crib.sandbox.folder().join(name)
    };
    let all = UPSTREAMS.iter();
    let all: Vec<Value> = all
        .flat_map(|(upstream, _)| steps(upstream, &note(upstream)))
        .collect();
    let story = client.answering(&json!({"answer": "blue"})).script(&all);
    let expected = if era == "modern" {
        "2026-07-28"
    } else {
        "2025-11-25"
    };
    assert_eq!(story.version(), expected);
    let mut line = format!("{:<14}", format!("{era} {transport}"));
    for (number, (upstream, version)) in UPSTREAMS.iter().enumerate() {
        let first = number * STEPS.len();
        is_green(&story, first, (upstream, version), &note(upstream));
        line.push_str(&format!(" {:<13}", "green"));
    }
    line
}

#[test]
fn every_era_and_transport_on_both_sides() {
    let listening = [
        Listening::fixture(&LEGACY, "http"),
        Listening::fixture(&LEGACY, "sse"),
        Listening::fixture(&MODERN, "http"),
        Listening::fixture(&MODERN, "sse"),
    ];
    let sandbox = sandbox();
    let entries = json!({
        "legacy_stdio": LEGACY.stdio(&[]),
        "legacy_http": {"url": listening[0].url},
        "legacy_sse": {"url": listening[1].url, "type": "sse"},
        "modern_stdio": MODERN.stdio(&[]),
        "modern_http": {"url": listening[2].url},
        "modern_sse": {"url": listening[3].url, "type": "sse"},
    });
    servers(&sandbox, &entries);
    let crib = Crib::of(sandbox);
    for (upstream, _) in UPSTREAMS {
        listed(&crib, &format!("{upstream}.ask"));
    }
    // One after the other: of an older upstream's questions over stdio and SSE nobody can tell whose they are while
    // several of its calls are under way.
    let clients = CLIENTS.into_iter();
    let lines: Vec<String> = clients
        .map(|(era, transport)| row(&crib, era, transport))
        .collect();
    let head: Vec<String> = UPSTREAMS
        .iter()
        .map(|(name, _)| format!("{name:<13}"))
        .collect();
    println!("matrix: {} in each cell", STEPS.join(", "));
    println!("matrix: {:<14} {}", "client", head.join(" "));
    for line in &lines {
        println!("matrix: {line}");
    }
    println!("matrix: {} cells green", lines.len() * UPSTREAMS.len());
}
