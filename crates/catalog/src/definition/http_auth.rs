//! Whether an `http` tool's `auth_config` has a type that there is, and the members that it needs. What of it is secret is
//! looked at elsewhere.

use super::is_misspelt;
use crate::http_auth::{TYPES, TYPES_TOLD, Way};
use crate::json::{Member, Reader, path_of_key, present};

/// Every member that means something to one of them, or is harmless.
const MEMBERS: [&str; 27] = [
    "type",
    "token",
    "value",
    "username",
    "password",
    "name",
    "prefix",
    "header",
    "header_name",
    "query",
    "param",
    "in",
    "scheme",
    "key",
    "api_key",
    "user",
    "token_url",
    "client_id",
    "client_secret",
    "scope",
    "scopes",
    "audience",
    "resource",
    "auth_method",
    "grant_type",
    "realm",
    "authorization_url",
];

pub(super) fn check(r: &mut Reader<'_>, m: &Member, path: &str) {
    let Some(members) = m.value.as_object() else {
        return;
    };
    let path = path_of_key(path, &m.key);
    r.unknown_keys(members, &path, &MEMBERS);
    let text = |name: &str| present(members, name).and_then(|m| m.value.as_str());
    let said = present(members, "type").or_else(|| present(members, "scheme"));
    let (way, name, place) = match said {
        Some(said) => {
            let name = said.value.as_str().unwrap_or_default();
            let way = Way::named(name, text("in") == Some("query"));
            (way, name, said.value.span.start)
        }
        None => {
            let way = Way::guessed(|name| present(members, name).is_some());
            (way, way.map_or("", Way::as_str), m.value.span.start)
        }
    };
    match (way, said) {
        (Some(way), _) => {
            for names in way.needs() {
                require(r, members, &path, (name, place), names);
            }
        }
        (None, Some(said)) => drop(r.one_of(said, &path, &TYPES)),
        (None, None) if members.is_empty() || is_misspelt(members, "type", &MEMBERS) => {}
        (None, None) => r.report(
            place,
            path_of_key(&path, "type"),
            "\"type\" in auth_config",
            "nothing",
            format!("Add it: {TYPES_TOLD}."),
        ),
    }
}

fn require(
    r: &mut Reader<'_>,
    members: &[Member],
    path: &str,
    (kind, place): (&str, usize),
    names: &[&str],
) {
    let there = |name: &&str| present(members, name).is_some();
    if names
        .iter()
        .any(|name| there(name) || is_misspelt(members, name, &MEMBERS))
    {
        return;
    }
    let expected = format!("\"{}\" in an auth_config of type \"{kind}\"", names[0]);
    let remedy = match names[0] {
        "token" | "value" | "password" | "client_secret" => format!(
            "Add it, such as \"{}\": {{\"$secret\": \"name\"}}.",
            names[0]
        ),
        other => format!("Add \"{other}\"."),
    };
    r.report(
        place,
        path_of_key(path, names[0]),
        expected,
        "nothing",
        remedy,
    );
}

#[cfg(test)]
mod tests {
    use crate::definition::{Origin, definition_from_text};
    use serde_json::{Value, json};

    /// What is said about an `auth_config`, without the place.
    fn faults(auth: &Value) -> Vec<String> {
        let tool = json!({
            "name": "t", "description": "d", "kind": "http",
            "config": {"base_url": "https://api.example.com", "method": "GET"}, "auth_config": auth,
        });
        let read = definition_from_text("test", &tool.to_string(), Origin::ToolsFile);
        let problems = read.err().unwrap_or_default();
        let said = problems.iter();
        said.map(|problem| format!("{}: {}", problem.path, problem.remedy))
            .collect()
    }

    #[test]
    fn every_way_to_be_let_in_is_known() {
        let secret = json!({"$secret": "s"});
        for right in [
            json!({}),
            json!({"type": "none"}),
            json!({"type": "bearer", "token": secret}),
            json!({"token": secret}),
            json!({"scheme": "basic", "user": "me", "password": secret}),
            json!({"type": "header", "name": "X-Key", "value": secret, "prefix": "Key"}),
            json!({"type": "apiKey", "in": "query", "name": "key", "api_key": secret}),
            json!({"type": "query", "param": "key", "value": secret}),
            json!({"type": "oauth2", "token_url": "https://a.example.com/t", "client_id": "me",
                   "client_secret": secret, "scopes": ["a"], "auth_method": "post"}),
        ] {
            assert_eq!(faults(&right), Vec::<String>::new(), "{right}");
        }
    }

    #[test]
    fn a_slip_is_told_once_and_where_it_stands() {
        let secret = json!({"$secret": "s"});
        for (wrong, said) in [
            (
                json!({"type": "beerer", "token": secret}),
                "$.auth_config.type: Did you mean \"bearer\"?",
            ),
            (
                json!({"type": "bearer", "tokn": secret}),
                "$.auth_config.tokn: Did you mean \"token\"?",
            ),
            (
                json!({"type": "bearer"}),
                "$.auth_config.token: Add it, such as \"token\": {\"$secret\": \"name\"}.",
            ),
            (
                json!({"type": "api_key", "in": "query", "value": secret}),
                "$.auth_config.name: Add \"name\".",
            ),
            (
                json!({"value": secret}),
                "$.auth_config.type: Add it: \"bearer\", \"basic\", \"header\", \"query\" or \"oauth2\".",
            ),
        ] {
            assert_eq!(faults(&wrong), [said], "{wrong}");
        }
    }
}
