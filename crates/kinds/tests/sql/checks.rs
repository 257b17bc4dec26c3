//! Before a tool is stored: what its source makes of the query, and who may have it.

use crate::crib::{Crib, File, definition, named, takes};
use executor::Code;
use kinds::sources::Named;
use serde_json::{Value, json};
use sources::{Postgres, PostgresConfig, Source};

async fn crib(named: Named) -> Crib {
    Crib::on(named, json!({"query": "SELECT 1"}), json!({})).await
}

/// What checking says of a config, and what is told as missing afterwards.
async fn checked(crib: &Crib, config: Value, more: Value) -> (Result<(), String>, Option<String>) {
    let definition = definition(&config, &more);
    let checked = crib.executor.check(&definition).await;
    let checked = checked.map_err(|failure| {
        assert_eq!(failure.code, Code::InvalidInput);
        failure.message
    });
    (checked, crib.executor.missing(&definition))
}

#[tokio::test]
async fn a_query_that_cannot_work_is_refused() {
    let file = File::new();
    let crib = crib(file.named()).await;
    for (query, why) in [
        ("SELEC 1", "config.query: source 's' says: near \"SELEC\""),
        ("SELECT nane FROM people", "no such column: nane"),
        (
            "SELECT * FROM :tab",
            "`:tab` at line 1, column 15 stands where the query needs a name",
        ),
        ("DELETE FROM people", "only queries that read"),
        ("DELETE FROM people", "\"write\": true"),
        ("REINDEX", "only queries that read"),
        ("EXPLAIN SELECT 1", "toolcrib tools explain"),
        ("PRAGMA table_info(people)", "config.query: "),
    ] {
        let knows = takes(&json!({"tab": {"type": "string"}}));
        let (refused, _) = checked(&crib, json!({"query": query}), knows).await;
        let message = refused.unwrap_err();
        assert!(message.contains(why), "{query}: {message}");
        assert!(!message.contains("?1"), "{query}: {message}");
    }
    assert_eq!(file.count(), 3);
    let fine = json!({"query": "SELECT name FROM people WHERE id = :id"});
    let knows = takes(&json!({"id": {}}));
    assert_eq!(checked(&crib, fine.clone(), knows).await, (Ok(()), None));
    let (stored, missing) = checked(&crib, fine, takes(&json!({"id": {}, "nr": {}}))).await;
    assert_eq!(stored, Ok(()));
    assert!(missing.unwrap().contains("does not use nr"));
}

#[tokio::test]
async fn what_may_still_come_is_only_told() {
    let file = File::new();
    let crib = crib(file.named()).await;
    let later = json!({"query": "SELECT * FROM later"});
    let (stored, missing) = checked(&crib, later.clone(), json!({})).await;
    assert_eq!(stored, Ok(()));
    assert!(missing.unwrap().contains("no such table: later"));
    file.run("CREATE TABLE later (a)");
    assert_eq!(
        checked(&crib, later, json!({})).await,
        (Ok(()), None),
        "it has come"
    );
    let (stored, missing) = checked(
        &crib,
        json!({"source": "other", "query": "SELECT 1"}),
        json!({}),
    )
    .await;
    assert_eq!(stored, Ok(()));
    let missing = missing.unwrap();
    assert!(
        missing.contains("no source 'other' (there are s)"),
        "{missing}"
    );
    // Port 1 on this machine: nobody is there.
    let nobody = PostgresConfig::new("postgres://u:p@127.0.0.1:1/db");
    crib.sources
        .put(named(Source::Postgres(Postgres::open(nobody).unwrap())));
    let (stored, missing) = checked(&crib, json!({"query": "SELECT 1"}), json!({})).await;
    assert_eq!(stored, Ok(()));
    let missing = missing.unwrap();
    assert!(
        missing.starts_with("Source 's' does not answer"),
        "{missing}"
    );
    let (code, message) = crib.error(json!({})).await;
    assert_eq!(code, "service_unavailable", "{message}");
}

#[tokio::test]
async fn writing_is_for_sources_that_allow_it() {
    let file = File::new();
    let closed = Named {
        allow_write: false,
        ..file.named()
    };
    let write = json!({"query": "DELETE FROM people WHERE id = 1", "write": true});
    let crib = Crib::on(closed, write.clone(), json!({})).await;
    let (refused, _) = checked(&crib, write.clone(), json!({})).await;
    let message = refused.unwrap_err();
    assert!(message.starts_with("config.write: source 's'"), "{message}");
    assert_eq!(crib.error(json!({})).await.0, "forbidden");
    crib.sources.put(file.named());
    assert_eq!(checked(&crib, write, json!({})).await, (Ok(()), None));
    for (query, why) in [
        ("DELETE FROM people WHERE nr = 1", "no such column: nr"),
        ("INSERT people VALUES (1)", "near \"people\""),
    ] {
        let config = json!({"query": query, "write": true});
        let message = checked(&crib, config, json!({})).await.0.unwrap_err();
        assert!(message.contains(why), "{query}: {message}");
    }
    let later = json!({"query": "DELETE FROM later", "write": true});
    let (stored, missing) = checked(&crib, later, json!({})).await;
    assert_eq!(stored, Ok(()));
    assert!(missing.unwrap().contains("no such table: later"));
    assert_eq!(file.count(), 3, "nothing was run");
    assert_eq!(crib.data(json!({})).await, json!({"affected_rows": 1}));
    assert_eq!(file.count(), 2);
}

#[tokio::test]
async fn some_things_are_for_tools_of_admins() {
    let file = File::new();
    let read = json!({"query": "SELECT count(*) AS n FROM people", "result": "scalar"});
    let write = json!({"query": "DELETE FROM people", "write": true});
    let closed = || Named {
        authors_everyone: false,
        ..file.named()
    };
    for (named, config, why) in [
        (file.named(), &write, "It writes to a database"),
        (closed(), &read, "Source 's' is for tools of admins"),
    ] {
        let crib = Crib::owned(named, false, config.clone(), json!({})).await;
        let told = crib.executor.needs_trust(&crib.definition);
        assert_eq!(told.as_deref(), Some(why));
        let (code, message) = crib.error(json!({})).await;
        assert_eq!(code, "forbidden");
        assert!(message.starts_with(why), "{message}");
    }
    let open = Crib::owned(file.named(), false, read.clone(), json!({})).await;
    assert_eq!(open.executor.needs_trust(&open.definition), None);
    assert_eq!(open.data(json!({})).await, 3);
    let trusted = Crib::on(closed(), read, json!({})).await;
    assert_eq!(trusted.data(json!({})).await, 3);
}

#[tokio::test]
async fn a_plan_is_shown_and_nothing_run() {
    let file = File::new();
    let config = json!({"query": "SELECT name FROM people WHERE id = :id"});
    let crib = Crib::on(
        file.named(),
        config,
        takes(&json!({"id": {"type": "integer"}})),
    )
    .await;
    let entry = crib.executor.catalogue.load().get("t").unwrap().clone();
    let caller = std::sync::Arc::new(crib.caller.clone());
    let plan = crib.executor.explain(caller, entry, json!({"id": 1})).await;
    let plan = plan.unwrap().to_string();
    assert!(plan.contains("people"), "{plan}");
}
