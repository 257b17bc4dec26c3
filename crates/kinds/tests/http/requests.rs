//! Where arguments go, and how they are written there.

use crate::crib::{Crib, knows};
use crate::server::{Seen, Server, json};
use serde_json::{Value, json};

/// The request that a call of such a tool sends; its code where it sends none.
async fn sent(config: Value, arguments: Value) -> Result<Seen, String> {
    let server = Server::start(|_| json("{}")).await;
    let crib = Crib::of(&server, config, knows(&["a", "b", "id", "list", "file"])).await;
    let outcome = crib.call(arguments).await;
    match outcome.code.as_str() {
        "" => Ok(server.last()),
        code => {
            assert_eq!(server.seen(), [], "{outcome:?}");
            Err(code.to_owned())
        }
    }
}

async fn target(config: Value, arguments: Value) -> String {
    sent(config, arguments)
        .await
        .map_or_else(|code| code, |seen| seen.target)
}

#[tokio::test]
async fn what_goes_into_the_path_stays_in_its_place() {
    for (id, expected) in [
        (json!("7"), "/users/7/x"),
        (json!(7), "/users/7/x"),
        (json!("a/b"), "/users/a%2Fb/x"),
        (json!("a b?c#d"), "/users/a%20b%3Fc%23d/x"),
        (json!("한"), "/users/%ED%95%9C/x"),
        (json!("%2e%2e"), "/users/%252e%252e/x"),
        (json!("..."), "/users/.../x"),
        (json!("@evil.example"), "/users/%40evil.example/x"),
        (json!("{{a}}"), "/users/%7B%7Ba%7D%7D/x"),
        (json!([1, "b/c"]), "/users/1%2Cb%2Fc/x"),
        (json!(true), "/users/true/x"),
        (json!(".."), "invalid_input"),
        (json!("."), "invalid_input"),
        (json!("../admin"), "invalid_input"),
        (json!("a/../b"), "invalid_input"),
        (json!("..\\admin"), "invalid_input"),
        (json!(""), "invalid_input"),
        (json!([]), "invalid_input"),
        (json!(null), "invalid_input"),
        (json!("a\r\nX: y"), "invalid_input"),
        (json!("a\0"), "invalid_input"),
    ] {
        let found = target(
            json!({"path": "/users/{id}/x"}),
            json!({"id": id, "a": "no"}),
        )
        .await;
        let found = found.split('?').next().unwrap();
        assert_eq!(found, expected, "{id}");
    }
    assert_eq!(
        target(json!({"path": "/users/{id}"}), json!({})).await,
        "invalid_input"
    );
}

#[tokio::test]
async fn addresses_are_put_together() {
    let server = Server::start(|_| json("{}")).await;
    for (base, path, expected) in [
        ("", "", "/"),
        ("/", "", "/"),
        ("/v1", "", "/v1"),
        ("/v1/", "/users", "/v1/users"),
        ("/v1", "users/", "/v1/users/"),
        (
            "/v1?k=1",
            "/users?x={a}&y={{b}}&z=lit",
            "/v1/users?k=1&x=1%202&z=lit",
        ),
        ("/v1/{a}", "", "/v1/1%202"),
        ("", "//evil.example/x", "/evil.example/x"),
        ("", "/s?q=a{a}z{b}", "/s?q=a1%202z"),
    ] {
        let url = format!("{}{base}", server.url());
        let mut config = json!({"query": {}});
        if !path.is_empty() {
            config["path"] = path.into();
        }
        let crib = Crib::on(
            catalog::tool::Shelf::File,
            "",
            &url,
            config,
            knows(&["a", "b"]),
        )
        .await;
        let outcome = crib.call(json!({"a": "1 2"})).await;
        assert_eq!(outcome.code, "", "{outcome:?}");
        assert_eq!(server.last().target, expected, "{base} {path}");
    }
}

#[tokio::test]
async fn queries_are_encoded_repeated_and_left_out() {
    let config = json!({"query": {
        "a": "{{a}}", "b": "{b}", "list": "{{list}}", "fixed": 5, "on": true, "mixed": "x:{{a}}", "gone": "x:{{b}}",
        "many": ["{{a}}", "lit"], "key&": "v", "secret": {"$secret": "pass"}
    }});
    let arguments = json!({"a": "1&x=2 +é", "list": ["p", 2, null, {"o": 1}], "id": "unused"});
    let expected = "/?a=1%26x%3D2%20%2B%C3%A9&list=p&list=2&list=%7B%22o%22%3A1%7D&fixed=5&on=true\
        &mixed=x%3A1%26x%3D2%20%2B%C3%A9&many=1%26x%3D2%20%2B%C3%A9&many=lit&key%26=v&secret=pass-opened";
    assert_eq!(target(config, arguments).await, expected);
}

#[tokio::test]
async fn arguments_without_a_place_go_where_the_method_carries_them() {
    let arguments = json!({"id": "7", "a": "x y", "list": [1, 2], "b": null});
    let path = json!({"path": "/u/{id}"});
    for method in ["GET", "DELETE", "HEAD", "OPTIONS"] {
        let mut config = path.clone();
        config["method"] = method.into();
        let seen = sent(config, arguments.clone()).await.unwrap();
        assert_eq!(
            (seen.method.as_str(), seen.target.as_str()),
            (method, "/u/7?a=x%20y&list=1&list=2")
        );
        assert!(seen.body.is_empty() && !seen.headers.contains_key("content-type"));
    }
    for method in ["POST", "PUT", "PATCH"] {
        let mut config = path.clone();
        config["method"] = method.into();
        let seen = sent(config, arguments.clone()).await.unwrap();
        assert_eq!(
            (seen.target.as_str(), seen.body.as_str()),
            ("/u/7", r#"{"a":"x y","list":[1,2]}"#)
        );
        assert_eq!(seen.headers["content-type"], "application/json");
    }
    // The example of the requirements: everything as JSON, even nothing.
    let seed = json!({"method": "POST", "headers": {"Content-Type": "application/json"}, "timeout_seconds": 30});
    assert_eq!(
        sent(seed.clone(), json!({"a": 1})).await.unwrap().body,
        r#"{"a":1}"#
    );
    assert_eq!(sent(seed, json!({})).await.unwrap().body, "{}");
    // A tool that says where its arguments go sends no others.
    let mapped = json!({"query": {"a": "{a}"}});
    assert_eq!(target(mapped, json!({"a": 1, "id": 2})).await, "/?a=1");
    let all_used = json!({"method": "POST", "path": "/{id}"});
    let seen = sent(all_used, json!({"id": 1})).await.unwrap();
    assert_eq!(
        (seen.body.as_str(), seen.headers.get("content-type")),
        ("", None)
    );
}

#[tokio::test]
async fn headers_hold_one_line() {
    let config =
        json!({"headers": {"X-A": "v {{a}}", "X-B": "{b}", "X-S": {"$env": "KEY"}, "X-N": 5}});
    let seen = sent(config.clone(), json!({"a": "1"})).await.unwrap();
    assert_eq!(
        (seen.headers["x-a"].as_str(), seen.headers["x-s"].as_str()),
        ("v 1", "KEY-opened")
    );
    assert_eq!(
        (seen.headers["x-n"].as_str(), seen.headers.get("x-b")),
        ("5", None)
    );
    for evil in ["a\r\nX-Evil: 1", "a\nb", "a\0"] {
        assert_eq!(
            sent(config.clone(), json!({"a": evil})).await,
            Err("invalid_input".into())
        );
    }
}

#[tokio::test]
async fn json_bodies_keep_their_types() {
    let config = json!({"method": "POST", "body": {"n": "{{a}}", "s": "is {{a}}", "l": ["{{list}}", 1], "gone": "{{b}}",
        "key": {"$secret": "pass"}}});
    let seen = sent(config, json!({"a": 5, "list": [1, {"$secret": "other"}]}))
        .await
        .unwrap();
    let body: Value = serde_json::from_str(&seen.body).unwrap();
    assert_eq!(
        body,
        json!({"n": 5, "s": "is 5", "l": [[1, {"$secret": "other"}], 1], "key": "pass-opened"})
    );
    // As text it means the same, and nothing in an argument can end a string.
    for text in [
        r#"{"n": {{a}}, "s": "is {{a}}"}"#,
        r#"{"n": "{{a}}", "s": "is {{a}}"}"#,
    ] {
        for (argument, expected) in [
            (json!(5), json!({"n": 5, "s": "is 5"})),
            (
                json!("\"}, {\""),
                json!({"n": "\"}, {\"", "s": "is \"}, {\""}),
            ),
        ] {
            let config = json!({"method": "POST", "body": text});
            let seen = sent(config, json!({"a": argument})).await.unwrap();
            assert_eq!(
                serde_json::from_str::<Value>(&seen.body).unwrap(),
                expected,
                "{text}"
            );
            assert_eq!(seen.headers["content-type"], "application/json");
        }
    }
    let broken = json!({"method": "POST", "body": "{\"n\": ", "body_type": "json"});
    assert_eq!(sent(broken, json!({})).await, Err("not_configured".into()));
}

#[tokio::test]
async fn forms_and_texts_are_written_in_their_own_way() {
    let form = json!({"method": "POST", "body": {"a": "{{a}}", "l": "{{list}}", "gone": "{{b}}"}, "body_type": "form"});
    let arguments = json!({"a": "1&b=2 é", "list": ["x", 3]});
    let seen = sent(form, arguments.clone()).await.unwrap();
    assert_eq!(seen.body, "a=1%26b%3D2+%C3%A9&l=x&l=3");
    assert_eq!(
        seen.headers["content-type"],
        "application/x-www-form-urlencoded"
    );
    for (content_type, text, expected) in [
        (
            "application/x-www-form-urlencoded",
            "a={{a}}&z=1",
            "a=1%26b%3D2%20%C3%A9&z=1",
        ),
        ("text/xml", "<a>{{a}}</a>", "<a>1&amp;b=2 é</a>"),
        ("text/plain", "say {{a}}", "say 1&b=2 é"),
    ] {
        let config =
            json!({"method": "POST", "body": text, "headers": {"Content-Type": content_type}});
        let seen = sent(config, arguments.clone()).await.unwrap();
        assert_eq!(
            (seen.body.as_str(), seen.headers["content-type"].as_str()),
            (expected, content_type)
        );
    }
    let whole = sent(
        json!({"method": "POST", "body": "{{a}}"}),
        json!({"a": "raw {\"x\":1}"}),
    )
    .await
    .unwrap();
    assert_eq!(
        (whole.body.as_str(), whole.headers["content-type"].as_str()),
        ("raw {\"x\":1}", "text/plain; charset=utf-8")
    );
    let object = sent(
        json!({"method": "POST", "body": "{{a}}"}),
        json!({"a": {"x": 1}}),
    )
    .await
    .unwrap();
    assert_eq!(
        (
            object.body.as_str(),
            object.headers["content-type"].as_str()
        ),
        ("{\"x\":1}", "application/json")
    );
}

#[tokio::test]
async fn files_are_sent_from_base64() {
    let config = json!({"method": "POST", "body": {"file": "{{file}}", "note": "{{a}}"}, "body_type": "multipart"});
    let file =
        json!({"content_base64": "aGVsbG8=", "filename": "a\".txt", "content_type": "text/plain"});
    let seen = sent(config.clone(), json!({"file": file, "a": "n"}))
        .await
        .unwrap();
    assert!(
        seen.headers["content-type"].starts_with("multipart/form-data; boundary="),
        "{seen:?}"
    );
    assert!(seen.body.contains(
        "name=\"file\"; filename=\"a%22.txt\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n"
    ));
    assert!(
        seen.body.contains("name=\"note\"\r\n\r\nn\r\n"),
        "{}",
        seen.body
    );
    let bad = json!({"file": {"content_base64": "%%"}});
    assert_eq!(sent(config, bad).await, Err("invalid_input".into()));
}
