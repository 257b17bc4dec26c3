//! Requests that chance has damaged, against every route of the published API: refused or answered, never a fault
//! of ours, and the server lives on.

use crate::engine;
use crate::harness::Running;
use crate::sizes;
use crate::wire::{self, Answer, Dice, call, definition, read_answer};
use executor::code::TABLE;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;
use std::time::Duration;

/// The document a server also serves at /api/openapi.json; a new route is tested as soon as it is in there.
const OPENAPI: &str = include_str!("../../../../docs/openapi.json");
const SEED: u64 = 8_787;
const THREADS: usize = 8;

struct Route {
    method: String,
    path: String,
}

fn routes() -> Vec<Route> {
    let document: Value = serde_json::from_str(OPENAPI).expect("the document is JSON");
    let paths = document["paths"].as_object().expect("it has paths");
    let methods = paths.iter().flat_map(|(path, item)| {
        item.as_object()
            .into_iter()
            .flatten()
            .map(|(method, _)| Route {
                method: method.to_uppercase(),
                path: path
                    .replace("{name}", "victim")
                    .replace("{version}", "1")
                    .replace("{id}", "01890a5d-ac96-774b-bcce-b302099a8057"),
            })
    });
    let plain = ["/api/openapi.json", "/api/docs"].map(|path| Route {
        method: "GET".to_owned(),
        path: path.to_owned(),
    });
    methods.chain(plain).collect()
}

/// A body that the route would take.
fn body(route: &Route) -> String {
    let path = route.path.as_str();
    let value = match route.method.as_str() {
        "GET" | "DELETE" => return String::new(),
        // Never a path that a mutation could turn into a real one.
        _ if path.ends_with("/backup") => json!({"folder": 7}),
        _ if path.ends_with("/call") => {
            json!({"arguments": {"seconds": 0}, "timeout_seconds": 0.1})
        }
        _ if path.ends_with("/test") => {
            json!({"tool": definition("tried", "fixture_wait", "database"), "arguments": {"seconds": 0}})
        }
        _ if path.ends_with("/rollback") => json!({"version": 1}),
        _ if path.ends_with("/keys") => json!({"name": "k", "scopes": ["read"]}),
        "PATCH" => json!({"description": "other"}),
        _ => definition("victim", "fixture_wait", "file"),
    };
    value.to_string()
}

fn mutate(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.below(4) {
        let at = dice.below(bytes.len());
        match dice.below(7) {
            0 => bytes[at] = dice.byte(),
            1 => bytes[at] ^= 1 << dice.below(8),
            2 => bytes.insert(at, dice.byte()),
            3 => drop(bytes.drain(at..(at + dice.below(12)).min(bytes.len()))),
            4 => {
                let piece = bytes[at..(at + dice.below(40)).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            5 => {
                let odd: &[&[u8]] = &[
                    b"\0",
                    b"\xff\xfe",
                    b"%00",
                    b"%2f..%2f",
                    b"1e999",
                    b"-1",
                    b"{{{{",
                    b"\"\\ud800\"",
                    b"\r\n",
                    b"9999999999999999999",
                ];
                bytes.splice(at..at, odd[dice.below(odd.len())].iter().copied());
            }
            _ => bytes.truncate(at.max(1)),
        }
        if bytes.is_empty() {
            bytes.push(dice.byte());
        }
    }
}

/// One request, damaged; often only its body, so that it gets past the head.
fn damaged(routes: &[Route], key: &str, dice: &mut Dice) -> Vec<u8> {
    let route = &routes[dice.below(routes.len())];
    let mut text = body(route).into_bytes();
    if dice.below(10) == 0 {
        return (0..1 + dice.below(400)).map(|_| dice.byte()).collect();
    }
    if !text.is_empty() && dice.below(2) == 0 {
        mutate(&mut text, dice);
        let head = wire::request(&route.method, &route.path, key, "");
        let head = String::from_utf8_lossy(&head).replace(
            "Content-Length: 0",
            &format!("Content-Length: {}", text.len()),
        );
        return [head.as_bytes(), &text].concat();
    }
    let query = ["", "?limit=1", "?since=2h&limit=3", "?cursor=abc"][dice.below(4)];
    let whole = String::from_utf8_lossy(&text).into_owned();
    let mut bytes = wire::request(
        &route.method,
        &format!("{}{query}", route.path),
        key,
        &whole,
    );
    mutate(&mut bytes, dice);
    bytes
}

/// What is wrong with an answer, if anything.
fn fault(answer: &Answer) -> Option<String> {
    let body = answer.json();
    let code = body["error"]["code"].as_str();
    if answer.status < 400 || (code.is_none() && answer.body.is_empty() && answer.status < 500) {
        return None;
    }
    let row = code.and_then(|code| TABLE.iter().find(|row| row.name == code));
    match row {
        None => Some(format!("{} without a known code: {body}", answer.status)),
        Some(row) if row.http != answer.status => Some(format!("{} with {code:?}", answer.status)),
        Some(row)
            if [
                "internal",
                "interrupted",
                "service_unavailable",
                "overloaded",
            ]
            .contains(&row.name) =>
        {
            Some(format!("a fault of ours: {body}"))
        }
        Some(_) => None,
    }
}

fn bombard(server: &Running, routes: &[Route], thread: usize, tally: &Mutex<BTreeMap<u16, usize>>) {
    let mut dice = Dice(SEED + thread as u64);
    for number in 0..sizes().mutations / THREADS {
        let bytes = damaged(routes, &server.key, &mut dice);
        let mut stream = wire::open(server, Duration::from_millis(250));
        // It may be refused before it is sent to its end.
        let _ = stream.write_all(&bytes);
        // 0 stands for silence or an end without an answer: the request was not complete.
        let status = match read_answer(&mut stream) {
            Ok(answer) => {
                let shown = String::from_utf8_lossy(&bytes);
                assert_eq!(
                    fault(&answer),
                    None,
                    "seed {SEED}, thread {thread}, request {number}: {shown:?}"
                );
                answer.status
            }
            Err(_) => 0,
        };
        *tally.lock().unwrap().entry(status).or_default() += 1;
    }
}

#[test]
fn damaged_requests_never_find_a_fault_of_ours() {
    let site = engine::sqlite();
    let server = site.sandbox.serve(&[]);
    assert_eq!(
        server
            .request(
                "POST",
                "/api/v1/tools",
                Some(&definition("victim", "fixture_wait", "file"))
            )
            .0,
        201
    );
    let routes = routes();
    let tally = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (server, routes, tally) = (&server, &routes, &tally);
            scope.spawn(move || bombard(server, routes, thread, tally));
        }
    });
    let (status, answer) = call(
        &server,
        "calculator",
        &json!({"arguments": {"expression": "1 + 1"}}),
    )
    .unwrap();
    assert_eq!(
        (status, &answer["data"]),
        (200, &json!(2)),
        "the server lives: {answer}"
    );
    let tally = tally.into_inner().unwrap();
    assert!(
        tally.contains_key(&422) && tally.contains_key(&400),
        "the requests get nowhere: {tally:?}"
    );
    assert_eq!(server.terminate(), 0);
    println!(
        "damaged requests: {} against {} routes, 0 faults of ours, answers by status (0 = none): {tally:?}",
        tally.values().sum::<usize>(),
        routes.len()
    );
}
