//! The queue between the callers and the writer: jobs, and how they are gathered into batches.

use crate::day::Day;
use crate::error::LogError;
use crate::owed::Owed;
use crate::record::Execution;
use tokio::sync::{mpsc, oneshot};

/// Bounds of one transaction, so that no waiter waits for an endless one.
pub(crate) const BATCH_ROWS_MAX: usize = 512;
pub(crate) const BATCH_BYTES_MAX: usize = 8 * 1024 * 1024;

pub(crate) type Answer = oneshot::Sender<Result<(), LogError>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Never overwrites: a late `started` must not hide how the call ended.
    Started,
    /// Replaces the `started` row of the same id.
    Finish,
    /// The same, but no ending: nobody knows how the call ended, so whatever is there knows better.
    Interrupted,
}

pub(crate) struct Entry {
    pub(crate) row: Box<Execution>,
    pub(crate) mode: Mode,
    pub(crate) answer: Answer,
}

impl Entry {
    pub(crate) fn day(&self) -> Day {
        Day::of(self.row.started_at)
    }
}

pub(crate) enum Job {
    Write(Entry),
    Flush(Answer),
    /// What is written down elsewhere comes into the log.
    Settle(Answer),
    /// Retention, and whatever else a new day asks for.
    Maintain(Answer),
    /// The files of these days are written anew.
    Compact(Vec<Day>, Answer),
    Close(Answer),
}

/// What is written in one go, and the job that ended the gathering.
pub(crate) struct Batch {
    pub(crate) entries: Vec<Entry>,
    pub(crate) then: Option<Job>,
}

/// Takes what is already there, up to the bounds; never waits for more.
pub(crate) fn gather(first: Job, jobs: &mut mpsc::Receiver<Job>) -> Batch {
    let mut batch = Batch {
        entries: Vec::new(),
        then: None,
    };
    let mut bytes = 0;
    let mut next = Some(first);
    while let Some(job) = next {
        let Job::Write(entry) = job else {
            batch.then = Some(job);
            break;
        };
        bytes += entry.row.weight();
        batch.entries.push(entry);
        if batch.entries.len() >= BATCH_ROWS_MAX || bytes >= BATCH_BYTES_MAX {
            break;
        }
        next = jobs.try_recv().ok();
    }
    batch
}

/// Tells every waiter how its row fared; how a call ended is owed until the log works again.
pub(crate) fn answer(entries: Vec<Entry>, result: &Result<(), LogError>, owed: &Owed) {
    let passing = matches!(
        result,
        Err(LogError::Full { .. } | LogError::Unavailable { .. })
    );
    let mut debts = owed.lock();
    for entry in entries {
        // A waiter that has gone away does not undo the commit.
        let _ = entry.answer.send(result.clone());
        match entry.mode {
            Mode::Started if result.is_ok() => debts.begun(entry.row.id),
            Mode::Started => {}
            Mode::Finish if passing => debts.keep(*entry.row),
            Mode::Finish | Mode::Interrupted => debts.settled(entry.row.id),
        }
    }
}
