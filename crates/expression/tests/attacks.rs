//! Escape attempts and resource bombs of `attacks.txt`: none gives a value, and none reads or writes anything.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use expression::{Evaluator, Fault, Kind, Limits, check, question, read};
use serde_json::Map;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const DURATION_MS: u64 = 200;
const SECRET: &str = "dGhlIHNlY3JldA";

struct Attack {
    class: &'static str,
    source: String,
}

fn attacks(folder: &Path) -> Vec<Attack> {
    let secret = folder.join("secret");
    let text = include_str!("attacks.txt");
    let classes = text.split("\n## ").skip(1);
    classes
        .flat_map(|part| {
            let (class, sources) = part.split_once('\n').unwrap();
            sources.split("\n---\n").map(move |source| (class, source))
        })
        .map(|(class, source)| Attack {
            class,
            source: source
                .trim_matches('\n')
                .replace("{S}", secret.to_str().unwrap())
                .replace("{D}", folder.to_str().unwrap()),
        })
        .collect()
}

/// A worker process, as the server has them.
struct Worker {
    child: Child,
    input: ChildStdin,
    answers: Receiver<Vec<u8>>,
}

impl Worker {
    fn start(folder: &Path) -> Self {
        // Cargo builds examples before it runs tests, beside them.
        let tests = std::env::current_exe().unwrap();
        let target = tests.parent().and_then(Path::parent).unwrap();
        let mut child = Command::new(target.join("examples/expression_worker"))
            .current_dir(folder)
            .env_clear()
            .env("SECRET", SECRET)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let mut output = child.stdout.take().unwrap();
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            let mut length = [0; 4];
            while output.read_exact(&mut length).is_ok() {
                let mut answer = vec![0; u32::from_le_bytes(length) as usize];
                if output.read_exact(&mut answer).is_err() || sender.send(answer).is_err() {
                    return;
                }
            }
        });
        Worker {
            child,
            input,
            answers,
        }
    }

    /// Nothing if the worker did not answer in time; it is gone then.
    fn ask(&mut self, question: &[u8], within: Duration) -> Option<Vec<u8>> {
        let length = u32::try_from(question.len()).unwrap();
        self.input.write_all(&length.to_le_bytes()).ok()?;
        self.input.write_all(question).ok()?;
        self.input.flush().ok()?;
        self.answers.recv_timeout(within).ok()
    }

    fn stop(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn in_a_worker_nothing_gives_a_value_and_nothing_is_read_or_written() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("secret"), SECRET).unwrap();
    let attacks = attacks(folder.path());
    assert!(attacks.len() >= 120, "{}", attacks.len());
    let within = Duration::from_millis(DURATION_MS + 50);
    let (mut stopped, mut worker) = (0, Worker::start(folder.path()));
    for Attack { class, source } in &attacks {
        let question = question(source, &Map::new(), DURATION_MS);
        let Some(answer) = worker.ask(&question, within) else {
            stopped += 1;
            worker.stop();
            worker = Worker::start(folder.path());
            continue;
        };
        let answered = read(&answer);
        assert!(answered.is_err(), "{class}: {source}: {answered:?}");
        let told = String::from_utf8_lossy(&answer);
        assert!(!told.contains(SECRET), "{class}: {source}: {told}");
    }
    worker.stop();
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["secret"]);
    // Most are refused or end themselves: a worker is dear.
    assert!(
        stopped <= attacks.len() / 10,
        "{stopped} workers were stopped"
    );
}

#[test]
fn a_worker_answers_after_every_attack_that_it_survives() {
    let folder = tempfile::tempdir().unwrap();
    let mut worker = Worker::start(folder.path());
    let attempts = attacks(folder.path());
    let quick = attempts
        .iter()
        .filter(|attack| !matches!(attack.class, "time" | "memory" | "large integers"));
    for Attack { source, .. } in quick {
        let attempt = question(source, &Map::new(), 50);
        worker.ask(&attempt, Duration::from_secs(10)).unwrap();
        let sane = question("6 * 7", &Map::new(), 1000);
        let answer = worker.ask(&sane, Duration::from_secs(10)).unwrap();
        assert_eq!(read(&answer).unwrap().value, 42, "{source}");
    }
    worker.stop();
}

/// A definition is checked in the server itself.
#[test]
fn reading_a_source_is_bounded() {
    let folder = Path::new("folder");
    let mut sources: Vec<String> = attacks(folder).into_iter().map(|a| a.source).collect();
    let limit = Limits::default().source_bytes_max;
    for part in [
        "(",
        "[",
        "{1:",
        "1+",
        "-",
        "not ",
        "a.",
        "a(",
        "a[",
        "lambda:",
        "f'{",
        "1 if 1 else ",
        "x=",
        "'",
        "\\\n",
        "a,",
        "@a\n",
        "if 1:\n ",
        "**",
        "9",
        "a:=",
        "for a in b ",
        "elif 1: 1\n",
    ] {
        sources.push(part.repeat(limit / part.len()));
        sources.push(format!("if 1: 1\n{}", part.repeat(limit / part.len() - 8)));
    }
    sources.push(format!("a{}", "()".repeat(30_000)));
    sources.push(format!("a{}", "[0]".repeat(20_000)));
    sources.push(format!("a{}", "/1".repeat(30_000)));
    sources.push(format!("{}1{}", "(".repeat(30_000), ")".repeat(30_000)));
    sources.push("f'{".repeat(150) + "1" + &"}'".repeat(150));
    for source in sources {
        let started = Instant::now();
        let _either = check(&source, &["a", "b"]);
        let took = started.elapsed();
        let head: String = source.chars().take(60).collect();
        assert!(took < Duration::from_secs(10), "{head}: {took:?}");
    }
}

#[test]
fn what_can_be_interrupted_needs_no_worker() {
    let mut evaluator = Evaluator::new();
    let limits = Limits {
        duration_ms: 50,
        ..Limits::default()
    };
    let attempts = attacks(Path::new("folder"));
    let quiet = attempts
        .iter()
        .filter(|attack| !matches!(attack.class, "time" | "memory" | "large integers" | "depth"));
    for Attack { class, source } in quiet {
        let evaluated = evaluator.evaluate(source, &Map::new(), &limits);
        assert!(evaluated.is_err(), "{class}: {source}: {evaluated:?}");
    }
}

#[test]
fn a_loop_cannot_catch_its_end() {
    let source = "try:\n    while True:\n        pass\nexcept BaseException:\n    result = 1";
    let limits = Limits {
        duration_ms: 20,
        ..Limits::default()
    };
    let fault = Evaluator::new()
        .evaluate(source, &Map::new(), &limits)
        .unwrap_err();
    assert!(
        matches!(&fault, Fault { kind: Kind::Time, message, .. } if message.ends_with("longer than 20 ms")),
        "{fault:?}"
    );
}
