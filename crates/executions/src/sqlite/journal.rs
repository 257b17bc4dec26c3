//! Rows on their way to the day files. Each is a line in a file first, which a killed server leaves behind: that costs a
//! tenth of a commit, and nobody waits for a thread. The writer makes rows of them a moment later, many in one commit;
//! a call that has ended by then is written once. Whoever reads has them written before.

use super::folder::private_file;
use super::line::{Line, read, write_line};
use crate::day::Day;
use crate::error::LogError;
use crate::log::{Durability, Keeping};
use crate::owed::Owed;
use crate::record::{Execution, Status};
use catalog::clock::Clock;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use uuid::Uuid;

/// While the rows of one are written to the day files, the other takes the lines.
const FILE_NAMES: [&str; 2] = ["journal-0.jsonl", "journal-1.jsonl"];

/// So many are not left lying for long, and beyond four times as many callers have to wait for the writer.
const MANY_ROWS: usize = 1_024;
const MANY_BYTES: usize = 2 * 1024 * 1024;
const TIMES_MAX: usize = 4;

/// A longer row is no work for an async thread.
const ROW_BYTES_MAX: usize = 16 * 1024;

pub(crate) struct Journal {
    paths: [PathBuf; 2],
    clock: Clock,
    owed: Arc<Owed>,
    /// Where a row has to survive a power cut, a line is not enough.
    durability: Durability,
    pages_max: Arc<AtomicU32>,
    lines: Mutex<Lines>,
    /// Tells when the first row comes; true when there are many.
    waiting: watch::Sender<bool>,
}

struct Lines {
    files: [OneFile; 2],
    active: usize,
    /// The log closes.
    is_closed: bool,
    rows: Rows,
    /// Rows were taken, and it is not yet known what became of them.
    are_underway: bool,
    /// Counts the times that rows were taken or lines have gone: what was written before may lie in the wrong file.
    turn: u64,
}

struct OneFile {
    file: Arc<File>,
    bytes: u64,
}

/// A line that is written while nobody holds the lock.
struct Draft {
    file: Arc<File>,
    line: Vec<u8>,
    turn: u64,
}

/// In the order of their calls, as their ids are.
pub(super) type ById = BTreeMap<Uuid, Box<Execution>>;

/// The rows that no day file has.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) all: ById,
    bytes: usize,
}

impl Journal {
    /// Opens the files, with what a server that was killed has left in them.
    pub(super) fn open(folder: &Path, keeping: &Keeping) -> Result<Self, LogError> {
        let paths = FILE_NAMES.map(|name| folder.join(name));
        let mut texts = Vec::new();
        for path in &paths {
            match std::fs::read(path) {
                Ok(text) => texts.push((path, text)),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(LogError::file(path, &error)),
            }
        }
        let mut rows = read(&texts);
        rows.interrupt();
        let [first, second] = &paths;
        let files = [OneFile::open(first)?, OneFile::open(second)?];
        let lines = Lines {
            files,
            active: 0,
            is_closed: false,
            rows,
            are_underway: false,
            turn: 0,
        };
        Ok(Journal {
            paths,
            clock: keeping.clock.clone(),
            owed: Arc::clone(&keeping.owed),
            durability: keeping.options.durability,
            pages_max: Arc::clone(&keeping.options.pages_max),
            lines: Mutex::new(lines),
            waiting: watch::Sender::new(false),
        })
    }

    /// Writes a row down, or gives it back to whoever has more time for it.
    pub(crate) fn write(&self, row: Box<Execution>) -> Result<(), Box<Execution>> {
        if !self.is_quick(&row) {
            return Err(row);
        }
        match self.draft(&row) {
            Ok(Some(turn)) => self.enter(row, turn),
            Ok(None) => Err(row),
            Err(error) => Err(unwritten(row, &error)),
        }
    }

    /// Takes a row in whose line was written at that turn.
    fn enter(&self, row: Box<Execution>, turn: u64) -> Result<(), Box<Execution>> {
        let mut lines = self.lock();
        if lines.turn != turn {
            // Where the line is now nobody knows. It does no harm there, because a row counts once and nothing undoes how
            // a call ended, but it has to go.
            lines.files.iter_mut().for_each(OneFile::suspect);
        }
        if self.is_refusing(&lines) {
            return Err(row);
        }
        if lines.turn != turn
            && let Err(error) = lines.append(&row)
        {
            return Err(unwritten(row, &error));
        }
        self.note(&row);
        let were_many = lines.rows.is_many();
        lines.rows.add(row);
        let (is_first, are_many) = (lines.rows.all.len() == 1, lines.rows.is_many());
        drop(lines);
        if is_first || are_many != were_many {
            self.waiting.send_replace(are_many);
        }
        Ok(())
    }

    /// Writes the line of a row while others may do the same, and says at which turn that was. Nothing where no lines
    /// are taken.
    fn draft(&self, row: &Execution) -> std::io::Result<Option<u64>> {
        // Looked up twice rather than written twice: a line is long, and nobody should wait for it.
        let line = Line::of(row, self.lock().rows.has_begun(row.id));
        let mut lines = self.lock();
        if self.is_refusing(&lines) {
            return Ok(None);
        }
        let draft = lines.draft(row, line);
        drop(lines);
        draft.write()?;
        Ok(Some(draft.turn))
    }

    fn is_refusing(&self, lines: &Lines) -> bool {
        lines.is_closed || self.is_stuck() || lines.rows.is_full()
    }

    pub(crate) fn today(&self) -> Day {
        Day::of(self.clock.now())
    }

    fn is_quick(&self, row: &Execution) -> bool {
        self.durability == Durability::Normal
            && self.pages_max.load(Ordering::Relaxed) == 0
            && row.weight() <= ROW_BYTES_MAX
            && Day::of(row.started_at) == self.today()
    }

    /// Should the ending of a call that has begun go another way, it is to be known as such.
    fn note(&self, row: &Execution) {
        let mut debts = self.owed.lock();
        match row.status {
            Status::Started => debts.begun(row.id),
            _ => debts.settled(row.id),
        }
    }

    /// Whether everything is in the day files.
    pub(crate) fn is_settled(&self) -> bool {
        let lines = self.lock();
        lines.rows.all.is_empty() && !lines.are_underway
    }

    /// Whether there are rows that could not be written and wait for better times. Until then no more are taken in.
    pub(super) fn is_stuck(&self) -> bool {
        self.owed.does_journal_wait()
    }

    /// Hears of rows that wait.
    pub(crate) fn waiting(&self) -> watch::Receiver<bool> {
        self.waiting.subscribe()
    }

    /// The rows, to be written now. From here on lines go to the other file, unless that has rows that were not written.
    pub(super) fn take(&self) -> ById {
        let mut lines = self.lock();
        let other = 1 - lines.active;
        if lines.files[other].bytes == 0 {
            lines.active = other;
        }
        lines.are_underway = true;
        lines.turn += 1;
        std::mem::take(&mut lines.rows).all
    }

    /// The rows that were taken are in their day files: their lines may go.
    pub(super) fn written(&self) {
        let mut lines = self.lock();
        lines.are_underway = false;
        lines.turn += 1;
        self.owed.set_journal_waits(false);
        let (active, is_empty) = (lines.active, lines.rows.all.is_empty());
        for (number, file) in lines.files.iter_mut().enumerate() {
            // What has come meanwhile is in the active one. Where a file is not emptied, its rows are written again.
            if (number != active || is_empty)
                && let Err(error) = file.empty()
            {
                tracing::warn!(%error, "the execution log's journal could not be emptied");
            }
        }
    }

    /// Rows that were taken and could not be written. What has come meanwhile is newer.
    pub(super) fn give_back(&self, rows: impl Iterator<Item = Box<Execution>>) {
        let mut lines = self.lock();
        lines.are_underway = false;
        self.owed.set_journal_waits(true);
        for row in rows {
            if !lines.rows.all.contains_key(&row.id) {
                lines.rows.add(row);
            }
        }
    }

    /// Writes rows that no day file will ever take to a file of their own.
    pub(super) fn set_aside(&self, day: Day, rows: &[&Execution]) -> Result<PathBuf, LogError> {
        let path = self.paths[0].with_file_name(day.unwritten_name());
        private_file(&path)?;
        let mut text = Vec::new();
        for row in rows {
            write_line(&mut text, row);
        }
        text.push(b'\n');
        let file = OpenOptions::new().append(true).open(&path);
        let written = file.and_then(|mut file| {
            file.write_all(&text)?;
            file.sync_all()
        });
        written.map_err(|error| LogError::file(&path, &error))?;
        Ok(path)
    }

    /// Takes no more.
    pub(super) fn refuse(&self) {
        self.lock().is_closed = true;
    }

    /// What could not be written stays in its file for the next server.
    pub(super) fn close(&self) {
        if self.is_settled() {
            self.paths.iter().for_each(|path| {
                let _ = std::fs::remove_file(path);
            });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    fn append(&mut self, row: &Execution) -> std::io::Result<()> {
        let line = Line::of(row, self.rows.has_begun(row.id));
        self.draft(row, line).write()
    }

    /// What is to be written for a row, and where.
    fn draft(&mut self, row: &Execution, mut line: Line) -> Draft {
        if line.is_end && !self.rows.has_begun(row.id) {
            // Its beginning has gone meanwhile.
            line = Line::of(row, false);
        }
        let (turn, line) = (self.turn, line.text);
        let one = &mut self.files[self.active];
        // However much of it is there in the end.
        one.bytes += line.len() as u64;
        Draft {
            file: Arc::clone(&one.file),
            line,
            turn,
        }
    }
}

impl Draft {
    /// At one go: the rest of a line that was cut would stand behind somebody else's.
    fn write(&self) -> std::io::Result<()> {
        match (&*self.file).write(&self.line)? {
            all if all == self.line.len() => Ok(()),
            _ => Err(ErrorKind::WriteZero.into()),
        }
    }
}

impl Rows {
    fn is_full(&self) -> bool {
        self.all.len() >= TIMES_MAX * MANY_ROWS || self.bytes >= TIMES_MAX * MANY_BYTES
    }

    fn is_many(&self) -> bool {
        self.all.len() >= MANY_ROWS || self.bytes >= MANY_BYTES
    }

    /// Whether the beginning of a call is here, and so in a file that stays for as long as it is.
    fn has_begun(&self, id: Uuid) -> bool {
        let row = self.all.get(&id);
        row.is_some_and(|row| row.status == Status::Started)
    }

    /// Nobody runs what was begun any more, whenever it gets into its day file.
    fn interrupt(&mut self) {
        let begun = self.all.values_mut();
        let begun = begun.filter(|row| row.status == Status::Started);
        let count = begun.map(|row| row.mark_interrupted()).count();
        if count > 0 {
            tracing::warn!(
                count,
                "calls were running when the server stopped; they are logged as interrupted"
            );
        }
    }

    pub(super) fn add(&mut self, row: Box<Execution>) {
        // A late beginning must not hide how the call ended.
        if row.status == Status::Started && self.all.contains_key(&row.id) {
            return;
        }
        self.bytes += row.weight();
        if let Some(before) = self.all.insert(row.id, row) {
            self.bytes -= before.weight();
        }
    }
}

impl OneFile {
    fn open(path: &Path) -> Result<Self, LogError> {
        private_file(path)?;
        let failed = |error| LogError::file(path, &error);
        let file = OpenOptions::new().append(true).open(path).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        Ok(OneFile {
            file: Arc::new(file),
            bytes,
        })
    }

    /// There may be a line in it that was not counted.
    fn suspect(&mut self) {
        self.bytes = self.bytes.max(1);
    }

    fn empty(&mut self) -> std::io::Result<()> {
        if self.bytes > 0 {
            self.file.set_len(0)?;
            self.bytes = 0;
        }
        Ok(())
    }
}

fn unwritten(row: Box<Execution>, error: &std::io::Error) -> Box<Execution> {
    tracing::debug!(%error, "the execution log's journal cannot be written");
    row
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
