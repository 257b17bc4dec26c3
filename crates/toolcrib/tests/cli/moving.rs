//! The registry as a folder: out and in again changes nothing, elsewhere it makes the same, and no secret goes along.

use crate::engines::on_both;
use crate::harness::Sandbox;
use crate::moving_world::{MARKER, World, borrowed, files, versions, world};
use serde_json::{Value, json};

#[test]
fn out_and_in_again_changes_nothing() {
    on_both("moving_round", |sandbox| {
        let world = world(borrowed(sandbox));
        let before = versions(&world.server);
        let first = world.export();
        let again = world.apply(&[]);
        assert_eq!(again.code, 0, "{again:?}");
        assert_eq!(
            (again.stdout.as_str(), again.stderr.trim()),
            ("", "nothing to change")
        );
        assert_eq!(versions(&world.server), before);
        assert_eq!(world.export(), first);
        for file in [
            "tools/told.json",
            "tools/sum.json",
            "servers/search.json",
            "sources/shop.json",
            "toolsets/kit.json",
            "agents/비서%20%2F%20one.json",
            "policy.json",
            "limits.json",
            "users.json",
            "secrets.json",
            "toolcrib.json",
        ] {
            assert!(first.contains_key(file), "{file}: {:?}", first.keys());
        }
        assert!(!first.contains_key("toolsets/data-search.json"), "built in");
        assert!(
            !first.contains_key("tools/multiply_numbers.json"),
            "of the file shelf"
        );
        let all: String = first.values().cloned().collect();
        for changing in [
            "created_at",
            "updated_at",
            "\"version\"",
            "\"hash\"",
            "last4",
        ] {
            assert!(!all.contains(changing), "{changing}: {all}");
        }

        world.edit("tools/sum.json", "Adds.", "Adds two numbers.");
        world.edit("limits.json", "50", "51");
        let dry = world.apply(&["--dry-run"]);
        assert_eq!(dry.code, 0, "{dry:?}");
        assert!(
            dry.stdout
                .contains("~ tools/sum\n    description: \"Adds.\" → \"Adds two numbers.\"\n"),
            "{dry:?}"
        );
        assert!(
            dry.stdout
                .contains("~ limits/TOOL calculator\n    max_count: 50 → 51\n"),
            "{dry:?}"
        );
        assert_eq!(
            dry.stdout
                .lines()
                .filter(|line| !line.starts_with(' '))
                .count(),
            4,
            "{dry:?}"
        );
        assert_eq!(versions(&world.server), before, "a dry run changes nothing");
        let applied = world.apply(&[]);
        assert_eq!(
            (applied.code, applied.stdout),
            (0, dry.stdout),
            "{}",
            applied.stderr
        );
        let idle = world.apply(&["--json"]);
        let idle: Value = serde_json::from_str(&idle.stdout).unwrap();
        assert_eq!(
            (&idle["changed"], &idle["applied"]),
            (&json!([]), &json!([]))
        );
    });
}

/// More than the server tells at a time.
const MANY: usize = 55;

#[test]
fn lists_that_come_in_parts_are_read_whole() {
    on_both("moving_many", |sandbox| {
        let world = world(borrowed(sandbox));
        let made = |method: &str, path: &str, body: Value| {
            let (status, answer) = world.server.request(method, path, Some(&body));
            assert!((200..300).contains(&status), "{path}: {answer}");
        };
        for number in 0..MANY {
            let name = format!("many{number:02}");
            made(
                "POST",
                "/api/v1/users",
                json!({"name": name, "role": "viewer"}),
            );
            made(
                "POST",
                "/api/v1/keys",
                json!({"name": name, "scopes": ["read"]}),
            );
            made(
                "PUT",
                &format!("/api/v1/secrets/{name}"),
                json!({"value": MARKER}),
            );
            made(
                "PUT",
                "/api/v1/limits",
                json!({"target_type": "USER", "target_id": name, "max_count": 5}),
            );
            made(
                "POST",
                "/api/v1/sources",
                json!({"name": name, "kind": "sqlite", "path": "demo.db"}),
            );
            made(
                "POST",
                "/api/v1/servers",
                json!({"name": name, "url": "https://mcp.example.com/mcp", "disabled": true}),
            );
        }
        for list in ["users", "keys", "secrets", "limits", "sources", "servers"] {
            let shown = world.sandbox.json(&[list, "list"]);
            let items = shown["items"].as_array().expect("a list");
            let is_one = |it: &&Value| it.to_string().contains("many");
            assert_eq!(items.iter().filter(is_one).count(), MANY, "{list}");
        }
        let usage = world.sandbox.json(&["usage"]);
        assert!(usage["items"].as_array().expect("a list").len() >= MANY);
        let last = format!("many{:02}", MANY - 1);
        let exported = world.export();
        for file in ["users.json", "secrets.json", "limits.json"] {
            assert!(exported[file].contains(&last), "{file}");
        }
        let servers = world.sandbox.ok(&["export", "mcp-servers"]);
        assert!(servers.contains(&last), "{servers}");
        let again = world.apply(&[]);
        assert_eq!((again.code, again.stderr.trim()), (0, "nothing to change"));
        world.sandbox.ok(&["keys", "revoke", &last]);
    });
}

#[test]
fn what_is_sealed_stays_where_it_is_and_a_file_of_its_own_takes_it_elsewhere() {
    on_both("moving_sealed", |sandbox| {
        let world = world(borrowed(sandbox));
        world.export();
        // A change of something else keeps the sealed values.
        world.edit(
            "tools/told.json",
            "Asks the site.",
            "Asks the site for news.",
        );
        world.edit(
            "servers/search.json",
            "\"disabled\": true",
            "\"timeout_seconds\": 7, \"disabled\": true",
        );
        let applied = world.apply(&[]);
        assert_eq!(applied.code, 0, "{applied:?}");
        world.sandbox.ok(&["call", "told", "{}"]);
        let asked = world.site.requests().pop().unwrap();
        assert!(asked.contains(&format!("{MARKER}-t")), "{asked}");
        let (_, server) = world.server.request("GET", "/api/v1/servers/search", None);
        assert_eq!(
            server["headers"]["Authorization"]["last4"], "wxyz",
            "{server}"
        );
        moved(&world);
    });
}

/// Takes a folder to an installation that has none of its values.
fn moved(world: &World) {
    let folder = world.export();
    let other = Sandbox::new();
    other.write("toolcrib.toml", "[http]\nallow = [\"127.0.0.1\"]\n");
    let second = other.serve(&[]);
    let elsewhere = |more: &[&str]| other.run(&[&["apply", world.folder()], more].concat());
    let refused = elsewhere(&[]);
    assert_eq!(refused.code, 1, "{refused:?}");
    for told in [
        "tools/told.json: at $.auth_config.value: its value is sealed where the folder was exported",
        "{\"tools/told.json\": {\"auth_config.value\": \"…\"}}",
        "servers/search.json: at $.headers.Authorization:",
        "servers/search.json: at $.url:",
        "sources/shop.json: at $.password:",
        "the secret 'api_key' is not set here. Set it with `toolcrib secrets set api_key`",
        "nothing was changed",
    ] {
        assert!(refused.stderr.contains(told), "{told}: {}", refused.stderr);
    }
    assert_eq!(
        versions(&second)
            .iter()
            .filter(|(name, _)| name == "\"sum\"")
            .count(),
        0
    );
    let values = json!({
        "tools/told.json": {"auth_config.value": format!("{MARKER}-t")},
        "servers/search.json": {"headers.Authorization": format!("Bearer {MARKER}"), "url": format!("{}/mcp?api_key={MARKER}", world.site.url)},
        "sources/shop.json": {"password": MARKER},
        "secrets.json": {"api_key": format!("{MARKER}-s")},
    });
    other.write("values.json", &values.to_string());
    let dry = elsewhere(&["--values", "values.json", "--dry-run"]);
    let done = elsewhere(&["--values", "values.json"]);
    assert_eq!((dry.code, done.code), (0, 0), "{dry:?} {done:?}");
    for line in [
        "+ users/kim",
        "+ secrets/api_key",
        "+ tools/told",
        "+ agents/비서 / one",
        "~ policy",
    ] {
        assert!(done.stdout.contains(line), "{line}: {done:?}");
    }
    assert!(
        done.stderr.contains("kim has no password and no key here"),
        "{done:?}"
    );
    for said in [&refused, &dry, &done] {
        assert!(
            !format!("{said:?}").contains("marker-of-a-secret"),
            "{said:?}"
        );
    }
    assert_eq!(elsewhere(&[]).stderr.trim(), "nothing to change");
    let copy = other.folder().join("copy");
    other.ok(&["export", "registry", copy.to_str().expect("UTF-8")]);
    assert_eq!(files(&copy), folder);
    other.ok(&["call", "told", "{}"]);
    let asked = world.site.requests().pop().expect("it was asked");
    assert!(asked.contains(&format!("{MARKER}-t")), "{asked}");
}

#[test]
fn a_secret_never_leaves() {
    on_both("moving_secrets", |sandbox| {
        let world = world(borrowed(sandbox));
        let files = world.export();
        for (file, text) in &files {
            for part in [
                &MARKER[..20],
                &world.key,
                "wxyz",
                "wxyz-t",
                "$argon",
                "argon2",
            ] {
                assert!(!text.contains(part), "{file}: {text}");
            }
        }
        assert_eq!(
            serde_json::from_str::<Value>(&files["secrets.json"]).unwrap(),
            json!({"secrets": [{"name": "api_key", "owner": "admin"}], "sealed": {
                "sources/shop.json": ["password"], "servers/search.json": ["headers.Authorization", "url"],
                "tools/told.json": ["auth_config.value"]}})
        );
        // Whoever writes one into the folder is told, without repeating it.
        world.edit(
            "tools/told.json",
            "{\n      \"set\": true\n    }",
            "\"marker-of-a-secret-in-a-file\"",
        );
        world.edit(
            "sources/shop.json",
            "reader@",
            "reader:marker-of-a-secret-in-a-file@",
        );
        for more in [
            &["--dry-run"][..],
            &["--dry-run", "--json"],
            &[],
            &["--json"],
        ] {
            let refused = world.apply(more);
            assert_eq!(refused.code, 1, "{refused:?}");
            let said = format!("{refused:?}");
            assert!(!said.contains("marker-of-a-secret"), "{said}");
            assert!(
                said.contains("tools/told.json:") && said.contains("auth_config.value"),
                "{said}"
            );
            assert!(said.contains("sources/shop.json:"), "{said}");
        }
    });
}
