//! What is shown to one server, for everybody or for one user: the current token, taken without a lock, and how it is
//! renewed, by one at a time.

use crate::Result;
use crate::challenge::Challenge;
use crate::client::Client;
use crate::error::Error;
use crate::grant::Grant;
use crate::registration::Registered;
use crate::sign_in::add;
use crate::token::{Asking, Given};
use arc_swap::ArcSwapOption;
use catalog::secret::Secret;
use catalog::tool::Millis;
use fetch::HeaderValue;
use std::any::Any;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// After a failure nobody asks again for so long: those who wait must not ask one after the other.
const PAUSE_MS: Millis = 5_000;

pub type Keeping<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

pub type Beginning<'a> = Pin<Box<dyn Future<Output = Result<Turn, String>> + Send + 'a>>;

/// Nobody else renews the same grant, anywhere, while this is there.
pub struct Turn {
    /// What is kept now: somebody else may have renewed it since.
    pub kept: Option<Grant>,
    /// What keeps the others waiting.
    pub alone: Box<dyn Any + Send>,
}

/// Where a grant is kept. Behind a trait because the conformance client keeps it nowhere.
pub trait Keeper: Send + Sync {
    /// Keeps what `old` was renewed to, unless something else than `old` is kept by now: somebody has signed in anew.
    fn keep<'a>(&'a self, old: Option<&'a Grant>, grant: &'a Grant) -> Keeping<'a>;

    /// Waits for its turn among all who may renew what is kept here. By itself nobody else may.
    fn begin(&self) -> Beginning<'_> {
        Box::pin(async {
            Ok(Turn {
                kept: None,
                alone: Box::new(()),
            })
        })
    }
}

/// What the operator says about the tokens of a server.
#[derive(Clone)]
pub struct Spec {
    /// What the server is called, for the log: its address may hold a key.
    pub name: String,
    pub server_url: String,
    /// Who gives its tokens; without it, whoever the server names.
    pub issuer: Option<String>,
    pub client_id: Option<String>,
    pub client_secret: Option<Secret>,
    pub scopes: Vec<String>,
    /// Whether we ask in our own name, and nobody signs in.
    pub is_machine: bool,
}

impl Spec {
    /// Whoever the server names must be the one who was meant: a secret is shown to nobody else. Letter by letter, for
    /// an issuer that differs in a stroke is another.
    pub(crate) fn check_issuer(&self, named: &str) -> Result<()> {
        match &self.issuer {
            Some(issuer) if issuer != named => Err(Error::Unusable(format!(
                "the server names another authorization server than \"issuer\" of its \"auth\", which is {issuer}; nothing was sent to it. If it has moved, change \"issuer\""
            ))),
            None if self.client_secret.is_some() => Err(Error::unusable(
                "a \"client_secret\" is shown only to the \"issuer\" that stands beside it in \"auth\"; add it",
            )),
            _ => Ok(()),
        }
    }
}

pub struct Credential {
    pub spec: Spec,
    client: Client,
    keeper: Option<Arc<dyn Keeper>>,
    current: ArcSwapOption<Held>,
    /// One renews, the others wait for it.
    turn: tokio::sync::Mutex<()>,
    seen: Mutex<Seen>,
}

/// A grant, and what goes over the wire of it.
struct Held {
    header: HeaderValue,
    renew_at: Option<Millis>,
    grant: Grant,
}

/// What the server said, and what came of the last try.
#[derive(Default)]
struct Seen {
    wanted: Option<Challenge>,
    failed: Option<(Error, Millis)>,
    /// The server did not take a token that was new.
    refused: bool,
}

impl Credential {
    pub fn new(
        client: Client,
        spec: Spec,
        keeper: Option<Arc<dyn Keeper>>,
        grant: Option<Grant>,
    ) -> Self {
        // A token goes to the server that it was given for, and to no other that has its name now.
        let grant = grant.filter(|grant| grant.server_url == spec.server_url);
        let held = grant.and_then(Held::new).map(Arc::new);
        Credential {
            spec,
            client,
            keeper,
            current: ArcSwapOption::new(held),
            turn: tokio::sync::Mutex::default(),
            seen: Mutex::default(),
        }
    }

    /// The header to send, if there is one.
    pub fn header(&self) -> Option<HeaderValue> {
        Some(self.current.load().as_ref()?.header.clone())
    }

    /// Whether the token is about to end and another one can be had.
    pub fn is_stale(&self) -> bool {
        let held = self.current.load();
        held.as_ref().is_some_and(|held| {
            held.renew_at
                .is_some_and(|at| at <= self.client.clock.now())
                && self.can_renew(held)
        })
    }

    pub fn grant(&self) -> Option<Grant> {
        Some(self.current.load().as_ref()?.grant.clone())
    }

    /// What the server asked for when it last refused.
    pub fn wanted(&self) -> Option<Challenge> {
        locked(&self.seen).wanted.clone()
    }

    /// Why the last try to have another token came to nothing.
    pub fn failure(&self) -> Option<Error> {
        let seen = locked(&self.seen);
        seen.failed.as_ref().map(|(error, _)| error.clone())
    }

    /// Whether this is of no use before somebody signs in again.
    pub fn is_spent(&self) -> bool {
        let seen = locked(&self.seen);
        seen.refused || seen.failed.as_ref().is_some_and(|(why, _)| is_final(why))
    }

    /// The server did not take the token although it is new.
    pub fn refuse(&self) {
        locked(&self.seen).refused = true;
    }

    /// Somebody has signed in.
    pub fn set(&self, grant: Grant) {
        let mut seen = locked(&self.seen);
        *seen = Seen::default();
        self.current.store(Held::new(grant).map(Arc::new));
    }

    /// Somebody has signed out.
    pub fn clear(&self) {
        let _seen = locked(&self.seen);
        self.current.store(None);
    }

    /// Renews a token that is about to end. While it is good, nobody waits for a renewal that is under way.
    pub async fn freshen(self: &Arc<Self>) {
        if !self.is_stale() {
            return;
        }
        let held = self.current.load_full();
        let ends = held.as_ref().and_then(|held| held.grant.expires_at);
        let is_good = ends.is_some_and(|at| at > self.client.clock.now());
        if is_good && self.turn.try_lock().is_err() {
            return;
        }
        // Whether the old one still does is for the server to say.
        let _ = self.renew(held.map(|held| held.header.clone()), None).await;
    }

    /// Another token than the one that was shown, because it is about to end or was refused; otherwise why there is
    /// none. It goes on if whoever asked does not wait: a refresh token that was used and whose answer was not heard is
    /// lost.
    pub async fn renew(
        self: &Arc<Self>,
        shown: Option<HeaderValue>,
        refused: Option<Challenge>,
    ) -> Result<()> {
        let me = Arc::clone(self);
        let work = tokio::spawn(async move { me.renew_in_turn(shown, refused).await });
        let gone = |_| Err(Error::Unreachable("this program stops".to_owned()));
        work.await.unwrap_or_else(gone)
    }

    async fn renew_in_turn(
        &self,
        shown: Option<HeaderValue>,
        refused: Option<Challenge>,
    ) -> Result<()> {
        let wants_scope = refused.as_ref().is_some_and(Challenge::wants_more_scope);
        if let Some(refused) = refused {
            self.want(refused);
        }
        let _turn = self.turn.lock().await;
        let held = self.current.load_full();
        if held.as_ref().map(|held| &held.header) != shown.as_ref() {
            return held.map(drop).ok_or(Error::NotSignedIn);
        }
        if let Some(error) = self.pointless(self.client.clock.now()) {
            return Err(error);
        }
        // Kept until what comes of it is stored: whoever waits for it looks there.
        let mut alone = None;
        let renewed = match (&held, self.spec.is_machine) {
            (held, true) => self.ask_for_ourselves(held.as_deref(), wants_scope).await,
            (Some(held), false) if !wants_scope => self.refresh_alone(held, &mut alone).await,
            // Whoever signed in has to allow more.
            (Some(_), false) => return Err(Error::refused("insufficient_scope")),
            (None, false) => return Err(Error::NotSignedIn),
        };
        match renewed {
            Ok(grant) => self.take(held, grant).await,
            Err(error) => {
                tracing::warn!(server = self.spec.name, %error, "a token could not be renewed");
                let mut seen = locked(&self.seen);
                // What failed says nothing about a sign-in that came meanwhile.
                if is_same(self.current.load().as_ref(), held.as_ref()) {
                    // After the answer: those who wait must not ask one after the other, however long it took.
                    seen.failed = Some((error.clone(), self.client.clock.now()));
                }
                Err(error)
            }
        }
    }

    /// Notes what the server wants. Of a person more scope is wanted until they give it, whatever else is refused.
    fn want(&self, refused: Challenge) {
        let mut seen = locked(&self.seen);
        let wants_scope = seen
            .wanted
            .as_ref()
            .is_some_and(Challenge::wants_more_scope);
        if self.spec.is_machine || refused.wants_more_scope() || !wants_scope {
            seen.wanted = Some(refused);
        }
    }

    /// Puts a renewed token in the place of the one that it was renewed from, and of no other.
    async fn take(&self, old: Option<Arc<Held>>, grant: Grant) -> Result<()> {
        let unusable = || Error::unusable("the token endpoint gave no token that can be sent");
        let held = Arc::new(Held::new(grant).ok_or_else(unusable)?);
        {
            let mut seen = locked(&self.seen);
            let current = self.current.load_full();
            if !is_same(current.as_ref(), old.as_ref()) {
                return current.map(drop).ok_or(Error::NotSignedIn);
            }
            seen.failed = None;
            let lacks = |wanted: &Challenge| {
                let has = |scope| held.grant.scopes.contains(scope);
                wanted.wants_more_scope() && !wanted.scopes.iter().all(has)
            };
            let is_open = seen.wanted.as_ref().is_some_and(lacks) && !self.spec.is_machine;
            if !is_open {
                seen.wanted = None;
            }
            self.current.store(Some(Arc::clone(&held)));
        }
        if let Some(keeper) = &self.keeper
            && let Err(error) = keeper
                .keep(old.as_ref().map(|old| &old.grant), &held.grant)
                .await
        {
            tracing::error!(
                server = self.spec.name,
                error,
                "a renewed token could not be stored; after a restart somebody has to sign in again"
            );
        }
        Ok(())
    }

    /// Why there is no point in asking. A refresh token that was refused is of no use any more; whatever else went
    /// wrong may pass.
    fn pointless(&self, now: Millis) -> Option<Error> {
        let seen = locked(&self.seen);
        let (error, at) = seen.failed.as_ref()?;
        let is_over = is_final(error) && !self.spec.is_machine;
        (is_over || (0..PAUSE_MS).contains(&(now - at))).then(|| error.clone())
    }

    fn can_renew(&self, held: &Held) -> bool {
        self.spec.is_machine || held.grant.refresh_token.is_some()
    }

    /// The same where somebody else may be renewing it: a refresh token that is used twice counts as stolen with many.
    async fn refresh_alone(
        &self,
        held: &Held,
        alone: &mut Option<Box<dyn Any + Send>>,
    ) -> Result<Grant> {
        if let Some(keeper) = &self.keeper {
            let turn = keeper.begin().await.map_err(Error::Unreachable)?;
            *alone = Some(turn.alone);
            let is_newer = |kept: &Grant| {
                kept.server_url == held.grant.server_url
                    && kept.access_token.expose() != held.grant.access_token.expose()
                    && kept.obtained_at >= held.grant.obtained_at
            };
            if let Some(kept) = turn.kept.filter(is_newer) {
                return Ok(kept);
            }
        }
        self.refresh(held).await
    }

    async fn refresh(&self, held: &Held) -> Result<Grant> {
        let old = &held.grant;
        let token = old.refresh_token.as_ref().ok_or(Error::NotSignedIn)?;
        let what = [
            ("grant_type", "refresh_token"),
            ("refresh_token", token.expose()),
        ];
        let asking = Asking {
            server_url: &old.server_url,
            token_endpoint: &old.token_endpoint,
            client: &old.client,
            resource: &old.resource,
        };
        let asked_at = self.client.clock.now();
        let given = self.client.token(&asking, &what).await?;
        let mut grant = old.clone();
        // One that gives no new refresh token keeps the old one good.
        grant.refresh_token = given.refresh_token.clone().or(grant.refresh_token);
        Ok(renewed(grant, given, asked_at))
    }

    /// A token in our own name. Where the server wants more scope than the last one had, it is asked for once.
    async fn ask_for_ourselves(&self, held: Option<&Held>, wants_scope: bool) -> Result<Grant> {
        let challenge = self.wanted().unwrap_or_default();
        let spec = &self.spec;
        let issuer = spec.issuer.as_deref();
        let found = self.client.find(&spec.server_url, &challenge, issuer);
        let found = found.await?;
        spec.check_issuer(&found.metadata.issuer)?;
        let id = spec.client_id.as_deref().ok_or(Error::NotSignedIn)?;
        let client = Registered::by_hand(id, spec.client_secret.as_ref(), &found.metadata)?;
        // More scope that was refused once is not asked for with every token.
        let is_plain = wants_scope || !challenge.wants_more_scope();
        let mut scopes = match spec.scopes.is_empty() {
            true if challenge.scopes.is_empty() || !is_plain => found.scopes.clone(),
            true => challenge.scopes.clone(),
            false => spec.scopes.clone(),
        };
        if let Some(held) = held.filter(|_| wants_scope) {
            add(&mut scopes, &challenge.scopes);
            add(&mut scopes, &held.grant.scopes);
            if scopes.iter().all(|scope| held.grant.scopes.contains(scope)) {
                return Err(Error::refused("insufficient_scope"));
            }
        }
        let joined = scopes.join(" ");
        let mut what = vec![("grant_type", "client_credentials")];
        if !joined.is_empty() {
            what.push(("scope", &joined));
        }
        let asking = Asking {
            server_url: &spec.server_url,
            token_endpoint: &found.metadata.token_endpoint,
            client: &client,
            resource: &found.resource,
        };
        let asked_at = self.client.clock.now();
        let given = self.client.token(&asking, &what).await?;
        let grant = Grant {
            server_url: spec.server_url.clone(),
            resource: found.resource.clone(),
            issuer: found.metadata.issuer.clone(),
            token_endpoint: found.metadata.token_endpoint.clone(),
            client,
            access_token: given.access_token.clone(),
            refresh_token: None,
            scopes,
            obtained_at: asked_at,
            expires_at: None,
        };
        Ok(renewed(grant, given, asked_at))
    }
}

fn is_same(one: Option<&Arc<Held>>, other: Option<&Arc<Held>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    }
}

/// Whether only somebody who signs in can mend it.
fn is_final(error: &Error) -> bool {
    matches!(error, Error::Refused(_) | Error::NotSignedIn)
}

fn renewed(mut grant: Grant, given: Given, asked_at: Millis) -> Grant {
    grant.access_token = given.access_token;
    grant.scopes = given.scopes.unwrap_or(grant.scopes);
    grant.obtained_at = asked_at;
    grant.expires_at = given.expires_at;
    grant
}

impl Held {
    /// None where the token cannot be sent, which is known before it is stored.
    fn new(grant: Grant) -> Option<Self> {
        let text = format!("Bearer {}", grant.access_token.expose());
        let mut header = HeaderValue::try_from(text).ok()?;
        header.set_sensitive(true);
        Some(Held {
            header,
            renew_at: grant.renew_at(),
            grant,
        })
    }
}

fn locked(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}
