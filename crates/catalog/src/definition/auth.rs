//! `auth_config`: on the file shelf, which lives in git, secrets are written as references only. On the database
//! shelf they may be plain values, which are sealed before they are stored.

use super::is_reference;
use crate::json::{Member, Node, NodeKind, Reader, member, path_of_key};
use crate::tool::is_valid_name;
use uuid::Uuid;

/// Members of `auth_config` that are no secret and so may be plain strings anywhere. Every other string must
/// be a reference: the list names what is harmless because nobody can list all names of secrets.
pub const PUBLIC_AUTH_KEYS: [&str; 22] = [
    "type",
    "scheme",
    "name",
    "header",
    "header_name",
    "query",
    "param",
    "in",
    "prefix",
    "username",
    "user",
    "realm",
    "token_url",
    "authorization_url",
    "scope",
    "scopes",
    "audience",
    "resource",
    "grant_type",
    "client_id",
    "auth_method",
    "algorithm",
];

/// The kinds of reference that stand for a secret anywhere.
pub(super) const REFERENCES: &[&str] = &["$env", "$secret"];

/// The same with what has been sealed, which only a row of the database can hold.
const STORED_REFERENCES: &[&str] = &["$env", "$secret", "$sealed"];

const REFER: &str = "Write {\"$env\": \"NAME\"} to take it from an environment variable, or {\"$secret\": \"name\"} for a stored secret";

/// Checks every reference, and with `references_only` also that there is no plain secret.
pub(super) fn check(r: &mut Reader<'_>, m: &Member, path: &str, references_only: bool) -> bool {
    let path = path_of_key(path, &m.key);
    if m.value.as_object().is_none() {
        // Not described any further: somebody may have written the secret itself.
        let remedy = "Write an object, such as { \"type\": \"bearer\", \"token\": … }.";
        r.report(
            m.value.span.start,
            path,
            "an object",
            "something else",
            remedy,
        );
        return false;
    }
    walk(r, &m.value, &path, &m.key, references_only);
    true
}

fn walk(r: &mut Reader<'_>, node: &Node, path: &str, key: &str, references_only: bool) {
    match &node.kind {
        NodeKind::Object(_) if is_reference(node) => {
            let known = if references_only {
                REFERENCES
            } else {
                STORED_REFERENCES
            };
            check_reference(r, node, path, known);
        }
        NodeKind::Object(members) if references_only && is_mask(members) => r.report(
            node.span.start,
            path,
            "a reference to the secret",
            "the mask of a sealed value",
            format!("{REFER}: what was sealed stays in the database."),
        ),
        NodeKind::Object(members) => {
            for m in members {
                let path = path_of_key(path, &m.key);
                walk(r, &m.value, &path, &m.key, references_only);
            }
        }
        NodeKind::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                walk(r, item, &format!("{path}[{i}]"), key, references_only);
            }
        }
        // The value is not repeated in the message: it may be a secret.
        NodeKind::String(_) if references_only && !PUBLIC_AUTH_KEYS.contains(&key) => r.report(
            node.span.start,
            path,
            "a reference to the secret",
            "a plain string",
            format!("{REFER}, and change the secret if this file was shared."),
        ),
        // Only text is sealed or referred to: a number would stay where everybody reads it.
        NodeKind::Number(_) if !PUBLIC_AUTH_KEYS.contains(&key) => r.report(
            node.span.start,
            path,
            "text",
            "a number",
            "Write it in double quotes, so that it is kept as a secret.",
        ),
        _ => {}
    }
}

/// Whether these are the members of `{"set": true, "last4": …}`.
fn is_mask(members: &[Member]) -> bool {
    let is_set =
        member(members, "set").is_some_and(|m| matches!(m.value.kind, NodeKind::Bool(true)));
    is_set && members.iter().all(|m| m.key == "set" || m.key == "last4")
}

/// Checks the shape of `{"$env": "NAME"}`, `{"$secret": "name"}` and, where it is known, `{"$sealed": "id"}`.
pub(super) fn check_reference(r: &mut Reader<'_>, node: &Node, path: &str, known: &[&str]) {
    let expected = "{\"$env\": \"NAME\"} or {\"$secret\": \"name\"}";
    let members = node.as_object().unwrap_or_default();
    if members.len() != 1 {
        let found = format!("an object with {} members", members.len());
        let remedy = "Leave the one reference and delete the rest.";
        r.report(node.span.start, path, expected, found, remedy);
        return;
    }
    let named = |key| {
        let member = member(members, key).filter(|m| known.contains(&m.key.as_str()));
        member.map(|m| m.value.as_str().unwrap_or_default())
    };
    let fault = match (named("$env"), named("$secret"), named("$sealed")) {
        (Some(variable), _, _) if !is_variable_name(variable) => {
            Some("Name an environment variable: letters, digits and _, such as API_TOKEN.")
        }
        (_, Some(secret), _) if !is_valid_name(secret) => {
            Some("Name a stored secret: letters, digits, _ . and -, such as weather-api.")
        }
        (_, _, Some(id)) if Uuid::parse_str(id).is_err() => {
            Some("Only the server writes \"$sealed\"; give the value itself.")
        }
        (None, None, None) => Some("The key of a reference is \"$env\" or \"$secret\"."),
        _ => None,
    };
    if let Some(remedy) = fault {
        let found = format!("a reference by \"{}\" that names nothing", members[0].key);
        r.report(node.span.start, path, expected, found, remedy);
    }
}

/// Names every shell can set.
pub(crate) fn is_variable_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
