//! Driving a run whatever happens: a panic ends one try and no more, what cannot go on is tried again a little later, and what
//! never can is ended.

use super::driver::drive;
use super::hidden::text;
use super::journal::Lost;
use super::keeping::Driving;
use crate::App;
use agent::entry::{Ending, Entry, RunError, Status};
use std::sync::Arc;
use store::runs::{RunRow, RunWrite, Written};
use uuid::Uuid;

/// How often a run is tried that cannot go on from where it stands. Each try may ask its model again.
const TRIES_MAX: u32 = 5;

/// How often its end is tried to be stored.
const ENDINGS_MAX: usize = 3;

impl App {
    /// Drives a run that this process has claimed, in a task of its own.
    pub(crate) fn drive(self: &Arc<Self>, row: RunRow, driving: Driving) {
        let app = Arc::clone(self);
        self.runs.tasks.spawn(async move {
            app.drive_on(row).await;
            drop(driving);
            app.runs.freed.notify_one();
        });
    }

    async fn drive_on(self: &Arc<Self>, row: RunRow) {
        let (id, epoch) = (row.id, row.epoch);
        let (mut pause, mut tried, mut stands_at) =
            (self.runs.settings.first_pause, 0, row.last_seq);
        loop {
            tried += 1;
            // In a task of its own: whatever it does, this one is left to say what becomes of the run.
            let driven = tokio::spawn(drive(Arc::clone(self), row.clone())).await;
            let error = match driven {
                Ok(Ok(())) => return,
                Ok(Err(Lost::Replaced)) => {
                    tracing::info!(run = %id, "another server drives this run now");
                    return;
                }
                Ok(Err(Lost::Stopping)) => return self.let_go(id, epoch).await,
                Ok(Err(Lost::Broken(error))) => error,
                Err(error) => error.to_string(),
            };
            tracing::error!(run = %id, %error, "a run could not go on; it is tried again");
            // Whatever went wrong before it got on is over. A run that gets on comes to its limits in the end.
            let now_at = match self.store.run(id).await {
                Ok(Some(row)) => row.last_seq,
                _ => stands_at,
            };
            if now_at > stands_at {
                (pause, tried, stands_at) = (self.runs.settings.first_pause, 1, now_at);
            }
            if tried >= TRIES_MAX {
                break;
            }
            let live = self.runs.lives.of(id);
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                // Somebody wants something of it.
                () = live.poked.notified() => {}
                () = self.runs.stopping.cancelled() => return self.let_go(id, epoch).await,
            }
            pause *= 2;
        }
        self.give_up(id, epoch).await;
    }

    /// Whoever looks next may drive it.
    async fn let_go(&self, id: Uuid, epoch: i64) {
        if let Err(error) = self.store.release_run(id, &self.node, epoch).await {
            tracing::warn!(run = %id, %error, "a run could not be let go; it is as soon as the database answers");
        }
    }

    /// Ends a run with nothing but its end: whatever else was to be stored could not be.
    async fn give_up(&self, id: Uuid, epoch: i64) {
        for _ in 0..ENDINGS_MAX {
            match self.end_broken(id, epoch).await {
                Ok(Written::Done | Written::Replaced) => return self.runs.lives.of(id).poke(),
                Ok(Written::Behind) => {}
                Err(error) => {
                    tracing::error!(run = %id, %error, "a run that cannot go on could not be ended");
                    break;
                }
            }
        }
        self.let_go(id, epoch).await;
    }

    async fn end_broken(&self, id: Uuid, epoch: i64) -> crate::Result<Written> {
        let Some(row) = self.store.run(id).await? else {
            return Ok(Written::Replaced);
        };
        // A journal that cannot be read is ended as well.
        let state = self.run_state(&row).await.unwrap_or_default();
        let why =
            format!("The run could not go on after {TRIES_MAX} tries; the server's log says why");
        let error = RunError::new("internal", why);
        let column = serde_json::json!(error).to_string();
        let ended = Entry::Ended(Box::new(Ending {
            status: Status::Failed,
            output: None,
            value: None,
            error: Some(error),
            usage: state.usage,
            cost: state.cost,
        }));
        let write = RunWrite {
            id,
            epoch,
            last_seq: row.last_seq,
            at: self.clock.now(),
            bodies: &[text(&ended)],
            status: Status::Failed.as_str(),
            output: None,
            error: Some(&column),
            wake_at: None,
            is_over: true,
            is_released: true,
        };
        Ok(self.store.write_run(&write).await?)
    }
}
