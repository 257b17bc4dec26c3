//! What a modern request tells in HTTP headers as well: its method, whom it is for, and those arguments of a tool that
//! its schema marks with `x-mcp-header`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fetch::{HeaderName, HeaderValue};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

const MARK: &str = "x-mcp-header";
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Where no schema is: their members are values.
const VALUES: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// How deep a schema is looked into.
const DEPTH_MAX: usize = 64;

/// The marked arguments of all tools of a server.
#[derive(Default)]
pub(super) struct ParamHeaders(HashMap<String, Vec<Param>>);

struct Param {
    header: HeaderName,
    path: Vec<String>,
}

impl ParamHeaders {
    /// Takes those tools out of a list whose marks cannot be followed, and remembers the marks of the others.
    pub(super) fn of_tools(tools: &mut Vec<Value>, server: &str) -> Self {
        let mut all = HashMap::new();
        tools.retain(|tool| {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            let params = tool.get("inputSchema").map_or(Ok(Vec::new()), marked);
            match params {
                Ok(params) => {
                    if !params.is_empty() {
                        all.insert(name.to_owned(), params);
                    }
                    true
                }
                Err(why) => {
                    tracing::warn!(server, tool = name, why, "a tool is left out");
                    false
                }
            }
        });
        ParamHeaders(all)
    }

    /// The headers of one request.
    pub(super) fn of(
        &self,
        method: &str,
        params: &Map<String, Value>,
    ) -> Vec<(HeaderName, HeaderValue)> {
        let mut headers = Vec::with_capacity(4);
        let mut add = |name: &HeaderName, text: &str| {
            if let Ok(value) = HeaderValue::from_str(&written(text)) {
                headers.push((name.clone(), value));
            }
        };
        add(&METHOD, method);
        let member = match method {
            "tools/call" | "prompts/get" => "name",
            "resources/read" => "uri",
            _ => return headers,
        };
        let name = params.get(member).and_then(Value::as_str);
        if let Some(name) = name {
            add(&NAME, name);
        }
        if method != "tools/call" {
            return headers;
        }
        let marked = name.and_then(|name| self.0.get(name)).into_iter().flatten();
        for param in marked {
            let mut value = params.get("arguments");
            for key in &param.path {
                value = value.and_then(|value| value.get(key));
            }
            if let Some(text) = value.and_then(text) {
                add(&param.header, &text);
            }
        }
        headers
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
fn written(text: &str) -> String {
    let plain = text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    let padded = text.trim_matches([' ', '\t']) != text;
    let looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    match plain && !padded && !looks_encoded {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(text)),
    }
}

/// The marked arguments of a tool, or why its marks are not valid.
fn marked(schema: &Value) -> Result<Vec<Param>, String> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn headers(schema: &Value, arguments: &Value) -> Vec<(String, String)> {
        let mut tools = vec![json!({"name": "t", "inputSchema": schema})];
        let all = ParamHeaders::of_tools(&mut tools, "s");
        let params = json!({"name": "t", "arguments": arguments});
        let headers = all.of("tools/call", params.as_object().unwrap());
        let text = |(name, value): (HeaderName, HeaderValue)| {
            (name.to_string(), value.to_str().unwrap().to_owned())
        };
        headers.into_iter().skip(2).map(text).collect()
    }

    #[test]
    fn marked_arguments_become_headers() {
        let property = |kind: &str, name: &str| json!({"type": kind, MARK: name});
        let schema = json!({"properties": {
            "a": property("string", "A"), "b": property("integer", "b"), "c": property("boolean", "C"),
            "d": {"type": "object", "properties": {"e": property("string", "E")}},
            "n": property("string", "N"), "m": property("string", "M"), MARK: {"type": "string"},
        }, "default": {MARK: 1}});
        let arguments =
            json!({"a": "x y", "b": 42.0, "c": true, "d": {"e": "세계"}, "n": null, "z": 1});
        let expected = [
            ("mcp-param-a", "x y"),
            ("mcp-param-b", "42"),
            ("mcp-param-c", "true"),
            ("mcp-param-e", "=?base64?7IS46rOE?="),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(headers(&schema, &arguments), expected);
    }

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
    fn tools_with_marks_in_wrong_places_are_left_out() {
        let fine = json!({"type": "string", MARK: "A"});
        for bad in [
            json!({MARK: "A", "type": "string"}),
            json!({"properties": {"a": {"type": "string", MARK: ""}}}),
            json!({"properties": {"a": {"type": "string", MARK: "a b"}}}),
            json!({"properties": {"a": {"type": "string", MARK: "a\r\nb"}}}),
            json!({"properties": {"a": {"type": "string", MARK: 1}}}),
            json!({"properties": {"a": {"type": "array", MARK: "A"}}}),
            json!({"properties": {"a": {"type": "number", MARK: "A"}}}),
            json!({"properties": {"a": {MARK: "A"}}}),
            json!({"properties": {"a": fine, "b": {"type": "string", MARK: "a"}}}),
            json!({"properties": {"a": {"type": "array", "items": fine}}}),
            json!({"anyOf": [{"properties": {"a": fine}}]}),
            json!({"$defs": {"x": fine}}),
            json!({"if": {"properties": {"a": fine}}}),
        ] {
            let mut tools = vec![
                json!({"name": "bad", "inputSchema": bad}),
                json!({"name": "good"}),
            ];
            ParamHeaders::of_tools(&mut tools, "s");
            assert_eq!(tools, [json!({"name": "good"})], "{bad}");
        }
    }
}
