//! Messages as they come, read once, and as they go, written once.

use crate::wire::RpcError;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// A message of a server.
#[derive(Debug, Deserialize)]
pub(super) struct Incoming {
    #[serde(default)]
    pub(super) id: Option<Value>,
    #[serde(default)]
    pub(super) method: Option<String>,
    #[serde(default)]
    pub(super) params: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
}

/// What is there is there, be it null.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// One message, or several where an older server sends them together.
#[derive(Debug)]
pub(super) enum Read {
    One(Box<Incoming>),
    Several(Vec<Incoming>),
    /// Not a message at all.
    Garbage,
}

pub(super) fn read(text: &[u8]) -> Read {
    let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
    let read = match first {
        Some(b'[') => serde_json::from_slice(text).map(Read::Several),
        _ => serde_json::from_slice(text).map(|one| Read::One(Box::new(one))),
    };
    read.unwrap_or(Read::Garbage)
}

impl Incoming {
    /// The number of the request of ours that this answers. Some servers make a text of it.
    pub(super) fn answers(&self) -> Option<u64> {
        if self.method.is_some() {
            return None;
        }
        match self.id.as_ref()? {
            Value::String(text) => text.parse().ok(),
            number => number.as_u64(),
        }
    }

    pub(super) fn is_error_of_nobody(&self) -> bool {
        self.method.is_none() && self.id.is_none() && self.error.is_some()
    }

    /// The answer in it, or why it is none.
    pub(super) fn outcome(self) -> Result<Result<Value, RpcError>, String> {
        match (self.result, self.error) {
            (Some(result), None) => Ok(Ok(result)),
            (_, Some(error)) => match serde_json::from_value(error) {
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
    pub(super) params: &'a Map<String, Value>,
    /// Takes the place of `_meta` in the params; left out where it is empty.
    pub(super) meta: &'a Map<String, Value>,
    /// Takes the place of members of the params.
    pub(super) extra: &'a Map<String, Value>,
}

impl Outgoing<'_> {
    pub(super) fn text(&self) -> String {
        // Maps with text as keys can always be written.
        serde_json::to_string(self).unwrap_or_default()
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
            message.serialize_entry("params", &Params(self))?;
        }
        message.end()
    }
}

struct Params<'a>(&'a Outgoing<'a>);

impl Serialize for Params<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Outgoing {
            params,
            meta,
            extra,
            ..
        } = self.0;
        let mut all = to.serialize_map(None)?;
        for (name, value) in *params {
            if name != "_meta" && !extra.contains_key(name) {
                all.serialize_entry(name, value)?;
            }
        }
        for (name, value) in *extra {
            all.serialize_entry(name, value)?;
        }
        if !meta.is_empty() {
            all.serialize_entry("_meta", meta)?;
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

    fn one(text: &str) -> Incoming {
        match read(text.as_bytes()) {
            Read::One(one) => *one,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn answers_are_told_from_questions() {
        assert_eq!(one(r#"{"id":7,"result":null}"#).answers(), Some(7));
        assert_eq!(one(r#"{"id":"7","error":{"code":1}}"#).answers(), Some(7));
        assert_eq!(one(r#"{"id":7,"method":"ping"}"#).answers(), None);
        assert_eq!(one(r#"{"id":"x","result":{}}"#).answers(), None);
        assert_eq!(
            one(r#"{"id":1,"result":null}"#).outcome(),
            Ok(Ok(Value::Null))
        );
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
        let params = json!({"name": "a", "_meta": {"x": 1}, "requestState": "old", "odd": [null]});
        let meta = json!({"progressToken": 3});
        let extra = json!({"requestState": "new"});
        let text = Outgoing {
            id: Some(3),
            method: "tools/call",
            params: params.as_object().unwrap(),
            meta: meta.as_object().unwrap(),
            extra: extra.as_object().unwrap(),
        }
        .text();
        assert_eq!(
            text,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a","odd":[null],"requestState":"new","_meta":{"progressToken":3}}}"#
        );
        let none = Map::new();
        let bare = Outgoing {
            id: None,
            method: "m",
            params: &none,
            meta: &none,
            extra: &none,
        };
        assert_eq!(bare.text(), r#"{"jsonrpc":"2.0","method":"m"}"#);
    }
}
