//! Recordings of real providers, replayed: TOOLCRIB_TEST_RECORDINGS names what `scripts/recordings` made of them. Our
//! requests are compared with those that the provider took, its answers are read whole, in pieces and cut off.

mod compare;
mod over_http;
mod recall;
mod recording;
mod streams;
mod summary;

use over_http::Asked;
use providers::wire::{self, Written};
use providers::{Arguments, Class, Error, Request, Turn};
use recall::Recalled;
use recording::{Exchange, Recording};
use summary::Summary;

/// Where the recordings are, as lines of JSON.
const PLACE: &str = "TOOLCRIB_TEST_RECORDINGS";

#[tokio::test]
async fn recordings_are_asked_and_answered_as_they_were() {
    let Some(path) = std::env::var_os(PLACE) else {
        println!("skipped: {PLACE} names no recordings; scripts/replay FOLDER sets it");
        return;
    };
    let text = std::fs::read_to_string(path).unwrap();
    let mut summary = Summary::default();
    for line in text.lines() {
        let recording = Recording::of(line);
        let asked = replay(&recording, &mut summary);
        over_http::ask(&asked, &mut summary).await;
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
fn replay<'a>(recording: &'a Recording, summary: &mut Summary) -> Vec<Asked<'a>> {
    summary.recordings += 1;
    let mut all: Vec<Asked<'a>> = Vec::new();
    for (index, exchange) in recording.exchanges.iter().enumerate() {
        let name = format!("{}#{}", recording.name, index + 1);
        let Some(api) = exchange.api() else {
            summary.elsewhere(&exchange.path);
            continue;
        };
        let turns = all.iter().filter_map(|asked| asked.read.clone().ok());
        let turns: Vec<Turn> = turns.collect();
        let request = match recall::request(api, &exchange.request, &turns) {
            Ok(recalled) => {
                compare_request(&name, exchange, &recalled, summary);
                check_changed(&name, &recording.exchanges[..index], &recalled, summary);
                recalled.request
            }
            Err(why) => {
                let is_later = why == recall::LATER;
                summary.not_ours(&name, &why);
                if is_later {
                    continue;
                }
                Request::default()
            }
        };
        let written = Written::new(api, &request);
        let read = match exchange.status {
            200 => streams::read(&written, exchange),
            _ => Err(refused(exchange)),
        };
        match &read {
            Ok(turn) => {
                summary.turns += 1;
                summary.calls += turn.calls.len();
                if exchange.is_stream() {
                    streams::check(&name, &written, exchange, turn, summary);
                }
            }
            Err(error) if exchange.status == 200 => check_broken(&name, exchange, error, summary),
            Err(error) => check_refusal(&name, exchange, error, summary),
        }
        all.push(Asked {
            name,
            api,
            request,
            exchange,
            read,
        });
    }
    all
}

/// A turn that is told otherwise than we have read it: either it was changed in between, or we have misread it.
fn check_changed(name: &str, before: &[Exchange], recalled: &Recalled, summary: &mut Summary) {
    let said: String = before.iter().map(Exchange::said).collect();
    for (told, read) in &recalled.changed {
        let arguments = |turn: &Turn| -> Vec<Arguments> {
            let calls = turn.calls.iter();
            calls.map(|call| call.arguments.clone()).collect()
        };
        let mut names = told.calls.iter().map(|call| &call.name);
        let is_said = said.contains(&told.text) && names.all(|name| said.contains(name));
        match is_said && arguments(told) == arguments(read) {
            true => summary.fail(format!("{name}: an earlier turn was misread: {read:?}")),
            false => summary.changed.push(name.to_owned()),
        }
    }
}

fn refused(exchange: &Exchange) -> Error {
    let body = exchange.response.as_bytes();
    wire::refused(exchange.status, &exchange.header_map(), body)
}

fn compare_request(name: &str, exchange: &Exchange, recalled: &Recalled, summary: &mut Summary) {
    let api = exchange.api().unwrap();
    let written = Written::new(api, &recalled.request);
    summary.requests += 1;
    summary.echoed += recalled.echoed;
    summary.rebuilt += recalled.rebuilt;
    match compare::difference(api, &exchange.request, &written) {
        None => summary.equal += 1,
        Some(difference) => summary.fail(format!("{name}: our request differs {difference}")),
    }
}

/// A status other than success, in a class that its number allows.
fn check_refusal(name: &str, exchange: &Exchange, error: &Error, summary: &mut Summary) {
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
    let has_words = !error.message.is_empty() && exchange.response.contains(first_words(error));
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
