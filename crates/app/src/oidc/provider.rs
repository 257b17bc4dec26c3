//! The identity provider over HTTP: what it says about itself, its keys, and a code for a token. Its address is the
//! operator's own, so no guard stands between; what it answers is bounded in size and time.

use super::Settings;
use super::access::Shown;
use super::token::{self, Purpose};
use crate::error::{Error, Result};
use arc_swap::ArcSwapOption;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use catalog::tool::Millis;
use fetch::header::AUTHORIZATION;
use fetch::{Body, Bytes, Fetcher, HeaderValue, Method, Request, StatusCode, Trust, Url};
use jsonwebtoken::jwk::{Jwk, JwkSet};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, Semaphore, SemaphorePermit};

const TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// What the provider says about itself is asked anew after this long.
const FRESH: Duration = Duration::from_secs(3600);

/// A token signed by an unknown key makes us ask for the keys again, but not more often than this.
const KEYS_AGAIN: Duration = Duration::from_secs(10);

/// After a failure nobody asks again for so long, so that nobody waits behind others for the next one.
const FAILED: Duration = Duration::from_secs(5);

/// Logins that may wait for the provider at a time; anybody can begin one.
const TURNS_MAX: usize = 16;

/// Tokens that may wait for the provider at a time: those signed by a key that is not known.
const TOKEN_TURNS_MAX: usize = 256;

pub(crate) struct Provider {
    pub(super) settings: Settings,
    http: Fetcher,
    /// What was last learned of it. Read without waiting for whoever is about to learn more.
    known: ArcSwapOption<Known>,
    asking: Mutex<Asking>,
    turns: Semaphore,
    token_turns: Semaphore,
    /// Access tokens that have been found sound.
    pub(super) shown: Shown,
}

/// Held by the one who asks the provider: the others wait for that answer or go by what is known.
#[derive(Default)]
struct Asking {
    failed_at: Option<Instant>,
}

#[derive(Clone)]
struct Known {
    metadata: Metadata,
    read_at: Instant,
    keys: JwkSet,
    keys_read_at: Instant,
}

impl Known {
    fn is_fresh(&self) -> bool {
        self.read_at.elapsed() < FRESH
    }
}

#[derive(Debug, Clone, Deserialize)]
struct Metadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
}

#[derive(Deserialize)]
struct Tokens {
    id_token: String,
}

/// Why there is no token, as RFC 6749 has it.
#[derive(Deserialize)]
struct Refused {
    error: String,
}

impl Provider {
    pub(crate) fn new(settings: Settings) -> Self {
        Provider {
            settings,
            http: Fetcher::new(fetch::Options::default()),
            known: ArcSwapOption::empty(),
            asking: Mutex::default(),
            shown: Shown::default(),
            turns: Semaphore::new(TURNS_MAX),
            token_turns: Semaphore::new(TOKEN_TURNS_MAX),
        }
    }

    /// The right to wait for the provider. Taken before anything is waited for.
    pub(super) fn turn(&self) -> Result<SemaphorePermit<'_>> {
        let busy = |_| Error::Unavailable("Too many are logging in at the moment".to_owned());
        self.turns.try_acquire().map_err(busy)
    }

    /// The same for somebody who shows a token: those who log in must not be in their way.
    fn token_turn(&self) -> Result<SemaphorePermit<'_>> {
        let busy = |_| Error::Unavailable("Too many unknown tokens are looked at".to_owned());
        self.token_turns.try_acquire().map_err(busy)
    }

    /// Where a browser asks to be vouched for.
    pub(super) async fn authorization_url(&self, query: &[(&str, &str)]) -> Result<String> {
        let known = self.known().await?;
        let metadata = &known.metadata;
        let mut url = endpoint(&metadata.authorization_endpoint)?;
        url.query_pairs_mut().extend_pairs(query);
        Ok(url.into())
    }

    /// The ID token for a code.
    pub(super) async fn exchange(
        &self,
        code: &str,
        redirect: &str,
        verifier: &str,
    ) -> Result<String> {
        let known = self.known().await?;
        let metadata = &known.metadata;
        let Settings {
            client_id,
            client_secret,
            ..
        } = &self.settings;
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect),
            ("code_verifier", verifier),
        ];
        let mut request = request(Method::POST, &endpoint(&metadata.token_endpoint)?);
        // What the standard says where the provider says nothing.
        let methods = &metadata.token_endpoint_auth_methods_supported;
        let basic = methods.is_empty() || methods.iter().any(|m| m == "client_secret_basic");
        match client_secret {
            Some(secret) if basic => {
                let both = format!("{}:{}", form_encoded(client_id), form_encoded(secret));
                let mut value = HeaderValue::try_from(format!("Basic {}", BASE64.encode(both)))
                    .map_err(|_| Unusable("its secret cannot be sent".to_owned()))?;
                value.set_sensitive(true);
                request.headers.insert(AUTHORIZATION, value);
            }
            Some(secret) => {
                form.extend([("client_id", client_id.as_str()), ("client_secret", secret)])
            }
            None => form.push(("client_id", client_id)),
        }
        let fields = form.into_iter();
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        request.body = Body::Form(fields.collect());
        let (status, body) = self.send(request).await?;
        let refused = serde_json::from_slice::<Refused>(&body).ok();
        if let Some(refused) = refused.filter(|_| !status.is_success()) {
            return Err(match refused.error.as_str() {
                "invalid_grant" => Error::Unauthenticated(
                    "The identity provider did not confirm this login; begin again".to_owned(),
                ),
                why => Unusable(format!("it gave no token: {why}")).into(),
            });
        }
        Ok(read::<Tokens>(status, &body)?.id_token)
    }

    /// What a token says, once it is known to be sound.
    pub(super) async fn claims(
        &self,
        id_token: &str,
        nonce: &str,
        now: Millis,
    ) -> Result<Map<String, Value>> {
        let purpose = Purpose::Login {
            client_id: &self.settings.client_id,
            nonce,
        };
        self.sound(id_token, purpose, now).await
    }

    /// What a token says that was signed by this provider and is for this purpose.
    pub(super) async fn sound(
        &self,
        token: &str,
        purpose: Purpose<'_>,
        now: Millis,
    ) -> Result<Map<String, Value>> {
        let refused = |why: &str| {
            tracing::debug!(why, "a token was refused");
            Error::Unauthenticated(format!("The identity provider's token was refused: {why}"))
        };
        let header = token::header(token).map_err(refused)?;
        if matches!(purpose, Purpose::Access) {
            token::check_type(&header).map_err(refused)?;
        }
        let key = match self.known_key(&header) {
            Some(key) => Some(key),
            None => {
                // Those who log in have theirs.
                let is_access = matches!(purpose, Purpose::Access);
                let _turn = is_access.then(|| self.token_turn()).transpose()?;
                self.key(&header).await?
            }
        };
        let key = key.ok_or_else(|| refused("its key is not one of the provider's"))?;
        let expected = token::Expected {
            issuer: &self.settings.issuer,
            purpose,
        };
        token::verify(token, &header, &key, expected, now).map_err(refused)
    }

    /// The key that signed a token, where nobody has to be waited for.
    fn known_key(&self, header: &jsonwebtoken::Header) -> Option<Jwk> {
        let known = self.known.load();
        let known = known.as_deref()?;
        // Somebody sees to it already that it does not grow old.
        let is_fit = known.is_fresh() || self.asking.try_lock().is_err();
        token::key_for(&known.keys, header)
            .filter(|_| is_fit)
            .cloned()
    }

    /// The same where that may be. Providers change their keys: one we do not know may be new.
    async fn key(&self, header: &jsonwebtoken::Header) -> Result<Option<Jwk>> {
        let known = self.known().await?;
        let found = token::key_for(&known.keys, header);
        if found.is_some() || known.keys_read_at.elapsed() < KEYS_AGAIN {
            return Ok(found.cloned());
        }
        let _asking = self.asking.lock().await;
        // Whoever asked before us may have learned it; then nobody asks again.
        let mut known = self.known.load_full().unwrap_or(known);
        if known.keys_read_at.elapsed() >= KEYS_AGAIN {
            let keys = self.keys(&known.metadata).await;
            let mut next = Known::clone(&known);
            // However that ended: who shows a key that nobody has must not keep us asking.
            next.keys_read_at = Instant::now();
            let failed = keys.map(|keys| next.keys = keys).err();
            known = Arc::new(next);
            self.known.store(Some(Arc::clone(&known)));
            if let Some(failed) = failed {
                return Err(failed.into());
            }
        }
        Ok(token::key_for(&known.keys, header).cloned())
    }

    /// What the provider says about itself; an older word where it says nothing now, or is being asked.
    async fn known(&self) -> Result<Arc<Known>> {
        let old = self.known.load_full();
        let mut asking = match &old {
            Some(old) if old.is_fresh() => return Ok(Arc::clone(old)),
            Some(old) => match self.asking.try_lock() {
                Ok(asking) => asking,
                Err(_) => return Ok(Arc::clone(old)),
            },
            None => self.asking.lock().await,
        };
        // Whoever asked before us may have learned it.
        let now = self.known.load_full();
        if let Some(now) = now.filter(|now| now.is_fresh()) {
            return Ok(now);
        }
        let just_failed = asking.failed_at.is_some_and(|at| at.elapsed() < FAILED);
        if just_failed {
            let why = || Unusable("it could not be a moment ago".to_owned()).into();
            return old.ok_or_else(why);
        }
        match self.discover().await {
            Ok(known) => {
                let known = Arc::new(known);
                self.known.store(Some(Arc::clone(&known)));
                Ok(known)
            }
            Err(unusable) => {
                asking.failed_at = Some(Instant::now());
                let failed: Error = unusable.into();
                old.ok_or(failed)
            }
        }
    }

    /// Why it cannot be used, for whoever runs the server.
    pub(super) async fn probe(&self) -> Result<(), String> {
        let found = self.discover().await;
        found.map(drop).map_err(|Unusable(why)| why)
    }

    async fn discover(&self) -> Result<Known, Unusable> {
        let issuer = &self.settings.issuer;
        let place = format!(
            "{}/.well-known/openid-configuration",
            issuer.trim_end_matches('/')
        );
        let metadata: Metadata = self.ask(&place).await?;
        if metadata.issuer != *issuer {
            return Err(Unusable(format!(
                "it calls itself {}, and oidc.issuer must be exactly that",
                metadata.issuer
            )));
        }
        let keys = self.keys(&metadata).await?;
        let now = Instant::now();
        Ok(Known {
            metadata,
            read_at: now,
            keys,
            keys_read_at: now,
        })
    }

    /// A key of a kind we do not know is left out; it may stand beside those we do.
    async fn keys(&self, metadata: &Metadata) -> Result<JwkSet, Unusable> {
        #[derive(Deserialize)]
        struct Listed {
            keys: Vec<Value>,
        }
        let listed: Listed = self.ask(&metadata.jwks_uri).await?;
        let read = |key| serde_json::from_value(key).ok();
        Ok(JwkSet {
            keys: listed.keys.into_iter().filter_map(read).collect(),
        })
    }

    /// What it says at an address of its own.
    async fn ask<T: DeserializeOwned>(&self, place: &str) -> Result<T, Unusable> {
        let asked = request(Method::GET, &endpoint(place)?);
        let (status, body) = self.send(asked).await?;
        read(status, &body)
    }

    async fn send(&self, request: Request) -> Result<(StatusCode, Bytes), Unusable> {
        let answer = self.http.send(request).await;
        let answer = answer.map_err(|error| Unusable(format!("it did not answer: {error}")))?;
        Ok((answer.status, answer.body))
    }
}

/// The address is the operator's own. Nothing that follows from these answers is worth a redirect, which could lead
/// anywhere.
fn request(method: Method, url: &Url) -> Request {
    let mut request = Request::new(method, url.as_str(), Trust::Operator);
    request.limits.total = TIMEOUT;
    request.limits.redirects_max = 0;
    request.limits.body_bytes_max = ANSWER_BYTES_MAX;
    request
}

/// Whether secrets may go to this address: over TLS, or on this machine.
pub fn is_address(text: &str) -> bool {
    parsed(text).is_some()
}

fn parsed(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let here = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    let safe = url.scheme() == "https" || (url.scheme() == "http" && here);
    // Whoever is named in an address would be sent along.
    let plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    Some(url).filter(|_| safe && plain)
}

fn endpoint(text: &str) -> Result<Url, Unusable> {
    let unsafe_place = || Unusable(format!("its address {text} does not begin with https://"));
    parsed(text).ok_or_else(unsafe_place)
}

/// Why the provider cannot be used. It is for the log; nobody outside learns more than that it is so.
struct Unusable(String);

impl From<Unusable> for Error {
    fn from(Unusable(why): Unusable) -> Self {
        tracing::error!(why, "the identity provider cannot be used");
        let message =
            "The identity provider cannot be used at the moment; the server's log says why";
        Error::Unavailable(message.to_owned())
    }
}

/// RFC 6749 wants both parts encoded before they are joined by a colon.
fn form_encoded(text: &str) -> String {
    let encoded = Url::parse_with_params("form:", [("", text)]);
    let encoded = encoded.ok().and_then(|url| url.query().map(str::to_owned));
    encoded
        .unwrap_or_default()
        .trim_start_matches('=')
        .to_owned()
}

fn read<T: DeserializeOwned>(status: StatusCode, body: &[u8]) -> Result<T, Unusable> {
    let value = serde_json::from_slice(body).ok();
    let senseless = || Unusable(format!("its answer with status {status} makes no sense"));
    value.filter(|_| status.is_success()).ok_or_else(senseless)
}

#[cfg(test)]
mod tests;
