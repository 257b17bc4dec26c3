//! Every write of the registry, and the one transaction that makes a list of them happen or not at all.

use crate::agents::{AgentRow, PUT_AGENT};
use crate::audit::{APPEND, Act, AuditRow, LAST};
use crate::db::{Db, each};
use crate::keys::{KeyRow, PUT_KEY};
use crate::limits::{DELETE_LIMIT, LimitRow, PUT_LIMIT};
use crate::policies::{ADD_POLICY, PolicyRow};
use crate::secrets::{DELETE_SECRET, PUT_SECRET, REWRAP_SECRET, SecretRow};
use crate::sessions::END_SESSIONS;
use crate::tools::{ADD_VERSION, PUT_TOOL, ToolRow, VersionRow};
use crate::users::{PUT_USER, UserRow};
use uuid::Uuid;

/// A query with its parameters, in order.
macro_rules! bind {
    ($sql:expr $(, $value:expr)*) => { sqlx::query($sql)$(.bind($value))* };
}

/// One write. What it means when it touches no row: somebody else was faster.
#[derive(Debug, Clone)]
pub enum Write {
    Tool(ToolRow),
    Version(VersionRow),
    User(UserRow),
    Key(KeyRow),
    Agent(AgentRow),
    Policy(PolicyRow),
    Limit(LimitRow),
    NoLimit {
        target_type: String,
        target_id: Uuid,
    },
    /// Ends the sessions and open login links of a user, however many there are.
    EndSessions(Uuid),
    Secret(SecretRow),
    /// The same secret under another sealing key; `before` is the envelope it had.
    Rewrapped {
        row: SecretRow,
        before: String,
    },
    NoSecret(Uuid),
    /// Values that nothing refers to any more; no matter who was faster.
    NoSecrets(Vec<Uuid>),
    /// What was done, for the audit log; it belongs to the same list as what it tells of.
    Act(Act),
}

impl Db {
    /// All writes or none. `and_then` runs before the commit: where it fails, nothing has happened here.
    pub async fn commit<E: From<crate::Error>>(
        &self,
        writes: &[Write],
        and_then: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let begin = self.begin();
        // One after the other: each row of the audit log needs the hash of the one before it. SQLite has one writer.
        let lock = match self {
            Db::Sqlite(_) => "SELECT 1",
            Db::Postgres(_) => "LOCK TABLE audit IN EXCLUSIVE MODE",
        };
        each!(self, pool => {
            let mut connection = pool.acquire().await.map_err(crate::Error::from)?;
            let done = async {
                let mut tx = sqlx::Connection::begin_with(&mut *connection, begin).await.map_err(crate::Error::from)?;
                let mut last = None;
                for write in writes {
                    if let Write::EndSessions(user) = write {
                        for sql in END_SESSIONS {
                            sqlx::query(sql).bind(user).execute(&mut *tx).await.map_err(crate::Error::from)?;
                        }
                        continue;
                    }
                    if let Write::NoSecrets(ids) = write {
                        for id in ids {
                            sqlx::query(DELETE_SECRET).bind(id).execute(&mut *tx).await.map_err(crate::Error::from)?;
                        }
                        continue;
                    }
                    let query = match write {
                        Write::EndSessions(_) | Write::NoSecrets(_) => continue,
                        Write::Tool(row) => bind!(PUT_TOOL, row.id, &row.name, row.owner_id, &row.definition,
                            row.version, row.created_at, row.updated_at, row.deleted_at),
                        Write::Version(row) => bind!(ADD_VERSION, row.tool_id, row.version, &row.name, &row.shelf,
                            &row.action, &row.definition, &row.hash, &row.changed_by, row.changed_at),
                        Write::User(row) => bind!(PUT_USER, row.id, &row.name, &row.role, &row.password_hash,
                            &row.oidc_subject, row.created_at, row.updated_at, row.deleted_at),
                        Write::Key(row) => bind!(PUT_KEY, row.id, &row.name, row.user_id, &row.secret_hash,
                            &row.scopes, row.created_at, row.expires_at, row.revoked_at, row.last_used_at),
                        Write::Agent(row) => bind!(PUT_AGENT, row.id, row.owner_id, &row.name, &row.description,
                            &row.model_provider, &row.model_name, &row.base_url, &row.system_prompt, &row.config,
                            &row.tools, &row.memory_config, row.is_active, row.is_public, row.version,
                            row.created_at, row.updated_at, row.deleted_at),
                        Write::Policy(row) => bind!(ADD_POLICY, row.version, &row.document, row.created_at),
                        Write::Limit(row) => bind!(PUT_LIMIT, &row.target_type, row.target_id, &row.target_name,
                            row.max_count, row.updated_at),
                        Write::NoLimit { target_type, target_id } => bind!(DELETE_LIMIT, target_type, target_id),
                        Write::Secret(row) => bind!(PUT_SECRET, row.id, row.owner_id, &row.name, row.tool_id,
                            &row.sealed, &row.key_id, &row.last4, row.created_at, row.updated_at),
                        Write::Rewrapped { row, before } => bind!(REWRAP_SECRET, &row.sealed, &row.key_id, row.id,
                            before),
                        Write::NoSecret(id) => bind!(DELETE_SECRET, id),
                        Write::Act(act) => {
                            if last.is_none() {
                                sqlx::query(lock).execute(&mut *tx).await.map_err(crate::Error::from)?;
                                last = Some(sqlx::query_as(LAST).fetch_optional(&mut *tx).await.map_err(crate::Error::from)?);
                            }
                            let row = AuditRow::after(last.take().flatten(), act);
                            last = Some(Some((row.seq, row.hash.clone())));
                            bind!(APPEND, row.seq, row.at, row.actor_id, row.actor, row.key, row.transport,
                                row.action, row.target, row.before, row.after, row.hash)
                        }
                    };
                    let done = query.execute(&mut *tx).await.map_err(crate::Error::from)?;
                    if done.rows_affected() == 0 {
                        let why = "It was changed by another server at the same time; fetch it again and repeat the change";
                        return Err(crate::Error::Taken(why.to_owned()).into());
                    }
                }
                and_then()?;
                tx.commit().await.map_err(crate::Error::from)?;
                Ok(())
            }.await;
            if done.is_err() {
                // A full disk makes SQLite roll back by itself, which the pool does not learn: its next user would
                // find a transaction that is not there.
                connection.close_on_drop();
            }
            done
        })
    }

    /// `commit` where nothing else has to happen before it.
    pub async fn write(&self, writes: &[Write]) -> crate::Result<()> {
        self.commit(writes, || Ok(())).await
    }
}
