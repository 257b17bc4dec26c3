//! JSON merge patches (RFC 7396): read and applied.

use crate::error::{Error, Result};
use catalog::auth::Reference;
use serde_json::{Map, Value};

/// The members to change, from the text of a body.
pub(crate) fn read(body: &str) -> Result<Value> {
    let patch: Value = serde_json::from_str(body)
        .map_err(|e| Error::invalid(format!("The body is not valid JSON: {e}")))?;
    if patch.is_object() {
        return Ok(patch);
    }
    Err(Error::invalid(
        "The body must be a JSON object with the members to change",
    ))
}

/// Null removes, objects merge, everything else replaces. A reference to a secret is one thing, not an
/// object with members.
pub(crate) fn merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() || Reference::of(target).is_some() {
        *target = Value::Object(Map::new());
    }
    let Some(members) = target.as_object_mut() else {
        return;
    };
    for (key, value) in patch {
        if value.is_null() {
            members.shift_remove(&key);
        } else {
            merge(members.entry(key).or_insert(Value::Null), value);
        }
    }
}
