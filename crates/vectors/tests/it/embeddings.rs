//! The client of embeddings endpoints, against the wire format as OpenAI's and compatible servers write it.

use crate::endpoint::{Endpoint, Seen, reply};
use crate::{fetcher, soon};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use vectors::embeddings::Settings;
use vectors::{Embeddings, Error, Peer};

const PATH: &str = "/v1/embeddings";

fn client(endpoint: &Endpoint, change: impl FnOnce(&mut Settings)) -> Embeddings {
    let mut settings = Settings::new(endpoint.url(PATH), "bge-m3-ko");
    change(&mut settings);
    Embeddings::new(fetcher(), settings).unwrap()
}

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("텍스트 {index}")).collect()
}

/// A vector for each text that says which text it is of, in the order of `place`.
fn numbered(seen: &Seen, place: impl Fn(usize, usize) -> usize) -> String {
    let asked = seen.json();
    let input = asked["input"].as_array().unwrap();
    let item = |position: usize| {
        let index = place(position, input.len());
        let number: f64 = input[index]
            .as_str()
            .unwrap()
            .split(' ')
            .nth(1)
            .unwrap()
            .parse()
            .unwrap();
        json!({"object": "embedding", "embedding": [number, 0.0023064255, -0.009327292], "index": index})
    };
    let data: Vec<Value> = (0..input.len()).map(item).collect();
    let usage = json!({"prompt_tokens": 8, "total_tokens": 8});
    reply(
        200,
        &[],
        &json!({"object": "list", "data": data, "model": asked["model"], "usage": usage})
            .to_string(),
    )
}

/// The path is the first thing that is forgotten.
#[tokio::test]
async fn an_address_without_its_path_is_told() {
    let endpoint = Endpoint::start(|_| reply(404, &[], "<html>nothing here</html>")).await;
    let refused = async |url: String| {
        let made = client(&endpoint, |settings| settings.url = url);
        made.embed(&texts(1), soon()).await.unwrap_err().to_string()
    };
    let without = refused(endpoint.url("/v1?key=s3cret")).await;
    assert!(
        without.contains("does not end with /embeddings"),
        "{without}"
    );
    assert!(!without.contains("s3cret"), "{without}");
    let with = refused(endpoint.url(PATH)).await;
    assert!(!with.contains("does not end"), "{with}");
}

#[tokio::test]
async fn texts_become_vectors_as_the_seed_asks() {
    // Word for word what an endpoint answers, spaces and all.
    let endpoint = Endpoint::start(|_| {
        reply(
            200,
            &[],
            "{\n  \"object\": \"list\",\n  \"data\": [\n    {\"object\": \"embedding\", \"index\": 0, \"embedding\": [0.0023064255, -0.009327292, 1e-7]}\n  ],\n  \"model\": \"bge-m3-ko\",\n  \"usage\": {\"prompt_tokens\": 8, \"total_tokens\": 8}\n}",
        )
    });
    let endpoint = endpoint.await;
    let made = client(&endpoint, |_| {})
        .embed(&["사용자 이메일 칼럼".to_owned()], soon())
        .await
        .unwrap();
    assert_eq!(made[0].vector, [0.002_306_425_5, -0.009_327_292, 1e-7]);
    assert_eq!(made[0].json.get(), "[0.0023064255, -0.009327292, 1e-7]");
    let seen = &endpoint.seen()[0];
    assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", PATH));
    assert_eq!(seen.header("content-type"), "application/json");
    assert_eq!(seen.header("authorization"), "");
    assert_eq!(
        String::from_utf8_lossy(&seen.body),
        r#"{"input":["사용자 이메일 칼럼"],"model":"bge-m3-ko"}"#
    );
}

#[tokio::test]
async fn many_texts_go_in_parts_and_come_back_in_order() {
    let endpoint =
        Endpoint::start(|seen| numbered(seen, |position, count| count - 1 - position)).await;
    let client = client(&endpoint, |settings| settings.batch_max = 10);
    let made = client.embed(&texts(25), soon()).await.unwrap();
    let numbers: Vec<f32> = made.iter().map(|made| made.vector[0]).collect();
    assert_eq!(numbers, (0..25_u8).map(f32::from).collect::<Vec<_>>());
    let sizes: Vec<usize> = endpoint
        .seen()
        .iter()
        .map(|seen| seen.json()["input"].as_array().unwrap().len())
        .collect();
    assert_eq!(sizes, [10, 10, 5]);
    assert!(client.embed(&[], soon()).await.unwrap().is_empty());
    assert_eq!(endpoint.seen().len(), 3);
    assert!(matches!(
        client.embed(&texts(10_001), soon()).await,
        Err(Error::TooMuch(_))
    ));
}

#[tokio::test]
async fn answers_that_cannot_be_right_are_refused() {
    let item =
        |embedding: &str, index: usize| format!("{{\"embedding\":{embedding},\"index\":{index}}}");
    let cases = [
        (item("[1,2]", 0), "1 vectors for 2 texts"),
        (
            format!("{},{}", item("[1,2]", 0), item("[1,2]", 0)),
            "two vectors for text 0",
        ),
        (
            format!("{},{}", item("[1,2]", 0), item("[1,2]", 7)),
            "a vector for text 7",
        ),
        (
            format!("{},{}", item("[1,2]", 0), item("[1,2,3]", 1)),
            "a vector of 3 dimensions where 2",
        ),
        (
            format!("{},{}", item("[1,2]", 0), item("\"AACAPw==\"", 1)),
            "no list of numbers",
        ),
        (
            format!("{},{}", item("[1,2]", 0), item("[]", 1)),
            "is empty",
        ),
    ];
    for (items, why) in cases {
        let body = format!("{{\"data\":[{items}]}}");
        let endpoint = Endpoint::start(move |_| reply(200, &[], &body)).await;
        let error = client(&endpoint, |_| {})
            .embed(&texts(2), soon())
            .await
            .unwrap_err();
        assert!(
            matches!(
                error,
                Error::Unusable {
                    peer: Peer::Embeddings,
                    ..
                }
            ),
            "{error}"
        );
        assert!(error.to_string().contains(why), "{error}");
    }
    let endpoint = Endpoint::start(|seen| numbered(seen, |position, _| position)).await;
    let strict = client(&endpoint, |settings| settings.dimension = Some(1024));
    let error = strict
        .embed(&texts(1), soon())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("of 3 dimensions where 1024 were expected; is 'bge-m3-ko'"),
        "{error}"
    );
    let endpoint = Endpoint::start(|_| reply(200, &[], "{\"object\":\"list\"}")).await;
    let error = client(&endpoint, |_| {})
        .embed(&texts(1), soon())
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("missing field `data`"), "{error}");
}

#[tokio::test]
async fn a_server_without_indexes_is_taken_at_its_order() {
    let body = r#"{"data":[{"embedding":[1]},{"embedding":[2]}]}"#;
    let endpoint = Endpoint::start(move |_| reply(200, &[], body)).await;
    let made = client(&endpoint, |_| {})
        .embed(&texts(2), soon())
        .await
        .unwrap();
    assert_eq!((made[0].vector[0], made[1].vector[0]), (1.0, 2.0));
}

#[tokio::test]
async fn a_busy_endpoint_says_when_to_come_back_and_is_asked_once() {
    for status in [429, 500, 503] {
        let endpoint = Endpoint::start(move |_| {
            let body =
                r#"{"error":{"message":"Rate limit reached","type":"requests","code":null}}"#;
            reply(status, &[("Retry-After", "7")], body)
        });
        let endpoint = endpoint.await;
        let error = client(&endpoint, |_| {})
            .embed(&texts(1), soon())
            .await
            .unwrap_err();
        assert_eq!(error.retry_after(), Some(Duration::from_secs(7)), "{error}");
        let text = error.to_string();
        assert!(text.contains(&format!("status {status}")), "{text}");
        assert!(
            text.ends_with("Rate limit reached; try again in 7 s"),
            "{text}"
        );
        assert_eq!(endpoint.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_key_goes_along_and_into_no_error() {
    let endpoint = Endpoint::start(|_| {
        reply(
            401,
            &[],
            r#"{"error":{"message":"Incorrect API key provided: sk-planted-1234."}}"#,
        )
    });
    let endpoint = endpoint.await;
    let client = client(&endpoint, |settings| {
        settings.key = Some("sk-planted-1234".to_owned());
        settings.url.push_str("?token=also-planted");
    });
    let error = client.embed(&texts(1), soon()).await.unwrap_err();
    assert!(
        matches!(error, Error::Refused { status: 401, .. }),
        "{error}"
    );
    assert!(
        !format!("{error} {error:?}").contains("planted"),
        "{error:?}"
    );
    assert_eq!(
        endpoint.seen()[0].header("authorization"),
        "Bearer sk-planted-1234"
    );
}

#[tokio::test]
async fn a_silent_endpoint_is_left_at_the_deadline() {
    let endpoint = Endpoint::silent().await;
    let deadline = Instant::now() + Duration::from_millis(200);
    let error = client(&endpoint, |_| {})
        .embed(&texts(1), deadline)
        .await
        .unwrap_err();
    assert!(
        matches!(
            error,
            Error::Away {
                peer: Peer::Embeddings,
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("took too long"), "{error}");
    assert!(Instant::now() < deadline + Duration::from_secs(30));
}
