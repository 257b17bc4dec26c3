//! Collections over REST, and what a model is shown before it is asked, with an embeddings endpoint on this machine.

use crate::testapp::{ADMIN, TestApp, on_both_vectors};
use kinds::retrieval::VectorOptions;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const PATH: &str = "/api/v1/vectors";

/// A model that knows only how much of a text is about mail and how much about numbers.
fn vector(text: &str) -> Value {
    json!([text.matches("mail").count(), text.matches("number").count()])
}

/// A file in which a table `late` shall be made once, while texts become vectors.
type Meanwhile = Arc<Mutex<Option<PathBuf>>>;

/// Where texts become vectors, until the test ends.
async fn endpoint(meanwhile: Meanwhile) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, Arc::clone(&meanwhile)));
        }
    });
    format!("http://{address}/v1/embeddings")
}

async fn answer(mut stream: TcpStream, meanwhile: Meanwhile) {
    let mut request = String::new();
    // The bodies here are short, so the end of one is where it can be read as JSON.
    let asked = loop {
        let mut piece = [0; 65_536];
        let length = stream.read(&mut piece).await.unwrap_or(0);
        if length == 0 {
            return;
        }
        request.push_str(std::str::from_utf8(&piece[..length]).unwrap());
        let body = request.split_once("\r\n\r\n").map(|(_, body)| body);
        if let Some(Ok(asked)) = body.map(serde_json::from_str::<Value>) {
            break asked;
        }
    };
    let file = meanwhile.lock().unwrap().take();
    if let Some(file) = file {
        run_sql(&file, "CREATE TABLE late (fax TEXT)").await;
    }
    let texts = asked["input"].as_array().unwrap().iter();
    let data: Vec<Value> = texts
        .map(|text| json!({"embedding": vector(text.as_str().unwrap())}))
        .collect();
    let body = json!({"data": data}).to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all((head + &body).as_bytes()).await;
}

pub(crate) async fn with_endpoint<F: AsyncFn(&TestApp)>(test: F) {
    with_endpoint_and(Meanwhile::default(), test).await;
}

async fn with_endpoint_and<F: AsyncFn(&TestApp)>(meanwhile: Meanwhile, test: F) {
    let options = VectorOptions {
        embeddings_url: endpoint(meanwhile).await,
        embeddings_model: "words".to_owned(),
        collection: "column_metadata".to_owned(),
        ..VectorOptions::default()
    };
    on_both_vectors(options, test).await;
}

pub(crate) fn record(number: usize) -> Value {
    let (mails, numbers) = ("mail ".repeat(20 - number), "number ".repeat(number));
    json!({"id": format!("d{number:02}"), "document": format!("{number:02} {mails}{numbers}").trim(), "metadata": {"n": number}})
}

#[tokio::test]
async fn the_fifteen_nearest_documents_go_before_the_model() {
    with_endpoint(async |app: &TestApp| {
        let soon = || Instant::now() + Duration::from_secs(30);
        let none = app.server.app.retrieve("mail", soon()).await.unwrap_err();
        assert_eq!(none.to_string(), "Collection 'column_metadata' not found");
        let records: Vec<Value> = (0..20).map(record).collect();
        let done = app
            .post(&format!("{PATH}/import"), json!({"records": records}))
            .await;
        let expected = json!({"collection": "column_metadata", "records": 20, "embedded": 20});
        assert_eq!((done.status, &done.body), (200, &expected));
        let turn = app.server.app.retrieve("a number", soon()).await.unwrap();
        assert_eq!(turn.role, "user");
        let list = turn
            .text
            .strip_prefix("Retrieved docs relevant to user query: ");
        let list: Vec<String> = serde_json::from_str(list.unwrap()).unwrap();
        let nearest: Vec<&str> = list.iter().map(|text| &text[..2]).collect();
        let expected: Vec<String> = (5..20).rev().map(|number| format!("{number:02}")).collect();
        assert_eq!(nearest, expected, "15 of them, nearest first");
    })
    .await;
}

async fn run_sql(file: &Path, sql: &'static str) {
    let url = format!("sqlite://{}?mode=rwc", file.display());
    let pool = sqlx::SqlitePool::connect(&url).await.unwrap();
    sqlx::raw_sql(sql).execute(&pool).await.unwrap();
    pool.close().await;
}

/// A source `shop`; the file that it is.
async fn shop(app: &TestApp, sql: &'static str) -> PathBuf {
    let file = app.folder.path().join("shop.db");
    run_sql(&file, sql).await;
    let source = json!({"name": "shop", "kind": "sqlite", "path": "shop.db"});
    let made = app.post("/api/v1/sources", source).await;
    assert_eq!(made.status, 201, "{}", made.body);
    file
}

async fn from_schema(app: &TestApp) -> Value {
    let done = app
        .post(&format!("{PATH}/from-schema"), json!({"source": "shop"}))
        .await;
    assert_eq!(done.status, 200, "{}", done.body);
    done.body
}

#[tokio::test]
async fn every_column_has_a_document_of_its_own() {
    with_endpoint(async |app: &TestApp| {
        let tables = "CREATE TABLE \"s.t\" (mail TEXT); CREATE TABLE s (\"t.mail\" TEXT)";
        shop(app, tables).await;
        assert_eq!(from_schema(app).await["records"], 2);
        let listed = app.get(PATH).await.body;
        assert_eq!(listed["items"][0]["documents"], 2, "{listed}");
        let found = app
            .post(&format!("{PATH}/search"), json!({"text": "mail", "n": 9}))
            .await
            .body;
        let items = found["items"].as_array().unwrap().iter();
        let mut ids: Vec<&str> = items.map(|it| it["id"].as_str().unwrap()).collect();
        ids.sort_unstable();
        assert_eq!(ids, ["shop:\"s.t\".mail", "shop:s.\"t.mail\""]);
        // Whoever finds one knows that it is not of the usual source.
        let document = found["items"][0]["document"].as_str().unwrap();
        assert!(document.ends_with(" TEXT (source shop)"), "{document}");
        // What was made of a source goes when it does, and nothing else.
        let other = json!({"records": [{"id": "shop:x", "document": "mail of nobody"}]});
        assert_eq!(app.post(&format!("{PATH}/import"), other).await.status, 200);
        let forget = format!("{PATH}/collections/column_metadata/documents?source=shop");
        let gone = app.as_key(ADMIN, "DELETE", &forget, Value::Null).await;
        assert_eq!(
            gone.body,
            json!({"collection": "column_metadata", "removed": 2})
        );
        assert_eq!(app.get(PATH).await.body["items"][0]["documents"], 1);
    })
    .await;
}

/// Its columns were not there when they were read, but they are when their documents would go.
#[tokio::test]
async fn columns_that_are_back_are_not_forgotten() {
    let meanwhile = Meanwhile::default();
    with_endpoint_and(Arc::clone(&meanwhile), async |app: &TestApp| {
        let file = shop(
            app,
            "CREATE TABLE users (mail TEXT); CREATE TABLE late (fax TEXT)",
        )
        .await;
        assert_eq!(from_schema(app).await["records"], 2);
        run_sql(&file, "DROP TABLE late").await;
        *meanwhile.lock().unwrap() = Some(file);
        let done = from_schema(app).await;
        assert_eq!((&done["records"], &done["removed"]), (&json!(1), &json!(0)));
        assert_eq!(app.get(PATH).await.body["items"][0]["documents"], 2);
    })
    .await;
}

#[tokio::test]
async fn columns_that_are_gone_are_forgotten() {
    with_endpoint(async |app: &TestApp| {
        let file = shop(
            app,
            "CREATE TABLE users (id INTEGER PRIMARY KEY, mail TEXT, fax TEXT)",
        )
        .await;
        // By hand, and like one of them: not of this source's columns.
        let records = json!([{"id": "shop:users.fax.note", "document": "number"},
            {"id": "other:users.fax", "document": "number", "metadata": {"source": "other"}}]);
        let done = app
            .post(&format!("{PATH}/import"), json!({"records": records}))
            .await;
        assert_eq!(done.status, 200, "{}", done.body);
        let expected =
            json!({"collection": "column_metadata", "records": 3, "embedded": 3, "removed": 0});
        assert_eq!(from_schema(app).await, expected);
        run_sql(&file, "ALTER TABLE users DROP COLUMN fax").await;
        let expected =
            json!({"collection": "column_metadata", "records": 2, "embedded": 2, "removed": 1});
        assert_eq!(from_schema(app).await, expected);
        let found = app
            .post(&format!("{PATH}/search"), json!({"text": "number", "n": 9}))
            .await
            .body;
        let mut ids: Vec<&str> = found["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["id"].as_str().unwrap())
            .collect();
        ids.sort_unstable();
        let left = [
            "other:users.fax",
            "shop:users.fax.note",
            "shop:users.id",
            "shop:users.mail",
        ];
        assert_eq!(ids, left);
    })
    .await;
}

fn file_of(app: &TestApp, collection: &str) -> PathBuf {
    let folder = app.folder.path().join(".toolcrib/vectors");
    folder.join(format!("{collection}.vectors"))
}

async fn fill(app: &TestApp, collection: &str) {
    let records = json!([{"id": "a", "document": "mail"}]);
    let body = json!({"records": records, "collection": collection});
    let done = app.post(&format!("{PATH}/import"), body).await;
    assert_eq!(done.status, 200, "{}", done.body);
}

#[tokio::test]
async fn damage_is_told_by_the_collection_and_not_by_its_path() {
    with_endpoint(async |app: &TestApp| {
        fill(app, "column_metadata").await;
        let file = file_of(app, "column_metadata");
        let mut bytes = std::fs::read(&file).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        let app = app.restart().await;
        let found = app
            .post(&format!("{PATH}/search"), json!({"text": "mail"}))
            .await;
        let message = found.message();
        assert_eq!(found.status, 503, "{message}");
        let expected = "The collection 'column_metadata' is damaged: its checksum";
        assert!(message.starts_with(expected), "{message}");
        let folder = app.folder.path().to_str().unwrap();
        assert!(!found.body.to_string().contains(folder), "{message}");
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn a_collection_that_cannot_be_read_hides_no_other() {
    with_endpoint(async |app: &TestApp| {
        for name in ["broken", "whole"] {
            fill(app, name).await;
        }
        std::fs::write(file_of(app, "broken"), "no first line\n").unwrap();
        let app = app.restart().await;
        let listed = app.get(PATH).await;
        assert_eq!(listed.status, 200, "{}", listed.body);
        let (broken, whole) = (&listed.body["items"][0], &listed.body["items"][1]);
        assert_eq!(
            (&broken["name"], &broken["documents"]),
            (&json!("broken"), &Value::Null)
        );
        let cause = broken["cause"].as_str().unwrap();
        assert!(
            cause.starts_with("The collection 'broken' is damaged"),
            "{cause}"
        );
        let expected = json!({"name": "whole", "space": "cosine", "dimension": 2, "documents": 1});
        assert_eq!(whole, &expected);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn collections_are_filled_searched_and_removed() {
    with_endpoint(async |app: &TestApp| {
        let import = format!("{PATH}/import");
        let records = json!([record(1), {"id": "own", "document": "text", "embedding": [0, 1]}]);
        let done = app.post(&import, json!({"records": records, "collection": "some", "space": "l2"})).await;
        assert_eq!(done.body, json!({"collection": "some", "records": 2, "embedded": 1}), "{}", done.body);
        let listed = app.get(PATH).await.body;
        let some = json!({"name": "some", "space": "l2", "dimension": 2, "documents": 2});
        assert_eq!((&listed["items"], &listed["store"]), (&json!([some]), &json!("embedded")));
        let asked = json!({"text": "number", "n": 1, "collection": "some"});
        let found = app.post(&format!("{PATH}/search"), asked).await.body;
        let nearest = json!({"id": "own", "document": "text", "distance": 0.0, "metadata": {}});
        assert_eq!(found["items"], json!([nearest]), "{found}");
        let wrong = [
            (json!({"records": []}), 422, "at least one"),
            (json!({"records": [{"id": "a", "document": "x"}, {"id": "a", "document": "y"}]}), 422, "line 2: its id 'a'"),
            (json!({"records": [{"id": "a", "document": "x", "embedding": [1]}], "collection": "some"}), 409, "1 dimensions"),
            (json!({"records": [{"id": "a", "document": "x", "embedding": [1, 2]}], "collection": "some", "space": "ip"}), 422, "measures by l2"),
            (json!({"records": [{"id": "a", "document": "x"}], "collection": "../some"}), 422, "no name of a collection"),
            (json!({"records": [{"id": "a"}]}), 400, "missing field `document`"),
            (json!({"records": [{"id": "a", "document": "x"}], "space": "far"}), 400, "unknown variant"),
        ];
        for (body, status, part) in wrong {
            let refused = app.post(&import, body.clone()).await;
            assert_eq!(refused.status, status, "{body}: {}", refused.body);
            assert!(refused.message().contains(part), "{body}: {}", refused.body);
        }
        let app = app.restart().await;
        assert_eq!(app.get(PATH).await.body, listed, "a restart changes nothing");
        let some = format!("{PATH}/collections/some");
        let removed = async || app.as_key(ADMIN, "DELETE", &some, Value::Null).await.status;
        assert_eq!((removed().await, removed().await), (204, 404));
        let acts = app.get("/api/v1/audit?target=vectors:some").await.body;
        let acts: Vec<&str> = acts["items"].as_array().unwrap().iter().map(|act| act["action"].as_str().unwrap()).collect();
        assert_eq!(acts, ["vectors.delete", "vectors.import"]);
        app.stop().await;
    })
    .await;
}
