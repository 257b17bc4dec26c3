//! The client that the protocol's conformance suite starts: it connects to the address that is its last argument and
//! does what the scenario in its environment wants. `conformance client --command …/conformance_client`.

use catalog::mcp_file::read_servers;
use mcp::upstream::{Notice, Options, Saying, Settings, State, Talk, Upstream, Upstreams};
use mcp::wire::{RpcError, code};
use serde_json::{Map, Value, json};
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

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
    let options = Options {
        spawner: Arc::new(process::Spawner::default()),
        fetcher: fetch::Fetcher::new(fetch::Options::default()),
        environment: Vec::new(),
        folder: ".".into(),
        settings: Settings::default(),
        notices: sender,
    };
    let file = json!({"mcpServers": {"suite": {"url": url, "transport": "http"}}}).to_string();
    let file = read_servers("mcp.json", &file, &|_| None).map_err(|_| "no such address")?;
    let upstreams = Upstreams::new(options);
    upstreams.set(file.servers);
    let suite = upstreams.get("suite").ok_or("no server")?;
    let connected = tokio::time::timeout(PATIENCE, settled(&suite, &mut notices)).await?;
    if connected {
        act(&suite, &scenario, &context).await;
    }
    upstreams.close().await;
    Ok(())
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
    let (events, mut said) = mpsc::channel(16);
    let talk = Talk {
        events: Some(events),
        capabilities: json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}),
        ..Talk::until(Instant::now() + PATIENCE)
    };
    let params = params.as_object().cloned().unwrap_or_default();
    let listen = async {
        while let Some(saying) = said.recv().await {
            if let Saying::Ask {
                method,
                params,
                reply,
            } = saying
            {
                let _ = reply.send(answer(&method, &params));
            }
        }
    };
    let (result, ()) = tokio::join!(suite.request(method, params, talk), listen);
    result.inspect_err(|error| tracing::error!(%error)).ok()
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
