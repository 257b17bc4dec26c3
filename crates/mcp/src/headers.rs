//! What a modern request tells in HTTP headers as well: its method, whom it is for, and those arguments of a tool that
//! its schema marks with `x-mcp-header`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fetch::HeaderName;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashSet;

pub const MARK: &str = "x-mcp-header";

/// Where no schema is: their members are values.
const VALUES: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// How deep a schema is looked into.
const DEPTH_MAX: usize = 64;

/// The member of a method's parameters that says whom the request is for, where it has one.
pub fn named_by(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        _ => None,
    }
}

/// A marked argument.
#[derive(Debug)]
pub struct Param {
    pub header: HeaderName,
    /// Where it is.
    pub path: Vec<String>,
}

impl Param {
    pub fn of<'a>(&self, arguments: Option<&'a Value>) -> Option<&'a Value> {
        let mut path = self.path.iter();
        path.try_fold(arguments?, |value, key| value.get(key))
    }

    /// What its header says, before it is `written`.
    pub fn text(&self, arguments: Option<&Value>) -> Option<String> {
        self.of(arguments).and_then(text)
    }
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(bool) => Some(bool.to_string()),
        Value::Number(number) => match number.as_f64() {
            // Written as a whole number, as which it counts.
            Some(float) if !number.is_i64() && !number.is_u64() && float.fract() == 0.0 => {
                Some(format!("{float:.0}"))
            }
            _ => Some(number.to_string()),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A text as the value of a header, encoded where it could not stand there as it is.
pub fn written(text: &str) -> Cow<'_, str> {
    let plain = text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    let padded = text.trim_matches([' ', '\t']) != text;
    let looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    match plain && !padded && !looks_encoded {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("=?base64?{}?=", STANDARD.encode(text))),
    }
}

/// The marked arguments of a tool, or why its marks are not valid.
pub fn marked(schema: &Value) -> Result<Vec<Param>, String> {
    let mut search = Search {
        found: Vec::new(),
        names: HashSet::new(),
        path: Vec::new(),
    };
    search.look(schema, true, 0)?;
    Ok(search.found)
}

struct Search {
    found: Vec<Param>,
    names: HashSet<String>,
    path: Vec<String>,
}

impl Search {
    /// `reachable` while nothing but `properties` led here.
    fn look(&mut self, at: &Value, reachable: bool, depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return Err("its schema is nested too deeply".to_owned());
        }
        match at {
            Value::Object(schema) => self.look_in(schema, reachable, depth),
            Value::Array(all) => all
                .iter()
                .try_for_each(|one| self.look(one, false, depth + 1)),
            _ => Ok(()),
        }
    }

    fn look_in(
        &mut self,
        schema: &Map<String, Value>,
        reachable: bool,
        depth: usize,
    ) -> Result<(), String> {
        if let Some(mark) = schema.get(MARK) {
            self.mark(mark, schema, reachable)?;
        }
        for (keyword, value) in schema {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    for (name, property) in properties {
                        self.path.push(name.clone());
                        let looked = self.look(property, reachable, depth + 1);
                        self.path.pop();
                        looked?;
                    }
                }
                (keyword, _) if keyword == MARK || VALUES.contains(&keyword) => {}
                (_, value) => self.look(value, false, depth + 1)?,
            }
        }
        Ok(())
    }

    fn mark(
        &mut self,
        mark: &Value,
        schema: &Map<String, Value>,
        reachable: bool,
    ) -> Result<(), String> {
        let Some(name) = mark.as_str().filter(|name| !name.is_empty()) else {
            return Err(format!("{MARK} is not the name of a header"));
        };
        if !reachable || self.path.is_empty() {
            return Err(format!("{MARK} '{name}' is not at a property of its own"));
        }
        let kind = schema
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if !matches!(kind, "string" | "integer" | "boolean") {
            return Err(format!(
                "{MARK} '{name}' is at an argument of type '{kind}'"
            ));
        }
        if !self.names.insert(name.to_ascii_lowercase()) {
            return Err(format!("{MARK} '{name}' is there twice"));
        }
        let header = HeaderName::from_bytes(format!("mcp-param-{name}").as_bytes());
        let header = header.map_err(|_| format!("{MARK} '{name}' is no name of a header"))?;
        self.found.push(Param {
            header,
            path: self.path.clone(),
        });
        Ok(())
    }
}

/// What a header stands for: itself, or what is wrapped in it. None where the wrapping is broken.
pub fn plain(said: &str) -> Option<String> {
    let wrapped = said
        .strip_prefix("=?base64?")
        .and_then(|it| it.strip_suffix("?="));
    match wrapped {
        None => Some(said.to_owned()),
        Some(wrapped) => String::from_utf8(STANDARD.decode(wrapped).ok()?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded_as_the_specification_shows() {
        for (text, value) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(written(text), value);
        }
    }

    #[test]
    fn wrapped_values_are_unwrapped_and_broken_ones_refused() {
        assert_eq!(plain("=?base64?SGVsbG8=?=").as_deref(), Some("Hello"));
        assert_eq!(plain("SGVsbG8=").as_deref(), Some("SGVsbG8="));
        assert_eq!(
            plain("=?base64?SGVsbG8=").as_deref(),
            Some("=?base64?SGVsbG8=")
        );
        assert_eq!(plain("=?base64?SGVsbG8?="), None);
        assert_eq!(plain("=?base64?SGVs!!!bG8=?="), None);
    }
}
