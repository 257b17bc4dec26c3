//! The HTTP headers of a modern request to an upstream server, with those arguments that its tools mark.

use super::params::Params;
use crate::headers::{Param, marked, named_by, written};
use fetch::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::collections::HashMap;

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The marked arguments of all tools of a server.
#[derive(Default)]
pub(super) struct ParamHeaders(HashMap<String, Vec<Param>>);

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

    /// Adds the headers of one request.
    pub(super) fn add(&self, headers: &mut HeaderMap, method: &str, params: Params<'_>) {
        let mut add = |name: &HeaderName, text: &str| {
            if let Ok(value) = HeaderValue::from_str(&written(text)) {
                headers.append(name, value);
            }
        };
        add(&METHOD, method);
        let Some(member) = named_by(method) else {
            return;
        };
        let name = params.text(member);
        if let Some(name) = name {
            add(&NAME, name);
        }
        if method != "tools/call" || self.0.is_empty() {
            return;
        }
        let marked = name.and_then(|name| self.0.get(name)).into_iter().flatten();
        for param in marked {
            if let Some(text) = param.text(params.arguments()) {
                add(&param.header, &text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::headers::MARK;
    use serde_json::json;

    fn headers(schema: &Value, arguments: &Value) -> Vec<(String, String)> {
        let mut tools = vec![json!({"name": "t", "inputSchema": schema})];
        let all = ParamHeaders::of_tools(&mut tools, "s");
        let params = json!({"name": "t", "arguments": arguments});
        let mut headers = HeaderMap::new();
        let params = Params::Of(params.as_object().unwrap());
        all.add(&mut headers, "tools/call", params);
        let text = |(name, value): (&HeaderName, &HeaderValue)| {
            (name.to_string(), value.to_str().unwrap().to_owned())
        };
        headers.iter().skip(2).map(text).collect()
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
