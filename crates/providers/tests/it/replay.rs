//! Recordings of real providers, replayed: TOOLCRIB_TEST_RECORDINGS names what `scripts/recordings` made of them. Our
//! requests are compared with those that the provider took, its answers are read whole, in pieces and cut off.

mod compare;
mod recall;
mod recording;
mod streams;
mod summary;

use providers::wire::{self, Written};
use providers::{Class, Error, Request, Turn};
use recall::Recalled;
use recording::{Exchange, Recording};
use summary::Summary;

/// Where the recordings are, as lines of JSON.
const PLACE: &str = "TOOLCRIB_TEST_RECORDINGS";

#[test]
fn recordings_are_asked_and_answered_as_they_were() {
    let Some(path) = std::env::var_os(PLACE) else {
        println!("skipped: {PLACE} names no recordings; scripts/replay FOLDER sets it");
        return;
    };
    let text = std::fs::read_to_string(path).unwrap();
    let mut summary = Summary::default();
    for line in text.lines() {
        replay(&Recording::of(line), &mut summary);
    }
    println!("{}", compare::STATED);
    println!("{summary}");
    assert!(summary.recordings > 0, "there are no recordings");
    assert!(
        summary.failures.is_empty(),
        "{}",
        summary.failures.join("\n")
    );
}

/// One conversation, from its first request on: what we read is what we say again.
fn replay(recording: &Recording, summary: &mut Summary) {
    summary.recordings += 1;
    let mut turns: Vec<Turn> = Vec::new();
    for (index, exchange) in recording.exchanges.iter().enumerate() {
        let name = format!("{}#{}", recording.name, index + 1);
        let Some(api) = exchange.api() else {
            summary.elsewhere(&name, &exchange.path);
            continue;
        };
        let asked = match recall::request(api, &exchange.request, &turns) {
            Ok(recalled) => {
                compare_request(&name, exchange, &recalled, summary);
                recalled.request
            }
            Err(why) => {
                summary.not_ours(&name, &why);
                Request::default()
            }
        };
        let written = Written::new(api, &asked);
        if exchange.status != 200 {
            check_refusal(&name, exchange, summary);
            continue;
        }
        match streams::read(&written, exchange) {
            Ok(turn) => {
                summary.turns += 1;
                summary.calls += turn.calls.len();
                if exchange.is_stream() {
                    streams::check(&name, &written, exchange, &turn, summary);
                }
                turns.push(turn);
            }
            Err(error) => check_broken(&name, exchange, &error, summary),
        }
    }
}

fn compare_request(name: &str, exchange: &Exchange, recalled: &Recalled, summary: &mut Summary) {
    let api = exchange.api().unwrap();
    let written = Written::new(api, &recalled.request);
    summary.requests += 1;
    summary.echoed += recalled.echoed;
    summary.rebuilt += recalled.rebuilt;
    if recalled.changed > 0 {
        summary.changed.push(name.to_owned());
    }
    match compare::difference(api, &exchange.request, &written) {
        None => summary.equal += 1,
        Some(difference) => summary.fail(format!("{name}: our request differs {difference}")),
    }
}

/// A status other than success, in a class that its number allows.
fn check_refusal(name: &str, exchange: &Exchange, summary: &mut Summary) {
    let error = wire::refused(
        exchange.status,
        &exchange.header_map(),
        exchange.response.as_bytes(),
    );
    let class = error.class.as_str();
    let allowed: &[&str] = match exchange.status {
        401 | 403 => &["auth"],
        402 => &["quota"],
        408 | 504 => &["timeout"],
        413 => &["too_long"],
        429 => &["rate_limited", "quota"],
        400..=499 => &["bad_request", "too_long", "filtered", "quota"],
        500.. => &["overloaded", "timeout", "rate_limited"],
        _ => &["protocol"],
    };
    let has_words = !error.message.is_empty() && exchange.response.contains(first_words(&error));
    let has_words = has_words || !exchange.response.trim_start().starts_with('{');
    match allowed.contains(&class) && has_words {
        true => summary.refused(exchange.status, class),
        false => summary.fail(format!(
            "{name}: status {} became {class}: {}",
            exchange.status, error.message
        )),
    }
}

fn first_words(error: &Error) -> &str {
    error
        .message
        .split(['"', '\\', ' '])
        .next()
        .unwrap_or_default()
}

/// A success that is none: an error inside of it, or a recording that ends too soon.
fn check_broken(name: &str, exchange: &Exchange, error: &Error, summary: &mut Summary) {
    let is_told = [
        "\"error\":{",
        "\"error\": {",
        "\"type\":\"error\"",
        "response.failed",
    ]
    .iter()
    .any(|mark| exchange.response.contains(mark));
    let is_cut = exchange.is_stream() && !streams::ends(&exchange.response);
    match error.class {
        Class::Network if is_cut => summary.refused(200, "network"),
        Class::Protocol | Class::Network => {
            summary.fail(format!("{name}: no turn could be read: {error}"));
        }
        class if is_told => summary.refused(200, class.as_str()),
        _ => summary.fail(format!("{name}: no turn could be read: {error}")),
    }
}
