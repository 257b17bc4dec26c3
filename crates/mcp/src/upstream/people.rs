//! Servers that know every user by themselves: a connection for each, made when they first need it, bounded in number
//! and closed when they do not use it.

use super::error::UpstreamError;
use super::fault::Fault;
use super::hooks::Hooks;
use super::server::Upstream;
use super::status::State;
use super::supervise::supervise;
use super::{Options, locked};
use arc_swap::ArcSwap;
use catalog::mcp_file::{Grant, ServerConfig, Transport};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

/// How long whoever asks what they are offered waits for a connection of theirs.
const LISTED_WITHIN: Duration = Duration::from_secs(5);

/// The connections of single users to one server.
#[derive(Default)]
pub(super) struct People {
    all: ArcSwap<HashMap<Uuid, Arc<Upstream>>>,
    changing: Mutex<()>,
}

impl People {
    pub(super) fn all(&self) -> Arc<HashMap<Uuid, Arc<Upstream>>> {
        self.all.load_full()
    }
}

/// What the connections of users share: they are closed sooner, and nobody is told how they are or what they offer.
pub(super) fn options(all: &Options) -> Options {
    let (unheard, _) = mpsc::unbounded_channel();
    let mut settings = all.settings.clone();
    settings.idle = Some(settings.people_idle);
    Options {
        spawner: Arc::clone(&all.spawner),
        fetcher: all.fetcher.clone(),
        environment: all.environment.clone(),
        folder: all.folder.clone(),
        settings,
        notices: unheard,
        credentials: all.credentials.clone(),
        node: all.node.clone(),
    }
}

impl Upstream {
    /// Whether everybody has their own connection, and this is none of them.
    pub fn is_of_many(&self) -> bool {
        self.user.is_none() && self.config.load().knows_people()
    }

    /// The connection of a user, where everybody has their own. Who has not signed in is told so without one.
    pub(super) fn of_user(
        self: &Arc<Self>,
        user: Uuid,
        options: &Arc<Options>,
        tasks: &TaskTracker,
    ) -> Result<Arc<Upstream>, UpstreamError> {
        let config = self.config();
        if config.disabled {
            return Err(self.told(Fault::NotSent("it is switched off".to_owned())));
        }
        if let Some(cause) = config.fault() {
            return Err(self.told(Fault::NotSent(cause)));
        }
        let credential = self
            .options
            .credentials
            .as_ref()
            .and_then(|all| all.of(&config, Some(user)));
        if credential.is_none_or(|credential| credential.header().is_none()) {
            return Err(UpstreamError::AuthRequired {
                challenge: None,
                remedy: format!("you have not signed in to it. {}", self.remedy()),
            });
        }
        if let Some(own) = self.people.all.load().get(&user) {
            return Ok(Arc::clone(own));
        }
        let _one_at_a_time = locked(&self.people.changing);
        let mut all = HashMap::clone(&self.people.all.load());
        if let Some(own) = all.get(&user) {
            return Ok(Arc::clone(own));
        }
        if all.len() >= self.options.settings.people_max && !part_with_one(&mut all) {
            return Err(UpstreamError::Unavailable {
                state: self.status().state,
                cause: format!(
                    "{} people use it at the moment, which is as many as may",
                    all.len()
                ),
                retry_after: Some(self.options.settings.backoff_base),
            });
        }
        let mut own = Upstream::new(
            ServerConfig::clone(&self.config()),
            Arc::clone(options),
            self.known(),
        );
        own.user = Some(user);
        // What somebody was sent to an address for is done, whoever's connection tells it.
        let notices = self.options.notices.clone();
        own.hooks = Arc::new(Hooks::personal(Arc::clone(&self.name), notices));
        own.end = self.end.child_token();
        let own = Arc::new(own);
        all.insert(user, Arc::clone(&own));
        self.people.all.store(Arc::new(all));
        tasks.spawn(supervise(Arc::clone(&own), None));
        Ok(own)
    }

    /// Waits until a user's own connection has read what they are offered, where it is about to; not for long, for
    /// what was offered last is known.
    pub(super) async fn listed(&self) {
        let is_about_to = matches!(
            self.status().state,
            State::Starting | State::Connected | State::Degraded
        );
        if self.user.is_some() && is_about_to {
            self.wake(LISTED_WITHIN).await;
        }
    }

    /// Ends the connection of a user: the next one is made with what they have by then.
    pub fn forget_user(&self, user: Uuid) {
        let _one_at_a_time = locked(&self.people.changing);
        let mut all = HashMap::clone(&self.people.all.load());
        if let Some(own) = all.remove(&user) {
            self.people.all.store(Arc::new(all));
            own.end.cancel();
        }
    }

    /// What whoever runs the server, or uses it, can do where it does not know who we are.
    pub(super) fn remedy(&self) -> String {
        let name = &self.name;
        // Where there was something to ask, what came of it is the reason.
        let failure = self.bearer().0.and_then(|credential| credential.failure());
        let failed = |what: &str| match &failure {
            Some(why) => format!("{what}: {why}; "),
            None => String::new(),
        };
        match self.config.load().auth.as_ref().map(|auth| auth.grant) {
            Some(Grant::AuthorizationCode) => {
                let failed = failed("its token could not be renewed");
                format!("{failed}sign in with `toolcrib servers sign-in {name}`, or POST /api/v1/servers/{name}/sign-in")
            }
            Some(Grant::ClientCredentials) => {
                let failed = failed("no token could be had for it");
                format!("{failed}check \"issuer\", \"client_id\", \"client_secret\" and \"scopes\" of its \"auth\"")
            }
            None if self.has_credentials() => "check the key in its headers, which it did not take".to_owned(),
            None => "give it a header with its key or, where it takes OAuth, \"auth\": \"oauth\", in its definition".to_owned(),
        }
    }
}

impl Upstream {
    /// Whether somebody wrote down what to show to it.
    fn has_credentials(&self) -> bool {
        match &self.config.load().transport {
            Transport::Stdio { .. } => false,
            Transport::Sse { headers, .. } | Transport::Http { headers, .. } => !headers.is_empty(),
        }
    }
}

/// Makes room: of those that nobody uses, the one that rests for the longest time.
fn part_with_one(all: &mut HashMap<Uuid, Arc<Upstream>>) -> bool {
    let unused = all
        .iter()
        .filter(|(_, own)| own.use_.calls.load(Ordering::SeqCst) == 0);
    let oldest = unused.min_by_key(|(_, own)| *locked(&own.use_.last));
    let Some(user) = oldest.map(|(user, _)| *user) else {
        return false;
    };
    if let Some(own) = all.remove(&user) {
        own.end.cancel();
    }
    true
}
