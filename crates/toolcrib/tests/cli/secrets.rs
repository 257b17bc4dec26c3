//! `toolcrib secrets`, and a start whose keys do not fit.

use crate::harness::Sandbox;
use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

const VALUE: &str = "sk-live-not-to-be-seen-wxyz";
const K1: &str = "k1:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
const K2: &str = "k2:AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=";

#[test]
fn a_secret_is_set_from_stdin_or_a_file_and_never_printed() {
    let sandbox = Sandbox::new();
    let set = sandbox.run_with_stdin(
        &["secrets", "set", "weather", "--json"],
        &format!("{VALUE}\n"),
    );
    assert_eq!(set.code, 0, "{set:?}");
    sandbox.write("value.txt", VALUE);
    let again = sandbox.run(&[
        "secrets",
        "set",
        "weather",
        "--value",
        "@value.txt",
        "--json",
    ]);
    assert_eq!(again.code, 0, "{again:?}");
    for done in [set, again] {
        assert!(
            done.stdout.contains("\"last4\":\"wxyz\""),
            "no newline is kept: {done:?}"
        );
        assert!(!done.stdout.contains(VALUE) && !done.stderr.contains(VALUE));
    }
    let on_the_line = sandbox.run(&["secrets", "set", "weather", "--value", VALUE]);
    assert_eq!(on_the_line.code, 2, "{on_the_line:?}");
    assert!(!on_the_line.stderr.contains(VALUE), "{on_the_line:?}");
    let listed = sandbox.ok(&["secrets", "list"]);
    assert!(listed.contains("weather\tadmin\t…wxyz\t"), "{listed}");
    assert_eq!(sandbox.ok(&["secrets", "verify"]), "all 1 secrets open\n");
    let tool = json!({"name": "w", "description": "d", "kind": "builtin", "config": {"name": "calculator"},
        "auth_config": {"token": {"$secret": "weather"}}});
    sandbox.ok(&["tools", "add", &tool.to_string()]);
    let used = sandbox.run(&["secrets", "remove", "weather"]);
    assert!(used.code == 1 && used.stderr.contains("'w'"), "{used:?}");
    sandbox.ok(&["secrets", "remove", "weather", "--force"]);
    assert_eq!(sandbox.json(&["secrets", "list"])["items"], json!([]));
}

#[test]
fn a_start_without_the_right_keys_says_which_one_is_missing() {
    let sandbox = Sandbox::new().with("TOOLCRIB_SECRET_KEY", K1);
    sandbox.run_with_stdin(&["secrets", "set", "weather"], VALUE);
    let with = |text: &str| {
        let mut command = sandbox.command(&["secrets", "verify"]);
        command.env("TOOLCRIB_SECRET_KEY", text);
        command.output().expect("the program can be started")
    };
    let refused = with(K2);
    let words = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(3), "{words}");
    assert!(
        words.contains("sealed with the key 'k1', which is not in TOOLCRIB_SECRET_KEY"),
        "{words}"
    );
    assert!(words.contains("hint: "), "{words}");
    assert_eq!(with(&format!("{K2},{K1}")).status.code(), Some(0));
    let short = with("k1:c2hvcnQ");
    let words = String::from_utf8_lossy(&short.stderr);
    assert_eq!(short.status.code(), Some(3), "{words}");
    assert!(!words.contains("c2hvcnQ"), "{words}");
}

#[test]
fn the_key_file_is_private_and_no_part_of_a_backup() {
    let sandbox = Sandbox::new();
    sandbox.run_with_stdin(&["secrets", "set", "weather"], VALUE);
    let file = sandbox.workspace().join(".toolcrib/secret.key");
    let key = fs::read_to_string(&file).expect("made at the first start");
    let key = key.lines().last().expect("a key").to_owned();
    let copy = sandbox.folder().join("copy");
    let done = sandbox.run(&["backup", copy.to_str().expect("UTF-8")]);
    assert!(
        done.code == 0 && done.stderr.contains("secret.key"),
        "{done:?}"
    );
    for entry in fs::read_dir(&copy).expect("a folder") {
        let path = entry.expect("an entry").path();
        let bytes = fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(&key), "{}", path.display());
    }
    fs::set_permissions(&file, Permissions::from_mode(0o644)).expect("own file");
    let open = sandbox.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(open.code, 3, "{open:?}");
    assert!(
        open.stderr.contains("others may read") && open.stderr.contains("chmod 600"),
        "{open:?}"
    );
    fs::remove_file(&file).expect("own file");
    let lost = sandbox.run(&["secrets", "list"]);
    assert_eq!(lost.code, 3, "{lost:?}");
    assert!(lost.stderr.contains("there is no key file"), "{lost:?}");
    sandbox.write("elsewhere.key", &format!("{key}\n"));
    let moved = sandbox.workspace().join("elsewhere.key");
    fs::set_permissions(&moved, Permissions::from_mode(0o600)).expect("own file");
    sandbox.write("toolcrib.toml", "[secrets]\nkey_file = \"elsewhere.key\"\n");
    assert_eq!(sandbox.ok(&["secrets", "verify"]), "all 1 secrets open\n");
}

#[test]
fn a_plain_text_is_a_key_with_a_warning() {
    let sandbox = Sandbox::new().with("TOOLCRIB_SECRET_KEY", "correct horse battery");
    sandbox.run_with_stdin(&["secrets", "set", "weather"], VALUE);
    let words = sandbox.serve(&[]).last_words().join("\n");
    assert!(
        words.contains("warning: TOOLCRIB_SECRET_KEY holds a plain text"),
        "{words}"
    );
    assert!(!words.contains("correct horse"), "{words}");
    assert_eq!(sandbox.ok(&["secrets", "verify"]), "all 1 secrets open\n");
}

#[test]
fn a_key_is_added_while_the_server_runs() {
    let sandbox = Sandbox::new();
    let server = sandbox.serve(&[]);
    sandbox.run_with_stdin(&["secrets", "set", "weather"], VALUE);
    let file = sandbox.workspace().join(".toolcrib/secret.key");
    let old = fs::read_to_string(&file).expect("made at the first start");
    fs::write(&file, format!("{K2}\n{old}")).expect("own file");
    let rotated = sandbox.ok(&["secrets", "rotate"]);
    assert_eq!(rotated, "1 secrets were put under the key 'k2'\n");
    assert_eq!(sandbox.ok(&["secrets", "verify"]), "all 1 secrets open\n");
    assert_eq!(server.terminate(), 0);
    fs::write(&file, format!("{K2}\n")).expect("own file");
    assert_eq!(sandbox.ok(&["secrets", "verify"]), "all 1 secrets open\n");
}
