//! What in a curl command line would let somebody in.

use super::words::Word;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// One way in, as `auth_config` has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Credential {
    Bearer(Value),
    Basic { username: Value, password: Value },
    Header { name: String, value: Value },
}

/// Names of headers that hold keys, whole or by their end.
const KEYS: [&str; 4] = ["authorization", "cookie", "proxy-authorization", "apikey"];
const KEY_ENDS: [&str; 6] = ["-key", "-token", "-secret", "-password", "_key", "_token"];

impl Credential {
    /// The credential that a header is, if it is one.
    pub(super) fn of_header(name: &str, value: &Word) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        if lower == "authorization" {
            return Some(Self::authorization(name, value));
        }
        let is_key =
            KEYS.contains(&lower.as_str()) || KEY_ENDS.iter().any(|end| lower.ends_with(end));
        is_key.then(|| Self::header(name, value))
    }

    pub(super) fn header(name: &str, value: &Word) -> Self {
        let name = name.to_owned();
        let value = secret(&value.text, value.has_variable);
        Credential::Header { name, value }
    }

    pub(super) fn bearer(word: &Word) -> Self {
        Credential::Bearer(secret(&word.text, word.has_variable))
    }

    /// `name:password`; the name alone where there is no password.
    pub(super) fn user(word: &Word) -> Self {
        let (username, password) = word.text.split_once(':').unwrap_or((&word.text, ""));
        Credential::Basic {
            username: secret(username, word.has_variable),
            password: secret(password, word.has_variable),
        }
    }

    fn authorization(name: &str, value: &Word) -> Self {
        let (scheme, rest) = value.text.split_once(' ').unwrap_or(("", &value.text));
        let rest = Word {
            text: rest.trim().to_owned(),
            has_variable: value.has_variable,
        };
        if scheme.eq_ignore_ascii_case("bearer") {
            return Credential::bearer(&rest);
        }
        if scheme.eq_ignore_ascii_case("basic")
            && let Ok(joined) = STANDARD.decode(&rest.text)
            && let Ok(text) = String::from_utf8(joined)
        {
            return Credential::user(&Word {
                text,
                has_variable: false,
            });
        }
        Credential::header(name, value)
    }

    pub(super) fn into_config(self) -> Value {
        match self {
            Credential::Bearer(token) => json!({"type": "bearer", "token": token}),
            Credential::Basic { username, password } => {
                json!({"type": "basic", "username": username, "password": password})
            }
            Credential::Header { name, value } => {
                json!({"type": "header", "name": name, "value": value})
            }
        }
    }
}

/// `$NAME` alone is a reference to that variable; anything else is the secret itself.
fn secret(text: &str, has_variable: bool) -> Value {
    let name = text.strip_prefix('$').map(|name| {
        let inside = name
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'));
        inside.unwrap_or(name)
    });
    let is_name = |name: &&str| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    match name.filter(|_| has_variable).filter(is_name) {
        Some(name) => json!({"$env": name}),
        None => text.into(),
    }
}
