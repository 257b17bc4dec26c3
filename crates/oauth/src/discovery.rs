//! Who gives tokens for a server: what the server says of itself (RFC 9728), and what the authorization server that it
//! names says of itself (RFC 8414, OpenID Connect discovery).

use crate::Result;
use crate::challenge::{Challenge, is_scope};
use crate::client::Client;
use crate::error::Error;
use crate::place::Around;
use fetch::Url;
use serde::Deserialize;
use serde_json::{Map, Value};

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const SERVER: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

const OF_RESOURCE: &str = "what the server says about its tokens";
const OF_SERVER: &str = "what its authorization server says about itself";

/// Where to get a token for a server, and what to ask for.
#[derive(Debug, Clone)]
pub struct Found {
    /// What the token is for, letter by letter as the server says it.
    pub resource: String,
    /// All that the server knows of; what to ask for where it says nothing else.
    pub scopes: Vec<String>,
    pub metadata: ServerMetadata,
    pub(crate) around: Around,
}

/// What an authorization server says of itself.
#[derive(Debug, Clone, Deserialize)]
pub struct ServerMetadata {
    pub issuer: String,
    pub authorization_endpoint: Option<String>,
    pub token_endpoint: String,
    pub registration_endpoint: Option<String>,
    pub scopes_supported: Option<Vec<String>>,
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    pub grant_types_supported: Option<Vec<String>>,
    pub code_challenge_methods_supported: Option<Vec<String>>,
    pub client_id_metadata_document_supported: Option<bool>,
    pub authorization_response_iss_parameter_supported: Option<bool>,
}

impl ServerMetadata {
    pub(crate) fn offers_scope(&self, name: &str) -> bool {
        let all = self.scopes_supported.as_deref().unwrap_or_default();
        all.iter().any(|scope| scope == name)
    }

    pub(crate) fn grants(&self, name: &str) -> bool {
        let all = self.grant_types_supported.as_ref();
        all.is_none_or(|all| all.iter().any(|grant| grant == name))
    }

    /// Without PKCE a code that is stolen on its way back can be used by the thief.
    pub(crate) fn check_pkce(&self) -> Result<()> {
        let known = self.code_challenge_methods_supported.as_deref();
        let known = known.unwrap_or_default();
        match known.iter().any(|method| method == "S256") {
            true => Ok(()),
            false => Err(Error::unusable(
                "its authorization server does not say that it takes PKCE with S256, without which a sign-in is not safe",
            )),
        }
    }
}

/// The server as it describes itself.
struct Resource {
    name: String,
    issuer: String,
    scopes: Vec<String>,
}

impl Client {
    /// Finds out who gives tokens for the server at this address, which may have said where to look.
    pub async fn discover(&self, server_url: &str, challenge: &Challenge) -> Result<Found> {
        self.find(server_url, challenge, None).await
    }

    /// The same where it should be this issuer, if the server names several.
    pub(crate) async fn find(
        &self,
        server_url: &str,
        challenge: &Challenge,
        issuer: Option<&str>,
    ) -> Result<Found> {
        let around = Around::new(server_url)?;
        let said = self.resource(&around, challenge, issuer).await?;
        let is_silent = said.is_none() && issuer.is_none();
        let resource = said.unwrap_or_else(|| Resource {
            name: canonical(&around.server),
            // Servers of before RFC 9728 are, or stand in front of, their own authorization server, unless the operator
            // knows better.
            issuer: issuer.map_or_else(
                || around.server.origin().ascii_serialization(),
                str::to_owned,
            ),
            scopes: Vec::new(),
        });
        let metadata = self.metadata(&around, &resource.issuer).await?;
        let metadata = metadata.ok_or_else(|| match is_silent {
            true => no_oauth(&resource.issuer),
            false => Error::Unusable(format!(
                "its authorization server {} does not say anything about itself at any of the usual places",
                resource.issuer
            )),
        })?;
        Ok(Found {
            resource: resource.name,
            scopes: resource.scopes,
            metadata,
            around,
        })
    }

    async fn resource(
        &self,
        around: &Around,
        challenge: &Challenge,
        issuer: Option<&str>,
    ) -> Result<Option<Resource>> {
        if let Some(address) = &challenge.resource_metadata {
            let said = self.document(around, address, OF_RESOURCE).await?;
            let said = said.ok_or_else(|| {
                Error::unusable(
                    "there is nothing where the server says that it describes its tokens",
                )
            })?;
            return Ok(Some(resource(&around.server, &said, issuer)?));
        }
        for address in resource_places(&around.server) {
            if let Some(said) = self.document(around, &address, OF_RESOURCE).await? {
                return Ok(Some(resource(&around.server, &said, issuer)?));
            }
        }
        Ok(None)
    }

    /// None where there is nothing at any of the usual places.
    async fn metadata(&self, around: &Around, issuer: &str) -> Result<Option<ServerMetadata>> {
        let (url, _) = around.judge(issuer, "its authorization server")?;
        for address in server_places(&url) {
            let said = self.document(around, &address, OF_SERVER).await;
            let Some(said) = said.map_err(|error| named(error, issuer))? else {
                continue;
            };
            let metadata: ServerMetadata = serde_json::from_value(Value::Object(said))
                .map_err(|_| Error::Unusable(format!("{OF_SERVER} lacks what it must say")))?;
            // Letter by letter: whoever could speak for another issuer could take its codes.
            if metadata.issuer != issuer {
                return Err(Error::unusable(
                    "its authorization server calls itself by another name than the server does",
                ));
            }
            around.judge(&metadata.token_endpoint, "the token endpoint")?;
            return Ok(Some(metadata));
        }
        Ok(None)
    }
}

/// Which authorization server does not answer: it need not be where the server is.
fn named(error: Error, issuer: &str) -> Error {
    match error {
        Error::Unreachable(why) => {
            let why = why.strip_prefix(OF_SERVER).unwrap_or(&why);
            let why = why.trim_start_matches([':', ' ']);
            Error::Unreachable(format!(
                "its authorization server {issuer} does not answer: {why}"
            ))
        }
        other => other,
    }
}

/// Nobody has said that there is an authorization server at all.
fn no_oauth(origin: &str) -> Error {
    Error::Unusable(format!(
        "the server seems not to take OAuth: {origin} describes no tokens and no authorization server at any of the usual places. Take \"auth\" out of its definition (a key goes into \"headers\"), or name its authorization server in \"issuer\" of \"auth\""
    ))
}

/// Reads what the server says, and holds it to the address that we know it by: a token for somewhere else is not
/// asked for in its name.
fn resource(server: &Url, said: &Map<String, Value>, wanted: Option<&str>) -> Result<Resource> {
    let name = said.get("resource").and_then(Value::as_str);
    let name = name.ok_or_else(|| Error::Unusable(format!("{OF_RESOURCE} names no resource")))?;
    if !is_resource_of(name, server) {
        return Err(Error::unusable(
            "the server says that its tokens are for another address than its own",
        ));
    }
    let list = |member: &str| {
        let all = said.get(member).and_then(Value::as_array);
        let all = all.into_iter().flatten().filter_map(Value::as_str);
        all.map(str::to_owned).collect::<Vec<String>>()
    };
    let issuers = list("authorization_servers");
    let meant = issuers.iter().find(|it| Some(it.as_str()) == wanted);
    let issuer = meant.or(issuers.first()).cloned();
    let mut scopes = list("scopes_supported");
    scopes.retain(|scope| is_scope(scope));
    Ok(Resource {
        name: name.to_owned(),
        issuer: issuer.ok_or_else(|| {
            Error::Unusable(format!("{OF_RESOURCE} names no authorization server"))
        })?,
        scopes,
    })
}

/// Whether a resource is this server or what holds it: the same origin, and no longer a path.
fn is_resource_of(name: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(name) else {
        return false;
    };
    let path = resource.path().trim_end_matches('/');
    let below = server.path().strip_prefix(path);
    resource.origin() == server.origin()
        && resource.fragment().is_none()
        && (resource.query().is_none() || resource.query() == server.query())
        && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The server's address without what is no part of its name.
fn canonical(server: &Url) -> String {
    let mut url = server.clone();
    url.set_fragment(None);
    url.set_query(None);
    match url.path() {
        "/" => url.origin().ascii_serialization(),
        _ => url.into(),
    }
}

fn resource_places(server: &Url) -> Vec<String> {
    let origin = server.origin().ascii_serialization();
    let path = server.path().trim_end_matches('/');
    let mut places = vec![format!("{origin}{RESOURCE}{path}")];
    if !path.is_empty() {
        places.push(format!("{origin}{RESOURCE}"));
    }
    places
}

/// In the order that the specification wants.
fn server_places(issuer: &Url) -> Vec<String> {
    let origin = issuer.origin().ascii_serialization();
    match issuer.path().trim_end_matches('/') {
        "" => vec![format!("{origin}{SERVER}"), format!("{origin}{OPENID}")],
        path => vec![
            format!("{origin}{SERVER}{path}"),
            format!("{origin}{OPENID}{path}"),
            format!("{origin}{path}{OPENID}"),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn places_are_tried_in_the_order_of_the_specification() {
        assert_eq!(
            resource_places(&url("https://a.example/public/mcp?x=1")),
            [
                "https://a.example/.well-known/oauth-protected-resource/public/mcp",
                "https://a.example/.well-known/oauth-protected-resource",
            ]
        );
        assert_eq!(resource_places(&url("https://a.example")).len(), 1);
        assert_eq!(
            server_places(&url("https://id.example/tenant1")),
            [
                "https://id.example/.well-known/oauth-authorization-server/tenant1",
                "https://id.example/.well-known/openid-configuration/tenant1",
                "https://id.example/tenant1/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            server_places(&url("https://id.example/")),
            [
                "https://id.example/.well-known/oauth-authorization-server",
                "https://id.example/.well-known/openid-configuration",
            ]
        );
    }

    #[test]
    fn a_resource_is_the_server_or_what_holds_it() {
        let server = url("https://a.example/team/mcp");
        for fits in [
            "https://a.example/team/mcp",
            "https://A.example:443/team/mcp/",
            "https://a.example/team",
            "https://a.example",
            "https://a.example/",
        ] {
            assert!(is_resource_of(fits, &server), "{fits}");
        }
        for other in [
            "https://a.example/team/mc",
            "https://a.example/team/mcp/more",
            "https://a.example/other",
            "http://a.example/team/mcp",
            "https://a.example:444/team/mcp",
            "https://evil.example/team/mcp",
            "https://a.example/team/mcp#x",
            "https://a.example/team?x=1",
            "mcp",
        ] {
            assert!(!is_resource_of(other, &server), "{other}");
        }
    }

    #[test]
    fn an_old_server_is_named_by_its_address() {
        assert_eq!(canonical(&url("https://a.example")), "https://a.example");
        assert_eq!(
            canonical(&url("https://a.example/mcp?k=1")),
            "https://a.example/mcp"
        );
    }
}
