//! The parts of a stored server's definition: what is sealed of it, what says where it is, and what may not go along when
//! that becomes another place.

use super::stored::Stored;
use crate::error::{Error, Result};
use crate::vault::last4;
use catalog::auth::{Reference, is_mask, mask};
use catalog::mcp_file::{HIDDEN, masked};
use fetch::Url;
use serde_json::{Map, Value, json};

/// The members whose strings are sealed, and the one of `auth`.
const SEALED: [&str; 2] = ["headers", "env"];
const SEALED_OF_AUTH: &str = "client_secret";

/// The members that say what is called or started.
const PLACE: [&str; 7] = ["command", "args", "env", "cwd", "url", "transport", "type"];

/// What is sealed of a definition.
pub(super) fn part(definition: &Map<String, Value>) -> Value {
    let members = SEALED.iter().filter_map(|key| {
        let value = definition.get(*key)?;
        Some(((*key).to_owned(), value.clone()))
    });
    let mut part: Map<String, Value> = members.collect();
    let of_auth = definition.get("auth").and_then(|it| it.get(SEALED_OF_AUTH));
    if let Some(value) = of_auth {
        part.insert("auth".to_owned(), json!({SEALED_OF_AUTH: value}));
    }
    Value::Object(part)
}

/// Puts what was sealed where it came from.
pub(super) fn put_back(definition: &mut Map<String, Value>, mut sealed: Map<String, Value>) {
    let of_auth = sealed.shift_remove("auth");
    let auth = definition.get_mut("auth").and_then(Value::as_object_mut);
    if let (Some(auth), Some(Value::Object(members))) = (auth, of_auth) {
        auth.extend(members);
    }
    definition.extend(sealed);
}

pub(super) fn is_same_place(old: &Map<String, Value>, new: &Map<String, Value>) -> bool {
    PLACE.iter().all(|key| old.get(*key) == new.get(*key))
}

pub(super) fn names_variable(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("${"),
        Value::Array(items) => items.iter().any(names_variable),
        Value::Object(members) => members.values().any(names_variable),
        _ => false,
    }
}

/// For the audit log: what is sealed is referred to, and what looks secret elsewhere is hidden.
pub(super) fn shape(stored: &Stored) -> Value {
    Value::Object(without_secrets(&stored.definition))
}

/// A definition in which nothing looks secret any more, in the address and the arguments too.
pub(super) fn without_secrets(definition: &Map<String, Value>) -> Map<String, Value> {
    masked(definition, &|text| mask(last4(text).as_deref()))
}

/// Whoever sends back an address or arguments as they were shown means what is hidden there.
pub(super) fn put_hidden_back(
    old: &Map<String, Value>,
    new: &mut Map<String, Value>,
) -> Result<()> {
    let shown = without_secrets(old);
    for key in ["url", "args"] {
        if shown.get(key) == old.get(key) {
            continue;
        }
        if new.get(key) == shown.get(key) {
            let value = old.get(key).cloned().unwrap_or_default();
            new.insert(key.to_owned(), value);
        } else if new.get(key).is_some_and(names_hidden) {
            return Err(Error::invalid(format!(
                "{key}: '{HIDDEN}' stands for what is not shown; write that itself, or leave {key} as it was shown"
            )));
        }
    }
    Ok(())
}

fn names_hidden(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(HIDDEN),
        Value::Array(items) => items.iter().any(names_hidden),
        _ => false,
    }
}

/// What was sealed for one address is not shown to another: whoever may change the address need not be whoever knows the
/// value. The same goes for a client's secret and the issuer that it is shown to.
pub(super) fn check_moved(old: &Map<String, Value>, new: &Map<String, Value>) -> Result<()> {
    let mut kept: Vec<String> = Vec::new();
    if origin_in(old) != origin_in(new) {
        let headers = new.get("headers").and_then(Value::as_object);
        let sealed = headers.into_iter().flatten().filter(|(_, it)| is_kept(it));
        kept.extend(sealed.map(|(name, _)| format!("headers.{name}")));
    }
    let of_auth = |definition: &Map<String, Value>, key: &str| {
        let auth = definition.get("auth");
        auth.and_then(|auth| auth.get(key)).cloned()
    };
    let secret = of_auth(new, SEALED_OF_AUTH);
    if of_auth(old, "issuer") != of_auth(new, "issuer") && secret.is_some_and(|it| is_kept(&it)) {
        kept.push(format!("auth.{SEALED_OF_AUTH}"));
    }
    if kept.is_empty() {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "The address has changed, and what is sealed for the old one is not shown to the new one. Give these values again with the new address, or null to leave one out: {}",
        kept.join(", ")
    )))
}

/// Whether a value stays what was sealed before.
fn is_kept(value: &Value) -> bool {
    is_mask(value) || matches!(Reference::of(value), Some(Reference::Sealed(_)))
}

/// Scheme, host and port of a server that is called.
fn origin_in(definition: &Map<String, Value>) -> Option<String> {
    let url = definition.get("url")?.as_str()?;
    // One that waits for a variable is compared as it is written.
    match Url::parse(url) {
        Ok(url) if url.origin().is_tuple() => Some(url.origin().ascii_serialization()),
        _ => Some(url.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn what_is_sealed_stays_where_it_was_sealed_for() {
        let id = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
        let sealed = json!({"$sealed": id});
        let old =
            object(json!({"url": "https://a.example/mcp", "headers": {"A": sealed, "B": "${B}"}}));
        let moved = |url: &str, headers: Value| {
            let new = object(json!({"url": url, "headers": headers}));
            check_moved(&old, &new).map_err(|error| error.to_string())
        };
        let mask = json!({"set": true, "last4": "abcd"});
        for same in ["https://A.example:443/other?x", "https://a.example"] {
            assert_eq!(moved(same, json!({"A": mask})), Ok(()), "{same}");
        }
        for other in [
            "https://b.example/mcp",
            "http://a.example/mcp",
            "https://a.example:444/mcp",
            "https://a.example@b.example/mcp",
            "https://${HOST}/mcp",
        ] {
            for kept in [&mask, &sealed] {
                let why = moved(other, json!({"A": kept, "B": "${B}"})).unwrap_err();
                assert!(why.ends_with(": headers.A"), "{why}");
            }
            assert_eq!(moved(other, json!({"A": "given anew"})), Ok(()));
            assert_eq!(moved(other, json!({})), Ok(()));
        }
        let auth = |issuer: &str, secret: &Value| {
            object(
                json!({"url": "https://a.example", "auth": {"issuer": issuer, "client_secret": secret}}),
            )
        };
        let old = auth("https://id.example", &sealed);
        assert!(check_moved(&old, &auth("https://id.example", &mask)).is_ok());
        assert!(check_moved(&old, &auth("https://other.example", &mask)).is_err());
        assert!(check_moved(&old, &auth("https://other.example", &json!("new"))).is_ok());
    }
}
