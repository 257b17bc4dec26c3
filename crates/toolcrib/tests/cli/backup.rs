//! `toolcrib backup` and `toolcrib restore`.

use crate::engines::on_both;
use crate::harness::Sandbox;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const SUM: &str = r#"{"name": "sum", "description": "adds numbers", "kind": "builtin", "config": {"name": "calculator"},
"input_schema": {"type": "object"}}"#;

#[test]
fn a_backup_brings_everything_back() {
    on_both("backup", backup_and_restore);
}

#[test]
fn a_backup_is_for_its_owner_only() {
    on_both("backup_private", private_backup);
}

fn private_backup(sandbox: &Sandbox) {
    sandbox.ok(&["call", "calculator", r#"{"expression": "1 + 1"}"#]);
    let folder = sandbox.workspace().join("copy");
    std::fs::create_dir(&folder).expect("it is new");
    std::fs::set_permissions(&folder, Permissions::from_mode(0o755)).expect("it is ours");
    sandbox.ok(&["backup", "copy"]);
    let mut folders = vec![folder];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        assert_eq!(mode(&folder), 0o700, "{}", folder.display());
        for entry in std::fs::read_dir(&folder).expect("it is a folder") {
            let path = entry.expect("it can be listed").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            assert_eq!(mode(&path), 0o600, "{}", path.display());
            files += 1;
        }
    }
    assert!(files >= 5, "registry, log, two files and backup.json");
    let tools = sandbox.workspace().join("tools.json");
    let before = mode(&tools);
    sandbox.ok(&["restore", "copy"]);
    assert_eq!(mode(&tools), before, "people share it");
}

fn mode(path: &Path) -> u32 {
    let found = path.metadata().expect("it is there");
    found.permissions().mode() & 0o777
}

fn backup_and_restore(sandbox: &Sandbox) {
    sandbox.write("sum.json", SUM);
    sandbox.ok(&["tools", "add", "sum.json"]);
    sandbox.ok(&["call", "sum", r#"{"expression": "1 + 1"}"#]);
    let state = || {
        (
            sandbox.json(&["tools", "list"]),
            sandbox.json(&["log", "--tool", "sum"]),
        )
    };
    let before = state();
    let server = sandbox.serve(&[]);
    sandbox.ok(&["backup", "copy"]);
    let refused = sandbox.run(&["restore", "copy"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused
            .stderr
            .contains(&format!("process {} is using", server.pid())),
        "{refused:?}"
    );
    assert_eq!(server.terminate(), 0);
    assert_eq!(
        sandbox.run(&["backup", "copy"]).code,
        1,
        "a backup is not overwritten"
    );
    sandbox.ok(&["tools", "remove", "sum"]);
    sandbox.ok(&["tools", "remove", "clean_text"]);
    sandbox.ok(&["call", "calculator", r#"{"expression": "1"}"#]);
    let config = sandbox.workspace().join("toolcrib.toml");
    let text = || std::fs::read_to_string(&config).expect("it is there");
    std::fs::write(&config, "[tools]\nqueue_max = 17\n").expect("it can be written");
    let restored = sandbox.run(&["restore", "copy"]);
    assert_eq!(restored.code, 0, "{restored:?}");
    assert!(
        restored.stderr.contains("toolcrib.toml was left as it is"),
        "{restored:?}"
    );
    assert!(text().contains("17"), "{}", text());
    assert_eq!(state(), before);
    std::fs::remove_file(&config).expect("it is there");
    let restored = sandbox.run(&["restore", "copy"]);
    assert_eq!(restored.code, 0, "{restored:?}");
    assert!(
        restored
            .stderr
            .contains("toolcrib.toml was taken from the backup"),
        "{restored:?}"
    );
    assert!(text().contains("#queue_max"), "{}", text());
    assert_eq!(state(), before);
    let kept = sandbox
        .workspace()
        .join(".toolcrib/before-restore-1/tools.json");
    assert!(kept.exists(), "what was there before is kept");
    std::fs::remove_file(sandbox.workspace().join("copy/tools.json")).expect("it is there");
    for folder in ["nowhere", "copy"] {
        let refused = sandbox.run(&["restore", folder]);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(
            refused.stderr.contains("not a complete backup"),
            "{refused:?}"
        );
    }
    assert_eq!(state(), before, "a refused restore changes nothing");
}

#[test]
fn a_backup_makes_a_new_workspace() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["call", "clean_text", "{\"data\": \"a\"}"]);
    sandbox.ok(&["backup", "copy"]);
    let copy = sandbox.workspace().join("copy");
    let new = sandbox.folder().join("not/there/yet");
    let (copy, new) = (copy.to_str().unwrap(), new.to_str().unwrap());
    let restored = sandbox.run(&["restore", copy, "--workspace", new]);
    assert_eq!(restored.code, 0, "{restored:?}");
    assert!(
        restored.stderr.contains(&format!("restored into {new}")),
        "{restored:?}"
    );
    let log = sandbox.ok(&["log", "--workspace", new]);
    assert!(log.contains("clean_text"), "{log}");
}
