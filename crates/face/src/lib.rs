//! Our own MCP server, free of any transport: messages come in as text with the caller known, and messages go out as text.
//! `modern` answers requests that carry everything with them; `sessions` keeps what the legacy era makes us keep.

pub mod exchange;
pub mod headers;
pub mod modern;
pub mod sessions;

mod addresses;
mod agents;
mod asked;
mod call;
mod changes;
mod context;
mod dispatch;
mod finder;
mod fixtures;
mod followed;
mod listing;
mod offers;
mod parked;
mod prompts;
mod result;
mod upstream;

pub use exchange::{Answer, Exchange, Step, Text};
pub use sessions::{Hears, NoSession, Session};

use app::App;
use catalog::caller::Caller;
use catalog::names::Names;
use listing::Listings;
use parked::Parked;
use sessions::Sessions;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What is told about this server, and how much of it anybody may have.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long a session is kept that nobody uses.
    pub session_idle: Duration,
    pub sessions_max: usize,
    /// Of one user; 0 is a tenth of all, but not fewer than ten.
    pub user_sessions_max: usize,
    /// Shown to models by those clients that show it.
    pub instructions: Option<String>,
    /// Clients get `find_tools` and `call_tool` instead of more tools than this; 0 lists them all.
    pub find_tools_above: usize,
    /// How tools and prompts are named, where neither a client nor its toolset says.
    pub names: Names,
    /// Whether the resources and prompts of the conformance suite are there.
    pub conformance: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            session_idle: Duration::from_secs(1800),
            sessions_max: 10_000,
            user_sessions_max: 0,
            instructions: None,
            find_tools_above: 0,
            names: Names::default(),
            conformance: false,
        }
    }
}

/// The server.
pub struct Face {
    pub(crate) app: Arc<App>,
    pub(crate) settings: Settings,
    pub sessions: Sessions,
    pub(crate) listings: Listings,
    pub(crate) parked: Parked,
    pub(crate) changes: changes::Changes,
    pub(crate) followed: followed::Followed,
    pub(crate) asked: asked::AskedElsewhere,
    stopping: CancellationToken,
}

impl Face {
    pub fn new(app: Arc<App>, settings: Settings) -> Arc<Self> {
        let of_user = match settings.user_sessions_max {
            0 => (settings.sessions_max / 10).max(10),
            max => max,
        };
        let face = Arc::new(Face {
            sessions: Sessions::new(settings.session_idle, settings.sessions_max, of_user),
            listings: Listings::new(settings.find_tools_above, settings.names),
            parked: Parked::default(),
            changes: changes::Changes::default(),
            followed: followed::Followed::default(),
            asked: asked::AskedElsewhere::default(),
            stopping: CancellationToken::new(),
            settings,
            app,
        });
        changes::watch(&face);
        upstream::listen(&face);
        face
    }

    /// What the models of a caller are told: by their toolset, else by this server.
    pub(crate) fn instructions(&self, caller: &Caller) -> Option<String> {
        let policy = self.app.executor.policy.load();
        let toolset = policy.toolset(caller);
        let own = toolset.and_then(|set| set.definition.instructions.clone());
        own.or_else(|| self.settings.instructions.clone())
    }

    /// What this server is called at the address that a caller came to, where the toolset there says.
    pub(crate) fn server_name(&self, caller: &Caller) -> Option<String> {
        caller.toolset.as_ref()?;
        let policy = self.app.executor.policy.load();
        policy.toolset(caller)?.definition.server_name.clone()
    }

    /// How things are named to a caller.
    pub(crate) fn names(&self, caller: &Caller) -> Names {
        let asked = self.app.executor.policy.load().names(caller);
        asked.unwrap_or(self.settings.names)
    }

    /// Ends what would never end by itself.
    pub fn stop(&self) {
        self.stopping.cancel();
        self.parked.close();
    }

    /// Waits for `stop`.
    pub async fn stopped(&self) {
        self.stopping.cancelled().await;
    }
}
