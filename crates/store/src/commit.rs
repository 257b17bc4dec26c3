//! Every write of the registry, and the one transaction that makes a list of them happen or not at all.

use crate::agents::{AgentRow, PUT_AGENT};
use crate::audit::{APPEND, Act, LAST, chained};
use crate::confirmed::{
    BOUND_CONFIRMED, CONFIRMED_MAX, ConfirmedRow, ConfirmedWrite, PUT_CONFIRMED,
    REMOVE_ALL_CONFIRMED, REMOVE_CONFIRMED,
};
use crate::db::{Db, each};
use crate::doubt::commit;
use crate::erasure::{ErasureRow, erase};
use crate::feed::{next_revision, tell};
use crate::keys::{KeyRow, PUT_KEY, REVOKE_KEYS};
use crate::limits::{DELETE_LIMIT, LimitRow, PUT_LIMIT};
use crate::policies::{ADD_POLICY, PolicyRow};
use crate::secrets::{DELETE_SECRET, PUT_SECRET, REWRAP_SECRET, SECRET_OWNER, SecretRow};
use crate::server_tokens::{
    DELETE_SERVER_CLIENT, DELETE_SERVER_TOKEN, PUT_SERVER_CLIENT, PUT_SERVER_TOKEN,
    RENEW_SERVER_TOKEN, ServerClientRow, ServerTokenRow,
};
use crate::servers::{
    FORGET_LISTS, FORGET_PINS, PUT_LISTS, PUT_PIN, PUT_SERVER, REMOVE_SERVER, ServerWrite,
};
use crate::sessions::{
    ADD_LINK, END_LINKS, END_SESSION, END_SESSIONS, FORGET_LINKS, FORGET_SESSIONS, LinkRow,
    OPEN_SESSION, SessionRow,
};
use crate::sources::{PUT_SOURCE, REMOVE_SOURCE, SourceRow};
use crate::tools::{PUT_TOOL, ToolRow, VERSIONS_AT_ONCE, VersionRow, add_versions};
use crate::toolsets::{PUT_TOOLSET, ToolsetRow};
use crate::unless::{Unless, check_conditions};
use crate::users::{PUT_USER, UserRow};
use catalog::tool::Millis;
use sqlx::AssertSqlSafe;
use uuid::Uuid;

/// What it means when a statement touches no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoRow {
    /// Somebody else was faster: nothing of the list happens.
    Conflict,
    /// There was nothing to do.
    Fine,
    /// There must be none: where there is one, somebody else was faster, too.
    Expected,
}

impl NoRow {
    fn is_refused(self, touches_none: bool) -> bool {
        match self {
            NoRow::Conflict => touches_none,
            NoRow::Fine => false,
            NoRow::Expected => !touches_none,
        }
    }
}

/// A statement with its parameters, in order, that touches a row unless somebody else was faster.
macro_rules! must {
    ($sql:expr $(, $value:expr)*) => { (NoRow::Conflict, sqlx::query($sql)$(.bind($value))*) };
}

/// One that touches however many rows there are.
macro_rules! may {
    ($sql:expr $(, $value:expr)*) => { (NoRow::Fine, sqlx::query($sql)$(.bind($value))*) };
}

/// One that adds all these versions.
macro_rules! add_all {
    ($versions:expr) => {{
        let mut query = sqlx::query(AssertSqlSafe(add_versions($versions.len())));
        for row in $versions {
            query = query
                .bind(row.tool_id)
                .bind(row.version)
                .bind(&row.name)
                .bind(&row.shelf)
                .bind(&row.action)
                .bind(&row.definition)
                .bind(&row.hash)
                .bind(&row.changed_by)
                .bind(row.changed_at);
        }
        (NoRow::Conflict, query)
    }};
}

/// Whole rows.
macro_rules! put_tool {
    ($row:expr) => {
        must!(
            PUT_TOOL,
            $row.id,
            &$row.name,
            $row.owner_id,
            &$row.definition,
            $row.version,
            $row.created_at,
            $row.updated_at,
            $row.deleted_at
        )
    };
}

macro_rules! put_user {
    ($row:expr) => {
        must!(
            PUT_USER,
            $row.id,
            &$row.name,
            &$row.role,
            &$row.password_hash,
            &$row.oidc_subject,
            $row.created_at,
            $row.updated_at,
            $row.deleted_at
        )
    };
}

macro_rules! put_key {
    ($row:expr) => {
        must!(
            PUT_KEY,
            $row.id,
            &$row.name,
            $row.user_id,
            &$row.secret_hash,
            &$row.scopes,
            $row.created_at,
            $row.expires_at,
            $row.revoked_at,
            $row.last_used_at
        )
    };
}

macro_rules! put_secret {
    ($row:expr) => {
        must!(
            PUT_SECRET,
            $row.id,
            $row.owner_id,
            &$row.name,
            $row.tool_id,
            &$row.sealed,
            &$row.key_id,
            &$row.last4,
            $row.created_at,
            $row.updated_at
        )
    };
}

macro_rules! put_agent {
    ($row:expr) => {
        must!(
            PUT_AGENT,
            $row.id,
            $row.owner_id,
            &$row.name,
            &$row.description,
            &$row.model_provider,
            &$row.model_name,
            &$row.base_url,
            &$row.system_prompt,
            &$row.config,
            &$row.tools,
            &$row.memory_config,
            $row.is_active,
            $row.is_public,
            $row.version,
            $row.created_at,
            $row.updated_at,
            $row.deleted_at
        )
    };
}

macro_rules! put_server_client {
    ($row:expr) => {
        must!(
            PUT_SERVER_CLIENT,
            &$row.server,
            &$row.issuer,
            &$row.redirect_uri,
            $row.secret_id,
            $row.created_at
        )
    };
}

/// What has to be done about a server.
macro_rules! of_server {
    ($write:expr) => {
        match $write {
            ServerWrite::Put(row) => vec![must!(
                PUT_SERVER,
                row.id,
                row.owner_id,
                &row.name,
                &row.definition,
                row.is_trusted,
                row.version,
                row.created_at,
                row.updated_at
            )],
            ServerWrite::Remove { id, version } => vec![must!(REMOVE_SERVER, id, version)],
            ServerWrite::Lists(row) => vec![must!(
                PUT_LISTS,
                &row.server,
                &row.address,
                &row.known,
                row.updated_at
            )],
            ServerWrite::Pin(row) => vec![must!(
                PUT_PIN,
                &row.server,
                &row.tool,
                &row.hash,
                &row.definition,
                row.pinned_at
            )],
            ServerWrite::Forget(name) => vec![may!(FORGET_LISTS, name), may!(FORGET_PINS, name)],
        }
    };
}

/// What has to be done about confirmed requests.
macro_rules! of_confirmed {
    ($write:expr) => {
        match $write {
            ConfirmedWrite::Put(row) => vec![
                must!(
                    PUT_CONFIRMED,
                    row.tool_id,
                    ConfirmedRow::hash(&row.request),
                    &row.request,
                    row.user_id,
                    row.at
                ),
                may!(BOUND_CONFIRMED, row.tool_id, CONFIRMED_MAX),
            ],
            ConfirmedWrite::Remove { tool_id, request } => vec![must!(
                REMOVE_CONFIRMED,
                tool_id,
                ConfirmedRow::hash(request)
            )],
            ConfirmedWrite::RemoveAll(tool_id) => vec![may!(REMOVE_ALL_CONFIRMED, tool_id)],
        }
    };
}

/// One that stores a sign-in to an upstream server.
macro_rules! put_server_token {
    ($row:expr) => {
        must!(
            PUT_SERVER_TOKEN,
            &$row.server,
            $row.user_id,
            $row.secret_id,
            &$row.url,
            &$row.issuer,
            &$row.scopes,
            $row.expires_at,
            $row.can_refresh,
            $row.created_at,
            $row.updated_at
        )
    };
}

/// One that stores what its renewal changes.
macro_rules! renew_server_token {
    ($row:expr) => {
        must!(
            RENEW_SERVER_TOKEN,
            &$row.scopes,
            $row.expires_at,
            $row.can_refresh,
            $row.updated_at,
            &$row.server,
            $row.user_id,
            $row.secret_id
        )
    };
}

/// One write: a statement or a few.
#[derive(Debug, Clone)]
pub enum Write {
    Tool(ToolRow),
    Version(VersionRow),
    User(UserRow),
    Key(KeyRow),
    /// Revokes every key of a user.
    RevokeKeys {
        user: Uuid,
        at: Millis,
    },
    Agent(AgentRow),
    Toolset(ToolsetRow),
    Server(ServerWrite),
    Source(SourceRow),
    NoSource {
        id: Uuid,
        version: i64,
    },
    Policy(PolicyRow),
    Confirmed(ConfirmedWrite),
    Limit(LimitRow),
    NoLimit {
        target_type: String,
        target_id: Uuid,
    },
    /// Opens a session; those that are over are forgotten on the way.
    Session(SessionRow),
    /// Ends the session with this hash, if it is there.
    EndSession {
        hash: Vec<u8>,
        /// Whose it is, where that is known.
        user: Option<Uuid>,
    },
    /// Ends the sessions and open login links of a user, however many there are.
    EndSessions(Uuid),
    /// Adds a login link; those that are over are forgotten on the way.
    Link(LinkRow),
    Secret(SecretRow),
    /// The same secret under another sealing key; `before` is the envelope it had.
    Rewrapped {
        row: SecretRow,
        before: String,
    },
    /// It goes to somebody else; what it holds stays as it is, and one that is gone stays gone.
    SecretOwner {
        id: Uuid,
        owner: Uuid,
        at: Millis,
    },
    NoSecret(Uuid),
    /// Values that nothing refers to any more; no matter who was faster.
    NoSecrets(Vec<Uuid>),
    /// Somebody has signed in to an upstream server.
    ServerToken(ServerTokenRow),
    /// The token of a sign-in is another now. Not where they have signed out meanwhile.
    ServerTokenRenewed(ServerTokenRow),
    NoServerToken {
        server: String,
        user: Uuid,
    },
    ServerClient(ServerClientRow),
    /// The registration that this secret holds.
    NoServerClient(Uuid),
    /// Nothing of the list happens where other servers have changed this meanwhile.
    Unless(Unless),
    /// Erases somebody from every table but the audit log; refused while anything is theirs.
    Erase(ErasureRow),
    /// What was done, for the audit log; it belongs to the same list as what it tells of.
    Act(Act),
}

impl Write {
    fn version(&self) -> Option<&VersionRow> {
        match self {
            Write::Version(row) => Some(row),
            _ => None,
        }
    }
}

const CHANGED_ELSEWHERE: &str =
    "It was changed by another server at the same time; fetch it again and repeat the change";

impl Db {
    /// All writes or none. `and_then` runs before the commit: where it fails, nothing has happened here.
    pub async fn commit<E: From<crate::Error>>(
        &self,
        writes: &[Write],
        and_then: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        match writes.is_empty() {
            true => and_then(),
            false => self.transact(writes, and_then).await,
        }
    }

    async fn transact<E: From<crate::Error>>(
        &self,
        writes: &[Write],
        and_then: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let begin = self.begin();
        let lock = self.audit_lock();
        let changes = self.changes_of(writes);
        each!(self, pool => {
            let mut connection = pool.acquire().await.map_err(crate::Error::from)?;
            let done = async {
                let mut tx = sqlx::Connection::begin_with(&mut *connection, begin).await.map_err(crate::Error::from)?;
                let revision = next_revision!(tx, changes);
                check_conditions!(tx, revision, self.conditions(writes));
                let mut last = None;
                let mut rest = writes;
                while let Some(write) = rest.first() {
                    let versions: Vec<&VersionRow> = rest.iter().map_while(Write::version).take(VERSIONS_AT_ONCE).collect();
                    rest = &rest[versions.len().max(1)..];
                    let statements = match write {
                        Write::Tool(row) => vec![put_tool!(row)],
                        Write::Version(_) => vec![add_all!(versions)],
                        Write::User(row) => vec![put_user!(row)],
                        Write::Key(row) => vec![put_key!(row)],
                        Write::RevokeKeys { user, at } => vec![may!(REVOKE_KEYS, at, user)],
                        Write::Agent(row) => vec![put_agent!(row)],
                        Write::Toolset(row) => vec![must!(PUT_TOOLSET, row.id, row.owner_id, &row.name, &row.definition,
                            row.version, row.created_at, row.updated_at, row.deleted_at)],
                        Write::Server(write) => of_server!(write),
                        Write::Source(row) => vec![must!(PUT_SOURCE, row.id, &row.name, &row.definition, row.version,
                            row.created_at, row.updated_at)],
                        Write::NoSource { id, version } => vec![must!(REMOVE_SOURCE, id, version)],
                        Write::Policy(row) => vec![must!(ADD_POLICY, row.version, &row.document, row.created_at)],
                        Write::Confirmed(write) => of_confirmed!(write),
                        Write::Limit(row) => vec![must!(PUT_LIMIT, &row.target_type, row.target_id, &row.target_name,
                            row.max_count, row.updated_at)],
                        Write::NoLimit { target_type, target_id } => vec![must!(DELETE_LIMIT, target_type, target_id)],
                        Write::Session(row) => vec![may!(FORGET_SESSIONS, row.created_at),
                            must!(OPEN_SESSION, &row.hash, row.user_id, row.created_at, row.expires_at)],
                        Write::EndSession { hash, .. } => vec![may!(END_SESSION, hash)],
                        Write::EndSessions(user) => vec![may!(END_SESSIONS, user), may!(END_LINKS, user)],
                        Write::Link(row) => vec![may!(FORGET_LINKS, row.created_at),
                            must!(ADD_LINK, &row.hash, row.user_id, row.expires_at)],
                        Write::Secret(row) => vec![put_secret!(row)],
                        Write::Rewrapped { row, before } => vec![must!(REWRAP_SECRET, &row.sealed, &row.key_id, row.id,
                            before)],
                        Write::SecretOwner { id, owner, at } => vec![may!(SECRET_OWNER, owner, at, id)],
                        Write::NoSecret(id) => vec![must!(DELETE_SECRET, id)],
                        Write::NoSecrets(ids) => ids.iter().map(|id| may!(DELETE_SECRET, id)).collect(),
                        Write::ServerToken(row) => vec![put_server_token!(row)],
                        Write::ServerTokenRenewed(row) => vec![renew_server_token!(row)],
                        Write::NoServerToken { server, user } => vec![may!(DELETE_SERVER_TOKEN, server, user)],
                        Write::ServerClient(row) => vec![put_server_client!(row)],
                        Write::NoServerClient(id) => vec![may!(DELETE_SERVER_CLIENT, id)],
                        Write::Unless(_) => Vec::new(),
                        Write::Erase(row) => erase!(row),
                        Write::Act(act) => {
                            if last.is_none() {
                                sqlx::query(lock).execute(&mut *tx).await.map_err(crate::Error::from)?;
                                last = Some(sqlx::query_as(LAST).fetch_optional(&mut *tx).await.map_err(crate::Error::from)?);
                            }
                            let (seq, hash) = chained(last.take().flatten(), act);
                            last = Some(Some((seq, hash.clone())));
                            vec![must!(APPEND, seq, act.at, act.actor_id, &act.actor, &act.key, &act.transport,
                                &act.action, &act.target, &act.before, &act.after, hash)]
                        }
                    };
                    for (no_row, statement) in statements {
                        let done = statement.execute(&mut *tx).await.map_err(crate::Error::from)?;
                        if no_row.is_refused(done.rows_affected() == 0) {
                            return Err(crate::Error::Taken(CHANGED_ELSEWHERE.to_owned()).into());
                        }
                    }
                }
                tell!(tx, revision, changes);
                and_then()?;
                commit!(self, tx)
            }.await;
            if done.is_err() {
                // A full disk makes SQLite roll back by itself, which the pool does not learn: its next user would
                // find a transaction that is not there.
                connection.close_on_drop();
            }
            done
        })
    }

    /// One after the other: each row of the audit log needs the hash of the one before it. SQLite has one writer.
    pub(crate) fn audit_lock(&self) -> &'static str {
        match self {
            Db::Sqlite(..) => "SELECT 1",
            Db::Postgres(..) => "LOCK TABLE audit IN EXCLUSIVE MODE",
        }
    }

    /// `commit` where nothing else has to happen before it.
    pub async fn write(&self, writes: &[Write]) -> crate::Result<()> {
        self.commit(writes, || Ok(())).await
    }
}
