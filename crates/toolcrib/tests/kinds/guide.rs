//! The guide, run: every command of its `console` blocks in one shell, its output compared with what the guide shows.

use crate::crib::path;
use crate::harness::Sandbox;
use crate::site::Site;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};

/// A command and the lines that should follow it; `…` stands for anything.
struct Step {
    command: String,
    expected: Vec<String>,
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    // Lines of a command that has not ended: an open quote or a document behind `<<'END'`.
    let mut open: Option<String> = None;
    for line in text.lines() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            line => {
                let continued = open.take();
                let command = match (continued, line.strip_prefix("$ ")) {
                    (Some(before), _) => format!("{before}\n{line}"),
                    (None, Some(command)) => command.to_owned(),
                    (None, None) => {
                        steps.last_mut().unwrap().expected.push(line.to_owned());
                        continue;
                    }
                };
                let waits = command.contains("<<'END'") && !command.ends_with("\nEND");
                if waits || command.matches('\'').count() % 2 == 1 {
                    open = Some(command);
                } else {
                    steps.push(Step {
                        command,
                        expected: Vec::new(),
                    });
                }
            }
        }
    }
    steps
}

/// Whether a line is what the guide shows, `…` being any text.
fn fits(line: &str, shown: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(rest) = parts.next().and_then(|first| line.strip_prefix(first)) else {
        return false;
    };
    let mut rest = rest;
    let mut last = None;
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
        last = Some(part);
    }
    last.is_some_and(str::is_empty) || rest.is_empty()
}

/// `…` alone on a line stands for any number of lines.
fn all_fit(lines: &[&str], shown: &[String]) -> bool {
    match (lines, shown) {
        ([], []) => true,
        (_, [first, rest @ ..]) if first == "…" => {
            (0..=lines.len()).any(|skipped| all_fit(&lines[skipped..], rest))
        }
        ([line, lines @ ..], [first, rest @ ..]) => fits(line, first) && all_fit(lines, rest),
        _ => false,
    }
}

#[test]
fn every_command_of_the_guide_does_what_it_shows() {
    follow("tools.md", 20, &Sandbox::bare().with("PATH", &path()));
}

#[test]
fn every_command_about_databases_does_what_it_shows() {
    follow("data.md", 8, &Sandbox::bare().with("PATH", &path()));
}

#[test]
fn every_command_about_choosing_tools_does_what_it_shows() {
    follow("selection.md", 3, &Sandbox::bare().with("PATH", &path()));
}

/// With a model for which a text is about mail, about dates, and a little about anything.
#[test]
fn every_command_of_the_guide_to_data_search_does_what_it_shows() {
    let endpoint = Site::start(|request| {
        let (_, body) = request.split_once("\r\n\r\n").unwrap();
        let asked: Value = serde_json::from_str(body).unwrap();
        let vector = |text: &Value| {
            let count = |word: &str| text.as_str().unwrap().matches(word).count();
            json!({"embedding": [count("mail"), count("date"), 1]})
        };
        let data: Vec<Value> = asked["input"]
            .as_array()
            .unwrap()
            .iter()
            .map(vector)
            .collect();
        let answer = json!({"data": data}).to_string();
        (200, "application/json", answer.into_bytes())
    });
    let sandbox = Sandbox::bare()
        .with("PATH", &path())
        .with("TEXT_EMBEDDING_MODEL_URL", &endpoint.url)
        .with("TEXT_EMBEDDING_MODEL_NAME", "words");
    follow("data-search.md", 7, &sandbox);
}

/// Runs a page of the guide.
#[expect(clippy::print_stdout, reason = "a figure")]
fn follow(page: &str, steps_min: usize, sandbox: &Sandbox) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    let text = std::fs::read_to_string(folder.join(page)).unwrap();
    let programs = sandbox.folder().join("bin");
    std::fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_toolcrib"), programs.join("toolcrib")).unwrap();
    let programs_path = format!("{}:{}", programs.display(), path());
    let steps = steps(&text);
    assert!(steps.len() > steps_min, "{page} was read: {}", steps.len());
    assert!(steps[0].command.starts_with("toolcrib init"));
    let mut here = sandbox.folder().to_owned();
    let mut server = None;
    let mut wrong = Vec::new();
    for Step { command, expected } in &steps {
        // Every command has a shell of its own, so a step into a folder is ours; there the guide wants a server.
        if let Some(folder) = command.strip_prefix("cd ") {
            here.push(folder);
            let workspace = here.to_str().unwrap();
            server = Some(sandbox.serve(&["--workspace", workspace]));
            continue;
        }
        let address = server.as_ref().map_or("", |it| it.address.as_str());
        let command = command.replace("127.0.0.1:8787", address);
        let ran = Command::new("bash")
            .args(["-c", &command])
            .current_dir(&here)
            .env_clear()
            .env("PATH", &programs_path)
            .env("HOME", sandbox.folder())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
        let said = said.trim_end_matches('\n');
        let lines: Vec<&str> = said.lines().collect();
        let expected: Vec<String> = expected
            .iter()
            .map(|line| line.trim_end().to_owned())
            .collect();
        let end = expected
            .iter()
            .rposition(|line| !line.is_empty())
            .map_or(0, |at| at + 1);
        if !all_fit(&lines, &expected[..end]) {
            wrong.push(format!(
                "$ {command}\nshown:\n{}\nsaid:\n{said}\n",
                expected.join("\n")
            ));
        }
    }
    println!("{page}: {} commands run", steps.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
