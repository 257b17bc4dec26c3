//! What is wrong with a folder is found before anything is changed, with its place; and secrets come to whom they belong.

use crate::harness::Sandbox;
use crate::moving_world::world;
use serde_json::{Value, json};

#[test]
fn what_the_server_would_refuse_midway_is_found_before() {
    let world = world(Sandbox::new());
    world.export();
    let write = |file: &str, text: &str| {
        std::fs::write(world.folder.join(file), text).expect("the folder is ours");
    };
    let read = |file: &str| std::fs::read_to_string(world.folder.join(file)).expect("a file");
    for (file, text, told) in [
        (
            "users.json",
            "{\"users\": [\n{\"name\": \"kim\", \"role\": \"autor\"}]}",
            "users.json:2:25: at $.users[0].role: expected one of viewer",
        ),
        (
            "users.json",
            "{\"users\": [{\"name\": \"kim\", \"role\": \"author\", \"email\": \"k\"}]}",
            "at $.users[0].email: expected one of name, role, found 'email'",
        ),
        (
            "limits.json",
            "{\"limits\": [], \"limit\": []}",
            "at $.limit: expected one of limits, found 'limit'",
        ),
        (
            "policy.json",
            "{\"rules\": [{\"subject\": \"everyone\", \"denied\": [\"a\"]}]}",
            "at $.rules[0].denied: expected one of subject",
        ),
        (
            "agents/clerk.json",
            "{\"name\": \"clerk\", \"model_provider\": \"openai\", \"model_name\": \"m\", \"tools\": [\"sum\", \"no_such\"]}",
            "agents/clerk.json: at $.tools: expected tools of this installation or of the folder, found 'no_such'",
        ),
    ] {
        let was = world.folder.join(file).exists().then(|| read(file));
        write(file, text);
        for more in [&["--dry-run"][..], &[]] {
            let refused = world.apply(more);
            assert_eq!(refused.code, 1, "{file}: {refused:?}");
            assert!(refused.stderr.contains(told), "{told}: {refused:?}");
        }
        match was {
            Some(was) => write(file, &was),
            None => std::fs::remove_file(world.folder.join(file)).expect("it is ours"),
        }
    }
    let done = world.apply(&[]);
    assert_eq!(done.code, 0, "{done:?}");
}

/// A tool of kim's uses a secret of kim's: elsewhere it is theirs as well, and not the admin's who applies.
#[test]
fn a_secret_comes_to_whom_it_belonged() {
    let other = Sandbox::new();
    let secrets = json!({"secrets": [{"name": "of_kim", "owner": "kim"}], "sealed": {}});
    let folder = other.folder().join("registry");
    std::fs::create_dir_all(folder.join("tools")).expect("a folder");
    let write = |file: &str, value: &Value| {
        std::fs::write(folder.join(file), value.to_string()).expect("a file");
    };
    write("toolcrib.json", &json!({"format": 1, "files": []}));
    write(
        "users.json",
        &json!({"users": [{"name": "admin", "role": "admin"}, {"name": "kim", "role": "author"}]}),
    );
    write("secrets.json", &secrets);
    let values = other.folder().join("values.json");
    let text = json!({"secrets.json": {"of_kim": "sesame"}}).to_string();
    std::fs::write(&values, text).expect("a file");
    let (folder, values) = (folder.display().to_string(), values.display().to_string());
    other.ok(&["apply", &folder, "--values", &values]);
    let all = other.json(&["secrets", "list"]);
    assert_eq!(all["items"][0]["owner"], "kim", "{all}");
}
