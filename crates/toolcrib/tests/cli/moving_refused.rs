//! Applying a folder where something stands against it: files of others, faults, changes of somebody else, a failure midway.

use crate::harness::{ADMIN_KEY, Sandbox};
use crate::moving_world::{between, files, versions, world};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn what_is_not_ours_is_not_touched_and_pruning_is_asked_for() {
    let world = world(Sandbox::new());
    std::fs::create_dir_all(world.folder.join("tools")).unwrap();
    std::fs::write(world.folder.join("tools/sum.json"), "theirs").unwrap();
    std::fs::write(world.folder.join("README.md"), "theirs").unwrap();
    let refused = world.sandbox.run(&["export", "registry", world.folder()]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused
            .stderr
            .contains("tools/sum.json is there and was not written by an export"),
        "{refused:?}"
    );
    assert_eq!(files(&world.folder).len(), 2, "nothing was written");
    let no_list = world.apply(&[]);
    assert!(
        no_list.stderr.contains("toolcrib.json is not there"),
        "{no_list:?}"
    );
    std::fs::remove_file(world.folder.join("tools/sum.json")).unwrap();
    world.export();

    world.sandbox.ok(&["tools", "remove", "users"]);
    std::fs::write(world.folder.join("tools/theirs.json"), "{}").unwrap();
    let told = world.sandbox.run(&["export", "registry", world.folder()]);
    assert!(
        told.stderr
            .contains("tools/theirs.json is not of an export"),
        "{told:?}"
    );
    let left = files(&world.folder);
    assert!(!left.contains_key("tools/users.json"), "ours, and gone");
    assert_eq!(
        (
            left["tools/theirs.json"].as_str(),
            left["README.md"].as_str()
        ),
        ("{}", "theirs")
    );
    std::fs::remove_file(world.folder.join("tools/theirs.json")).unwrap();

    for file in [
        "tools/sum.json",
        "toolsets/kit.json",
        "agents/비서%20%2F%20one.json",
        "sources/file.json",
    ] {
        std::fs::remove_file(world.folder.join(file)).unwrap();
    }
    world.edit("policy.json", "비서 / one", "비서 / two");
    let wrong = world.apply(&[]);
    assert!(
        wrong.stderr.contains("policy.json: ") && wrong.stderr.contains("비서 / two"),
        "{wrong:?}"
    );
    std::fs::write(world.folder.join("policy.json"), "{\"rules\": []}").unwrap();
    let kept = world.apply(&["--dry-run"]);
    assert!(kept.stderr.contains("left as they are (--prune removes them): agents/비서 / one, toolsets/kit, tools/sum, sources/file"), "{kept:?}");
    std::fs::write(world.folder.join("limits.json"), "{\"limits\": []}").unwrap();
    let pruned = world.apply(&["--prune"]);
    assert_eq!(pruned.code, 0, "{pruned:?}");
    for line in [
        "- limits/TOOL calculator",
        "- agents/비서 / one",
        "- toolsets/kit",
        "- tools/sum",
        "- sources/file",
    ] {
        assert!(pruned.stdout.contains(line), "{line}: {pruned:?}");
    }
    assert_eq!(world.apply(&["--prune"]).stderr.trim(), "nothing to change");
    assert_eq!(world.sandbox.run(&["tools", "show", "sum"]).code, 1);
}

#[test]
fn a_folder_is_checked_as_a_whole_before_anything_is_done() {
    let world = world(Sandbox::new());
    world.export();
    let put = |file: &str, text: &str| std::fs::write(world.folder.join(file), text).unwrap();
    put(
        "tools/one.json",
        "{\"name\": \"one\", \"kind\": \"http\",\n \"config\": {\"method\": \"GETT\"}}",
    );
    put(
        "tools/two.json",
        "{\"name\": \"sum\", \"description\": \"d\", \"kind\": \"expression\", \"config\": {\"expression\": \"1\"}}",
    );
    put("toolsets/three.json", "{\"name\": \"three\", \"tols\": []}");
    put("agents/four.json", "{");
    put("users.json", "{\"users\": [{\"name\": \"kim\"}]}");
    put(
        "servers/five.json",
        "{\"name\": \"five\", \"url\": \"https://a.example/mcp\", \"headers\": {\"A\": \"open\"}}",
    );
    let before = versions(&world.server);
    let refused = world.apply(&[]);
    for told in [
        "tools/one.json:1:",
        "\"description\"",
        "config.method",
        "config.base_url",
        "tools/two.json: expected another name",
        "toolsets/three.json:1:",
        "tols",
        "agents/four.json:",
        "users.json: expected name and role",
        "servers/five.json:1:",
        "nothing was changed",
    ] {
        assert!(refused.stderr.contains(told), "{told}: {}", refused.stderr);
    }
    assert_eq!(refused.code, 1);
    assert_eq!(versions(&world.server), before);
    // What a person leaves out counts as what it is by default.
    for file in [
        "tools/one.json",
        "tools/two.json",
        "toolsets/three.json",
        "agents/four.json",
        "servers/five.json",
    ] {
        std::fs::remove_file(world.folder.join(file)).unwrap();
    }
    put(
        "users.json",
        "{\"users\": [{\"name\": \"lee\", \"role\": \"viewer\"}]}",
    );
    put(
        "tools/one.json",
        "{\"name\": \"one\", \"description\": \"d\", \"kind\": \"sql\", \"config\": {\"source\": \"file\", \"query\": \"SELECT 1\"}, \"owner\": \"lee\"}",
    );
    let owned = world.apply(&[]);
    assert_eq!(owned.code, 1, "a viewer owns no tools: {owned:?}");
    world.edit("tools/one.json", "\"lee\"", "\"admin\"");
    assert_eq!(world.apply(&[]).code, 0);
    assert!(world.apply(&[]).stderr.contains("nothing to change"));
    world.edit("tools/one.json", "\"admin\"", "\"kim\"");
    let handed = world.apply(&[]);
    assert!(
        handed
            .stdout
            .contains("~ tools/one\n    owner: \"admin\" → \"kim\""),
        "{handed:?}"
    );
    let (_, tool) = world.server.request("GET", "/api/v1/tools/one", None);
    assert_eq!(tool["owner"], "kim", "{tool}");
    world.edit("tools/one.json", "\"kim\"", "\"nobody-here\"");
    let nobody = world.apply(&[]);
    assert!(
        nobody
            .stderr
            .contains("expected a user of this installation, found 'nobody-here'"),
        "{nobody:?}"
    );
}

#[test]
fn somebodys_change_in_between_is_told_and_not_overwritten() {
    let world = world(Sandbox::new());
    world.export();
    world.edit("toolsets/kit.json", "Add.", "Add with care.");
    world.edit("tools/sum.json", "Adds.", "Adds two numbers.");
    let (address, has_changed) = (
        world.server.address.clone(),
        Arc::new(AtomicBool::new(false)),
    );
    let url = between(&world.server, move |request| {
        let is_put = request.starts_with("PUT /api/v1/toolsets/kit ");
        if is_put && !has_changed.swap(true, Ordering::SeqCst) {
            let body = "{\"description\": \"of somebody else\"}";
            let mut other = TcpStream::connect(&address).expect("the server listens");
            let text = format!(
                "PATCH /api/v1/toolsets/kit HTTP/1.1\r\nHost: {address}\r\nX-API-Key: {ADMIN_KEY}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            other.write_all(text.as_bytes()).expect("the server reads");
            let mut answer = String::new();
            let _ = other.read_to_string(&mut answer);
            assert!(answer.contains(" 200 "), "{answer}");
        }
        None
    });
    let told = world.apply(&["--url", &url, "--key", ADMIN_KEY]);
    assert_eq!(told.code, 1, "{told:?}");
    for part in [
        "error: toolsets/kit: conflict:",
        "hint: applied: tools/sum",
        "hint: not applied: toolsets/kit",
    ] {
        assert!(told.stderr.contains(part), "{part}: {told:?}");
    }
    let (_, kit) = world.server.request("GET", "/api/v1/toolsets/kit", None);
    assert_eq!(
        (&kit["description"], &kit["instructions"]),
        (&json!("of somebody else"), &json!("Add."))
    );
    // Running again shows what somebody did, and goes on.
    let again = world.apply(&["--url", &url, "--key", ADMIN_KEY]);
    assert_eq!(again.code, 0, "{again:?}");
    assert!(
        again
            .stdout
            .contains("description: \"of somebody else\" → nothing"),
        "{again:?}"
    );
    assert!(!again.stdout.contains("tools/sum"), "{again:?}");
}

#[test]
fn after_a_failure_midway_it_goes_on() {
    let world = world(Sandbox::new());
    world.export();
    world.edit("tools/sum.json", "Adds.", "Adds two numbers.");
    world.edit("tools/told.json", "Asks", "Asks again");
    world.edit("toolsets/kit.json", "Add.", "Add with care.");
    let url = between(&world.server, |request| {
        let body = "{\"error\": {\"code\": \"service_unavailable\", \"message\": \"not now\"}}";
        let is_it = request.starts_with("PUT /api/v1/tools/told ");
        is_it.then(|| format!("HTTP/1.1 503 No\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()))
    });
    let cut = world.apply(&["--url", &url, "--key", ADMIN_KEY, "--json"]);
    assert_eq!(cut.code, 1, "{cut:?}");
    let told: Value = serde_json::from_str(&cut.stdout).unwrap();
    assert_eq!(told["applied"], json!(["tools/sum"]), "{told}");
    assert_eq!(told["failed"]["what"], "tools/told", "{told}");
    assert!(
        cut.stderr.contains("not applied: tools/told, toolsets/kit"),
        "{cut:?}"
    );
    let on = world.apply(&["--json"]);
    let told: Value = serde_json::from_str(&on.stdout).unwrap();
    assert_eq!(
        told["applied"],
        json!(["tools/told", "toolsets/kit"]),
        "{told}"
    );
}

#[test]
fn only_admins_see_the_whole_registry() {
    let world = world(Sandbox::new());
    let key = world
        .sandbox
        .json(&["keys", "create", "reader", "--scopes", "read"]);
    let url = world.server.url();
    let refused = world.sandbox.run(&[
        "export",
        "registry",
        world.folder(),
        "--url",
        &url,
        "--key",
        key["key"].as_str().unwrap(),
    ]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("only an admin"), "{refused:?}");
    assert!(!world.folder.exists());
}
