//! What a modern request says in its headers must be what its body says: whoever stands between decides by the headers.

use crate::context::Params;
use mcp::headers::{marked, named_by, plain};
use mcp::wire::{RpcError, code};
use serde_json::Value;

/// The headers that repeat the body.
pub struct Headers<'a> {
    pub version: Option<&'a str>,
    pub method: Option<&'a str>,
    pub name: Option<&'a str>,
    /// Gives `Mcp-Param-…` by its name; none where nothing stands between that would read them.
    pub param: Option<&'a Param<'a>>,
}

/// A header by its name.
pub type Param<'a> = dyn Fn(&str) -> Option<String> + 'a;

fn mismatch(message: impl Into<String>) -> RpcError {
    RpcError::new(code::HEADER_MISMATCH, message)
}

/// Method and, where the method has one, name.
pub(crate) fn check(headers: &Headers<'_>, method: &str, params: &Params) -> Result<(), RpcError> {
    let said = headers.method.map(str::trim);
    if said != Some(method) {
        return Err(mismatch(format!(
            "The header Mcp-Method must be '{method}', as in the body"
        )));
    }
    let Some(named) = named_by(method) else {
        return Ok(());
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

/// The arguments that a tool's schema wants repeated in headers. Where its marks make no sense it wants nothing.
pub(crate) fn check_params(
    headers: &Headers<'_>,
    schema: &Value,
    arguments: Option<&Value>,
) -> Result<(), RpcError> {
    let Some(param) = headers.param else {
        return Ok(());
    };
    for marked in marked(schema).unwrap_or_default() {
        let name = marked.header.as_str();
        let said = param(name);
        let argument = marked.of(arguments).filter(|it| !it.is_null());
        let fits = match (argument, &said) {
            (None, None) => true,
            (Some(argument), Some(said)) => {
                plain(said.trim()).is_some_and(|said| is_same(argument, &said))
            }
            _ => false,
        };
        if !fits {
            let property = marked.path.join(".");
            return Err(mismatch(format!(
                "The header {name} must be the same as the argument '{property}'"
            )));
        }
    }
    Ok(())
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
