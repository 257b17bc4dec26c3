//! A registry with one of everything in it, and a secret wherever there can be one; for the tests of moving it.

use crate::harness::{Done, Running, Sandbox};
use crate::site::{Site, read};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

/// Stands in every place that can hold a secret; its end is looked for, too.
pub(crate) const MARKER: &str = "marker-of-a-secret-9f3b-wxyz";

fn made(server: &Running, method: &str, path: &str, body: &Value) -> Value {
    let (status, answer) = server.request(method, path, Some(body));
    assert!(
        (200..300).contains(&status),
        "{method} {path}: {status} {answer}"
    );
    answer
}

/// One of everything, with a secret wherever there can be one.
fn fill(server: &Running, site: &str) -> String {
    let post = |path: &str, body: Value| made(server, "POST", path, &body);
    post(
        "/api/v1/users",
        json!({"name": "kim", "role": "author", "password": format!("{MARKER}-p")}),
    );
    let key = post(
        "/api/v1/keys",
        json!({"name": "of-kim", "user": "kim", "scopes": ["read", "call"]}),
    );
    made(
        server,
        "PUT",
        "/api/v1/secrets/api_key",
        &json!({"value": format!("{MARKER}-s")}),
    );
    post(
        "/api/v1/sources",
        json!({"name": "shop", "kind": "postgres", "url": format!("postgres://reader:{MARKER}@127.0.0.1:1/shop"), "authors": "everyone"}),
    );
    post(
        "/api/v1/sources",
        json!({"name": "file", "kind": "sqlite", "path": "demo.db"}),
    );
    post(
        "/api/v1/servers",
        json!({"name": "search", "url": format!("{site}/mcp?api_key={MARKER}"), "headers": {"Authorization": format!("Bearer {MARKER}"), "X-Env": "${HOME}"}, "disabled": true}),
    );
    post(
        "/api/v1/tools",
        json!({"name": "told", "description": "Asks the site.", "kind": "http",
            "config": {"base_url": site, "method": "GET", "path": "/told"},
            "auth_config": {"type": "header", "name": "X-Key", "value": format!("{MARKER}-t")}}),
    );
    post(
        "/api/v1/tools",
        json!({"name": "referring", "description": "Asks with a named secret.", "kind": "http",
            "config": {"base_url": site, "method": "POST", "path": "/r/{{id}}", "headers": {"X-A": {"$secret": "api_key"}}},
            "auth_config": {"type": "bearer", "token": {"$secret": "api_key"}},
            "input_schema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}}),
    );
    post(
        "/api/v1/tools?owner=kim",
        json!({"name": "sum", "description": "Adds.", "description_user": "더하기", "kind": "expression",
            "config": {"expression": "a + b"}, "rate_limit": {"requests_per_minute": 5}, "examples": ["1 and 2"],
            "annotations": {"read_only": true}, "tests": [{"arguments": {"a": 1, "b": 2}, "expect": 3}],
            "input_schema": {"type": "object", "properties": {"b": {"type": "number"}, "a": {"type": "number"}}}, "is_public": true}),
    );
    post(
        "/api/v1/tools",
        json!({"name": "users", "description": "Lists users.", "kind": "sql", "timeout_seconds": 2.5,
            "config": {"source": "file", "query": "SELECT user_nm FROM h_user"}, "is_active": false}),
    );
    post(
        "/api/v1/toolsets?owner=kim",
        json!({"name": "kit", "tools": ["sum", {"tool": "told", "name": "ask"}], "deny": ["sql_*"], "instructions": "Add."}),
    );
    post(
        "/api/v1/agents?owner=kim",
        json!({"name": "비서 / one", "model_provider": "openai", "model_name": "m", "tools": ["sum"], "is_public": true}),
    );
    for (kind, target) in [("USER", "kim"), ("TOOL", "sum"), ("TOOL", "calculator")] {
        made(
            server,
            "PUT",
            "/api/v1/limits",
            &json!({"target_type": kind, "target_id": target, "max_count": 50}),
        );
    }
    let rules = json!([{"subject": "role", "target": "viewer", "deny": ["told"]},
        {"subject": "user", "target": "kim", "allow": ["s*", "told"]},
        {"subject": "agent", "target": "비서 / one", "hide": ["told"]}]);
    made(server, "PUT", "/api/v1/policy", &json!({"rules": rules}));
    key["key"].as_str().expect("a key").to_owned()
}

/// Every file of a folder with its text.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path
                .strip_prefix(folder)
                .expect("inside")
                .display()
                .to_string();
            found.insert(name, std::fs::read_to_string(&path).expect("text"));
        }
    }
    found
}

/// Versions of all that have one: what an idle apply leaves as they are.
pub(crate) fn versions(server: &Running) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for sort in [
        "tools?limit=500",
        "toolsets",
        "agents",
        "servers",
        "sources",
    ] {
        let (_, page) = server.request("GET", &format!("/api/v1/{sort}"), None);
        for item in page["items"].as_array().expect("a page") {
            all.push((item["name"].to_string(), item["version"].clone()));
        }
    }
    let (_, policy) = server.request("GET", "/api/v1/policy", None);
    all.push(("policy".to_owned(), policy["version"].clone()));
    all
}

pub(crate) struct World {
    pub(crate) sandbox: Sandbox,
    pub(crate) server: Running,
    pub(crate) site: Site,
    pub(crate) folder: PathBuf,
    /// A key of somebody.
    pub(crate) key: String,
}

pub(crate) fn world(sandbox: Sandbox) -> World {
    sandbox.write("toolcrib.toml", "[http]\nallow = [\"127.0.0.1\"]\n");
    let site = Site::start(|_| (200, "application/json", b"{\"fine\": true}".to_vec()));
    let server = sandbox.serve(&[]);
    let key = fill(&server, &site.url);
    let folder = sandbox.folder().join("registry");
    World {
        sandbox,
        server,
        site,
        folder,
        key,
    }
}

impl World {
    pub(crate) fn folder(&self) -> &str {
        self.folder.to_str().expect("UTF-8")
    }

    pub(crate) fn export(&self) -> BTreeMap<String, String> {
        self.sandbox.ok(&["export", "registry", self.folder()]);
        files(&self.folder)
    }

    pub(crate) fn apply(&self, more: &[&str]) -> Done {
        self.sandbox
            .run(&[&["apply", self.folder()], more].concat())
    }

    pub(crate) fn edit(&self, file: &str, from: &str, to: &str) {
        let path = self.folder.join(file);
        let text = std::fs::read_to_string(&path).expect("the file is there");
        assert!(text.contains(from), "{text}");
        std::fs::write(path, text.replace(from, to)).expect("writable");
    }
}

pub(crate) fn borrowed(sandbox: &Sandbox) -> Sandbox {
    let mut other = Sandbox::new();
    for (name, value) in sandbox.environment() {
        other = other.with(name, value);
    }
    other
}

/// Passes requests on to a server; `first` sees each before, and may answer in its place.
pub(crate) fn between(
    server: &Running,
    first: impl Fn(&str) -> Option<String> + Send + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let to = server.address.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let Some(request) = read(&stream) else {
                continue;
            };
            if let Some(answer) = first(&request) {
                let _ = stream.write_all(answer.as_bytes());
                continue;
            }
            let request = request.replacen("\r\n", "\r\nConnection: close\r\n", 1);
            let mut on = TcpStream::connect(&to).expect("the server listens");
            on.write_all(request.as_bytes()).expect("the server reads");
            let mut answer = Vec::new();
            let _ = on.read_to_end(&mut answer);
            let _ = stream.write_all(&answer);
        }
    });
    url
}
