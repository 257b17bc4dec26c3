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

/// Tools that a run calls, one after the other.
const CALLS: usize = 5;

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
    let told = match path.as_str() {
        "/v1/messages" => turn(&serde_json::from_slice(&body)?),
        _ => {
            *seen.calls.lock().unwrap().entry(path).or_default() += 1;
            json!({"counted": true})
        }
    };
    *seen.requests.lock().unwrap() += 1;
    seen.more.notify_all();
    let text = told.to_string();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
    let mut stream = reader.into_inner();
    write!(
        stream,
        "{head}\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    )
}

/// The next call of the script, in Anthropic's wire format.
fn turn(request: &Value) -> Value {
    let said = request["messages"].as_array().unwrap();
    let run = said[0]["content"].as_str().map(str::to_owned);
    let run = run.unwrap_or_else(|| said[0]["content"][0]["text"].as_str().unwrap().to_owned());
    let turns = said.iter().filter(|it| it["role"] == "assistant").count();
    let (content, stop) = match turns < CALLS {
        true => {
            let input = json!({"run": run, "number": turns});
            let call = json!({"type": "tool_use", "id": format!("toolu_{turns}"), "name": "count", "input": input});
            (call, "tool_use")
        }
        false => (json!({"type": "text", "text": "counted"}), "end_turn"),
    };
    json!({
        "id": "msg", "type": "message", "role": "assistant", "model": "m", "content": [content],
        "stop_reason": stop, "usage": {"input_tokens": 1, "output_tokens": 1}
    })
}

fn set_up(sandbox: &Sandbox, outside: &Outside) {
    let tools = json!({"version": 1, "tools": [{
        "name": "count", "kind": "http", "description": "Counts", "parallel_capable": true,
        "annotations": {"openWorldHint": false, "destructiveHint": false},
        "config": {"method": "POST", "base_url": format!("http://{}", outside.address), "path": "/{run}/{number}"},
        "input_schema": {"type": "object", "properties": {"run": {"type": "string"}, "number": {"type": "integer"}}, "required": ["run", "number"]}
    }]});
    std::fs::write(sandbox.workspace().join("tools.json"), tools.to_string()).unwrap();
}

fn make_agent(server: &Running, outside: &Outside) {
    let agent = json!({
        "name": "counter", "model_provider": "anthropic", "model_name": "m",
        "base_url": format!("http://{}", outside.address), "config": {"stream": false}
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
    for (number, result) in results.into_iter().enumerate() {
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

/// A moment in a run: after so many requests of it, and a little later.
fn moment(outside: &Outside, before: usize, dice: &mut Dice) {
    let requests = 2 * CALLS as u64 + 1;
    outside.wait_for(before + (dice.roll() % requests) as usize);
    std::thread::sleep(Duration::from_micros(dice.roll() % 3_000));
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
        let name = format!("run{point}");
        let before = outside.requests();
        let id = begin(&server, &name);
        moment(&outside, before, &mut dice);
        server.signal(Signal::KILL);
        drop(server);
        server = site.sandbox.serve(&[]);
        unknown += check(&server, &outside, &name, &id);
    }
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
        let name = format!("run{point}");
        let before = outside.requests();
        let victim = point % 2;
        let id = begin(&servers[victim], &name);
        moment(&outside, before, &mut dice);
        servers[victim].signal(Signal::KILL);
        unknown += check(&servers[1 - victim], &outside, &name, &id);
        servers[victim] = sandboxes[victim].serve(&[]);
    }
    println!(
        "kill -9 of one of two servers in runs of {CALLS} calls on PostgreSQL: {kills} kills, all finished by the other, every journalled call made once, {unknown} under way made at most once"
    );
}
