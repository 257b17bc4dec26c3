//! The log as the rest of the program sees it, over whichever engine is open.

use crate::cap::cap;
use crate::day::Day;
use crate::erase::Erasing;
use crate::error::LogError;
use crate::owed::Owed;
use crate::postgres::{self, Postgres};
use crate::query::{Filter, Page, Search};
use crate::queue::{Answer, Entry, Job, Mode};
use crate::record::Execution;
use crate::room::{Measured, Room};
use crate::sqlite::{self, Folder, Journal};
use crate::stats::{Span, Stats, Tally};
use catalog::clock::Clock;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use uuid::Uuid;

/// How often a log looks whether the day has changed, whether it owes something, and how much room it takes.
const LOOK: Duration = Duration::from_secs(60);

/// How long rows wait in the journal for others: what is committed together costs less.
const GATHER: Duration = Duration::from_millis(50);

/// What an acknowledged row survives, on SQLite. (PostgreSQL has its own setting, `synchronous_commit`.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// `kill -9` and every other death of the process; a power cut may take the last moments.
    #[default]
    Normal,
    /// A power cut too: every commit waits for the disk.
    Full,
}

impl Durability {
    pub(crate) fn pragma(self) -> &'static str {
        match self {
            Durability::Normal => "NORMAL",
            Durability::Full => "FULL",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Options {
    /// Days kept besides today.
    pub retention_days: u32,
    /// What the log may take on disk: older days go before their time so that it does. 0 is no bound.
    pub retention_bytes: u64,
    pub durability: Durability,
    /// Longer arguments, outputs and texts are cut, and say so.
    pub entry_bytes_max: usize,
    /// Rows waiting for the writer; callers beyond that wait for room.
    pub queue_max: usize,
    /// The name of this replica, the same after a restart.
    pub node: Arc<str>,
    /// For tests of a full disk: the pages a day file may have; 0 is no bound.
    #[doc(hidden)]
    pub pages_max: Arc<AtomicU32>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            retention_days: 30,
            retention_bytes: 0,
            durability: Durability::Normal,
            entry_bytes_max: 4 * 1024 * 1024,
            queue_max: 4_096,
            node: "local".into(),
            pages_max: Arc::default(),
        }
    }
}

/// The execution log. Clones share one writer.
#[derive(Clone)]
pub struct ExecutionLog {
    pub(crate) engine: Engine,
    jobs: mpsc::Sender<Job>,
    node: Arc<str>,
    entry_bytes_max: usize,
    measured: Arc<Measured>,
    pub(crate) erasing: Arc<Erasing>,
}

/// What a writer goes by.
#[derive(Clone)]
pub(crate) struct Keeping {
    pub(crate) options: Options,
    pub(crate) clock: Clock,
    pub(crate) owed: Arc<Owed>,
    pub(crate) measured: Arc<Measured>,
}

impl Keeping {
    pub(crate) fn today(&self) -> Day {
        Day::of(self.clock.now())
    }
}

#[derive(Clone)]
pub(crate) enum Engine {
    Sqlite(Arc<Folder>, Arc<Journal>),
    Postgres(Arc<Postgres>),
}

impl ExecutionLog {
    /// Opens the day files in a folder, which is made when missing. One process at a time may own it.
    pub async fn open_sqlite(
        folder: impl Into<PathBuf>,
        options: Options,
        clock: Clock,
    ) -> Result<Self, LogError> {
        let (jobs, queue) = mpsc::channel(options.queue_max.max(1));
        let (path, given, time) = (folder.into(), options.clone(), clock.clone());
        let owed = Arc::new(Owed::default());
        let measured = Arc::new(Measured::new(&options));
        let keeping = Keeping {
            options: given,
            clock: time,
            owed: Arc::clone(&owed),
            measured: Arc::clone(&measured),
        };
        let (folder, journal) = blocking(move || sqlite::open(path, keeping, queue)).await?;
        tokio::spawn(watch(jobs.downgrade(), clock, owed));
        tokio::spawn(settle(jobs.downgrade(), journal.waiting()));
        let engine = Engine::Sqlite(folder, journal);
        Ok(Self::start(engine, jobs, &options, measured))
    }

    /// Opens the log in a PostgreSQL database, beside other replicas. The pool should be the log's own.
    pub async fn open_postgres(
        pool: sqlx::PgPool,
        options: Options,
        clock: Clock,
    ) -> Result<Self, LogError> {
        let (jobs, queue) = mpsc::channel(options.queue_max.max(1));
        let owed = Arc::new(Owed::default());
        let measured = Arc::new(Measured::new(&options));
        let keeping = Keeping {
            options: options.clone(),
            clock: clock.clone(),
            owed: Arc::clone(&owed),
            measured: Arc::clone(&measured),
        };
        let postgres = postgres::open(pool, keeping, queue).await?;
        tokio::spawn(watch(jobs.downgrade(), clock, owed));
        let engine = Engine::Postgres(postgres);
        Ok(Self::start(engine, jobs, &options, measured))
    }

    fn start(
        engine: Engine,
        jobs: mpsc::Sender<Job>,
        options: &Options,
        measured: Arc<Measured>,
    ) -> Self {
        let (node, entry_bytes_max) = (Arc::clone(&options.node), options.entry_bytes_max);
        ExecutionLog {
            engine,
            jobs,
            node,
            entry_bytes_max,
            measured,
            erasing: Arc::default(),
        }
    }

    /// Logs that a call is about to run; returns once it is sure to be found after the death of this process.
    pub async fn started(&self, execution: impl Into<Box<Execution>>) -> Result<(), LogError> {
        self.log(execution.into(), Mode::Started).await
    }

    /// Logs how a call ended, in place of its started row if it has one; returns once that is sure to be found.
    pub async fn finish(&self, execution: impl Into<Box<Execution>>) -> Result<(), LogError> {
        self.log(execution.into(), Mode::Finish).await
    }

    async fn log(&self, mut row: Box<Execution>, mode: Mode) -> Result<(), LogError> {
        row.node = Arc::clone(&self.node);
        let mut row = self.settled(row)?;
        if let Engine::Sqlite(_, journal) = &self.engine {
            match journal.write(row) {
                Ok(()) => return Ok(()),
                Err(back) => row = back,
            }
        }
        // Boxed: most rows are lines by now.
        Box::pin(self.write(row, mode)).await
    }

    /// Keeps the row's node: it comes from a backup.
    pub(crate) async fn restore(&self, row: Box<Execution>) -> Result<(), LogError> {
        let row = self.settled(row)?;
        self.write(row, Mode::Finish).await
    }

    /// A row as it can be stored.
    fn settled(&self, mut row: Box<Execution>) -> Result<Box<Execution>, LogError> {
        row.settle_time()?;
        self.erasing.apply(&mut row);
        cap(&mut row, self.entry_bytes_max);
        Ok(row)
    }

    async fn write(&self, row: Box<Execution>, mode: Mode) -> Result<(), LogError> {
        self.ask(|answer| Job::Write(Entry { row, mode, answer }))
            .await
    }

    /// Queues a job and waits for its answer.
    pub(crate) async fn ask(&self, job: impl FnOnce(Answer) -> Job) -> Result<(), LogError> {
        let (answer, answered) = oneshot::channel();
        self.jobs
            .send(job(answer))
            .await
            .map_err(|_| LogError::Closed)?;
        answered.await.map_err(|_| LogError::Closed)?
    }

    /// The folder with everything that was logged before, for whoever must not miss any of it.
    pub(crate) async fn complete(&self, folder: &Arc<Folder>) -> Result<Arc<Folder>, LogError> {
        if let Engine::Sqlite(_, journal) = &self.engine
            && !journal.is_settled()
        {
            self.ask(Job::Settle).await?;
        }
        Ok(Arc::clone(folder))
    }

    /// The same for whoever reads: what is there can be read, whatever is missing.
    async fn readable(&self, folder: &Arc<Folder>) -> Arc<Folder> {
        if let Err(error) = self.complete(folder).await {
            tracing::warn!(%error, "the execution log is read without its last entries");
        }
        Arc::clone(folder)
    }

    /// One execution by its id.
    pub async fn get(&self, id: Uuid) -> Result<Option<Execution>, LogError> {
        match &self.engine {
            Engine::Sqlite(folder, _) => {
                let folder = self.readable(folder).await;
                blocking(move || folder.get(id)).await
            }
            Engine::Postgres(postgres) => postgres.get(id).await,
        }
    }

    /// Executions that match, newest first (oldest first with `after`).
    pub async fn list(&self, filter: Filter) -> Result<Page, LogError> {
        let search = Search::new(filter)?;
        match &self.engine {
            Engine::Sqlite(folder, _) => {
                let folder = self.readable(folder).await;
                blocking(move || folder.list(&search)).await
            }
            Engine::Postgres(postgres) => postgres.list(search).await,
        }
    }

    /// Counts and durations of the calls of a span.
    pub async fn stats(&self, span: Span) -> Result<Stats, LogError> {
        let tally = Tally::new(span);
        match &self.engine {
            Engine::Sqlite(folder, _) => {
                let folder = self.readable(folder).await;
                blocking(move || folder.stats(tally)).await
            }
            Engine::Postgres(postgres) => postgres.stats(tally).await,
        }
    }

    /// Marks the calls that another node left behind. Only servers on one PostgreSQL have others.
    pub async fn interrupt(&self, node: &str) -> Result<(), LogError> {
        match &self.engine {
            Engine::Sqlite(..) => Ok(()),
            Engine::Postgres(postgres) => postgres.interrupt(node).await,
        }
    }

    /// Returns once everything queued before is written.
    pub async fn flush(&self) -> Result<(), LogError> {
        self.ask(Job::Flush).await
    }

    /// How much the log takes on disk; it is looked at every minute.
    pub fn room(&self) -> Room {
        self.measured.room()
    }

    /// Runs retention now; the log does so by itself every minute.
    pub async fn maintain(&self) -> Result<(), LogError> {
        self.ask(Job::Maintain).await
    }

    /// Writes everything queued, tidies the files and ends the writer. Later writes are refused; reading goes on.
    pub async fn close(&self) -> Result<(), LogError> {
        match self.ask(Job::Close).await {
            Err(LogError::Closed) => Ok(()),
            result => result,
        }
    }
}

/// Neither retention nor an ending that is owed may wait for the next call.
async fn watch(jobs: mpsc::WeakSender<Job>, clock: Clock, owed: Arc<Owed>) {
    let mut today = Day::of(clock.now());
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(jobs) = jobs.upgrade() else { return };
        let now = Day::of(clock.now());
        let job = due(now != today, &owed);
        let (answer, answered) = oneshot::channel();
        if jobs.send(job(answer)).await.is_err() {
            return;
        }
        match answered.await {
            Ok(Ok(())) => today = now,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the execution log could not turn to the new day or write what it owes; it tries again")
            }
            Err(_) => return,
        }
    }
}

/// Has the rows of the journal written, a moment after the first or as soon as there are many. Ends with the log.
async fn settle(jobs: mpsc::WeakSender<Job>, mut waiting: watch::Receiver<bool>) {
    while waiting.changed().await.is_ok() {
        let _ = tokio::time::timeout(GATHER, waiting.wait_for(|many| *many)).await;
        let Some(jobs) = jobs.upgrade() else { return };
        let (answer, answered) = oneshot::channel();
        waiting.mark_unchanged();
        if jobs.send(Job::Settle(answer)).await.is_err() || answered.await.is_err() {
            return;
        }
    }
}

fn due(new_day: bool, owed: &Owed) -> fn(Answer) -> Job {
    match new_day || owed.is_empty() {
        true => Job::Maintain,
        false => Job::Flush,
    }
}

/// Runs what blocks on the threads meant for it.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LogError> + Send + 'static,
) -> Result<T, LogError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(LogError::unavailable)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_log_writes_what_it_owes() {
        let owed = Owed::default();
        let (answer, _answered) = oneshot::channel();
        let job = |new_day, owed: &Owed| due(new_day, owed)(oneshot::channel().0);
        assert!(matches!(job(false, &owed), Job::Maintain(_)));
        assert!(matches!(job(true, &owed), Job::Maintain(_)));
        let row = crate::owed::tests::ending();
        let (mode, full) = (
            Mode::Finish,
            LogError::Full {
                message: String::new(),
            },
        );
        let entry = Entry {
            row: Box::new(row),
            mode,
            answer,
        };
        crate::queue::answer(vec![entry], &Err(full), &owed);
        assert!(matches!(job(false, &owed), Job::Flush(_)));
    }
}
