//! The servers that we are a client of: connected in the background, over whatever transport and in whichever era each
//! of them speaks, and asked with raw JSON, so that what we do not understand passes as it came.

mod askers;
mod connection;
mod credentials;
mod error;
mod exchange;
mod fault;
mod handshake;
mod headers;
mod hooks;
mod http;
mod known;
mod lines;
mod listen;
mod lists;
mod message;
mod params;
mod passed;
mod people;
mod posted;
mod rounds;
mod secrets;
mod server;
mod sessions;
mod set;
mod sse;
mod status;
mod stdio;
mod supervise;
mod tail;
mod talk;
mod waiting;
mod words;

pub use credentials::Credentials;
pub use error::UpstreamError;
pub use handshake::Way;
pub use known::Known;
pub use lists::Lists;
pub use params::Params;
pub use server::Upstream;
pub use set::Upstreams;
pub use status::{State, Status};
pub use talk::{Listener, Saying, Talk};
pub use words::{state_words, where_to_look};

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;

/// What all upstreams share.
pub struct Options {
    pub spawner: Arc<process::Spawner>,
    pub fetcher: fetch::Fetcher,
    /// The environment of every program that is started, before the variables its own entry names.
    pub environment: Vec<(OsString, OsString)>,
    /// Where programs are started, and what a relative `cwd` is relative to.
    pub folder: PathBuf,
    pub settings: Settings,
    /// Told what changed. Whoever holds the other end keeps reading.
    pub notices: mpsc::UnboundedSender<Notice>,
    /// Who holds the tokens that servers want to see.
    pub credentials: Option<Arc<dyn Credentials>>,
    /// Which server we are, if one: nobody is their own upstream.
    pub node: Option<String>,
}

/// How long and how much.
#[derive(Debug, Clone)]
pub struct Settings {
    /// For a connection with its first exchange, and for its lists after that.
    pub connect_timeout: Duration,
    /// How long a server may ponder whether it is modern before it is asked the older way too.
    pub probe_timeout: Duration,
    /// Tries after the first, until a server counts as failed.
    pub retries: u32,
    /// Before the second try; doubled for each after that. Also the least time between two tries.
    pub backoff_base: Duration,
    pub backoff_max: Duration,
    /// A connection that held so long was a good one: its loss is the first of its kind.
    pub stable: Duration,
    /// A program that nobody used for so long is closed until somebody needs it again.
    pub idle: Option<Duration>,
    /// The same for the connection of a single user, of whatever kind.
    pub people_idle: Duration,
    /// Connections of single users to one server.
    pub people_max: usize,
    /// How long a program may take to end by itself.
    pub close_grace: Duration,
    /// The least time between two readings of the lists.
    pub refresh_gap: Duration,
    pub message_bytes_max: usize,
    pub stderr_bytes_kept: usize,
    /// Calls that one server may have at a time.
    pub calls_max: usize,
    /// Of one list.
    pub pages_max: usize,
    pub items_max: usize,
    pub list_bytes_max: usize,
    /// Of one thing in a list; what is longer is left out.
    pub item_bytes_max: usize,
    /// How often a call may come back with questions.
    pub rounds_max: usize,
    /// How long a call that goes alone waits behind one whose question nobody answers.
    pub question_patience: Duration,
}

impl Settings {
    /// The longest pause after so many failures in a row.
    fn backoff(&self, failures: u32) -> Duration {
        let doubled = 2_u32.saturating_pow(failures.saturating_sub(1).min(16));
        self.backoff_base
            .saturating_mul(doubled)
            .min(self.backoff_max)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            connect_timeout: Duration::from_secs(20),
            probe_timeout: Duration::from_secs(8),
            retries: 3,
            backoff_base: Duration::from_millis(500),
            backoff_max: Duration::from_secs(30),
            stable: Duration::from_secs(5),
            idle: None,
            people_idle: Duration::from_secs(600),
            people_max: 256,
            close_grace: Duration::from_secs(2),
            refresh_gap: Duration::from_secs(1),
            message_bytes_max: 16 << 20,
            stderr_bytes_kept: 16 << 10,
            calls_max: 1024,
            pages_max: 200,
            items_max: 10_000,
            list_bytes_max: 8 << 20,
            item_bytes_max: 1 << 20,
            rounds_max: 10,
            question_patience: Duration::from_secs(5),
        }
    }
}

/// What changed, and at which server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// Its status is another.
    State(Arc<str>),
    /// One of its lists is another.
    Lists(Arc<str>),
    ResourceUpdated {
        server: Arc<str>,
        uri: String,
    },
    /// What somebody was sent to an address for is done.
    ElicitationComplete {
        server: Arc<str>,
        id: String,
    },
}

/// What is guarded by our locks is whole between any two statements, so a panic elsewhere spoils nothing.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
