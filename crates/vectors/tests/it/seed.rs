//! The searches of the specification that this serves: its documents, its two questions, its answers, word for word,
//! from both stores.

use crate::chroma_server::ChromaServer;
use crate::endpoint::{Endpoint, Seen, reply};
use crate::{fetcher, soon};
use serde_json::{Value, json};
use std::sync::Arc;
use vectors::embedded::Limits;
use vectors::embeddings::Settings;
use vectors::import::{Target, import};
use vectors::jsonl::Line;
use vectors::retrieval::RESULTS_DEFAULT;
use vectors::{Embedded, Embeddings, Error, Retrieval, Space, Store};

/// What a text is about, e-mail or dates, as a model would know it.
const MEANINGS: [(&str, [f32; 2]); 8] = [
    ("shipments.ship_date DATE 발송 날짜", [0.3, 0.7]),
    ("accounts.user_email VARCHAR(255) 계정 이메일", [0.8, 0.2]),
    ("orders.order_date TIMESTAMP 주문 생성 일시", [0.05, 1.0]),
    ("users.email VARCHAR(255) 사용자 이메일 주소", [1.0, 0.05]),
    ("orders.created_at TIMESTAMP 레코드 생성 시간", [0.2, 0.9]),
    (
        "customers.contact_email VARCHAR(255) 고객 연락처",
        [0.9, 0.1],
    ),
    ("사용자 이메일 칼럼", [1.0, 0.0]),
    ("주문 날짜 필드", [0.0, 1.0]),
];

fn model(seen: &Seen) -> String {
    let asked = seen.json();
    let vector = |text: &Value| {
        let text = text.as_str().unwrap();
        let known = MEANINGS.iter().find(|(known, _)| *known == text);
        known.unwrap_or_else(|| panic!("{text} means nothing")).1
    };
    let texts = asked["input"].as_array().unwrap().iter().enumerate();
    let data: Vec<Value> = texts
        .map(|(index, text)| json!({"object": "embedding", "index": index, "embedding": vector(text)}))
        .collect();
    reply(
        200,
        &[],
        &json!({"object": "list", "data": data, "model": asked["model"]}).to_string(),
    )
}

fn documents() -> Vec<Line> {
    let documents = MEANINGS.iter().map(|(text, _)| text).take(6);
    documents
        .map(|text| Line {
            id: text.split(' ').next().unwrap().to_owned(),
            embedding: None,
            document: (*text).to_owned(),
            metadata: None,
        })
        .collect()
}

#[tokio::test]
async fn the_examples_of_the_specification() {
    let endpoint = Endpoint::start(model).await;
    let server = ChromaServer::start().await;
    let folder = tempfile::tempdir().unwrap();
    let embeddings = Settings::new(endpoint.url("/v1/embeddings"), "bge-m3-ko");
    let embeddings = Arc::new(Embeddings::new(fetcher(), embeddings).unwrap());
    let stores = [
        Store::Embedded(Embedded::open(folder.path(), Limits::default()).unwrap()),
        Store::from(server.client()),
    ];
    for store in stores {
        let retrieval = Retrieval {
            store: Arc::new(store),
            embeddings: Arc::clone(&embeddings),
            collection: "column_metadata".to_owned(),
        };
        let asked = endpoint.seen().len();
        let questions = ["사용자 이메일 칼럼".to_owned(), "주문 날짜 필드".to_owned()];
        let missing = retrieval
            .documents(&questions, RESULTS_DEFAULT, soon())
            .await;
        assert!(matches!(missing, Err(Error::NoCollection { .. })));
        assert_eq!(
            endpoint.seen().len(),
            asked,
            "nothing is embedded for nobody"
        );
        let target = Target {
            store: &retrieval.store,
            collection: "column_metadata",
            space: Space::Cosine,
            embeddings: Some(&embeddings),
        };
        let done = import(documents(), &target, soon()).await.unwrap();
        assert_eq!((done.records, done.embedded), (6, 6));
        let found = retrieval
            .documents(&questions, RESULTS_DEFAULT, soon())
            .await
            .unwrap();
        assert_eq!(
            serde_json::to_value(&found).unwrap(),
            json!([
                [
                    "users.email VARCHAR(255) 사용자 이메일 주소",
                    "customers.contact_email VARCHAR(255) 고객 연락처",
                    "accounts.user_email VARCHAR(255) 계정 이메일"
                ],
                [
                    "orders.order_date TIMESTAMP 주문 생성 일시",
                    "orders.created_at TIMESTAMP 레코드 생성 시간",
                    "shipments.ship_date DATE 발송 날짜"
                ]
            ])
        );
        let none = retrieval.documents(&[], 3, soon()).await.unwrap();
        assert!(none.is_empty());
        let turn = retrieval
            .references("주문 날짜 필드", soon())
            .await
            .unwrap();
        assert!(
            turn.starts_with("Retrieved docs relevant to user query: [\"orders.order_date TIMESTAMP 주문 생성 일시\", \"orders.created_at"),
            "{turn}"
        );
        assert_eq!(turn.matches("\", \"").count(), 5, "{turn}");
    }
}
