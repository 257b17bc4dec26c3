//! A look at a PostgreSQL before anything is opened on it: whether a server could work there. Nothing is changed.

use crate::db::{Db, Error, Result};
use crate::doubt::Doubts;
use crate::reach::{PROBE_TIMEOUT, unreachable};
use crate::secrets::SecretRow;
use catalog::tool::Millis;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, Row};
use std::io::ErrorKind;
use std::time::Duration;

/// How far our tables in it are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schema {
    /// There are none yet.
    Empty,
    /// Of an earlier version, which the next start changes.
    Older,
    Current,
    /// A later version has made this migration, which is not known here.
    Newer(i64),
}

#[derive(Debug)]
pub enum Looked {
    /// Two lines came out in the same session: something in between lends sessions out, and nothing else can be said.
    Pooled,
    Direct(Look),
}

#[derive(Debug)]
pub struct Look {
    /// Such as `UTF8`.
    pub encoding: String,
    pub is_read_only: bool,
    /// The role may make tables where ours are or would be.
    pub may_create: bool,
    /// What the database's clock showed when it was asked last.
    pub clock: Millis,
    pub schema: Schema,
    /// The names of the stored tools and the sealed secrets, where the tables are those of this version.
    pub tools: Vec<String>,
    pub secrets: Vec<SecretRow>,
}

type Facts = (String, bool, bool, bool);

/// Both what the session says and what the server is: a standby takes no writes whatever the session says.
const FACTS: &str = "SELECT current_setting('server_encoding'), \
    current_setting('transaction_read_only')::bool OR pg_is_in_recovery(), \
    COALESCE(has_schema_privilege(current_schema(), 'CREATE'), false), \
    to_regclass('_sqlx_migrations') IS NOT NULL";

/// Each question has its deadline, so that a server that hangs is told like one that is not there.
pub async fn at(url: &str) -> Result<Looked> {
    let options = crate::line::options(url)?.application_name("toolcrib-doctor");
    let (mut first, mut second) = (connect(&options).await?, connect(&options).await?);
    let is_pooled = within(&options, is_pooled(&mut first, &mut second)).await;
    let looked = match is_pooled {
        Ok(true) => Ok(None),
        Ok(false) => within(&options, ask(&mut first)).await.map(Some),
        Err(error) => Err(error),
    };
    for line in [first, second] {
        let _ = tokio::time::timeout(Duration::from_secs(1), line.close()).await;
    }
    let Some((facts, clock, schema)) = looked? else {
        return Ok(Looked::Pooled);
    };
    let (tools, secrets) = match schema {
        Schema::Current => kept(options).await?,
        _ => Default::default(),
    };
    let (encoding, is_read_only, may_create, _) = facts;
    Ok(Looked::Direct(Look {
        encoding,
        is_read_only,
        may_create,
        clock,
        schema,
        tools,
        secrets,
    }))
}

async fn within<T>(
    options: &PgConnectOptions,
    work: impl Future<Output = std::result::Result<T, sqlx::Error>>,
) -> Result<T> {
    match tokio::time::timeout(PROBE_TIMEOUT, work).await {
        Ok(done) => done.map_err(|error| unreachable(options, &error)),
        Err(_) => Err(silent(options)),
    }
}

async fn connect(options: &PgConnectOptions) -> Result<PgConnection> {
    match tokio::time::timeout(PROBE_TIMEOUT, options.connect()).await {
        Ok(tried) => tried.map_err(|error| unreachable(options, &error)),
        Err(_) => Err(silent(options)),
    }
}

fn silent(options: &PgConnectOptions) -> Error {
    unreachable(options, &sqlx::Error::Io(ErrorKind::TimedOut.into()))
}

/// Whether both lines are one session. Asked without a prepared statement, which would be somebody else's in the next turn.
async fn is_pooled(
    first: &mut PgConnection,
    second: &mut PgConnection,
) -> std::result::Result<bool, sqlx::Error> {
    const WHO: &str = "SELECT pg_backend_pid()";
    let one = sqlx::raw_sql(WHO).fetch_one(first).await?;
    let other = sqlx::raw_sql(WHO).fetch_one(second).await?;
    Ok(one.try_get::<i32, _>(0)? == other.try_get::<i32, _>(0)?)
}

async fn ask(line: &mut PgConnection) -> std::result::Result<(Facts, Millis, Schema), sqlx::Error> {
    const CLOCK: &str = "SELECT (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT";
    let facts: Facts = sqlx::query_as(FACTS).fetch_one(&mut *line).await?;
    let schema = match facts.3 {
        false => Schema::Empty,
        true => schema(line).await?,
    };
    let clock: Millis = sqlx::query_scalar(CLOCK).fetch_one(&mut *line).await?;
    Ok((facts, clock, schema))
}

async fn schema(line: &mut PgConnection) -> std::result::Result<Schema, sqlx::Error> {
    let ours = sqlx::migrate!("./migrations/postgres");
    let known: Vec<i64> = ours.iter().map(|migration| migration.version).collect();
    let done: Vec<i64> =
        sqlx::query_scalar("SELECT version FROM _sqlx_migrations WHERE success ORDER BY version")
            .fetch_all(line)
            .await?;
    let stranger = done.iter().find(|version| !known.contains(version));
    Ok(match stranger {
        Some(version) => Schema::Newer(*version),
        None if done.is_empty() => Schema::Empty,
        None if done.len() < known.len() => Schema::Older,
        None => Schema::Current,
    })
}

/// What is stored, read with the queries of everybody else.
async fn kept(options: PgConnectOptions) -> Result<(Vec<String>, Vec<SecretRow>)> {
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(PROBE_TIMEOUT)
        .connect_lazy_with(options.clone());
    let db = Db::Postgres(pool, Doubts::default());
    let read = async {
        let tools = db.live_tools().await?;
        let tools = tools.into_iter().map(|row| row.name).collect();
        Ok((tools, db.secrets().await?))
    };
    let read = match tokio::time::timeout(PROBE_TIMEOUT, read).await {
        Ok(read) => read,
        Err(_) => Err(silent(&options)),
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), db.close()).await;
    read
}
