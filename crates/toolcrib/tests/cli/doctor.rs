//! `toolcrib doctor`: what it finds, and what it says to do.

use crate::engines::postgres_url;
use crate::harness::Sandbox;
use crate::site::Site;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;

#[test]
fn doctor_is_content_with_a_fresh_workspace_and_not_with_an_open_data_folder() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new().with("TOOLCRIB_SERVER_LISTEN", "127.0.0.1:0");
    sandbox.ok(&["call", "calculator", "{\"expression\": \"1 + 1\"}"]);
    let checks = sandbox.json(&["doctor"]);
    assert_eq!(checks["ok"], true);
    let all_ok = checks["checks"]
        .as_array()
        .unwrap()
        .iter()
        .all(|check| check["status"] == "ok");
    assert!(all_ok, "{checks}");
    let data = sandbox.workspace().join(".toolcrib");
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
    let said = sandbox.ok(&["doctor"]);
    assert!(
        said.contains("warn  data") && said.contains("chmod 700"),
        "{said}"
    );
    std::fs::write(
        data.join("registry.db"),
        "not a database, but long enough to be taken for one",
    )
    .unwrap();
    let done = sandbox.run(&["doctor"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.stdout.contains("fail  database"), "{done:?}");
}

#[test]
fn a_mistyped_builtin_is_found_before_it_is_called() {
    let sandbox = Sandbox::new().with("TOOLCRIB_SERVER_LISTEN", "127.0.0.1:0");
    let tool = |name: &str, builtin: &str| json!({"name": name, "description": "adds numbers", "kind": "builtin", "config": {"name": builtin}});
    let put = |tools: &[Value]| {
        let file = json!({"version": 1, "tools": tools});
        sandbox.write("tools.json", &file.to_string());
    };
    let right = tool("right", "calculator");
    put(std::slice::from_ref(&right));
    assert!(!sandbox.ok(&["doctor"]).contains("warn"));
    let near = tool("near", "calculatr");
    let refused = sandbox.run(&["tools", "add", &near.to_string()]);
    assert_eq!(
        refused.code, 1,
        "the database shelf does not take it: {refused:?}"
    );
    assert!(
        refused.stderr.contains("there is no builtin 'calculatr'"),
        "{refused:?}"
    );
    put(&[right, near, tool("far", "abacus")]);
    let said = sandbox.ok(&["doctor"]);
    for part in [
        "warn  tools          'near' names the builtin 'calculatr', which does not exist",
        "remedy: did you mean 'calculator'?",
        "'far' names the builtin 'abacus'",
        "remedy: set config.name to one of calculator, code_execution, doc_parser",
    ] {
        assert!(said.contains(part), "{part}\nnot in\n{said}");
    }
    assert!(!said.contains("'right'"), "{said}");
}

#[test]
fn where_there_is_no_workspace_it_says_how_to_make_one() {
    let sandbox = Sandbox::bare();
    let done = sandbox.run(&["doctor", "--workspace", "nowhere"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(
        done.stdout.contains("is no workspace") && done.stdout.contains("remedy: `toolcrib init"),
        "{done:?}"
    );
    // In a workspace that lacks one file `init` would refuse.
    let sandbox = Sandbox::new();
    std::fs::remove_file(sandbox.workspace().join("mcp.json")).unwrap();
    let done = sandbox.run(&["doctor"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(
        done.stdout.contains("remedy: Create") && !done.stdout.contains("toolcrib init"),
        "{done:?}"
    );
}

#[test]
fn a_server_that_runs_is_asked_although_the_files_are_broken() {
    let sandbox = Sandbox::new();
    let _server = sandbox.serve(&[]);
    sandbox.write("toolcrib.toml", "[server\n");
    let done = sandbox.run(&["doctor"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(
        done.stdout.contains("fail  configuration") && done.stdout.contains("sqlite answers"),
        "{done:?}"
    );
}

#[test]
fn a_postgresql_that_is_not_there_is_named_with_the_reason_and_the_remedy() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("postgres://me:hunter2@{address}/crib");
    let sandbox = Sandbox::new().with("DATABASE_URL", &url);
    let doctor = sandbox.run(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:?}");
    let reason = format!("PostgreSQL at {address} (database crib): connection refused");
    for part in [reason.as_str(), "remedy: start PostgreSQL there"] {
        assert!(doctor.stdout.contains(part), "{part} is not in {doctor:?}");
    }
    assert!(!doctor.stdout.contains("toolcrib doctor"), "{doctor:?}");
    assert!(!format!("{doctor:?}").contains("hunter2"), "{doctor:?}");
}

/// Takes one connection as PostgreSQL does and refuses the password.
fn refuse_the_password(listener: &TcpListener) {
    let (mut stream, _) = listener.accept().expect("the program connects");
    let mut start = [0; 1024];
    let read = stream.read(&mut start).expect("it begins to speak");
    assert_eq!(read, 8, "it asks for TLS first");
    stream.write_all(b"N").expect("the program listens");
    let read = stream.read(&mut start).expect("it goes on");
    assert!(read > 8, "a start-up message");
    let fields = b"SFATAL\0C28P01\0Mpassword authentication failed for user \"me\"\0\0";
    let length = u32::try_from(fields.len() + 4)
        .expect("it is short")
        .to_be_bytes();
    let refusal = [b"E", &length[..], fields].concat();
    stream.write_all(&refusal).expect("the program listens");
}

#[test]
fn a_password_that_postgresql_refuses_is_told_but_not_shown() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let url = format!("postgres://me:hunter2@{address}/crib");
    let sandbox = Sandbox::new().with("DATABASE_URL", &url);
    let answering = std::thread::spawn(move || refuse_the_password(&listener));
    let doctor = sandbox.run(&["doctor"]);
    answering.join().unwrap();
    assert_eq!(doctor.code, 1, "{doctor:?}");
    for part in [
        format!("PostgreSQL at {address} (database crib): password authentication failed"),
        "remedy: correct the user and the password in DATABASE_URL".to_owned(),
    ] {
        assert!(doctor.stdout.contains(&part), "{part} is not in {doctor:?}");
    }
    assert!(!format!("{doctor:?}").contains("hunter2"), "{doctor:?}");
}

#[test]
fn what_postgresql_refuses_is_told_with_its_remedy() {
    let Some(url) = postgres_url() else { return };
    let (server, _) = url.rsplit_once('/').unwrap();
    let sandbox = Sandbox::new().with("DATABASE_URL", &format!("{server}/no_such_database"));
    let doctor = sandbox.run(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:?}");
    for part in [
        "\"no_such_database\" does not exist",
        "remedy: make the database",
    ] {
        assert!(doctor.stdout.contains(part), "{part} is not in {doctor:?}");
    }
}

#[test]
fn an_identity_provider_that_does_not_answer_is_told() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let issuer = format!("http://{}", silent.local_addr().unwrap());
    drop(silent);
    let sandbox = Sandbox::new()
        .with("TOOLCRIB_OIDC_ISSUER", &issuer)
        .with("TOOLCRIB_OIDC_CLIENT_ID", "crib");
    let said = sandbox.ok(&["doctor"]);
    let expected = format!("nobody can log in through {issuer}: it did not answer");
    assert!(said.contains(&expected), "{said}");
}

#[test]
fn an_embeddings_endpoint_and_the_collection_are_looked_at() {
    let hanging = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/embeddings", hanging.local_addr().unwrap());
    let sandbox = Sandbox::new()
        .with("TEXT_EMBEDDING_MODEL_URL", &url)
        .with("TEXT_EMBEDDING_MODEL_NAME", "silent");
    let begun = std::time::Instant::now();
    let said = sandbox.ok(&["doctor"]);
    assert!(begun.elapsed().as_secs() < 25, "{:?}", begun.elapsed());
    for part in [
        "warn  embeddings     texts cannot become vectors: The embeddings endpoint could not be asked",
        "remedy: check TEXT_EMBEDDING_MODEL_URL",
        "there is no collection 'column_metadata'",
    ] {
        assert!(said.contains(part), "{part}\nnot in\n{said}");
    }
    let site = Site::start(|_| {
        let made = json!({"data": [{"index": 0, "embedding": [0.5, 0.5]}]});
        (200, "application/json", made.to_string().into_bytes())
    });
    let url = format!("{}/v1/embeddings", site.url);
    let sandbox = Sandbox::new()
        .with("TEXT_EMBEDDING_MODEL_URL", &url)
        .with("TEXT_EMBEDDING_MODEL_NAME", "halves");
    sandbox.write("rows.jsonl", "{\"id\": \"a\", \"document\": \"x\"}\n");
    let done = sandbox.run(&["vectors", "import", "rows.jsonl"]);
    let expected =
        "stored 1 document in column_metadata, with vectors that the embeddings endpoint made";
    assert!(done.stderr.contains(expected), "{done:?}");
    let said = sandbox.ok(&["doctor"]);
    for part in [
        "the endpoint answers with vectors of 2 dimensions",
        "the collection 'column_metadata' holds 1 documents",
    ] {
        assert!(said.contains(part), "{part}\nnot in\n{said}");
    }
    sandbox.write(
        "long.jsonl",
        "{\"id\": \"a\", \"document\": \"x\", \"embedding\": [1, 2, 3]}\n",
    );
    let done = sandbox.run(&["vectors", "import", "long.jsonl", "--collection", "long"]);
    assert!(
        done.stderr
            .contains("in long, with the vectors that came along"),
        "{done:?}"
    );
    let sandbox = sandbox.with("CHROMADB_COLLECTION_NAME", "long");
    let said = sandbox.ok(&["doctor"]);
    let expected = "its vectors have 3 dimensions, those of the embeddings endpoint 2";
    assert!(said.contains(expected), "{said}");
}
