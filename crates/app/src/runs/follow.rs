//! Following a run: everything from a place on, and then what happens, until it is over.

use super::events::{Position, RunEvent, Teller};
use super::journal;
use super::live::Live;
use crate::App;
use crate::error::{Error, Result};
use crate::runs::views::RunView;
use agent::entry::Status;
use agent::state::State;
use catalog::caller::Caller;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use uuid::Uuid;

/// How often the journal of a run is looked at that another server may drive.
const ELSEWHERE: Duration = Duration::from_millis(200);

/// The same where there is no other: only what this process does can change it, and it says so.
const HERE: Duration = Duration::from_secs(2);

/// Somebody who is told what happens in a run.
pub struct Follower {
    app: Arc<App>,
    id: Uuid,
    live: Arc<Live>,
    changes: watch::Receiver<u64>,
    teller: Teller,
    queue: VecDeque<RunEvent>,
    resets: u64,
}

impl App {
    /// Follows a run from a place on.
    pub async fn follow_run(
        self: &Arc<Self>,
        caller: &Caller,
        id: &str,
        from: Position,
    ) -> Result<Follower> {
        let row = self.run_row(caller, id).await?;
        let live = self.runs.lives.of(row.id);
        let mut changes = live.changes();
        changes.mark_changed();
        let resets = live.resets();
        let mut follower = Follower {
            app: Arc::clone(self),
            id: row.id,
            live,
            changes,
            teller: Teller::new(from),
            queue: VecDeque::new(),
            resets,
        };
        // However long the database takes: whoever waits for nothing is told what is stored.
        follower.read_stored().await?;
        // What was told was stored before: nobody has read on from here, and nothing would ever be told to who waits there.
        let last = (row.last_seq.max(0) as u64).max(follower.live.known());
        if from.seq > last {
            return Err(Error::invalid(format!(
                "Last-Event-ID (or after): expected the id of an event of this run, got '{}'; the id of its last event is '{last}'. Go on from there, or leave it out to be told everything",
                from.id()
            )));
        }
        Ok(follower)
    }

    /// The run once it is over or waits for somebody, or after `within`.
    pub async fn wait_for_run(
        self: &Arc<Self>,
        caller: &Caller,
        id: &str,
        within: Duration,
    ) -> Result<RunView> {
        let view = self.get_run(caller, id).await?;
        if view.status != Status::Running.as_str() || within.is_zero() {
            return Ok(view);
        }
        let mut follower = self.follow_run(caller, id, Position::default()).await?;
        let rests = async {
            let mut state = State::default();
            loop {
                follower.changed().await?;
                for kept in follower.live.after(state.seq).entries {
                    state.apply(kept.at, &kept.entry);
                }
                if state.seq == 0 || state.status() == Status::Running {
                    continue;
                }
                // Somebody may have answered already, of which the driver has yet to hear.
                let view = self.get_run(caller, id).await?;
                if view.status != Status::Running.as_str() {
                    return Ok(view);
                }
            }
        };
        match tokio::time::timeout(within, rests).await {
            Ok(view) => view,
            Err(_) => self.get_run(caller, id).await,
        }
    }
}

impl Follower {
    /// The next event; none once the run is over. May be dropped and asked again.
    pub async fn next(&mut self) -> Result<Option<RunEvent>> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Ok(Some(event));
            }
            if self.teller.is_over() {
                return Ok(None);
            }
            self.take();
            if self.queue.is_empty() && !self.teller.is_over() {
                self.changed().await?;
            }
        }
    }

    /// What has happened meanwhile, without waiting for more.
    pub fn ready(&mut self) -> Vec<RunEvent> {
        if !self.teller.is_over() {
            self.take();
        }
        self.queue.drain(..).collect()
    }

    pub fn is_over(&self) -> bool {
        self.teller.is_over() && self.queue.is_empty()
    }

    /// What there is to tell.
    fn take(&mut self) {
        let news = self.live.after(self.teller.seq());
        for kept in &news.entries {
            self.queue.extend(self.teller.entry(&kept.entry));
        }
        // Of the turn after them: what was taken back of an earlier one shows where that is told.
        if news.resets != self.resets {
            self.resets = news.resets;
            self.queue.extend(self.teller.reset());
        }
        self.queue.extend(self.teller.writing(&news.text));
        self.queue.extend(self.teller.progress(&news.progress));
    }

    /// Until something may have changed.
    async fn changed(&mut self) -> Result<()> {
        if self.read_stored().await? {
            self.changes.mark_unchanged();
            return Ok(());
        }
        let pause = match self.app.is_shared() {
            true => ELSEWHERE,
            false => HERE,
        };
        tokio::select! {
            _ = self.changes.changed() => {}
            () = tokio::time::sleep(pause) => {}
        }
        Ok(())
    }

    /// Whether the journal has more than is known here. Who drives the run tells everything by itself.
    async fn read_stored(&mut self) -> Result<bool> {
        if self.live.is_driven() {
            return Ok(false);
        }
        let known = i64::try_from(self.live.known()).unwrap_or(i64::MAX);
        let rows = self.app.store.run_entries(self.id, known).await?;
        if rows.is_empty() {
            return Ok(false);
        }
        self.live.take(journal::read(rows)?);
        Ok(true)
    }
}
