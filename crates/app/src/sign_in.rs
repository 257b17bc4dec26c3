//! Signing in to upstream servers: a person goes to the server's authorization server and comes back with a code; what
//! it is worth stays here, sealed. One token for all, or everybody's own.

mod pending;
mod tokens;

pub(crate) use tokens::Tokens;

use crate::App;
use crate::audit::act;
use crate::error::{Error, Result};
use crate::servers::ServerView;
use crate::time;
use catalog::caller::{Caller, Scope};
use catalog::mcp_file::{Auth, Grant, Holder, ServerConfig};
use catalog::tool::SYSTEM_USER;
use fetch::Url;
use mcp::upstream::State;
use oauth::{Ours, Returned, Wish};
use pending::{LIFE_MS, Waiting};
use serde::Serialize;
use serde_json::json;
use store::server_tokens::ServerTokenRow;
use utoipa::ToSchema;
use uuid::Uuid;

/// Where a browser goes to sign in.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignInBegun {
    pub authorize_url: String,
    /// How long that may take.
    pub expires_in_seconds: i64,
}

/// Whether a server is shown a token; never the token.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignInView {
    /// Whose token it is: `server` (one for all) or `user` (everybody's own; then the rest is about yours).
    #[serde(rename = "for")]
    pub holder: &'static str,
    /// authorization_code or client_credentials.
    pub grant: &'static str,
    pub signed_in: bool,
    /// Who gave the token.
    pub issuer: Option<String>,
    pub scopes: Vec<String>,
    pub expires_at: Option<String>,
    /// Whether it is renewed without anybody signing in again.
    pub can_refresh: bool,
    /// Scopes that the server last asked for and the token does not have: sign in again to give them.
    pub scopes_missing: Vec<String>,
    /// How many have signed in where everybody has their own, for those who may operate servers.
    pub people: Option<usize>,
}

/// What a browser, or the command line in its place, came back with.
#[derive(Debug, Default)]
pub struct SignInAnswer {
    /// The end of the address that it came back to, which tells which server and authorization server it belongs to.
    pub place: String,
    pub state: String,
    pub code: Option<String>,
    pub iss: Option<String>,
    pub error: Option<String>,
}

impl App {
    /// Begins a sign-in. The browser comes back below `redirect_uri`, and below `document_url` we say who we are: each
    /// server has a place of its own there.
    pub async fn begin_sign_in(
        &self,
        caller: &Caller,
        name: &str,
        redirect_uri: &str,
        document_url: Option<String>,
    ) -> Result<SignInBegun> {
        let config = &self.server_config(name)?;
        let auth = signs_in(config)?;
        let holder = holder(caller, auth)?;
        let tokens = &self.tokens;
        let busy =
            |_| Error::Unavailable("Too many people are signing in at the moment".to_owned());
        let _turn = tokens.turns.try_acquire().map_err(busy)?;
        let credential = tokens.credential(config, holder);
        // Who has no token yet may be asked for the same as whoever reads its lists.
        let wanted = credential.as_ref().and_then(|it| it.wanted());
        let blank = || tokens.credential(config, Uuid::nil());
        let wanted = wanted.or_else(|| blank().and_then(|it| it.wanted()));
        let credential = credential.ok_or_else(|| not_oauth(name))?;
        let granted = credential.grant().map(|grant| grant.scopes);
        let is_unknown = credential
            .failure()
            .is_some_and(|it| it.is_unknown_client());
        let begun = tokens
            .client_for(config)
            .begin(&Wish {
                spec: &credential.spec,
                challenge: &wanted.unwrap_or_default(),
                granted: &granted.unwrap_or_default(),
                ours: &|place| Ours {
                    redirect_uri: format!("{redirect_uri}/{place}"),
                    document_url: document_url.as_ref().map(|url| format!("{url}/{place}")),
                },
                known: &|issuer, redirect| {
                    let known = tokens.registered(name, issuer, redirect);
                    known.filter(|_| !is_unknown)
                },
                keeper: &self.replicas.named(""),
            })
            .await
            .map_err(|error| failed(name, &error))?;
        let now = self.clock.now();
        let waiting = Waiting {
            user: caller.user,
            server: name.to_owned(),
            holder,
            pending: begun.pending,
            is_new_client: begun.is_new_client,
            begun_at: now,
        };
        tokens.begun.add(waiting, now)?;
        Ok(SignInBegun {
            authorize_url: begun.authorize_url,
            expires_in_seconds: LIFE_MS / 1000,
        })
    }

    /// Ends a sign-in that this caller has begun, and connects with what it came to.
    pub async fn finish_sign_in(
        &self,
        caller: &Caller,
        answer: &SignInAnswer,
    ) -> Result<ServerView> {
        let tokens = &self.tokens;
        let waiting = tokens
            .begun
            .take(&answer.state, caller.user, self.clock.now())?;
        let name = waiting.server.as_str();
        let config = self.server_config(name)?;
        // Rights, and the server itself, may be others by now.
        if holder(caller, signs_in(&config)?)? != waiting.holder {
            return Err(Error::conflict(format!(
                "MCP server '{name}' has changed since; begin again"
            )));
        }
        let returned = Returned {
            place: &answer.place,
            state: &answer.state,
            code: answer.code.as_deref(),
            iss: answer.iss.as_deref(),
            error: answer.error.as_deref(),
        };
        let redirect = waiting.pending.redirect_uri.as_str();
        let client = tokens.client_for(&config);
        let grant = client.finish(&waiting.pending, &returned).await;
        if grant.as_ref().is_err_and(oauth::Error::is_unknown_client) {
            let issuer = waiting.pending.issuer();
            tokens.drop_client(name, issuer, redirect).await;
        }
        let grant = grant.map_err(|error| failed(name, &error))?;
        if config.url() != Some(&grant.server_url) {
            return Err(Error::conflict(format!(
                "MCP server '{name}' is at another address now; begin again"
            )));
        }
        let after = json!({"for": self.user_name(waiting.holder), "issuer": grant.issuer, "scopes": grant.scopes});
        let done = act(
            self.clock.now(),
            caller,
            "server.sign_in",
            target(name),
            None,
            Some(after),
        );
        let lasts = Url::parse(redirect).is_ok_and(|url| !oauth::is_loopback(&url));
        let client =
            (waiting.is_new_client && lasts).then_some((&waiting.pending.client, redirect));
        let whose = (name.to_owned(), waiting.holder);
        tokens.store(&whose, &grant, client, done).await?;
        if let Some(credential) = tokens.credential(&config, waiting.holder) {
            credential.set(grant);
        }
        if let Some(server) = self.upstreams.get(name) {
            server.forget_user(waiting.holder);
            // Where everybody has their own, the connection for the lists is somebody else's unless it waits for one.
            if waiting.holder == SYSTEM_USER || server.status().state == State::AuthRequired {
                server.reconnected().await;
            }
        }
        self.get_server(caller, name)
    }

    /// Forgets the token of a server: everybody's, or the caller's own.
    pub async fn sign_out(&self, caller: &Caller, name: &str) -> Result<()> {
        let row = self.ending(caller, name)?;
        let holder = row.user_id;
        let before = json!({"for": self.user_name(holder), "issuer": row.issuer});
        let now = self.clock.now();
        let done = act(
            now,
            caller,
            "server.sign_out",
            target(name),
            Some(before),
            None,
        );
        self.tokens.remove(&row, done).await?;
        if let Some(server) = self.upstreams.get(name) {
            server.forget_user(holder);
            // The connection for the lists may have been theirs.
            server.reconnected().await;
        }
        Ok(())
    }

    /// The sign-in that this caller wants to end: what counts now or, where the server's `auth` has changed since, what
    /// is left of before.
    fn ending(&self, caller: &Caller, name: &str) -> Result<ServerTokenRow> {
        let config = self.server_config(name);
        let auth = config.as_ref().ok().and_then(|it| it.auth.as_ref());
        let is_for_all = auth.is_some_and(|auth| auth.holder == Holder::Server);
        let own = self.tokens.stored(name, caller.user);
        let shared = self.tokens.stored(name, SYSTEM_USER);
        let may_operate = caller.scopes.allow(Scope::Operate);
        let mine = shared.clone().filter(|_| may_operate);
        let found = match is_for_all {
            true => mine.or(own),
            false => own.or(mine),
        };
        if let Some(row) = found {
            return Ok(row);
        }
        if shared.is_some() {
            return Err(not_theirs());
        }
        holder(caller, signs_in(&config?)?)?;
        Err(Error::conflict(format!(
            "Nobody has signed in to MCP server '{name}'"
        )))
    }

    /// Ends what somebody who leaves has signed in to.
    pub(crate) fn forget_sign_ins(&self, user: Uuid) {
        self.tokens.begun.forget(user);
        for row in self.tokens.of_user(user) {
            self.tokens.forget(&row);
            if let Some(server) = self.upstreams.get(&row.server) {
                server.forget_user(user);
                server.reconnect();
            }
        }
    }

    /// Another server was signed in to or out of, or has renewed a token: what waits for that goes on here as well.
    pub(crate) async fn follow_sign_ins(&self) -> Result<()> {
        let changed = {
            let _one_at_a_time = self.vault.changes.lock().await;
            self.tokens.read_again().await?
        };
        for (row, is_there) in changed {
            let Some(server) = self.upstreams.get(&row.server) else {
                continue;
            };
            if !is_there || server.status().state == State::AuthRequired {
                server.forget_user(row.user_id);
                server.reconnect();
            }
        }
        Ok(())
    }

    pub(crate) fn sign_in_view(
        &self,
        config: &ServerConfig,
        caller: &Caller,
    ) -> Option<SignInView> {
        let auth = config.auth.as_ref()?;
        let holder = match auth.holder {
            Holder::Server => SYSTEM_USER,
            Holder::User => caller.user,
        };
        let credential = self.tokens.credential(config, holder);
        let grant = credential.as_ref().and_then(|it| it.grant());
        let wanted = credential.and_then(|it| it.wanted()).unwrap_or_default();
        let has = |scope: &String| grant.as_ref().is_some_and(|it| it.scopes.contains(scope));
        let missing = wanted.scopes.iter().filter(|scope| !has(scope)).cloned();
        let may_operate = caller.scopes.allow(Scope::Operate);
        let people = || self.tokens.people(&config.name);
        Some(SignInView {
            holder: auth.holder.as_str(),
            grant: auth.grant.as_str(),
            signed_in: grant.is_some(),
            scopes_missing: missing.filter(|_| grant.is_some()).collect(),
            issuer: grant.as_ref().map(|grant| grant.issuer.clone()),
            expires_at: grant
                .as_ref()
                .and_then(|it| it.expires_at)
                .map(time::rfc3339),
            can_refresh: auth.grant == Grant::ClientCredentials
                || grant.as_ref().is_some_and(|it| it.refresh_token.is_some()),
            scopes: grant.map(|grant| grant.scopes).unwrap_or_default(),
            people: (may_operate && auth.holder == Holder::User).then(people),
        })
    }
}

fn target(name: &str) -> String {
    format!("server:{name}")
}

fn signs_in(config: &ServerConfig) -> Result<&Auth> {
    let auth = config
        .auth
        .as_ref()
        .ok_or_else(|| not_oauth(&config.name))?;
    match auth.grant {
        Grant::AuthorizationCode => Ok(auth),
        Grant::ClientCredentials => Err(Error::conflict(format!(
            "Nobody signs in to MCP server '{}': its \"auth\" has a client_id and a secret of its own",
            config.name
        ))),
    }
}

fn not_oauth(name: &str) -> Error {
    Error::conflict(format!(
        "Nobody signs in to MCP server '{name}'; if it takes OAuth, give it \"auth\": \"oauth\""
    ))
}

/// Whose token this caller may change: their own, or everybody's.
fn holder(caller: &Caller, auth: &Auth) -> Result<Uuid> {
    match auth.holder {
        Holder::User => Ok(caller.user),
        Holder::Server if caller.scopes.allow(Scope::Operate) => Ok(SYSTEM_USER),
        Holder::Server => Err(not_theirs()),
    }
}

fn not_theirs() -> Error {
    Error::Forbidden(
        "This server is shown one token for everybody; only those who may operate servers change it (scope 'operate')".to_owned(),
    )
}

/// What went wrong, for whoever signs in. None of it is secret.
fn failed(name: &str, error: &oauth::Error) -> Error {
    let message = format!("MCP server '{name}' cannot be signed in to: {error}");
    match error {
        oauth::Error::Unreachable(_) => Error::Unavailable(message),
        oauth::Error::Mismatch(_) => Error::invalid(format!("{message}. Begin again")),
        _ => Error::conflict(message),
    }
}
