//! What an operation wants to see to let somebody in, as a tool's `auth_config`: always with references, never with values.

use crate::names::plain;
use crate::operation::Context;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// How a tool is let in.
#[derive(Debug, Default)]
pub(crate) struct Access {
    pub(crate) auth: Option<Value>,
    /// Keys that go along in headers besides.
    pub(crate) headers: Vec<(String, Value)>,
    pub(crate) note: Option<String>,
}

/// The secrets that something refers to, each with what it is for.
type Secrets = BTreeMap<String, String>;

/// The first way to be let in that a tool can go.
pub(crate) fn access(
    context: &Context<'_>,
    written: &Value,
    secrets: &mut Secrets,
) -> Result<Access, String> {
    let root = context.document.root;
    let asked = written.get("security").or_else(|| root.get("security"));
    let ways = asked.and_then(Value::as_array);
    let Some(ways) = ways.filter(|ways| !ways.is_empty() && !context.options.no_auth) else {
        return Ok(Access::default());
    };
    let mut why = Vec::new();
    for way in ways
        .iter()
        .filter_map(Value::as_object)
        .filter(|way| !way.is_empty())
    {
        let mut needed = Secrets::new();
        match together(context, way, &mut needed) {
            Ok(access) => {
                secrets.extend(needed);
                return Ok(access);
            }
            Err(reason) => why.push(reason),
        }
    }
    let is_optional = ways
        .iter()
        .any(|way| way.as_object().is_some_and(Map::is_empty));
    match is_optional || why.is_empty() {
        true => Ok(Access::default()),
        false => Err(format!(
            "tools cannot be let in as it asks: {}",
            why.join("; ")
        )),
    }
}

/// Schemes that are asked for together: one in `auth_config`, keys in headers beside it.
fn together(
    context: &Context<'_>,
    way: &Map<String, Value>,
    secrets: &mut Secrets,
) -> Result<Access, String> {
    let mut access = Access::default();
    for (name, scopes) in way {
        let scheme = &context.document.root["components"]["securitySchemes"][name];
        let scheme = context.document.follow(scheme)?;
        let one = one(context, name, scheme, scopes, secrets)?;
        match (&access.auth, scheme["type"].as_str(), scheme["in"].as_str()) {
            (None, _, _) => {
                access.auth = Some(one.0);
                access.note = one.1;
            }
            (Some(_), Some("apiKey"), Some("header")) => {
                let header = one.0["name"].as_str().unwrap_or_default().to_owned();
                access.headers.push((header, one.0["value"].clone()));
            }
            _ => return Err("it asks for several things at once".to_owned()),
        }
    }
    Ok(access)
}

/// One scheme, and what to know of it.
fn one(
    context: &Context<'_>,
    name: &str,
    scheme: &Value,
    scopes: &Value,
    secrets: &mut Secrets,
) -> Result<(Value, Option<String>), String> {
    let base = match context.options.secrets.get(name) {
        Some(secret) => secret.clone(),
        None => {
            let title = plain(
                context.document.root["info"]["title"]
                    .as_str()
                    .unwrap_or_default(),
            );
            let name = plain(&format!("{title}_{name}")).to_lowercase();
            name.chars().take(48).collect()
        }
    };
    let mut secret = |end: &str, what: &str| {
        let secret = format!("{base}{end}");
        secrets.insert(secret.clone(), format!("{what} of the scheme '{name}'"));
        json!({"$secret": secret})
    };
    let text = |key: &str| scheme[key].as_str().unwrap_or_default();
    let http = text("scheme").to_ascii_lowercase();
    Ok(match (text("type"), text("in"), http.as_str()) {
        ("apiKey", "header", _) => (
            json!({"type": "header", "name": text("name"), "value": secret("", "the key")}),
            None,
        ),
        ("apiKey", "query", _) => (
            json!({"type": "query", "name": text("name"), "value": secret("", "the key")}),
            None,
        ),
        ("apiKey", place, _) => return Err(format!("its key goes into a {place}")),
        ("http", _, "bearer") => (
            json!({"type": "bearer", "token": secret("", "the token")}),
            None,
        ),
        ("http", _, "basic") => (
            json!({"type": "basic", "username": secret("_username", "the user name"), "password": secret("_password", "the password")}),
            None,
        ),
        ("http", _, other) => return Err(format!("the HTTP scheme '{other}' is not known")),
        ("oauth2", _, _) if is_url(&scheme["flows"]["clientCredentials"]["tokenUrl"]) => {
            let mut auth = json!({
                "type": "oauth2", "token_url": scheme["flows"]["clientCredentials"]["tokenUrl"],
                "client_id": secret("_client_id", "the client's id"), "client_secret": secret("_client_secret", "the client's secret"),
            });
            let scopes: Vec<&str> = scopes
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            if !scopes.is_empty() {
                auth["scope"] = scopes.join(" ").into();
            }
            (auth, None)
        }
        ("oauth2" | "openIdConnect", _, _) => (
            json!({"type": "bearer", "token": secret("", "an access token")}),
            Some(format!(
                "the access token of '{name}' is not fetched: it has to be kept fresh in the secret"
            )),
        ),
        ("", _, _) => return Err(format!("the scheme '{name}' is not described")),
        (other, _, _) => return Err(format!("'{other}' is not known")),
    })
}

fn is_url(value: &Value) -> bool {
    let url = value.as_str().unwrap_or_default();
    url.starts_with("https://") || url.starts_with("http://")
}
