//! The `mcp` kind: a tool of an upstream MCP server, under whatever name it has here. What the server answers is passed on
//! as it is; what it says meanwhile goes to whoever asked.

use crate::upstream::{Request, ask, told_to};
use ::mcp::upstream::{Params, State, Upstream, UpstreamError, Upstreams};
use ::mcp::wire::Members;
use catalog::caller::Caller;
use catalog::tool::Definition;
use executor::kind::{CheckFuture, FROM_OUTSIDE, RunFuture};
use executor::{Code, Data, Failure, Kind, Output, Run};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// Whoever waits for a connection until the end is told a little earlier that nothing was sent: at the deadline itself the
/// call might have run.
const BEFORE_DEADLINE: Duration = Duration::from_millis(20);

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
        let server = own.map_err(|error| failure(&server, &run.caller, &error))?;
        let pinned = config.get("arguments").and_then(Value::as_object);
        let arguments = match pinned.filter(|pinned| !pinned.is_empty()) {
            None => Cow::Borrowed(&run.arguments),
            Some(pinned) => {
                let mut all = run.arguments.clone();
                if let Value::Object(all) = &mut all {
                    all.extend(pinned.clone());
                }
                Cow::Owned(all)
            }
        };
        let params = Params::Call {
            name: text(config, "tool_name"),
            arguments: &arguments,
        };
        let mut step = run.step(|| format!("tools/call {}", text(config, "tool_name")));
        step.set("mcp.method.name", || "tools/call".into());
        step.set("gen_ai.tool.name", || text(config, "tool_name").into());
        step.set("server.address", || server.name().into());
        let told = &definition.annotations;
        let request = Request {
            method: "tools/call",
            params,
            may_repeat: told.read_only == Some(true) || told.idempotent == Some(true),
            connect_by: run.deadline.checked_sub(BEFORE_DEADLINE),
            cancel: None,
            trace: step.context().cloned().map(Box::new),
        };
        let answer = ask(&server, request, run.asker()).await;
        let done = match answer {
            Ok(result) => outcome(result),
            Err(error) => Err(failure(&server, &run.caller, &error)),
        };
        if let Err(failure) = &done {
            step.fail(|| failure.code.as_str().to_owned());
        }
        done
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
        let said = members.get("content").map(said).unwrap_or_default();
        let mut failure = Failure::execution(match said.is_empty() {
            true => "the MCP server says that its tool failed",
            false => &said,
        });
        failure.raw = Some(result);
        return Err(failure);
    }
    Ok(Output {
        data: data(&members)?,
        message: Some(FROM_OUTSIDE.to_owned()),
        raw: Some(result),
        ..Output::default()
    })
}

/// All that a failed tool says.
fn said(content: &RawValue) -> String {
    let blocks: Vec<Members<'_>> = serde_json::from_str(content.get()).unwrap_or_default();
    let texts: Vec<&RawValue> = blocks.iter().filter_map(text_of).collect();
    joined(&texts)
}

fn data(members: &Members<'_>) -> Result<Data, Failure> {
    let structured = members.get("structuredContent");
    if let Some(data) = structured.filter(|it| it.get() != "null") {
        return passed_on(data);
    }
    let Some(content) = members.get("content") else {
        return Ok(Value::from("").into());
    };
    match texts(content).as_deref() {
        // As it was written.
        Some([one]) => Ok(Data::Written((*one).to_owned())),
        Some(several) => Ok(Value::from(joined(several)).into()),
        None => passed_on(content),
    }
}

/// The texts of all blocks, if they are nothing else.
fn texts<'a>(content: &'a RawValue) -> Option<Vec<&'a RawValue>> {
    let blocks: Vec<Members<'a>> = serde_json::from_str(content.get()).ok()?;
    blocks.iter().map(text_of).collect()
}

fn text_of<'a>(block: &Members<'a>) -> Option<&'a RawValue> {
    let text = block.get("text").filter(|it| it.get().starts_with('"'));
    text.filter(|_| block.get("type").is_some_and(|it| it.get() == r#""text""#))
}

fn joined(texts: &[&RawValue]) -> String {
    let texts = texts.iter().map(|it| serde_json::from_str(it.get()));
    let texts: Vec<String> = texts.map(Result::unwrap_or_default).collect();
    texts.join("\n")
}

/// Whoever reads the data later reads no deeper than this.
const DEPTH_MAX: usize = 127;

fn passed_on(value: &RawValue) -> Result<Data, Failure> {
    match is_deep(value.get()) {
        false => Ok(Data::Written(value.to_owned())),
        true => {
            let why = "The MCP server's answer is nested too deeply to be read";
            Err(Failure::new(Code::UpstreamError, why))
        }
    }
}

/// Whether JSON is nested deeper than may be.
fn is_deep(text: &str) -> bool {
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    text.bytes().any(|byte| {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'{' | b'[' if !is_text => depth += 1,
            b'}' | b']' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEPTH_MAX
    })
}

fn failure(upstream: &Upstream, caller: &Caller, error: &UpstreamError) -> Failure {
    let server = upstream.name();
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
        UpstreamError::Unavailable {
            state: State::Disabled,
            ..
        } => json!({"server": server}),
        UpstreamError::Unavailable { retry_after, .. } => {
            let seconds = retry_after.map_or(1, |it| it.as_secs().max(1));
            json!({"server": server, "retry_after_seconds": seconds})
        }
        UpstreamError::Rpc(error) => json!({"server": server, "error": error}),
        UpstreamError::Lost { .. } => json!({"server": server, "tool_ran": null}),
        _ => json!({"server": server}),
    };
    Failure::new(code, told_to(caller, upstream, error)).with_details(details)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data_of(result: &Value) -> Value {
        let raw = RawValue::from_string(result.to_string()).unwrap();
        outcome(raw).unwrap().data.value().into_owned()
    }

    #[test]
    fn the_data_are_what_says_most() {
        let text = |it: &str| json!({"type": "text", "text": it});
        let picture = json!({"type": "image", "data": "x"});
        for (result, data) in [
            (json!({"content": [text("a\"b")]}), json!("a\"b")),
            (json!({"content": [text("a"), text("b")]}), json!("a\nb")),
            (
                json!({"content": [text("a"), picture]}),
                json!([text("a"), picture]),
            ),
            (json!({"content": [1]}), json!([1])),
            (json!({"content": []}), json!("")),
            (json!({}), json!("")),
            (
                json!({"content": [text("a")], "structuredContent": null}),
                json!("a"),
            ),
            (
                json!({"content": [text("a")], "structuredContent": {"b": 1}}),
                json!({"b": 1}),
            ),
        ] {
            assert_eq!(data_of(&result), data, "{result}");
        }
        let failed = json!({"content": [text("a"), picture, text("b")], "isError": true});
        let failed = outcome(RawValue::from_string(failed.to_string()).unwrap()).unwrap_err();
        assert_eq!(failed.message, "Execution error: a\nb");
    }

    #[test]
    fn what_is_nested_too_deeply_is_refused() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let read = |text: String| {
            let result = format!(r#"{{"structuredContent":{text}}}"#);
            outcome(RawValue::from_string(result).unwrap())
        };
        assert!(read(nested(DEPTH_MAX)).is_ok());
        assert_eq!(
            read(nested(DEPTH_MAX + 1)).unwrap_err().code,
            Code::UpstreamError
        );
        let text = format!(r#"["\"{}",{}]"#, "[".repeat(500), nested(100));
        assert!(read(text).is_ok());
    }
}
