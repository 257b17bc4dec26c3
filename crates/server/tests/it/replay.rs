//! Recorded conversations in which a model calls tools, as whole runs: the run loop, the executor and the journal, against
//! a server that answers what was recorded, with tools that answer what was recorded. TOOLCRIB_TEST_RECORDINGS names what
//! `scripts/recordings` made of them. Our requests are compared with those that the provider took.

#[path = "../../../providers/tests/it/replay/compare.rs"]
mod compare;
#[path = "../../../providers/tests/it/replay/recall.rs"]
#[expect(dead_code, reason = "providers' own replay counts more of it")]
mod recall;
#[path = "../../../providers/tests/it/replay/recording.rs"]
#[expect(dead_code, reason = "providers' own replay reads more of it")]
mod recording;
mod stage;
mod tool_loop;

use crate::testapp::{ADMIN, Setup, TestApp, on_both_given};
use catalog::policy::Policy;
use providers::wire::Written;
use recording::Recording;
use serde_json::{Value, json};
use stage::Stage;
use std::collections::BTreeMap;
use std::sync::Arc;
use tool_loop::ToolLoop;

/// Where the recordings are, as lines of JSON.
const PLACE: &str = "TOOLCRIB_TEST_RECORDINGS";

/// What a run's requests may differ in besides what `compare` states.
const STATED: &str = "\
requests of whole runs are compared up to what is stated for providers, and up to:
  the order of the tools; request_human_input, which a run may always call; the words of a failed call
  tools that the recording offers in other requests only; members that the recording itself changes between two requests (counted below)
  what was said before the last turn, where the recording tells it otherwise than it was said (counted below)";

#[derive(Default)]
struct Summary {
    runs: usize,
    requests: usize,
    equal: usize,
    calls: usize,
    /// What a recording changed by itself, and in which.
    changed: BTreeMap<String, Vec<String>>,
    not_ours: BTreeMap<String, Vec<String>>,
    failures: Vec<String>,
}

impl Summary {
    fn show(&self) {
        println!(
            "{} recordings with a tool loop as whole runs: {} requests, {} the same as recorded, {} calls of tools",
            self.runs, self.requests, self.equal, self.calls
        );
        for (what, names) in &self.changed {
            println!("  changed by the recording: {what}: {}", names.join(", "));
        }
        for (why, names) in &self.not_ours {
            println!("  not run: {why}: {}", names.join(", "));
        }
    }
}

#[tokio::test]
async fn recorded_tool_loops_are_run_from_end_to_end() {
    let Some(path) = std::env::var_os(PLACE) else {
        println!("skipped: {PLACE} names no recordings; scripts/replay FOLDER sets it");
        return;
    };
    let text = std::fs::read_to_string(path).unwrap();
    let stage = Stage::start().await;
    let setup = Setup {
        http_allow: vec![stage.address.parse().unwrap()],
        ..Setup::default()
    };
    on_both_given(
        json!([]),
        Policy::default(),
        setup,
        async |app: &TestApp| {
            let mut summary = Summary::default();
            for line in text.lines() {
                let recording = Recording::of(line);
                match ToolLoop::of(&recording) {
                    Ok(Some(tool_loop)) => replay(app, &stage, &tool_loop, &mut summary).await,
                    Ok(None) => {}
                    Err(why) => {
                        let names = summary.not_ours.entry(why).or_default();
                        names.push(recording.name.clone());
                    }
                }
            }
            println!("{}\n{STATED}", compare::STATED);
            summary.show();
            assert!(summary.runs > 0, "no recording has a tool loop");
            let failures = summary.failures.join("\n");
            assert!(summary.failures.is_empty(), "{failures}");
        },
    )
    .await;
}

/// One recording: its tools are stored, its agent is made, and the run goes until the model calls nothing more.
async fn replay(
    app: &TestApp,
    stage: &Arc<Stage>,
    tool_loop: &ToolLoop<'_>,
    summary: &mut Summary,
) {
    summary.runs += 1;
    let name = &tool_loop.name;
    stage.set(tool_loop);
    for tool in tool_loop.tools(&stage.url()) {
        let made = app.post("/api/v1/tools", tool).await;
        assert_eq!(made.status, 201, "{name}: {}", made.body);
    }
    let made = app
        .post("/api/v1/agents", tool_loop.agent(&stage.url()))
        .await;
    assert_eq!(made.status, 201, "{name}: {}", made.body);
    let body = json!({"input": tool_loop.input, "agent": "recorded"});
    let ran = app.post("/api/v1/runs", body).await;
    check_run(&ran.body, stage, tool_loop, summary);
    for (at, ours) in stage.requests().into_iter().enumerate() {
        check_request(at, ours, tool_loop, summary);
    }
    for path in tool_loop
        .names()
        .map(|name| format!("tools/{name}"))
        .chain(["agents/recorded".to_owned()])
    {
        let path = format!("/api/v1/{path}?force=true");
        let gone = app.as_key(ADMIN, "DELETE", &path, Value::Null).await;
        assert!(gone.status < 300, "{path}: {}", gone.body);
    }
}

fn check_run(run: &Value, stage: &Stage, tool_loop: &ToolLoop<'_>, summary: &mut Summary) {
    let name = &tool_loop.name;
    let (asked, called) = (stage.requests().len(), stage.calls());
    summary.calls += called;
    let output = run["output"].as_str().unwrap_or_default();
    let last = asked
        .checked_sub(1)
        .and_then(|at| tool_loop.exchanges.get(at));
    let is_said = last.is_some_and(|exchange| exchange.said().contains(output));
    if run["status"] != "done" || !is_said {
        summary
            .failures
            .push(format!("{name}: the run ended otherwise: {run}"));
    }
    if run["steps"] != asked || run["calls"] != called || called == 0 {
        let counted = format!("{asked} requests and {called} calls came");
        summary.failures.push(format!("{name}: {counted}: {run}"));
    }
}

fn check_request(at: usize, mut ours: Value, tool_loop: &ToolLoop<'_>, summary: &mut Summary) {
    let name = format!("{}#{}", tool_loop.name, at + 1);
    let Some(exchange) = tool_loop.exchanges.get(at) else {
        let failure = format!("{name}: a request that was not recorded: {ours}");
        return summary.failures.push(failure);
    };
    summary.requests += 1;
    let mut recorded = exchange.request.clone();
    for field in tool_loop.changed_fields(at) {
        for side in [&mut recorded, &mut ours] {
            side.as_object_mut().unwrap().shift_remove(&field);
        }
        summary.changed.entry(field).or_default().push(name.clone());
    }
    if tool_loop.align(&mut recorded, &mut ours) {
        let names = summary.changed.entry("fewer tools".to_owned());
        names.or_default().push(name.clone());
    }
    if let Some(wrong) = tool_loop.wrong_result(&recorded, &ours) {
        return summary.failures.push(format!("{name}: {wrong}"));
    }
    if tool_loop.is_told_otherwise(at) {
        let names = summary.changed.entry("what was said".to_owned());
        return names.or_default().push(name);
    }
    let mut written = Written::new(tool_loop.api, &tool_loop.first);
    written.body = ours;
    match compare::difference(tool_loop.api, &recorded, &written) {
        None => summary.equal += 1,
        Some(difference) => {
            let failure = format!("{name}: our request differs {difference}");
            summary.failures.push(failure);
        }
    }
}
