//! Seed 001 word for word, where it takes the whole program: code that runs, a script that is added, and how soon a tool
//! starts. `server`'s tests of the same name have the other scenarios, those of `mcp` the real servers.

use crate::crib::Crib;
use crate::dialect::Dialect;
use crate::model::{call, model, output, run, say};
use crate::site::Site;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// An agent for each wire format, by its name.
fn agents(crib: &Crib, url: &str) -> Vec<String> {
    let made = Dialect::ALL.map(|dialect| {
        let name = format!("agent_{dialect:?}").to_lowercase();
        let body = dialect.agent(&name, url);
        let (status, answer) = crib.server.request("POST", "/api/v1/agents", Some(&body));
        assert_eq!(status, 201, "{answer}");
        name
    });
    made.to_vec()
}

fn logged(crib: &Crib, tool: &str) -> Vec<Value> {
    let path = format!("/api/v1/executions?tool={tool}");
    let (_, page) = crib.server.request("GET", &path, None);
    page["items"].as_array().unwrap().clone()
}

/// US2.1: Given the `code_execution` tool is registered, when the user provides a task requiring data processing (e.g.,
/// "Summarize this CSV file"), then the agent executes a script to process the data and returns the summary.
#[test]
fn us2_1_a_csv_file_is_summarized_by_a_script() {
    const CSV: &str = "item,amount\napples,3\npears,4\nplums,35\n";
    const CODE: &str = "import csv\nrows = list(csv.DictReader(open('data.csv')))\nprint(f\"{len(rows)} rows, {sum(int(r['amount']) for r in rows)} in all\")";
    let crib = Crib::new();
    let model = model(|results| match results {
        [] => {
            let files = json!({"data.csv": STANDARD.encode(CSV)});
            call(
                "code_execution",
                json!({"language": "python", "code": CODE, "files": files}),
            )
        }
        [result, ..] => {
            let result: Value = serde_json::from_str(result).unwrap();
            say(result["stdout"].as_str().unwrap())
        }
    });
    for agent in agents(&crib, &model.url) {
        let run = run(
            &crib.sandbox,
            &agent,
            &format!("Summarize this CSV file:\n{CSV}"),
        );
        assert_eq!(output(&run).trim(), "3 rows, 42 in all", "{agent}");
        assert_eq!(run["calls"], 1);
    }
    let logged = logged(&crib, "code_execution");
    assert_eq!(logged.len(), Dialect::ALL.len());
    assert_eq!(
        (&logged[0]["status"], &logged[0]["arguments"]["code"]),
        (&json!("success"), &json!(CODE))
    );
}

/// US2.2: Given the `code_execution` tool is registered, when a script execution fails, then the agent reports the error
/// clearly to the user.
#[test]
fn us2_2_a_script_that_fails_is_reported() {
    let crib = Crib::new();
    let text = json!({"type": "string"});
    let schema = json!({"type": "object", "properties": {"language": text, "code": text}, "required": ["language", "code"]});
    let more = json!({"shelf": "file", "timeout_seconds": 2, "input_schema": schema});
    let config = json!({"name": "code_execution"});
    crib.add("code_execution", "builtin", &config, &more);
    // One raises, one runs for too long, one is no program: each tells the agent what went wrong.
    for (code, expected) in [
        (
            "raise ValueError('column amount is missing')",
            "column amount is missing",
        ),
        ("import time\ntime.sleep(600)", "timeout (2"),
        ("def (", "SyntaxError"),
    ] {
        let model = model(move |results| match results {
            [] => call(
                "code_execution",
                json!({"language": "python", "code": code}),
            ),
            [result, ..] => say(&format!("The script failed: {result}")),
        });
        let agent = Dialect::Chat.agent("reports", &model.url);
        crib.server
            .request("DELETE", "/api/v1/agents/reports", None);
        let (status, made) = crib.server.request("POST", "/api/v1/agents", Some(&agent));
        assert_eq!(status, 201, "{made}");
        let run = run(&crib.sandbox, "reports", "run it");
        let told = output(&run);
        assert!(
            told.starts_with("The script failed: ") && told.contains(expected),
            "{told}"
        );
    }
}

/// US3's independent test: add a dummy "hello_world" tool to `tools.json` and a corresponding `.py` file. Verify the agent can
/// recognize and use it when prompted.
#[test]
fn us3_independent_test_hello_world() {
    let crib = Crib::new();
    let model = model(|results| match results {
        [] => call("hello_world", json!({"name": "세계"})),
        [greeting, ..] => say(greeting),
    });
    let agents = agents(&crib, &model.url);
    let greet = "def execute(name):\n    return f'Hello, {name}!'\n";
    crib.sandbox.write("hello_world.py", greet);
    let schema =
        json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    let more =
        json!({"shelf": "file", "input_schema": schema, "description": "Says hello to somebody"});
    crib.add(
        "hello_world",
        "python",
        &json!({"script": "hello_world.py"}),
        &more,
    );
    let file = std::fs::read_to_string(crib.sandbox.workspace().join("tools.json")).unwrap();
    assert!(file.contains("hello_world"), "{file}");
    for agent in agents {
        let run = run(&crib.sandbox, &agent, "Say hello to 세계");
        assert_eq!(output(&run), "Hello, 세계!", "{agent}");
    }
}

/// SC-003: the time between the agent's request for a tool and the tool's start is less than 200 ms. The optimised program is
/// held to one millisecond (`make show-runs`, line 8).
#[test]
fn sc_003_a_tool_starts_soon_after_the_model_asked_for_it() {
    const CALLS: usize = 20;
    let asked = Arc::<Mutex<Option<Instant>>>::default();
    let starts = Arc::<Mutex<Vec<Duration>>>::default();
    let model = {
        let asked = Arc::clone(&asked);
        model(move |results| {
            *asked.lock().unwrap() = Some(Instant::now());
            match results.len() < CALLS {
                true => call("ping", json!({"number": results.len()})),
                false => say("done"),
            }
        })
    };
    let tool = {
        let starts = Arc::clone(&starts);
        Site::start(move |_| {
            let asked = asked.lock().unwrap().unwrap();
            starts.lock().unwrap().push(asked.elapsed());
            (200, "text/plain", b"pong".to_vec())
        })
    };
    let host = tool.url.trim_start_matches("http://").to_owned();
    let crib = Crib::of(crate::crib::sandbox().with("TOOLCRIB_HTTP_ALLOW", &host));
    let schema = json!({"type": "object", "properties": {"number": {"type": "integer"}}});
    let more = json!({"input_schema": schema, "annotations": {"readOnlyHint": true}});
    let config = json!({"base_url": tool.url, "method": "GET", "path": "/{{number}}"});
    crib.add("ping", "http", &config, &more);
    let mut agent = Dialect::Messages.agent("pings", &model.url);
    agent["config"] = json!({"max_steps": CALLS + 1, "max_tool_calls": CALLS});
    let (status, made) = crib.server.request("POST", "/api/v1/agents", Some(&agent));
    assert_eq!(status, 201, "{made}");
    assert_eq!(output(&run(&crib.sandbox, "pings", "ping")), "done");
    let mut starts = starts.lock().unwrap().clone();
    starts.sort_unstable();
    assert_eq!(starts.len(), CALLS);
    let (median, last) = (starts[CALLS / 2], starts[CALLS - 1]);
    println!(
        "from the model's request to the tool's start: {median:?} at the median, {last:?} at most"
    );
    assert!(median < Duration::from_millis(200), "{starts:?}");
}
