//! The `mcp` kind: a tool of an upstream MCP server, under whatever name it has here. What the server answers is passed on
//! as it is; what it says meanwhile goes to whoever asked.

use crate::upstream::{Request, ask};
use ::mcp::upstream::{Upstream, UpstreamError, Upstreams};
use ::mcp::wire::Members;
use catalog::tool::Definition;
use executor::kind::{CheckFuture, FROM_OUTSIDE, RunFuture};
use executor::{Code, Failure, Kind, Output, Run};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub(crate) struct Mcp(pub(crate) Arc<Upstreams>);

impl Mcp {
    fn server(&self, config: &Map<String, Value>) -> Result<Arc<Upstream>, Failure> {
        let name = text(config, "server_name");
        self.0.get(name).ok_or_else(|| {
            let known: Vec<String> = self.0.all().iter().map(|it| it.name().to_owned()).collect();
            let known = match known.is_empty() {
                true => "there are none".to_owned(),
                false => format!("there are {}", known.join(", ")),
            };
            Failure::new(
                Code::NotConfigured,
                format!("There is no MCP server '{name}' ({known}); add it to mcp.json, or with `toolcrib servers add`"),
            )
        })
    }

    async fn call(&self, run: &Run) -> Result<Output, Failure> {
        let definition = &run.entry.tool.definition;
        let config = &definition.config;
        let server = self.server(config)?;
        check_approved(&server, text(config, "tool_name"))?;
        let own = self.0.of_user(&server, run.caller.user);
        let server = own.map_err(|error| failure(server.name(), &error))?;
        let mut arguments = run.arguments.clone();
        if let (Value::Object(all), Some(Value::Object(pinned))) =
            (&mut arguments, config.get("arguments"))
        {
            all.extend(pinned.clone());
        }
        let params = Map::from_iter([
            ("name".to_owned(), text(config, "tool_name").into()),
            ("arguments".to_owned(), arguments),
        ]);
        let told = &definition.annotations;
        let request = Request {
            method: "tools/call",
            params,
            may_repeat: told.read_only == Some(true) || told.idempotent == Some(true),
            cancel: run.cancel.clone(),
        };
        let answer = ask(&server, request, run.asker()).await;
        match answer {
            Ok(result) => outcome(result),
            Err(error) => Err(failure(server.name(), &error)),
        }
    }
}

impl Kind for Mcp {
    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        Box::pin(self.call(run))
    }

    /// A server that is not there may still come; only a name that nobody could have is refused elsewhere.
    fn check<'a>(&'a self, _definition: &'a Definition) -> CheckFuture<'a> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// A definition that nobody has approved may have come to mean something else.
fn check_approved(server: &Upstream, tool: &str) -> Result<(), Failure> {
    if server.is_approved(tool) {
        return Ok(());
    }
    let (name, lists) = (server.name(), server.lists());
    let (code, why) = if lists.tools.iter().any(|it| it["name"] == tool) {
        let why = format!(
            "its definition of '{tool}' is new or was changed, and waits for approval; see `toolcrib servers changes {name}`"
        );
        (Code::ApprovalRequired, why)
    } else if lists.tools.is_empty() && !server.status().state.is_up() {
        // Nothing waits that anybody could approve.
        let state = server.status().state;
        let why = format!(
            "it is {}, and which tools it has is not known yet",
            state.as_str()
        );
        (Code::ServiceUnavailable, why)
    } else {
        let why = format!("it does not list a tool '{tool}' any more");
        (Code::UpstreamError, why)
    };
    let details = json!({"server": name, "tool": tool});
    let failure = Failure::new(code, format!("MCP server '{name}': {why}"));
    Err(failure.with_details(details))
}

fn text<'a>(config: &'a Map<String, Value>, name: &str) -> &'a str {
    config.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// What came back. The data are the structured content; without it the text, and without that the blocks.
fn outcome(result: Box<RawValue>) -> Result<Output, Failure> {
    let members = Members::of(&result);
    if members.get("isError").map(RawValue::get) == Some("true") {
        let said = joined(&blocks(&members)?);
        let mut failure = Failure::execution(match said.is_empty() {
            true => "the MCP server says that its tool failed",
            false => &said,
        });
        failure.raw = Some(result);
        return Err(failure);
    }
    let structured = members.get("structuredContent");
    let data = match structured.filter(|it| it.get() != "null") {
        Some(data) => read(data)?,
        None => match blocks(&members)? {
            blocks if blocks.iter().all(|it| text_of(it).is_some()) => joined(&blocks).into(),
            blocks => Value::Array(blocks),
        },
    };
    Ok(Output {
        data,
        message: Some(FROM_OUTSIDE.to_owned()),
        raw: Some(result),
        ..Output::default()
    })
}

fn blocks(members: &Members<'_>) -> Result<Vec<Value>, Failure> {
    match members.get("content").map(read).transpose()? {
        Some(Value::Array(blocks)) => Ok(blocks),
        _ => Ok(Vec::new()),
    }
}

fn text_of(block: &Value) -> Option<&str> {
    block["text"].as_str().filter(|_| block["type"] == "text")
}

fn joined(blocks: &[Value]) -> String {
    let texts: Vec<&str> = blocks.iter().filter_map(text_of).collect();
    texts.join("\n")
}

fn read(value: &RawValue) -> Result<Value, Failure> {
    serde_json::from_str(value.get()).map_err(|_| {
        let why = "The MCP server's answer is nested too deeply to be read";
        Failure::new(Code::UpstreamError, why)
    })
}

fn failure(server: &str, error: &UpstreamError) -> Failure {
    let code = match error {
        UpstreamError::Unavailable { .. } => Code::ServiceUnavailable,
        UpstreamError::AuthRequired { .. } => Code::AuthRequired,
        UpstreamError::Rpc(_) | UpstreamError::Lost { .. } | UpstreamError::Protocol(_) => {
            Code::UpstreamError
        }
        UpstreamError::Late => Code::Timeout,
        UpstreamError::Cancelled => Code::Cancelled,
    };
    let details = match error {
        UpstreamError::Unavailable { retry_after, .. } => {
            let seconds = retry_after.map_or(1, |it| it.as_secs().max(1));
            json!({"server": server, "retry_after_seconds": seconds})
        }
        UpstreamError::Rpc(error) => json!({"server": server, "error": error}),
        UpstreamError::Lost { .. } => json!({"server": server, "tool_ran": null}),
        _ => json!({"server": server}),
    };
    Failure::new(code, format!("MCP server '{server}': {error}")).with_details(details)
}
