//! `toolcrib backup` and `toolcrib restore`.

use crate::engines::on_both;
use crate::harness::Sandbox;

const SUM: &str = r#"{"name": "sum", "description": "adds numbers", "kind": "builtin", "config": {"name": "calculator"},
"input_schema": {"type": "object"}}"#;

#[test]
fn a_backup_brings_everything_back() {
    on_both("backup", backup_and_restore);
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
