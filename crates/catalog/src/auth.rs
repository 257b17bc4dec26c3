//! The leaves of an `auth_config`: references to secrets, masks of sealed values, and plain values.

use crate::definition::PUBLIC_AUTH_KEYS;
use crate::tool::Definition;
use serde_json::{Value, json};
use std::collections::HashSet;
use uuid::Uuid;

/// Where a secret is to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// A variable of the server's environment.
    Env(String),
    /// A named secret.
    Secret(String),
    /// A value that was written into the tool itself and sealed.
    Sealed(Uuid),
}

impl Reference {
    /// The reference that this value is, if it is one.
    pub fn of(value: &Value) -> Option<Self> {
        let members = value.as_object()?;
        let (key, name) = match members.len() {
            1 => members.iter().next()?,
            // What is only tried out carries its envelope along.
            2 if members.contains_key("envelope") => members.get_key_value("$sealed")?,
            _ => return None,
        };
        let name = name.as_str()?;
        match key.as_str() {
            "$env" => Some(Reference::Env(name.to_owned())),
            "$secret" => Some(Reference::Secret(name.to_owned())),
            "$sealed" => Uuid::parse_str(name).ok().map(Reference::Sealed),
            _ => None,
        }
    }

    /// Every reference of a definition, with its path.
    pub fn all_of(definition: &Definition) -> Vec<(String, Self)> {
        let mut found = Vec::new();
        for (key, value) in &definition.config {
            collect(value, format!("config.{key}"), &mut found);
        }
        if let Some(auth) = &definition.auth_config {
            collect(auth, "auth_config".to_owned(), &mut found);
        }
        found
    }
}

fn collect(value: &Value, path: String, found: &mut Vec<(String, Reference)>) {
    if let Some(reference) = Reference::of(value) {
        found.push((path, reference));
        return;
    }
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                collect(value, format!("{path}.{key}"), found);
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                collect(item, format!("{path}[{number}]"), found);
            }
        }
        _ => {}
    }
}

/// The ids of the sealed values in a definition, or in a part of one.
pub fn sealed_in(value: &Value) -> HashSet<Uuid> {
    let mut found = Vec::new();
    collect(value, String::new(), &mut found);
    let ids = found
        .into_iter()
        .filter_map(|(_, reference)| match reference {
            Reference::Sealed(id) => Some(id),
            _ => None,
        });
    ids.collect()
}

/// What the definition holds in place of a value that was sealed.
pub fn sealed(id: Uuid) -> Value {
    json!({"$sealed": id})
}

/// What is shown in place of a sealed value.
pub fn mask(last4: Option<&str>) -> Value {
    json!({"set": true, "last4": last4})
}

/// Whether this is what `mask` makes; the end of the value may be left out.
pub fn is_mask(value: &Value) -> bool {
    let Some(members) = value.as_object() else {
        return false;
    };
    members.get("set") == Some(&Value::Bool(true))
        && members.keys().all(|key| key == "set" || key == "last4")
}

/// Whether a plain string under this member is a secret.
pub fn is_secret_under(key: &str) -> bool {
    !PUBLIC_AUTH_KEYS.contains(&key)
}

/// Puts the mask in place of every sealed value; `last4` knows how each ends.
pub fn mask_all(value: &mut Value, last4: &impl Fn(Uuid) -> Option<String>) {
    if let Some(Reference::Sealed(id)) = Reference::of(value) {
        *value = mask(last4(id).as_deref());
        return;
    }
    match value {
        Value::Object(members) => members.values_mut().for_each(|v| mask_all(v, last4)),
        Value::Array(items) => items.iter_mut().for_each(|v| mask_all(v, last4)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_are_told_apart() {
        let id = Uuid::from_u128(9);
        assert_eq!(Reference::of(&sealed(id)), Some(Reference::Sealed(id)));
        let env = Reference::of(&json!({"$env": "A"}));
        assert_eq!(env, Some(Reference::Env("A".into())));
        for none in [
            json!({"$env": 1}),
            json!({"$env": "A", "x": 1}),
            json!({"$sealed": "no id"}),
            json!({"$other": "A"}),
            json!("$env"),
        ] {
            assert_eq!(Reference::of(&none), None, "{none}");
        }
        assert!(
            is_mask(&mask(Some("abcd"))) && is_mask(&mask(None)) && is_mask(&json!({"set": true}))
        );
        for none in [
            json!({"set": false}),
            json!({"set": true, "x": 1}),
            json!({"last4": "a"}),
            json!(true),
        ] {
            assert!(!is_mask(&none), "{none}");
        }
    }

    #[test]
    fn sealed_values_are_masked_wherever_they_are() {
        let id = Uuid::from_u128(9);
        let mut auth = json!({"type": "bearer", "token": sealed(id), "list": [{"x": sealed(id)}], "key": {"$env": "A"}});
        mask_all(&mut auth, &|found| (found == id).then(|| "7890".to_owned()));
        let mask = json!({"set": true, "last4": "7890"});
        let expected =
            json!({"type": "bearer", "token": mask, "list": [{"x": mask}], "key": {"$env": "A"}});
        assert_eq!(auth, expected);
    }
}
