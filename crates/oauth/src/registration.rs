//! Who we are to an authorization server: as the operator registered us there, by a document of ours that it reads, or
//! by registering now (RFC 7591).

use crate::Result;
use crate::client::{Client, object};
use crate::discovery::{Found, ServerMetadata};
use crate::error::Error;
use crate::place::is_loopback;
use crate::sign_in::Ours;
use catalog::secret::Secret;
use catalog::tool::Millis;
use fetch::{Body, Method, Url};
use serde_json::{Value, json};

const OF_REGISTRATION: &str = "the registration at its authorization server";

/// A client that an authorization server knows.
#[derive(Debug, Clone)]
pub struct Registered {
    pub client_id: String,
    pub client_secret: Option<Secret>,
    pub method: AuthMethod,
    /// When its secret ends.
    pub expires_at: Option<Millis>,
}

/// How a client shows who it is when it asks for a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuthMethod {
    None,
    Basic,
    Post,
}

impl AuthMethod {
    const ALL: [AuthMethod; 3] = [AuthMethod::None, AuthMethod::Basic, AuthMethod::Post];

    pub fn as_str(self) -> &'static str {
        match self {
            AuthMethod::None => "none",
            AuthMethod::Basic => "client_secret_basic",
            AuthMethod::Post => "client_secret_post",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == name)
    }
}

impl Registered {
    /// As the operator has it from the authorization server.
    pub(crate) fn by_hand(
        client_id: &str,
        client_secret: Option<&Secret>,
        metadata: &ServerMetadata,
    ) -> Result<Self> {
        let wanted: &[AuthMethod] = match client_secret {
            Some(_) => &[AuthMethod::Basic, AuthMethod::Post],
            None => &[AuthMethod::None],
        };
        let method = pick(metadata, wanted).unwrap_or(wanted[0]);
        Ok(Registered {
            client_id: client_id.to_owned(),
            client_secret: client_secret.cloned(),
            method,
            expires_at: None,
        })
    }
}

/// The first of these that the authorization server takes. Where it does not say, any will do.
fn pick(metadata: &ServerMetadata, wanted: &[AuthMethod]) -> Option<AuthMethod> {
    let Some(taken) = &metadata.token_endpoint_auth_methods_supported else {
        return wanted.first().copied();
    };
    let takes = |method: &&AuthMethod| taken.iter().any(|name| name == method.as_str());
    wanted.iter().find(takes).copied()
}

/// What we say of ourselves, in a registration or in the document that stands for one.
pub(crate) fn about(redirect_uris: &[&str], metadata: Option<&ServerMetadata>) -> Value {
    let is_here = |uri: &&str| Url::parse(uri).is_ok_and(|url| is_loopback(&url));
    let application_type = match redirect_uris.iter().all(is_here) {
        true => "native",
        false => "web",
    };
    let refreshes = metadata.is_none_or(|it| it.grants("refresh_token"));
    let grants: &[&str] = match refreshes {
        true => &["authorization_code", "refresh_token"],
        false => &["authorization_code"],
    };
    json!({
        "client_name": "Toolcrib",
        "redirect_uris": redirect_uris,
        "grant_types": grants,
        "response_types": ["code"],
        "application_type": application_type,
    })
}

impl Ours {
    /// The document at `document_url`, for authorization servers to read.
    pub fn document(document_url: &str, redirect_uris: &[&str]) -> Value {
        let mut about = about(redirect_uris, None);
        about["client_id"] = document_url.into();
        about["token_endpoint_auth_method"] = AuthMethod::None.as_str().into();
        about
    }
}

impl Client {
    /// Us as this authorization server can know us without being told beforehand; true where it was told just now.
    pub(crate) async fn introduce(&self, found: &Found, ours: &Ours) -> Result<(Registered, bool)> {
        let metadata = &found.metadata;
        if let Some(document_url) = &ours.document_url
            && metadata.client_id_metadata_document_supported == Some(true)
        {
            let registered = Registered {
                client_id: document_url.clone(),
                client_secret: None,
                method: AuthMethod::None,
                expires_at: None,
            };
            return Ok((registered, false));
        }
        let Some(endpoint) = &metadata.registration_endpoint else {
            return Err(Error::unusable(
                "its authorization server registers nobody by itself; register Toolcrib there and write its \"client_id\" (and \"client_secret\") into \"auth\" of its definition",
            ));
        };
        let registered = self.register(found, endpoint, &ours.redirect_uri).await?;
        Ok((registered, true))
    }

    async fn register(
        &self,
        found: &Found,
        endpoint: &str,
        redirect_uri: &str,
    ) -> Result<Registered> {
        let wanted = [AuthMethod::None, AuthMethod::Basic, AuthMethod::Post];
        let asked = pick(&found.metadata, &wanted).ok_or_else(|| {
            Error::unusable("its authorization server takes no way to show who asks that we know")
        })?;
        let mut about = about(&[redirect_uri], Some(&found.metadata));
        about["token_endpoint_auth_method"] = asked.as_str().into();
        let mut request = found
            .around
            .request(Method::POST, endpoint, OF_REGISTRATION)?;
        request.body = Body::Json(about);
        let (status, body) = self.send(request, OF_REGISTRATION).await?;
        let said = object(&body, OF_REGISTRATION);
        if !status.is_success() {
            let word = said
                .ok()
                .and_then(|said| said.get("error")?.as_str().map(str::to_owned));
            return Err(Error::refused(&word.unwrap_or_default()));
        }
        let said = said?;
        let text = |member: &str| said.get(member).and_then(Value::as_str);
        let client_id = text("client_id").filter(|id| !id.is_empty());
        let client_id = client_id
            .ok_or_else(|| Error::Unusable(format!("{OF_REGISTRATION} gave no client_id")))?;
        let method = match text("token_endpoint_auth_method") {
            Some(name) => AuthMethod::from_name(name).ok_or_else(|| {
                Error::unusable(
                    "its authorization server wants a way to show who asks that we do not know",
                )
            })?,
            None => asked,
        };
        let client_secret = text("client_secret").map(|secret| Secret::new(secret.to_owned()));
        if method != AuthMethod::None && client_secret.is_none() {
            return Err(Error::Unusable(format!("{OF_REGISTRATION} gave no secret")));
        }
        let ends = said.get("client_secret_expires_at").and_then(Value::as_i64);
        Ok(Registered {
            client_id: client_id.to_owned(),
            client_secret,
            method,
            expires_at: ends.filter(|at| *at > 0).map(|at| at.saturating_mul(1000)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(methods: Option<&[&str]>) -> ServerMetadata {
        serde_json::from_value(json!({
            "issuer": "https://id.example", "token_endpoint": "https://id.example/token",
            "token_endpoint_auth_methods_supported": methods,
        }))
        .unwrap()
    }

    #[test]
    fn who_has_a_secret_shows_it_as_the_server_wants() {
        let secret = Secret::new("s".to_owned());
        let method = |secret: Option<&Secret>, methods: Option<&[&str]>| {
            let known = Registered::by_hand("id", secret, &metadata(methods));
            known.unwrap().method
        };
        assert_eq!(method(Some(&secret), None), AuthMethod::Basic);
        assert_eq!(
            method(Some(&secret), Some(&["client_secret_post"])),
            AuthMethod::Post
        );
        assert_eq!(
            method(None, Some(&["client_secret_post", "none"])),
            AuthMethod::None
        );
    }

    #[test]
    fn an_application_on_this_machine_is_native() {
        assert_eq!(
            about(&["http://127.0.0.1:7/callback"], None)["application_type"],
            "native"
        );
        assert_eq!(
            about(&["https://tools.example/x"], None)["application_type"],
            "web"
        );
        let mut server = metadata(None);
        server.grant_types_supported = Some(vec!["authorization_code".to_owned()]);
        let about = about(&["https://tools.example/x"], Some(&server));
        assert_eq!(about["grant_types"], json!(["authorization_code"]));
    }
}
