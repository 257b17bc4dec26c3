//! Secrets that stand in a server's definition in the clear: found, to warn of them, and masked, to show the rest.

use super::is_public_value;
use serde_json::{Map, Value};

/// Parts of names under which a secret is kept.
const SECRET_NAMES: [&str; 7] = [
    "key",
    "token",
    "secret",
    "passw",
    "auth",
    "credential",
    "cookie",
];

/// How the tokens of well-known services begin.
const TOKENS: [&str; 10] = [
    "sk-",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "eyJ",
];

/// In place of a part of a text.
pub const HIDDEN: &str = "…";

/// The places of a definition where a secret seems to stand, such as `env.API_KEY` or `args[2]`.
pub fn in_the_clear(definition: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    for member in ["env", "headers", "auth"] {
        let values = definition.get(member).and_then(Value::as_object);
        let open = values.into_iter().flatten().filter(|(name, value)| {
            let text = value.as_str().unwrap_or_default();
            is_literal(text) && (is_secret_name(name) || is_token(text))
        });
        found.extend(open.map(|(name, _)| format!("{member}.{name}")));
    }
    let args = masked_args(definition.get("args"));
    let args = args
        .iter()
        .enumerate()
        .filter(|(_, masked)| masked.is_some());
    found.extend(args.map(|(number, _)| format!("args[{number}]")));
    let url = definition.get("url").and_then(Value::as_str);
    if url.and_then(masked_url).is_some() {
        found.push("url".to_owned());
    }
    found
}

/// The definition for people to read: a mask for each value of `headers` and `env` and for the client's secret, unless
/// it only names a variable, and whatever looks secret elsewhere hidden. `mask` makes the mask of a value.
pub fn masked(definition: &Map<String, Value>, mask: &dyn Fn(&str) -> Value) -> Map<String, Value> {
    let mut shown = definition.clone();
    let hide = |value: &mut Value| {
        let text = value.as_str().filter(|text| !is_public_value(text));
        if let Some(masked) = text.map(mask) {
            *value = masked;
        }
    };
    for member in ["headers", "env"] {
        let values = shown.get_mut(member).and_then(Value::as_object_mut);
        values
            .into_iter()
            .flatten()
            .for_each(|(_, value)| hide(value));
    }
    let auth = shown.get_mut("auth");
    if let Some(secret) = auth.and_then(|auth| auth.get_mut("client_secret")) {
        hide(secret);
    }
    let masked = masked_args(shown.get("args"));
    let args = shown.get_mut("args").and_then(Value::as_array_mut);
    for (arg, masked) in args.into_iter().flatten().zip(masked) {
        if let Some(masked) = masked {
            *arg = masked.into();
        }
    }
    let url = shown.get("url").and_then(Value::as_str);
    let url = url.and_then(|url| masked_user(url).or_else(|| masked_url(url)));
    if let Some(masked) = url {
        shown.insert("url".to_owned(), masked.into());
    }
    shown
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRET_NAMES.iter().any(|word| name.contains(word))
}

fn is_token(text: &str) -> bool {
    text.len() >= 12 && TOKENS.iter().any(|begin| text.starts_with(begin))
}

/// Whether a value stands there itself, and is not taken from the environment.
fn is_literal(text: &str) -> bool {
    !text.is_empty() && !text.contains("${")
}

/// For each argument what is shown of it, where a secret seems to be in it: `--token=abc`, the word after `--token`, a
/// header such as `Authorization: Bearer abc`, or what begins like a token.
fn masked_args(args: Option<&Value>) -> Vec<Option<String>> {
    let args = args.and_then(Value::as_array).into_iter().flatten();
    let mut after_flag = false;
    let masked = args.map(|arg| {
        let text = arg.as_str().unwrap_or_default();
        let is_value = std::mem::replace(&mut after_flag, is_bare_flag(text));
        if !is_literal(text) {
            return None;
        }
        for sign in ['=', ':'] {
            if let Some((name, value)) = text.split_once(sign) {
                let name_only = !name.contains(['/', ' ', '{']);
                let is_address = sign == ':' && value.starts_with("//");
                if name_only && !is_address && is_secret_name(name) && !value.trim().is_empty() {
                    return Some(format!("{name}{sign}{HIDDEN}"));
                }
            }
        }
        if (is_value && !text.starts_with('-')) || is_token(text) {
            return Some(HIDDEN.to_owned());
        }
        masked_url(text)
    });
    masked.collect()
}

/// `--api-key`, whose value is the next word.
fn is_bare_flag(text: &str) -> bool {
    text.starts_with('-') && !text.contains(['=', ':']) && is_secret_name(text)
}

/// Whether a user or password stands before the host of an address.
pub(super) fn has_user(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    rest[..end].contains('@')
}

/// An address with a user or password, as it may be shown; none where it has none.
fn masked_user(url: &str) -> Option<String> {
    let masked = || match url.contains("://") {
        true => masked_url(url).unwrap_or_else(|| url.to_owned()),
        false => HIDDEN.to_owned(),
    };
    has_user(url).then(masked)
}

/// An address without its password and the values of its query that look secret, if it has any.
fn masked_url(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let authority = match authority.rsplit_once('@') {
        Some((user, host)) => match user.split_once(':') {
            Some((user, password)) if is_literal(password) => format!("{user}:{HIDDEN}@{host}"),
            // A token may stand there by itself.
            None if is_literal(user) => format!("{HIDDEN}@{host}"),
            _ => authority.to_owned(),
        },
        None => authority.to_owned(),
    };
    let (path, query) = rest
        .split_once('?')
        .map_or((rest, None), |(path, query)| (path, Some(query)));
    let query = query.map(|query| {
        let pairs = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name, value))
                if is_literal(value) && (is_secret_name(name) || is_token(value)) =>
            {
                format!("{name}={HIDDEN}")
            }
            _ => pair.to_owned(),
        });
        format!("?{}", pairs.collect::<Vec<_>>().join("&"))
    });
    let masked = format!("{scheme}://{authority}{path}{}", query.unwrap_or_default());
    (masked != url).then_some(masked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: &Value) -> &Map<String, Value> {
        value.as_object().unwrap()
    }

    #[test]
    fn what_looks_secret_and_stands_there_is_found() {
        for (server, places) in [
            (
                json!({"env": {"API_KEY": "abc", "OTHER_TOKEN": "${TOKEN}", "LANG": "C"}}),
                vec!["env.API_KEY"],
            ),
            (
                json!({"headers": {"Authorization": "Bearer abc"}}),
                vec!["headers.Authorization"],
            ),
            (
                json!({"auth": {"client_id": "a", "client_secret": "b"}}),
                vec!["auth.client_secret"],
            ),
            (
                json!({"env": {"ODD": "ghp_0123456789abcdef"}}),
                vec!["env.ODD"],
            ),
            (
                json!({"args": ["--api-key=abc", "--token", "def", "--header", "Authorization: Bearer x", "sk-0123456789ab"]}),
                vec!["args[0]", "args[2]", "args[4]", "args[5]"],
            ),
            (
                json!({"args": ["-y", "@scope/keyring-server", "--root", ".", "--token", "${T}", "--key=${K}", "https://a.example/mcp"]}),
                vec![],
            ),
            (
                json!({"args": ["mcp-remote", "https://a.example/mcp?api_key=abc"]}),
                vec!["args[1]"],
            ),
            (json!({"url": "https://me:pw@a.example/mcp"}), vec!["url"]),
            (json!({"url": "https://t0ken@a.example/mcp"}), vec!["url"]),
            (
                json!({"url": "https://a.example/mcp?x=1&token=abc"}),
                vec!["url"],
            ),
            (json!({"url": "https://a.example/mcp?token=${T}"}), vec![]),
            (json!({"url": "http://[::1]:80/mcp?page=2#k"}), vec![]),
        ] {
            assert_eq!(in_the_clear(object(&server)), places, "{server}");
        }
    }

    #[test]
    fn what_is_shown_holds_no_secret() {
        let server = json!({
            "url": "https://me:pw@a.example/mcp?x=1&token=abc", "args": ["--token", "def", "--root", "."],
            "headers": {"A": "s3cret", "B": "Bearer ${B}"}, "env": {"MODE": "y"},
            "auth": {"client_id": "a", "client_secret": "b"}, "timeout_seconds": 5,
        });
        let shown = masked(object(&server), &|_| json!("masked"));
        let expected = json!({
            "url": "https://me:…@a.example/mcp?x=1&token=…", "args": ["--token", "…", "--root", "."],
            "headers": {"A": "masked", "B": "Bearer ${B}"}, "env": {"MODE": "masked"},
            "auth": {"client_id": "a", "client_secret": "masked"}, "timeout_seconds": 5,
        });
        assert_eq!(Value::Object(shown), expected);
    }
}
