//! Online copies of the registry: one SQLite file, or on PostgreSQL one JSON line per row.

use crate::db::{Db, Error, Result, each};
use crate::erasure::{ERASURES, ErasureRow, erase_again};
use crate::private;
use futures_util::TryStreamExt;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, SqlitePool};
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Write};
use std::path::Path;

/// The tables of a backup, in an order that satisfies their references.
const TABLES: [&str; 22] = [
    "users",
    "keys",
    "tools",
    "tool_versions",
    "tool_tests",
    "confirmed_requests",
    "idempotency",
    "agents",
    "toolsets",
    "policies",
    "limits",
    "servers",
    "server_lists",
    "server_pins",
    "sources",
    "secrets",
    "server_tokens",
    "server_clients",
    "erasures",
    "audit",
    "runs",
    "run_entries",
];

/// Of these an older backup knows nothing, in the order in which they came. The others have always been there: one
/// that is missing is lost.
const LATER: [&str; 12] = [
    "tool_tests",
    "toolsets",
    "servers",
    "server_lists",
    "server_pins",
    "server_tokens",
    "server_clients",
    "sources",
    "confirmed_requests",
    "runs",
    "run_entries",
    "erasures",
];

/// What is no part of a backup: whoever restores one logs in again, and what was not erased everywhere is erased again.
const LEFT_OUT: [&str; 3] = ["sessions", "login_links", "erasure_servers"];

impl Db {
    /// Writes a consistent copy into `folder` while the server works on, for nobody else to read. Idempotency keys
    /// come along, so that none of them runs twice after a restore; their answers do not: unlike the log's, they
    /// hold what a tool's schema marks as secret.
    pub async fn backup_to(&self, folder: &Path) -> Result<()> {
        match self {
            Db::Sqlite(pool, ..) => copy_file(pool, &folder.join("registry.db")).await?,
            Db::Postgres(pool, ..) => {
                let mut tx = pool
                    .begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                    .await?;
                for table in TABLES {
                    write_table(&mut tx, table, &folder.join(format!("{table}.jsonl"))).await?;
                }
            }
        }
        Ok(())
    }

    /// Replaces everything in this database by a PostgreSQL backup; how many people were erased since, and are again. Refused
    /// while a server works on it. A SQLite backup is restored by putting its file in place, before the database is opened.
    pub async fn restore_from(&self, folder: &Path) -> Result<usize> {
        let Db::Postgres(pool, ..) = self else {
            return Err(Error::Open(
                "a SQLite registry is restored as a file".into(),
            ));
        };
        let living = self.living_replicas().await?;
        if !living.is_empty() {
            return Err(Error::Served(crate::replicas::named(&living)));
        }
        let mut tx = pool.begin().await?;
        let erased: Vec<ErasureRow> = sqlx::query_as(ERASURES).fetch_all(&mut *tx).await?;
        let shared = crate::leases::TABLES.iter();
        for table in shared.chain(&LEFT_OUT).chain(TABLES.iter().rev()) {
            sqlx::query(AssertSqlSafe(format!("DELETE FROM {table}")))
                .execute(&mut *tx)
                .await?;
        }
        for table in TABLES {
            let file = folder.join(format!("{table}.jsonl"));
            match std::fs::File::open(&file) {
                Err(e) if e.kind() == ErrorKind::NotFound && is_older(folder, table) => {}
                Err(e) => return Err(Error::Open(format!("{table}.jsonl: {e}"))),
                Ok(file) => read_table(&mut tx, table, file).await?,
            }
        }
        let again = erase_again!(tx, erased);
        // A number without a change: whoever starts meanwhile, or was not seen, reads everything anew.
        for sql in [crate::feed::NEXT_REVISION, crate::feed::TELL] {
            sqlx::query(sql).execute(&mut *tx).await?;
        }
        tx.commit().await?;
        Ok(again)
    }

    /// Erases people again who were erased before and are there after a restore; how many. Their names stay in the list until
    /// the logs are done, too.
    pub async fn erase_again(&self, erased: &[ErasureRow]) -> Result<usize> {
        each!(self, pool => {
            let mut tx = pool.begin().await?;
            let again = erase_again!(tx, erased);
            tx.commit().await?;
            Ok(again)
        })
    }

    /// After a restore nobody runs the calls that have no answer: `node` gives them their last one when it starts. Runs that
    /// were under way are forgotten; those that wait for somebody are kept.
    pub async fn adopt_calls(&self, node: &str) -> Result<()> {
        const SQL: &str = "UPDATE idempotency SET node = $1 WHERE response IS NULL";
        each!(self, pool => sqlx::query(SQL).bind(node).execute(pool).await.map(|_| ()))?;
        // What such a run did after the backup is not known here any more: going on would do it again.
        const UNDER_WAY: &str = "DELETE FROM runs WHERE status = 'running'";
        each!(self, pool => sqlx::query(UNDER_WAY).execute(pool).await.map(|_| ()))?;
        Ok(())
    }
}

/// Whether a backup was made before there was this table: then it has none of those that came after it either.
fn is_older(folder: &Path, table: &str) -> bool {
    let since = LATER.iter().position(|it| *it == table);
    let later = since.map(|at| &LATER[at..]);
    let has = |table: &str| folder.join(format!("{table}.jsonl")).exists();
    later.is_some_and(|later| !later.iter().any(|table| has(table)))
}

/// Row by row: a table may be larger than what there is of memory.
async fn write_table(tx: &mut PgConnection, table: &str, path: &Path) -> Result<()> {
    let failed = |e: std::io::Error| Error::Open(format!("{table}.jsonl: {e}"));
    let mut file = BufWriter::new(private::create(path).map_err(failed)?);
    let sql = format!("SELECT (to_jsonb(t) - 'definition_json' - 'response')::text FROM {table} t");
    let mut rows = sqlx::query_scalar::<_, String>(AssertSqlSafe(sql)).fetch(tx);
    while let Some(row) = rows.try_next().await? {
        writeln!(file, "{row}").map_err(failed)?;
    }
    file.flush().map_err(failed)
}

async fn read_table(tx: &mut PgConnection, table: &str, file: std::fs::File) -> Result<()> {
    let columns: Vec<(String,)> = sqlx::query_as(
        "SELECT column_name::text FROM information_schema.columns \
         WHERE table_schema = current_schema() AND table_name = $1 AND is_generated = 'NEVER'",
    )
    .bind(table)
    .fetch_all(&mut *tx)
    .await?;
    let names = columns
        .iter()
        .map(|c| c.0.as_str())
        .collect::<Vec<_>>()
        .join(", ");
    let sql = format!(
        "INSERT INTO {table} ({names}) SELECT {names} FROM jsonb_populate_record(NULL::{table}, $1::jsonb)"
    );
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|e| Error::Open(format!("{table}.jsonl: {e}")))?;
        sqlx::query(AssertSqlSafe(sql.clone()))
            .bind(line)
            .execute(&mut *tx)
            .await?;
    }
    Ok(())
}

/// Who is erased in a file that nobody has open, as it is.
pub async fn erased_in(file: &Path) -> Result<Vec<ErasureRow>> {
    let options = SqliteConnectOptions::new().filename(file).read_only(true);
    let mut connection = options.connect().await?;
    let erased = sqlx::query_as(ERASURES).fetch_all(&mut connection).await;
    connection.close().await?;
    Ok(erased?)
}

async fn copy_file(pool: &SqlitePool, file: &Path) -> Result<()> {
    let target = file
        .to_str()
        .ok_or_else(|| Error::Open("the path is not UTF-8".into()))?;
    // SQLite fills an empty file and leaves its mode alone.
    private::create(file).map_err(|e| Error::Open(format!("{target}: {e}")))?;
    sqlx::query("VACUUM INTO $1")
        .bind(target)
        .execute(pool)
        .await?;
    let options = SqliteConnectOptions::new()
        .filename(file)
        .journal_mode(SqliteJournalMode::Delete);
    let mut copy = options.connect().await?;
    sqlx::query("UPDATE idempotency SET response = NULL")
        .execute(&mut copy)
        .await?;
    for table in LEFT_OUT {
        sqlx::query(AssertSqlSafe(format!("DELETE FROM {table}")))
            .execute(&mut copy)
            .await?;
    }
    // What was overwritten is still in the file's free pages until it is written anew.
    sqlx::query("VACUUM").execute(&mut copy).await?;
    copy.close().await?;
    Ok(())
}
