//! What a request brings along besides its method: who asks, in which era, and the line back to them.

use crate::Face;
use crate::sessions::{Hears, Session};
use catalog::caller::Caller;
use executor::line::Sender;
use mcp::wire::{Era, RpcError, code};
use serde::de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;

/// How many messages may wait before an answer that nobody reads.
pub(crate) const LINE: usize = 64;

/// One request on its way.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) face: Arc<Face>,
    pub(crate) caller: Arc<Caller>,
    /// What the client can be asked for.
    pub(crate) capabilities: Arc<Value>,
    pub(crate) session: Option<Arc<Session>>,
    pub(crate) hears: Hears,
    /// Messages that go before the answer.
    pub(crate) line: Sender<String>,
}

impl Context {
    pub(crate) fn era(&self) -> Era {
        match self.session {
            Some(_) => Era::Legacy,
            None => Era::Modern,
        }
    }

    pub(crate) async fn say(&self, text: String) {
        // Who hung up is told nothing.
        let _ = self.line.send(text).await;
    }

    pub(crate) fn can(&self, capability: &str) -> bool {
        let able = self.capabilities.get(capability);
        able.is_some_and(|able| !able.is_null())
    }

    /// The least level of log lines that the client wants.
    pub(crate) fn log_level(&self, params: &Params) -> Option<String> {
        match &self.session {
            Some(session) => session.level(),
            None => params.meta.log_level.as_ref()?.as_str().map(str::to_owned),
        }
    }
}

/// More members than any method has.
const MEMBERS_MAX: usize = 64;

/// A request's parameters: few, so they are looked through and not hashed.
#[derive(Debug, Default)]
pub(crate) struct Params {
    members: Vec<(String, Value)>,
    pub(crate) meta: Meta,
    /// The trace that the request's message belongs to.
    carried: Option<Box<telemetry::Context>>,
}

/// What we understand of `_meta`. Whatever else stands there is not ours to refuse, nor to take for an object.
#[derive(Debug, Default)]
pub(crate) struct Meta {
    pub(crate) version: Option<Value>,
    pub(crate) capabilities: Option<Value>,
    log_level: Option<Value>,
    progress_token: Option<Value>,
    idempotency_key: Option<Value>,
    trace_parent: Option<Value>,
    trace_state: Option<Value>,
}

#[derive(Deserialize)]
#[serde(field_identifier)]
enum MetaName {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    Version,
    #[serde(rename = "io.modelcontextprotocol/clientCapabilities")]
    Capabilities,
    #[serde(rename = "io.modelcontextprotocol/logLevel")]
    LogLevel,
    #[serde(rename = "progressToken")]
    ProgressToken,
    #[serde(rename = "toolcrib/idempotency_key")]
    IdempotencyKey,
    #[serde(rename = "traceparent")]
    TraceParent,
    #[serde(rename = "tracestate")]
    TraceState,
    #[serde(other)]
    Other,
}

impl<'de> Deserialize<'de> for Meta {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Known;
        impl<'de> Visitor<'de> for Known {
            type Value = Meta;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Meta, A::Error> {
                let mut meta = Meta::default();
                while let Some(name) = map.next_key()? {
                    let place = match name {
                        MetaName::Version => &mut meta.version,
                        MetaName::Capabilities => &mut meta.capabilities,
                        MetaName::LogLevel => &mut meta.log_level,
                        MetaName::ProgressToken => &mut meta.progress_token,
                        MetaName::IdempotencyKey => &mut meta.idempotency_key,
                        MetaName::TraceParent => &mut meta.trace_parent,
                        MetaName::TraceState => &mut meta.trace_state,
                        MetaName::Other => {
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    *place = map.next_value()?;
                }
                Ok(meta)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Meta, A::Error> {
                IgnoredAny.visit_seq(seq).map(|_| Meta::default())
            }

            fn visit_unit<E>(self) -> Result<Meta, E> {
                Ok(Meta::default())
            }

            fn visit_bool<E>(self, _: bool) -> Result<Meta, E> {
                Ok(Meta::default())
            }

            fn visit_i64<E>(self, _: i64) -> Result<Meta, E> {
                Ok(Meta::default())
            }

            fn visit_u64<E>(self, _: u64) -> Result<Meta, E> {
                Ok(Meta::default())
            }

            fn visit_f64<E>(self, _: f64) -> Result<Meta, E> {
                Ok(Meta::default())
            }

            fn visit_str<E>(self, _: &str) -> Result<Meta, E> {
                Ok(Meta::default())
            }
        }
        from.deserialize_any(Known)
    }
}

impl Params {
    pub(crate) fn read(text: Option<&str>) -> Result<Self, RpcError> {
        match text {
            None => Ok(Params::default()),
            Some(text) => serde_json::from_str(text).map_err(|_| {
                invalid(format!(
                    "params must be an object of at most {MEMBERS_MAX} members"
                ))
            }),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        let member = self.members.iter().find(|it| it.0 == name);
        member.map(|it| &it.1)
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.members.iter().position(|it| it.0 == name)?;
        Some(self.members.swap_remove(at).1)
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.take(name);
        self.members.push((name.to_owned(), value));
    }

    pub(crate) fn text(&self, name: &str) -> Result<&str, RpcError> {
        let value = self.get(name).and_then(Value::as_str);
        value.ok_or_else(|| invalid(format!("params.{name} must be text")))
    }

    /// Where to send progress to, if it is wanted.
    pub(crate) fn progress_token(&self) -> Option<Value> {
        let token = self.meta.progress_token.as_ref()?;
        (token.is_string() || token.is_number()).then(|| token.clone())
    }

    /// What carried the request belongs to this trace.
    pub(crate) fn carried_in(mut self, trace: Option<&telemetry::Context>) -> Self {
        self.carried = trace.cloned().map(Box::new);
        self
    }

    /// The trace that the request says it belongs to, or what carried it. Where both are of one trace, what carried it lies
    /// between.
    pub(crate) fn trace(&self) -> Option<Box<telemetry::Context>> {
        let text = |value: &'_ Option<Value>| value.as_ref()?.as_str().map(str::to_owned);
        let said = text(&self.meta.trace_parent).and_then(|parent| {
            let state = text(&self.meta.trace_state);
            telemetry::Context::read(&parent, state.as_deref())
        });
        let carried = self.carried.clone();
        match (said, carried) {
            (Some(said), Some(carried)) if said.trace_id == carried.trace_id => Some(carried),
            (Some(said), _) => Some(Box::new(said)),
            (None, carried) => carried,
        }
    }

    pub(crate) fn idempotency_key(&self) -> Option<String> {
        let key = self.meta.idempotency_key.as_ref();
        key.and_then(Value::as_str).map(str::to_owned)
    }
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Params;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Params, A::Error> {
                let mut params = Params::default();
                params.members.reserve(2);
                while let Some(name) = map.next_key::<String>()? {
                    if name == "_meta" {
                        params.meta = map.next_value()?;
                    } else if params.members.len() == MEMBERS_MAX {
                        return Err(A::Error::custom("too many members"));
                    } else {
                        // Of two with one name the last counts.
                        let value = map.next_value()?;
                        params.take(&name);
                        params.members.push((name, value));
                    }
                }
                Ok(params)
            }
        }
        from.deserialize_map(Each)
    }
}

pub(crate) fn invalid(message: impl Into<String>) -> RpcError {
    RpcError::new(code::INVALID_PARAMS, message)
}

pub(crate) fn missing_capability(required: &Value) -> RpcError {
    let message = "The client does not declare a capability that this needs";
    RpcError::new(code::MISSING_CAPABILITY, message)
        .with_data(json!({"requiredCapabilities": required}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp::wire::{META_CAPABILITIES, META_LOG_LEVEL, META_VERSION};

    #[test]
    fn params_are_read_with_what_matters_of_their_meta() {
        let read = |value: &Value| Params::read(Some(&value.to_string()));
        let meta = json!({META_VERSION: "v", META_CAPABILITIES: {"roots": {}}, META_LOG_LEVEL: "info",
            "progressToken": 7, "toolcrib/idempotency_key": "k", "other": {"a": [1]}});
        let mut params = read(&json!({"name": "n", "_meta": meta, "arguments": {"b": 1}})).unwrap();
        assert_eq!(params.text("name").unwrap(), "n");
        assert_eq!(params.meta.version, Some(json!("v")));
        assert_eq!(params.meta.capabilities, Some(json!({"roots": {}})));
        assert_eq!(params.meta.log_level, Some(json!("info")));
        assert_eq!(params.progress_token(), Some(json!(7)));
        assert_eq!(params.idempotency_key().as_deref(), Some("k"));
        assert_eq!(params.take("arguments"), Some(json!({"b": 1})));
        assert_eq!(
            (params.take("arguments"), params.get("_meta")),
            (None, None)
        );
        params.set("name", json!(1));
        assert!(params.text("name").is_err());
        let twice = Params::read(Some(r#"{"a":1,"a":2}"#)).unwrap();
        assert_eq!(twice.get("a"), Some(&json!(2)));
        for odd in [
            json!({"_meta": 1}),
            json!({"_meta": null}),
            json!({"_meta": [META_VERSION]}),
            json!({"_meta": true}),
            json!({"_meta": -1}),
            json!({"_meta": 1.5}),
            json!({"_meta": META_VERSION}),
        ] {
            assert!(read(&odd).unwrap().meta.version.is_none(), "{odd}");
        }
        let many = |count: usize| (0..count).map(|n| (n.to_string(), json!(n))).collect();
        assert!(read(&Value::Object(many(MEMBERS_MAX))).is_ok());
        assert!(read(&Value::Object(many(MEMBERS_MAX + 1))).is_err());
        assert!(read(&json!([1])).is_err() && read(&json!("a")).is_err());
    }
}
