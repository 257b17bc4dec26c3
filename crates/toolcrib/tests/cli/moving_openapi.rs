//! OpenAPI documents become tools that work, our tools become a document, and MCP servers go to other clients and back.

use crate::harness::Sandbox;
use crate::site::Site;
use serde_json::{Value, json};

/// An API with a key, in front of a site that tells what it was asked.
pub(crate) fn petshop(url: &str) -> String {
    json!({
        "openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "servers": [{"url": url}],
        "security": [{"key": []}],
        "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Shop"}}},
        "paths": {
            "/pets/{id}": {"put": {"operationId": "pets.rename", "summary": "Renames a pet", "parameters": [
                {"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}},
                {"name": "tags", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}}],
                "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object", "required": ["name"],
                    "properties": {"name": {"type": "string"}, "born": {"type": "string", "readOnly": true}}}}}}}},
            "/pets": {"get": {"operationId": "pets.list"}},
            "/report": {"post": {"requestBody": {"required": true, "content": {"application/xml": {}}}}},
        },
    })
    .to_string()
}

pub(crate) fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("toolcrib.toml", "[http]\nallow = [\"127.0.0.1\"]\n");
    sandbox
}

#[test]
fn operations_become_tools_when_their_secrets_are_set() {
    let site = Site::start(|_| (200, "application/json", b"{\"fine\": true}".to_vec()));
    let sandbox = sandbox();
    sandbox.write("shop.json", &petshop(&site.url));
    let server = sandbox.serve(&[]);
    let preview = sandbox.run(&["import", "openapi", "shop.json", "--preview"]);
    assert_eq!(preview.code, 0, "{preview:?}");
    assert!(
        preview.stdout.contains("pets_rename\tPUT\t/pets/{id}\t\n"),
        "{preview:?}"
    );
    assert!(
        preview
            .stdout
            .contains("-\tPOST\t/report\tleft out: its body is application/xml"),
        "{preview:?}"
    );
    assert!(
        preview.stderr.contains("needs the secret shop_key")
            && preview.stderr.contains("3 operations: 2 tools, 1 left out"),
        "{preview:?}"
    );
    let refused = sandbox.run(&["import", "openapi", "shop.json"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(
        refused.stderr.contains("the secret 'shop_key' is not set")
            && refused.stderr.contains("nothing was taken over"),
        "{refused:?}"
    );
    sandbox.run_with_stdin(
        &["secrets", "set", "shop_key", "--value", "-"],
        "the-key-of-the-shop",
    );
    let dry = sandbox.json(&["import", "openapi", "shop.json", "--dry-run"]);
    assert_eq!(dry["added"], json!(["pets_rename", "pets_list"]), "{dry}");
    assert_eq!(
        server.request("GET", "/api/v1/tools/pets_list", None).0,
        404,
        "a dry run adds nothing"
    );
    let done = sandbox.json(&["import", "openapi", "shop.json"]);
    assert_eq!(
        (&done["added"], &done["left_out"][0]["path"]),
        (&dry["added"], &json!("/report"))
    );
    let again = sandbox.json(&["import", "openapi", "shop.json"]);
    assert_eq!(again["unchanged"], dry["added"], "{again}");
}

#[test]
fn a_tool_of_an_operation_asks_as_the_operation_wants() {
    let site = Site::start(|_| (200, "application/json", b"{\"fine\": true}".to_vec()));
    let sandbox = sandbox();
    sandbox.write("shop.json", &petshop(&site.url));
    let server = sandbox.serve(&[]);
    let key = ["secrets", "set", "shop_key", "--value", "-"];
    sandbox.run_with_stdin(&key, "the-key-of-the-shop");
    sandbox.ok(&["import", "openapi", "shop.json"]);
    sandbox.ok(&[
        "call",
        "pets_rename",
        r#"{"id": 7, "name": "Rex", "tags": ["a", "b c"]}"#,
    ]);
    let asked = site.requests().pop().unwrap();
    assert!(
        asked.starts_with("PUT /pets/7?tags=a&tags=b%20c HTTP/1.1"),
        "{asked}"
    );
    assert!(
        asked.to_lowercase().contains("x-shop: the-key-of-the-shop")
            && asked.ends_with(r#"{"name":"Rex"}"#),
        "{asked}"
    );
    let wrong = sandbox.run(&[
        "call",
        "pets_rename",
        r#"{"id": 7, "name": "Rex", "born": "x"}"#,
    ]);
    assert!(
        wrong.stderr.contains("invalid_input"),
        "what only answers hold cannot be sent: {wrong:?}"
    );
    let (_, tool) = server.request("GET", "/api/v1/tools/pets_list", None);
    assert_eq!(tool["annotations"]["read_only"], true, "{tool}");
}

#[test]
fn tools_that_are_there_are_replaced_only_by_force() {
    let site = Site::start(|_| (200, "application/json", b"{\"fine\": true}".to_vec()));
    let sandbox = sandbox();
    sandbox.write("shop.json", &petshop(&site.url));
    let _server = sandbox.serve(&[]);
    let key = ["secrets", "set", "shop_key", "--value", "-"];
    sandbox.run_with_stdin(&key, "the-key-of-the-shop");
    sandbox.ok(&["import", "openapi", "shop.json"]);
    sandbox.write(
        "shop.json",
        &petshop(&site.url).replace("Renames a pet", "Gives a pet a name"),
    );
    let other = sandbox.run(&["import", "openapi", "shop.json"]);
    assert!(
        other.code == 1
            && other
                .stderr
                .contains("pets_rename: there is another tool of that name"),
        "{other:?}"
    );
    let forced = sandbox.json(&[
        "import",
        "openapi",
        "shop.json",
        "--force",
        "--pick",
        "pets_r*",
    ]);
    assert_eq!(forced["replaced"], json!(["pets_rename"]), "{forced}");
    let open = sandbox.json(&[
        "import",
        "openapi",
        "shop.json",
        "--prefix",
        "open_",
        "--auth",
        "none",
    ]);
    assert_eq!(
        open["added"],
        json!(["open_pets_rename", "open_pets_list"]),
        "{open}"
    );
    sandbox.write("shop.yaml", "openapi: 3.0.0\npaths: {}\n");
    let yaml = sandbox.run(&["import", "openapi", "shop.yaml"]);
    assert!(
        yaml.stderr.contains("it is no JSON") && yaml.stderr.contains("js-yaml"),
        "{yaml:?}"
    );
}

#[test]
fn the_api_imports_as_the_command_does() {
    let sandbox = sandbox();
    let server = sandbox.serve(&[]);
    let document: Value = serde_json::from_str(&petshop("https://shop.example")).unwrap();
    let body = |more: Value| {
        let mut body = json!({"document": document, "no_auth": true});
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        let (status, answer) = server.request("POST", "/api/v1/openapi/import", Some(&body));
        assert_eq!(status, 200, "{answer}");
        let outcomes = answer["tools"].as_array().unwrap().iter();
        outcomes
            .map(|it| it["outcome"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(body(json!({"dry_run": true})), ["added", "added"]);
    assert_eq!(
        server.request("GET", "/api/v1/tools/pets_list", None).0,
        404
    );
    assert_eq!(body(json!({})), ["added", "added"]);
    assert_eq!(body(json!({})), ["unchanged", "unchanged"]);
    assert_eq!(
        body(json!({"base_url": "https://other.example"})),
        ["failed", "failed"]
    );
    assert_eq!(
        body(json!({"base_url": "https://other.example", "force": true, "pick": ["pets_list"]})),
        ["replaced"]
    );
    assert_eq!(
        body(json!({"no_auth": false, "prefix": "x_"})),
        ["failed", "failed"],
        "its secret is not set"
    );
    let (status, refused) = server.request(
        "POST",
        "/api/v1/openapi/import",
        Some(&json!({"document": {"swagger": "2.0"}})),
    );
    assert_eq!(status, 422, "{refused}");
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("swagger2openapi"),
        "{refused}"
    );
}

#[test]
fn our_tools_are_a_document_that_makes_tools_again() {
    let sandbox = sandbox();
    let server = sandbox.serve(&[]);
    let url = server.url();
    let asked = ["--url", &url, "--key", &server.key];
    let text = sandbox.ok(&[&["export", "openapi"][..], &asked].concat());
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (&document["openapi"], &document["servers"][0]["url"]),
        (&json!("3.1.0"), &json!(url))
    );
    let (_, page) = server.request("GET", "/api/v1/tools?limit=500&active=true", None);
    let tools = page["items"].as_array().unwrap();
    assert_eq!(document["paths"].as_object().unwrap().len(), tools.len());
    sandbox.run_with_stdin(&["secrets", "set", "key", "--value", "-"], &server.key);
    sandbox.write("ours.json", &text);
    let done = sandbox.json(&[
        "import",
        "openapi",
        "ours.json",
        "--prefix",
        "again_",
        "--auth",
        "key=key",
    ]);
    assert_eq!(
        done["added"].as_array().unwrap().len(),
        tools.len(),
        "{done}"
    );
    assert_eq!(
        (&done["left_out"], &done["failed"], &done["lost"]),
        (&json!([]), &json!([]), &json!([])),
        "{done}"
    );
    let sum = sandbox.ok(&[
        "call",
        "again_calculator",
        r#"{"arguments": {"expression": "6 * 7"}}"#,
    ]);
    assert!(sum.contains("42"), "{sum}");

    sandbox.ok(&[
        "toolsets",
        "add",
        r#"{"name": "kit", "tools": ["calculator"]}"#,
    ]);
    let kit: Value =
        serde_json::from_str(&sandbox.ok(&["export", "openapi", "--toolset", "kit"])).unwrap();
    let paths: Vec<&String> = kit["paths"].as_object().unwrap().keys().collect();
    assert_eq!(paths, ["/api/v1/tools/calculator/call"]);
    let none = sandbox.run(&["export", "openapi", "--toolset", "none"]);
    assert!(none.code != 0 && none.stderr.contains("none"), "{none:?}");
}

#[test]
fn the_api_of_the_project_itself_becomes_tools() {
    let sandbox = sandbox();
    let server = sandbox.serve(&[]);
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    sandbox.run_with_stdin(&["secrets", "set", "key", "--value", "-"], &server.key);
    let url = server.url();
    let done = sandbox.json(&[
        "import",
        "openapi",
        own,
        "--base-url",
        &url,
        "--prefix",
        "crib_",
        "--auth",
        "key=key",
        "--auth",
        "bearer=key",
    ]);
    assert!(done["added"].as_array().unwrap().len() > 80, "{done}");
    assert_eq!(
        (&done["left_out"], &done["failed"]),
        (&json!([]), &json!([])),
        "{done}"
    );
    let me = sandbox.ok(&["call", "crib_me", "{}"]);
    assert!(me.contains("\"role\":\"admin\""), "{me}");
}

#[test]
fn servers_go_to_other_clients_and_back() {
    let sandbox = sandbox();
    let server = sandbox.serve(&[]);
    let add = |body: Value| {
        let (status, answer) = server.request("POST", "/api/v1/servers", Some(&body));
        assert_eq!(status, 201, "{answer}");
    };
    add(
        json!({"name": "search", "url": "https://a.example/mcp?api_key=a-secret-of-the-address-1", "disabled": true,
        "headers": {"Authorization": "Bearer a-secret-of-a-header-12", "X-Team": "${TEAM}"}, "timeout_seconds": 9}),
    );
    add(
        json!({"name": "old", "url": "https://b.example/sse", "transport": "sse", "disabled": true}),
    );
    let done = sandbox.run(&["export", "mcp-servers"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!format!("{done:?}").contains("a-secret-of"), "{done:?}");
    let servers: Value = serde_json::from_str(&done.stdout).unwrap();
    let search = json!({"type": "http", "url": "https://a.example/mcp?api_key=${SEARCH_URL}",
        "headers": {"Authorization": "${SEARCH_AUTHORIZATION}", "X-Team": "${TEAM}"}, "timeout_seconds": 9.0, "disabled": true});
    assert!(
        catalog::test_case::is_same(&servers["mcpServers"]["search"], &search),
        "{servers:#}"
    );
    assert_eq!(servers["mcpServers"]["old"]["type"], "sse");
    assert!(
        done.stderr
            .contains("set these variables where it is used: SEARCH_URL, SEARCH_AUTHORIZATION"),
        "{done:?}"
    );

    let other = Sandbox::new()
        .with("SEARCH_URL", "u")
        .with("SEARCH_AUTHORIZATION", "Bearer t")
        .with("TEAM", "t");
    other.write("theirs.json", &done.stdout);
    let taken = other.json(&["import", "mcp-servers", "theirs.json"]);
    assert_eq!(taken["added"].as_array().unwrap().len(), 2, "{taken}");
    let back = other.run(&["export", "mcp-servers"]);
    assert_eq!(
        serde_json::from_str::<Value>(&back.stdout).unwrap(),
        servers,
        "{back:?}"
    );
    let again = other.json(&["import", "mcp-servers", "theirs.json"]);
    assert_eq!(again["added"], json!([]), "{again}");
    let only = sandbox.run(&["export", "mcp-servers", "--only", "none"]);
    assert_eq!(only.code, 2, "{only:?}");
}
