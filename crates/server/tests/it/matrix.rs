//! Every route × every transport × everybody who may come: the expected status everywhere. A route that is not in the
//! table fails the test.

use crate::people::Person;
use crate::testapp::{TestApp, definition, on_both};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;

/// What it takes to be let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    Anyone,
    Read,
    Call,
    Author,
    Operate,
    Admin,
}

struct Row {
    method: &'static str,
    /// As in the API's document.
    route: &'static str,
    /// With everything filled in; a request that changes nothing, or nothing that others look at.
    path: &'static str,
    body: Value,
    needs: Needs,
    /// For whoever is let through.
    then: u16,
}

fn row(
    method: &'static str,
    route: &'static str,
    path: &'static str,
    body: Value,
    needs: Needs,
    then: u16,
) -> Row {
    Row {
        method,
        route,
        path,
        body,
        needs,
        then,
    }
}

const NIL: &str = "/api/v1/keys/00000000-0000-0000-0000-000000000000";

#[rustfmt::skip]
fn of_runs() -> Vec<Row> {
    use Needs::{Call, Read};
    let none = Value::Null;
    vec![
        row("GET", "/api/v1/runs", "/api/v1/runs", none.clone(), Read, 200),
        row("GET", "/api/v1/skills", "/api/v1/skills", none.clone(), Read, 200),
        row("GET", "/api/v1/skills/{name}", "/api/v1/skills/none", none.clone(), Read, 404),
        row("POST", "/api/v1/runs", "/api/v1/runs", json!({"input": ""}), Call, 422),
        row("GET", "/api/v1/runs/{id}", "/api/v1/runs/none", none.clone(), Read, 404),
        row("GET", "/api/v1/runs/{id}/events", "/api/v1/runs/none/events", none.clone(), Read, 404),
        row("GET", "/api/v1/runs/{id}/log", "/api/v1/runs/none/log", none.clone(), Read, 404),
        row("POST", "/api/v1/runs/{id}/input", "/api/v1/runs/none/input", json!({"request_id": "r", "answer": 1}), Call, 404),
        row("POST", "/api/v1/runs/{id}/cancel", "/api/v1/runs/none/cancel", none, Call, 404),
    ]
}

#[rustfmt::skip]
fn of_the_registry() -> Vec<Row> {
    use Needs::{Admin, Anyone, Author, Call, Nothing, Operate, Read};
    let limit = json!({"target_type": "USER", "target_id": "nobody", "max_count": 1});
    let none = Value::Null;
    let args = json!({"arguments": {"data": "x"}});
    let agent = json!({"name": "", "model_provider": "openai", "model_name": "m"});
    vec![
        row("GET", "/api/v1/tools", "/api/v1/tools", none.clone(), Read, 200),
        row("POST", "/api/v1/tools", "/api/v1/tools", json!({}), Author, 422),
        row("GET", "/api/v1/tools/{name}", "/api/v1/tools/none", none.clone(), Read, 404),
        row("PUT", "/api/v1/tools/{name}", "/api/v1/tools/none", definition("none"), Author, 404),
        row("PATCH", "/api/v1/tools/{name}", "/api/v1/tools/none", json!({}), Author, 404),
        row("DELETE", "/api/v1/tools/{name}", "/api/v1/tools/none", none.clone(), Author, 404),
        row("POST", "/api/v1/tools/{name}/call", "/api/v1/tools/serialize_for_cell/call", args, Call, 200),
        row("POST", "/api/v1/tools/test", "/api/v1/tools/test", json!({"tool": {}, "arguments": {}}), Author, 422),
        row("POST", "/api/v1/tools/{name}/tests", "/api/v1/tools/none/tests", none.clone(), Call, 404),
        row("POST", "/api/v1/tools/{name}/explain", "/api/v1/tools/none/explain", json!({}), Author, 404),
        row("GET", "/api/v1/tools/{name}/versions", "/api/v1/tools/none/versions", none.clone(), Read, 404),
        row("GET", "/api/v1/tools/{name}/versions/{version}", "/api/v1/tools/none/versions/1", none.clone(), Read, 404),
        row("POST", "/api/v1/tools/{name}/rollback", "/api/v1/tools/none/rollback", json!({"version": 1}), Author, 404),
        row("POST", "/api/v1/tools/{name}/restore", "/api/v1/tools/none/restore", none.clone(), Author, 404),
        row("GET", "/api/v1/keys", "/api/v1/keys", none.clone(), Anyone, 200),
        row("DELETE", "/api/v1/keys/{id}", NIL, none.clone(), Anyone, 404),
        row("POST", "/api/v1/login", "/api/v1/login", json!({"name": "nobody"}), Nothing, 400),
        row("GET", "/api/v1/me", "/api/v1/me", none.clone(), Anyone, 200),
        row("GET", "/api/v1/users", "/api/v1/users", none.clone(), Anyone, 200),
        row("POST", "/api/v1/users", "/api/v1/users", json!({"name": "", "role": "admin"}), Admin, 422),
        row("GET", "/api/v1/users/{name}", "/api/v1/users/nobody", none.clone(), Anyone, 404),
        row("PATCH", "/api/v1/users/{name}", "/api/v1/users/nobody", json!({}), Anyone, 404),
        row("DELETE", "/api/v1/users/{name}", "/api/v1/users/nobody", none.clone(), Admin, 404),
        row("POST", "/api/v1/users/{name}/restore", "/api/v1/users/nobody/restore", none.clone(), Admin, 404),
        row("POST", "/api/v1/users/{name}/reassign", "/api/v1/users/nobody/reassign", json!({"to": "x"}), Admin, 404),
        row("POST", "/api/v1/users/{name}/erase", "/api/v1/users/nobody/erase", none.clone(), Admin, 404),
        row("POST", "/api/v1/users/{name}/login-link", "/api/v1/users/nobody/login-link", none.clone(), Admin, 404),
        row("GET", "/api/v1/agents", "/api/v1/agents", none.clone(), Read, 200),
        row("POST", "/api/v1/agents", "/api/v1/agents", agent.clone(), Author, 422),
        row("GET", "/api/v1/agents/{name}", "/api/v1/agents/none", none.clone(), Read, 404),
        row("PUT", "/api/v1/agents/{name}", "/api/v1/agents/none", agent, Author, 404),
        row("PATCH", "/api/v1/agents/{name}", "/api/v1/agents/none", json!({}), Author, 404),
        row("DELETE", "/api/v1/agents/{name}", "/api/v1/agents/none", none.clone(), Author, 404),
        row("POST", "/api/v1/agents/{name}/restore", "/api/v1/agents/none/restore", none.clone(), Author, 404),
        row("GET", "/api/v1/policy", "/api/v1/policy", none.clone(), Admin, 200),
        row("PUT", "/api/v1/policy", "/api/v1/policy?dry_run=true", json!({"rules": []}), Admin, 200),
        row("GET", "/api/v1/policy/explain", "/api/v1/policy/explain?tool=none", none.clone(), Anyone, 200),
        row("GET", "/api/v1/limits", "/api/v1/limits", none.clone(), Anyone, 200),
        row("POST", "/api/v1/limits", "/api/v1/limits", limit.clone(), Operate, 422),
        row("PUT", "/api/v1/limits", "/api/v1/limits", limit, Operate, 422),
        row("DELETE", "/api/v1/limits/{target_type}/{target_id}", "/api/v1/limits/USER/nobody", none.clone(), Operate, 404),
        row("GET", "/api/v1/usage", "/api/v1/usage", none.clone(), Anyone, 200),
        row("GET", "/api/v1/secrets", "/api/v1/secrets", none.clone(), Author, 200),
        row("PUT", "/api/v1/secrets/{name}", "/api/v1/secrets/none", json!({"value": ""}), Author, 422),
        row("DELETE", "/api/v1/secrets/{name}", "/api/v1/secrets/none", none.clone(), Author, 404),
        row("POST", "/api/v1/secrets/rotate", "/api/v1/secrets/rotate", none.clone(), Admin, 200),
        row("GET", "/api/v1/secrets/verify", "/api/v1/secrets/verify", none.clone(), Admin, 200),
        row("POST", "/api/v1/admin/backup", "/api/v1/admin/backup", json!({"folder": "not/absolute"}), Admin, 422),
        // Not in the document: pages, and names that are addresses of their own.
        row("GET", "/api/openapi.json", "/api/openapi.json", none.clone(), Nothing, 200),
        row("GET", "/api/docs", "/api/docs", none.clone(), Nothing, 200),
        row("GET", "/login", "/login", none.clone(), Nothing, 200),
        row("GET", "/login/oidc", "/login/oidc", none.clone(), Nothing, 404),
        row("GET", "/login/oidc/callback", "/login/oidc/callback", none.clone(), Nothing, 404),
        row("GET", "/login/{token}", "/login/none", none.clone(), Nothing, 200),
        row("POST", "/login/{token}", "/login/none", none.clone(), Nothing, 401),
        row("GET", "/api/v1/servers/sign-in/callback/{place}", "/api/v1/servers/sign-in/callback/p?state=x&code=x", none.clone(), Anyone, 422),
        row("GET", "/oauth/client-metadata/{place}", "/oauth/client-metadata/none", none.clone(), Nothing, 404),
        row("GET", "/sse/{toolset}", "/sse/none", none.clone(), Read, 404),
        row("GET", "/api/v1/tools/test", "/api/v1/tools/test", none.clone(), Read, 404),
        row("PUT", "/api/v1/tools/test", "/api/v1/tools/test", definition("test"), Author, 404),
        row("PATCH", "/api/v1/tools/test", "/api/v1/tools/test", json!({}), Author, 404),
        row("DELETE", "/api/v1/tools/test", "/api/v1/tools/test", none.clone(), Author, 404),
        row("PUT", "/api/v1/secrets/rotate", "/api/v1/secrets/rotate", json!({"value": ""}), Author, 422),
        row("DELETE", "/api/v1/secrets/rotate", "/api/v1/secrets/rotate", none.clone(), Author, 404),
        row("PUT", "/api/v1/secrets/verify", "/api/v1/secrets/verify", json!({"value": ""}), Author, 422),
        row("DELETE", "/api/v1/secrets/verify", "/api/v1/secrets/verify", none, Author, 404),
    ]
}

#[rustfmt::skip]
fn of_the_logs() -> Vec<Row> {
    use Needs::{Admin, Read};
    let none = Value::Null;
    vec![
        row("GET", "/api/v1/executions", "/api/v1/executions", none.clone(), Read, 200),
        row("GET", "/api/v1/executions/export", "/api/v1/executions/export", none.clone(), Read, 200),
        row("GET", "/api/v1/executions/stats", "/api/v1/executions/stats", none.clone(), Read, 200),
        row("GET", "/api/v1/executions/{id}", "/api/v1/executions/none", none.clone(), Read, 404),
        row("GET", "/api/v1/audit", "/api/v1/audit", none.clone(), Admin, 200),
        row("GET", "/api/v1/audit/export", "/api/v1/audit/export", none.clone(), Admin, 200),
        row("GET", "/api/v1/audit/verify", "/api/v1/audit/verify", none, Admin, 200),
    ]
}

#[rustfmt::skip]
fn of_health() -> Vec<Row> {
    use Needs::{Nothing, Operate};
    let none = Value::Null;
    vec![
        row("GET", "/healthz", "/healthz", none.clone(), Nothing, 200),
        row("GET", "/readyz", "/readyz", none.clone(), Nothing, 200),
        row("GET", "/metrics", "/metrics", none, Operate, 200),
    ]
}

#[rustfmt::skip]
fn of_mcp() -> Vec<Row> {
    use Needs::{Author, Call, Nothing, Operate, Read};
    let none = Value::Null;
    vec![
        row("GET", "/api/v1/servers", "/api/v1/servers", none.clone(), Read, 200),
        row("GET", "/api/v1/servers/{name}", "/api/v1/servers/none", none.clone(), Read, 404),
        row("POST", "/api/v1/servers", "/api/v1/servers", json!({}), Operate, 422),
        row("PUT", "/api/v1/servers/{name}", "/api/v1/servers/none", json!({}), Operate, 404),
        row("PATCH", "/api/v1/servers/{name}", "/api/v1/servers/none", json!({}), Operate, 404),
        row("DELETE", "/api/v1/servers/{name}", "/api/v1/servers/none", none.clone(), Operate, 404),
        row("GET", "/api/v1/servers/{name}/changes", "/api/v1/servers/none/changes", none.clone(), Read, 404),
        row("POST", "/api/v1/servers/{name}/approve", "/api/v1/servers/none/approve", json!({"tools": []}), Operate, 404),
        row("POST", "/api/v1/servers/{name}/reconnect", "/api/v1/servers/none/reconnect", none.clone(), Operate, 404),
        row("GET", "/api/v1/servers/{name}/tools", "/api/v1/servers/none/tools", none.clone(), Read, 404),
        row("GET", "/api/v1/servers/{name}/resources", "/api/v1/servers/none/resources", none.clone(), Read, 404),
        row("GET", "/api/v1/servers/{name}/prompts", "/api/v1/servers/none/prompts", none.clone(), Read, 404),
        row("POST", "/api/v1/servers/{name}/sign-in", "/api/v1/servers/none/sign-in", json!({"redirect_uri": "http://127.0.0.1:9/callback"}), Call, 404),
        row("DELETE", "/api/v1/servers/{name}/sign-in", "/api/v1/servers/none/sign-in", none.clone(), Call, 404),
        row("POST", "/api/v1/servers/{name}/sign-in/finish", "/api/v1/servers/none/sign-in/finish", json!({"place": "p", "state": "x"}), Call, 404),
        row("GET", "/api/v1/servers/{name}/resources/read", "/api/v1/servers/none/resources/read?uri=x", none.clone(), Read, 404),
        row("GET", "/api/v1/toolsets", "/api/v1/toolsets", none.clone(), Read, 200),
        row("POST", "/api/v1/toolsets", "/api/v1/toolsets", json!({}), Author, 422),
        row("GET", "/api/v1/toolsets/{name}", "/api/v1/toolsets/none", none.clone(), Read, 404),
        row("PUT", "/api/v1/toolsets/{name}", "/api/v1/toolsets/none", json!({"name": "none"}), Author, 404),
        row("PATCH", "/api/v1/toolsets/{name}", "/api/v1/toolsets/none", json!({}), Author, 404),
        row("DELETE", "/api/v1/toolsets/{name}", "/api/v1/toolsets/none", none.clone(), Author, 404),
        row("POST", "/api/v1/toolsets/{name}/restore", "/api/v1/toolsets/none/restore", none.clone(), Author, 404),
        // Without a session; a stream would never end, and is looked at where toolsets are.
        row("POST", "/mcp", "/mcp", json!({}), Read, 400),
        row("GET", "/mcp", "/mcp", none.clone(), Read, 405),
        row("DELETE", "/mcp", "/mcp", none.clone(), Read, 405),
        row("POST", "/mcp/", "/mcp/", json!({}), Read, 400),
        row("GET", "/mcp/", "/mcp/", none.clone(), Read, 405),
        row("DELETE", "/mcp/", "/mcp/", none.clone(), Read, 405),
        row("POST", "/mcp/{toolset}/", "/mcp/none/", json!({}), Read, 404),
        row("GET", "/mcp/{toolset}/", "/mcp/none/", none.clone(), Read, 404),
        row("DELETE", "/mcp/{toolset}/", "/mcp/none/", none.clone(), Read, 404),
        row("POST", "/mcp/{toolset}", "/mcp/none", json!({}), Read, 404),
        row("GET", "/mcp/{toolset}", "/mcp/none", none.clone(), Read, 404),
        row("DELETE", "/mcp/{toolset}", "/mcp/none", none, Read, 404),
        // There is nothing to know about tokens where none are taken.
        row("GET", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource", Value::Null, Nothing, 404),
        row("GET", "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource/mcp", Value::Null, Nothing, 404),
        row("GET", "/.well-known/oauth-protected-resource/mcp/{toolset}", "/.well-known/oauth-protected-resource/mcp/a", Value::Null, Nothing, 404),
        row("GET", "/.well-known/oauth-protected-resource/sse", "/.well-known/oauth-protected-resource/sse", Value::Null, Nothing, 404),
        row("GET", "/.well-known/oauth-protected-resource/sse/{toolset}", "/.well-known/oauth-protected-resource/sse/a", Value::Null, Nothing, 404),
        row("POST", "/messages", "/messages", json!({}), Read, 404),
        row("POST", "/messages/{toolset}", "/messages/none", json!({}), Read, 404),
    ]
}

#[rustfmt::skip]
fn of_data() -> Vec<Row> {
    use Needs::{Call, Admin, Author, Operate, Read};
    let none = Value::Null;
    vec![
        row("GET", "/api/v1/sources", "/api/v1/sources", none.clone(), Read, 200),
        row("POST", "/api/v1/sources", "/api/v1/sources", json!({}), Admin, 422),
        row("GET", "/api/v1/sources/{name}", "/api/v1/sources/none", none.clone(), Read, 404),
        row("PUT", "/api/v1/sources/{name}", "/api/v1/sources/none", json!({}), Admin, 404),
        row("PATCH", "/api/v1/sources/{name}", "/api/v1/sources/none", json!({}), Admin, 404),
        row("DELETE", "/api/v1/sources/{name}", "/api/v1/sources/none", none.clone(), Admin, 404),
        row("GET", "/api/v1/sources/{name}/schema", "/api/v1/sources/none/schema", none.clone(), Author, 404),
        row("POST", "/api/v1/sources/{name}/test", "/api/v1/sources/none/test", none.clone(), Operate, 404),
        row("GET", "/api/v1/sources/{name}/role-script", "/api/v1/sources/none/role-script", none.clone(), Operate, 404),
        row("POST", "/api/v1/select", "/api/v1/select", json!({"query": "x"}), Read, 200),
        row("POST", "/api/v1/pipeline", "/api/v1/pipeline", json!({"query": "x", "plan": {"tools": []}}), Call, 200),
        row("POST", "/api/v1/openapi/import", "/api/v1/openapi/import", json!({"document": {}}), Author, 422),
        row("GET", "/api/v1/openapi/tools", "/api/v1/openapi/tools", none.clone(), Call, 200),
        row("GET", "/api/v1/tools/{name}/confirmed", "/api/v1/tools/none/confirmed", none.clone(), Read, 404),
        row("POST", "/api/v1/tools/{name}/confirmed", "/api/v1/tools/none/confirmed", json!({"query": "x"}), Author, 404),
        row("DELETE", "/api/v1/tools/{name}/confirmed", "/api/v1/tools/none/confirmed", json!({"query": "x"}), Author, 404),
        row("GET", "/api/v1/vectors", "/api/v1/vectors", none.clone(), Author, 200),
        row("POST", "/api/v1/vectors/import", "/api/v1/vectors/import", json!({"records": []}), Operate, 422),
        row("POST", "/api/v1/vectors/from-schema", "/api/v1/vectors/from-schema", json!({"source": "none"}), Operate, 404),
        row("POST", "/api/v1/vectors/search", "/api/v1/vectors/search", json!({"text": "x"}), Author, 409),
        row("POST", "/api/v1/vectors/test", "/api/v1/vectors/test", none.clone(), Operate, 200),
        row("DELETE", "/api/v1/vectors/collections/{name}", "/api/v1/vectors/collections/none", none.clone(), Operate, 404),
        row("DELETE", "/api/v1/vectors/collections/{name}/documents", "/api/v1/vectors/collections/none/documents?source=x", none, Operate, 404),
    ]
}

fn table() -> Vec<Row> {
    let mut all = of_the_registry();
    all.extend(of_runs());
    all.extend(of_mcp());
    all.extend(of_data());
    all.extend(of_the_logs());
    all.extend(of_health());
    all
}

/// Routes that take a session or an admin's key: what they answer depends on more than the scope.
const APART: [(&str, &str); 3] = [
    ("POST", "/api/v1/keys"),
    ("POST", "/api/v1/logout"),
    // Its answer does not end; see the tests of MCP.
    ("GET", "/sse"),
];

/// Who shows what, and what it opens.
struct Guest {
    name: String,
    headers: Vec<(&'static str, String)>,
    /// 401 for those whom nobody knows.
    unknown: bool,
    role: Option<&'static str>,
}

impl Guest {
    fn expected(&self, row: &Row) -> u16 {
        let may = |role: &str| match row.needs {
            Needs::Nothing | Needs::Anyone | Needs::Read => true,
            Needs::Call => role != "viewer",
            Needs::Author => role == "author" || role == "admin",
            Needs::Operate => role == "operator" || role == "admin",
            Needs::Admin => role == "admin",
        };
        match self.role {
            _ if row.needs == Needs::Nothing => row.then,
            _ if self.unknown => 401,
            Some(role) if !may(role) => 403,
            _ => row.then,
        }
    }
}

#[test]
fn no_route_is_missing_from_the_table() {
    let document: Value = serde_json::from_str(&server::openapi::document()).unwrap();
    let mut routes = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            if ["get", "put", "post", "delete", "patch"].contains(&method.as_str()) {
                routes.insert((method.to_uppercase(), path.clone()));
            }
        }
    }
    let by_hand = server::unlisted::routes().into_iter();
    routes.extend(by_hand.map(|(method, path)| (method, path.to_owned())));
    let named = table().into_iter().map(|row| (row.method, row.route));
    let named = named.chain(APART);
    let named: BTreeSet<(String, String)> =
        named.map(|(m, p)| (m.to_owned(), p.to_owned())).collect();
    assert_eq!(routes, named);
}

/// Whatever is added by hand goes through the list that the test above reads.
#[test]
fn the_router_adds_nothing_past_its_lists() {
    let router = include_str!("../../src/router.rs");
    let added = |how: &str| router.matches(how).count();
    assert_eq!((added(".route("), added("unlisted::all()")), (1, 1));
    for how in [".nest", ".merge", ".route_service"] {
        assert_eq!(added(how), 0, "{how}");
    }
    // Whatever is nobody's is the page's.
    assert_eq!(
        (added(".fallback"), added(".fallback(page::serve)")),
        (1, 1)
    );
}

#[tokio::test]
async fn everybody_gets_what_their_role_allows_and_nothing_else() {
    on_both(async |app: &TestApp| {
        let mut guests = guests(app).await;
        let stop = CancellationToken::new();
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = tcp.local_addr().unwrap();
        let socket = app.folder.path().join("s");
        let listeners = server::Listeners {
            tcp: Some(tcp),
            unix: Some(UnixListener::bind(&socket).unwrap()),
        };
        let grace = Duration::from_secs(5);
        let serving = server::serve(Arc::clone(&app.server), listeners, stop.clone(), grace);
        let serving = tokio::spawn(serving);
        let mut asked = 0;
        for row in table() {
            for guest in &guests {
                let stream = TcpStream::connect(address).await.unwrap();
                let status = ask(stream, &row, &guest.headers).await;
                let who = &guest.name;
                let expected = guest.expected(&row);
                assert_eq!(status, expected, "{who}: {} {}", row.method, row.path);
                asked += 1;
            }
            // On the owner's socket the system has checked who it is; a key shown there changes nothing.
            for guest in &guests[..2] {
                let stream = UnixStream::connect(&socket).await.unwrap();
                let status = ask(stream, &row, &guest.headers).await;
                assert_eq!(status, row.then, "socket: {} {}", row.method, row.path);
                asked += 1;
            }
        }
        stop.cancel();
        serving.await.unwrap();
        println!(
            "{asked} requests: {} routes, {} guests, TCP and Unix socket",
            table().len(),
            guests.len()
        );
        guests.clear();
    })
    .await;
}

async fn guests(app: &TestApp) -> Vec<Guest> {
    let key = |text: &str| vec![("x-api-key", text.to_owned())];
    let unknown = |name: &str, headers| Guest {
        name: name.to_owned(),
        headers,
        unknown: true,
        role: None,
    };
    let mut guests = vec![
        unknown("nobody", vec![]),
        unknown("junk", key("tck_junk")),
        unknown(
            "junk as bearer",
            vec![("authorization", "Bearer junk".to_owned())],
        ),
        unknown("no scheme", vec![("authorization", "junk".to_owned())]),
        unknown(
            "a made-up session",
            vec![("cookie", "__Host-toolcrib=abc".to_owned())],
        ),
    ];
    let body = json!({"name": "short", "scopes": ["admin"], "expires_at": "2027-01-15T09:00:00Z"});
    let expired = app.post("/api/v1/keys", body).await;
    let over = expired.body["key"].as_str().unwrap().to_owned();
    let revoked = app.key(&["admin"]).await;
    let mut people = Vec::new();
    for role in ["viewer", "operator", "author", "admin"] {
        people.push((role, app.person(&format!("the-{role}"), role).await));
    }
    let gone = app.person("gone", "admin").await;
    app.as_key(
        crate::testapp::ADMIN,
        "DELETE",
        "/api/v1/users/gone",
        Value::Null,
    )
    .await;
    let listed = app.get("/api/v1/keys").await;
    let test = listed.body["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|k| k["name"] == "test");
    let id = test.unwrap()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/keys/{id}");
    app.as_key(crate::testapp::ADMIN, "DELETE", &path, Value::Null)
        .await;
    // One hour on: the short key has ended, the sessions have not.
    app.clock.advance(3_600_000);
    guests.push(unknown("an expired key", key(&over)));
    guests.push(unknown("a revoked key", key(&revoked)));
    guests.push(unknown("a removed user's key", key(&gone.key)));
    guests.push(unknown(
        "a removed user's session",
        vec![("cookie", gone.cookie.clone())],
    ));
    for (role, person) in people {
        guests.push(with_key(role, &person));
        guests.push(Guest {
            name: format!("{role} with a session"),
            headers: vec![
                ("cookie", person.cookie.clone()),
                ("origin", "http://crib.example".to_owned()),
            ],
            unknown: false,
            role: Some(role),
        });
    }
    guests
}

fn with_key(role: &'static str, person: &Person) -> Guest {
    Guest {
        name: format!("{role} with a key"),
        headers: vec![("authorization", format!("Bearer {}", person.key))],
        unknown: false,
        role: Some(role),
    }
}

/// One request on one connection; the status of its answer.
async fn ask(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    row: &Row,
    headers: &[(&'static str, String)],
) -> u16 {
    let body = if row.body.is_null() {
        String::new()
    } else {
        row.body.to_string()
    };
    let mut text = format!(
        "{} {} HTTP/1.1\r\nhost: crib.example\r\nconnection: close\r\n",
        row.method, row.path
    );
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !body.is_empty() {
        text.push_str("content-type: application/json\r\n");
    }
    text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let line = String::from_utf8_lossy(&answer);
    line.split(' ').nth(1).unwrap().parse().unwrap()
}
