//! `web_search` against every engine's wire format, and against a real one where there is one.

use crate::crib::{Crib, sandbox};
use crate::site::Site;
use serde_json::{Value, json};

/// What each engine answers, as its documentation shows it, and where it is asked.
fn recordings() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        (
            "brave",
            "GET /res/v1/web/search?q=rust+%ED%95%9C%EA%B8%80&count=2",
            json!({"type": "search", "query": {"original": "rust 한글"}, "web": {"type": "search", "results": [
                {"title": "<strong>Rust</strong> &amp; more", "url": "https://rust.example/", "is_source_local": false, "description": "A <strong>language</strong>", "page_age": "2026-01-02T03:04:05"},
                {"title": "Two", "url": "https://two.example/", "description": "second"},
                {"title": "Three", "url": "https://three.example/", "description": "third"}
            ]}}),
        ),
        (
            "tavily",
            "POST /search",
            json!({"query": "rust 한글", "follow_up_questions": null, "answer": null, "images": [], "results": [
                {"title": "Rust & more", "url": "https://rust.example/", "content": "A language", "score": 0.91, "raw_content": null, "published_date": "2026-01-02T03:04:05"},
                {"title": "Two", "url": "https://two.example/", "content": "second", "score": 0.5, "raw_content": null}
            ], "response_time": 1.2, "request_id": "r"}),
        ),
        (
            "exa",
            "POST /search",
            json!({"requestId": "r", "resolvedSearchType": "neural", "results": [
                {"id": "a", "title": "Rust & more", "url": "https://rust.example/", "publishedDate": "2026-01-02T03:04:05", "author": null, "score": 0.31, "text": "A language"},
                {"id": "b", "title": "Two", "url": "https://two.example/", "text": "second"}
            ]}),
        ),
        (
            "searxng",
            "GET /search?q=rust+%ED%95%9C%EA%B8%80&format=json",
            json!({"query": "rust 한글", "number_of_results": 0, "results": [
                {"title": "Rust & more", "url": "https://rust.example/", "content": "A language", "engine": "x", "score": 1.0, "publishedDate": "2026-01-02T03:04:05", "category": "general"},
                {"title": "Two", "url": "https://two.example/", "content": "second", "engine": "x", "publishedDate": null},
                {"title": "Three", "url": "https://three.example/", "content": "third", "engine": "x"}
            ], "answers": [], "suggestions": [], "unresponsive_engines": []}),
        ),
        (
            "naver",
            "GET /v1/search/webkr.json?query=rust+%ED%95%9C%EA%B8%80&display=2",
            json!({"lastBuildDate": "Sun, 15 Nov 2026 10:00:00 +0900", "total": 2, "start": 1, "display": 2, "items": [
                {"title": "<b>Rust</b> &amp; more", "link": "https://rust.example/", "description": "A <b>language</b>", "pubDate": "2026-01-02T03:04:05"},
                {"title": "Two", "link": "https://two.example/", "description": "second"}
            ]}),
        ),
    ]
}

fn crib(provider: &str, url: &str) -> Crib {
    Crib::of(
        sandbox()
            .with("TOOLCRIB_WEB_SEARCH_PROVIDER", provider)
            .with("TOOLCRIB_WEB_SEARCH_BASE_URL", url)
            .with("TOOLCRIB_WEB_SEARCH_API_KEY", "client-4711:the-search-key"),
    )
}

#[test]
fn every_engine_gives_the_same_shape() {
    for (engine, asked, recorded) in recordings() {
        let site =
            Site::start(move |_| (200, "application/json", recorded.to_string().into_bytes()));
        let crib = crib(engine, &site.url);
        let answer = crib.call("web_search", &json!({"query": "rust 한글", "count": 2}));
        let found = answer.data().as_array().unwrap();
        assert_eq!(found.len(), 2, "{engine}: {found:?}");
        assert_eq!(found[0]["title"], "Rust & more", "{engine}");
        assert_eq!(found[0]["url"], "https://rust.example/", "{engine}");
        assert_eq!(found[0]["snippet"], "A language", "{engine}");
        assert_eq!(found[0]["published"], "2026-01-02T03:04:05", "{engine}");
        assert_eq!(found[1]["published"], json!(null), "{engine}");
        assert!(
            answer.body["message"]
                .as_str()
                .unwrap()
                .contains("untrusted"),
            "{engine}"
        );
        let request = site.requests().remove(0);
        assert!(request.starts_with(asked), "{engine}: {request}");
        assert!(request.contains("the-search-key"), "{engine}: {request}");
        if asked.starts_with("POST") {
            assert!(request.contains("\"rust 한글\""), "{engine}: {request}");
        }
    }
}

#[test]
fn what_goes_wrong_is_told_with_its_remedy_and_without_the_key() {
    let none = Crib::of(sandbox());
    let message = none
        .call("web_search", &json!({"query": "x"}))
        .failed("not_configured")
        .to_owned();
    assert!(
        message.contains("TOOLCRIB_WEB_SEARCH_PROVIDER") && message.contains("searxng"),
        "{message}"
    );
    for (engine, status, body, code, part) in [
        (
            "brave",
            401,
            "{}",
            "not_configured",
            "does not accept web_search.api_key",
        ),
        (
            "tavily",
            429,
            r#"{"detail":{"error":"slow down"}}"#,
            "upstream_error",
            "no more queries",
        ),
        (
            "searxng",
            403,
            "Forbidden",
            "not_configured",
            "search.formats",
        ),
        ("exa", 500, "oops", "upstream_error", "status 500"),
        (
            "naver",
            200,
            "<html>",
            "upstream_error",
            "no list of results",
        ),
        (
            "brave",
            200,
            r#"{"error": "client-4711:the-search-key"}"#,
            "upstream_error",
            "no list of results",
        ),
    ] {
        let site = Site::start(move |_| (status, "application/json", body.as_bytes().to_vec()));
        let crib = crib(engine, &site.url);
        let answer = crib.call("web_search", &json!({"query": "x"}));
        let message = answer.failed(code);
        assert!(message.contains(part), "{engine}: {message}");
        assert!(
            !answer.body.to_string().contains("the-search-key"),
            "{}",
            answer.body
        );
    }
    let crib = crib("searxng", "http://127.0.0.1:9");
    crib.call("web_search", &json!({"query": "x"}))
        .failed("upstream_error");
}

/// `scripts/with-searx` starts one.
#[test]
fn a_real_searx_is_asked() {
    let Some(url) = std::env::var_os("TOOLCRIB_TEST_SEARX") else {
        println!("skipped: there is no searx here; scripts/with-searx runs this with one");
        return;
    };
    let crib = Crib::of(
        sandbox()
            .with("TOOLCRIB_WEB_SEARCH_PROVIDER", "searxng")
            .with("TOOLCRIB_WEB_SEARCH_BASE_URL", url.to_str().unwrap()),
    );
    let answer = crib.call("web_search", &json!({"query": "rust"}));
    let found = answer.data().as_array().unwrap();
    println!(
        "a real searx found {} pages for 'rust': {}",
        found.len(),
        found[0]
    );
    assert_eq!(found.len(), 2);
    assert_eq!(found[0]["url"], "https://rust.example/");
    assert_eq!(found[0]["title"], "The Rust language");
    let answer = crib.call("web_search", &json!({"query": "날씨"}));
    assert_eq!(answer.data()[0]["snippet"], "오늘 서울은 맑음");
}
