//! Commits rows, one transaction a day file, and keeps the files: retention, checkpoints, the turn of the day.

use super::folder::Folder;
use super::journal::Journal;
use super::row;
use crate::day::Day;
use crate::error::LogError;
use crate::log::Keeping;
use crate::query::INTERRUPT;
use crate::queue::{self, Entry, Job, Mode};
use crate::record::{Execution, INTERRUPTED_ERROR, Status};
use rusqlite::Connection;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::{mpsc, oneshot};

/// More open day files than this belong to a restore; then all are closed and opened again as needed.
const OPEN_DAYS_MAX: usize = 4;

/// The write-ahead log of a busy day, in bytes. Moving it into the day file waits for the disk, so it is done by the
/// thread, after it has answered.
const CHECKPOINT_BYTES: usize = 48 * 1024 * 1024;

/// What a commit writes besides its rows, and each row besides itself: pages of the trees that they go to.
const COMMIT_BYTES: usize = 4 * 4096;
const ROW_BYTES: usize = 4096;

pub(super) struct Writer {
    folder: Arc<Folder>,
    keeping: Keeping,
    open: HashMap<Day, Connection>,
    journal: Arc<Journal>,
    /// The day that retention last ran on.
    today: Day,
    /// Written since the last checkpoint, about.
    unmoved_bytes: usize,
    closed: bool,
}

impl Writer {
    /// Deletes what is too old and marks what a stopped server left behind.
    pub(super) fn new(
        folder: Arc<Folder>,
        keeping: Keeping,
        journal: Arc<Journal>,
    ) -> Result<Self, LogError> {
        let today = keeping.today();
        let mut writer = Writer {
            folder,
            keeping,
            open: HashMap::new(),
            journal,
            today,
            unmoved_bytes: 0,
            closed: false,
        };
        writer.folder.remove_before(writer.first_kept());
        writer.keep_within_room();
        // What a server that was killed had no time for. What is not settled now is tried again, and was told.
        let _ = writer.settle();
        writer.open.clear();
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
        self.today.back(self.keeping.options.retention_days)
    }

    /// Works until there is nobody left who could bring anything.
    pub(super) fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        while !self.closed
            && let Some(first) = jobs.blocking_recv()
        {
            self.work(first, &mut jobs);
        }
    }

    /// Writes what waits, this and those behind it.
    fn work(&mut self, first: Job, jobs: &mut mpsc::Receiver<Job>) {
        let batch = queue::gather(first, jobs);
        self.write(batch.entries);
        let settled = match batch.then {
            None => Ok(()),
            Some(_) => {
                self.write_owed();
                self.settle()
            }
        };
        match batch.then {
            None => {}
            Some(Job::Write(_)) => unreachable!("gather keeps every write in the batch"),
            Some(Job::Flush(answer)) => {
                let moved = self.checkpoint("PASSIVE");
                let _ = answer.send(settled.and(moved));
            }
            Some(Job::Settle(answer)) => {
                let _ = answer.send(settled);
            }
            Some(Job::Maintain(answer)) => {
                self.turn_day();
                let _ = answer.send(settled);
            }
            Some(Job::Compact(days, answer)) => {
                // Its own connections would keep it waiting.
                self.open.clear();
                let mut days = days.into_iter();
                let done = days.try_for_each(|day| self.folder.compact(day));
                let _ = answer.send(settled.and(done));
            }
            Some(Job::Close(answer)) => {
                // No new jobs; those already queued come out of the same loop.
                jobs.close();
                while let Ok(job) = jobs.try_recv() {
                    self.write(queue::gather(job, jobs).entries);
                }
                self.journal.refuse();
                self.write_owed();
                // What is left stays in the journal's files.
                let _ = self.settle();
                self.keeping.owed.give_up();
                self.journal.close();
                self.folder.drop_readers();
                let result = self.checkpoint("TRUNCATE");
                self.open.clear();
                self.closed = true;
                let _ = answer.send(result);
                return;
            }
        }
        if self.keeping.today() != self.today {
            self.turn_day();
        }
        // Where somebody reads what was, not all of it can be moved; then the next batch tries again.
        if self.unmoved_bytes >= CHECKPOINT_BYTES
            && let Err(error) = self.checkpoint("PASSIVE")
        {
            tracing::warn!(%error, "the execution log's day file could not be brought up to date");
        }
    }

    /// A new day: yesterday's files are closed (a late finish opens them again) and retention runs.
    fn turn_day(&mut self) {
        self.today = self.keeping.today();
        let today = self.today;
        self.open.retain(|day, _| *day == today);
        self.folder.remove_before(self.first_kept());
        self.keep_within_room();
    }

    /// Deletes the oldest days until the others fit where they may.
    fn keep_within_room(&self) {
        let sizes = match self.folder.sizes() {
            Ok(sizes) => sizes,
            Err(error) => {
                return tracing::warn!(%error, "how much room the execution log takes is not known");
            }
        };
        if let Some(first) = self.keeping.measured.first_kept(&sizes, self.today) {
            self.folder.remove_before(first);
        }
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
        let result = self.commit(day, &entries);
        if let Err(error) = &result {
            // One row that cannot be stored must not take its neighbours along.
            if matches!(error, LogError::Invalid { .. }) && entries.len() > 1 {
                return entries
                    .into_iter()
                    .for_each(|entry| self.write_day(day, vec![entry]));
            }
            tracing::error!(%error, rows = entries.len(), "the execution log could not be written");
        }
        queue::answer(entries, &result, &self.keeping.owed);
        if result.is_ok() {
            self.write_owed();
            if self.journal.is_stuck() {
                let _ = self.settle();
            }
        }
    }

    /// Puts what the journal has into the day files. A file that does not take its rows keeps no other from theirs.
    fn settle(&mut self) -> Result<(), LogError> {
        let rows = self.journal.take();
        // What a server left behind long ago is not brought back.
        let first_kept = self.first_kept();
        let mut entries: Vec<Entry> = rows.into_values().map(unheard).collect();
        entries.retain(|entry| entry.day() >= first_kept);
        let (mut left, mut result) = (Vec::new(), Ok(()));
        while let Some(day) = entries.first().map(Entry::day) {
            let other_day = entries.iter().position(|entry| entry.day() != day);
            let later = entries.split_off(other_day.unwrap_or(entries.len()));
            let rows = std::mem::replace(&mut entries, later);
            let settled = self.settle_day(day, &rows);
            let settled = settled.or_else(|error| self.set_aside(day, &rows, error));
            if let Err(error) = settled {
                tracing::error!(%error, rows = rows.len(), "the execution log's journal could not be settled");
                left.extend(rows.into_iter().map(|entry| entry.row));
                result = Err(error);
            }
        }
        match result.is_ok() {
            true => self.journal.written(),
            false => self.journal.give_back(left.into_iter()),
        }
        result
    }

    /// A file of a day gone by that cannot be read will not mend itself, and must not keep the journal from going on.
    /// (Without today's there is no log, and whoever calls is told so.)
    fn set_aside(&self, day: Day, entries: &[Entry], error: LogError) -> Result<(), LogError> {
        if day >= self.today || !matches!(error, LogError::Damaged { .. }) {
            return Err(error);
        }
        let rows: Vec<&Execution> = entries.iter().map(|entry| &*entry.row).collect();
        let path = self.journal.set_aside(day, &rows)?;
        tracing::error!(
            %error, rows = rows.len(), file = %path.display(),
            "a day file of the execution log takes no rows; they were set aside and are in no list and no backup"
        );
        Ok(())
    }

    fn settle_day(&mut self, day: Day, entries: &[Entry]) -> Result<(), LogError> {
        match self.commit(day, entries) {
            // One row that cannot be stored must not keep its neighbours waiting.
            Err(LogError::Invalid { .. }) if entries.len() > 1 => entries
                .chunks(1)
                .try_for_each(|entry| self.settle_day(day, entry)),
            Err(error @ LogError::Invalid { .. }) => {
                let id = entries.first().map(|entry| entry.row.id);
                tracing::error!(%error, ?id, "a row of the execution log cannot be stored: it is lost");
                Ok(())
            }
            result => result,
        }
    }

    fn write_owed(&mut self) {
        let owed = self.keeping.owed.take();
        self.write(owed);
    }

    fn commit(&mut self, day: Day, entries: &[Entry]) -> Result<(), LogError> {
        let pages = self.keeping.options.pages_max.load(Ordering::Relaxed);
        let result = self.try_commit(day, entries, pages);
        if result.is_err() || pages > 0 {
            // Closing rolls back, and whatever state or bound the connection has, the next batch starts from a fresh one.
            self.open.remove(&day);
        }
        result.map_err(|error| error.of_file(&self.folder.file(day)))
    }

    fn try_commit(&mut self, day: Day, entries: &[Entry], pages: u32) -> Result<(), LogError> {
        let connection = self.connection(day)?;
        if pages > 0 {
            connection.pragma_update(None, "max_page_count", pages)?;
        }
        // Prepared once a connection.
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute(())?;
        row::Inserts::new(connection)?.insert(entries)?;
        connection.prepare_cached("COMMIT")?.execute(())?;
        let rows = entries.iter().map(|entry| entry.row.weight() + ROW_BYTES);
        self.unmoved_bytes += COMMIT_BYTES + rows.sum::<usize>();
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
        }
        Ok(())
    }
}

/// An entry that nobody waits for.
fn unheard(row: Box<Execution>) -> Entry {
    let mode = match row.status {
        Status::Started => Mode::Started,
        Status::Interrupted => Mode::Interrupted,
        _ => Mode::Finish,
    };
    let answer = oneshot::channel().0;
    Entry { row, mode, answer }
}
