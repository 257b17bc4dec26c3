//! Results as the protocol words them: the members that matter, and what each era wants around them.

use crate::context::missing_capability;
use crate::exchange::Text;
use bytes::Bytes;
use executor::code::McpReport;
use executor::kind::FROM_OUTSIDE;
use executor::response::ResponseStatus;
use executor::{CallError, ToolResponse};
use mcp::wire::{Era, META_SERVER, Members, RpcError};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::sync::OnceLock;
use uuid::Uuid;

/// In `_meta` of a call's result.
const EXECUTION_ID: &str = "toolcrib/execution_id";

/// A result on its way out.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// Without the braces: `"content":[…],"isError":true`.
    pub(crate) members: String,
    /// How the last member begins, and the rest of it with what closes the result and its message, which is not copied:
    /// `"tools":[` and `…]}}`.
    pub(crate) last: Option<(&'static str, Bytes)>,
    pub(crate) meta: Map<String, Value>,
    /// The call's, which stands in `_meta`, too.
    pub(crate) execution_id: Option<Uuid>,
    /// What kind of result; the modern era says it of each.
    pub(crate) sort: Option<String>,
    /// What the server is called, where its toolset says; the modern era says that of each, too.
    pub(crate) server: Option<String>,
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
        let text = &mut done.members;
        text.reserve(result.get().len());
        for (name, value) in Members::of(result).0 {
            let value = value.get();
            match &*name {
                "resultType" => {}
                "_meta" => done.meta = serde_json::from_str(value).unwrap_or_default(),
                name => {
                    if !text.is_empty() {
                        text.push(',');
                    }
                    push_name(text, name);
                    // Older clients take only an object; see `listing::wrapped`.
                    let is_odd = name == "structuredContent" && !value.starts_with('{');
                    if is_odd && era == Era::Legacy {
                        text.extend([r#"{"result":"#, value, "}"]);
                    } else {
                        text.push_str(value);
                    }
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
            meta,
            sort,
            ..Done::default()
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

    #[cfg(test)]
    pub(crate) fn text(self, era: Era) -> Text {
        let mut own = String::new();
        let shared = self.write(&mut own, era);
        let text = Text { own, shared }.into_string();
        // Without the message around it.
        text[..text.len() - 1].to_owned().into()
    }

    /// The answer to the request whose id was `id`.
    pub(crate) fn answers(self, id: &RawValue, era: Era) -> Text {
        let mut own = String::with_capacity(self.members.len() + id.get().len() + 320);
        own.extend([r#"{"jsonrpc":"2.0","id":"#, id.get(), r#","result":"#]);
        let shared = self.write(&mut own, era);
        Text { own, shared }
    }

    /// Writes it behind what is there, up to the end of the message; gives what is still to come.
    fn write(mut self, text: &mut String, era: Era) -> Bytes {
        text.push('{');
        text.push_str(&self.members);
        let mut before = if self.members.is_empty() { "" } else { "," };
        if era == Era::Modern {
            text.push_str(before);
            push_name(text, "resultType");
            push_text(text, self.sort.as_deref().unwrap_or("complete"));
            before = ",";
        }
        // What a modern upstream has said of itself is nobody's business here, and what is ours is not theirs to say.
        self.meta.remove(META_SERVER);
        self.meta.remove(EXECUTION_ID);
        if era == Era::Modern || !self.meta.is_empty() || self.execution_id.is_some() {
            text.push_str(before);
            push_name(text, "_meta");
            let server = (era == Era::Modern).then_some(self.server.as_deref());
            write_meta(text, &self.meta, self.execution_id, server);
            before = ",";
        }
        match self.last {
            Some((opening, rest)) => {
                text.extend([before, opening]);
                rest
            }
            None => {
                text.push_str("}}");
                Bytes::new()
            }
        }
    }
}

/// `server`: that the server tells of itself, and by which name.
fn write_meta(
    text: &mut String,
    meta: &Map<String, Value>,
    execution_id: Option<Uuid>,
    server: Option<Option<&str>>,
) {
    let mut before = '{';
    let mut name = |text: &mut String, name: &str| {
        text.push(std::mem::replace(&mut before, ','));
        push_name(text, name);
    };
    for (own, value) in meta {
        name(text, own);
        let _ = write!(text, "{value}");
    }
    if let Some(id) = execution_id {
        name(text, EXECUTION_ID);
        let mut room = [0; uuid::fmt::Hyphenated::LENGTH];
        text.extend(["\"", id.hyphenated().encode_lower(&mut room), "\""]);
    }
    if let Some(called) = server {
        name(text, META_SERVER);
        match called {
            None => text.push_str(SERVER_INFO.get_or_init(|| server_info(None).to_string())),
            called => {
                let _ = write!(text, "{}", server_info(called));
            }
        }
    }
    text.push('}');
}

/// A member's name with its colon.
fn push_name(text: &mut String, name: &str) {
    push_text(text, name);
    text.push(':');
}

/// A text in its quotes. Most have nothing in them that would have to be escaped.
fn push_text(text: &mut String, value: &str) {
    let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
    match value.bytes().all(is_plain) {
        true => text.extend(["\"", value, "\""]),
        false => text.push_str(&serde_json::to_string(value).unwrap_or_default()),
    }
}

/// The same in every answer, but for toolsets that say otherwise.
static SERVER_INFO: OnceLock<String> = OnceLock::new();

/// What we are; with the name that a toolset gives to its own address, if it does.
pub(crate) fn server_info(called: Option<&str>) -> Value {
    let (name, title) = called.map_or(("toolcrib", "Toolcrib"), |called| (called, called));
    json!({"name": name, "title": title, "version": env!("CARGO_PKG_VERSION")})
}

/// What a call came to, as the result of `tools/call`, or as the error that a client's program sees instead of its
/// model.
pub(crate) fn of_call(response: &ToolResponse, era: Era) -> Result<Done, RpcError> {
    let done = match (&response.raw, &response.error) {
        (Some(raw), _) => Done::raw(raw, era),
        (None, None) if response.is_whole => Done::of(whole(response)),
        (None, None) => succeeded(response),
        (None, Some(error)) if response.is_whole => Done {
            members: whole(response),
            ..failed(error, era)?
        },
        (None, Some(error)) => failed(error, era)?,
    };
    Ok(Done {
        execution_id: Some(response.execution_id),
        ..done
    })
}

/// Text always, for those who read nothing else; and the data as they are, in an object.
fn succeeded(response: &ToolResponse) -> Done {
    let data = response.data.get();
    // Written once each, escaped and as it is, and as little besides.
    let mut members = String::with_capacity(2 * data.len() + data.len() / 4 + 128);
    members.push_str(r#""content":[{"type":"text","text":"#);
    match data.as_bytes().first() {
        // Text as it is, without its quotes.
        Some(b'"') => members.push_str(data),
        _ => push_text(&mut members, data),
    }
    members.push('}');
    let mut meta = Map::new();
    if response.message == FROM_OUTSIDE {
        let note = Value::from(FROM_OUTSIDE);
        let _ = write!(members, r#",{{"type":"text","text":{note}}}"#);
        meta.insert("toolcrib/untrusted".to_owned(), Value::Bool(true));
    }
    if response.truncated {
        let note = Value::from(&*response.message);
        let _ = write!(members, r#",{{"type":"text","text":{note}}}"#);
        meta.insert("toolcrib/truncated".to_owned(), Value::Bool(true));
    }
    members.push_str(r#"],"structuredContent":"#);
    match data.starts_with('{') {
        true => members.push_str(data),
        false => members.extend([r#"{"result":"#, data, "}"]),
    }
    debug_assert!(response.status == ResponseStatus::Success);
    Done {
        members,
        meta,
        ..Done::default()
    }
}

/// The answer as REST gives it, without what is ours: for tools that others have known in this shape before.
fn whole(response: &ToolResponse) -> String {
    let is_error = response.error.is_some();
    let (status, message) = (response.status, &response.message);
    let mut object = json!({"status": status, "message": message}).to_string();
    if !is_error {
        object.pop();
        object.extend([r#","data":"#, response.data.get(), "}"]);
    }
    let text = Value::from(object.as_str());
    let is_error = if is_error { r#","isError":true"# } else { "" };
    format!(r#""content":[{{"type":"text","text":{text}}}],"structuredContent":{object}{is_error}"#)
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
        meta: Map::from_iter([("toolcrib/error".to_owned(), told)]),
        ..Done::default()
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
        let upstream = json!({"content": [], "resultType": "complete", "_meta": {META_SERVER: {"name": "x"}, EXECUTION_ID: "theirs", "a": 1}, "b\"": 2});
        let raw = RawValue::from_string(upstream.to_string()).unwrap();
        for done in [Done::value(upstream), Done::raw(&raw, Era::Legacy)] {
            let passed: Value = serde_json::from_str(&done.text(Era::Legacy).own).unwrap();
            assert_eq!(passed, json!({"content": [], "b\"": 2, "_meta": {"a": 1}}));
        }
        let modern: Value =
            serde_json::from_str(&Done::raw(&raw, Era::Modern).text(Era::Modern).own).unwrap();
        assert_eq!(modern["_meta"]["a"], 1);
        assert_eq!(modern["_meta"][META_SERVER]["name"], "toolcrib");
        let named = Done {
            server: Some("Data \"tools\"".to_owned()),
            ..Done::default()
        };
        let named: Value = serde_json::from_str(&named.text(Era::Modern).own).unwrap();
        assert_eq!(named["_meta"][META_SERVER]["name"], "Data \"tools\"");
    }

    #[test]
    fn what_is_told_whole_is_one_object() {
        let response = |error: Option<CallError>| ToolResponse {
            status: match error {
                None => ResponseStatus::Success,
                Some(_) => ResponseStatus::Error,
            },
            message: "SQL \"executed\".".to_owned(),
            data: RawValue::from_string(r#"{"type":"csv_table"}"#.to_owned()).unwrap(),
            error,
            tool_name: "t".into(),
            execution_id: Uuid::nil(),
            elapsed: 0.5,
            raw: None,
            truncated: false,
            is_whole: true,
        };
        let told = |response: &ToolResponse| -> Value {
            let text = of_call(response, Era::Legacy).unwrap().text(Era::Legacy);
            serde_json::from_str(&text.own).unwrap()
        };
        let nothing = ToolResponse {
            data: RawValue::NULL.to_owned(),
            is_whole: false,
            ..response(None)
        };
        let answer = told(&nothing);
        assert_eq!(answer["content"][0]["text"], "null");
        assert_eq!(answer["structuredContent"], json!({"result": null}));
        let good = json!({"status": "success", "message": "SQL \"executed\".", "data": {"type": "csv_table"}});
        let answer = told(&response(None));
        assert_eq!(answer["structuredContent"], good);
        assert_eq!(answer["content"][0]["text"], good.to_string());
        assert_eq!(answer.get("isError"), None);
        let answer = told(&response(Some(CallError {
            code: executor::Code::ToolExecutionError,
            message: "m".to_owned(),
            details: json!({"sqlstate": "42601"}),
        })));
        let bad = json!({"status": "error", "message": "SQL \"executed\"."});
        assert_eq!(answer["structuredContent"], bad);
        assert_eq!(
            (
                &answer["isError"],
                &answer["_meta"]["toolcrib/error"]["code"]
            ),
            (&json!(true), &json!("tool_execution_error"))
        );
    }
}
