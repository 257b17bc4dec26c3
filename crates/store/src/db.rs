//! Opening the database, and the one macro that runs a query on either engine.

use crate::doubt::Doubts;
use sqlx::migrate::MigrateError;
use sqlx::postgres::{PgConnection, PgPool, PgPoolOptions};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use std::path::Path;
use std::time::Duration;

/// Which engine is open. Both speak the same SQL text with `$1` parameters.
#[derive(Debug, Clone)]
pub enum Db {
    Sqlite(SqlitePool, Doubts),
    Postgres(PgPool, Doubts),
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the database cannot be opened: {0}")]
    Open(String),
    /// `remedy` is for whoever runs the server.
    #[error("the database cannot be opened: {what}")]
    Unreachable {
        why: Why,
        what: String,
        remedy: &'static str,
    },
    /// Those are named who would not know what becomes of it.
    #[error("servers work on this database: {0}")]
    Served(String),
    #[error(
        "the database was made by a newer version of toolcrib (migration {0}); upgrade toolcrib, or restore a backup made by this version"
    )]
    Newer(i64),
    #[error("{0}")]
    Taken(String),
    /// It was decided on what another server has changed since: `Write::Unless`.
    #[error("other servers have changed the same since")]
    Behind,
    #[error("the database is not available: {0}")]
    Unavailable(sqlx::Error),
    #[error("stored data cannot be read: {0}")]
    Corrupt(String),
    #[error("database error: {0}")]
    Query(sqlx::Error),
}

/// What kept a line to PostgreSQL from being made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Nobody answers there.
    Silent,
    /// The user or the password is wrong.
    Password,
    /// There is no such database.
    Missing,
    /// It takes no more connections.
    Crowded,
    /// No encrypted line could be made, or the certificate is not to be trusted.
    Tls,
    Other,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The disk that holds the database has no space left.
    pub fn is_full(&self) -> bool {
        let Error::Unavailable(sqlx::Error::Database(error)) = self else {
            return false;
        };
        error
            .code()
            .is_some_and(|code| code == "13" || code == "53100")
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => {
                Error::Unavailable(error)
            }
            sqlx::Error::Database(d) if d.is_unique_violation() => {
                tracing::info!(error = %d, "a row was already there");
                Error::Taken("It was changed by somebody else at the same time; fetch it again and repeat the change".to_owned())
            }
            sqlx::Error::Database(d) if is_passing(d.as_ref()) => Error::Unavailable(error),
            sqlx::Error::Protocol(said) if said.contains(CLOSED_AT_ONCE) => {
                Error::Unavailable(error)
            }
            _ => Error::Query(error),
        }
    }
}

/// What sqlx says of a line that was closed before a byte came: a proxy takes it though there is no database behind it now.
const CLOSED_AT_ONCE: &str = "unexpected response from SSLRequest: 0x00";

/// Whether a refusal of the database ends by itself or by the operator's hand: nothing is wrong with the query.
fn is_passing(error: &dyn sqlx::error::DatabaseError) -> bool {
    let Some(code) = error.code() else {
        return false;
    };
    if error
        .try_downcast_ref::<sqlx::sqlite::SqliteError>()
        .is_some()
    {
        // The low byte is the primary code: busy, locked, read-only, I/O error, full, cannot open.
        return code
            .parse::<u32>()
            .is_ok_and(|code| [5, 6, 8, 10, 13, 14].contains(&(code & 0xff)));
    }
    // Connection lost, out of resources (53100 is a full disk), stopped by the operator, I/O error.
    ["08", "53", "57", "58"].contains(&code.get(..2).unwrap_or_default())
}

/// Runs the same typed query on whichever engine is open; the body is compiled once for each.
macro_rules! each {
    ($db:expr, $pool:ident => $body:expr) => {
        match $db {
            $crate::db::Db::Sqlite($pool, ..) => $body,
            $crate::db::Db::Postgres($pool, ..) => $body,
        }
    };
}
pub(crate) use each;

impl Db {
    pub async fn open_sqlite(file: &Path) -> Result<Self> {
        crate::private::database(file)
            .map_err(|e| Error::Open(format!("{}: {e}", file.display())))?;
        let options = SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(5));
        let pool = SqlitePoolOptions::new()
            .max_connections(4)
            .connect_with(options)
            .await
            .map_err(|e| Error::Open(format!("{}: {e}", file.display())))?;
        sqlx::migrate!("./migrations/sqlite")
            .run(&pool)
            .await
            .map_err(migration_error)?;
        Ok(Db::Sqlite(pool, Doubts::default()))
    }

    pub async fn open_postgres(url: &str) -> Result<Self> {
        Self::open_postgres_as(url, "toolcrib").await
    }

    /// `name` tells this process from others on the same database, in what it changes and in the database's own views.
    pub async fn open_postgres_as(url: &str, name: &str) -> Result<Self> {
        let options = crate::line::options(url)?.application_name(name);
        let opened = PgPoolOptions::new()
            .max_connections(10)
            .acquire_timeout(Duration::from_secs(5))
            .after_connect(|connection, _| Box::pin(bounded(connection)))
            .connect_with(options.clone())
            .await;
        let pool = match opened {
            Ok(pool) => pool,
            Err(error) => return Err(crate::reach::explain(&options, error).await),
        };
        sqlx::migrate!("./migrations/postgres")
            .run(&pool)
            .await
            .map_err(migration_error)?;
        Ok(Db::Postgres(pool, Doubts::default()))
    }

    /// A pool for the execution log, apart from the registry's.
    pub async fn log_pool(url: &str) -> Result<PgPool> {
        let options = crate::line::options(url)?.application_name("toolcrib-log");
        let opened = PgPoolOptions::new()
            .max_connections(6)
            .acquire_timeout(Duration::from_secs(5))
            .test_before_acquire(false)
            .connect_with(options.clone())
            .await;
        match opened {
            Ok(pool) => Ok(pool),
            Err(error) => Err(crate::reach::explain(&options, error).await),
        }
    }

    /// What a write transaction starts with: SQLite takes its write lock at once, so that two writers wait
    /// for each other instead of failing half-way.
    pub(crate) fn begin(&self) -> &'static str {
        match self {
            Db::Sqlite(..) => "BEGIN IMMEDIATE",
            Db::Postgres(..) => "BEGIN",
        }
    }

    pub fn engine(&self) -> &'static str {
        match self {
            Db::Sqlite(..) => "sqlite",
            Db::Postgres(..) => "postgres",
        }
    }

    /// A round trip to the database.
    pub async fn ping(&self) -> Result<()> {
        each!(self, pool => sqlx::query("SELECT 1").execute(pool).await.map(|_| ()))?;
        Ok(())
    }

    pub async fn close(&self) {
        each!(self, pool => pool.close().await);
    }
}

/// A server that stands still in the middle of a transaction, or that nobody can reach any more, must not hold up the others.
async fn bounded(connection: &mut PgConnection) -> std::result::Result<(), sqlx::Error> {
    let bound = sqlx::query("SET idle_in_transaction_session_timeout = '10s'");
    bound.execute(connection).await.map(|_| ())
}

fn migration_error(error: MigrateError) -> Error {
    match error {
        MigrateError::VersionMissing(version) => Error::Newer(version),
        other => Error::Open(format!("migration: {other}")),
    }
}
