//! The client of ChromaDB where things go wrong: what is missing, what does not fit, who is away. And that both stores
//! take a change in the same way.

use crate::chroma_server::ChromaServer;
use crate::endpoint::{Endpoint, reply};
use crate::{fetcher, soon};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use vectors::chroma::Settings;
use vectors::embedded::Limits;
use vectors::{Chroma, Embedded, Error, Get, Include, Peer, Query, Record, Space, Store};

fn record(id: &str, embedding: &[f32], document: Option<&str>, metadata: &Value) -> Record {
    Record {
        id: id.to_owned(),
        embedding: embedding.to_vec(),
        document: document.map(str::to_owned),
        metadata: metadata.as_object().unwrap().clone(),
    }
}

#[tokio::test]
async fn both_stores_behave_alike() {
    let server = ChromaServer::start().await;
    let folder = tempfile::tempdir().unwrap();
    let ours = Embedded::open(folder.path(), Limits::default()).unwrap();
    for store in [Store::Embedded(ours), Store::from(server.client())] {
        missing_and_made(&store).await;
        changed(&store).await;
        wrong_dimensions(&store).await;
        made_again(&store, &server).await;
    }
}

async fn missing_and_made(store: &Store) {
    let error = store.count("columns", soon()).await.unwrap_err();
    assert!(error.to_string().contains("there is none yet"), "{error}");
    store
        .create("columns", Space::Cosine, soon())
        .await
        .unwrap();
    store
        .create("columns", Space::Cosine, soon())
        .await
        .unwrap();
    let other = store
        .create("columns", Space::Ip, soon())
        .await
        .unwrap_err();
    assert!(
        other.to_string().contains("measures by cosine, not by ip"),
        "{other}"
    );
    let query = Query::new(vec![vec![1.0, 0.0]], 3);
    let empty = store.query("columns", query.clone(), soon()).await.unwrap();
    assert_eq!(empty, [vec![]]);
    let error = store.query("colums", query, soon()).await.unwrap_err();
    assert!(matches!(&error, Error::NoCollection { known, .. } if known == &["columns"]));
    assert!(error.is_callers());
    assert!(
        error.to_string().contains("no collection 'colums'"),
        "{error}"
    );
    let all = store.collections(soon()).await.unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].space, all[0].dimension), (Space::Cosine, None));
    assert!(store.count("../x", soon()).await.unwrap_err().is_callers());
}

async fn changed(store: &Store) {
    let first = vec![
        record("a", &[1.0, 0.0], Some("first"), &json!({"n": 1, "t": "x"})),
        record("b", &[0.0, 1.0], None, &json!({})),
    ];
    store.upsert("columns", first, soon()).await.unwrap();
    let second = vec![
        record("b", &[0.5, 0.5], Some("second"), &json!({"n": 2})),
        record("a", &[0.0, 2.0], None, &json!({"t": null, "m": 1.5})),
        record("c", &[1.0, 0.0], Some("third"), &json!({"n": 3})),
    ];
    store.upsert("columns", second, soon()).await.unwrap();
    assert_eq!(store.count("columns", soon()).await.unwrap(), 3);
    let found = store.get("columns", Get::default(), soon()).await.unwrap();
    let told: Vec<_> = found
        .iter()
        .map(|found| {
            let metadata = Value::Object(found.metadata.clone().unwrap());
            (found.id.as_str(), found.document.as_deref(), metadata)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("a", Some("first"), json!({"n": 1, "m": 1.5})),
            ("b", Some("second"), json!({"n": 2})),
            ("c", Some("third"), json!({"n": 3})),
        ]
    );
    let mut query = Query::new(vec![vec![1.0, 0.0]], 10);
    query.include = Include {
        documents: false,
        metadatas: false,
        embeddings: false,
    };
    let found = store.query("columns", query, soon()).await.unwrap();
    let ids: Vec<&str> = found[0].iter().map(|hit| hit.found.id.as_str()).collect();
    assert_eq!(ids, ["c", "b", "a"]);
    assert!(
        found[0]
            .iter()
            .all(|hit| hit.found.document.is_none() && hit.found.metadata.is_none())
    );
    assert!((found[0][2].distance - 1.0).abs() < 1e-6);
}

async fn wrong_dimensions(store: &Store) {
    let asked = store
        .query("columns", Query::new(vec![vec![1.0; 3]], 3), soon())
        .await;
    let text = asked.unwrap_err().to_string();
    assert!(
        text.contains("search 1 has 3 dimensions") && text.contains("vectors of 2"),
        "{text}"
    );
    let stored = store
        .upsert(
            "columns",
            vec![record("x", &[1.0], None, &json!({}))],
            soon(),
        )
        .await;
    let text = stored.unwrap_err().to_string();
    assert!(
        text.contains("'x' has 1 dimensions") && text.contains("vectors of 2"),
        "{text}"
    );
    assert_eq!(store.count("columns", soon()).await.unwrap(), 3);
    for n_results in [0, 1_000_000] {
        let asked = store
            .query("columns", Query::new(vec![vec![1.0; 2]], n_results), soon())
            .await;
        assert!(asked.unwrap_err().to_string().contains("n_results"));
    }
}

/// A collection that somebody else deletes and makes again is found under its new id.
async fn made_again(store: &Store, server: &ChromaServer) {
    match store {
        Store::Chroma(_) => {
            let other = server.client();
            other.delete("columns", soon()).await.unwrap();
            other.create("columns", Space::L2, soon()).await.unwrap();
        }
        Store::Embedded(store) => {
            store.delete("columns", soon()).await.unwrap();
            store.create("columns", Space::L2, soon()).await.unwrap();
        }
    }
    assert_eq!(store.count("columns", soon()).await.unwrap(), 0);
    let records = vec![record("z", &[1.0, 2.0, 3.0], Some("new"), &json!({}))];
    store.upsert("columns", records, soon()).await.unwrap();
    let found = store
        .query("columns", Query::new(vec![vec![1.0, 2.0, 3.0]], 3), soon())
        .await
        .unwrap();
    assert_eq!(found[0].len(), 1);
    store.delete("columns", soon()).await.unwrap();
    let gone = store.delete("columns", soon()).await.unwrap_err();
    assert!(matches!(gone, Error::NoCollection { .. }), "{gone}");
}

#[tokio::test]
async fn a_server_that_is_away_is_named() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let settings = Settings {
        host: "127.0.0.1".to_owned(),
        port,
        ..Settings::default()
    };
    let client = Chroma::new(fetcher(), &settings).unwrap();
    let error = client.count("columns", soon()).await.unwrap_err();
    assert!(matches!(
        error,
        Error::Away {
            peer: Peer::Chroma,
            ..
        }
    ));
    let text = error.to_string();
    assert!(text.contains(&format!("http://127.0.0.1:{port}")), "{text}");
    assert!(
        text.starts_with("The ChromaDB server could not be asked"),
        "{text}"
    );
}

#[tokio::test]
async fn a_server_that_is_slow_is_left_at_the_deadline() {
    let silent = Endpoint::silent().await;
    let settings = Settings {
        host: silent.url(""),
        ..Settings::default()
    };
    let client = Chroma::new(fetcher(), &settings).unwrap();
    let deadline = Instant::now() + Duration::from_millis(200);
    let error = client.count("columns", deadline).await.unwrap_err();
    assert!(error.to_string().contains("took too long"), "{error}");
}

#[tokio::test]
async fn a_token_goes_along_and_into_no_error() {
    let endpoint = Endpoint::start(|_| {
        reply(
            401,
            &[],
            r#"{"error":"AuthError","message":"no such token: s3cret-token"}"#,
        )
    });
    let endpoint = endpoint.await;
    let settings = Settings {
        host: endpoint.url(""),
        tenant: "team".to_owned(),
        database: "docs".to_owned(),
        token: Some("s3cret-token".to_owned()),
        ..Settings::default()
    };
    let client = Chroma::new(fetcher(), &settings).unwrap();
    let error = client.count("columns", soon()).await.unwrap_err();
    assert!(matches!(error, Error::Refused { status: 401, .. }));
    assert!(
        !format!("{error} {error:?}").contains("s3cret"),
        "{error:?}"
    );
    let seen = endpoint.seen();
    assert_eq!(
        seen[0].target,
        "/api/v2/tenants/team/databases/docs/collections/columns"
    );
    assert_eq!(seen[0].header("authorization"), "Bearer s3cret-token");
    assert_eq!(seen[0].header("x-chroma-token"), "s3cret-token");
}

#[tokio::test]
async fn a_collection_that_cannot_be_counted_hides_no_other() {
    let endpoint = Endpoint::start(|seen| {
        let place = seen.target.rsplit_once("/collections").unwrap().1;
        match place {
            "" => {
                let listed = ["broken", "gone", "whole"]
                    .map(|name| json!({"id": name, "name": name, "dimension": 2}));
                reply(200, &[], &json!(listed).to_string())
            }
            "/whole/count" => reply(200, &[], "7"),
            "/gone/count" => reply(404, &[], "{}"),
            _ => reply(
                500,
                &[],
                r#"{"error":"InternalError","message":"no index"}"#,
            ),
        }
    });
    let endpoint = endpoint.await;
    let settings = Settings {
        host: endpoint.url(""),
        ..Settings::default()
    };
    let client = Chroma::new(fetcher(), &settings).unwrap();
    let counted = client.counted(soon()).await.unwrap();
    let names: Vec<&str> = counted.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["broken", "whole"]);
    let why = counted[0].count.as_ref().unwrap_err().to_string();
    assert!(why.contains("no index"), "{why}");
    assert_eq!(*counted[1].count.as_ref().unwrap(), 7);
}

#[tokio::test]
async fn another_kind_of_server_is_told_from_a_missing_collection() {
    let endpoint = Endpoint::start(|_| reply(404, &[], "<html>nothing here</html>")).await;
    let settings = Settings {
        host: endpoint.url(""),
        ..Settings::default()
    };
    let client = Chroma::new(fetcher(), &settings).unwrap();
    let error = client.count("columns", soon()).await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("ChromaDB 1.0 or newer is needed"),
        "{error}"
    );
}
