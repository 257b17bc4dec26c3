//! Workers that wait for their next call: a few for each script and environment, not too many in all, and none for long.

use super::worker::Worker;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How many wait in all; the one that has waited longest makes room.
const WAITING_MAX: usize = 16;

/// How long one waits: by then its tool may be gone, or its secrets.
const IDLE: Duration = Duration::from_secs(300);

/// What a worker is good for. A secret of one tool is in no other tool's process.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// The tool, and its script or module.
    pub(super) what: String,
    pub(super) interpreter: Option<PathBuf>,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) is_walled: bool,
}

#[derive(Default)]
pub(super) struct Pool(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    workers: VecDeque<(Key, Worker, Instant)>,
    /// Whether somebody looks after them.
    is_watched: bool,
}

impl Pool {
    /// The one that was used last: what it needs is most likely still at hand. One that has ended while it waited is
    /// passed over.
    pub(super) fn take(&self, key: &Key) -> Option<Worker> {
        loop {
            let mut worker = self.take_last(key)?;
            if worker.is_waiting() {
                return Some(worker);
            }
        }
    }

    fn take_last(&self, key: &Key) -> Option<Worker> {
        let mut waiting = lock(&self.0);
        let at = waiting
            .workers
            .iter()
            .rposition(|(known, ..)| known == key)?;
        waiting.workers.remove(at).map(|(_, worker, _)| worker)
    }

    /// Ends all that wait with this key.
    pub(super) fn drop_all(&self, key: &Key) {
        while self.take_last(key).is_some() {}
    }

    pub(super) fn put(&self, key: Key, worker: Worker) {
        let mut waiting = lock(&self.0);
        waiting.workers.push_back((key, worker, Instant::now()));
        // Dropped outside the lock.
        let is_full = waiting.workers.len() > WAITING_MAX;
        let over = is_full.then(|| waiting.workers.pop_front());
        let was_watched = std::mem::replace(&mut waiting.is_watched, true);
        drop(waiting);
        drop(over);
        if !was_watched {
            tokio::spawn(watch(Arc::clone(&self.0)));
        }
    }
}

/// Ends those that have waited too long, until there are none.
async fn watch(pool: Arc<Mutex<Waiting>>) {
    loop {
        tokio::time::sleep(IDLE / 5).await;
        let mut waiting = lock(&pool);
        let (old, young) = std::mem::take(&mut waiting.workers)
            .into_iter()
            .partition::<VecDeque<_>, _>(|(.., since)| since.elapsed() > IDLE);
        waiting.workers = young;
        waiting.is_watched = !waiting.workers.is_empty();
        let is_over = !waiting.is_watched;
        drop(waiting);
        drop(old);
        if is_over {
            return;
        }
    }
}

fn lock(pool: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    pool.lock().unwrap_or_else(PoisonError::into_inner)
}
