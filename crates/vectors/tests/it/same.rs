//! Our store and ChromaDB hold the same 5,000 records and are asked the same: the same ids come back in the same
//! order, at the same distances.

use crate::chroma_server::ChromaServer;
use crate::{Chance, soon};
use serde_json::{Value, json};
use vectors::embedded::Limits;
use vectors::{Embedded, Filter, Get, Hit, Include, Query, Record, Space, Store};

const COUNT: usize = 5_000;
/// Small, so that storing them is quick; the distances know nothing of it.
const DIMENSION: usize = 64;
const RESULTS: usize = 10;

fn records() -> Vec<Record> {
    let mut chance = Chance(42);
    let mut records: Vec<Record> = (0..COUNT)
        .map(|index| Record {
            id: format!("record-{index}"),
            embedding: chance.vector(DIMENSION),
            document: Some(format!("문서 {index}")),
            metadata: json!({
                "n": index, "share": index as f64 / 8.0, "group": format!("g{}", index % 7), "even": index % 2 == 0
            })
            .as_object()
            .unwrap()
            .clone(),
        })
        .collect();
    // Some are at the same place as others, stored long before them.
    for copy in 0..20 {
        records[COUNT - 1 - copy].embedding = records[copy * 3].embedding.clone();
    }
    records
}

fn questions(records: &[Record]) -> Vec<Vec<f32>> {
    let mut chance = Chance(7);
    let elsewhere = (0..40)
        .map(|_| chance.vector(DIMENSION))
        .collect::<Vec<_>>();
    let right_there = (0..10).map(|copy| records[copy * 3].embedding.clone());
    elsewhere.into_iter().chain(right_there).collect()
}

fn filters() -> Vec<Option<Value>> {
    vec![
        None,
        Some(json!({"group": "g3"})),
        Some(json!({"n": {"$gte": 4_000}})),
        Some(json!({"share": {"$lt": 30.5}})),
        Some(json!({"group": {"$nin": ["g0", "g1", "g2", "g3"]}})),
        Some(json!({"n": {"$in": [1, 4_999, 77, 100_000]}})),
        Some(json!({"$and": [{"even": true}, {"$or": [{"group": "g1"}, {"n": {"$gt": 4_900}}]}]})),
        Some(json!({"$and": [{"even": {"$ne": true}}, {"n": {"$lte": 300}}]})),
        Some(json!({"nobody": {"$ne": "x"}})),
        Some(json!({"nobody": "x"})),
    ]
}

/// `ours` is one longer than what both were asked for, so that it shows whether the edge lies between equals: which of
/// them ChromaDB keeps there is chance, and only how far they are can be compared.
fn compare(ours: &[Hit], theirs: &[Hit], context: &str) {
    let kept = &ours[..ours.len().min(RESULTS)];
    assert_eq!(kept.len(), theirs.len(), "{context}");
    let edge = ours.get(RESULTS).map(|beyond| beyond.distance);
    for (ours, theirs) in kept.iter().zip(theirs) {
        let difference = (ours.distance - theirs.distance).abs();
        assert!(difference <= 1e-4, "{context}: {ours:?} and {theirs:?}");
        if Some(ours.distance) != edge {
            assert_eq!(ours.found, theirs.found, "{context}");
        }
    }
}

#[tokio::test]
async fn the_same_ids_in_the_same_order_at_the_same_distances() {
    let server = ChromaServer::start().await;
    let theirs = Store::from(server.client());
    let folder = tempfile::tempdir().unwrap();
    let ours = Store::Embedded(Embedded::open(folder.path(), Limits::default()).unwrap());
    let records = records();
    let questions = questions(&records);
    for space in [Space::Cosine, Space::L2, Space::Ip] {
        let name = format!("columns-{space}");
        server.create_exact(&name, space).await;
        ours.create(&name, space, soon()).await.unwrap();
        for store in [&ours, &theirs] {
            store.upsert(&name, records.clone(), soon()).await.unwrap();
            assert_eq!(store.count(&name, soon()).await.unwrap(), COUNT);
        }
        for filter in filters() {
            let mut query = Query::new(questions.clone(), RESULTS);
            query.filter = filter.clone().map(|filter| Filter::read(filter).unwrap());
            let found_there = theirs.query(&name, query.clone(), soon()).await.unwrap();
            query.n_results += 1;
            let found_here = ours.query(&name, query, soon()).await.unwrap();
            assert_eq!(found_here.len(), found_there.len());
            for (question, (ours, theirs)) in found_here.iter().zip(&found_there).enumerate() {
                let context = format!("{space}, question {question}, filter {filter:?}");
                compare(ours, theirs, &context);
            }
        }
        assert_eq!(
            ours.collection(&name, soon()).await.unwrap(),
            theirs.collection(&name, soon()).await.unwrap()
        );
    }
    same_records(&ours, &theirs).await;
}

/// What `get` answers, for pages, names and conditions.
async fn same_records(ours: &Store, theirs: &Store) {
    let include = Include {
        embeddings: true,
        ..Include::default()
    };
    let filter = |filter: Value| Some(Filter::read(filter).unwrap());
    let gets = [
        Get {
            limit: Some(5),
            ..Get::default()
        },
        Get {
            limit: Some(3),
            offset: 4_998,
            include,
            ..Get::default()
        },
        Get {
            ids: Some(vec!["record-9".into(), "nobody".into(), "record-3".into()]),
            ..Get::default()
        },
        Get {
            filter: filter(json!({"n": {"$lt": 4}})),
            ..Get::default()
        },
        Get {
            filter: filter(json!({"even": false})),
            offset: 10,
            limit: Some(7),
            ..Get::default()
        },
    ];
    for get in gets {
        let found_here = ours.get("columns-l2", get.clone(), soon()).await.unwrap();
        let found_there = theirs.get("columns-l2", get.clone(), soon()).await.unwrap();
        assert!(!found_here.is_empty());
        assert_eq!(found_here, found_there, "{get:?}");
    }
}
