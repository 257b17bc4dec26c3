//! Opening a file so that a query can do nothing but what its connection is for.

use super::authorizer::{for_reading, for_writing};
use super::{SqliteConfig, VALUE_BYTES_MAX, percentile};
use crate::error::Error;
use crate::statement::{SENT_MAX, TEXT_BYTES_MAX};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a lock of somebody else is waited for.
pub(super) const BUSY_MAX: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Read,
    Write,
    /// For our own questions about the tables.
    Look,
}

/// Which file a path means, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

pub(super) fn identify(config: &SqliteConfig) -> Result<Identity, Error> {
    let metadata = std::fs::metadata(&config.path).map_err(|error| unreached(&error))?;
    if !metadata.is_file() {
        return Err(Error::source(
            "its path is not that of a file; expected a SQLite database",
        ));
    }
    Ok(of(&metadata))
}

/// Where the file is concerns who runs the server, not who calls a tool: no message here names the path.
fn unreached(error: &std::io::Error) -> Error {
    Error::source(format!("its file cannot be reached: {error}"))
}

fn of(metadata: &std::fs::Metadata) -> Identity {
    Identity {
        device: metadata.dev(),
        inode: metadata.ino(),
    }
}

pub(super) fn open(config: &SqliteConfig, mode: Mode) -> Result<Connection, Error> {
    let access = match mode {
        Mode::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
        Mode::Read | Mode::Look => OpenFlags::SQLITE_OPEN_READ_ONLY,
    };
    // Without SQLITE_OPEN_URI a name such as `file:x?mode=rwc` is only a name.
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let path = resolved(config)?;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| unopened(&error))?;
    set_up(&connection, mode).map_err(|error| unopened(&error))?;
    Ok(connection)
}

/// Whether anybody at all may change the file.
pub(super) fn may_write(config: &SqliteConfig) -> bool {
    std::fs::metadata(&config.path).is_ok_and(|found| !found.permissions().readonly())
}

/// The file itself, by a name without links. A file that takes the place of another is opened anew, and so judged here.
pub(super) fn resolved(config: &SqliteConfig) -> Result<PathBuf, Error> {
    let path = config.path.canonicalize();
    let path = path.map_err(|error| unreached(&error))?;
    match closed(config, &path, identify(config)?) {
        Some(why) => Err(Error::source(why)),
        None => Ok(path),
    }
}

/// Why no query may read a file that is there, however its path is written.
pub(super) fn closed(
    config: &SqliteConfig,
    path: &Path,
    identity: Identity,
) -> Option<&'static str> {
    let mut ours = config
        .forbidden
        .iter()
        .filter_map(|path| std::fs::metadata(path).ok());
    if ours.any(|other| of(&other) == identity) {
        return Some("its file is our own database, which no query reads");
    }
    let folders = config
        .forbidden
        .iter()
        .filter_map(|it| it.canonicalize().ok());
    let mut folders = folders.filter(|it| it.is_dir());
    let lies_there = folders.any(|folder| path.starts_with(folder));
    lies_there.then_some("its file lies in a folder of our own, of which no query reads anything")
}

/// Whether SQLite takes the file for a database of its own. Asked through SQLite: whoever closes the file themselves takes
/// away the locks that its connections hold. Whatever else is wrong is told when it is used.
pub(super) fn is_database(path: &Path) -> bool {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let looked = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0))
    });
    let code = looked.err().and_then(|error| error.sqlite_error_code());
    code != Some(ErrorCode::NotADatabase)
}

fn unopened(error: &rusqlite::Error) -> Error {
    // The driver puts the path behind what SQLite says.
    let why = match error {
        rusqlite::Error::SqliteFailure(failure, _) => failure.to_string(),
        other => other.to_string(),
    };
    Error::source(format!("its file cannot be opened: {why}"))
}

fn set_up(connection: &Connection, mode: Mode) -> Result<(), rusqlite::Error> {
    connection.busy_timeout(BUSY_MAX)?;
    let switches = [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
        (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true),
    ];
    for (switch, on) in switches {
        connection.set_db_config(switch, on)?;
    }
    let text_bytes_max = i32::try_from(TEXT_BYTES_MAX).unwrap_or(i32::MAX);
    let variables_max = i32::try_from(SENT_MAX).unwrap_or(i32::MAX);
    let limits = [
        (Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX),
        // A list in `IN (…)` makes the text longer than its author wrote it.
        (Limit::SQLITE_LIMIT_SQL_LENGTH, text_bytes_max * 2),
        (Limit::SQLITE_LIMIT_COLUMN, 500),
        (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
        (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50),
        (Limit::SQLITE_LIMIT_FUNCTION_ARG, 100),
        (Limit::SQLITE_LIMIT_ATTACHED, 0),
        (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200),
        (Limit::SQLITE_LIMIT_VARIABLE_NUMBER, variables_max),
        (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 20),
        (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
        (Limit::SQLITE_LIMIT_VDBE_OP, 1_000_000),
    ];
    for (limit, most) in limits {
        connection.set_limit(limit, most)?;
    }
    percentile::register(connection)?;
    match mode {
        Mode::Read => {
            connection.pragma_update(None, "query_only", true)?;
            connection.authorizer(Some(for_reading))
        }
        Mode::Write => connection.authorizer(Some(for_writing)),
        Mode::Look => connection.pragma_update(None, "query_only", true),
    }
}
