//! Every route that names a thing × everybody whose thing it is not: what is private is as if it were not there, what
//! is public is read and used but not changed, and nobody learns how it authenticates.

use crate::testapp::{ADMIN, Answer, TestApp, definition, on_both};
use serde_json::{Value, json};

/// What it takes to be let through to the thing.
#[derive(Debug, Clone, Copy)]
enum Needs {
    Anyone,
    Call,
    Author,
    Operate,
}

impl Needs {
    fn met_by(self, role: &str) -> bool {
        match self {
            Needs::Anyone => true,
            Needs::Call => role != "viewer",
            Needs::Author => role == "author",
            Needs::Operate => role == "operator",
        }
    }
}

struct Row {
    method: &'static str,
    /// `{}` is where the name goes, here and in the body.
    path: &'static str,
    body: Value,
    needs: Needs,
    /// What those get who are let through to a public thing.
    public: u16,
}

#[rustfmt::skip]
fn table() -> Vec<Row> {
    use Needs::{Anyone, Author, Call, Operate};
    let row = |method, path, body, needs, public| Row { method, path, body, needs, public };
    let none = Value::Null;
    let call = json!({"arguments": {"expression": "6*7"}});
    let agent = json!({"name": "{}", "model_provider": "openai", "model_name": "m"});
    let limit = json!({"target_type": "TOOL", "target_id": "{}", "max_count": 5});
    vec![
        row("GET", "/api/v1/tools/{}", none.clone(), Anyone, 200),
        row("PUT", "/api/v1/tools/{}", definition("{}"), Author, 403),
        row("PATCH", "/api/v1/tools/{}", json!({"description": "mine now"}), Author, 403),
        row("PATCH", "/api/v1/tools/{}", json!({"wrong": true}), Author, 403),
        row("DELETE", "/api/v1/tools/{}", none.clone(), Author, 403),
        row("POST", "/api/v1/tools/{}/call", call, Call, 200),
        row("GET", "/api/v1/tools/{}/versions", none.clone(), Anyone, 200),
        row("GET", "/api/v1/tools/{}/versions/1", none.clone(), Anyone, 200),
        row("POST", "/api/v1/tools/{}/rollback", json!({"version": 1}), Author, 403),
        row("POST", "/api/v1/tools/{}/restore", none.clone(), Author, 409),
        row("GET", "/api/v1/policy/explain?tool={}", none.clone(), Anyone, 200),
        row("GET", "/api/v1/agents/{}", none.clone(), Anyone, 200),
        row("PUT", "/api/v1/agents/{}", agent, Author, 403),
        row("PATCH", "/api/v1/agents/{}", json!({"model_name": "other"}), Author, 403),
        row("DELETE", "/api/v1/agents/{}", none.clone(), Author, 403),
        row("POST", "/api/v1/agents/{}/restore", none.clone(), Author, 404),
        row("GET", "/api/v1/toolsets/{}", none.clone(), Anyone, 200),
        row("PUT", "/api/v1/toolsets/{}", json!({"name": "{}"}), Author, 403),
        row("PATCH", "/api/v1/toolsets/{}", json!({"tools": []}), Author, 403),
        row("DELETE", "/api/v1/toolsets/{}", none.clone(), Author, 403),
        row("POST", "/api/v1/toolsets/{}/restore", none.clone(), Author, 404),
        row("POST", "/api/v1/limits", limit, Operate, 201),
        row("DELETE", "/api/v1/limits/TOOL/{}", none.clone(), Operate, 204),
        // Nobody's secret is public.
        row("DELETE", "/api/v1/secrets/{}", none, Author, 404),
    ]
}

impl Row {
    async fn ask(&self, app: &TestApp, key: &str, name: &str) -> Answer {
        let path = self.path.replace("{}", name);
        let body = self.body.to_string().replace("{}", name);
        let body = serde_json::from_str(&body).unwrap();
        app.as_key(key, self.method, &path, body).await
    }
}

/// What an answer tells, whatever the name was and whenever it was asked.
fn told(answer: &Answer, name: &str) -> String {
    let mut body = answer.body.clone();
    if let Some(members) = body.as_object_mut() {
        for changing in ["execution_id", "request_id", "elapsed", "execution_time"] {
            members.shift_remove(changing);
        }
        if let Some(error) = members.get_mut("error").and_then(Value::as_object_mut) {
            error.shift_remove("request_id");
        }
    }
    format!("{} {body}", answer.status).replace(name, "NAME")
}

/// A private and a public one of everything, and a key of their owner.
async fn scene(app: &TestApp) -> String {
    let owner = app.person("the-owner", "author").await;
    for (name, is_public) in [("theirs", false), ("shared", true)] {
        let mut tool = definition(name);
        tool["is_public"] = json!(is_public);
        tool["auth_config"] =
            json!({"type": "basic", "username": "theirs-account", "password": "hush-hush-hush"});
        let mut agent = json!({"name": name, "model_provider": "openai", "model_name": "m"});
        agent["is_public"] = json!(is_public);
        let toolset = json!({"name": name, "tools": [name], "is_public": is_public});
        for (path, body) in [
            ("/api/v1/tools", tool),
            ("/api/v1/agents", agent),
            ("/api/v1/toolsets", toolset),
        ] {
            let made = app.as_key(&owner.key, "POST", path, body).await;
            assert_eq!(made.status, 201, "{}", made.body);
        }
        let path = format!("/api/v1/secrets/{name}");
        app.as_key(&owner.key, "PUT", &path, json!({"value": "hush"}))
            .await;
    }
    owner.key
}

/// Everything of the owner's, as the owner sees it.
async fn state(app: &TestApp, owner: &str) -> Vec<Value> {
    let mut state = Vec::new();
    for path in [
        "tools/theirs",
        "tools/shared",
        "agents/theirs",
        "agents/shared",
        "toolsets/theirs",
        "toolsets/shared",
        "secrets",
    ] {
        let path = format!("/api/v1/{path}");
        state.push(app.as_key(owner, "GET", &path, Value::Null).await.body);
    }
    state
}

#[tokio::test]
async fn what_is_somebody_elses_is_read_at_most() {
    on_both(async |app: &TestApp| {
        let owner = scene(app).await;
        let before = state(app, &owner).await;
        let mut asked = 0;
        for role in ["viewer", "operator", "author"] {
            let key = app.person(&format!("other-{role}"), role).await.key;
            for row in table() {
                let what = format!("{role}: {} {}", row.method, row.path);
                let unknown = row.ask(app, &key, "nosuch").await;
                let private = row.ask(app, &key, "theirs").await;
                assert_eq!(told(&private, "theirs"), told(&unknown, "nosuch"), "{what}");
                let public = row.ask(app, &key, "shared").await;
                let expected = if row.needs.met_by(role) {
                    row.public
                } else {
                    403
                };
                assert_eq!(public.status, expected, "{what}: {}", public.body);
                let body = public.body.to_string();
                for hidden in ["theirs-account", "last4", "hush"] {
                    assert!(!body.contains(hidden), "{what}: {body}");
                }
                asked += 3;
            }
        }
        assert_eq!(
            state(app, &owner).await,
            before,
            "nothing of it has changed"
        );
        println!("{asked} requests for what is somebody else's");
    })
    .await;
}

#[tokio::test]
async fn people_their_keys_and_their_calls_are_their_own() {
    on_both(async |app: &TestApp| {
        let owner = scene(app).await;
        let call = json!({"arguments": {"expression": "1"}});
        let ran = app
            .as_key(&owner, "POST", "/api/v1/tools/theirs/call", call)
            .await;
        let execution = ran.body["execution_id"].as_str().unwrap().to_owned();
        let keys = app
            .as_key(&owner, "GET", "/api/v1/keys", Value::Null)
            .await
            .body;
        let id = keys["items"][0]["id"].as_str().unwrap().to_owned();
        let nil = uuid::Uuid::nil().to_string();
        let cases = [
            ("GET", "/api/v1/users/", "the-owner", "nosuch"),
            ("PATCH", "/api/v1/users/", "the-owner", "nosuch"),
            ("DELETE", "/api/v1/keys/", &id, &nil),
            ("GET", "/api/v1/executions/", &execution, &nil),
        ];
        for role in ["viewer", "operator", "author"] {
            let key = app.person(&format!("other-{role}"), role).await.key;
            for (method, path, theirs, unknown) in cases {
                let body = if method == "PATCH" {
                    json!({})
                } else {
                    Value::Null
                };
                let ask = async |name: &str| {
                    app.as_key(&key, method, &format!("{path}{name}"), body.clone())
                        .await
                };
                let (theirs, unknown) =
                    ((ask(theirs).await, theirs), (ask(unknown).await, unknown));
                assert_eq!(theirs.0.status, 404, "{role}: {method} {path}");
                assert_eq!(told(&theirs.0, theirs.1), told(&unknown.0, unknown.1));
            }
        }
        assert_eq!(
            app.as_key(&owner, "GET", "/api/v1/me", Value::Null)
                .await
                .status,
            200
        );
    })
    .await;
}

#[tokio::test]
async fn an_admin_reads_and_changes_what_is_anybodys() {
    on_both(async |app: &TestApp| {
        scene(app).await;
        for name in ["theirs", "shared"] {
            for (path, change) in [
                (
                    format!("/api/v1/tools/{name}"),
                    json!({"description": "By an admin"}),
                ),
                (
                    format!("/api/v1/agents/{name}"),
                    json!({"model_name": "by-an-admin"}),
                ),
                (
                    format!("/api/v1/toolsets/{name}"),
                    json!({"description": "By an admin"}),
                ),
            ] {
                let got = app.get(&path).await;
                assert_eq!((got.status, &got.body["owner"]), (200, &json!("the-owner")));
                assert!(!got.body.to_string().contains("hush-hush"), "{}", got.body);
                let changed = app.as_key(ADMIN, "PATCH", &path, change).await;
                assert_eq!(
                    (changed.status, &changed.body["owner"]),
                    (200, &json!("the-owner"))
                );
                assert_eq!(
                    app.as_key(ADMIN, "DELETE", &path, Value::Null).await.status,
                    204
                );
                let back = app.post(&format!("{path}/restore"), Value::Null).await;
                assert_eq!(back.status, 200, "{}", back.body);
            }
            let path = format!("/api/v1/secrets/{name}");
            assert_eq!(
                app.as_key(ADMIN, "DELETE", &path, Value::Null).await.status,
                204
            );
        }
    })
    .await;
}
