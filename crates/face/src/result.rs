//! Results as the protocol words them: the members that matter, and what each era wants around them.

use crate::context::missing_capability;
use crate::exchange::{Shared, Text};
use executor::code::McpReport;
use executor::kind::FROM_OUTSIDE;
use executor::response::ResponseStatus;
use executor::{CallError, ToolResponse};
use mcp::wire::{Era, META_SERVER, Members, RpcError};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::sync::OnceLock;

/// A result on its way out.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// Without the braces: `"content":[…],"isError":true`.
    pub(crate) members: String,
    /// What stands among the members and is not copied.
    pub(crate) shared: Option<Shared>,
    pub(crate) meta: Map<String, Value>,
    /// What kind of result; the modern era says it of each.
    pub(crate) sort: Option<String>,
}

impl Done {
    pub(crate) fn of(members: impl Into<String>) -> Self {
        Done {
            members: members.into(),
            ..Done::default()
        }
    }

    /// A result of somebody else's, as it came.
    fn raw(result: &RawValue, era: Era) -> Self {
        let mut done = Done::default();
        done.members.reserve(result.get().len());
        for (name, value) in Members::of(result).0 {
            match &*name {
                "resultType" => {}
                "_meta" => done.meta = serde_json::from_str(value.get()).unwrap_or_default(),
                name => {
                    let comma = if done.members.is_empty() { "" } else { "," };
                    // Older clients take only an object; see `listing::wrapped`.
                    let is_odd = name == "structuredContent" && !value.get().starts_with('{');
                    let name = Value::from(name);
                    let _ = match is_odd && era == Era::Legacy {
                        true => write!(done.members, r#"{comma}{name}:{{"result":{value}}}"#),
                        false => write!(done.members, "{comma}{name}:{value}"),
                    };
                }
            }
        }
        done
    }

    /// One that is made as a value.
    pub(crate) fn value(mut result: Value) -> Self {
        let mut taken = |name: &str| result.as_object_mut().and_then(|all| all.remove(name));
        let meta = match taken("_meta") {
            Some(Value::Object(meta)) => meta,
            _ => Map::new(),
        };
        let sort = taken("resultType").and_then(|sort| sort.as_str().map(str::to_owned));
        let text = result.to_string();
        let members = text.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
        Done {
            members: members.unwrap_or_default().to_owned(),
            shared: None,
            meta,
            sort,
        }
    }

    /// How long what is listed may be believed, and by whom; only the modern era asks.
    pub(crate) fn cached(mut self, era: Era) -> Self {
        if era == Era::Modern {
            if !self.members.is_empty() {
                self.members.push(',');
            }
            // Nothing is held back once it has changed; and what is listed depends on who asks.
            self.members.push_str(r#""ttlMs":0,"cacheScope":"private""#);
        }
        self
    }

    pub(crate) fn text(self, era: Era) -> Text {
        let Done {
            members,
            mut shared,
            mut meta,
            sort,
        } = self;
        if let Some(shared) = &mut shared {
            // Behind the brace.
            shared.at += 1;
        }
        let mut text = String::with_capacity(members.len() + 128);
        text.push('{');
        text.push_str(&members);
        let mut comma = !members.is_empty();
        let mut add = |text: &mut String, name: &str, value: &str| {
            let before = if std::mem::replace(&mut comma, true) {
                ","
            } else {
                ""
            };
            let _ = write!(text, r#"{before}"{name}":{value}"#);
        };
        if era == Era::Modern {
            let sort = sort.unwrap_or_else(|| "complete".to_owned());
            add(&mut text, "resultType", &Value::String(sort).to_string());
        }
        // What a modern upstream has said of itself is nobody's business here.
        meta.remove(META_SERVER);
        if era == Era::Modern || !meta.is_empty() {
            add(&mut text, "_meta", &written(&meta, era));
        }
        text.push('}');
        Text { own: text, shared }
    }
}

fn written(meta: &Map<String, Value>, era: Era) -> String {
    let mut text = String::with_capacity(192);
    for (name, value) in meta {
        let before = if text.is_empty() { '{' } else { ',' };
        let name = Value::from(name.as_str());
        let _ = write!(text, "{before}{name}:{value}");
    }
    if era == Era::Modern {
        let before = if text.is_empty() { '{' } else { ',' };
        let info = SERVER_INFO.get_or_init(|| server_info().to_string());
        let _ = write!(text, r#"{before}"{META_SERVER}":{info}"#);
    }
    text.push('}');
    text
}

/// The same in every answer.
static SERVER_INFO: OnceLock<String> = OnceLock::new();

pub(crate) fn server_info() -> Value {
    json!({"name": "toolcrib", "title": "Toolcrib", "version": env!("CARGO_PKG_VERSION")})
}

/// What a call came to, as the result of `tools/call`, or as the error that a client's program sees instead of its
/// model.
pub(crate) fn of_call(response: ToolResponse, era: Era) -> Result<Done, RpcError> {
    let meta = Map::from_iter([(
        "toolcrib/execution_id".to_owned(),
        json!(response.execution_id),
    )]);
    if let Some(raw) = response.raw {
        let mut done = Done::raw(&raw, era);
        done.meta.extend(meta);
        return Ok(done);
    }
    let mut done = match &response.error {
        None => succeeded(&response),
        Some(error) => failed(error, era)?,
    };
    done.meta.extend(meta);
    Ok(done)
}

/// Text always, for those who read nothing else; and the data as they are, in an object.
fn succeeded(response: &ToolResponse) -> Done {
    let data = response.data.get();
    let text = match data.as_bytes().first() {
        // Text as it is, without its quotes.
        Some(b'"') => data.to_owned(),
        Some(b'n') => r#""""#.to_owned(),
        _ => Value::from(data).to_string(),
    };
    let mut members = format!(r#""content":[{{"type":"text","text":{text}}}"#);
    let mut meta = Map::new();
    if response.message == FROM_OUTSIDE {
        let note = Value::from(FROM_OUTSIDE);
        let _ = write!(members, r#",{{"type":"text","text":{note}}}"#);
        meta.insert("toolcrib/untrusted".to_owned(), Value::Bool(true));
    }
    members.push(']');
    let _ = match data.starts_with('{') {
        true => write!(members, r#","structuredContent":{data}"#),
        false => write!(members, r#","structuredContent":{{"result":{data}}}"#),
    };
    debug_assert!(response.status == ResponseStatus::Success);
    Done {
        members,
        shared: None,
        meta,
        sort: None,
    }
}

pub(crate) fn failed(error: &CallError, era: Era) -> Result<Done, RpcError> {
    let required = error.details.get("required_capabilities");
    if let (Era::Modern, Some(required)) = (era, required) {
        return Err(missing_capability(required));
    }
    if let McpReport::Protocol(code) = error.code.row().mcp {
        return Err(RpcError::new(i64::from(code), &*error.message));
    }
    let text = Value::from(&*error.message);
    let members = format!(r#""content":[{{"type":"text","text":{text}}}],"isError":true"#);
    let told = json!({"code": error.code, "details": error.details});
    Ok(Done {
        members,
        shared: None,
        meta: Map::from_iter([("toolcrib/error".to_owned(), told)]),
        sort: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_era_gets_what_it_wants() {
        assert_eq!(Done::default().text(Era::Legacy).into_string(), "{}");
        let modern: Value = serde_json::from_str(&Done::default().text(Era::Modern).own).unwrap();
        assert_eq!(modern["resultType"], "complete");
        assert_eq!(modern["_meta"][META_SERVER]["name"], "toolcrib");
        let upstream = json!({"content": [], "resultType": "complete", "_meta": {META_SERVER: {"name": "x"}, "a": 1}, "b\"": 2});
        let raw = RawValue::from_string(upstream.to_string()).unwrap();
        for done in [Done::value(upstream), Done::raw(&raw, Era::Legacy)] {
            let passed: Value = serde_json::from_str(&done.text(Era::Legacy).own).unwrap();
            assert_eq!(passed, json!({"content": [], "b\"": 2, "_meta": {"a": 1}}));
        }
        let modern: Value =
            serde_json::from_str(&Done::raw(&raw, Era::Modern).text(Era::Modern).own).unwrap();
        assert_eq!(modern["_meta"]["a"], 1);
        assert_eq!(modern["_meta"][META_SERVER]["name"], "toolcrib");
    }
}
