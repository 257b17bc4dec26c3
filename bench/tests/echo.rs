//! The generator against the reference server, as real processes: right answers count, wrong ones are caught and named.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

const BENCH: &str = env!("CARGO_BIN_EXE_bench");

struct Echo {
    child: Child,
    url: String,
}

impl Echo {
    fn start() -> Self {
        let mut child = Command::new(BENCH)
            .arg("bare-echo")
            .stdout(Stdio::piped())
            .spawn()
            .expect("bench starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe"))
            .read_line(&mut line)
            .expect("a line");
        let address = line
            .trim()
            .strip_prefix("listening on ")
            .expect("the address");
        Echo {
            url: format!("{address}/api/v1/tools/echo/call"),
            child,
        }
    }

    fn load(&self, arguments: &[&str]) -> Output {
        let body = r#"{"arguments":{"data":"row {i}"}}"#;
        let mut command = Command::new(BENCH);
        command.args([
            "load",
            "--url",
            &self.url,
            "--method",
            "POST",
            "--body",
            body,
            "--conns",
            "4",
            "--seconds",
            "60",
        ]);
        command.args(arguments).output().expect("bench runs")
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn figures(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text)
        .unwrap_or_else(|e| panic!("{e}: {text:?} {}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn right_answers_are_counted_up_to_the_bound() {
    let echo = Echo::start();
    let pid = echo.child.id().to_string();
    let output = echo.load(&[
        "--requests-max",
        "500",
        "--expect",
        r#"/data="row {i}""#,
        "--pid",
        &pid,
    ]);
    let got = figures(&output);
    assert_eq!(
        (&got["requests"], &got["errors"]),
        (&Value::from(500), &Value::from(0)),
        "{got}"
    );
    assert!(
        got["p50_us"].as_f64().unwrap() > 0.0 && got["p50_us"].as_f64() <= got["max_us"].as_f64(),
        "{got}"
    );
    assert!(got["server_rss_kb"].as_u64().unwrap() > 0, "{got}");
}

#[test]
fn wrong_answers_are_errors_and_end_the_run() {
    let echo = Echo::start();
    let output = echo.load(&[
        "--warmup",
        "0",
        "--errors-max",
        "20",
        "--expect",
        r#"/data="row {j}""#,
    ]);
    let got = figures(&output);
    assert_eq!(got["requests"], got["errors"], "{got}");
    assert_eq!(got["stopped_early"], true);
    assert!(
        got["first_error"]
            .as_str()
            .unwrap()
            .contains("/data is \"row "),
        "{got}"
    );

    let output = echo.load(&["--expect", r#"/data="row {j}""#]);
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("while warming up"));
}

#[test]
fn a_wrong_status_is_an_error_even_with_the_right_body() {
    let echo = Echo::start();
    let output = echo.load(&["--warmup", "0", "--errors-max", "1", "--status", "201"]);
    let got = figures(&output);
    let first = got["first_error"].as_str().unwrap();
    assert!(first.contains("status 200, expected 201"), "{got}");
}

#[test]
fn a_first_answer_is_timed_and_its_server_ended() {
    let output = Command::new(BENCH)
        .args([
            "first-answer",
            "--path",
            "/api/v1/tools/x/call",
            "--method",
            "POST",
            "--body",
            "{}",
        ])
        .args(["--expect", "/data=null", "--", BENCH, "bare-echo"])
        .output()
        .unwrap();
    let got = figures(&output);
    assert!(
        got["first_answer_ms"].as_f64() >= got["listening_ms"].as_f64(),
        "{got}"
    );
    assert!(got["rss_kb"].as_u64().unwrap() > 0, "{got}");
}

#[test]
fn connections_that_a_server_keeps_are_reported_as_held() {
    let echo = Echo::start();
    let output = Command::new(BENCH)
        .args([
            "slow",
            "--url",
            &echo.url,
            "--half-open",
            "20",
            "--slow",
            "5",
            "--seconds",
            "0.2",
        ])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["state"], "open");
    assert_eq!(
        (&lines[1]["half_open"]["held"], &lines[1]["slow"]["held"]),
        (&Value::from(20), &Value::from(5)),
        "{text}"
    );
}
