//! The operations of Toolcrib, free of any protocol: REST, the command line and everything to come turn
//! their requests into these. One file per resource.

pub mod access;
pub mod agents;
pub mod audit;
pub mod auth;
pub mod backup;
pub mod calls;
mod decided;
mod dry_run;
pub mod erasure;
pub mod error;
pub mod eval;
pub mod executions_view;
pub mod explain;
pub mod exports;
pub mod health;
pub mod keys;
mod leases;
pub mod limits;
pub mod login;
pub mod metrics;
pub mod oidc;
pub mod openapi;
pub mod owner;
mod passwords;
pub mod pipeline;
pub mod planning;
pub mod plans;
pub mod policy;
mod programs;
pub mod reassign;
pub mod replicas;
pub mod retrieval;
pub mod runs;
pub mod sealing_keys;
pub mod secrets;
pub mod select;
pub mod servers;
pub mod sessions;
pub mod shelf;
mod shown;
pub mod sign_in;
mod since;
pub mod skills;
pub mod sources;
pub mod status;
pub mod time;
pub mod tool_tests;
pub mod tools;
pub mod toolsets;
mod unmatched;
pub mod upstreams;
pub mod users;
mod uses;
pub mod vectors;
pub mod versions;
pub mod writer;

mod exchange;
mod kept;
mod open;
pub mod page;
mod patch;
mod plan;
mod reach;
mod readings;
mod risk;
mod throttle;
mod trial;
mod troubles;
mod vault;
mod watcher;

pub use error::{Error, Result};
pub use kinds::upstream as asking;
pub use open::{Options, StartError};

use arc_swap::ArcSwap;
use catalog::clock::Clock;
use catalog::mcp_file::McpFile;
use executor::Executor;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use store::Db;
use tokio::sync::{broadcast, mpsc, watch};

/// How long a stopping server waits for the answers of keyed calls to be stored.
const KEYED_GRACE: Duration = Duration::from_secs(5);

/// How long it waits for runs to store what their last calls answered.
const RUNS_GRACE: Duration = Duration::from_secs(5);

/// Everything an operation needs. Made once by `App::open`, shared by all faces.
pub struct App {
    pub executor: Arc<Executor>,
    pub store: Db,
    pub clock: Clock,
    pub access: ArcSwap<access::Access>,
    access_changed: watch::Sender<()>,
    agents: ArcSwap<kept::Kept<store::agents::AgentRow>>,
    agent_changes: tokio::sync::Mutex<()>,
    toolsets: ArcSwap<kept::Kept<toolsets::Stored>>,
    pub status: Arc<ArcSwap<status::ShelfStatus>>,
    /// The upstream servers of `mcp.json`.
    pub servers: watch::Receiver<Arc<McpFile>>,
    kept_servers: servers::Servers,
    kept_sources: Arc<sources::Sources>,
    pub upstreams: Arc<mcp::upstream::Upstreams>,
    told: broadcast::Sender<mcp::upstream::Notice>,
    /// What upstream servers would tell, where nobody keeps them connected.
    unheard: Mutex<Option<mpsc::UnboundedReceiver<mcp::upstream::Notice>>>,
    vectors: Arc<kinds::retrieval::Vectors>,
    chooser: select::Chooser,
    pipeline: pipeline::Settings,
    skills: Arc<skills::Skills>,
    pub workspace: PathBuf,
    pub data: PathBuf,
    /// This installation's name in rows it writes.
    pub node: String,
    admin_key: Option<String>,
    env: writer::EnvLookup,
    builtin_names: Vec<String>,
    /// How tools' saved tests ended, by the tool's id.
    tested: ArcSwap<HashMap<uuid::Uuid, store::tool_tests::ToolTestRow>>,
    scripts: tool_tests::Scripts,
    vault: Arc<vault::Vault>,
    tokens: Arc<sign_in::Tokens>,
    idempotent: calls::InFlight,
    writer: Mutex<Option<WriterHandle>>,
    owner: Mutex<Option<owner::OwnerLock>>,
    passwords: passwords::Passwords,
    throttle: throttle::Throttle,
    oidc: Option<oidc::Provider>,
    /// Changes of people and keys one after the other: a slow reading of the rows must not undo a later one.
    access_changes: tokio::sync::Mutex<()>,
    /// One erasure at a time.
    erasing: tokio::sync::Mutex<()>,
    pub replicas: Arc<replicas::Replicas>,
    pub runs: runs::Runs,
    /// For work that goes on after whoever asked has their answer.
    me: Weak<App>,
}

struct WriterHandle {
    jobs: mpsc::Sender<writer::Job>,
    thread: std::thread::JoinHandle<()>,
    _watcher: Option<watcher::FileWatcher>,
}

impl App {
    /// Finishes what is under way: calls within `grace`, queued changes, the log, the database.
    pub async fn stop(&self, grace: Duration) {
        self.runs.stopping.cancel();
        self.executor.stop(grace).await;
        self.stop_runs(RUNS_GRACE).await;
        self.executor.give_back_leases().await;
        self.replicas.stop();
        self.upstreams.close().await;
        self.idempotent.tasks.close();
        // Only who waits for a call of another server is still here after this.
        let _ = tokio::time::timeout(KEYED_GRACE, self.idempotent.tasks.wait()).await;
        let writer = self
            .writer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(WriterHandle {
            jobs,
            thread,
            _watcher,
        }) = writer
        {
            drop((jobs, _watcher));
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
        if let Err(error) = self.store_key_uses().await {
            tracing::warn!(%error, "when keys were last used could not be stored");
        }
        if let Err(error) = self.executor.log.close().await {
            tracing::error!(%error, "the execution log did not close cleanly");
        }
        self.leave_replicas().await;
        self.store.close().await;
        self.owner
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }
}
