//! The model behind an endpoint that requests are compared by: another one answers there, or it does not take every text.

use crate::scripted::{request, until};
use crate::testapp::{TestApp, definition, on_both_vectors};
use kinds::retrieval::VectorOptions;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

/// A model whose vectors may get another length, that takes no text with this word.
const REFUSED: &str = "unspeakable";

struct Model {
    url: String,
    length: AtomicUsize,
    asked: Mutex<Vec<String>>,
}

impl Model {
    async fn start() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let model = Arc::new(Model {
            url: format!("http://{}/v1/embeddings", listener.local_addr().unwrap()),
            length: AtomicUsize::new(8),
            asked: Mutex::default(),
        });
        let told = Arc::clone(&model);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, Arc::clone(&told)));
            }
        });
        model
    }

    fn options(&self) -> VectorOptions {
        VectorOptions {
            embeddings_url: self.url.clone(),
            embeddings_model: "words".to_owned(),
            ..VectorOptions::default()
        }
    }

    /// How often it was asked for a text with this in it.
    fn asked(&self, part: &str) -> usize {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|it| it.contains(part)).count()
    }

    /// Texts with the same words get the same vectors.
    fn vector(&self, text: &str) -> Vec<usize> {
        let mut vector = vec![1; self.length.load(Ordering::Relaxed)];
        let length = vector.len();
        for word in text.to_lowercase().split_whitespace() {
            vector[word.bytes().map(usize::from).sum::<usize>() % length] += 1;
        }
        vector
    }
}

async fn answer(mut stream: TcpStream, model: Arc<Model>) {
    let mut read = Vec::new();
    while let Some((_, body)) = request(&mut stream, &mut read).await {
        let asked: Value = serde_json::from_slice(&body).unwrap();
        let texts = asked["input"].as_array().unwrap().iter();
        let texts: Vec<String> = texts.map(|it| it.as_str().unwrap().to_owned()).collect();
        let is_refused = texts.iter().any(|it| it.contains(REFUSED));
        let (status, body) = match is_refused {
            true => ("400 Bad Request", json!({"error": "not this text"})),
            false => {
                let data = texts
                    .iter()
                    .map(|it| json!({"embedding": model.vector(it)}));
                ("200 OK", json!({"data": data.collect::<Vec<_>>()}))
            }
        };
        model.asked.lock().unwrap().extend(texts);
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        if stream.write_all((head + &body).as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn make(app: &TestApp, name: &str, description: &str) {
    let mut tool = definition(name);
    tool["description"] = json!(description);
    let made = app.post("/api/v1/tools", tool).await;
    assert_eq!(made.status, 201, "{}", made.body);
}

/// What whoever asks is told of how tools were ranked.
async fn notes(app: &TestApp) -> Vec<Value> {
    let query = json!({"query": "Bake some bread for the guests"});
    let found = app.post("/api/v1/select", query).await;
    assert_eq!(found.status, 200, "{}", found.body);
    assert_eq!(
        found.body["candidates"][0]["name"], "bake_bread",
        "{}",
        found.body
    );
    let notes = found.body["notes"].as_array().cloned();
    notes.unwrap_or_default()
}

/// Every tool is ranked by what it means.
async fn whole(app: &TestApp) {
    until("all vectors are there", async || {
        notes(app).await.is_empty().then_some(())
    })
    .await;
}

#[tokio::test]
async fn another_model_behind_the_same_address_is_noticed_and_asked_anew() {
    let model = Model::start().await;
    let test = async |app: &TestApp| {
        model.length.store(8, Ordering::Relaxed);
        make(app, "bake_bread", "Bakes bread of flour").await;
        make(app, "sell_shoes", "Sells shoes by size").await;
        whole(app).await;
        model.length.store(12, Ordering::Relaxed);
        let before = model.asked("shoes");
        assert!(before > 0);
        let told = notes(app).await;
        assert!(
            told[0]
                .as_str()
                .unwrap()
                .contains("ranked by their words alone"),
            "{told:?}"
        );
        whole(app).await;
        assert!(model.asked("shoes") > before);
    };
    on_both_vectors(model.options(), test).await;
}

#[tokio::test]
async fn a_text_that_is_not_taken_is_waited_for_by_nobody_and_asked_for_once() {
    let model = Model::start().await;
    let test = async |app: &TestApp| {
        make(app, "bake_bread", "Bakes bread of flour").await;
        make(app, "tell_secrets", "Says the unspeakable").await;
        whole(app).await;
        let before = model.asked(REFUSED);
        assert!(before > 0);
        make(app, "sell_shoes", "Sells shoes by size").await;
        whole(app).await;
        assert_eq!(model.asked(REFUSED), before);
    };
    on_both_vectors(model.options(), test).await;
}
