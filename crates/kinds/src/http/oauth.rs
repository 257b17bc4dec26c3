//! Tokens for client credentials: fetched once for all calls that may share them, kept until shortly before they
//! expire, and never two fetches of the same one at a time.

use super::auth::{Client, basic};
use super::encode::percent;
use super::headers::header_value;
use catalog::secret::Secret;
use catalog::tool::Shelf;
use executor::{Code, Failure, Run};
use fetch::{Answer, Body, Fetcher, Limits, Method, Request, Trust, header};
use serde::Deserialize;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Mutex as Turn;

/// Kept at a time; beyond that those that have expired make room, and then all.
const KEPT_MAX: usize = 1_000;

/// How long a token is good that does not say so itself.
const UNSAID: Duration = Duration::from_secs(300);

/// A token is not used in its last moments: it would expire on the way.
const EARLY: Duration = Duration::from_secs(30);

const ANSWER_BYTES_MAX: usize = 256 << 10;

/// Whom a token is for. The secret is in it only as a fingerprint that no other process could make.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    token_url: String,
    id: String,
    wishes: Vec<(String, String)>,
    fingerprint: u64,
    /// A token that an operator's address gave is not for those who may not ask there.
    is_operators: bool,
}

#[derive(Default)]
pub(super) struct Tokens {
    kept: Mutex<HashMap<Key, Slot>>,
    fingerprints: RandomState,
}

/// The turn to fetch it, with what was fetched.
type Slot = Arc<Turn<Option<Token>>>;

#[derive(Clone)]
struct Token {
    secret: Secret,
    expires: Instant,
}

#[derive(Deserialize)]
struct Granted {
    access_token: String,
    #[serde(default)]
    token_type: Option<String>,
    #[serde(default)]
    expires_in: Option<f64>,
}

/// Why there is none, as RFC 6749 has it.
#[derive(Deserialize)]
struct Refused {
    error: String,
}

impl Tokens {
    /// A token that is still good. `spent` is one that was just refused, whatever it said of itself.
    pub(super) async fn token(
        &self,
        run: &Run,
        fetcher: &Fetcher,
        client: &Client,
        spent: Option<&Secret>,
    ) -> Result<Secret, Failure> {
        let slot = self.slot(run, client);
        let mut kept = slot.lock().await;
        let is_good = |token: &&Token| {
            token.expires > Instant::now()
                && spent.is_none_or(|spent| spent.expose() != token.secret.expose())
        };
        if let Some(token) = kept.as_ref().filter(is_good) {
            run.hide(&token.secret);
            return Ok(token.secret.clone());
        }
        let token = fetch_token(run, fetcher, client).await?;
        run.hide(&token.secret);
        Ok(kept.insert(token).secret.clone())
    }

    fn slot(&self, run: &Run, client: &Client) -> Slot {
        let key = Key {
            token_url: client.token_url.clone(),
            id: client.id.expose().to_owned(),
            wishes: client.wishes.clone(),
            fingerprint: self.fingerprints.hash_one(client.secret.expose()),
            is_operators: trust(run) == Trust::Operator,
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_MAX && !kept.contains_key(&key) {
            let is_used = |slot: &Slot| match slot.try_lock() {
                Ok(token) => token
                    .as_ref()
                    .is_some_and(|token| token.expires > Instant::now()),
                Err(_) => true,
            };
            kept.retain(|_, slot| is_used(slot));
            if kept.len() >= KEPT_MAX {
                kept.clear();
            }
        }
        Arc::clone(kept.entry(key).or_default())
    }
}

/// Who chose the addresses of a tool: those in tools.json are the operator's.
pub(super) fn trust(run: &Run) -> Trust {
    match run.entry.tool.shelf {
        Shelf::File | Shelf::Builtin | Shelf::Server => Trust::Operator,
        Shelf::Database => Trust::Guarded,
    }
}

async fn fetch_token(run: &Run, fetcher: &Fetcher, client: &Client) -> Result<Token, Failure> {
    let mut form = vec![("grant_type".to_owned(), "client_credentials".to_owned())];
    form.extend(client.wishes.iter().cloned());
    let mut request = Request::new(Method::POST, client.token_url.clone(), trust(run));
    if client.in_form {
        form.push(("client_id".to_owned(), client.id.expose().to_owned()));
        form.push((
            "client_secret".to_owned(),
            client.secret.expose().to_owned(),
        ));
    } else {
        // RFC 6749 wants both parts encoded before they are joined.
        let encoded = |secret: &Secret| Secret::new(percent(secret.expose()));
        let text = basic(run, &encoded(&client.id), &encoded(&client.secret));
        let value = header_value(&text).ok_or_else(|| failed("its credentials cannot be sent"))?;
        request.headers.insert(header::AUTHORIZATION, value);
    }
    if let Some(value) = header_value("application/json") {
        request.headers.insert(header::ACCEPT, value);
    }
    request.body = Body::Form(form);
    request.limits = Limits {
        // A secret that was meant for one address follows no redirect to another.
        redirects_max: 0,
        body_bytes_max: ANSWER_BYTES_MAX,
        total: run.deadline.saturating_duration_since(Instant::now()),
        ..Limits::default()
    };
    let answer = fetcher
        .send(request)
        .await
        .map_err(|error| super::unsent(&error))?;
    read(&answer)
}

fn read(answer: &Answer) -> Result<Token, Failure> {
    let status = answer.status.as_u16();
    if !answer.status.is_success() {
        let refused = serde_json::from_slice::<Refused>(&answer.body).ok();
        // The word is one of a short list; anything longer is not that word.
        let word = refused
            .map(|refused| refused.error)
            .filter(|word| word.len() <= 40);
        return Err(failed(&match word {
            Some(word) => format!("it answered {status} ({word})"),
            None => format!("it answered {status}"),
        }));
    }
    let granted = serde_json::from_slice::<Granted>(&answer.body);
    let granted = granted.map_err(|_| failed("its answer holds no access_token"))?;
    let kind = granted.token_type.as_deref().unwrap_or("bearer");
    if !kind.eq_ignore_ascii_case("bearer") {
        return Err(failed("its token is none that a bearer may use"));
    }
    let said = granted.expires_in.filter(|seconds| *seconds > 0.0);
    let lasts = said.map_or(UNSAID, |seconds| {
        Duration::from_secs_f64(seconds.min(86_400.0))
    });
    Ok(Token {
        secret: Secret::new(granted.access_token),
        expires: Instant::now() + lasts.saturating_sub(EARLY.min(lasts / 10)),
    })
}

fn failed(why: &str) -> Failure {
    Failure::new(
        Code::UpstreamError,
        format!("Upstream error: the token endpoint gave no token: {why}"),
    )
}
