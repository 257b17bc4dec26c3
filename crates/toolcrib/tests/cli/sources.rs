//! `toolcrib sources`: kept by commands alone, described by toolcrib.toml and by variables, tested, told of by doctor.

use crate::engines::postgres_url;
use crate::harness::Sandbox;
use serde_json::{Value, json};
use sqlx::Connection;

/// A SQLite file in the workspace.
fn file(sandbox: &Sandbox, name: &str) {
    let path = sandbox.workspace().join(name);
    let url = format!("sqlite://{}?mode=rwc", path.display());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime can be made");
    runtime.block_on(async {
        let mut connection = sqlx::SqliteConnection::connect(&url)
            .await
            .expect("a file can be made");
        sqlx::raw_sql("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
            .execute(&mut connection)
            .await
            .expect("a table can be made");
        connection.close().await.expect("it closes");
    });
}

#[test]
fn a_source_is_kept_by_commands_alone() {
    let sandbox = Sandbox::new();
    let shop = r#"{"name": "shop", "kind": "postgres", "url": "postgres://u:a-long-secret-value@127.0.0.1:9/shop"}"#;
    let made = sandbox.json(&["sources", "add", shop]);
    assert_eq!(
        made["password"],
        json!({"set": true, "last4": "alue"}),
        "{made}"
    );
    let shown: Value = serde_json::from_str(&sandbox.ok(&["sources", "show", "shop"])).unwrap();
    sandbox.write("shop.json", &shown.to_string());
    let replaced = sandbox.json(&["sources", "update", "shop", "@shop.json"]);
    assert_eq!(
        (&replaced["version"], &replaced["password"]),
        (&json!(2), &made["password"])
    );
    let loud = sandbox.run(&[
        "sources",
        "update",
        "shop",
        r#"{"allow_superuser": true}"#,
        "--patch",
    ]);
    assert!(
        loud.code == 0 && loud.stderr.contains("allow_superuser is set"),
        "{loud:?}"
    );
    let listed = sandbox.run(&["sources", "list"]);
    assert!(
        listed.stdout.contains("postgres://u@127.0.0.1:9/shop"),
        "{listed:?}"
    );
    assert!(
        listed.stderr.contains("shop: allow_superuser is set"),
        "{listed:?}"
    );
    let script = sandbox.ok(&[
        "sources",
        "role-script",
        "shop",
        "--role",
        "r",
        "--schema",
        "a",
        "--schema",
        "b",
    ]);
    assert!(
        script.contains("CREATE ROLE \"r\"") && script.contains("ON SCHEMA \"b\""),
        "{script}"
    );
    let tested = sandbox.run(&["sources", "test", "shop"]);
    assert!(
        tested.code == 1 && tested.stderr.contains("source 'shop' does not work"),
        "{tested:?}"
    );
    let tested = sandbox.run(&["sources", "test", "shop", "--json"]);
    let found: Value = serde_json::from_str(&tested.stdout).unwrap();
    assert_eq!(
        (tested.code, &found["works"]),
        (1, &json!(false)),
        "{tested:?}"
    );
    let doctor = sandbox.run(&["doctor"]);
    assert!(
        doctor.stdout.contains("source 'shop' does not work"),
        "{doctor:?}"
    );
    let gone = sandbox.run(&["sources", "remove", "shop"]);
    assert_eq!(
        (gone.code, gone.stderr.as_str()),
        (0, "removed shop\n"),
        "{gone:?}"
    );
    assert_eq!(sandbox.run(&["sources", "show", "shop"]).code, 1);
}

#[test]
fn a_source_says_what_is_known_of_it() {
    let sandbox = Sandbox::new();
    let shop = r#"{"name": "shop", "kind": "postgres", "url": "postgres://u:p@127.0.0.1:9/shop"}"#;
    let added = sandbox.run(&["sources", "add", shop]);
    assert!(added.stderr.contains("now untried"), "{added:?}");
    assert!(
        added.stderr.contains("`toolcrib sources test shop`"),
        "{added:?}"
    );
    let shown = sandbox.json(&["sources", "show", "shop"]);
    assert_eq!(shown["state"], "untried", "{shown}");
    assert_eq!(shown["cause"], Value::Null, "{shown}");

    file(&sandbox, "own.db");
    let own = r#"{"name": "own", "kind": "sqlite", "path": "own.db", "allow_write": true}"#;
    let added = sandbox.run(&["sources", "add", own]);
    assert!(added.stderr.contains("now ready"), "{added:?}");
    let tested = sandbox.ok(&["sources", "test", "own"]);
    assert!(!tested.contains("writing is refused"), "{tested}");
    for part in [
        "queries that read cannot write: ",
        "tools with \"write\": true can",
    ] {
        assert!(tested.contains(part), "{tested}");
    }
    let shown = sandbox.ok(&["sources", "schema", "own", "--table", "users"]);
    assert!(shown.starts_with("table users\n"), "{shown}");
    let search = ["sources", "schema", "own", "--search", "zzz"];
    let none = sandbox.run(&search);
    assert_eq!((none.code, none.stdout.as_str()), (0, ""), "{none:?}");
    assert!(
        none.stderr.starts_with("source 'own' shows no table whose"),
        "{none:?}"
    );
    let none = sandbox.run(&[&search[..], &["--json"]].concat());
    assert_eq!((&*none.stdout, &*none.stderr), ("{\"items\":[]}\n", ""));
    let none = sandbox.run(&["sources", "schema", "own", "--table", "nope"]);
    assert_eq!((none.code, none.stdout.as_str()), (1, ""), "{none:?}");
    assert!(
        none.stderr.contains("source 'own' shows no table 'nope'"),
        "{none:?}"
    );
}

/// Also where the word that writes stands behind a WITH.
#[test]
fn a_query_that_writes_is_told_of_tools_that_may() {
    let sandbox = Sandbox::new();
    for query in [
        "DELETE FROM users",
        "WITH gone AS (SELECT 1) DELETE FROM users",
        "WITH a AS (SELECT 1), b AS (SELECT 2) UPDATE users SET name = 'x'",
        "WITH a AS (SELECT 1) INSERT INTO users SELECT * FROM a",
    ] {
        let tool = json!({"name": "t", "description": "d", "kind": "sql", "config": {"source": "demo", "query": query}});
        let done = sandbox.run(&["tools", "add", &tool.to_string()]);
        assert_eq!(done.code, 1, "{query}: {done:?}");
        assert!(done.stderr.contains("\"write\": true"), "{query}: {done:?}");
    }
}

#[test]
fn a_fault_is_named_where_it_stands() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "bad.json",
        "{\n  \"name\": \"s\",\n  \"kind\": \"postgres\",\n  \"url\": \"nowhere\"\n}",
    );
    let done = sandbox.run(&["sources", "add", "bad.json"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(
        done.stderr.starts_with("error: bad.json:4:10: at $.url"),
        "{done:?}"
    );
    sandbox.write(
        "toolcrib.toml",
        "[sources.s]\nkind = \"sqlite\"\npaht = \"x.db\"\n",
    );
    let done = sandbox.run(&["sources", "list"]);
    assert_eq!(done.code, 3, "{done:?}");
    assert!(
        done.stderr.contains("toolcrib.toml:3: sources.s.paht"),
        "{done:?}"
    );
}

#[test]
fn the_configuration_describes_sources_too() {
    let sandbox = Sandbox::new().with("POSTGRESQL_DB_USER", "reader");
    sandbox.write(
        "toolcrib.toml",
        "[sources.library]\nkind = \"sqlite\"\npath = \"library.db\"\n",
    );
    file(&sandbox, "library.db");
    let listed = sandbox.json(&["sources", "list"]);
    let of = |name: &str| {
        let items = listed["items"].as_array().unwrap();
        items.iter().find(|it| it["name"] == name).unwrap().clone()
    };
    assert_eq!(of("library")["origin"], "file");
    assert_eq!(of("library")["state"], "ready");
    let bga = of("bga");
    assert_eq!(
        (&bga["origin"], &bga["state"]),
        (&json!("environment"), &json!("unusable"))
    );
    assert!(
        bga["cause"]
            .as_str()
            .unwrap()
            .contains("POSTGRESQL_DB_NAME and POSTGRESQL_DB_HOST"),
        "{bga}"
    );
    let schema = sandbox.ok(&["sources", "schema", "library"]);
    assert_eq!(
        schema,
        "table users\n  id INTEGER, primary key\n  name TEXT, not null\n"
    );
    let tested = sandbox.ok(&["sources", "test", "library"]);
    assert!(tested.starts_with("library works: SQLite"), "{tested}");
    let shown = sandbox.ok(&["config", "show"]);
    assert!(
        shown.contains("sources.library") && shown.contains("sources.bga"),
        "{shown}"
    );
    let doctor = sandbox.ok(&["doctor"]);
    assert!(
        doctor.contains("source 'bga' does not work: POSTGRESQL_DB_NAME"),
        "{doctor}"
    );
    assert!(doctor.contains("1 of 2 work: library"), "{doctor}");
}

/// One for all calls, and one for whatever else is asked of it.
#[test]
fn a_source_that_cannot_be_used_has_one_code() {
    let sandbox = Sandbox::new().with("POSTGRESQL_DB_USER", "reader");
    let tool = r#"{"name": "who", "description": "d", "kind": "sql", "config": {"source": "bga", "query": "SELECT 1"}}"#;
    sandbox.ok(&["tools", "add", tool]);
    let query = r#"{"generated_sql": "SELECT 1"}"#;
    for (arguments, code) in [
        (&["call", "who"][..], "not_configured"),
        (&["call", "query_bga_database", query], "not_configured"),
        (&["tools", "explain", "who"], "conflict"),
        (&["sources", "schema", "bga"], "conflict"),
        (&["vectors", "from-schema", "bga"], "conflict"),
    ] {
        let done = sandbox.run(&[arguments, &["--json"]].concat());
        let told: Value = serde_json::from_str(&done.stdout).expect("--json prints JSON");
        assert_eq!(told["error"]["code"], code, "{arguments:?}: {done:?}");
        assert!(
            done.stderr.contains("POSTGRESQL_DB_NAME"),
            "{arguments:?}: {done:?}"
        );
    }
}

#[test]
fn a_source_that_waits_for_a_restart_is_told() {
    let sandbox = Sandbox::new();
    let server = sandbox.serve(&[]);
    sandbox.write(
        "toolcrib.toml",
        "[sources.library]\nkind = \"sqlite\"\npath = \"library.db\"\n",
    );
    file(&sandbox, "library.db");
    let expected = "does not know source 'library' of toolcrib.toml yet";
    let listed = sandbox.run(&["sources", "list"]);
    assert_eq!(listed.code, 0, "{listed:?}");
    assert!(listed.stderr.contains(expected), "{listed:?}");
    let tested = sandbox.run(&["sources", "test", "library"]);
    assert_eq!(tested.code, 1, "{tested:?}");
    assert!(
        tested.stderr.contains(expected) && tested.stderr.contains("restart it"),
        "{tested:?}"
    );
    drop(server);
    let tested = sandbox.ok(&["sources", "test", "library"]);
    assert!(tested.starts_with("library works"), "{tested}");
    assert!(!sandbox.run(&["sources", "list"]).stderr.contains(expected));
}

#[test]
fn a_server_says_loudly_that_a_superuser_is_allowed() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "toolcrib.toml",
        "[sources.shop]\nkind = \"postgres\"\nurl = \"postgres://u@127.0.0.1:9/shop\"\nallow_superuser = true\n",
    );
    let server = sandbox.serve(&[]);
    let line = server.said("allow_superuser is set");
    assert!(line.contains("WARN") && line.contains("shop"), "{line}");
}

#[test]
fn a_postgres_of_the_environment_is_tested() {
    let Some(url) = postgres_url() else { return };
    let parts = catalog::source::UrlParts::of(&url).expect("it is an address");
    let (host, port) = parts.hosts.rsplit_once(':').expect("it has a port");
    let mut sandbox = Sandbox::new();
    let password = parts.password.clone().unwrap_or_default();
    for (name, value) in [
        ("USER", parts.user.as_deref().unwrap_or_default()),
        ("PASS", password.as_str()),
        ("NAME", "postgres"),
        ("HOST", host),
        ("PORT", port),
    ] {
        sandbox = sandbox.with(&format!("POSTGRESQL_DB_{name}"), value);
    }
    let done = sandbox.run(&["sources", "test", "bga"]);
    assert!(
        done.code == 1 && done.stderr.contains("superuser"),
        "{done:?}"
    );
}
