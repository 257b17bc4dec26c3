//! A full disk: calls that cannot be logged are refused clearly, reads go on, and it mends without a restart.

use crate::engine;
use crate::harness::Running;
use crate::wire::{call, definition, until};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A small file system of its own; unmounted when dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// None where this user may not mount one.
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs"])
            .arg(folder.path());
        let done = mount.output().ok()?;
        if !done.status.success() {
            let why = String::from_utf8_lossy(&done.stderr);
            println!(
                "full disk: skipped, a tmpfs cannot be mounted here: {}",
                why.trim()
            );
            return None;
        }
        Some(SmallDisk(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Takes every byte that is left.
    fn fill(&self) -> PathBuf {
        let path = self.path().join("ballast");
        let mut ballast = File::create(&path).expect("the disk is not full yet");
        for size in [65_536, 4_096, 1] {
            while ballast.write_all(&vec![0; size]).is_ok() {}
        }
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).output();
    }
}

fn write_down(server: &Running, number: usize) -> (u16, Value) {
    let text = format!("{number} {}", "x".repeat(20_000));
    call(server, "clean_text", &json!({"arguments": {"data": text}})).expect("the server answers")
}

/// Everything that only reads.
fn reads_go_on(server: &Running, logged: &str) {
    for path in [
        "/healthz",
        "/readyz",
        "/api/v1/tools",
        "/api/v1/tools/calculator",
        "/api/v1/executions",
        &format!("/api/v1/executions/{logged}"),
        "/api/v1/keys",
    ] {
        let (status, answer) = server.request("GET", path, None);
        assert_eq!(status, 200, "{path}: {answer}");
    }
}

/// What the registry cannot take now; small writes fit for a while into what it has already.
fn refused_writes(server: &Running) -> Vec<(u16, Value)> {
    let refused = |path: &str, body: &dyn Fn(usize) -> Value| {
        let answers = (0..500).map(|number| server.request("POST", path, Some(&body(number))));
        answers
            .into_iter()
            .find(|(status, _)| *status != 201)
            .expect("the disk is full")
    };
    let tool = |number| definition(&format!("too_much_{number}"), "calculator", "database");
    let key = |number| json!({"name": format!("key {number}"), "scopes": ["read"]});
    vec![
        refused("/api/v1/tools", &tool),
        refused("/api/v1/keys", &key),
    ]
}

#[test]
fn a_full_disk_is_told_clearly_and_mends_without_a_restart() {
    let site = engine::sqlite();
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let server = site
        .sandbox
        .serve(&["--data", disk.path().to_str().unwrap()]);
    let (status, first) = write_down(&server, 0);
    assert_eq!(status, 200, "{first}");
    let logged = first["execution_id"].as_str().unwrap();
    disk.fill();

    // The log may have some room of its own left.
    let refusal = (1..200)
        .map(|number| write_down(&server, number))
        .find(|(status, _)| *status != 200);
    let (status, answer) = refusal.expect("the disk is full");
    assert_eq!(
        (status, &answer["error"]["code"]),
        (503, &json!("service_unavailable")),
        "{answer}"
    );
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("full") && message.contains("Free space"),
        "{answer}"
    );
    reads_go_on(&server, logged);
    // A log that failed gives room back when it closes its file: that is taken, too.
    let ballast = disk.fill();
    let refused = refused_writes(&server);

    fs::remove_file(ballast).unwrap();
    // Another test that starts a process at this moment may hold the deleted file open for an instant longer.
    let (after, _) = until("calls are logged again", Duration::from_secs(2), || {
        let (status, answer) = write_down(&server, 1_000);
        (status == 200).then_some(answer)
    });
    reads_go_on(&server, after["execution_id"].as_str().unwrap());
    let (status, page) = server.request("GET", "/api/v1/executions?status=started", None);
    assert_eq!(
        (status, page["items"].as_array().map(Vec::len)),
        (200, Some(0)),
        "{page}"
    );
    for (status, answer) in refused {
        assert_eq!(
            (status, &answer["error"]["code"]),
            (503, &json!("service_unavailable")),
            "{answer}"
        );
    }
    let tool = definition("after_all", "calculator", "database");
    assert_eq!(server.request("POST", "/api/v1/tools", Some(&tool)).0, 201);
    assert_eq!(server.terminate(), 0);
    println!(
        "full disk: calls and registrations refused with 503 service_unavailable, reads went on, recovered without a restart"
    );
}

#[test]
fn a_registration_refused_on_a_full_disk_leaves_no_trace() {
    let site = engine::sqlite();
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let data = disk.path().to_str().unwrap();
    let server = site.sandbox.serve(&["--data", data]);
    let path = site.sandbox.workspace().join("tools.json");
    let ballast = disk.fill();
    let mut accepted = 0;
    let (name, text, answer) = loop {
        let text = fs::read_to_string(&path).unwrap();
        let name = format!("number_{accepted}");
        let (status, answer) = server.request(
            "POST",
            "/api/v1/tools",
            Some(&definition(&name, "calculator", "file")),
        );
        if status != 201 {
            break (name, text, answer);
        }
        accepted += 1;
        assert!(accepted < 500, "the disk is full");
    };
    let on_disk = fs::read_to_string(&path).unwrap();
    fs::remove_file(ballast).unwrap();
    assert_eq!(on_disk, text, "a refused registration is in tools.json");
    assert_eq!(answer["error"]["code"], "service_unavailable", "{answer}");
    assert_eq!(
        server
            .request(
                "POST",
                "/api/v1/tools",
                Some(&definition("later", "calculator", "file"))
            )
            .0,
        201
    );
    assert_eq!(
        server
            .request("GET", &format!("/api/v1/tools/{name}"), None)
            .0,
        404
    );
    drop(server);
    let server = site.sandbox.serve(&["--data", data]);
    assert_eq!(
        server
            .request("GET", &format!("/api/v1/tools/{name}"), None)
            .0,
        404
    );
    assert_eq!(server.request("GET", "/api/v1/tools/later", None).0, 200);
    println!(
        "full disk and tools.json: {accepted} accepted until it was full, the refused one left no trace"
    );
}

#[test]
fn a_workspace_on_a_full_disk_keeps_its_file_and_its_calls() {
    let site = engine::sqlite();
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let workspace = disk.path().join("workspace");
    let (workspace, data) = (
        workspace.to_str().unwrap(),
        site.sandbox.folder().join("data"),
    );
    site.sandbox.ok(&["init", workspace]);
    let server = site
        .sandbox
        .serve(&["--workspace", workspace, "--data", data.to_str().unwrap()]);
    let path = Path::new(workspace).join("tools.json");
    let before = fs::read_to_string(&path).unwrap();
    let ballast = disk.fill();
    let tool = definition("too_much", "calculator", "file");
    let (status, answer) = server.request("POST", "/api/v1/tools", Some(&tool));
    assert_eq!(
        (status, &answer["error"]["code"]),
        (503, &json!("service_unavailable")),
        "{answer}"
    );
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(
        message.starts_with("tools.json cannot be written: No space left"),
        "{answer}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    assert_eq!(server.request("GET", "/api/v1/tools/too_much", None).0, 404);
    assert_eq!(write_down(&server, 0).0, 200, "calls go on");
    fs::remove_file(ballast).unwrap();
    assert_eq!(server.request("POST", "/api/v1/tools", Some(&tool)).0, 201);
    assert!(fs::read_to_string(&path).unwrap().contains("too_much"));
    println!(
        "workspace on a full disk: the registration refused with 503 and its reason, tools.json unharmed, calls went on, recovered without a restart"
    );
}
