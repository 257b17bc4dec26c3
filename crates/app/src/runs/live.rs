//! Runs that somebody in this process drives or follows: their entries as they are stored, and the text that a model is
//! writing right now.

use agent::entry::Entry;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::{Notify, watch};
use uuid::Uuid;

/// An entry with its place and time.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) seq: u64,
    pub(crate) at: i64,
    pub(crate) entry: Arc<Entry>,
}

/// One run, shared by who drives it and who follows it.
#[derive(Debug, Default)]
pub(crate) struct Live {
    told: Mutex<Told>,
    changed: watch::Sender<u64>,
    /// Somebody added to the run who does not drive it.
    pub(crate) poked: Notify,
    /// Whether this process drives it, so that all there is to tell is told here.
    driven: AtomicBool,
}

/// What somebody has not been told yet.
pub(crate) struct News {
    pub(crate) entries: Vec<Kept>,
    /// Of the turn after the last entry.
    pub(crate) text: String,
    pub(crate) resets: u64,
    pub(crate) progress: Vec<(String, String)>,
}

#[derive(Debug, Default)]
struct Told {
    /// From the first entry on.
    entries: Vec<Kept>,
    /// What has been written of the turn after the last entry.
    text: String,
    /// How often what was written was taken back.
    resets: u64,
    /// What running calls say of themselves: the newest line of each.
    progress: Vec<(String, String)>,
}

impl Live {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    /// Stored entries, of which some may be known.
    pub(crate) fn take(&self, entries: impl IntoIterator<Item = Kept>) {
        let mut told = self.told();
        for kept in entries {
            if kept.seq == told.entries.len() as u64 + 1 {
                if matches!(*kept.entry, Entry::Turn { .. } | Entry::Note { .. }) {
                    told.text.clear();
                }
                told.progress.clear();
                told.entries.push(kept);
            }
        }
        drop(told);
        self.tell();
    }

    pub(crate) fn write(&self, text: &str) {
        self.told().text.push_str(text);
        self.tell();
    }

    /// The model is asked for a turn: of an earlier try nothing counts.
    pub(crate) fn begin_turn(&self) {
        let is_begun = !self.told().text.is_empty();
        if is_begun {
            self.write_again();
        }
    }

    /// How often what was written was taken back.
    pub(crate) fn resets(&self) -> u64 {
        self.told().resets
    }

    /// What was written of this turn counts no more.
    pub(crate) fn write_again(&self) {
        let mut told = self.told();
        told.text.clear();
        told.resets += 1;
        drop(told);
        self.tell();
    }

    pub(crate) fn note_progress(&self, call: &str, line: String) {
        let mut told = self.told();
        match told.progress.iter_mut().find(|(id, _)| id == call) {
            Some((_, last)) => *last = line,
            None => told.progress.push((call.to_owned(), line)),
        }
        drop(told);
        self.tell();
    }

    pub(crate) fn known(&self) -> u64 {
        self.told().entries.len() as u64
    }

    /// What there is to tell to somebody who knows so many entries.
    pub(crate) fn after(&self, seq: u64) -> News {
        let told = self.told();
        let from = (seq as usize).min(told.entries.len());
        News {
            entries: told.entries[from..].to_vec(),
            text: told.text.clone(),
            resets: told.resets,
            progress: told.progress.clone(),
        }
    }

    pub(crate) fn is_driven(&self) -> bool {
        self.driven.load(Ordering::Relaxed)
    }

    /// From now on this process drives it. What an earlier driver wrote of a turn counts no more.
    pub(crate) fn begin(&self) {
        self.begin_turn();
        self.driven.store(true, Ordering::Relaxed);
    }

    /// Nobody here drives it any more; what was not stored is gone.
    pub(crate) fn end(&self) {
        let mut told = self.told();
        told.text.clear();
        told.progress.clear();
        drop(told);
        self.driven.store(false, Ordering::Relaxed);
        self.tell();
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    pub(crate) fn poke(&self) {
        self.poked.notify_one();
        self.tell();
    }
}

/// All of them. Nobody keeps one that nobody needs.
#[derive(Debug, Default)]
pub(crate) struct Lives(Mutex<HashMap<Uuid, Weak<Live>>>);

impl Lives {
    pub(crate) fn of(&self, id: Uuid) -> Arc<Live> {
        let mut lives = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(live) = lives.get(&id).and_then(Weak::upgrade) {
            return live;
        }
        if lives.len() >= 64 && lives.len() == lives.capacity() {
            lives.retain(|_, live| live.strong_count() > 0);
        }
        let live = Arc::new(Live::default());
        lives.insert(id, Arc::downgrade(&live));
        live
    }
}
