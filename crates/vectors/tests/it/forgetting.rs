//! Columns that a database has no more leave their collection, here and at ChromaDB alike; nothing else does.

use crate::chroma_server::ChromaServer;
use crate::soon;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use vectors::embedded::Limits;
use vectors::import::other_columns;
use vectors::{Embedded, Get, Record, Space, Store};

fn record(id: &str, metadata: Value) -> Record {
    Record {
        id: id.to_owned(),
        embedding: vec![1.0, 0.5],
        document: Some(id.to_owned()),
        metadata: match metadata {
            Value::Object(members) => members,
            _ => Map::new(),
        },
    }
}

async fn ids(store: &Store) -> Vec<String> {
    let found = store.get("columns", Get::default(), soon()).await.unwrap();
    found.into_iter().map(|found| found.id).collect()
}

/// More than are looked at with one request.
const MANY: usize = 2_500;

#[tokio::test]
async fn only_columns_of_the_source_that_are_gone_are_removed() {
    let server = ChromaServer::start().await;
    let folder = tempfile::tempdir().unwrap();
    let ours = Embedded::open(folder.path(), Limits::default()).unwrap();
    for store in [Store::Embedded(ours), Store::from(server.client())] {
        store
            .create("columns", Space::Cosine, soon())
            .await
            .unwrap();
        let of_shop = |index: usize| record(&format!("shop:t.c{index}"), json!({"source": "shop"}));
        let mut records: Vec<Record> = (0..MANY).map(of_shop).collect();
        records.extend([
            record("shop2:t.c1", json!({"source": "shop2"})),
            record("shop:a note", Value::Null),
            record("note", json!({"source": "shop"})),
        ]);
        store.upsert("columns", records, soon()).await.unwrap();
        let kept: HashSet<String> = ["shop:t.c7", "shop:t.c2400"].map(str::to_owned).into();
        let others = || other_columns(&store, "columns", ("shop", &kept), soon());
        let gone = others().await.unwrap();
        assert_eq!(gone.len(), MANY - 2);
        store.remove("columns", gone, soon()).await.unwrap();
        let left = [
            "shop:t.c7",
            "shop:t.c2400",
            "shop2:t.c1",
            "shop:a note",
            "note",
        ];
        assert_eq!(ids(&store).await, left);
        assert!(others().await.unwrap().is_empty());
        let counted = store.counted(soon()).await.unwrap();
        assert_eq!(counted.len(), 1);
        assert_eq!(counted[0].name, "columns");
        assert_eq!(*counted[0].count.as_ref().unwrap(), 5);
    }
    let again = Embedded::open(folder.path(), Limits::default()).unwrap();
    assert_eq!(ids(&Store::Embedded(again)).await.len(), 5);
}
