//! A run in the hands of the one who drives it: its state, and the entries that are to be stored before anything else
//! happens.

use super::live::{Kept, Live};
use crate::App;
use agent::entry::{Ending, Entry, Status};
use agent::state::State;
use catalog::caller::Caller;
use std::sync::Arc;
use std::time::Duration;
use store::runs::{RunEntryRow, RunRow, RunWrite, Written};

/// How long a driver waits before it tries again to store something.
const PAUSE: Duration = Duration::from_millis(250);

pub(crate) struct Journal {
    pub(crate) app: Arc<App>,
    pub(crate) row: RunRow,
    pub(crate) state: State,
    pub(crate) live: Arc<Live>,
    /// Applied, and not stored yet.
    added: Vec<Added>,
    /// On whose behalf, where they still may.
    caller: Option<Arc<Caller>>,
    /// Whether something that it needs was sealed with a key that is not there any more.
    pub(crate) has_lost: bool,
}

struct Added {
    at: i64,
    entry: Entry,
    /// What all may read of it, where that is not everything.
    told: Option<Entry>,
}

/// A stored entry.
struct Stored {
    /// As all may read it.
    kept: Kept,
    whole: Arc<Entry>,
}

/// Why a driver has to let go of a run.
#[derive(Debug)]
pub(crate) enum Lost {
    /// Somebody else drives it, or it is gone.
    Replaced,
    /// This process stops.
    Stopping,
    Broken(String),
}

impl From<store::Error> for Lost {
    fn from(error: store::Error) -> Self {
        Lost::Broken(error.to_string())
    }
}

impl Journal {
    pub(crate) async fn open(app: Arc<App>, row: RunRow) -> Result<Self, Lost> {
        let live = app.runs.lives.of(row.id);
        let caller = app.caller_of_run(&row).ok();
        let mut journal = Journal {
            caller,
            has_lost: false,
            app,
            row,
            state: State::default(),
            live,
            added: Vec::new(),
        };
        journal.catch_up().await?;
        journal.live.begin();
        Ok(journal)
    }

    /// How many entries are stored, as far as this driver knows.
    fn stored(&self) -> i64 {
        self.state.seq as i64 - self.added.len() as i64
    }

    /// Reads what others added. A database that does not answer is waited for.
    async fn catch_up(&mut self) -> Result<(), Lost> {
        loop {
            match self.read_on().await {
                Err(store::Error::Unavailable(error)) => self.pause(&error).await?,
                done => return Ok(done?),
            }
        }
    }

    /// The same for who only looks while something goes on: where the database does not answer, there is nothing new, and
    /// what goes on is not cut off for that.
    pub(crate) async fn look(&mut self) -> Result<(), Lost> {
        match self.read_on().await {
            Err(store::Error::Unavailable(error)) => {
                tracing::warn!(%error, run = %self.row.id, "a run cannot be looked at; it goes on");
                Ok(())
            }
            done => Ok(done?),
        }
    }

    async fn pause(&self, error: &(impl std::fmt::Display + Sync)) -> Result<(), Lost> {
        tracing::warn!(%error, run = %self.row.id, "a run waits for the database");
        tokio::select! {
            () = tokio::time::sleep(PAUSE) => Ok(()),
            () = self.app.runs.stopping.cancelled() => Err(Lost::Stopping),
        }
    }

    /// What this driver has not stored yet comes after what others added.
    async fn read_on(&mut self) -> store::Result<()> {
        let entries = self.entries(self.stored()).await?;
        if entries.is_empty() {
            return Ok(());
        }
        if self.added.is_empty() {
            for it in &entries {
                self.state.apply(it.kept.at, &it.whole);
            }
        } else {
            let all = self.entries(0).await?;
            let added = self.added.iter().map(|it| (it.at, &it.entry));
            let stored = all.iter().map(|it| (it.kept.at, &*it.whole));
            self.state = State::of(stored.chain(added));
        }
        self.live.take(entries.into_iter().map(|it| it.kept));
        Ok(())
    }

    async fn entries(&mut self, after: i64) -> store::Result<Vec<Stored>> {
        let rows = self.app.store.run_entries(self.row.id, after).await?;
        let unsealed: Vec<_> = rows
            .iter()
            .map(|row| self.app.unsealed(self.row.id, &row.body))
            .collect();
        let kept = read(rows)?;
        let all = kept.into_iter().zip(unsealed).map(|(kept, unsealed)| {
            let whole = unsealed.unwrap_or_else(|_| {
                self.has_lost = true;
                None
            });
            let whole = whole.map_or_else(|| Arc::clone(&kept.entry), Arc::new);
            Stored { kept, whole }
        });
        Ok(all.collect())
    }

    /// Makes it count here; it is stored before anything follows from it outside.
    pub(crate) fn add(&mut self, entry: Entry) {
        let at = self.app.clock.now();
        let caller = self.caller.as_deref();
        let told = self.app.told_of(caller, &self.state, &entry);
        self.state.apply(at, &entry);
        self.added.push(Added { at, entry, told });
    }

    /// The last entry, with what the run used.
    pub(crate) fn end(&mut self, ending: Ending) {
        let (usage, cost) = (self.state.usage, self.state.cost);
        self.add(Entry::Ended(Box::new(Ending {
            usage,
            cost,
            ..ending
        })));
    }

    pub(crate) fn note(&mut self, code: &str, message: impl Into<String>) {
        self.add(Entry::Note {
            code: code.to_owned(),
            message: message.into(),
        });
    }

    /// Stores what was added. A database that does not answer is waited for: nothing may happen before.
    pub(crate) async fn store(&mut self) -> Result<(), Lost> {
        self.write(false).await.map(drop)
    }

    /// The same, and lets go of a run that waits or is over. Not where somebody answered just now: then it goes on.
    pub(crate) async fn release(&mut self) -> Result<bool, Lost> {
        self.write(true).await
    }

    async fn write(&mut self, may_release: bool) -> Result<bool, Lost> {
        // Made once: what is sealed is sealed otherwise every time, and it is compared with what is stored.
        let body = |it: &Added| self.app.body_of(self.row.id, &it.entry, it.told.as_ref());
        let bodies: Vec<String> = self.added.iter().map(body).collect();
        let mut is_in_doubt = false;
        let is_released = loop {
            let is_released = may_release && self.state.status() != Status::Running;
            if self.added.is_empty() && !is_released {
                return Ok(false);
            }
            match self.try_write(&bodies, is_released).await {
                Ok(Written::Done) => break is_released,
                // It was stored, and only the answer was lost.
                Ok(Written::Behind) if is_in_doubt && self.is_stored(&bodies).await? => {
                    break is_released;
                }
                Ok(Written::Behind) => self.catch_up().await?,
                Ok(Written::Replaced) => return Err(Lost::Replaced),
                Err(store::Error::Unavailable(error)) => {
                    is_in_doubt = true;
                    self.pause(&error).await?;
                }
                Err(error) => return Err(error.into()),
            }
        };
        let first = self.stored() as u64 + 1;
        let added = std::mem::take(&mut self.added).into_iter();
        let kept = added.zip(first..).map(|(it, seq)| Kept {
            seq,
            at: it.at,
            entry: Arc::new(it.told.unwrap_or(it.entry)),
        });
        self.live.take(kept.collect::<Vec<_>>());
        Ok(is_released)
    }

    /// Whether the entries behind those it knows are its own: nobody else writes the same.
    async fn is_stored(&self, bodies: &[String]) -> Result<bool, Lost> {
        let rows = loop {
            match self.app.store.run_entries(self.row.id, self.stored()).await {
                Err(store::Error::Unavailable(error)) => self.pause(&error).await?,
                rows => break rows?,
            }
        };
        let stored = rows.iter().map(|row| &row.body);
        Ok(!bodies.is_empty() && bodies.iter().eq(stored.take(bodies.len())))
    }

    async fn try_write(&self, bodies: &[String], is_released: bool) -> store::Result<Written> {
        let status = self.state.status();
        let ending = self.state.ending.as_ref();
        let error = ending.and_then(|it| it.error.as_ref());
        let error = error.map(|error| serde_json::json!(error).to_string());
        // PostgreSQL's text cannot hold U+0000, which JSON can.
        let output = ending.and_then(|it| it.output.as_deref());
        let output = output.map(|it| it.replace('\0', "\u{FFFD}"));
        self.app
            .store
            .write_run(&RunWrite {
                id: self.row.id,
                epoch: self.row.epoch,
                last_seq: self.stored(),
                at: self.app.clock.now(),
                bodies,
                status: status.as_str(),
                output: output.as_deref(),
                error: error.as_deref(),
                wake_at: self.state.pending().map(|it| it.expires_at).min(),
                is_over: status.is_over(),
                is_released,
            })
            .await
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.live.end();
    }
}

/// Stored entries, as all may read them.
pub(crate) fn read(rows: Vec<RunEntryRow>) -> store::Result<Vec<Kept>> {
    let entry = |row: RunEntryRow| {
        let entry = serde_json::from_str(&row.body).map_err(|error| {
            store::Error::Corrupt(format!("entry {} of a run: {error}", row.seq))
        })?;
        Ok(Kept {
            seq: row.seq as u64,
            at: row.at,
            entry: Arc::new(entry),
        })
    };
    rows.into_iter().map(entry).collect()
}
