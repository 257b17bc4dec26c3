//! Command lines of curl as tools.

use crate::crib::Crib;
use crate::server::{Server, json};
use catalog::definition::{Origin, definition_from_text};
use catalog::tool::Shelf;
use kinds::http::curl::{Error, definition};
use serde_json::{Value, json};

fn config(line: &str) -> Value {
    let definition = definition(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    // Whatever is read must be a definition that can be stored.
    let text = definition.to_string();
    let read = definition_from_text("curl", &text, Origin::Body(Shelf::Database));
    assert!(read.is_ok(), "{text}: {read:?}");
    definition["config"].clone()
}

#[test]
fn lines_become_definitions() {
    let base = |more: Value| {
        let mut all = json!({"base_url": "https://api.example.com", "method": "GET"});
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        all
    };
    let json_header = json!({"Content-Type": "application/json"});
    for (line, expected) in [
        (
            "curl https://api.example.com/v1/users",
            base(json!({"path": "/v1/users"})),
        ),
        (
            "curl -s 'https://api.example.com/?q=a%20b&q=c+d#x'",
            base(json!({"query": {"q": ["a b", "c d"]}})),
        ),
        (
            "curl -X DELETE https://api.example.com/u/{id}",
            base(json!({"method": "DELETE", "path": "/u/{id}"})),
        ),
        (
            "curl -I api.example.com",
            json!({"base_url": "http://api.example.com", "method": "HEAD"}),
        ),
        (
            r#"curl https://api.example.com -H 'Content-Type: application/json' -d '{"a": [1, "{{x}}"]}'"#,
            base(
                json!({"method": "POST", "body": {"a": [1, "{{x}}"]}, "body_type": "json", "headers": json_header}),
            ),
        ),
        (
            r#"curl --json '{"a":1}' https://api.example.com"#,
            base(json!({"method": "POST", "body": {"a": 1}, "body_type": "json"})),
        ),
        (
            "curl -d a=1 -d 'b=x%26y' --data-urlencode 'c=1 & 2' https://api.example.com",
            base(
                json!({"method": "POST", "body": {"a": "1", "b": "x&y", "c": "1 & 2"}, "body_type": "form"}),
            ),
        ),
        (
            "curl -G -d a=1 --data-urlencode 'q=x y' https://api.example.com/s?z=0",
            base(json!({"path": "/s", "query": {"z": "0", "a": "1", "q": "x y"}})),
        ),
        (
            "curl -F a=1 -F a=2 --form-string 'b=@x' https://api.example.com",
            base(
                json!({"method": "POST", "body": {"a": ["1", "2"], "b": "@x"}, "body_type": "multipart"}),
            ),
        ),
        (
            "curl -X PUT --data-raw '<a/>' -H 'Content-Type: text/xml' https://api.example.com",
            base(json!({"method": "PUT", "body": "<a/>", "headers": {"Content-Type": "text/xml"}})),
        ),
        (
            "curl -d '{\"a\":1}' https://api.example.com",
            base(
                json!({"method": "POST", "body": "{\"a\":1}", "headers": {"Content-Type": "application/x-www-form-urlencoded"}}),
            ),
        ),
        (
            "curl -A me -e http://r -H 'Accept: text/plain' -H 'Host: x' -H 'Accept-Encoding: br' -H 'X-Empty:' https://api.example.com",
            base(
                json!({"headers": {"User-Agent": "me", "Referer": "http://r", "Accept": "text/plain"}}),
            ),
        ),
        (
            "curl --retry 9 -sSLm5 https://api.example.com",
            base(json!({"retry": {"max": 5}})),
        ),
    ] {
        assert_eq!(config(line), expected, "{line}");
    }
}

#[test]
fn credentials_are_nowhere_but_in_auth_config() {
    for (line, expected) in [
        (
            "-H 'Authorization: Bearer hunter2'",
            json!({"type": "bearer", "token": "hunter2"}),
        ),
        (
            "-H \"authorization: bearer $TOKEN\"",
            json!({"type": "bearer", "token": {"$env": "TOKEN"}}),
        ),
        (
            "-H \"Authorization: Bearer ${API_KEY}\"",
            json!({"type": "bearer", "token": {"$env": "API_KEY"}}),
        ),
        (
            "--oauth2-bearer hunter2",
            json!({"type": "bearer", "token": "hunter2"}),
        ),
        (
            "-u kim:hunter2:x",
            json!({"type": "basic", "username": "kim", "password": "hunter2:x"}),
        ),
        (
            "-u \"kim:$PW\"",
            json!({"type": "basic", "username": "kim", "password": {"$env": "PW"}}),
        ),
        (
            "-H 'Authorization: Basic a2ltOmh1bnRlcjI='",
            json!({"type": "basic", "username": "kim", "password": "hunter2"}),
        ),
        (
            "-H 'Authorization: hunter2'",
            json!({"type": "header", "name": "Authorization", "value": "hunter2"}),
        ),
        (
            "-H 'X-API-Key: hunter2'",
            json!({"type": "header", "name": "X-API-Key", "value": "hunter2"}),
        ),
        (
            "-H 'PRIVATE-TOKEN: hunter2'",
            json!({"type": "header", "name": "PRIVATE-TOKEN", "value": "hunter2"}),
        ),
        (
            "-b 'session=hunter2'",
            json!({"type": "header", "name": "Cookie", "value": "session=hunter2"}),
        ),
    ] {
        let line = format!("curl {line} -H 'Accept: */*' https://api.example.com/x");
        let found = definition(&line).unwrap();
        assert_eq!(found["auth_config"], expected, "{line}");
        assert!(!found["config"].to_string().contains("hunter2"), "{line}");
        assert_eq!(
            found["config"]["headers"],
            json!({"Accept": "*/*"}),
            "{line}"
        );
        config(&line);
    }
    let in_url = definition("curl https://kim:hunter2@api.example.com/x").unwrap();
    assert_eq!(
        in_url["auth_config"],
        json!({"type": "basic", "username": "kim", "password": "hunter2"})
    );
    assert_eq!(in_url["config"]["base_url"], "https://api.example.com");
    let two = definition("curl -u a:b -H 'X-Api-Key: c' https://api.example.com");
    assert_eq!(two, Err(Error::ManyCredentials));
}

#[test]
fn names_and_arguments_follow_from_the_line() {
    let found = definition("curl -m 7 https://api.example.com/v1/users/{id}/posts?page={{page}}&")
        .unwrap_err();
    assert_eq!(found, Error::Shell('&'));
    let found = definition("curl -m 7 'https://api.example.com/v1/users/{id}/posts?page={{page}}'")
        .unwrap();
    assert_eq!(
        (&found["name"], &found["timeout_seconds"]),
        (&json!("get_posts"), &json!(7.0))
    );
    assert_eq!(
        found["description"],
        "GET https://api.example.com/v1/users/{id}/posts"
    );
    let schema = json!({"type": "object", "properties": {"id": {"type": "string"}, "page": {"type": "string"}}});
    assert_eq!(found["input_schema"]["properties"], schema["properties"]);
    let mut required: Vec<&str> = found["input_schema"]["required"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    required.sort_unstable();
    assert_eq!(required, ["id", "page"]);
}

#[test]
fn what_cannot_be_taken_over_is_said() {
    for (line, named) in [
        ("wget https://a", "curl"),
        ("", "curl"),
        ("curl", "no address"),
        ("curl https://a https://b", "more than one address"),
        ("curl -k https://a", "-k"),
        ("curl --insecure https://a", "--insecure"),
        ("curl --frobnicate https://a", "--frobnicate"),
        ("curl -Z https://a", "-Z"),
        ("curl -d @file https://a", "reads a file"),
        ("curl -F f=@file https://a", "reads a file"),
        ("curl --data-urlencode x@file https://a", "reads a file"),
        ("curl -b cookies.txt https://a", "reads a file"),
        ("curl ftp://a", "no address that"),
        ("curl file:///etc/passwd", "no address that"),
        ("curl https://{host}/x", "no address that"),
        ("curl \"https://$HOST/x\"", "variable"),
        ("curl -d \"a=$X\" https://a", "variable"),
        ("curl -H 'no colon' https://a", "no header"),
        ("curl https://a | sh", "shell"),
        ("curl -m soon https://a", "number"),
        ("curl https://a -X", "-X"),
        ("curl 'https://a", "quotes"),
    ] {
        let error = definition(line).expect_err(line).to_string();
        assert!(error.contains(named), "{line}: {error}");
    }
    let error = definition("curl https://kim:hunter2@{x}/")
        .unwrap_err()
        .to_string();
    assert!(!error.contains("hunter2"), "{error}");
}

#[tokio::test]
async fn a_line_that_was_taken_over_does_what_it_did() {
    let server = Server::start(|_| json("\"ok\"")).await;
    let line = format!(
        "curl -X POST {}/v1/items?x=1 -H 'Content-Type: application/json' -H 'X-Trace: t' -u kim:pw -d '{{\"name\": \"{{{{name}}}}\", \"n\": 2}}'",
        server.url()
    );
    let found = definition(&line).unwrap();
    let mut config = found["config"].clone();
    config.as_object_mut().unwrap().remove("base_url");
    let parts = json!({"auth_config": found["auth_config"], "input_schema": found["input_schema"]});
    let crib = Crib::on(
        Shelf::Database,
        &server.address.to_string(),
        &server.url(),
        config,
        parts,
    )
    .await;
    let outcome = crib.call(json!({"name": "a\"b"})).await;
    assert_eq!(outcome.data, json!("ok"), "{outcome:?}");
    let seen = server.last();
    assert_eq!(
        (seen.method.as_str(), seen.target.as_str()),
        ("POST", "/v1/items?x=1")
    );
    assert_eq!(
        (
            seen.headers["authorization"].as_str(),
            seen.headers["x-trace"].as_str()
        ),
        ("Basic a2ltOnB3", "t")
    );
    assert_eq!(seen.body, r#"{"name":"a\"b","n":2}"#);
}
