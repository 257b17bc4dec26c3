//! Files of records into our store: all of a file or nothing of it, and what may not be more.

use crate::soon;
use vectors::embedded::Limits;
use vectors::import::{Target, import};
use vectors::{Embedded, Error, Query, Space, Store, jsonl};

fn store(limits: Limits) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Embedded::open(folder.path().join("vectors"), limits).unwrap();
    (folder, Store::Embedded(store))
}

async fn import_text(store: &Store, text: &str) -> Result<usize, Error> {
    let lines = jsonl::read(text.as_bytes(), &Limits::default())?;
    let target = Target {
        store,
        collection: "columns",
        space: Space::L2,
        embeddings: None,
    };
    let done = import(lines, &target, soon()).await?;
    Ok(done.records)
}

#[tokio::test]
async fn one_bad_line_and_nothing_is_imported() {
    let (_folder, store) = store(Limits::default());
    let good = "{\"id\":\"a\",\"embedding\":[1,2],\"document\":\"A\"}\n{\"id\":\"b\",\"embedding\":[3,4],\"document\":\"B\"}\n";
    let bad = format!("{good}{{\"id\":\"c\",\"embedding\":[1],\"document\":\"C\"}}\n");
    let error = import_text(&store, &bad).await.unwrap_err().to_string();
    assert!(
        error.starts_with("Nothing was imported: line 3: "),
        "{error}"
    );
    assert!(store.collections(soon()).await.unwrap().is_empty());
    assert_eq!(import_text(&store, good).await.unwrap(), 2);
    let longer = "{\"id\":\"c\",\"embedding\":[1,2,3],\"document\":\"C\"}";
    let error = import_text(&store, longer).await.unwrap_err().to_string();
    assert!(
        error.contains("'c' has 3 dimensions") && error.contains("vectors of 2"),
        "{error}"
    );
    let bare = "{\"id\":\"c\",\"document\":\"C\"}";
    let error = import_text(&store, bare).await.unwrap_err().to_string();
    assert!(
        error.contains("'c' has no embedding") && error.contains("TEXT_EMBEDDING_MODEL_URL"),
        "{error}"
    );
    assert_eq!(store.count("columns", soon()).await.unwrap(), 2);
}

#[tokio::test]
async fn what_is_imported_is_there_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Store::Embedded(Embedded::open(folder.path(), Limits::default()).unwrap());
    let text = "{\"id\":\"a\",\"embedding\":[1,2],\"document\":\"A\",\"metadata\":{\"n\":1}}";
    import_text(&open(), text).await.unwrap();
    let again = open();
    let found = again
        .query("columns", Query::new(vec![vec![1.0, 3.0]], 3), soon())
        .await
        .unwrap();
    assert_eq!(found[0][0].found.document.as_deref(), Some("A"));
    assert_eq!(found[0][0].distance, 1.0);
    let told = again.collections(soon()).await.unwrap();
    assert_eq!(
        (told[0].name.as_str(), told[0].dimension),
        ("columns", Some(2))
    );
}

#[tokio::test]
async fn a_store_has_an_end() {
    let limits = Limits {
        bytes_max: 2_000,
        collections_max: 2,
        ..Limits::default()
    };
    let (_folder, store) = store(limits);
    for name in ["first", "second"] {
        store.create(name, Space::Ip, soon()).await.unwrap();
    }
    let error = store.create("third", Space::Ip, soon()).await.unwrap_err();
    assert!(
        error.to_string().contains("There are 2 collections"),
        "{error}"
    );
    let record = |index: usize| vectors::Record {
        id: format!("r{index}"),
        embedding: vec![0.5; 100],
        document: None,
        metadata: vectors::Metadata::new(),
    };
    store
        .upsert("first", vec![record(0), record(1)], soon())
        .await
        .unwrap();
    let error = store
        .upsert("second", (0..3).map(record).collect(), soon())
        .await
        .unwrap_err();
    assert!(matches!(error, Error::TooMuch(_)), "{error}");
    assert_eq!(store.count("second", soon()).await.unwrap(), 0);
    store.delete("first", soon()).await.unwrap();
    store
        .upsert("second", (0..3).map(record).collect(), soon())
        .await
        .unwrap();
}
