//! What a request shows to be let in, from the tool's `auth_config`.

use super::encode::percent;
use super::filling::misconfigured;
use super::headers::header_value;
use super::target::Target;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use catalog::auth::Reference;
use catalog::http_auth::{
    CLIENT_ID, CLIENT_SECRET, PARAMETER, PASSWORD, TOKEN, TOKEN_URL, TYPES_TOLD, USERNAME, VALUE,
    Way,
};
use catalog::secret::Secret;
use executor::{Failure, Run};
use fetch::{HeaderMap, HeaderName, header};
use serde_json::{Map, Value};

/// The ways to be let in.
pub(super) enum Auth {
    None,
    /// `Authorization: Bearer …`
    Bearer(Secret),
    Basic {
        username: Secret,
        password: Secret,
    },
    Header {
        name: HeaderName,
        value: Secret,
    },
    Query {
        name: String,
        value: Secret,
    },
    /// A bearer token that is fetched first.
    Client(Client),
}

/// The client credentials of OAuth 2.
pub(super) struct Client {
    pub(super) token_url: String,
    pub(super) id: Secret,
    pub(super) secret: Secret,
    /// `scope`, `audience` and `resource`, where given.
    pub(super) wishes: Vec<(String, String)>,
    /// The secret goes into the form and not into a header.
    pub(super) in_form: bool,
}

impl Auth {
    pub(super) fn of(run: &Run) -> Result<Self, Failure> {
        let definition = &run.entry.tool.definition;
        let Some(config) = definition.auth_config.as_ref().and_then(Value::as_object) else {
            return Ok(Auth::None);
        };
        let read = Read { run, config };
        match read.way()? {
            Way::None => Ok(Auth::None),
            Way::Bearer => Ok(Auth::Bearer(read.secret(TOKEN)?)),
            Way::Basic => Ok(Auth::Basic {
                username: read.secret(USERNAME)?,
                password: read.secret(PASSWORD)?,
            }),
            Way::Query => read.query(),
            Way::Header => read.header(),
            Way::Client => read.client(),
        }
    }

    /// Puts itself into a request. `token` is what was fetched for a client.
    pub(super) fn apply(
        &self,
        run: &Run,
        headers: &mut HeaderMap,
        target: &mut Target,
        token: Option<&Secret>,
    ) -> Result<(), Failure> {
        let (name, text) = match self {
            Auth::None => return Ok(()),
            Auth::Query { name, value } => {
                // An answer may repeat it in the form it was sent in.
                run.hide(&Secret::new(percent(value.expose())));
                target.add(name, &Value::from(value.expose()));
                return Ok(());
            }
            Auth::Header { name, value } => (name.clone(), value.expose().to_owned()),
            Auth::Bearer(token) => (header::AUTHORIZATION, format!("Bearer {}", token.expose())),
            Auth::Basic { username, password } => {
                (header::AUTHORIZATION, basic(run, username, password))
            }
            Auth::Client(_) => {
                let token = token.ok_or_else(|| misconfigured("there is no token"))?;
                (header::AUTHORIZATION, format!("Bearer {}", token.expose()))
            }
        };
        let mut value = header_value(&text)
            .ok_or_else(|| misconfigured("its secret cannot stand in a header"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok(())
    }
}

/// The value of a `Basic` header, hidden as what it was made from is.
pub(super) fn basic(run: &Run, username: &Secret, password: &Secret) -> String {
    let joined = STANDARD.encode(format!("{}:{}", username.expose(), password.expose()));
    run.hide(&Secret::new(joined.clone()));
    format!("Basic {joined}")
}

struct Read<'a> {
    run: &'a Run,
    config: &'a Map<String, Value>,
}

impl Read<'_> {
    /// What its `type` says, or what is there to be used.
    fn way(&self) -> Result<Way, Failure> {
        let said = self.word(&["type"]).or_else(|| self.word(&["scheme"]));
        let way = match said {
            Some(said) => Way::named(said, self.word(&["in"]) == Some("query")),
            None if self.config.is_empty() => Some(Way::None),
            None => Way::guessed(|name| self.config.contains_key(name)),
        };
        way.ok_or_else(|| {
            let said = said.unwrap_or_default();
            misconfigured(format_args!(
                "auth_config.type is \"{said}\"; write {TYPES_TOLD}"
            ))
        })
    }

    /// A secret under one of these names.
    fn secret(&self, names: &[&str]) -> Result<Secret, Failure> {
        let found = names.iter().find_map(|name| self.config.get(*name));
        match found {
            Some(value) if Reference::of(value).is_some() => self.run.open(value),
            Some(Value::String(text)) => {
                let secret = Secret::new(text.clone());
                if names
                    .iter()
                    .all(|name| catalog::auth::is_secret_under(name))
                {
                    self.run.hide(&secret);
                }
                Ok(secret)
            }
            _ => Err(misconfigured(format_args!(
                "auth_config has no \"{}\"",
                names[0]
            ))),
        }
    }

    fn word(&self, names: &[&str]) -> Option<&str> {
        names
            .iter()
            .find_map(|name| self.config.get(*name))
            .and_then(Value::as_str)
    }

    fn header(&self) -> Result<Auth, Failure> {
        let name = self
            .word(&["name", "header", "header_name"])
            .unwrap_or("X-API-Key");
        let bad = |_| misconfigured(format_args!("'{name}' is no name of a header"));
        let name: HeaderName = name.parse().map_err(bad)?;
        let value = self.secret(VALUE)?;
        let value = match self.word(&["prefix"]) {
            Some(prefix) => Secret::new(format!("{}{}{}", prefix.trim_end(), " ", value.expose())),
            None => value,
        };
        Ok(Auth::Header { name, value })
    }

    fn query(&self) -> Result<Auth, Failure> {
        let name = self.word(PARAMETER);
        let name = name
            .ok_or_else(|| misconfigured("auth_config has no \"name\" for the query parameter"))?;
        let value = self.secret(VALUE)?;
        let name = name.to_owned();
        Ok(Auth::Query { name, value })
    }

    fn client(&self) -> Result<Auth, Failure> {
        let none = || misconfigured("auth_config has no \"token_url\"");
        let scopes = self.config.get("scopes").and_then(Value::as_array);
        let scopes = scopes.map(|all| {
            all.iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(" ")
        });
        let scope = self
            .word(&["scope", "scopes"])
            .map(str::to_owned)
            .or(scopes);
        let wish = |name: &str| Some((name.to_owned(), self.word(&[name])?.to_owned()));
        let scope = scope.map(|scope| ("scope".to_owned(), scope));
        Ok(Auth::Client(Client {
            token_url: self.word(TOKEN_URL).ok_or_else(none)?.to_owned(),
            id: self.secret(CLIENT_ID)?,
            secret: self.secret(CLIENT_SECRET)?,
            wishes: [scope, wish("audience"), wish("resource")]
                .into_iter()
                .flatten()
                .collect(),
            in_form: matches!(
                self.word(&["auth_method"]),
                Some("post" | "client_secret_post" | "form")
            ),
        }))
    }
}
