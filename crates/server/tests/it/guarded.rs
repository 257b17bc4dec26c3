//! An upstream MCP server that wants tokens and gives them itself: whoever brings a name as the code is that person, and
//! has resources of their own.

use crate::scripted::{request, tool};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

pub(crate) struct Guarded {
    pub(crate) origin: String,
    told: Arc<Told>,
}

#[derive(Default)]
struct Told {
    /// What happened, in order: `token alice`, `resources/list alice`, `register`.
    seen: Mutex<Vec<String>>,
    /// What the token endpoint says to somebody instead of a token.
    refusals: Mutex<HashMap<String, (u16, &'static str)>>,
    /// Tokens that are not taken any more.
    ended: Mutex<HashSet<String>>,
    /// People whose requests are not answered any more.
    unanswered: Mutex<HashSet<String>>,
    /// Held while tokens are not given yet.
    giving: tokio::sync::RwLock<()>,
}

impl Guarded {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let told: Arc<Told> = Arc::default();
        let (shared, own) = (Arc::clone(&told), origin.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&shared), own.clone()));
            }
        });
        Guarded { origin, told }
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    pub(crate) fn count(&self, what: &str) -> usize {
        let seen = self.told.seen.lock().unwrap();
        seen.iter().filter(|it| it.starts_with(what)).count()
    }

    /// A token of this person is not taken any more.
    pub(crate) fn end(&self, token: &str) {
        self.told.ended.lock().unwrap().insert(token.to_owned());
    }

    /// Whatever this person asks from now on stays without an answer.
    pub(crate) fn leave_unanswered(&self, person: &str) {
        let mut unanswered = self.told.unanswered.lock().unwrap();
        unanswered.insert(person.to_owned());
    }

    /// The token endpoint says this to somebody from now on.
    pub(crate) fn refuse(&self, person: &str, status: u16, error: &'static str) {
        let mut refusals = self.told.refusals.lock().unwrap();
        refusals.insert(person.to_owned(), (status, error));
    }

    /// Until this is dropped, whoever asks for a token waits.
    pub(crate) async fn hold_tokens(&self) -> tokio::sync::RwLockWriteGuard<'_, ()> {
        self.told.giving.write().await
    }

    pub(crate) fn relent(&self) {
        self.told.refusals.lock().unwrap().clear();
    }
}

impl Told {
    fn note(&self, what: String) {
        self.seen.lock().unwrap().push(what);
    }

    /// The token endpoint: `alice` as a code is worth `alice-token`, and after that `alice-fresh`.
    fn token(&self, form: &str) -> (u16, Value) {
        let of = |name: &str| {
            let mut pairs = form.split('&').filter_map(|pair| pair.split_once('='));
            pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
        };
        let refresh = of("refresh_token").map(|it| it.trim_end_matches("-refresh"));
        let (person, token) = match (of("code"), refresh) {
            (Some(person), _) => (person, "token"),
            (None, person) => (person.unwrap_or_default(), "fresh"),
        };
        self.note(format!("token {person}"));
        if let Some((status, error)) = self.refusals.lock().unwrap().get(person) {
            return (*status, json!({"error": error}));
        }
        let given = json!({
            "access_token": format!("{person}-{token}"), "token_type": "Bearer", "expires_in": 3600,
            "refresh_token": format!("{person}-refresh"),
        });
        (200, given)
    }

    fn answer(&self, method: &str, person: &str) -> Option<Value> {
        self.note(format!("{method} {person}"));
        Some(match method {
            "initialize" => json!({
                "protocolVersion": "2025-06-18", "serverInfo": {"name": "guarded"},
                "capabilities": {"tools": {}, "resources": {"subscribe": true}},
            }),
            "tools/list" => json!({"tools": [tool("echo", "Echoes.")]}),
            "tools/call" => json!({"content": [{"type": "text", "text": person}]}),
            "resources/list" => {
                json!({"resources": [{"uri": format!("x://{person}"), "name": person}]})
            }
            "resources/templates/list" => {
                let template =
                    json!({"uriTemplate": format!("y://{person}/{{id}}"), "name": person});
                json!({"resourceTemplates": [template]})
            }
            "resources/read" => {
                json!({"contents": [{"uri": format!("x://{person}"), "text": person}]})
            }
            "resources/subscribe" | "ping" => json!({}),
            _ => return None,
        })
    }

    fn rpc(&self, head: &str, body: &[u8]) -> (u16, Value) {
        let mut lines = head.lines();
        let token = lines.find_map(|line| line.strip_prefix("authorization: bearer "));
        let token = token.filter(|it| !self.ended.lock().unwrap().contains(*it));
        let Some((person, _)) = token.and_then(|it| it.rsplit_once('-')) else {
            self.note("refused".to_owned());
            return (401, json!({}));
        };
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        let Some(id) = message.get("id") else {
            return (202, Value::Null);
        };
        match self.answer(message["method"].as_str().unwrap(), person) {
            Some(result) => (200, json!({"jsonrpc": "2.0", "id": id, "result": result})),
            None => {
                let error = json!({"code": -32601, "message": "no such method"});
                (200, json!({"jsonrpc": "2.0", "id": id, "error": error}))
            }
        }
    }
}

async fn serve(mut stream: TcpStream, told: Arc<Told>, own: String) {
    let mut read = Vec::new();
    while let Some((head, body)) = request(&mut stream, &mut read).await {
        let line = head.lines().next().unwrap_or_default();
        let text = String::from_utf8_lossy(&body);
        let is_unanswered = |person: &String| head.contains(&format!("bearer {person}-"));
        if told.unanswered.lock().unwrap().iter().any(is_unanswered) {
            return std::future::pending().await;
        }
        let (status, answer) = match line.trim_end_matches(" http/1.1") {
            "post /mcp" => told.rpc(&head, &body),
            "post /token" => {
                let given = told.token(&text);
                drop(told.giving.read().await);
                given
            }
            "post /register" => {
                told.note("register".to_owned());
                (
                    201,
                    json!({"client_id": "made", "token_endpoint_auth_method": "none"}),
                )
            }
            // Only where its refusal says that it is.
            "get /about" => (
                200,
                json!({"resource": format!("{own}/mcp"), "authorization_servers": [own], "scopes_supported": ["told"]}),
            ),
            "get /.well-known/oauth-authorization-server" => (
                200,
                json!({
                    "issuer": own, "authorization_endpoint": format!("{own}/authorize"),
                    "token_endpoint": format!("{own}/token"), "registration_endpoint": format!("{own}/register"),
                    "code_challenge_methods_supported": ["S256"],
                }),
            ),
            _ => (404, json!({})),
        };
        let more = match status {
            401 => format!(
                "www-authenticate: Basic realm=\"x\"\r\nwww-authenticate: Bearer resource_metadata=\"{own}/about\"\r\n"
            ),
            _ => String::new(),
        };
        let answer = if answer.is_null() {
            String::new()
        } else {
            answer.to_string()
        };
        let length = answer.len();
        let text = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{more}content-length: {length}\r\n\r\n{answer}"
        );
        if stream.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}
