//! The log of one node: SQLite day files, one writing thread, reading connections beside it.

mod erase;
mod folder;
mod journal;
mod line;
mod row;
mod writer;

use crate::counting::{Calls, calls};
use crate::day::Day;
use crate::error::LogError;
use crate::log::Keeping;
use crate::query::{GET, Page, Search};
use crate::queue::Job;
use crate::record::{Execution, id_time};
use crate::stats::{NEWEST, Stats, Tally};
pub(crate) use folder::Folder;
pub(crate) use journal::Journal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc;
use uuid::Uuid;
use writer::Writer;

/// Opens the folder and starts the writing thread. Blocks: not for an async thread.
pub(crate) fn open(
    path: PathBuf,
    keeping: Keeping,
    jobs: mpsc::Receiver<Job>,
) -> Result<(Arc<Folder>, Arc<Journal>), LogError> {
    let folder = Arc::new(Folder::new(path, &keeping.options)?);
    let journal = Arc::new(Journal::open(folder.path(), &keeping)?);
    let writer = Writer::new(Arc::clone(&folder), keeping, Arc::clone(&journal))?;
    std::thread::Builder::new()
        .name("execution-log".to_owned())
        .spawn(move || writer.run(jobs))
        .map_err(LogError::unavailable)?;
    Ok((folder, journal))
}

// What follows reads, and blocks: it runs off the async threads.
impl Folder {
    pub(crate) fn get(&self, id: Uuid) -> Result<Option<Execution>, LogError> {
        let Some(time) = id_time(id) else {
            return Ok(None);
        };
        let found = self.read(Day::of(time), |connection| {
            let mut statement = connection.prepare_cached(GET)?;
            let mut rows = statement.query((time, id.as_bytes()))?;
            rows.next()?.map(row::execution).transpose()
        })?;
        Ok(found.flatten())
    }

    pub(crate) fn list(&self, search: &Search) -> Result<Page, LogError> {
        let mut filling = search.filling();
        let days = self.days_between(search.from, search.to)?;
        let ordered: Vec<Day> = if search.ascending {
            days
        } else {
            days.into_iter().rev().collect()
        };
        for day in ordered {
            let mut full = false;
            let query = search.query(filling.wanted());
            self.read(day, |connection| {
                row::rows(connection, &query, |row| {
                    full = !filling.push(row);
                    !full
                })
            })?;
            if full {
                break;
            }
        }
        Ok(filling.page())
    }

    pub(crate) fn stats(&self, mut tally: Tally) -> Result<Stats, LogError> {
        for day in self.days_between(tally.from, tally.to)?.into_iter().rev() {
            if tally.rows_left() <= 0 {
                break;
            }
            self.read(day, |connection| {
                let mut statement = connection.prepare_cached(NEWEST)?;
                let mut rows = statement.query((
                    tally.from,
                    tally.slot_ms,
                    tally.to,
                    &tally.tool,
                    &tally.caller,
                    tally.status,
                    &tally.transports,
                    tally.rows_left(),
                ))?;
                while let Some(row) = rows.next()? {
                    tally.add(&row::group(row)?)?;
                }
                Ok(())
            })?;
        }
        Ok(tally.stats())
    }

    pub(crate) fn counted(
        &self,
        sql: &str,
        name: &str,
        since: i64,
        until: i64,
    ) -> Result<Vec<Calls>, LogError> {
        let mut found = Vec::new();
        for day in self.days_between(since, until)? {
            self.read(day, |connection| {
                let mut statement = connection.prepare_cached(sql)?;
                let mut rows = statement.query((name, since, until))?;
                while let Some(row) = rows.next()? {
                    found.push(calls(row.get(0)?, row.get(1)?, row.get(2)?));
                }
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// The days that hold rows of this span, oldest first.
    fn days_between(&self, from: i64, to: i64) -> Result<Vec<Day>, LogError> {
        Ok(self
            .days()?
            .into_iter()
            .filter(|day| day.start() < to && day.end() > from)
            .collect())
    }

    /// Copies each day file, as of one moment of that file, while writing goes on.
    pub(crate) fn backup_to(&self, target: &Path) -> Result<(), LogError> {
        for day in self.days()? {
            let copy = target.join(day.file_name());
            let part = copy.with_extension("part");
            self.read(day, |connection| {
                let name = part
                    .to_str()
                    .ok_or_else(|| LogError::invalid(format!("{} is not UTF-8", part.display())))?;
                // SQLite fills an empty file and leaves its mode alone.
                folder::private_file(&part)?;
                connection.execute("VACUUM INTO $1", [name])?;
                Ok(())
            })?;
            if part.exists() {
                let finished = std::fs::File::open(&part).and_then(|file| file.sync_all());
                finished
                    .and_then(|()| std::fs::rename(&part, &copy))
                    .map_err(|error| LogError::file(&copy, &error))?;
            }
        }
        Ok(())
    }
}

/// Rows of a backed-up day file, in pages of ascending ids.
pub(crate) fn page_of_file(path: &Path, search: &Search) -> Result<Page, LogError> {
    let mut filling = search.filling();
    let connection = folder::open_reader(path)?.ok_or_else(|| {
        LogError::damaged(format!(
            "{} is no day file of the execution log",
            path.display()
        ))
    })?;
    row::rows(&connection, &search.query(filling.wanted()), |row| {
        filling.push(row)
    })?;
    Ok(filling.page())
}
