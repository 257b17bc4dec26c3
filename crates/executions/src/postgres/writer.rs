//! The tasks that write: while one waits for its commit, the other gathers the next batch.

use super::{Postgres, row};
use crate::day::Day;
use crate::error::LogError;
use crate::log::Keeping;
use crate::queue::{self, Batch, Entry, Job, Mode};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, OwnedRwLockReadGuard, RwLock, mpsc};
use tokio::time::timeout;

const WORKERS: usize = 2;
/// How long callers wait for a server that does not answer before they hear about it.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const WRITE_TIMEOUT: Duration = Duration::from_secs(15);
/// A dead connection is found out sooner than this; a server that is down is not asked again.
const QUICK: Duration = Duration::from_secs(1);

/// How often a row is tried that another replica may have kept from its place.
const ALONE_TRIES: usize = 3;

#[derive(Clone)]
pub(super) struct Writer {
    pub(super) postgres: Arc<Postgres>,
    pub(super) keeping: Keeping,
}

/// Held to read while a batch is being written, to write by what must come after all of them.
type Writing = Arc<RwLock<()>>;

impl Writer {
    pub(super) fn start(self, jobs: mpsc::Receiver<Job>) {
        let jobs = Arc::new(Mutex::new(jobs));
        let writing = Writing::default();
        for _ in 0..WORKERS {
            tokio::spawn(self.clone().run(Arc::clone(&jobs), Arc::clone(&writing)));
        }
    }

    async fn run(self, jobs: Arc<Mutex<mpsc::Receiver<Job>>>, writing: Writing) {
        while let Some((entries, _guard)) = self.next(&jobs, &writing).await {
            self.write(entries).await;
        }
    }

    /// The next batch and the right to write it; none when the log is closed.
    async fn next(
        &self,
        jobs: &Mutex<mpsc::Receiver<Job>>,
        writing: &Writing,
    ) -> Option<(Vec<Entry>, OwnedRwLockReadGuard<()>)> {
        let mut jobs = jobs.lock().await;
        let first = jobs.recv().await?;
        let Batch { entries, then } = queue::gather(first, &mut jobs);
        let Some(then) = then else {
            return Some((entries, Arc::clone(writing).read_owned().await));
        };
        // What is asked for comes after all that was queued before it.
        self.write(entries).await;
        drop(writing.write().await);
        self.write_owed().await;
        match then {
            Job::Write(_) => unreachable!("gather keeps every write in the batch"),
            Job::Flush(answer) | Job::Settle(answer) | Job::Compact(_, answer) => {
                let _ = answer.send(Ok(()));
            }
            Job::Maintain(answer) => {
                let _ = answer.send(self.postgres.turn_day(&self.keeping).await);
            }
            Job::Close(answer) => {
                jobs.close();
                while let Ok(job) = jobs.try_recv() {
                    self.write(queue::gather(job, &mut jobs).entries).await;
                }
                self.write_owed().await;
                self.keeping.owed.give_up();
                let _ = answer.send(Ok(()));
            }
        }
        Some((Vec::new(), Arc::clone(writing).read_owned().await))
    }

    /// Each mode is one statement, and so one transaction.
    async fn write(&self, entries: Vec<Entry>) {
        let (started, finished): (Vec<_>, Vec<_>) = entries
            .into_iter()
            .partition(|entry| entry.mode == Mode::Started);
        for (mode, entries) in [(Mode::Started, started), (Mode::Finish, finished)] {
            if !entries.is_empty() {
                self.write_mode(mode, entries).await;
            }
        }
    }

    async fn write_mode(&self, mode: Mode, entries: Vec<Entry>) {
        let result = self.commit_now(mode, &entries).await;
        let Err(LogError::Invalid { .. }) = &result else {
            if let Err(error) = &result {
                tracing::error!(%error, rows = entries.len(), "the execution log could not be written");
            }
            queue::answer(entries, &result, &self.keeping.owed);
            if result.is_ok() {
                self.write_owed().await;
            }
            return;
        };
        // A dropped partition, the same id twice, or one bad row: none of them may take its neighbours along.
        for entry in entries {
            let alone = vec![entry];
            let mut result = result.clone();
            // More than once: a replica that makes the same partition, or drops it, does so between our looking and
            // our writing.
            for _ in 0..ALONE_TRIES {
                if matches!(result, Err(LogError::Invalid { .. })) {
                    self.postgres.forget_known();
                    result = self.commit(mode, &alone).await;
                }
            }
            if let Err(error) = &result {
                let id = alone[0].row.id;
                tracing::error!(%error, %id, "an entry of the execution log could not be written");
            }
            queue::answer(alone, &result, &self.keeping.owed);
        }
    }

    /// Boxed, because a batch that is written pays what is owed: it ends when nothing is.
    async fn write_owed(&self) {
        let owed = self.keeping.owed.take();
        if !owed.is_empty() {
            Box::pin(self.write_mode(Mode::Finish, owed)).await;
        }
    }

    /// After a restart of PostgreSQL every pooled connection is dead, and each says so only when it is used. A row
    /// that was written after all is written again as it is.
    async fn commit_now(&self, mode: Mode, entries: &[Entry]) -> Result<(), LogError> {
        let began = Instant::now();
        let mut result = self.commit(mode, entries).await;
        let mut tries = self.postgres.pool.size();
        while matches!(result, Err(LogError::Unavailable { .. }))
            && tries > 0
            && began.elapsed() < QUICK
        {
            tries -= 1;
            result = self.commit(mode, entries).await;
        }
        result
    }

    async fn commit(&self, mode: Mode, entries: &[Entry]) -> Result<(), LogError> {
        let gone = |_| LogError::unavailable("PostgreSQL does not answer");
        let mut days: Vec<Day> = entries.iter().map(Entry::day).collect();
        days.dedup();
        timeout(WRITE_TIMEOUT, self.postgres.ensure(&days))
            .await
            .map_err(gone)??;
        let mut connection = timeout(CONNECT_TIMEOUT, self.postgres.pool.acquire())
            .await
            .map_err(gone)??;
        let written = timeout(WRITE_TIMEOUT, row::insert(&mut connection, mode, entries)).await;
        match written {
            Ok(result) => Ok(result?),
            Err(elapsed) => {
                // A statement cut off in the middle leaves the connection unusable: it must not go back to the pool.
                connection.close_on_drop();
                Err(gone(elapsed))
            }
        }
    }
}
