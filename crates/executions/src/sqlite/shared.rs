//! Who writes: a thread, with the rows of many callers in one commit; or, for one who is alone, the caller itself. Waking
//! the thread and being woken by it cost more than the row, and a commit shared by many costs less than each its own.

use super::writer::Writer;
use crate::queue::{Entry, Job};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// How long it is believed that there are many after two were seen at once.
const CROWDED: Duration = Duration::from_millis(20);

pub(crate) struct SharedWriter {
    writer: Mutex<Writer>,
    opened: Instant,
    /// Until then rows go to the thread; in microseconds since it was opened.
    crowded_until: AtomicU64,
    /// It may be tidying up after the row of whoever comes next.
    thread_works: AtomicBool,
}

impl SharedWriter {
    pub(super) fn new(writer: Writer) -> Self {
        SharedWriter {
            writer: Mutex::new(writer),
            opened: Instant::now(),
            crowded_until: AtomicU64::new(0),
            thread_works: AtomicBool::new(false),
        }
    }

    /// The thread's work, until there is nobody left who could bring it any.
    pub(super) fn run(&self, mut jobs: mpsc::Receiver<Job>) {
        while let Some(first) = jobs.blocking_recv() {
            let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            self.thread_works.store(true, Ordering::Relaxed);
            let rows = writer.work(first, &mut jobs);
            self.thread_works.store(false, Ordering::Relaxed);
            if rows > 1 {
                self.saw_several();
            }
            // Whoever comes later finds nobody, and is told so.
            if writer.closed {
                return;
            }
        }
    }

    /// Commits the entry on the caller's thread, or gives it back: there are others, or it would take long.
    pub(crate) fn write_at_once(&self, entry: Entry) -> Result<(), Entry> {
        if self.now() < self.crowded_until.load(Ordering::Relaxed) {
            return Err(entry);
        }
        let mut writer = match self.writer.try_lock() {
            Ok(writer) => writer,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                if !self.thread_works.load(Ordering::Relaxed) {
                    self.saw_several();
                }
                return Err(entry);
            }
        };
        if !writer.is_quick(&entry) {
            return Err(entry);
        }
        writer.write_quickly(entry)
    }

    fn saw_several(&self) {
        let until = self.now() + CROWDED.as_micros() as u64;
        self.crowded_until.store(until, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        self.opened.elapsed().as_micros() as u64
    }
}
