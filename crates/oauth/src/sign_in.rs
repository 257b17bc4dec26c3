//! A person signs in: a browser goes to the authorization server and comes back with a code, which becomes a token.

use crate::Result;
use crate::challenge::Challenge;
use crate::client::{Client, random};
use crate::credential::Spec;
use crate::discovery::Found;
use crate::error::Error;
use crate::grant::Grant;
use crate::registration::Registered;
use crate::token::Asking;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use catalog::hex::hex;
use catalog::secret::Secret;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Asked for where it is known: without it, some give no refresh token.
const OFFLINE: &str = "offline_access";

/// Whom somebody signs in for, and how.
pub struct Wish<'a> {
    pub spec: &'a Spec,
    /// What the server last said about the token that it wants.
    pub challenge: &'a Challenge,
    /// What the token of before allows; the new one allows no less.
    pub granted: &'a [String],
    /// What is ours for a place (see `place`): one of its own for each server and issuer.
    pub ours: &'a (dyn Fn(&str) -> Ours + Send + Sync),
    /// Us at an issuer, from an earlier sign-in with the same address to come back to.
    pub known: &'a (dyn Fn(&str, &str) -> Option<Registered> + Send + Sync),
    /// What the browser must bring back begins with this: who keeps the sign-in until then.
    pub keeper: &'a str,
}

/// Where a browser comes back to, and how we are known where we are not known yet.
#[derive(Debug, Clone)]
pub struct Ours {
    pub redirect_uri: String,
    /// Where what we say of ourselves can be read (a Client ID Metadata Document); only with a public address.
    pub document_url: Option<String>,
}

/// A word for a server and who gives its tokens. Each has an address of its own to come back to: an answer of one
/// authorization server must not pass for that of another, which may be the one that led the browser there (RFC 9700,
/// 4.4).
pub fn place(server: &str, issuer: &str) -> String {
    let digest = Sha256::digest(format!("{server}\n{issuer}"));
    hex(&digest[..16])
}

/// A sign-in that has begun.
pub struct Begun {
    /// Where the browser goes.
    pub authorize_url: String,
    pub pending: Pending,
    /// Whether the authorization server was told of us for it.
    pub is_new_client: bool,
}

/// What is kept until the browser is back.
#[derive(Debug)]
pub struct Pending {
    server_url: String,
    found: Found,
    pub client: Registered,
    pub redirect_uri: String,
    place: String,
    verifier: Secret,
    state: String,
    scopes: Vec<String>,
}

impl Pending {
    /// What the browser must bring back.
    pub fn state(&self) -> &str {
        &self.state
    }

    pub fn issuer(&self) -> &str {
        &self.found.metadata.issuer
    }
}

/// What the browser came back with.
#[derive(Default)]
pub struct Returned<'a> {
    /// The end of the address that it came back to.
    pub place: &'a str,
    pub state: &'a str,
    pub code: Option<&'a str>,
    pub iss: Option<&'a str>,
    pub error: Option<&'a str>,
}

impl Client {
    pub async fn begin(&self, wish: &Wish<'_>) -> Result<Begun> {
        let spec = wish.spec;
        let issuer = spec.issuer.as_deref();
        let found = self.find(&spec.server_url, wish.challenge, issuer).await?;
        spec.check_issuer(&found.metadata.issuer)?;
        found.metadata.check_pkce()?;
        let endpoint = found.metadata.authorization_endpoint.as_deref();
        let endpoint = endpoint
            .ok_or_else(|| Error::unusable("its authorization server has no page to sign in on"))?;
        let (mut url, _) = found.around.judge(endpoint, "the page to sign in on")?;
        let now = self.clock.now();
        let usable = |known: &Registered| known.expires_at.is_none_or(|at| at > now);
        let place = place(&spec.name, &found.metadata.issuer);
        let ours = (wish.ours)(&place);
        let known = (wish.known)(&found.metadata.issuer, &ours.redirect_uri).filter(usable);
        let (client, is_new_client) = match (&spec.client_id, known) {
            (Some(id), _) => {
                let secret = spec.client_secret.as_ref();
                (Registered::by_hand(id, secret, &found.metadata)?, false)
            }
            (None, Some(known)) => (known, false),
            (None, None) => self.introduce(&found, &ours).await?,
        };
        let scopes = wanted(&found, wish);
        let (verifier, state) = (random()?, format!("{}{}", wish.keeper, random()?));
        let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
        let mut query = vec![
            ("response_type", "code"),
            ("client_id", &client.client_id),
            ("redirect_uri", &ours.redirect_uri),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", &found.resource),
        ];
        let joined = scopes.join(" ");
        if !joined.is_empty() {
            query.push(("scope", &joined));
        }
        if scopes.iter().any(|scope| scope == OFFLINE) {
            // OpenID Connect gives it only to whoever was asked.
            query.push(("prompt", "consent"));
        }
        url.query_pairs_mut().extend_pairs(query);
        Ok(Begun {
            authorize_url: url.into(),
            is_new_client,
            pending: Pending {
                server_url: spec.server_url.clone(),
                found,
                client,
                redirect_uri: ours.redirect_uri,
                place,
                verifier: Secret::new(verifier),
                state,
                scopes,
            },
        })
    }

    /// The browser is back. The code is not sent anywhere before it is known to be an answer to what was asked.
    pub async fn finish(&self, pending: &Pending, returned: &Returned<'_>) -> Result<Grant> {
        check(pending, returned)?;
        if let Some(error) = returned.error {
            return Err(Error::refused(error));
        }
        let code = returned.code.filter(|code| !code.is_empty());
        let code = code.ok_or(Error::Mismatch(
            "the authorization server sent no code back",
        ))?;
        let metadata = &pending.found.metadata;
        let asking = Asking {
            server_url: &pending.server_url,
            token_endpoint: &metadata.token_endpoint,
            client: &pending.client,
            resource: &pending.found.resource,
        };
        let what = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &pending.redirect_uri),
            ("code_verifier", pending.verifier.expose()),
        ];
        let asked_at = self.clock.now();
        let given = self.token(&asking, &what).await?;
        Ok(Grant {
            server_url: pending.server_url.clone(),
            resource: pending.found.resource.clone(),
            issuer: metadata.issuer.clone(),
            token_endpoint: metadata.token_endpoint.clone(),
            client: pending.client.clone(),
            access_token: given.access_token,
            refresh_token: given.refresh_token,
            scopes: given.scopes.unwrap_or_else(|| pending.scopes.clone()),
            obtained_at: asked_at,
            expires_at: given.expires_at,
        })
    }
}

/// Whether this is the answer, from the one who was asked (RFC 9207): letter by letter, for an issuer that differs in
/// a stroke is another.
fn check(pending: &Pending, returned: &Returned<'_>) -> Result<()> {
    if !bool::from(pending.state.as_bytes().ct_eq(returned.state.as_bytes())) {
        return Err(Error::Mismatch("this answer belongs to another sign-in"));
    }
    if pending.place != returned.place {
        return Err(Error::Mismatch(
            "the answer came back to the address of another server or authorization server",
        ));
    }
    let metadata = &pending.found.metadata;
    let says_who = metadata.authorization_response_iss_parameter_supported == Some(true);
    match returned.iss {
        Some(iss) if iss != metadata.issuer => Err(Error::Mismatch(
            "the answer comes from another authorization server than the one that was asked",
        )),
        None if says_who => Err(Error::Mismatch(
            "the answer does not say which authorization server it comes from, though it should",
        )),
        _ => Ok(()),
    }
}

/// What the operator wants, or what the server asks for, or all that it knows; and nothing less than before where it
/// asks for more.
fn wanted(found: &Found, wish: &Wish<'_>) -> Vec<String> {
    let (configured, asked) = (&wish.spec.scopes, &wish.challenge.scopes);
    let mut all = match (configured.is_empty(), asked.is_empty()) {
        (false, _) => configured.clone(),
        (true, false) => asked.clone(),
        (true, true) => found.scopes.clone(),
    };
    if wish.challenge.wants_more_scope() {
        add(&mut all, asked);
        add(&mut all, wish.granted);
    }
    if found.metadata.offers_scope(OFFLINE) && found.metadata.grants("refresh_token") {
        add(&mut all, &[OFFLINE.to_owned()]);
    }
    all
}

pub(crate) fn add(all: &mut Vec<String>, more: &[String]) {
    for scope in more {
        if !all.contains(scope) {
            all.push(scope.clone());
        }
    }
}
