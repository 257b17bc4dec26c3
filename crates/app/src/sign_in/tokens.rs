//! The tokens that upstream servers are shown: live in memory, sealed in the database, renewed by one at a time.

mod clients;
mod renewal;

use super::pending::Begun;
use crate::vault::{Sealable, Vault};
use catalog::clock::Clock;
use catalog::mcp_file::{Auth, Grant as GrantKind, Holder, ServerConfig};
use catalog::secret::Secret;
use catalog::tool::SYSTEM_USER;
use mcp::upstream::Credentials;
use oauth::{Beginning, Client, Credential, Grant, Keeper, Keeping, Registered, Spec};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use store::server_tokens::{ServerClientRow, ServerTokenRow};
use store::{Db, Write};
use tokio::sync::Semaphore;
use uuid::Uuid;

/// Sign-ins that may ask authorization servers at a time.
const TURNS_MAX: usize = 16;

/// Whose token a server is shown.
type Whose = (String, Uuid);

pub(crate) struct Tokens {
    store: Db,
    vault: Arc<Vault>,
    pub(super) clock: Clock,
    client: Client,
    pub(super) begun: Begun,
    pub(super) turns: Semaphore,
    renewals: Arc<Semaphore>,
    known: Mutex<Known>,
    me: Weak<Tokens>,
}

#[derive(Default)]
struct Known {
    /// In the order in which people signed in.
    rows: Vec<ServerTokenRow>,
    clients: Vec<ServerClientRow>,
    live: HashMap<Whose, Live>,
}

/// A credential, and what it was made from.
struct Live {
    url: String,
    auth: Auth,
    guarded: bool,
    credential: Arc<Credential>,
}

/// Where the renewed token of one sign-in goes.
struct Shelf {
    tokens: Weak<Tokens>,
    whose: Whose,
}

impl Keeper for Shelf {
    fn keep<'a>(&'a self, old: Option<&'a Grant>, grant: &'a Grant) -> Keeping<'a> {
        Box::pin(async move {
            let tokens = self.tokens.upgrade().ok_or("the server stops")?;
            tokens.keep(&self.whose, old, grant).await
        })
    }

    fn begin(&self) -> Beginning<'_> {
        Box::pin(async move {
            let tokens = self.tokens.upgrade().ok_or("the server stops")?;
            tokens.turn(&self.whose).await
        })
    }
}

impl Credentials for Tokens {
    fn of(&self, server: &ServerConfig, user: Option<Uuid>) -> Option<Arc<Credential>> {
        let auth = server.auth.as_ref()?;
        let holder = match (auth.holder, user) {
            (Holder::Server, _) => SYSTEM_USER,
            (Holder::User, Some(user)) => user,
            // Its lists are read for whoever signed in first; nobody is `nil`.
            (Holder::User, None) => self.first(server).unwrap_or_default(),
        };
        self.credential(server, holder)
    }
}

impl Tokens {
    pub(crate) async fn read(
        store: &Db,
        vault: &Arc<Vault>,
        clock: &Clock,
        kinds: &kinds::Options,
    ) -> Result<Arc<Self>, store::Error> {
        let known = Known {
            rows: store.server_tokens().await?,
            clients: store.server_clients().await?,
            live: HashMap::new(),
        };
        let fetcher = fetch::Fetcher::new(fetch::Options {
            allow: kinds.http_allow.clone(),
            ..fetch::Options::default()
        });
        Ok(Arc::new_cyclic(|me| Tokens {
            store: store.clone(),
            vault: Arc::clone(vault),
            clock: clock.clone(),
            client: Client::new(fetcher, clock.clone()),
            begun: Begun::default(),
            turns: Semaphore::new(TURNS_MAX),
            renewals: Arc::new(Semaphore::new(renewal::AT_A_TIME)),
            known: Mutex::new(known),
            me: Weak::clone(me),
        }))
    }

    /// Another server has changed some of it: whose, as it is now or as it was before it went. What is shown to servers that
    /// it did not touch stays.
    pub(crate) async fn read_again(&self) -> Result<Vec<(ServerTokenRow, bool)>, store::Error> {
        let rows = self.store.server_tokens().await?;
        let clients = self.store.server_clients().await?;
        let mut known = self.known();
        let of = |rows: &[ServerTokenRow], whose: &Whose| {
            rows.iter().find(|row| is_of(row, whose)).cloned()
        };
        let before = std::mem::replace(&mut known.rows, rows);
        let now = known.rows.clone();
        known
            .live
            .retain(|whose, _| of(&before, whose) == of(&now, whose));
        known.clients = clients;
        let changed = now.iter().filter(|row| !before.contains(row));
        let is_there = |row: &ServerTokenRow| {
            let whose = (row.server.clone(), row.user_id);
            now.iter().any(|it| is_of(it, &whose))
        };
        let gone = before.iter().filter(|row| !is_there(row));
        let changed = changed.map(|row| (row.clone(), true));
        let gone = gone.map(|row| (row.clone(), false));
        Ok(changed.chain(gone).collect())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who asks for its tokens.
    pub(super) fn client_for(&self, server: &ServerConfig) -> Client {
        match server.guarded {
            true => self.client.guarded(),
            false => self.client.clone(),
        }
    }

    /// What a server is shown for this holder, with or without a token.
    pub(super) fn credential(
        &self,
        server: &ServerConfig,
        holder: Uuid,
    ) -> Option<Arc<Credential>> {
        let (auth, url) = (server.auth.as_ref()?, server.url()?);
        let whose = (server.name.clone(), holder);
        let mut known = self.known();
        if let Some(live) = known.live.get(&whose)
            && live.url == url
            && live.auth == *auth
            && live.guarded == server.guarded
        {
            return Some(Arc::clone(&live.credential));
        }
        let is_machine = auth.grant == GrantKind::ClientCredentials;
        let spec = Spec {
            name: server.name.clone(),
            server_url: url.to_owned(),
            issuer: auth.issuer.clone(),
            client_id: auth.client_id.clone(),
            client_secret: auth.client_secret.clone().map(Secret::new),
            scopes: auth.scopes.clone(),
            is_machine,
        };
        let row = known.rows.iter().find(|row| is_of(row, &whose));
        let grant = row.filter(|_| !is_machine).and_then(|row| self.open(row));
        // As another client, or by another issuer, nobody has signed in.
        let is_meant = |meant: Option<&str>, own: &str| meant.is_none_or(|it| it == own);
        let grant = grant.filter(|grant| {
            is_meant(auth.client_id.as_deref(), &grant.client.client_id)
                && is_meant(auth.issuer.as_deref(), &grant.issuer)
        });
        let keeper: Option<Arc<dyn Keeper>> = match is_machine {
            true => None,
            false => Some(Arc::new(Shelf {
                tokens: Weak::clone(&self.me),
                whose: whose.clone(),
            })),
        };
        let credential = Credential::new(self.client_for(server), spec, keeper, grant);
        let credential = Arc::new(credential);
        let live = Live {
            url: url.to_owned(),
            auth: auth.clone(),
            guarded: server.guarded,
            credential: Arc::clone(&credential),
        };
        known.live.insert(whose, live);
        Some(credential)
    }

    /// Whoever signed in first of those whose token may still be good.
    fn first(&self, server: &ServerConfig) -> Option<Uuid> {
        let all = self.hopeful(server);
        let works = |user: &&Uuid| {
            let credential = self.credential(server, **user);
            credential.is_some_and(|it| it.header().is_some() && !it.is_spent())
        };
        // Where nobody's does, the first one's may by now.
        all.iter().find(works).or(all.first()).copied()
    }

    /// Who has signed in, as far as what is stored of it tells whether that is still good.
    fn hopeful(&self, server: &ServerConfig) -> Vec<Uuid> {
        let (known, now) = (self.known(), self.clock.now());
        let own = |row: &&ServerTokenRow| {
            row.server == server.name && row.user_id != SYSTEM_USER && is_at(row, server)
        };
        let good =
            |row: &&ServerTokenRow| row.can_refresh || row.expires_at.is_none_or(|at| at > now);
        let all = known.rows.iter().filter(own).filter(good);
        all.map(|row| row.user_id).collect()
    }

    /// What is stored of a sign-in.
    pub(super) fn stored(&self, server: &str, holder: Uuid) -> Option<ServerTokenRow> {
        let whose = (server.to_owned(), holder);
        let known = self.known();
        known.rows.iter().find(|row| is_of(row, &whose)).cloned()
    }

    /// How many people have signed in to a server.
    pub(super) fn people(&self, server: &str) -> usize {
        let known = self.known();
        let own = |row: &&ServerTokenRow| row.server == server && row.user_id != SYSTEM_USER;
        known.rows.iter().filter(own).count()
    }

    fn open(&self, row: &ServerTokenRow) -> Option<Grant> {
        let grant = self.opened(row.secret_id, Grant::from_secret);
        if grant.is_none() {
            tracing::error!(server = row.server, user = %row.user_id, "a stored token does not open; sign in again");
        }
        grant
    }

    fn opened<T>(&self, id: Uuid, read: impl Fn(&Secret) -> oauth::Result<T>) -> Option<T> {
        let row = self.vault.row(id)?;
        read(&self.vault.open(&row).ok()?).ok()
    }

    /// A renewed token of a sign-in that is there.
    async fn keep(&self, whose: &Whose, old: Option<&Grant>, grant: &Grant) -> Result<(), String> {
        let _one_at_a_time = self.vault.changes.lock().await;
        let row = self
            .stored(&whose.0, whose.1)
            .ok_or("they have signed out")?;
        // Whoever has signed in anew meanwhile must not lose that. What is older could not be stored the last time.
        let is_newer = |kept: &Grant| {
            old.is_none_or(|old| {
                kept.access_token.expose() != old.access_token.expose()
                    && kept.obtained_at >= old.obtained_at
            })
        };
        if self.open(&row).as_ref().is_some_and(is_newer) {
            return Ok(());
        }
        let row = renewed(row, grant, self.clock.now());
        let secret = self.sealed(
            row.secret_id,
            row.user_id,
            row.created_at,
            grant.to_secret(),
        );
        let secret = secret.map_err(|error| error.to_string())?;
        let writes = [
            Write::ServerTokenRenewed(row.clone()),
            Write::Secret(secret.clone()),
        ];
        let written = self.store.write(&writes).await;
        written.map_err(|error| error.to_string())?;
        self.vault.put(&[secret]);
        self.put(row);
        Ok(())
    }

    /// Stores a new sign-in, and with it the registration that was made for it.
    pub(super) async fn store(
        &self,
        whose: &Whose,
        grant: &Grant,
        new_client: Option<(&Registered, &str)>,
        act: Write,
    ) -> crate::Result<()> {
        let _one_at_a_time = self.vault.changes.lock().await;
        let now = self.clock.now();
        let old = self.stored(&whose.0, whose.1);
        let row = old.unwrap_or_else(|| ServerTokenRow {
            server: whose.0.clone(),
            user_id: whose.1,
            secret_id: Uuid::new_v4(),
            url: String::new(),
            issuer: String::new(),
            scopes: String::new(),
            expires_at: None,
            can_refresh: false,
            created_at: now,
            updated_at: now,
        });
        let row = ServerTokenRow {
            url: place(&grant.server_url).to_owned(),
            issuer: grant.issuer.clone(),
            ..renewed(row, grant, now)
        };
        let mut secrets = vec![self.sealed(
            row.secret_id,
            row.user_id,
            row.created_at,
            grant.to_secret(),
        )?];
        let mut client = None;
        if let Some((registered, redirect_uri)) = new_client {
            let made = self.client_row(&whose.0, &grant.issuer, redirect_uri);
            secrets.push(self.sealed(made.secret_id, SYSTEM_USER, now, registered.to_secret())?);
            client = Some(made);
        }
        let mut writes: Vec<Write> = secrets.iter().cloned().map(Write::Secret).collect();
        writes.push(Write::ServerToken(row.clone()));
        writes.extend(client.iter().cloned().map(Write::ServerClient));
        writes.push(act);
        self.store.write(&writes).await?;
        self.vault.put(&secrets);
        self.put_client(client);
        self.put(row);
        Ok(())
    }

    /// Removes a sign-in.
    pub(super) async fn remove(&self, row: &ServerTokenRow, act: Write) -> crate::Result<()> {
        let _one_at_a_time = self.vault.changes.lock().await;
        let mut writes = self.gone(std::slice::from_ref(row));
        writes.push(act);
        self.store.write(&writes).await?;
        self.forget(row);
        Ok(())
    }

    /// The writes that take sign-ins away, and with the last one to a server how we are registered for it.
    pub(crate) fn gone(&self, rows: &[ServerTokenRow]) -> Vec<Write> {
        let mut writes: Vec<Write> = rows.iter().flat_map(gone).collect();
        for server in rows.iter().map(|row| &row.server) {
            if self.of_server(server).iter().all(|it| rows.contains(it)) {
                writes.extend(self.clients_gone(server));
            }
        }
        writes
    }

    /// The writes that take away all that is known under the name of a server that is removed.
    pub(crate) fn gone_with(&self, server: &str) -> Vec<Write> {
        let mut writes = self.clients_gone(server);
        writes.extend(self.of_server(server).iter().flat_map(gone));
        writes
    }

    /// Takes in that a server is not there any more.
    pub(crate) fn forget_server(&self, server: &str) {
        for row in self.of_server(server) {
            self.forget(&row);
        }
        self.forget_clients(server);
    }

    /// Every server that somebody has signed in to, or that we are registered for.
    pub(crate) fn servers(&self) -> BTreeSet<String> {
        let known = self.known();
        let rows = known.rows.iter().map(|row| row.server.clone());
        let clients = known.clients.iter().map(|client| client.server.clone());
        rows.chain(clients).collect()
    }

    fn of_server(&self, server: &str) -> Vec<ServerTokenRow> {
        let known = self.known();
        let own = known.rows.iter().filter(|row| row.server == server);
        own.cloned().collect()
    }

    /// What somebody who leaves has signed in to.
    pub(crate) fn of_user(&self, user: Uuid) -> Vec<ServerTokenRow> {
        let known = self.known();
        let own = known.rows.iter().filter(|row| row.user_id == user);
        own.cloned().collect()
    }

    /// Takes in that a sign-in is not there any more.
    pub(crate) fn forget(&self, row: &ServerTokenRow) {
        self.vault.remove(&[row.secret_id]);
        let whose = (row.server.clone(), row.user_id);
        let is_last = {
            let mut known = self.known();
            known.rows.retain(|old| !is_of(old, &whose));
            if let Some(live) = known.live.remove(&whose) {
                live.credential.clear();
            }
            !known.rows.iter().any(|it| it.server == row.server)
        };
        if is_last {
            self.forget_clients(&row.server);
        }
    }

    fn put(&self, row: ServerTokenRow) {
        let whose = (row.server.clone(), row.user_id);
        let mut known = self.known();
        match known.rows.iter_mut().find(|old| is_of(old, &whose)) {
            Some(old) => *old = row,
            None => known.rows.push(row),
        }
    }

    fn sealed(
        &self,
        id: Uuid,
        owner: Uuid,
        created_at: catalog::tool::Millis,
        text: oauth::Result<Secret>,
    ) -> crate::Result<store::secrets::SecretRow> {
        let text = text.map_err(|error| crate::Error::Internal(error.to_string()))?;
        let what = Sealable {
            id,
            owner,
            name: None,
            tool: None,
            created_at,
            now: self.clock.now(),
        };
        let mut row = self.vault.seal(&what, text.expose())?;
        row.last4 = None;
        Ok(row)
    }
}

/// The writes that take a sign-in away.
fn gone(row: &ServerTokenRow) -> Vec<Write> {
    let token = Write::NoServerToken {
        server: row.server.clone(),
        user: row.user_id,
    };
    vec![token, Write::NoSecrets(vec![row.secret_id])]
}

/// An address without what may be a key in it. Of the whole one the sealed grant knows.
fn place(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

fn is_at(row: &ServerTokenRow, server: &ServerConfig) -> bool {
    server.url().is_some_and(|url| place(url) == row.url)
}

fn is_of(row: &ServerTokenRow, whose: &Whose) -> bool {
    row.server == whose.0 && row.user_id == whose.1
}

fn renewed(row: ServerTokenRow, grant: &Grant, now: catalog::tool::Millis) -> ServerTokenRow {
    ServerTokenRow {
        scopes: grant.scopes.join(" "),
        expires_at: grant.expires_at,
        can_refresh: grant.refresh_token.is_some(),
        updated_at: now,
        ..row
    }
}
