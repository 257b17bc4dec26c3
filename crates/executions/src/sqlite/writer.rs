//! Commits rows, one transaction a day file, and keeps the files: retention, checkpoints, the turn of the day.

use super::folder::{BUSY_TIMEOUT, Folder};
use super::row;
use crate::day::Day;
use crate::error::LogError;
use crate::log::{Durability, Options};
use crate::owed::Owed;
use crate::query::INTERRUPT;
use crate::queue::{self, Entry, Job};
use crate::record::INTERRUPTED_ERROR;
use catalog::clock::Clock;
use rusqlite::Connection;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::mpsc;

/// More open day files than this belong to a restore; then all are closed and opened again as needed.
const OPEN_DAYS_MAX: usize = 4;

/// A longer row is no work for an async thread.
const AT_ONCE_BYTES_MAX: usize = 16 * 1024;

/// The write-ahead log of a busy day, in bytes. Moving it into the day file waits for the disk, so it is done by the
/// thread, after it has answered.
const CHECKPOINT_BYTES: usize = 48 * 1024 * 1024;

/// What a commit writes besides its rows, and each row besides itself: pages of the trees that they go to.
const COMMIT_BYTES: usize = 4 * 4096;
const ROW_BYTES: usize = 4096;

pub(super) struct Writer {
    folder: Arc<Folder>,
    options: Options,
    clock: Clock,
    open: HashMap<Day, Connection>,
    owed: Arc<Owed>,
    /// The day that retention last ran on.
    today: Day,
    /// Written since the last checkpoint, about.
    unmoved_bytes: usize,
    /// A write-ahead log that begins anew waits for the disk once.
    just_moved: bool,
    /// A commit has failed on a thread that had no time to look after the connection.
    spoiled: bool,
    pub(super) closed: bool,
}

impl Writer {
    /// Deletes what is too old and marks what a stopped server left behind.
    pub(super) fn new(
        folder: Arc<Folder>,
        options: Options,
        clock: Clock,
        owed: Arc<Owed>,
    ) -> Result<Self, LogError> {
        let today = Day::of(clock.now());
        let writer = Writer {
            folder,
            options,
            clock,
            open: HashMap::new(),
            owed,
            today,
            unmoved_bytes: 0,
            just_moved: false,
            spoiled: false,
            closed: false,
        };
        writer.folder.remove_before(writer.first_kept());
        for day in writer.folder.days()? {
            // An old file that cannot be read must not keep the server from starting.
            if let Err(error) = writer.bring_up_to_date(day) {
                let file = writer.folder.file(day);
                tracing::warn!(file = %file.display(), %error, "a day file of the execution log cannot be read");
            }
        }
        Ok(writer)
    }

    fn bring_up_to_date(&self, day: Day) -> Result<(), LogError> {
        if self.folder.is_older(day)? {
            self.folder.drop_readers();
            self.folder.open_writer(day)?;
        }
        self.interrupt_leftovers(day)
    }

    fn interrupt_leftovers(&self, day: Day) -> Result<(), LogError> {
        let no_node: Option<&str> = None;
        let found = self.folder.read(day, |connection| {
            let sql = "SELECT EXISTS (SELECT 1 FROM executions WHERE status = 'started' AND status <> 'success')";
            Ok(connection.query_row(sql, (), |row| row.get::<_, bool>(0))?)
        })?;
        if found == Some(true) {
            let count = self
                .folder
                .open_writer(day)?
                .execute(INTERRUPT, (INTERRUPTED_ERROR, no_node))?;
            tracing::warn!(
                count,
                "calls were running when the server stopped; they are logged as interrupted"
            );
        }
        Ok(())
    }

    fn first_kept(&self) -> Day {
        self.today.back(self.options.retention_days)
    }

    /// Whether it can be written by somebody who must not be kept long.
    pub(super) fn is_quick(&self, entry: &Entry) -> bool {
        let day = entry.day();
        !(self.closed || self.spoiled || self.just_moved)
            && self.options.durability == Durability::Normal
            && day == self.today
            && self.open.contains_key(&day)
            && self.unmoved_bytes < CHECKPOINT_BYTES
            && entry.row.weight() < AT_ONCE_BYTES_MAX
            && self.owed.is_empty()
    }

    /// Commits one entry without waiting for anybody; where that cannot be done, somebody with more time is to try.
    pub(super) fn write_quickly(&mut self, entry: Entry) -> Result<(), Entry> {
        let day = entry.day();
        let wait = |writer: &Writer, how_long: Duration| {
            let connection = writer.open.get(&day);
            connection.map(|connection| connection.busy_timeout(how_long))
        };
        wait(self, Duration::ZERO);
        let committed = self.commit(day, std::slice::from_ref(&entry));
        wait(self, BUSY_TIMEOUT);
        if committed.is_err() {
            self.spoiled = true;
            return Err(entry);
        }
        queue::answer(vec![entry], &Ok(()), &self.owed);
        Ok(())
    }

    /// Writes what waits, this and those behind it; returns how many rows there were.
    pub(super) fn work(&mut self, first: Job, jobs: &mut mpsc::Receiver<Job>) -> usize {
        let batch = queue::gather(first, jobs);
        let rows = batch.entries.len();
        if std::mem::take(&mut self.spoiled) {
            // Closing rolls back.
            self.open.clear();
        }
        self.write(batch.entries);
        if batch.then.is_some() {
            self.write_owed();
        }
        match batch.then {
            None => {}
            Some(Job::Write(_)) => unreachable!("gather keeps every write in the batch"),
            Some(Job::Flush(answer)) => {
                let _ = answer.send(self.checkpoint("PASSIVE"));
            }
            Some(Job::Maintain(answer)) => {
                self.turn_day();
                let _ = answer.send(Ok(()));
            }
            Some(Job::Close(answer)) => {
                // No new jobs; those already queued come out of the same loop.
                jobs.close();
                while let Ok(job) = jobs.try_recv() {
                    self.write(queue::gather(job, jobs).entries);
                }
                self.write_owed();
                self.owed.give_up();
                self.folder.drop_readers();
                let result = self.checkpoint("TRUNCATE");
                self.open.clear();
                self.closed = true;
                let _ = answer.send(result);
                return rows;
            }
        }
        if Day::of(self.clock.now()) != self.today {
            self.turn_day();
        }
        // Where somebody reads what was, not all of it can be moved; then the next batch tries again.
        if self.unmoved_bytes >= CHECKPOINT_BYTES
            && let Err(error) = self.checkpoint("PASSIVE")
        {
            tracing::warn!(%error, "the execution log's day file could not be brought up to date");
        }
        rows
    }

    /// A new day: yesterday's files are closed (a late finish opens them again) and retention runs.
    fn turn_day(&mut self) {
        self.today = Day::of(self.clock.now());
        let today = self.today;
        self.open.retain(|day, _| *day == today);
        self.folder.remove_before(self.first_kept());
    }

    fn write(&mut self, mut entries: Vec<Entry>) {
        // In the order of the table: every row goes to its end. Stable, for the two rows of one id.
        entries.sort_by_key(|entry| (entry.row.started_at, entry.row.id));
        while let Some(day) = entries.first().map(Entry::day) {
            let same_day = entries.partition_point(|entry| entry.day() == day);
            let later = entries.split_off(same_day);
            self.write_day(day, std::mem::replace(&mut entries, later));
        }
    }

    fn write_day(&mut self, day: Day, entries: Vec<Entry>) {
        let result = self
            .commit(day, &entries)
            .map_err(|error| error.of_file(&self.folder.file(day)));
        if let Err(error) = &result {
            // Closing rolls back, and whatever state the connection is in, the next batch starts from a fresh one.
            self.open.remove(&day);
            // One row that cannot be stored must not take its neighbours along.
            if matches!(error, LogError::Invalid { .. }) && entries.len() > 1 {
                return entries
                    .into_iter()
                    .for_each(|entry| self.write_day(day, vec![entry]));
            }
            tracing::error!(%error, rows = entries.len(), "the execution log could not be written");
        }
        queue::answer(entries, &result, &self.owed);
        if result.is_ok() {
            self.write_owed();
        }
    }

    fn write_owed(&mut self) {
        let owed = self.owed.take();
        self.write(owed);
    }

    fn commit(&mut self, day: Day, entries: &[Entry]) -> Result<(), LogError> {
        let pages = self.options.pages_max.load(Ordering::Relaxed);
        let connection = self.connection(day)?;
        if pages > 0 {
            connection.pragma_update(None, "max_page_count", pages)?;
        }
        // Prepared once a connection: for a lone caller, parsing these two costs as much as its row.
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute(())?;
        let mut inserts = row::Inserts::new(connection)?;
        for entry in entries {
            inserts.insert(entry)?;
        }
        drop(inserts);
        connection.prepare_cached("COMMIT")?.execute(())?;
        let rows = entries.iter().map(|entry| entry.row.weight() + ROW_BYTES);
        self.unmoved_bytes += COMMIT_BYTES + rows.sum::<usize>();
        self.just_moved = false;
        Ok(())
    }

    fn connection(&mut self, day: Day) -> Result<&mut Connection, LogError> {
        if self.open.len() >= OPEN_DAYS_MAX && !self.open.contains_key(&day) {
            self.open.clear();
        }
        match self.open.entry(day) {
            std::collections::hash_map::Entry::Occupied(open) => Ok(open.into_mut()),
            std::collections::hash_map::Entry::Vacant(empty) => {
                let connection = self.folder.open_writer(day)?;
                // What a server that was killed has left there.
                self.unmoved_bytes += self.folder.unmoved_bytes(day);
                Ok(empty.insert(connection))
            }
        }
    }

    /// Moves what the write-ahead logs hold into the day files.
    fn checkpoint(&mut self, mode: &str) -> Result<(), LogError> {
        let mut all = true;
        for connection in self.open.values() {
            let sql = format!("PRAGMA wal_checkpoint({mode})");
            let (pages, moved): (i64, i64) =
                connection.query_row(&sql, (), |row| Ok((row.get(1)?, row.get(2)?)))?;
            all &= pages == moved;
        }
        if all {
            self.unmoved_bytes = 0;
            self.just_moved = true;
        }
        Ok(())
    }
}
