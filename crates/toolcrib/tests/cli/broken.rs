//! Broken installations, each made for real: `doctor` names the one mistake in it and nothing else, says what to do, ends with
//! the right code, changes nothing and does not hang. This file has the mould; the others have the mistakes.

use crate::harness::{Done, Sandbox};
use serde_json::{Value, json};
use std::any::Any;
use std::collections::BTreeMap;
use std::fs;
use std::io::{Write, stderr};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long it may take, however much hangs.
const PATIENCE: Duration = Duration::from_secs(25);

/// An installation and what holds it in its state.
pub(crate) struct Broken {
    pub(crate) sandbox: Sandbox,
    pub(crate) arguments: Vec<String>,
    /// A shell that sets something up before it becomes the program.
    pub(crate) shell: Option<&'static str>,
    pub(crate) kept: Vec<Box<dyn Any>>,
    pub(crate) is_served: bool,
}

impl Broken {
    pub(crate) fn new(sandbox: Sandbox) -> Self {
        Broken {
            sandbox,
            arguments: Vec::new(),
            shell: None,
            kept: Vec::new(),
            is_served: false,
        }
    }

    pub(crate) fn keep(mut self, what: impl Any) -> Self {
        self.kept.push(Box::new(what));
        self
    }

    fn doctor(&self, more: &[&str]) -> Done {
        let own = self.arguments.iter().map(String::as_str);
        let arguments: Vec<&str> = ["doctor"]
            .into_iter()
            .chain(own)
            .chain(more.iter().copied())
            .collect();
        match self.shell {
            None => self.sandbox.run(&arguments),
            Some(first) => self.sandbox.run_through(first, &arguments),
        }
    }
}

/// One mistake: how it is made, what it is called, what is said of it and of the remedy.
pub(crate) struct Mistake {
    pub(crate) id: &'static str,
    pub(crate) is_fatal: bool,
    pub(crate) says: &'static [&'static str],
    pub(crate) remedy: &'static str,
    /// None where it cannot be made on this machine.
    pub(crate) make: fn() -> Option<Broken>,
}

/// A workspace in order, on a port that nobody else has.
pub(crate) fn sound() -> Sandbox {
    Sandbox::new().with("TOOLCRIB_SERVER_LISTEN", "127.0.0.1:0")
}

/// An address at which nobody listens.
pub(crate) fn nobody() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    listener.local_addr().expect("it has an address")
}

/// A file of tools with this one in it.
pub(crate) fn tools(sandbox: &Sandbox, tool: &Value) {
    let file = json!({"version": 1, "tools": [tool]});
    sandbox.write("tools.json", &file.to_string());
}

pub(crate) fn each(mistakes: &[Mistake]) {
    for mistake in mistakes {
        match (mistake.make)() {
            Some(broken) => named(mistake, &broken),
            None => {
                let _ = writeln!(stderr(), "skipped: {} cannot be made here", mistake.id);
            }
        }
    }
}

fn named(mistake: &Mistake, broken: &Broken) {
    let id = mistake.id;
    let before = state(broken.sandbox.folder());
    let begun = Instant::now();
    let done = broken.doctor(&["--json"]);
    assert!(begun.elapsed() < PATIENCE, "{id}: {:?}", begun.elapsed());
    let code = i32::from(mistake.is_fatal);
    assert_eq!(done.code, code, "{id}: {done:?}");
    let answer: Value = serde_json::from_str(&done.stdout).expect("--json prints JSON");
    assert_eq!(answer["ok"], !mistake.is_fatal, "{id}: {answer}");
    let checks = answer["checks"].as_array().expect("a list");
    let is_wrong = |check: &&Value| check["status"] == "warn" || check["status"] == "fail";
    let wrong: Vec<&Value> = checks.iter().filter(is_wrong).collect();
    assert!(!wrong.is_empty(), "{id} was not found: {answer}");
    for finding in &wrong {
        assert_eq!(finding["id"], id, "a false alarm: {finding}");
        let status = if mistake.is_fatal { "fail" } else { "warn" };
        assert_eq!(finding["status"], status, "{finding}");
        assert_eq!(finding["about"], id.split('.').next().unwrap_or_default());
        assert!(
            finding["remedy"].as_str().is_some_and(|it| it.len() > 5),
            "{finding}"
        );
    }
    let said = |member: &str| wrong[0][member].as_str().unwrap_or_default().to_owned();
    for part in mistake.says {
        assert!(
            said("message").contains(part),
            "{id}: {part} is not in {:?}",
            said("message")
        );
    }
    let remedy = said("remedy");
    assert!(
        remedy.contains(mistake.remedy),
        "{id}: {} is not in {remedy:?}",
        mistake.remedy
    );
    let shown = broken.doctor(&[]);
    assert_eq!(shown.code, code, "{id}: {shown:?}");
    for part in [&said("message"), &format!("remedy: {remedy} [{id}]")] {
        assert!(
            shown.stdout.contains(part.as_str()),
            "{id}: {part} is not in {shown:?}"
        );
    }
    if !broken.is_served {
        assert_eq!(
            state(broken.sandbox.folder()),
            before,
            "{id}: something was changed"
        );
    }
}

/// Every file below a folder, with its size, its times and its rights.
pub(crate) fn state(folder: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(path) = left.pop() {
        let Ok(about) = fs::symlink_metadata(&path) else {
            continue;
        };
        let what = format!(
            "{} {:o} {} {}",
            about.len(),
            about.mode(),
            about.mtime_nsec(),
            about.uid()
        );
        all.insert(path.display().to_string(), what);
        if about.is_dir() {
            let inside = fs::read_dir(&path).into_iter().flatten().flatten();
            left.extend(inside.map(|entry| entry.path()));
        }
    }
    all
}

#[test]
fn a_sound_installation_has_no_findings_and_is_not_changed() {
    let fresh = sound();
    let used = sound();
    used.ok(&["call", "calculator", "{\"expression\": \"1 + 1\"}"]);
    used.run_with_stdin(&["secrets", "set", "token"], "a secret");
    let served = sound();
    let server = served.serve(&[]);
    for (sandbox, is_served) in [(&fresh, false), (&used, false), (&served, true)] {
        let before = state(sandbox.folder());
        let answer = sandbox.json(&["doctor"]);
        let checks = answer["checks"].as_array().expect("a list");
        let all_ok = checks.iter().all(|check| check["status"] == "ok");
        assert!(all_ok && answer["ok"] == true, "{answer}");
        if !is_served {
            assert_eq!(state(sandbox.folder()), before);
        }
    }
    assert!(!fresh.workspace().join(".toolcrib").exists());
    drop(server);
}

/// Scripts go by the ids, and people look them up.
#[test]
fn every_id_is_in_the_guide_and_no_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = fs::read_to_string(root.join("../../docs/guide/doctor.md")).expect("it is there");
    let listed = guide.lines().filter(|line| line.starts_with("| "));
    let listed = listed.flat_map(|line| line.split('`').skip(1).step_by(2));
    let mut listed: Vec<&str> = listed.collect();
    let folder = fs::read_dir(root.join("src/command")).expect("it is there");
    let sources: String = folder
        .filter_map(|file| fs::read_to_string(file.ok()?.path()).ok())
        .collect();
    let abouts: Vec<&str> = listed
        .iter()
        .filter_map(|id| id.split('.').next())
        .collect();
    let is_id = |text: &&str| {
        let parts = text.split_once('.');
        parts.is_some_and(|(about, which)| {
            let letters = |c: char| c.is_ascii_lowercase() || c == '_';
            let is_file = which == "jsonl";
            abouts.contains(&about) && !is_file && !which.is_empty() && which.chars().all(letters)
        })
    };
    let mut made: Vec<&str> = sources.split('"').filter(is_id).collect();
    let config = include_str!("../../src/config.default.toml");
    made.retain(|id| !is_key(config, id));
    for list in [&mut listed, &mut made] {
        list.sort_unstable();
        list.dedup();
    }
    assert_eq!(listed, made);
}

/// Whether these words are a key of the configuration.
fn is_key(config: &str, id: &str) -> bool {
    let (section, name) = id.split_once('.').unwrap_or_default();
    let inside = config.split(&format!("\n[{section}]\n")).nth(1);
    let inside = inside.and_then(|rest| rest.split("\n[").next());
    let key = format!("{name} = ");
    inside.is_some_and(|inside| inside.lines().any(|line| line.starts_with(&key)))
}
