//! What an agent's `config` may hold: what its model is asked with, and how far its runs may go.

use crate::auth::Reference;
use crate::json::{Member, Node, Reader, present};
use crate::schema::Schema;
use crate::tool::is_valid_name;

const STOP_SEQUENCES_MAX: usize = 16;

/// A year: what is longer is no limit, and no clock counts it.
const SECONDS_MAX: f64 = 31_536_000.0;

const KEYS: [&str; 20] = [
    "temperature",
    "max_tokens",
    "top_p",
    "stop_sequences",
    "api",
    "api_key",
    "stream",
    "cache",
    "parallel_tool_calls",
    "retrieval",
    "skills",
    "extra",
    "output_schema",
    "max_steps",
    "max_tool_calls",
    "max_calls_per_tool",
    "token_budget",
    "cost_budget",
    "max_seconds",
    "at_limit",
];

const PATH: &str = "$.config";

/// Reports everything that is wrong with it.
pub(super) fn check(r: &mut Reader<'_>, members: &[Member]) {
    r.unknown_keys(members, PATH, &KEYS);
    let get = |key: &str| present(members, key);
    for (key, most) in [("temperature", 2.0), ("top_p", 1.0)] {
        let expected = format!("a number from 0 to {most}");
        number(r, get(key), &expected, |n| (0.0..=most).contains(&n));
    }
    number(r, get("cost_budget"), "a number above 0", |n| n > 0.0);
    let expected = format!("a number above 0, {SECONDS_MAX} at most");
    number(r, get("max_seconds"), &expected, |n| {
        n > 0.0 && n <= SECONDS_MAX
    });
    let counts = [
        "max_tokens",
        "max_steps",
        "max_tool_calls",
        "max_calls_per_tool",
        "token_budget",
    ];
    for m in counts.iter().filter_map(|key| get(key)) {
        r.positive(m, PATH);
    }
    for key in ["stream", "cache", "parallel_tool_calls", "retrieval"] {
        if let Some(m) = get(key) {
            r.boolean(m, PATH);
        }
    }
    if let Some(m) = get("api") {
        r.one_of(m, PATH, &["messages", "chat", "zhipu", "responses"]);
    }
    if let Some(m) = get("at_limit") {
        r.one_of(m, PATH, &["answer", "fail"]);
    }
    if let Some(m) = get("extra") {
        r.object(m, PATH);
    }
    stop_sequences(r, get("stop_sequences"));
    skills(r, get("skills"));
    api_key(r, get("api_key"));
    output_schema(r, get("output_schema"));
}

fn number(r: &mut Reader<'_>, m: Option<&Member>, expected: &str, fits: impl Fn(f64) -> bool) {
    let Some(m) = m else { return };
    let number = m.value.to_value().as_f64();
    if !number.is_some_and(fits) {
        r.wrong(m, PATH, expected, "Leave it out for what is usual.");
    }
}

fn stop_sequences(r: &mut Reader<'_>, m: Option<&Member>) {
    let Some(m) = m else { return };
    let items = r.array(m, PATH, "strings").unwrap_or_default();
    let fine = items
        .iter()
        .all(|item| item.as_str().is_some_and(|s| !s.is_empty()));
    if !fine || items.len() > STOP_SEQUENCES_MAX {
        let expected = format!("at most {STOP_SEQUENCES_MAX} strings that are not empty");
        r.wrong(m, PATH, &expected, "Write [\"Human:\", \"Assistant:\"].");
    }
}

fn skills(r: &mut Reader<'_>, m: Option<&Member>) {
    let Some(m) = m else { return };
    let items = r.array(m, PATH, "names of skills").unwrap_or_default();
    let is_name = |item: &Node| item.as_str().is_some_and(is_valid_name);
    if !items.iter().all(is_name) {
        let remedy = "Write [\"weekly-limit\"], [] for none, or leave it out for all.";
        r.wrong(m, PATH, "names of skills", remedy);
    }
}

/// Never the key itself: whoever may see the agent would see it.
fn api_key(r: &mut Reader<'_>, m: Option<&Member>) {
    let Some(m) = m else { return };
    let reference = Reference::of(&m.value.to_value());
    if !matches!(reference, Some(Reference::Env(_) | Reference::Secret(_))) {
        let remedy = "Store it with `toolcrib secrets set NAME` and write {\"$secret\": \"NAME\"}.";
        r.report(
            m.value.span.start,
            format!("{PATH}.api_key"),
            "a reference to a secret",
            "something else",
            remedy,
        );
    }
}

fn output_schema(r: &mut Reader<'_>, m: Option<&Member>) {
    let Some(m) = m else { return };
    if let Err(error) = Schema::compile(&m.value.to_value()) {
        let expected = format!("a JSON schema ({error})");
        r.wrong(m, PATH, &expected, "Write {\"type\": \"object\", …}.");
    }
}
