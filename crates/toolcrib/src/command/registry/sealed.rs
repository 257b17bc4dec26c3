//! What is sealed in a registry and so is only referred to in a folder: `{"set": true}` stands for it, and keeps it where it
//! is. Where it is not, its value comes from a file of its own (`--values`), which belongs into no git.

use super::sort::Sort;
use catalog::auth::{is_mask, is_secret_under};
use catalog::mcp_file::{HIDDEN, in_the_clear, is_public_value};
use serde_json::{Map, Value, json};

/// The members that can hold something sealed.
fn members(sort: Sort) -> &'static [&'static str] {
    match sort {
        Sort::Tool => &["auth_config"],
        Sort::Server => &["headers", "env", "auth", "url", "args"],
        Sort::Source => &["password"],
        Sort::Toolset | Sort::Agent => &[],
    }
}

/// Visits every value below the members that can hold something sealed, with its path.
fn visit(sort: Sort, document: &mut Value, see: &mut dyn FnMut(&str, &mut Value)) {
    for member in members(sort) {
        if let Some(value) = document.get_mut(*member) {
            visit_value(value, member, see);
        }
    }
}

fn visit_value(value: &mut Value, path: &str, see: &mut dyn FnMut(&str, &mut Value)) {
    if is_mask(value) {
        return see(path, value);
    }
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                visit_value(value, &format!("{path}.{key}"), see);
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter_mut().enumerate() {
                visit_value(item, &format!("{path}[{number}]"), see);
            }
        }
        other => see(path, other),
    }
}

/// Not even the last letters of a value leave.
pub(super) fn without_ends(sort: Sort, document: &mut Value) {
    visit(sort, document, &mut |_, value| {
        if is_mask(value) {
            *value = json!({"set": true});
        }
    });
}

/// The places whose value is not there to be read.
pub(super) fn places(sort: Sort, document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    visit(sort, &mut document.clone(), &mut |path, value| {
        if is_hidden(value) {
            found.push(path.to_owned());
        }
    });
    found
}

fn is_hidden(value: &Value) -> bool {
    is_mask(value) || value.as_str().is_some_and(|text| text.contains(HIDDEN))
}

/// Puts the values in that are given for these places.
pub(super) fn fill(
    sort: Sort,
    document: &mut Value,
    places: &[String],
    values: &Map<String, Value>,
) {
    visit(sort, document, &mut |path, value| {
        let given = values
            .get(path)
            .filter(|_| places.iter().any(|it| it == path));
        if let Some(given) = given {
            *value = given.clone();
        }
    });
}

/// The places where a value stands that would be sealed, or looks as if it should be.
pub(super) fn in_clear(sort: Sort, document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    visit(sort, &mut document.clone(), &mut |path, value| {
        let Some(text) = value.as_str().filter(|text| !text.contains(HIDDEN)) else {
            return;
        };
        let key = path.rsplit('.').next().unwrap_or_default();
        let key = key.split('[').next().unwrap_or_default();
        let is_open = match (sort, path.split(['.', '[']).next()) {
            // A key below a reference names what is referred to.
            (Sort::Tool, _) => is_secret_under(key) && !key.starts_with('$') && path.contains('.'),
            (Sort::Server, Some("headers" | "env")) => !is_public_value(text),
            (Sort::Server, Some("auth")) => key == "client_secret" && !is_public_value(text),
            (Sort::Source, _) => !is_public_value(text),
            _ => false,
        };
        if is_open {
            found.push(path.to_owned());
        }
    });
    if sort == Sort::Server {
        let open = in_the_clear(document.as_object().unwrap_or(&Map::new())).into_iter();
        let has_value = |path: &String| {
            let text = document[path.split('[').next().unwrap_or_default()].to_string();
            (path == "url" || path.starts_with("args")) && !text.contains(HIDDEN)
        };
        found.extend(open.filter(has_value));
    }
    let with_password = document["url"].as_str().is_some_and(|url| {
        let after = url.split_once("://").map_or(url, |(_, rest)| rest);
        let user = after.split('/').next().and_then(|it| it.rsplit_once('@'));
        user.is_some_and(|(user, _)| {
            user.contains(':') && !user.contains("${") && !user.contains(HIDDEN)
        })
    });
    if sort == Sort::Source && with_password {
        found.push("url".to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_values_are_found_filled_in_and_told_from_open_ones() {
        let mut tool = json!({"auth_config": {"type": "header", "name": "X-A", "value": {"set": true, "last4": "wxyz"},
            "other": {"$secret": "a"}}, "input_schema": {"properties": {"set": {"set": true}}}});
        assert_eq!(places(Sort::Tool, &tool), ["auth_config.value"]);
        assert_eq!(in_clear(Sort::Tool, &tool), [""; 0]);
        without_ends(Sort::Tool, &mut tool);
        assert!(!tool.to_string().contains("wxyz"), "{tool}");
        let values = json!({"auth_config.value": "v"});
        let values = values.as_object().expect("an object");
        fill(
            Sort::Tool,
            &mut tool,
            &["auth_config.value".to_owned()],
            values,
        );
        assert_eq!(tool["auth_config"]["value"], "v");
        assert_eq!(in_clear(Sort::Tool, &tool), ["auth_config.value"]);
        let server =
            json!({"url": "https://a/?api_key=…", "headers": {"A": "Bearer ${A}", "B": "b"}});
        assert_eq!(places(Sort::Server, &server), ["url"]);
        assert_eq!(in_clear(Sort::Server, &server), ["headers.B"]);
        let source = json!({"url": "postgres://a:b@c/d", "password": "${PW}"});
        assert_eq!(in_clear(Sort::Source, &source), ["url"]);
    }
}
