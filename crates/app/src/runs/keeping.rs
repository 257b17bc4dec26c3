//! Runs that nobody drives are taken up by whoever looks first: those of a server that is gone, those that were answered
//! elsewhere, and those of which a question has expired. What is long over is forgotten.

use super::counted::Counted;
use super::live::Lives;
use super::settings::Settings;
use crate::App;
use catalog::tool::Annotations;
use kinds::All;
use providers::Client;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

/// How often it is looked for them.
const LOOK: Duration = Duration::from_secs(1);

const HOUR_MS: i64 = 3_600_000;

/// Runs that somebody in this process drives, or is about to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Driven(Arc<Mutex<HashMap<Uuid, usize>>>);

/// As long as this is there, a run counts as driven.
#[derive(Debug)]
pub(crate) struct Driving {
    all: Driven,
    id: Uuid,
}

impl Driven {
    /// Said before the database says so: else a run could look abandoned that is about to be driven.
    pub(crate) fn drives(&self, id: Uuid) -> Driving {
        *self.all().entry(id).or_default() += 1;
        Driving {
            all: self.clone(),
            id,
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<Uuid, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Driving {
    fn drop(&mut self) {
        let mut all = self.all.all();
        if let Some(count) = all.get_mut(&self.id) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.id);
            }
        }
    }
}

/// What all runs of this process share.
pub struct Runs {
    pub(crate) settings: Settings,
    pub(crate) client: Client,
    /// What the builtins say of themselves, for tools that are made of one and say nothing.
    pub(crate) hints: HashMap<String, Annotations>,
    pub(crate) lives: Lives,
    pub(crate) counted: Counted,
    pub(crate) driven: Driven,
    pub(crate) tasks: TaskTracker,
    pub(crate) stopping: CancellationToken,
    /// A driver has ended: there is room for another.
    pub(crate) freed: Notify,
    forgot_at: AtomicI64,
}

impl Runs {
    pub(crate) fn new(settings: Settings, runnable: &All) -> Self {
        let builtins = runnable.builtins.iter().map(|it| &it.definition);
        Runs {
            settings,
            client: Client::new(runnable.fetcher.clone()),
            hints: builtins
                .map(|it| (it.name.clone(), it.annotations.clone()))
                .collect(),
            lives: Lives::default(),
            counted: Counted::default(),
            driven: Driven::default(),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            freed: Notify::new(),
            forgot_at: AtomicI64::new(0),
        }
    }

    /// How many are driven here.
    pub fn under_way(&self) -> usize {
        self.tasks.len()
    }
}

impl App {
    /// Takes up runs until the server stops.
    pub fn keep_runs(self: &Arc<Self>) {
        let (app, stopping) = (Arc::downgrade(self), self.runs.stopping.clone());
        tokio::spawn(async move {
            loop {
                if !look(&app).await {
                    return;
                }
                tokio::select! {
                    () = stopping.cancelled() => return,
                    () = tokio::time::sleep(LOOK) => {}
                }
            }
        });
    }

    async fn take_up_runs(self: &Arc<Self>) -> store::Result<()> {
        let now = self.clock.now();
        self.let_go_of_abandoned().await?;
        while self.runs.under_way() < self.runs.settings.runs_max && !self.replicas.is_leaving() {
            match self.store.claim_next_run(&self.node, now).await? {
                Some(row) => {
                    let driving = self.runs.driven.drives(row.id);
                    self.drive(row, driving);
                }
                None => break,
            }
        }
        let last = self.runs.forgot_at.load(Ordering::Relaxed);
        if now - last >= HOUR_MS {
            self.runs.forgot_at.store(now, Ordering::Relaxed);
            let kept = self.runs.settings.keep_days * 24 * HOUR_MS;
            self.store.forget_runs(now - kept).await?;
        }
        Ok(())
    }

    /// What the database says that this server drives, and nobody here does: the answer to a claim was lost, or whoever made
    /// it was cut off. Others may take it up.
    async fn let_go_of_abandoned(&self) -> store::Result<()> {
        for (id, epoch) in self.store.runs_of_node(&self.node).await? {
            let is_driven = self.runs.driven.all().contains_key(&id);
            if !is_driven {
                tracing::warn!(run = %id, "nobody drives a run that is this server's; it is taken up anew");
                self.store.release_run(id, &self.node, epoch).await?;
            }
        }
        Ok(())
    }

    /// No new step is begun; those under way end, and what they lead to is stored. Others may take the runs up.
    pub(crate) async fn stop_runs(&self, grace: Duration) {
        self.runs.stopping.cancel();
        self.runs.tasks.close();
        let ended = tokio::time::timeout(grace, self.runs.tasks.wait()).await;
        if ended.is_err() {
            tracing::warn!(
                "some runs did not stop in time; they are taken up as if this server had been killed"
            );
        }
        if let Err(error) = self.store.release_runs(&self.node).await {
            tracing::warn!(%error, "runs could not be let go");
        }
    }
}

/// False where the server is gone.
async fn look(app: &Weak<App>) -> bool {
    let Some(app) = app.upgrade() else {
        return false;
    };
    if let Err(error) = app.take_up_runs().await {
        tracing::warn!(%error, "runs that nobody drives could not be looked for");
    }
    true
}
