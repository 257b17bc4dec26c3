//! What an operation wants to see to let somebody in, as a tool's `auth_config`: always with references, never with values.

use crate::Needed;
use crate::names::plain;
use crate::operation::Context;
use crate::sharing::origin;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// How a tool is let in.
#[derive(Debug, Default)]
pub(crate) struct Access {
    pub(crate) auth: Option<Value>,
    /// Keys that go along in headers besides.
    pub(crate) headers: Vec<(String, Value)>,
    pub(crate) note: Option<String>,
}

/// The secrets that something refers to, by name.
pub(crate) type Secrets = BTreeMap<String, Needed>;

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
                for needed in needed.into_values() {
                    add(secrets, needed);
                }
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
    let chosen = context.options.secrets.get(name);
    let base = chosen.cloned().unwrap_or_else(|| made_up(context, name));
    let text = |key: &str| scheme[key].as_str().unwrap_or_default();
    let token_url = scheme["flows"]["clientCredentials"]["tokenUrl"].as_str();
    let token_url = token_url.filter(|url| text("type") == "oauth2" && is_url(url));
    let addresses = context.base_url.into_iter().chain(token_url);
    let shown_to: BTreeSet<String> = addresses.map(origin).collect();
    let mut secret = |end: &str, what: &str| {
        let needed = Needed {
            name: format!("{base}{end}"),
            what: format!("{what} of the scheme '{name}'"),
            is_made_up: chosen.is_none(),
            shown_to: shown_to.clone(),
        };
        let reference = json!({"$secret": needed.name});
        add(secrets, needed);
        reference
    };
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
        ("oauth2", _, _) if token_url.is_some() => {
            let mut auth = json!({
                "type": "oauth2", "token_url": token_url,
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

/// The name of a secret that nobody has named, after the document and the scheme.
fn made_up(context: &Context<'_>, scheme: &str) -> String {
    let title = context.document.root["info"]["title"].as_str();
    let title = plain(title.unwrap_or_default());
    let name = plain(&format!("{title}_{scheme}")).to_lowercase();
    name.chars().take(48).collect()
}

/// Of one that several schemes or operations refer to all addresses count, and one that made it up.
fn add(secrets: &mut Secrets, mut needed: Needed) {
    if let Some(known) = secrets.remove(&needed.name) {
        needed.is_made_up |= known.is_made_up;
        needed.shown_to.extend(known.shown_to);
    }
    secrets.insert(needed.name.clone(), needed);
}

fn is_url(url: &str) -> bool {
    url.starts_with("https://") || url.starts_with("http://")
}
