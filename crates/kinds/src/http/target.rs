//! The address of a request: the host as the author wrote it, and a path and query that arguments go into.

use super::encode::percent;
use super::filling::{Filling, invalid, misconfigured};
use crate::template::plain;
use executor::Failure;
use fetch::Url;
use serde_json::{Map, Value};

/// What the author wrote, and all arguments in their places. Query parameters follow the ones of the address.
pub(super) struct Target {
    pub(super) url: String,
    query: Vec<String>,
}

impl Target {
    /// `base_url` and `path`; both may have a query of their own.
    pub(super) fn new(config: &Map<String, Value>, filling: &Filling<'_>) -> Result<Self, Failure> {
        let word = |name: &str| config.get(name).and_then(Value::as_str).unwrap_or_default();
        let (origin, base) = origin(word("base_url"))?;
        let (base_path, base_query) = halves(base);
        let (path, query) = halves(word("path"));
        let joined = match path {
            "" => base_path.to_owned(),
            path => format!(
                "{}/{}",
                base_path.trim_end_matches('/'),
                path.trim_start_matches('/')
            ),
        };
        let segments: Result<Vec<String>, Failure> = joined
            .split('/')
            .map(|text| segment(text, filling))
            .collect();
        let mut target = Target {
            url: format!("{origin}{}", segments?.join("/")),
            query: Vec::new(),
        };
        for pair in [base_query, query]
            .into_iter()
            .flat_map(|query| query.split('&'))
        {
            target.add_written(pair, filling);
        }
        Ok(target)
    }

    /// A pair that stands in the address, `key=value`, encoded but for its arguments.
    fn add_written(&mut self, pair: &str, filling: &Filling<'_>) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        if !filling.is_template(value) {
            self.query
                .extend(Some(pair.to_owned()).filter(|pair| !pair.is_empty()));
            return;
        }
        match filling.whole(value) {
            Some(name) => {
                for text in filling.arguments.get(&name).map(texts).unwrap_or_default() {
                    self.query.push(format!("{key}={}", percent(&text)));
                }
            }
            None => {
                let text = filling.text(value, percent);
                self.query.extend(text.map(|text| format!("{key}={text}")));
            }
        }
    }

    /// A parameter; a list is the key as often, and null is nothing.
    pub(super) fn add(&mut self, key: &str, value: &Value) {
        for text in texts(value) {
            self.query
                .push(format!("{}={}", percent(key), percent(&text)));
        }
    }

    pub(super) fn into_url(self) -> String {
        match self.query.is_empty() {
            true => self.url,
            false => format!("{}?{}", self.url, self.query.join("&")),
        }
    }
}

/// The texts that a value stands for in a query or form.
pub(super) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items
            .iter()
            .filter(|item| !item.is_null())
            .map(plain)
            .collect(),
        other => vec![plain(other)],
    }
}

/// Scheme, host and port, which nobody but the author has a say in; and what follows.
fn origin(base_url: &str) -> Result<(&str, &str), Failure> {
    let after = base_url.find("://").map_or(0, |at| at + 3);
    let end = base_url[after..]
        .find(['/', '?', '#', '\\'])
        .map_or(base_url.len(), |at| after + at);
    let (origin, rest) = base_url.split_at(end);
    let is_sound =
        Url::parse(origin).is_ok_and(|url| url.username().is_empty() && url.password().is_none());
    if !is_sound || origin.contains(['{', '@']) {
        return Err(misconfigured(
            "its base_url must begin with http:// or https:// and a host, without arguments or a user name in it",
        ));
    }
    let rest = rest.split('#').next().unwrap_or_default();
    Ok((origin, rest))
}

fn halves(text: &str) -> (&str, &str) {
    text.split_once('?').unwrap_or((text, ""))
}

/// One piece of the path. What an argument puts there stays there: a slash is no new piece, dots go nowhere, and
/// nothing is no piece at all, because `DELETE /users/` is another request than `DELETE /users/7`.
fn segment(text: &str, filling: &Filling<'_>) -> Result<String, Failure> {
    if !filling.is_template(text) {
        return Ok(text.to_owned());
    }
    let missing = |name| {
        invalid(format_args!(
            "'{name}' is part of the address and must not be empty"
        ))
    };
    let bare = filling.whole_text(text, str::to_owned).map_err(missing)?;
    // Servers that decode twice would see these as steps upwards.
    let climbs = bare
        .split(['/', '\\'])
        .any(|piece| matches!(piece, "." | ".."));
    if climbs || bare.chars().any(char::is_control) {
        return Err(invalid(
            "what goes into the address must not be '.' or '..' or hold control characters",
        ));
    }
    filling.whole_text(text, percent).map_err(missing)
}
