//! What is left of a person whose data is erased (ADR 27). One list says of every table what happens to it then; a test fails
//! where a table is missing.

use crate::db::{Db, Result, each};
use catalog::tool::Millis;
use sqlx::AssertSqlSafe;
use uuid::Uuid;

/// By what a table knows somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// A column with their id.
    Id(&'static str),
    /// A column with their id as text.
    IdText(&'static str),
    /// A column with their name.
    Name(&'static str),
}

/// What becomes of a table's rows about somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// They are removed.
    Removed(Whose),
    /// They go with the rows of another table that they refer to.
    RemovedWith(&'static str),
    /// They stay under the pseudonym, which is `$2` in what is set.
    Renamed(Whose, &'static str),
    /// Somebody else has them by then: an erasure is refused while any are theirs.
    HandedOver(Whose),
    /// They are written anew, with the hashes that follow from them (`audit/erase.rs`).
    Rewritten,
    /// There is nothing about anybody, or nothing that names them.
    Kept(&'static str),
}

/// Every table, in an order that satisfies their references. Executions are the log's own (`executions/erase.rs`).
pub const TABLES: &[(&str, Fate)] = &[
    (
        "users",
        Fate::Renamed(
            Whose::Id("id"),
            "name = $2, role = 'viewer', password_hash = NULL, oidc_subject = NULL",
        ),
    ),
    ("keys", Fate::Removed(Whose::Id("user_id"))),
    ("sessions", Fate::Removed(Whose::Id("user_id"))),
    ("login_links", Fate::Removed(Whose::Id("user_id"))),
    ("tools", Fate::HandedOver(Whose::Id("owner_id"))),
    (
        "tool_versions",
        Fate::Renamed(Whose::Name("changed_by"), "changed_by = $2"),
    ),
    (
        "tool_tests",
        Fate::Kept("how tests of tools ended, by nobody"),
    ),
    ("confirmed_requests", Fate::Removed(Whose::Id("user_id"))),
    ("runs", Fate::Removed(Whose::Id("owner_id"))),
    ("run_entries", Fate::RemovedWith("runs")),
    ("idempotency", Fate::Removed(Whose::IdText("caller"))),
    ("agents", Fate::HandedOver(Whose::Id("owner_id"))),
    ("toolsets", Fate::HandedOver(Whose::Id("owner_id"))),
    (
        "policies",
        Fate::Kept("rules name people by their id, which leads to the pseudonym"),
    ),
    ("limits", Fate::Removed(Whose::Id("target_id"))),
    ("servers", Fate::HandedOver(Whose::Id("owner_id"))),
    ("server_lists", Fate::Kept("what servers offer")),
    ("server_pins", Fate::Kept("what servers are held to")),
    ("sources", Fate::Kept("belong to the installation")),
    ("server_tokens", Fate::Removed(Whose::Id("user_id"))),
    (
        "server_clients",
        Fate::Kept("registrations of the installation"),
    ),
    ("secrets", Fate::Removed(Whose::Id("owner_id"))),
    ("audit", Fate::Rewritten),
    (
        "erasures",
        Fate::Kept("says that somebody was erased, and their name only until all servers are done"),
    ),
    ("erasure_servers", Fate::Kept("which servers are done")),
    ("replicas", Fate::Kept("servers")),
    ("revision", Fate::Kept("a number")),
    ("changes", Fate::Kept("ids of what changed, for an hour")),
    ("lease_days", Fate::Kept("counts by id, for two days")),
    ("lease_times", Fate::Kept("counts by id, for two hours")),
    ("lease_blocks", Fate::Kept("counts by id, for two days")),
    ("lease_places", Fate::Kept("counts by id, while calls run")),
    ("lease_servers", Fate::Kept("servers")),
];

/// Somebody who is erased.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct ErasureRow {
    pub user_id: Uuid,
    /// None once every server is done.
    pub name: Option<String>,
    /// What they are called from now on, wherever something of them stays.
    pub pseudonym: String,
    /// Entries of the log that began later are of somebody else who has the name now.
    pub at: Millis,
}

pub(crate) const PUT_ERASURE: &str = "INSERT INTO erasures (user_id, name, pseudonym, at) VALUES ($1, $2, $3, $4) \
    ON CONFLICT (user_id) DO UPDATE SET name = excluded.name, at = excluded.at";

impl Whose {
    fn column(self) -> &'static str {
        match self {
            Whose::Id(column) | Whose::IdText(column) | Whose::Name(column) => column,
        }
    }
}

/// A statement with whom it is about as `$1`, and the pseudonym as `$2` where it is told.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    pub(crate) whose: Whose,
    pub(crate) is_told: bool,
    /// It must touch nothing.
    pub(crate) must_be_none: bool,
}

/// What has to be done to every table, in their order; first of all it is made sure that nothing is theirs any more.
pub(crate) fn statements() -> Vec<Statement> {
    let of = |(table, fate): &(&str, Fate)| {
        let (text, whose, is_told, must_be_none) = match *fate {
            Fate::Removed(whose) => (format!("DELETE FROM {table}"), whose, false, false),
            Fate::Renamed(whose, set) => (format!("UPDATE {table} SET {set}"), whose, true, false),
            // Changes nothing, and counts.
            Fate::HandedOver(whose) => {
                let column = whose.column();
                let text = format!("UPDATE {table} SET {column} = {column}");
                (text, whose, false, true)
            }
            Fate::RemovedWith(_) | Fate::Rewritten | Fate::Kept(_) => return None,
        };
        Some(Statement {
            sql: format!("{text} WHERE {} = $1", whose.column()),
            whose,
            is_told,
            must_be_none,
        })
    };
    let mut all: Vec<Statement> = TABLES.iter().filter_map(of).collect();
    all.sort_by_key(|statement| !statement.must_be_none);
    all
}

/// The statements of an erasure, each with what it means when it touches no row.
macro_rules! erase {
    ($row:expr) => {{
        use $crate::commit::NoRow;
        use $crate::erasure::{PUT_ERASURE, Whose, statements};
        let name = $row.name.as_deref().unwrap_or_default();
        let mut all = Vec::new();
        for statement in statements() {
            let no_row = match statement.must_be_none {
                true => NoRow::Expected,
                false => NoRow::Fine,
            };
            let query = sqlx::query(sqlx::AssertSqlSafe(statement.sql));
            let query = match statement.whose {
                Whose::Id(_) => query.bind($row.user_id),
                Whose::IdText(_) => query.bind($row.user_id.to_string()),
                Whose::Name(_) => query.bind(name),
            };
            let query = match statement.is_told {
                true => query.bind(&$row.pseudonym),
                false => query,
            };
            all.push((no_row, query));
        }
        let row = sqlx::query(PUT_ERASURE).bind($row.user_id);
        let row = row.bind(&$row.name).bind(&$row.pseudonym).bind($row.at);
        all.push((NoRow::Conflict, row));
        all
    }};
}
pub(crate) use erase;

/// Erases in a transaction whoever was erased before and is there under a name again; how many. What they own stays with them
/// under the pseudonym: nobody is here to say who gets it.
macro_rules! erase_again {
    ($tx:ident, $erased:expr) => {{
        use $crate::erasure::{NAME_OF, PUT_ERASURE, Whose, statements};
        let mut again = 0;
        for row in $erased.iter() {
            let name: Option<String> = sqlx::query_scalar(NAME_OF)
                .bind(row.user_id)
                .fetch_optional(&mut *$tx)
                .await?;
            let Some(name) = name.filter(|name| *name != row.pseudonym) else {
                continue;
            };
            again += 1;
            for statement in statements().into_iter().filter(|it| !it.must_be_none) {
                let query = sqlx::query(sqlx::AssertSqlSafe(statement.sql));
                let query = match statement.whose {
                    Whose::Id(_) => query.bind(row.user_id),
                    Whose::IdText(_) => query.bind(row.user_id.to_string()),
                    Whose::Name(_) => query.bind(&name),
                };
                let query = match statement.is_told {
                    true => query.bind(&row.pseudonym),
                    false => query,
                };
                query.execute(&mut *$tx).await?;
            }
            let put = sqlx::query(PUT_ERASURE).bind(row.user_id).bind(&name);
            let put = put.bind(&row.pseudonym).bind(row.at);
            put.execute(&mut *$tx).await?;
        }
        again
    }};
}
pub(crate) use erase_again;

pub(crate) const NAME_OF: &str = "SELECT name FROM users WHERE id = $1";

pub(crate) const ERASURES: &str =
    "SELECT user_id, name, pseudonym, at FROM erasures ORDER BY at, user_id";

impl Db {
    /// Everybody who is erased, in the order of it.
    pub async fn erasures(&self) -> Result<Vec<ErasureRow>> {
        Ok(each!(self, pool => sqlx::query_as(ERASURES).fetch_all(pool).await)?)
    }

    /// How many rows of each table are about somebody, of those with any.
    pub async fn rows_about(&self, user: Uuid, name: &str) -> Result<Vec<(&'static str, i64)>> {
        let mut counts = Vec::new();
        for (table, fate) in TABLES {
            let (Fate::Removed(whose) | Fate::Renamed(whose, _) | Fate::HandedOver(whose)) = *fate
            else {
                continue;
            };
            let sql = format!("SELECT COUNT(*) FROM {table} WHERE {} = $1", whose.column());
            let count: i64 = each!(self, pool => {
                let query = sqlx::query_scalar(AssertSqlSafe(sql));
                let query = match whose {
                    Whose::Id(_) => query.bind(user),
                    Whose::IdText(_) => query.bind(user.to_string()),
                    Whose::Name(_) => query.bind(name.to_owned()),
                };
                query.fetch_one(pool).await
            })?;
            counts.push((*table, count));
        }
        counts.push(("audit", self.audit_about(user, name).await?));
        counts.retain(|(_, count)| *count > 0);
        Ok(counts)
    }

    /// This server has erased what it keeps of them.
    pub async fn erasure_done(&self, user: Uuid, node: &str) -> Result<()> {
        const SQL: &str =
            "INSERT INTO erasure_servers (user_id, node) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        each!(self, pool => sqlx::query(SQL).bind(user).bind(node).execute(pool).await.map(|_| ()))?;
        Ok(())
    }

    /// The servers that are done with it.
    pub async fn erasure_servers(&self, user: Uuid) -> Result<Vec<String>> {
        const SQL: &str = "SELECT node FROM erasure_servers WHERE user_id = $1 ORDER BY node";
        Ok(each!(self, pool => sqlx::query_scalar(SQL).bind(user).fetch_all(pool).await)?)
    }

    /// Every server is done: the name is needed no longer.
    pub async fn erasure_ended(&self, user: Uuid) -> Result<()> {
        const NAME: &str = "UPDATE erasures SET name = NULL WHERE user_id = $1";
        const SERVERS: &str = "DELETE FROM erasure_servers WHERE user_id = $1";
        for sql in [NAME, SERVERS] {
            each!(self, pool => sqlx::query(sql).bind(user).execute(pool).await.map(|_| ()))?;
        }
        Ok(())
    }

    /// What was removed is still in the free pages of the file until it is written anew.
    pub async fn erasure_vacuum(&self) -> Result<()> {
        if let Db::Sqlite(pool, _) = self {
            sqlx::query("VACUUM").execute(pool).await?;
            let rest = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)");
            rest.execute(pool).await?;
        }
        Ok(())
    }
}
