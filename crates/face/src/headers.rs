//! What a modern request says in its headers must be what its body says: whoever stands between decides by the headers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp::wire::{RpcError, code};
use serde_json::{Map, Value};

/// The headers that repeat the body.
pub struct Headers<'a> {
    pub version: Option<&'a str>,
    pub method: Option<&'a str>,
    pub name: Option<&'a str>,
    /// Gives `Mcp-Param-…` by the rest of its name; none where nothing stands between that would read them.
    pub param: Option<&'a dyn Fn(&str) -> Option<String>>,
}

fn mismatch(message: impl Into<String>) -> RpcError {
    RpcError::new(code::HEADER_MISMATCH, message)
}

/// Method and, where the method has one, name.
pub(crate) fn check(
    headers: &Headers<'_>,
    method: &str,
    params: &Map<String, Value>,
) -> Result<(), RpcError> {
    let said = headers.method.map(str::trim);
    if said != Some(method) {
        return Err(mismatch(format!(
            "The header Mcp-Method must be '{method}', as in the body"
        )));
    }
    let named = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    let name = params.get(named).and_then(Value::as_str);
    let said = headers.name.map(|said| plain(said.trim()));
    match (name, said) {
        (Some(name), Some(Some(said))) if said == name => Ok(()),
        // That is for the method to say.
        (None, None) => Ok(()),
        _ => Err(mismatch(format!(
            "The header Mcp-Name must be the same as params.{named} in the body"
        ))),
    }
}

/// The arguments that a tool's schema wants repeated in headers.
pub(crate) fn check_params(
    headers: &Headers<'_>,
    schema: &Value,
    arguments: Option<&Value>,
) -> Result<(), RpcError> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let (Some(properties), Some(param)) = (properties, headers.param) else {
        return Ok(());
    };
    for (property, schema) in properties {
        let argument = arguments.and_then(|all| all.get(property));
        if let Some(name) = schema.get("x-mcp-header").and_then(Value::as_str) {
            let said = param(name);
            let fits = match (argument.filter(|it| !it.is_null()), &said) {
                (None, None) => true,
                (Some(argument), Some(said)) => {
                    plain(said.trim()).is_some_and(|said| is_same(argument, &said))
                }
                _ => false,
            };
            if !fits {
                return Err(mismatch(format!(
                    "The header Mcp-Param-{name} must be the same as the argument '{property}'"
                )));
            }
        }
        check_params(headers, schema, argument)?;
    }
    Ok(())
}

/// The headers that a tool's schema wants its arguments repeated in.
pub fn repeated(schema: &Value, arguments: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let properties = schema.get("properties").and_then(Value::as_object);
    for (property, schema) in properties.into_iter().flatten() {
        let Some(argument) = arguments.get(property) else {
            continue;
        };
        if let Some(name) = schema.get("x-mcp-header").and_then(Value::as_str) {
            let text = match argument {
                Value::String(text) => Some(text.clone()),
                Value::Bool(_) | Value::Number(_) => Some(argument.to_string()),
                _ => None,
            };
            found.extend(text.map(|text| (format!("mcp-param-{name}"), written(&text))));
        }
        found.extend(repeated(schema, argument));
    }
    found
}

fn is_same(argument: &Value, said: &str) -> bool {
    match argument {
        Value::String(text) => text == said,
        Value::Bool(it) => said == if *it { "true" } else { "false" },
        Value::Number(number) => {
            let as_said = said.parse::<f64>().ok();
            number.to_string() == said || (as_said.is_some() && number.as_f64() == as_said)
        }
        _ => false,
    }
}

/// A text as a header's value, wrapped where it could not stand there as it is.
pub fn written(text: &str) -> String {
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) && text.trim() == text;
    match is_plain && !text.starts_with("=?base64?") {
        true => text.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(text)),
    }
}

/// What a header stands for: itself, or what is wrapped in it. None where the wrapping is broken.
fn plain(said: &str) -> Option<String> {
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
