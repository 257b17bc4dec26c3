//! Changes while the server runs: each is visible to the next call, and a file that is not valid changes nothing.

use crate::engine;
use crate::harness::{Running, Sandbox};
use crate::wire::{call, definition, until};
use serde_json::{Value, json};
use std::time::Duration;

const MALFORMED: &[(&str, &str)] = &[
    ("empty", ""),
    ("cut off", "{\"version\": 1, \"tools\": [{\"name\": \"hal"),
    ("not JSON", "tools: []"),
    ("trailing comma", "{\"version\": 1, \"tools\": [],}"),
    ("a list", "[]"),
    ("no version", "{\"tools\": []}"),
    ("unknown version", "{\"version\": 99, \"tools\": []}"),
    ("no tools", "{\"version\": 1}"),
    ("tools is no list", "{\"version\": 1, \"tools\": {}}"),
    (
        "unknown member",
        "{\"version\": 1, \"tools\": [], \"toolz\": []}",
    ),
    (
        "a tool that is no object",
        "{\"version\": 1, \"tools\": [7]}",
    ),
    (
        "a tool without a name",
        "{\"version\": 1, \"tools\": [{\"description\": \"d\", \"kind\": \"builtin\", \"config\": {\"name\": \"calculator\"}, \"input_schema\": {}}]}",
    ),
    (
        "an unknown kind",
        "{\"version\": 1, \"tools\": [{\"name\": \"a\", \"description\": \"d\", \"kind\": \"cobol\", \"config\": {}, \"input_schema\": {}}]}",
    ),
    (
        "a wrong schema",
        "{\"version\": 1, \"tools\": [{\"name\": \"a\", \"description\": \"d\", \"kind\": \"builtin\", \"config\": {\"name\": \"calculator\"}, \"input_schema\": {\"type\": \"objekt\"}}]}",
    ),
    (
        "a secret in the open",
        "{\"version\": 1, \"tools\": [{\"name\": \"a\", \"description\": \"d\", \"kind\": \"builtin\", \"config\": {\"name\": \"calculator\"}, \"input_schema\": {}, \"auth_config\": {\"type\": \"api_key\", \"key\": \"hunter2\"}}]}",
    ),
    ("not UTF-8", "\u{1}LATIN1"),
];

fn readiness(server: &Running) -> Value {
    server.request("GET", "/readyz", None).1
}

fn works(server: &Running) {
    let body = json!({"arguments": {"expression": "2 km to m"}});
    let (status, answer) = call(server, "convert_units", &body).unwrap();
    assert_eq!(
        (status, &answer["data"]),
        (200, &json!("2000 m")),
        "the old catalogue serves on: {answer}"
    );
}

fn bytes_of(text: &str) -> Vec<u8> {
    if text == "\u{1}LATIN1" {
        b"{\"version\": 1, \"tools\": [\"\xe9\"]}".to_vec()
    } else {
        text.as_bytes().to_vec()
    }
}

#[test]
fn a_malformed_file_keeps_the_old_catalogue_and_shows_its_problem() {
    let site = engine::sqlite();
    let server = site.sandbox.serve(&[]);
    let path = site.sandbox.workspace().join("tools.json");
    let good = std::fs::read(&path).unwrap();
    for (what, text) in MALFORMED {
        std::fs::write(&path, bytes_of(text)).unwrap();
        let (seen, _) = until(what, Duration::from_secs(2), || {
            Some(readiness(&server)).filter(|seen| seen["status"] == "degraded")
        });
        let problem = &seen["files"]["tools_problems"][0];
        assert_eq!(problem["file"], "tools.json", "{what}: {seen}");
        assert!(problem["line"].as_u64() >= Some(1), "{what}: {seen}");
        for member in ["expected", "found", "remedy"] {
            assert!(
                problem[member]
                    .as_str()
                    .is_some_and(|text| !text.is_empty()),
                "{what}: {seen}"
            );
        }
        assert!(
            !seen.to_string().contains("hunter2"),
            "{what}: a secret is shown"
        );
        works(&server);
        refused_and_untouched(&server, &path, &bytes_of(text));
        std::fs::write(&path, &good).unwrap();
        until("the mended file is taken", Duration::from_secs(2), || {
            Some(()).filter(|()| readiness(&server)["status"] == "ready")
        });
        works(&server);
    }
    drop(server);
    hides_from_strangers(&site.sandbox, &path);
    println!(
        "malformed files while running: {} cases, the old catalogue served through all of them, each problem in /readyz",
        MALFORMED.len()
    );
}

/// A file that somebody is mending is not overwritten.
fn refused_and_untouched(server: &Running, path: &std::path::Path, bytes: &[u8]) {
    let tool = definition("meanwhile", "calculator", "file");
    let (status, answer) = server.request("POST", "/api/v1/tools", Some(&tool));
    assert_eq!(
        (status, &answer["error"]["code"]),
        (409, &json!("conflict")),
        "{answer}"
    );
    assert_eq!(
        std::fs::read(path).unwrap(),
        bytes,
        "the file was overwritten"
    );
}

fn hides_from_strangers(sandbox: &Sandbox, path: &std::path::Path) {
    let mut stranger = sandbox.serve(&[]);
    stranger.key = "wrong".to_owned();
    std::fs::write(path, "{").unwrap();
    until("it is noticed", Duration::from_secs(2), || {
        Some(()).filter(|()| readiness(&stranger)["status"] == "degraded")
    });
    assert_eq!(readiness(&stranger), json!({"status": "degraded"}));
}

/// As configuration is often deployed: `tools.json` is a link, and so is the folder it leads through.
#[test]
fn links_are_followed_wherever_they_point() {
    let site = engine::sqlite();
    let path = site.sandbox.workspace().join("tools.json");
    let place = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let with = |builtin: &str| text.replace("\"calculator\"", &format!("\"{builtin}\""));
    for (folder, builtin) in [("one", "calculator"), ("two", "serialize_for_cell")] {
        std::fs::create_dir(place.path().join(folder)).unwrap();
        std::fs::write(place.path().join(folder).join("t.json"), with(builtin)).unwrap();
    }
    let current = place.path().join("current");
    std::os::unix::fs::symlink("one", &current).unwrap();
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(current.join("t.json"), &path).unwrap();
    let server = site.sandbox.serve(&[]);
    works(&server);
    let version = || {
        let (_, tool) = server.request("GET", "/api/v1/tools/convert_units", None);
        tool["version"].as_i64().unwrap()
    };
    let builtin = || {
        let (_, tool) = server.request("GET", "/api/v1/tools/convert_units", None);
        tool["config"]["name"].clone()
    };
    let next = place.path().join("next");
    std::os::unix::fs::symlink("two", &next).unwrap();
    std::fs::rename(&next, &current).unwrap();
    until("the link's new aim counts", Duration::from_secs(2), || {
        Some(()).filter(|()| builtin() == "serialize_for_cell")
    });
    std::fs::write(place.path().join("two/t.json"), with("calculator")).unwrap();
    until(
        "an edit behind the link counts",
        Duration::from_secs(2),
        || Some(()).filter(|()| builtin() == "calculator"),
    );
    let before = version();
    let patch = json!({"description": "changed over REST"});
    let (status, _) = server.request("PATCH", "/api/v1/tools/convert_units", Some(&patch));
    assert_eq!((status, version()), (200, before + 1));
    assert!(path.is_symlink() && current.is_symlink(), "the links stay");
    let written = std::fs::read_to_string(place.path().join("two/t.json")).unwrap();
    assert!(written.contains("changed over REST"), "{written}");
}

/// A whole folder is swapped for another, or made anew: nothing tells of the one that takes its place.
#[test]
fn a_folder_behind_a_link_may_be_swapped() {
    let site = engine::sqlite();
    let path = site.sandbox.workspace().join("tools.json");
    let place = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let folder = place.path().join("conf");
    let fill = |at: &std::path::Path, builtin: &str| {
        std::fs::create_dir(at).unwrap();
        let text = text.replace("\"calculator\"", &format!("\"{builtin}\""));
        std::fs::write(at.join("tools.json"), text).unwrap();
    };
    fill(&folder, "calculator");
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(folder.join("tools.json"), &path).unwrap();
    let server = site.sandbox.serve(&[]);
    let in_force = |builtin: &str| {
        until(builtin, Duration::from_secs(5), || {
            let (_, tool) = server.request("GET", "/api/v1/tools/convert_units", None);
            Some(()).filter(|()| tool["config"]["name"] == builtin)
        });
    };
    in_force("calculator");
    let next = place.path().join("next");
    fill(&next, "serialize_for_cell");
    std::fs::rename(&folder, place.path().join("old")).unwrap();
    std::fs::rename(&next, &folder).unwrap();
    in_force("serialize_for_cell");
    std::fs::write(folder.join("tools.json"), &text).unwrap();
    in_force("calculator");
    std::fs::remove_dir_all(&folder).unwrap();
    fill(&folder, "serialize_for_cell");
    in_force("serialize_for_cell");
    assert_eq!(readiness(&server)["status"], "ready");
}

/// Whoever saves the file and then speaks to the API need not know how quickly an edit is noticed.
#[test]
fn a_tool_just_written_into_the_file_can_be_changed_at_once() {
    let site = engine::sqlite();
    let server = site.sandbox.serve(&[]);
    let path = site.sandbox.workspace().join("tools.json");
    for (number, method) in ["PATCH", "PUT", "DELETE"].into_iter().enumerate() {
        let name = format!("fresh_{number}");
        let mut file: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let mut tool = definition(&name, "calculator", "file");
        tool.as_object_mut().unwrap().remove("shelf");
        file["tools"].as_array_mut().unwrap().push(tool.clone());
        std::fs::write(&path, file.to_string()).unwrap();
        let body = (method != "DELETE").then_some(&tool);
        let (status, answer) = server.request(method, &format!("/api/v1/tools/{name}"), body);
        assert!(matches!(status, 200 | 204), "{method}: {answer}");
    }
}

#[test]
fn every_change_is_visible_to_the_next_call() {
    let site = engine::sqlite();
    let server = site.sandbox.serve(&[]);
    let cleaned = |tool: &str| {
        let body = json!({"arguments": {"data": "a\u{a0}b", "expression": "1 + 1"}});
        let (status, answer) = call(&server, tool, &body).unwrap();
        (status, answer["data"].clone())
    };
    // Registered over REST.
    let tool = definition("changing", "calculator", "file");
    assert_eq!(server.request("POST", "/api/v1/tools", Some(&tool)).0, 201);
    assert_eq!(cleaned("changing"), (200, json!(2)));
    // Edited on disk, ten times to and fro.
    let path = site.sandbox.workspace().join("tools.json");
    let mut slowest = Duration::ZERO;
    for number in 0..10 {
        let edits = [
            ("serialize_for_cell", json!("a b")),
            ("calculator", json!(2)),
        ];
        let (builtin, answer) = &edits[number % 2];
        let mut file: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let tools = file["tools"].as_array_mut().unwrap();
        let tool = tools
            .iter_mut()
            .find(|tool| tool["name"] == "changing")
            .unwrap();
        tool["config"]["name"] = json!(builtin);
        std::fs::write(&path, file.to_string()).unwrap();
        let ((), took) = until("the edit is in force", Duration::from_secs(2), || {
            Some(()).filter(|()| cleaned("changing") == (200, answer.clone()))
        });
        slowest = slowest.max(took);
    }
    // Removed by command, and brought back.
    site.sandbox.ok(&["tools", "remove", "changing"]);
    assert_eq!(cleaned("changing").0, 404, "the very next call");
    site.sandbox.ok(&["tools", "restore", "changing"]);
    assert_eq!(cleaned("changing"), (200, json!(2)));
    // Rolled back to the first edit.
    let body = json!({"version": 2});
    let (status, rolled) = server.request("POST", "/api/v1/tools/changing/rollback", Some(&body));
    assert_eq!((status, &rolled["version"]), (200, &json!(14)), "{rolled}");
    assert_eq!(cleaned("changing"), (200, json!("a b")));
    let (_, history) = server.request("GET", "/api/v1/tools/changing/versions", None);
    let items = history["items"].as_array().unwrap();
    let told: Vec<(&str, &str)> = items
        .iter()
        .map(|version| {
            (
                version["action"].as_str().unwrap(),
                version["changed_by"].as_str().unwrap(),
            )
        })
        .collect();
    let mut expected = vec![
        ("rollback", "admin"),
        ("restore", "admin"),
        ("delete", "admin"),
    ];
    expected.extend([("update", "file")].repeat(10));
    expected.push(("create", "admin"));
    assert_eq!(told, expected);
    println!(
        "hot reload: 14 changes over REST, on disk and by command, each seen by the next call; edits on disk after {} ms at most",
        slowest.as_millis()
    );
}
