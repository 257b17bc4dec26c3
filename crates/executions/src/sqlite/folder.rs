//! The folder of day files: names, opening, and which are old enough to go.

use crate::day::Day;
use crate::error::LogError;
use crate::log::{Durability, Options};
use rusqlite::{Connection, OpenFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The form of a day file; a higher one was written by a later version.
const SCHEMA_VERSION: i64 = 3;
/// Idle reading connections kept open, over all days.
const READERS_MAX: usize = 8;
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) struct Folder {
    path: PathBuf,
    durability: Durability,
    readers: Mutex<Vec<(Day, Connection)>>,
    /// Raised when files may have gone or changed under open readers; older connections are not used again.
    generation: AtomicU64,
}

impl Folder {
    pub(crate) fn new(path: PathBuf, options: &Options) -> Result<Self, LogError> {
        std::fs::create_dir_all(&path).map_err(|error| LogError::file(&path, &error))?;
        Ok(Folder {
            path,
            durability: options.durability,
            readers: Mutex::default(),
            generation: AtomicU64::new(0),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self, day: Day) -> PathBuf {
        self.path.join(day.file_name())
    }

    /// The days that have a file, oldest first.
    pub(crate) fn days(&self) -> Result<BTreeSet<Day>, LogError> {
        Ok(self
            .names()?
            .iter()
            .filter_map(|name| Day::of_file(name))
            .filter(|(_, rest)| *rest == ".db")
            .map(|(day, _)| day)
            .collect())
    }

    /// What each day takes with everything that belongs to it.
    pub(crate) fn sizes(&self) -> Result<BTreeMap<Day, u64>, LogError> {
        let mut sizes = BTreeMap::new();
        for name in self.names()? {
            if let Some(day) = day_of(&name) {
                // One that has gone meanwhile takes nothing.
                let size = std::fs::metadata(self.path.join(&name)).map_or(0, |it| it.len());
                *sizes.entry(day).or_default() += size;
            }
        }
        Ok(sizes)
    }

    /// The files with rows that no day file took.
    pub(super) fn set_aside(&self) -> Result<Vec<(Day, PathBuf)>, LogError> {
        let names = self.names()?;
        let of = |name: &String| Some((Day::of_unwritten(name)?, self.path.join(name)));
        Ok(names.iter().filter_map(of).collect())
    }

    fn names(&self) -> Result<Vec<String>, LogError> {
        let failed = |error: std::io::Error| LogError::file(&self.path, &error);
        let entries = std::fs::read_dir(&self.path).map_err(failed)?;
        let mut names = Vec::new();
        for entry in entries {
            if let Ok(name) = entry.map_err(failed)?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Deletes the files of days before `first_kept`; a file that resists is tried again another day.
    pub(crate) fn remove_before(&self, first_kept: Day) {
        let names = match self.names() {
            Ok(names) => names,
            Err(error) => {
                return tracing::warn!(%error, "old day files of the execution log were not deleted");
            }
        };
        let old = |name: &&String| day_of(name).is_some_and(|day| day < first_kept);
        let mut old: Vec<_> = names.iter().filter(old).collect();
        if old.is_empty() {
            return;
        }
        // The database before its companions: nobody may open it without them.
        old.sort();
        for name in old {
            let path = self.path.join(name);
            match std::fs::remove_file(&path) {
                Ok(()) => {
                    tracing::info!(file = %path.display(), "deleted: older than what the log keeps")
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => {
                    tracing::warn!(file = %path.display(), %error, "an old day file was not deleted")
                }
            }
        }
        self.drop_readers();
    }

    /// A connection that may write; makes the file when it is not there.
    pub(crate) fn open_writer(&self, day: Day) -> Result<Connection, LogError> {
        let path = self.file(day);
        private_file(&path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(8);
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", self.durability.pragma())?;
        // The writer's thread does it, never somebody's commit.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
        match version(&connection)? {
            0 => connection.execute_batch(concat!(
                "BEGIN IMMEDIATE;",
                include_str!("schema.sql"),
                "COMMIT;"
            ))?,
            1 => connection.execute_batch(concat!(
                "BEGIN IMMEDIATE;",
                include_str!("schema_2.sql"),
                include_str!("schema_3.sql"),
                "COMMIT;"
            ))?,
            2 => connection.execute_batch(concat!(
                "BEGIN IMMEDIATE;",
                include_str!("schema_3.sql"),
                "COMMIT;"
            ))?,
            _ => {}
        }
        Ok(connection)
    }

    /// How long the write-ahead log of a day is.
    pub(super) fn unmoved_bytes(&self, day: Day) -> usize {
        let mut path = self.file(day).into_os_string();
        path.push("-wal");
        let bytes = std::fs::metadata(path).map_or(0, |it| it.len());
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// Whether an earlier version has made the file of that day.
    pub(super) fn is_older(&self, day: Day) -> Result<bool, LogError> {
        let version = self.read(day, version)?;
        Ok(version.is_some_and(|version| version < SCHEMA_VERSION))
    }

    /// Runs `read` on a reading connection to that day; none when there is no such day.
    pub(crate) fn read<T>(
        &self,
        day: Day,
        read: impl FnOnce(&Connection) -> Result<T, LogError>,
    ) -> Result<Option<T>, LogError> {
        let generation = self.generation.load(Ordering::SeqCst);
        let Some(connection) = self.reader(day)? else {
            return Ok(None);
        };
        let result = read(&connection).map_err(|error| error.of_file(&self.file(day)))?;
        // A connection that failed is dropped above; only a good one is kept.
        let mut readers = self.lock_readers();
        if generation == self.generation.load(Ordering::SeqCst) {
            if readers.len() >= READERS_MAX {
                readers.remove(0);
            }
            readers.push((day, connection));
        }
        Ok(Some(result))
    }

    fn reader(&self, day: Day) -> Result<Option<Connection>, LogError> {
        let mut readers = self.lock_readers();
        if let Some(at) = readers.iter().rposition(|(of, _)| *of == day) {
            return Ok(Some(readers.remove(at).1));
        }
        drop(readers);
        open_reader(&self.file(day))
    }

    pub(crate) fn drop_readers(&self) {
        let mut readers = self.lock_readers();
        self.generation.fetch_add(1, Ordering::SeqCst);
        readers.clear();
    }

    fn lock_readers(&self) -> std::sync::MutexGuard<'_, Vec<(Day, Connection)>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The day that a file belongs to, with rows or beside them.
fn day_of(name: &str) -> Option<Day> {
    let of_file = Day::of_file(name);
    let of_file = of_file.filter(|(_, rest)| [".db", ".db-wal", ".db-shm"].contains(rest));
    of_file
        .map(|(day, _)| day)
        .or_else(|| Day::of_unwritten(name))
}

/// None when the file is not there, or is so new that it holds no table yet.
pub(crate) fn open_reader(path: &Path) -> Result<Option<Connection>, LogError> {
    if !path.exists() {
        return Ok(None);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(path, flags)
        .map_err(LogError::from)
        .and_then(|connection| {
            connection.busy_timeout(BUSY_TIMEOUT)?;
            Ok((version(&connection)?, connection))
        });
    match opened {
        Ok((0, _)) => Ok(None),
        Ok((_, connection)) => Ok(Some(connection)),
        // Retention was quicker.
        Err(_) if !path.exists() => Ok(None),
        Err(error) => Err(error.of_file(path)),
    }
}

fn version(connection: &Connection) -> Result<i64, LogError> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version > SCHEMA_VERSION {
        return Err(LogError::damaged(format!(
            "it has version {version}, this program knows up to {SCHEMA_VERSION}; use the later program or move the file away"
        )));
    }
    Ok(version)
}

/// Arguments and outputs are nobody else's business; SQLite gives its companion files the same mode.
pub(super) fn private_file(path: &Path) -> Result<(), LogError> {
    let mut options = std::fs::OpenOptions::new();
    options.create_new(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(LogError::file(path, &error)),
    }
}
