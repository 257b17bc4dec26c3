//! What a request is sent with, borrowed from whoever asks: it is written once and copied nowhere.

use serde::ser::SerializeMap;
use serde_json::{Map, Value};

/// The params of a request.
#[derive(Debug, Clone, Copy)]
pub enum Params<'a> {
    Of(&'a Map<String, Value>),
    /// Of `tools/call`.
    Call {
        name: &'a str,
        arguments: &'a Value,
    },
}

impl<'a> Params<'a> {
    pub(super) fn is_empty(self) -> bool {
        matches!(self, Params::Of(all) if all.is_empty())
    }

    pub(super) fn text(self, member: &str) -> Option<&'a str> {
        match self {
            Params::Of(all) => all.get(member).and_then(Value::as_str),
            Params::Call { name, .. } => (member == "name").then_some(name),
        }
    }

    pub(super) fn arguments(self) -> Option<&'a Value> {
        match self {
            Params::Of(all) => all.get("arguments"),
            Params::Call { arguments, .. } => Some(arguments),
        }
    }

    pub(super) fn meta(self) -> Option<&'a Map<String, Value>> {
        match self {
            Params::Of(all) => all.get("_meta").and_then(Value::as_object),
            Params::Call { .. } => None,
        }
    }

    /// What a request asks for, to know it again.
    pub(super) fn label(self, method: &str) -> String {
        let what = self.text("name").or_else(|| self.text("uri"));
        format!("{method} {}", what.unwrap_or_default())
    }

    /// Writes all members but `_meta` and those that others take the place of.
    pub(super) fn write<M: SerializeMap>(
        self,
        to: &mut M,
        instead: &Map<String, Value>,
    ) -> Result<(), M::Error> {
        match self {
            Params::Of(all) => {
                let own = |name: &str| name != "_meta" && !instead.contains_key(name);
                for (name, value) in all.iter().filter(|(name, _)| own(name)) {
                    to.serialize_entry(name, value)?;
                }
            }
            Params::Call { name, arguments } => {
                to.serialize_entry("name", name)?;
                to.serialize_entry("arguments", arguments)?;
            }
        }
        Ok(())
    }
}
