//! The client that the protocol's conformance suite starts: it connects to the address that is its last argument and
//! does what the scenario in its environment wants. `conformance client --command …/conformance_client`.

use catalog::clock::Clock;
use catalog::mcp_file::{Grant, ServerConfig, read_servers};
use catalog::secret::Secret;
use fetch::{Fetcher, Method, Request, Trust, Url, header};
use mcp::upstream::{
    Credentials, Listener, Notice, Options, Params, Saying, Settings, State, Talk, Upstream,
    Upstreams,
};
use mcp::wire::{RpcError, code};
use oauth::{Challenge, Client, Credential, Ours, Returned, Spec, Wish};
use serde_json::{Map, Value, json};
use std::error::Error;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use uuid::Uuid;

/// How often somebody would sign in before they give up.
const SIGN_INS_MAX: usize = 3;

/// Where the suite expects a client to say who it is.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// Nobody listens there: the suite's own browser brings the code.
const REDIRECT: &str = "http://127.0.0.1:9/callback";

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error);
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().next_back().unwrap_or_default();
    let scenario = std::env::var_os("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let scenario = scenario.to_string_lossy().into_owned();
    let context = std::env::var_os("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_slice(context.as_encoded_bytes()).unwrap_or_default();
    let (sender, mut notices) = mpsc::unbounded_channel();
    let fetcher = Fetcher::new(fetch::Options::default());
    let person = Arc::new(Person {
        client: Client::new(fetcher.clone(), Clock::System),
        fetcher: fetcher.clone(),
        credential: OnceLock::new(),
    });
    let options = Options {
        spawner: Arc::new(process::Spawner::default()),
        fetcher,
        environment: Vec::new(),
        folder: ".".into(),
        settings: Settings::default(),
        notices: sender,
        credentials: Some(Arc::clone(&person) as _),
        node: None,
    };
    let mut server = json!({"url": url, "transport": "http"});
    if scenario.starts_with("auth/") {
        server["auth"] = auth(&person.client, &url, &scenario, &context).await;
    }
    let file = json!({"mcpServers": {"suite": server}}).to_string();
    let file = read_servers("mcp.json", &file, &|_| None).map_err(|_| "no such server")?;
    let upstreams = Upstreams::new(options);
    upstreams.set(file.servers);
    let suite = upstreams.get("suite").ok_or("no server")?;
    for number in 0..=SIGN_INS_MAX {
        let connected = tokio::time::timeout(PATIENCE, settled(&suite, &mut notices)).await?;
        if connected {
            act(&suite, &scenario, &context).await;
        }
        let wanted = person.credential.get().and_then(|it| it.wanted());
        let Some(wanted) = wanted.filter(|_| number < SIGN_INS_MAX) else {
            break;
        };
        if let Err(error) = person.sign_in(&wanted).await {
            // It is right to refuse where something is wrong; the suite knows.
            tracing::error!(%error);
            break;
        }
        suite.reconnected().await;
    }
    upstreams.close().await;
    Ok(())
}

/// What the scenario says of the client.
async fn auth(client: &Client, url: &str, scenario: &str, context: &Value) -> Value {
    let mut auth = json!({"type": "oauth"});
    for key in ["issuer", "client_id", "client_secret"] {
        if let Some(value) = context.get(key) {
            auth[key] = value.clone();
        }
    }
    // An operator knows whom the secret is from; the suite does not always say so.
    if auth.get("client_secret").is_some() && auth.get("issuer").is_none() {
        let found = client.discover(url, &Challenge::default()).await;
        auth["issuer"] = found
            .map(|it| it.metadata.issuer)
            .unwrap_or_default()
            .into();
    }
    if scenario.contains("client-credentials") {
        auth["grant"] = "client_credentials".into();
    }
    auth
}

/// Whoever sits in front of the browser, and agrees to everything.
struct Person {
    client: Client,
    fetcher: Fetcher,
    credential: OnceLock<Arc<Credential>>,
}

impl Credentials for Person {
    fn of(&self, server: &ServerConfig, _user: Option<Uuid>) -> Option<Arc<Credential>> {
        let auth = server.auth.as_ref()?;
        let spec = Spec {
            name: server.name.clone(),
            server_url: server.url()?.to_owned(),
            issuer: auth.issuer.clone(),
            client_id: auth.client_id.clone(),
            client_secret: auth.client_secret.clone().map(Secret::new),
            scopes: auth.scopes.clone(),
            is_machine: auth.grant == Grant::ClientCredentials,
        };
        let made = || Arc::new(Credential::new(self.client.clone(), spec, None, None));
        Some(Arc::clone(self.credential.get_or_init(made)))
    }
}

impl Person {
    async fn sign_in(&self, wanted: &Challenge) -> Result<(), Box<dyn Error>> {
        let credential = self.credential.get().ok_or("no credential")?;
        let granted = credential.grant().map(|grant| grant.scopes);
        let wish = Wish {
            spec: &credential.spec,
            challenge: wanted,
            granted: &granted.unwrap_or_default(),
            ours: &|place| Ours {
                redirect_uri: format!("{REDIRECT}/{place}"),
                document_url: Some(DOCUMENT.to_owned()),
            },
            known: &|_, _| None,
            keeper: "",
        };
        let begun = self.client.begin(&wish).await?;
        let mut request = Request::new(Method::GET, begun.authorize_url, Trust::Operator);
        request.limits.redirects_max = 0;
        let answer = self.fetcher.send(request).await?;
        let location = answer.headers.get(header::LOCATION).ok_or("no redirect")?;
        let location = Url::parse(location.to_str()?)?;
        let found = |name: &str| {
            let mut all = location.query_pairs();
            all.find(|(key, _)| key == name)
                .map(|(_, value)| value.into_owned())
        };
        let (code, iss, error) = (found("code"), found("iss"), found("error"));
        let returned = Returned {
            place: location.path().trim_start_matches("/callback/"),
            state: &found("state").unwrap_or_default(),
            code: code.as_deref(),
            iss: iss.as_deref(),
            error: error.as_deref(),
        };
        credential.set(self.client.finish(&begun.pending, &returned).await?);
        Ok(())
    }
}

async fn settled(suite: &Upstream, notices: &mut mpsc::UnboundedReceiver<Notice>) -> bool {
    loop {
        match suite.status().state {
            State::Connected | State::Degraded => return true,
            State::Failed | State::AuthRequired => return false,
            _ => drop(notices.recv().await),
        }
    }
}

/// Calls what the context names, or otherwise every tool that is listed.
async fn act(suite: &Upstream, scenario: &str, context: &Value) {
    let lists = suite.lists();
    let named = context.get("toolCalls").and_then(Value::as_array);
    let calls: Vec<(String, Value)> = match named {
        Some(calls) => calls.iter().map(named_call).collect(),
        None => lists
            .tools
            .iter()
            .map(|tool| (text(tool, "name"), arguments(tool, scenario, &lists.tools)))
            .collect(),
    };
    for (name, arguments) in calls {
        let _ = call(
            suite,
            "tools/call",
            json!({"name": name, "arguments": arguments}),
        )
        .await;
    }
    for prompt in &lists.prompts {
        let _ = call(suite, "prompts/get", json!({"name": prompt["name"]})).await;
    }
    for resource in &lists.resources {
        let _ = call(suite, "resources/read", json!({"uri": resource["uri"]})).await;
    }
}

fn named_call(call: &Value) -> (String, Value) {
    let arguments = call.get("arguments").cloned();
    (text(call, "name"), arguments.unwrap_or_else(|| json!({})))
}

fn text(value: &Value, member: &str) -> String {
    value
        .get(member)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}

/// Something for each argument that a tool must have.
fn arguments(tool: &Value, scenario: &str, tools: &[Value]) -> Value {
    let schema = &tool["inputSchema"];
    if scenario == "json-schema-2020-12-preservation" {
        // It wants to see what arrived of the other one.
        let other = tools.iter().find(|other| other["name"] != tool["name"]);
        return json!({ "schema": other.map(|other| &other["inputSchema"]) });
    }
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let filled = properties.iter().map(|(name, property)| {
        let value = match property["type"].as_str() {
            Some("integer" | "number") => json!(5),
            Some("boolean") => json!(true),
            Some("array") => json!([]),
            Some("object") => json!({}),
            _ => json!("text"),
        };
        (name.clone(), value)
    });
    Value::Object(filled.collect())
}

async fn call(suite: &Upstream, method: &str, params: Value) -> Option<Value> {
    let listener = Listener::new(|saying| {
        if let Saying::Ask {
            method,
            params,
            reply,
        } = saying
        {
            let _ = reply.send(answer(&method, &params));
        }
    });
    let able = json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}});
    let talk = Talk {
        listener: Some(listener),
        wants_progress: true,
        capabilities: Arc::new(able),
        ..Talk::until(Instant::now() + PATIENCE)
    };
    let params = params.as_object().cloned().unwrap_or_default();
    let result = suite.request(method, Params::Of(&params), talk).await;
    let result = result.inspect_err(|error| tracing::error!(%error)).ok()?;
    serde_json::from_str(result.get()).ok()
}

fn answer(method: &str, params: &Value) -> Result<Value, RpcError> {
    match method {
        "elicitation/create" => {
            let none = Map::new();
            let properties = params["requestedSchema"]["properties"].as_object();
            let defaults = properties.unwrap_or(&none).iter();
            let defaults = defaults.filter_map(|(name, property)| {
                Some((name.clone(), property.get("default")?.clone()))
            });
            let content: Map<String, Value> = defaults.collect();
            Ok(json!({"action": "accept", "content": content}))
        }
        "sampling/createMessage" => Ok(json!({
            "role": "assistant", "model": "none", "stopReason": "endTurn",
            "content": {"type": "text", "text": "hello"},
        })),
        "roots/list" => Ok(json!({"roots": []})),
        _ => Err(RpcError::new(code::NO_METHOD, "no such question")),
    }
}
