//! One tool: every field, every kind's config, and bodies that come back from the server.

use super::{check_one, tools_problems};
use catalog::definition::{Origin, definition_from_text};
use catalog::test_case::Expected;
use catalog::tool::{KindName, Shelf};
use catalog::tools_file::read_tools;
use serde_json::json;

/// A file whose one tool, in line 4, has `fields` in line 5 in place of the good ones of the same name.
fn tool_with(fields: &str) -> String {
    let good = [
        ("\"name\"", r#""name": "t""#),
        ("\"description\"", r#""description": "d""#),
        ("\"kind\"", r#""kind": "expression""#),
        ("\"config\"", r#""config": {"expression": "1"}"#),
    ];
    let rest: Vec<&str> = good
        .iter()
        .filter(|(key, _)| !fields.starts_with(key) && !fields.contains(&format!("; {key}")))
        .map(|(_, text)| *text)
        .collect();
    let fields = fields.replace("; ", ", ");
    let head = "{\n \"version\": 1,\n \"tools\": [\n  {";
    format!("{head}\n   {fields},\n   {}}}\n ]\n}}\n", rest.join(", "))
}

const WRONG_FIELDS: &[(&str, &str, &str)] = &[
    (r#""name": "get weather""#, "name", "\"get_weather\""),
    (r#""name": """#, "name", "short name"),
    (r#""name": 7"#, "name", "double quotes"),
    (r#""description": "  ""#, "description", "Write something"),
    (
        r#""description_agent": "d""#,
        "description_agent",
        "keep \"description\"",
    ),
    (r#""kind": "htpp""#, "kind", "\"http\""),
    (r#""kind": "soap""#, "kind", "\"http\", \"mcp\", \"python\""),
    (r#""timeout": 3"#, "timeout", "Delete it"),
    (
        r#""timeout_second": 3"#,
        "timeout_second",
        "\"timeout_seconds\"",
    ),
    (r#""timeout_seconds": 0"#, "timeout_seconds", "86400"),
    (r#""timeout_seconds": 86401"#, "timeout_seconds", "86400"),
    (
        r#""timeout_seconds": "3""#,
        "timeout_seconds",
        "as a number",
    ),
    (r#""is_active": "yes""#, "is_active", "true or false"),
    (r#""output_format": "JSON""#, "output_format", "\"json\""),
    (
        r#""rate_limit": {"requests_per_minute": 0}"#,
        "rate_limit.requests_per_minute",
        "1 or more",
    ),
    (
        r#""rate_limit": {"per_minute": 1}"#,
        "rate_limit.per_minute",
        "Delete it",
    ),
    (r#""rate_limit": 5"#, "rate_limit", "object"),
    (
        r#""annotations": {"readonly": true}"#,
        "annotations.readonly",
        "\"read_only\"",
    ),
    (
        r#""annotations": {"readOnlyHint": 1}"#,
        "annotations.readOnlyHint",
        "true or false",
    ),
    (
        r#""input_schema": {"type": "string"}"#,
        "input_schema.type",
        "\"properties\"",
    ),
    (r#""input_schema": []"#, "input_schema", "JSON Schema"),
    (
        r#""input_schema": {"$schema": "http://json-schema.org/draft-04/schema#"}"#,
        "input_schema.$schema",
        "2020-12",
    ),
    (r#""output_schema": "x""#, "output_schema", "JSON Schema"),
    (r#""examples": ["a", 1]"#, "examples[1]", "prompt"),
    (r#""examples": "a""#, "examples", "array"),
    (
        r#""tests": [{"arguments": {}}]"#,
        "tests[0].expect",
        "\"expect\"",
    ),
    (
        r#""tests": [{"arguments": [], "expect": 1}]"#,
        "tests[0].arguments",
        "object",
    ),
    (r#""id": "x""#, "id", "server keeps it"),
    (
        r#""is_public": true, "is_public": true"#,
        "is_public",
        "Delete one",
    ),
    (
        r#""input_schema": {"properties": {"a": {}, "a": {}}}"#,
        "input_schema.properties.a",
        "only the last",
    ),
    (
        r#""auth_config": {"type": "bearer", "token": "abc"}"#,
        "auth_config.token",
        "$env",
    ),
    (
        r#""auth_config": {"headers": ["k"]}"#,
        "auth_config.headers[0]",
        "$secret",
    ),
    (
        r#""auth_config": {"token": {"$env": ""}}"#,
        "auth_config.token",
        "API_TOKEN",
    ),
    (
        r#""auth_config": {"token": {"$environ": "A"}}"#,
        "auth_config.token.$environ",
        "$env",
    ),
    (
        r#""auth_config": {"token": {"$env": "A", "x": 1}}"#,
        "auth_config.token",
        "delete the rest",
    ),
    (r#""config": {}"#, "config.expression", "\"a * b\""),
    (r#""config": 5"#, "config", "object"),
];

#[test]
fn wrong_fields_of_a_tool() {
    let long = format!("\"description\": \"{}\"", "x".repeat(16 * 1024 + 1));
    let too_long = (long.as_str(), "description", "Shorten");
    for (fields, path, remedy) in WRONG_FIELDS.iter().chain([&too_long]) {
        let problems = tools_problems(&tool_with(fields));
        check_one(
            &problems,
            "tools.json",
            5,
            &format!("$.tools[0].{path}"),
            remedy,
        );
    }
}

const WRONG_CONFIGS: &[(&str, &str, &str, &str)] = &[
    (
        "http",
        r#"{"method": "GET"}"#,
        ".base_url",
        "https://api.example.com",
    ),
    (
        "http",
        r#"{"base_url": "ftp://x", "method": "GET"}"#,
        ".base_url",
        "begin with http",
    ),
    (
        "http",
        r#"{"base_url": "https://", "method": "GET"}"#,
        ".base_url",
        "no host",
    ),
    (
        "http",
        r#"{"base_url": "http://h:99999", "method": "GET"}"#,
        ".base_url",
        "port",
    ),
    (
        "http",
        r#"{"base_url": "http://h", "method": "get"}"#,
        ".method",
        "\"GET\"",
    ),
    (
        "http",
        r#"{"base_url": "http://h", "method": "GET", "header": {}}"#,
        ".header",
        "\"headers\"",
    ),
    (
        "http",
        r#"{"base_url": "http://h", "method": "GET", "headers": {"a": []}}"#,
        ".headers.a",
        "plain value",
    ),
    (
        "http",
        r#"{"base_url": "https://{region}.example.com/x", "method": "GET"}"#,
        ".base_url",
        "after the host",
    ),
    (
        "http",
        r#"{"base_url": "https://me:pw@example.com", "method": "GET"}"#,
        ".base_url",
        "auth_config",
    ),
    (
        "http",
        r#"{"base_url": "http://h", "method": "GET", "headers": {"Content-Length": "1"}}"#,
        ".headers.Content-Length",
        "Leave it out",
    ),
    (
        "http",
        r#"{"base_url": "http://h", "method": "GET", "headers": {"X Y": "1"}}"#,
        ".headers[\"X Y\"]",
        "hyphens",
    ),
    (
        "http",
        r#"{"base_url": "http://h", "method": "POST", "body_type": "xml"}"#,
        ".body_type",
        "\"multipart\"",
    ),
    (
        "http",
        r#"{"base_url": "http://h", "method": "GET", "response": "data.items"}"#,
        ".response",
        "/data/items",
    ),
    (
        "http",
        r#"{"base_url": "http://h", "method": "GET", "response": {"a": "x"}}"#,
        ".response.a",
        "slash",
    ),
    (
        "http",
        r#"{"base_url": "http://h", "method": "GET", "response": {}}"#,
        ".response",
        "/data/items",
    ),
    (
        "http",
        r#"{"base_url": "http://h", "method": "GET", "retry": {"max": 6}}"#,
        ".retry.max",
        "at most 5",
    ),
    (
        "http",
        r#"{"base_url": "http://h", "method": "GET", "retry": {}}"#,
        ".retry.max",
        "{\"max\": 2}",
    ),
    (
        "http",
        r#"{"base_url": "http://h", "method": "POST", "retry": {"max": 1}}"#,
        ".retry",
        "twice",
    ),
    (
        "mcp",
        r#"{"server_name": "s"}"#,
        ".tool_name",
        "\"read_file\"",
    ),
    (
        "mcp",
        r#"{"server_name": "s", "tool_name": "t", "transport": "tcp"}"#,
        ".transport",
        "\"stdio\"",
    ),
    ("python", r#"{}"#, ".script", "tools/hello.py"),
    (
        "python",
        r#"{"script": "../x.py"}"#,
        ".script",
        "without \"..\"",
    ),
    (
        "python",
        r#"{"script": "/etc/x.py"}"#,
        ".script",
        "workspace",
    ),
    (
        "python",
        r#"{"script": "a/../../x.py"}"#,
        ".script",
        "workspace",
    ),
    (
        "python",
        r#"{"script": "..\\x.py"}"#,
        ".script",
        "workspace",
    ),
    (
        "python",
        r#"{"script": "a.py", "module": "b"}"#,
        ".module",
        "installed package",
    ),
    ("python", r#"{"module": "b"}"#, ".function", "\"execute\""),
    (
        "python",
        r#"{"script": "a.py", "sandbox": "on"}"#,
        ".sandbox",
        "\"off\", \"auto\", \"require\"",
    ),
    (
        "shell",
        r#"{"command": "ls -l"}"#,
        ".command",
        r#"["ls","-l"]"#,
    ),
    ("shell", r#"{"command": []}"#, ".command", "program first"),
    (
        "shell",
        r#"{"command": ["ls", 1]}"#,
        ".command[1]",
        "double quotes",
    ),
    (
        "sql",
        r#"{"source": "s", "query": "q", "result": "rows"}"#,
        ".result",
        "\"row\"",
    ),
    (
        "sql",
        r#"{"source": "s", "query": "q", "max_rows": 1.5}"#,
        ".max_rows",
        "whole number",
    ),
    (
        "sql",
        r#"{"source": "s", "query": "q", "sandbox": "off"}"#,
        ".sandbox",
        "Delete it",
    ),
    (
        "expression",
        r#"{"expression": ""}"#,
        ".expression",
        "Write something",
    ),
    (
        "expression",
        r#"{"expression": "1", "timeout_seconds": -1}"#,
        ".timeout_seconds",
        "86400",
    ),
    (
        "builtin",
        r#"{"nam": "calculator", "name": "x"}"#,
        ".nam",
        "\"name\"",
    ),
];

#[test]
fn wrong_configs_of_each_kind() {
    for (kind, config, path, remedy) in WRONG_CONFIGS {
        let text = tool_with(&format!("\"kind\": \"{kind}\"; \"config\": {config}"));
        let path = format!("$.tools[0].config{path}");
        check_one(&tools_problems(&text), "tools.json", 5, &path, remedy);
    }
}

#[test]
fn a_full_definition_is_read() {
    let text = r#"{
      "name": "t.1-x_Y", "description_agent": "d", "description_user": "u", "tool_type": "PYTHON",
      "config": {"module": "m", "function": "f", "async": true, "sandbox": "auto", "timeout_seconds": 2},
      "input_schema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"},
      "output_schema": true, "output_format": "text", "timeout_seconds": 0.5, "parallel_capable": true,
      "rate_limit": {"requests_per_minute": 3}, "is_active": false, "is_public": true,
      "auth_config": {"type": "basic", "username": "u", "password": {"$secret": "pw"}},
      "annotations": {"readOnlyHint": true, "destructive": false, "title": "T"},
      "examples": ["e"], "tests": [{"arguments": {"a": 1}, "expect": null}], "approval": "always"
    }"#;
    let d = definition_from_text("body", text, Origin::Body(Shelf::File)).unwrap();
    assert_eq!(
        (d.name.as_str(), d.kind, d.timeout_seconds),
        ("t.1-x_Y", KindName::Python, Some(0.5))
    );
    assert_eq!(d.annotations.read_only, Some(true));
    assert_eq!(d.tests[0].expect, Expected::Data(json!(null)));
    // What is written reads back as the same thing.
    let again = serde_json::to_string(&d).unwrap();
    assert_eq!(
        definition_from_text("body", &again, Origin::ToolsFile).unwrap(),
        d
    );
}

#[test]
fn what_the_server_shows_can_be_sent_back() {
    let text = r#"{"name": "t", "description": "d", "kind": "expression", "config": {"expression": "1"}, "description_user": null,
        "id": "x", "owner": "y", "version": 3, "shelf": "SHELF", "created_at": 1, "updated_at": 2, "hash": "h", "auth_config": {"token": "plain"}}"#;
    let read =
        |shelf: &str, origin| definition_from_text("body", &text.replace("SHELF", shelf), origin);
    let d = read("database", Origin::Body(Shelf::Database)).unwrap();
    assert_eq!(d.input_schema, json!({"type": "object"}));
    for problems in [
        read("file", Origin::Body(Shelf::Database)).unwrap_err(),
        read("database", Origin::Body(Shelf::File)).unwrap_err(),
    ] {
        check_one(&problems, "body", 2, "$.auth_config.token", "$env");
        assert!(
            !problems[0].to_string().contains("plain\""),
            "the secret is not repeated"
        );
    }
    let problems = read("cellar", Origin::Body(Shelf::Database)).unwrap_err();
    check_one(&problems, "body", 2, "$.shelf", "\"database\"");
}

#[test]
fn configs_of_http_tools_that_are_fine() {
    for config in [
        r#"{"base_url": "https://api.example.com", "method": "POST", "headers": {"Content-Type": "application/json"}, "timeout_seconds": 30}"#,
        r#"{"base_url": "https://h/users/{id}?x={{y}}", "method": "GET", "response": "/data/0", "retry": {"max": 5}}"#,
        r#"{"base_url": "https://h", "method": "PUT", "body": {"a": "{{a}}"}, "body_type": "form", "response": {"a": "/x", "b": "/y~1z"}}"#,
        r#"{"base_url": "https://h", "method": "GET", "query": {"q": ["{{a}}", 1]}, "response": "bytes"}"#,
    ] {
        let text = tool_with(&format!("\"kind\": \"http\"; \"config\": {config}"));
        assert!(read_tools("tools.json", &text).is_ok(), "{config}");
    }
}
