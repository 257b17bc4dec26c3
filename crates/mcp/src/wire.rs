//! The words of the protocol, in both eras, over raw JSON: what we do not need to understand passes as it came.
//! *Legacy* is every version with `initialize` and sessions, *modern* those without.

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt;

/// The one modern version.
pub const MODERN: &str = "2026-07-28";

/// The legacy ones, the newest first.
pub const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Members of `_meta` that every modern request carries, or may carry.
pub const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
pub const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// In results and in notifications of a modern server.
pub const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";
/// Which Toolcrib it is that answers.
pub const META_NODE: &str = "toolcrib/node";
/// Through which Toolcribs something listed has come, the one that has it first.
pub const META_PASSED: &str = "toolcrib/passed";
pub const META_SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// How two programs talk to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Era {
    Legacy,
    Modern,
}

/// JSON-RPC's codes and the protocol's own.
pub mod code {
    pub const PARSE: i64 = -32700;
    pub const INVALID_REQUEST: i64 = -32600;
    pub const NO_METHOD: i64 = -32601;
    pub const INVALID_PARAMS: i64 = -32602;
    pub const INTERNAL: i64 = -32603;
    /// Legacy only; the modern era says `INVALID_PARAMS`.
    pub const NO_RESOURCE: i64 = -32002;
    pub const HEADER_MISMATCH: i64 = -32020;
    pub const MISSING_CAPABILITY: i64 = -32021;
    pub const UNSUPPORTED_VERSION: i64 = -32022;
}

/// One message as it came. Which of its members are there says what it is.
#[derive(Debug, Deserialize)]
pub struct Message<'a> {
    #[serde(borrow, default)]
    pub jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub error: Option<&'a RawValue>,
    /// The trace that whatever carried it belongs to.
    #[serde(skip)]
    pub trace: Option<Box<telemetry::Context>>,
}

/// What is there is there, be it null.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Request,
    Notification,
    /// To a request of ours.
    Response,
    /// None of them.
    Odd,
}

impl<'a> Message<'a> {
    pub fn read(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    pub fn sort(&self) -> Sort {
        let has_id = self.id.is_some_and(|id| id.get() != "null");
        // Many leave it out; whoever says something else means another protocol.
        if self.jsonrpc.as_deref().is_some_and(|it| it != "2.0") {
            return Sort::Odd;
        }
        match (&self.method, has_id) {
            (Some(_), true) => Sort::Request,
            (Some(_), false) if self.id.is_none() => Sort::Notification,
            (None, true) if self.result.is_some() != self.error.is_some() => Sort::Response,
            _ => Sort::Odd,
        }
    }
}

/// The members of an object as they came, in their order, none of them read.
#[derive(Debug, Default)]
pub struct Members<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Of what is no object there are none.
    pub fn of(value: &'a RawValue) -> Self {
        serde_json::from_str(value.get()).unwrap_or_default()
    }

    /// Of two with one name the last counts.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        let mut from_the_end = self.0.iter().rev();
        from_the_end.find(|it| it.0 == name).map(|it| it.1)
    }

    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        let Text(text) = serde_json::from_str(self.get(name)?.get()).ok()?;
        Some(text)
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::with_capacity(4);
                while let Some(Text(name)) = map.next_key()? {
                    members.push((name, map.next_value()?));
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Each)
    }
}

/// Text that is copied only where it is escaped.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Why a request was not answered with a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    pub code: i64,
    #[serde(default)]
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl RpcError {
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        RpcError {
            code,
            message: message.into(),
            data: None,
        }
    }

    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

/// A text that came as JSON, to be understood: none of it where it is nested too deeply.
pub fn tree(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// A request or, without an id, a notification, as text.
pub fn request(id: Option<&Value>, method: &str, params: Option<&Value>) -> String {
    let mut message = json!({"jsonrpc": "2.0"});
    if let Some(id) = id {
        message["id"] = id.clone();
    }
    message["method"] = method.into();
    if let Some(params) = params {
        message["params"] = params.clone();
    }
    message.to_string()
}

/// An error, for a request whose id was `id`. Where that could not be read it is left out: the protocol knows no null.
pub fn error(id: Option<&RawValue>, error: &RpcError) -> String {
    let error = serde_json::to_string(error).unwrap_or_default();
    match id.filter(|id| id.get() != "null") {
        Some(id) => format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.get()),
        None => format!(r#"{{"jsonrpc":"2.0","error":{error}}}"#),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sort(text: &str) -> Sort {
        Message::read(text).unwrap().sort()
    }

    #[test]
    fn a_message_is_what_its_members_say() {
        assert_eq!(sort(r#"{"id":1,"method":"a"}"#), Sort::Request);
        assert_eq!(sort(r#"{"method":"a"}"#), Sort::Notification);
        assert_eq!(sort(r#"{"id":"x","result":{}}"#), Sort::Response);
        assert_eq!(sort(r#"{"id":1,"error":{"code":1}}"#), Sort::Response);
        for odd in [
            r#"{"id":null,"method":"a"}"#,
            r#"{"id":1}"#,
            r#"{"id":1,"result":1,"error":{}}"#,
            r#"{"result":1}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"a"}"#,
            "{}",
        ] {
            assert_eq!(sort(odd), Sort::Odd, "{odd}");
        }
    }

    #[test]
    fn members_are_not_read() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let value = raw(r#"{"b": [1.0, {}], "\u0061":1e400,"b":null}"#);
        let members = Members::of(&value);
        let names: Vec<&str> = members.0.iter().map(|it| &*it.0).collect();
        assert_eq!(names, ["b", "a", "b"]);
        let text = |name| members.get(name).map(RawValue::get);
        assert_eq!((text("a"), text("b")), (Some("1e400"), Some("null")));
        assert_eq!(text("c"), None);
        assert!(Members::of(&raw("[1]")).0.is_empty());
    }

    #[test]
    fn ids_and_texts_pass_as_they_came() {
        let message = Message::read(r#"{"id":"\u00e9","method":"tools\/call"}"#).unwrap();
        assert_eq!(message.method.as_deref(), Some("tools/call"));
        let answer = error(message.id, &RpcError::new(1, "no"));
        assert!(
            answer.starts_with(r#"{"jsonrpc":"2.0","id":"\u00e9","error":"#),
            "{answer}"
        );
    }
}
