//! What the config of an `http` tool must keep to beyond the shape of its members.

use crate::json::{Member, Reader, path_of_key, present};

/// How the answer is read where `response` is a word.
const RESPONSES: [&str; 4] = ["auto", "json", "text", "bytes"];

/// Methods that do the same when they come twice.
const REPEATABLE: [&str; 5] = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"];

const RETRIES_MAX: u32 = 5;

/// Headers that say where a message goes and where it ends; the client writes them.
pub const FRAMING: [&str; 12] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "accept-encoding",
    "proxy-authorization",
    "proxy-connection",
];

pub(super) fn check(r: &mut Reader<'_>, members: &[Member], path: &str) {
    if let Some(m) = present(members, "base_url") {
        check_authority(r, m, path);
    }
    if let Some(m) = present(members, "headers") {
        check_header_names(r, m, path);
    }
    if let Some(m) = present(members, "response") {
        check_response(r, m, path);
    }
    if let Some(m) = present(members, "retry") {
        let method = present(members, "method").and_then(|m| m.value.as_str());
        check_retry(r, m, path, method.unwrap_or_default());
    }
}

/// Whoever calls the tool must not choose whom it calls.
fn check_authority(r: &mut Reader<'_>, m: &Member, path: &str) {
    let after = m.value.as_str().and_then(|url| url.split_once("://"));
    let authority = after.and_then(|(_, rest)| rest.split(['/', '?', '#', '\\']).next());
    let Some(authority) = authority else {
        return;
    };
    if authority.contains('{') {
        let remedy = "Arguments may stand after the host only: write the host out and put {{name}} into \"path\".";
        r.wrong(m, path, "a host without arguments", remedy);
    }
    if authority.contains('@') {
        // The value is not repeated: it holds a password.
        let remedy =
            "Put them into auth_config: {\"type\": \"basic\", \"username\": …, \"password\": …}.";
        let path = path_of_key(path, &m.key);
        let start = m.value.span.start;
        r.report(
            start,
            path,
            "an address without a user name",
            "one with",
            remedy,
        );
    }
}

fn check_header_names(r: &mut Reader<'_>, m: &Member, path: &str) {
    let path = path_of_key(path, &m.key);
    let is_mark = |b: u8| b"!#$%&'*+-.^_`|~".contains(&b);
    for m in m.value.as_object().unwrap_or_default() {
        let lower = m.key.to_ascii_lowercase();
        let is_name = !lower.is_empty()
            && lower
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || is_mark(b));
        let (expected, remedy) = match is_name {
            false => (
                "the name of a header",
                "Write letters, digits and hyphens, such as \"X-Request-Id\".",
            ),
            true if FRAMING.contains(&lower.as_str()) => (
                "a header that may be set",
                "Leave it out: it is written for each request.",
            ),
            true => continue,
        };
        let found = format!("\"{}\"", m.key);
        r.report(
            m.key_span.start,
            path_of_key(&path, &m.key),
            expected,
            found,
            remedy,
        );
    }
}

/// A word, a JSON pointer, or an object of pointers.
fn check_response(r: &mut Reader<'_>, m: &Member, path: &str) {
    let expected = "\"json\", \"text\", \"bytes\", a JSON pointer or an object of them";
    let remedy = "Write where the result is in the answer, such as \"/data/items\" or {\"total\": \"/meta/count\"}.";
    let is_pointer = |text: &str| text.starts_with('/');
    match (m.value.as_str(), m.value.as_object()) {
        (Some(text), _) if RESPONSES.contains(&text) || is_pointer(text) => {}
        (None, Some(members)) if !members.is_empty() => {
            let path = path_of_key(path, &m.key);
            for m in members
                .iter()
                .filter(|m| !m.value.as_str().is_some_and(is_pointer))
            {
                r.wrong(
                    m,
                    &path,
                    "a JSON pointer",
                    "Begin it with a slash, such as \"/data/items/0\".",
                );
            }
        }
        _ => r.wrong(m, path, expected, remedy),
    }
}

fn check_retry(r: &mut Reader<'_>, m: &Member, path: &str, method: &str) {
    let Some(members) = r.object(m, path) else {
        return;
    };
    if !REPEATABLE.contains(&method) && !method.is_empty() {
        let remedy =
            "Leave \"retry\" out: what was sent may have had its effect, and would have it twice.";
        r.wrong(m, path, &format!("no retries of {method}"), remedy);
    }
    let path = path_of_key(path, &m.key);
    r.unknown_keys(members, &path, &["max"]);
    match present(members, "max") {
        Some(m) => {
            if r.positive(m, &path).is_some_and(|max| max > RETRIES_MAX) {
                let remedy = format!("Write at most {RETRIES_MAX}.");
                r.wrong(m, &path, &format!("a number up to {RETRIES_MAX}"), &remedy);
            }
        }
        None => r.report(
            m.value.span.start,
            path_of_key(&path, "max"),
            "\"max\": how often to try again",
            "nothing",
            "Write {\"max\": 2}.",
        ),
    }
}
