//! `kill -9` in the middle of runs: every run is finished by whoever comes next, a call whose result is in the journal was
//! made exactly once, and the one that was under way at most once.

use crate::engine::{self, Site};
use crate::harness::{Running, Sandbox};
use crate::sizes;
use crate::wire::{Dice, until};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Tools that a run calls.
const CALLS: usize = 5;

/// Which of them each turn of the model calls, side by side.
const TURNS: [&[usize]; 3] = [&[0, 1], &[2], &[3, 4]];

const PATIENCE: Duration = Duration::from_secs(60);

const SECRET_KEY: &str = "k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// The model that a run asks, and the site that its tools call: one server of the test's own.
struct Outside {
    address: String,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    /// How often each call came, by run and number.
    calls: Mutex<HashMap<String, usize>>,
    /// The call whose answer is never given.
    held: Mutex<Option<String>>,
    /// Requests of any sort.
    requests: Mutex<usize>,
    more: Condvar,
}

impl Outside {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let seen = Arc::new(Seen::default());
        let shared = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || {
                    // A server that was killed leaves half a request behind.
                    let _ = answer(stream, &shared);
                });
            }
        });
        Outside { address, seen }
    }

    fn requests(&self) -> usize {
        *self.seen.requests.lock().unwrap()
    }

    /// Waits until so many requests have come.
    fn wait_for(&self, count: usize) {
        let requests = self.seen.requests.lock().unwrap();
        let waited = self
            .seen
            .more
            .wait_timeout_while(requests, PATIENCE, |it| *it < count);
        assert!(
            !waited.unwrap().1.timed_out(),
            "request {count} did not come"
        );
    }

    /// Holds up the answer to a call, and waits until it has come.
    fn wait_for_held(&self, run: &str, number: usize) {
        until("the call that is held up comes", PATIENCE, || {
            (self.made(run, number) == 1).then_some(())
        });
    }

    fn hold(&self, held: Option<String>) {
        *self.seen.held.lock().unwrap() = held;
    }

    fn made(&self, run: &str, number: usize) -> usize {
        let calls = self.seen.calls.lock().unwrap();
        calls.get(&format!("/{run}/{number}")).copied().unwrap_or(0)
    }
}

fn answer(stream: TcpStream, seen: &Seen) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        if header.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = header.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let is_held = seen.held.lock().unwrap().as_ref() == Some(&path);
    let (kind, text) = match path.as_str() {
        "/v1/messages" => ("text/event-stream", turn(&serde_json::from_slice(&body)?)),
        _ => {
            *seen.calls.lock().unwrap().entry(path).or_default() += 1;
            ("application/json", json!({"counted": true}).to_string())
        }
    };
    *seen.requests.lock().unwrap() += 1;
    seen.more.notify_all();
    if is_held {
        // Until whoever asked is gone.
        return reader.read_to_end(&mut Vec::new()).map(drop);
    }
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close");
    let mut stream = reader.into_inner();
    write!(
        stream,
        "{head}\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    )
}

/// The next turn of the script, as a stream in Anthropic's wire format.
fn turn(request: &Value) -> String {
    let said = request["messages"].as_array().unwrap();
    let run = said[0]["content"].as_str().map(str::to_owned);
    let run = run.unwrap_or_else(|| said[0]["content"][0]["text"].as_str().unwrap().to_owned());
    let turns = said.iter().filter(|it| it["role"] == "assistant").count();
    let calls = TURNS.get(turns).copied().unwrap_or_default();
    let text = match calls.is_empty() {
        true => "counted",
        false => "Let me count.",
    };
    let mut blocks = vec![(
        json!({"type": "text", "text": ""}),
        json!({"type": "text_delta", "text": text}),
    )];
    for number in calls {
        let input = json!({"run": run, "number": number}).to_string();
        blocks.push((
            json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": format!("count_{number}"), "input": {}}),
            json!({"type": "input_json_delta", "partial_json": input}),
        ));
    }
    let stop = if calls.is_empty() {
        "end_turn"
    } else {
        "tool_use"
    };
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let message = json!({"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": null, "usage": usage});
    let mut events = vec![json!({"type": "message_start", "message": message})];
    for (index, (block, delta)) in blocks.into_iter().enumerate() {
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 1}}));
    events.push(json!({"type": "message_stop"}));
    let event = |it: &Value| format!("event: {}\ndata: {it}\n\n", it["type"].as_str().unwrap());
    events.iter().map(event).collect()
}

fn set_up(sandbox: &Sandbox, outside: &Outside) {
    let tool = |number: usize| {
        json!({
            "name": format!("count_{number}"), "kind": "http", "description": "Counts", "parallel_capable": true,
            "annotations": {"openWorldHint": false, "destructiveHint": false},
            "config": {"method": "POST", "base_url": format!("http://{}", outside.address), "path": "/{run}/{number}"},
            "input_schema": {"type": "object", "properties": {"run": {"type": "string"}, "number": {"type": "integer"}}, "required": ["run", "number"]}
        })
    };
    let tools: Vec<Value> = (0..CALLS).map(tool).collect();
    let tools = json!({"version": 1, "tools": tools});
    std::fs::write(sandbox.workspace().join("tools.json"), tools.to_string()).unwrap();
}

fn make_agent(server: &Running, outside: &Outside) {
    let agent = json!({
        "name": "counter", "model_provider": "anthropic", "model_name": "m",
        "base_url": format!("http://{}", outside.address)
    });
    let (status, told) = server.request("POST", "/api/v1/agents", Some(&agent));
    assert_eq!(status, 201, "{told}");
}

fn begin(server: &Running, name: &str) -> String {
    let body = json!({"input": name, "agent": "counter", "wait": false});
    let (status, told) = server.request("POST", "/api/v1/runs", Some(&body));
    assert_eq!(status, 202, "{told}");
    told["id"].as_str().unwrap().to_owned()
}

/// The run is finished; how many of its calls nobody knows the end of.
fn check(server: &Running, outside: &Outside, name: &str, id: &str) -> usize {
    let (done, _) = until("the run is finished", PATIENCE, || {
        let (_, run) = server.request("GET", &format!("/api/v1/runs/{id}?wait_seconds=5"), None);
        (run["status"] != "running").then_some(run)
    });
    assert_eq!(
        (&done["status"], &done["output"]),
        (&json!("done"), &json!("counted")),
        "{done}"
    );
    let (_, log) = server.request("GET", &format!("/api/v1/runs/{id}/log"), None);
    let results = log["events"].as_array().unwrap().iter();
    let results: Vec<&Value> = results
        .filter(|it| it["event"] == "tool_result")
        .map(|it| &it["data"])
        .collect();
    assert_eq!(results.len(), CALLS, "{log}");
    let mut unknown = 0;
    for number in 0..CALLS {
        let name_of = format!("count_{number}");
        let result = results.iter().find(|it| it["tool"] == name_of).unwrap();
        let made = outside.made(name, number);
        match result["code"] == "interrupted" {
            true => {
                unknown += 1;
                assert!(
                    made <= 1,
                    "call {number} was under way and made {made} times"
                );
            }
            false => assert_eq!(made, 1, "call {number}: {result}"),
        }
    }
    unknown
}

/// A run that is begun and comes to some moment: after so many requests of it and a little later, or, every third time, while
/// a call is made that never ends.
fn begun(server: &Running, outside: &Outside, point: usize, dice: &mut Dice) -> (String, String) {
    let name = format!("run{point}");
    let number = dice.roll() as usize % CALLS;
    let is_held = point.is_multiple_of(3);
    outside.hold(is_held.then(|| format!("/{name}/{number}")));
    let before = outside.requests();
    let id = begin(server, &name);
    match is_held {
        true => outside.wait_for_held(&name, number),
        false => {
            let requests = (CALLS + TURNS.len() + 1) as u64;
            outside.wait_for(before + (dice.roll() % requests) as usize);
            std::thread::sleep(Duration::from_micros(dice.roll() % 3_000));
        }
    }
    (name, id)
}

#[test]
fn a_run_survives_kill_9_at_any_point() {
    let site: Site = engine::sqlite();
    let outside = Outside::start();
    set_up(&site.sandbox, &outside);
    let mut dice = Dice(20_261_118);
    let mut server = site.sandbox.serve(&[]);
    make_agent(&server, &outside);
    let mut unknown = 0;
    for point in 0..sizes().kills {
        let (name, id) = begun(&server, &outside, point, &mut dice);
        server.signal(Signal::KILL);
        drop(server);
        server = site.sandbox.serve(&[]);
        unknown += check(&server, &outside, &name, &id);
    }
    assert!(unknown > 0, "some call was under way");
    println!(
        "kill -9 in runs of {CALLS} calls on SQLite: {} kills, all finished, every journalled call made once, {unknown} under way made at most once",
        sizes().kills
    );
}

#[test]
fn another_server_finishes_the_runs_of_one_that_was_killed() {
    let Some(site) = engine::only_postgres("runs of a killed server") else {
        return;
    };
    let outside = Outside::start();
    let sandboxes: Vec<Sandbox> = (0..2)
        .map(|_| site.beside().with("TOOLCRIB_SECRET_KEY", SECRET_KEY))
        .collect();
    for sandbox in &sandboxes {
        set_up(sandbox, &outside);
    }
    let mut servers: Vec<Running> = sandboxes.iter().map(|it| it.serve(&[])).collect();
    make_agent(&servers[0], &outside);
    let mut dice = Dice(4_712);
    let (mut unknown, kills) = (0, sizes().run_kills);
    for point in 0..kills {
        let victim = point % 2;
        let (name, id) = begun(&servers[victim], &outside, point, &mut dice);
        servers[victim].signal(Signal::KILL);
        unknown += check(&servers[1 - victim], &outside, &name, &id);
        servers[victim] = sandboxes[victim].serve(&[]);
    }
    assert!(unknown > 0, "some call was under way");
    println!(
        "kill -9 of one of two servers in runs of {CALLS} calls on PostgreSQL: {kills} kills, all finished by the other, every journalled call made once, {unknown} under way made at most once"
    );
}
