//! Messages as they come, read once, and as they go, written once.

use super::params::Params;
use crate::wire::{
    META_CAPABILITIES, META_CLIENT, META_LOG_LEVEL, META_VERSION, MODERN, RpcError, tree,
};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;
use telemetry::context::{TRACE_PARENT, TRACE_STATE};

/// A message of a server, of which only what it is has been read.
#[derive(Debug, Deserialize)]
pub(super) struct Incoming<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// What is there is there, be it null.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// One message, or several where an older server sends them together.
#[derive(Debug)]
pub(super) enum Read<'a> {
    One(Incoming<'a>),
    Several(Vec<Incoming<'a>>),
    /// Not a message at all.
    Garbage,
}

pub(super) fn read(text: &[u8]) -> Read<'_> {
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    let read = match first {
        Some(b'[') => serde_json::from_slice(text).map(Read::Several),
        _ => serde_json::from_slice(text).map(Read::One),
    };
    read.unwrap_or(Read::Garbage)
}

impl<'a> Incoming<'a> {
    /// The number of the request of ours that this answers. Some servers make a text of it.
    pub(super) fn answers(&self) -> Option<u64> {
        if self.method.is_some() {
            return None;
        }
        let id = self.id?.get();
        let inside = id.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        inside.unwrap_or(id).parse().ok()
    }

    pub(super) fn id(&self) -> Option<Value> {
        self.id.map(tree)
    }

    pub(super) fn params(&self) -> Option<Value> {
        self.params.map(tree)
    }

    pub(super) fn is_error_of_nobody(&self) -> bool {
        self.method.is_none() && self.id.is_none() && self.error.is_some()
    }

    /// The answer in it, or why it is none.
    pub(super) fn outcome(&self) -> Result<Result<&'a RawValue, RpcError>, String> {
        match (self.result, self.error) {
            (Some(result), None) => Ok(Ok(result)),
            (_, Some(error)) => match serde_json::from_str(error.get()) {
                Ok(error) => Ok(Err(error)),
                Err(error) => Err(format!("its error cannot be read: {error}")),
            },
            (None, None) => Err("its answer has neither a result nor an error".to_owned()),
        }
    }
}

/// A request of ours, or a notification where it has no id.
pub(super) struct Outgoing<'a> {
    pub(super) id: Option<u64>,
    pub(super) method: &'a str,
    pub(super) params: Params<'a>,
    /// Takes the place of `_meta` in the params; left out where it is empty.
    pub(super) meta: Meta<'a>,
    /// Takes the place of members of the params.
    pub(super) extra: &'a Map<String, Value>,
}

impl Outgoing<'_> {
    pub(super) fn text(&self) -> String {
        // Maps with text as keys can always be written.
        let mut text = Vec::with_capacity(512);
        match serde_json::to_writer(&mut text, self) {
            Ok(()) => String::from_utf8(text).unwrap_or_default(),
            Err(_) => String::new(),
        }
    }
}

impl Serialize for Outgoing<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut message = to.serialize_map(None)?;
        message.serialize_entry("jsonrpc", "2.0")?;
        if let Some(id) = self.id {
            message.serialize_entry("id", &id)?;
        }
        message.serialize_entry("method", self.method)?;
        if !(self.params.is_empty() && self.meta.is_empty() && self.extra.is_empty()) {
            message.serialize_entry("params", &Written(self))?;
        }
        message.end()
    }
}

struct Written<'a>(&'a Outgoing<'a>);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Outgoing {
            params,
            meta,
            extra,
            ..
        } = self.0;
        let mut all = to.serialize_map(None)?;
        params.write(&mut all, extra)?;
        for (name, value) in *extra {
            all.serialize_entry(name, value)?;
        }
        if !meta.is_empty() {
            all.serialize_entry("_meta", meta)?;
        }
        all.end()
    }
}

/// `_meta` of a message, as the server's era has it.
#[derive(Default)]
pub(super) struct Meta<'a> {
    /// What came from whoever asked. What is for their own connection stays with it.
    pub(super) theirs: Option<&'a Map<String, Value>>,
    /// What every message to a modern server has.
    pub(super) modern: Option<Modern<'a>>,
    pub(super) progress_token: Option<u64>,
    /// The step of a trace that this is.
    pub(super) trace: Option<&'a telemetry::Context>,
}

pub(super) struct Modern<'a> {
    pub(super) capabilities: &'a Value,
    pub(super) log_level: Option<&'a str>,
}

/// Who we are.
#[derive(Serialize)]
pub(super) struct ClientInfo {
    name: &'static str,
    version: &'static str,
}

pub(super) const CLIENT_INFO: ClientInfo = ClientInfo {
    name: "toolcrib",
    version: env!("CARGO_PKG_VERSION"),
};

impl<'a> Meta<'a> {
    fn passed_on(&self) -> impl Iterator<Item = (&'a String, &'a Value)> {
        const OURS: [&str; 7] = [
            TRACE_PARENT,
            TRACE_STATE,
            META_VERSION,
            META_CAPABILITIES,
            META_CLIENT,
            META_LOG_LEVEL,
            "progressToken",
        ];
        let theirs = self.theirs.into_iter().flatten();
        // Without a step of our own, theirs is passed on.
        let ours = if self.trace.is_some() {
            &OURS[..]
        } else {
            &OURS[2..]
        };
        theirs.filter(move |(name, _)| !ours.contains(&name.as_str()))
    }

    fn is_empty(&self) -> bool {
        self.modern.is_none()
            && self.progress_token.is_none()
            && self.trace.is_none()
            && self.passed_on().next().is_none()
    }
}

impl Serialize for Meta<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut all = to.serialize_map(None)?;
        for (name, value) in self.passed_on() {
            all.serialize_entry(name, value)?;
        }
        if let Some(modern) = &self.modern {
            all.serialize_entry(META_VERSION, MODERN)?;
            all.serialize_entry(META_CAPABILITIES, modern.capabilities)?;
            all.serialize_entry(META_CLIENT, &CLIENT_INFO)?;
            if let Some(level) = modern.log_level {
                all.serialize_entry(META_LOG_LEVEL, level)?;
            }
        }
        if let Some(trace) = self.trace {
            all.serialize_entry(TRACE_PARENT, &trace.traceparent())?;
            if let Some(state) = &trace.state {
                all.serialize_entry(TRACE_STATE, &**state)?;
            }
        }
        if let Some(token) = self.progress_token {
            all.serialize_entry("progressToken", &token)?;
        }
        all.end()
    }
}

/// An answer to a request of theirs.
pub(super) fn answer(id: &Value, outcome: &Result<Value, RpcError>) -> String {
    let (name, value) = match outcome {
        Ok(result) => ("result", serde_json::to_string(result)),
        Err(error) => ("error", serde_json::to_string(error)),
    };
    let value = value.unwrap_or_else(|_| "null".to_owned());
    format!(r#"{{"jsonrpc":"2.0","id":{id},"{name}":{value}}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(text: &str) -> Incoming<'_> {
        match read(text.as_bytes()) {
            Read::One(one) => one,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn answers_are_told_from_questions() {
        assert_eq!(one(r#"{"id":7,"result":null}"#).answers(), Some(7));
        assert_eq!(one(r#"{"id":"7","error":{"code":1}}"#).answers(), Some(7));
        assert_eq!(one(r#"{"id":7,"method":"ping"}"#).answers(), None);
        assert_eq!(one(r#"{"id":"x","result":{}}"#).answers(), None);
        let null = one(r#"{"id":1,"result":null}"#).outcome();
        assert_eq!(null.unwrap().unwrap().get(), "null");
        assert!(one(r#"{"id":1}"#).outcome().is_err());
        assert!(one(r#"{"id":1,"error":"no"}"#).outcome().is_err());
        assert!(matches!(read(b"[{},{}]"), Read::Several(two) if two.len() == 2));
        for garbage in ["", "hello", "1", "{\"id\":", "[1]", "\"x\""] {
            assert!(
                matches!(read(garbage.as_bytes()), Read::Garbage),
                "{garbage}"
            );
        }
    }

    #[test]
    fn params_are_written_with_what_is_ours_in_place() {
        let params = json!({"name": "a", "_meta": {"x": 1, "progressToken": "theirs"}, "requestState": "old", "odd": [null]});
        let extra = json!({"requestState": "new"});
        let text = Outgoing {
            id: Some(3),
            method: "tools/call",
            params: Params::Of(params.as_object().unwrap()),
            meta: Meta {
                theirs: params["_meta"].as_object(),
                modern: None,
                progress_token: Some(3),
                trace: None,
            },
            extra: extra.as_object().unwrap(),
        }
        .text();
        assert_eq!(
            text,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a","odd":[null],"requestState":"new","_meta":{"x":1,"progressToken":3}}}"#
        );
        let none = Map::new();
        let bare = Outgoing {
            id: None,
            method: "m",
            params: Params::Of(&none),
            meta: Meta::default(),
            extra: &none,
        };
        assert_eq!(bare.text(), r#"{"jsonrpc":"2.0","method":"m"}"#);
    }
}
