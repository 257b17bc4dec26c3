//! All upstreams there are.

use super::error::UpstreamError;
use super::known::Known;
use super::lists::Lists;
use super::people;
use super::server::Upstream;
use super::supervise::supervise;
use super::{Notice, Options, locked};
use arc_swap::ArcSwap;
use catalog::mcp_file::ServerConfig;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

type All = BTreeMap<Arc<str>, Arc<Upstream>>;

/// The servers, by name.
pub struct Upstreams {
    options: Arc<Options>,
    /// Of the connections of single users.
    people: Arc<Options>,
    all: ArcSwap<All>,
    /// One change at a time; whether they are closed for good.
    changing: Mutex<bool>,
    tasks: TaskTracker,
}

impl Upstreams {
    pub fn new(options: Options) -> Arc<Self> {
        Arc::new(Upstreams {
            people: Arc::new(people::options(&options)),
            options: Arc::new(options),
            all: ArcSwap::default(),
            changing: Mutex::default(),
            tasks: TaskTracker::new(),
        })
    }

    /// Makes these the servers: new ones are started, those that are gone are stopped, those that are connected in
    /// another way start again and the others go on undisturbed. Called within a runtime.
    pub fn set(&self, configs: Vec<ServerConfig>) {
        self.set_known(configs, |_| (Known::default(), None));
    }

    /// The same, where something is known about those that are started: what they were, and which of their tools may be
    /// called until more is known.
    pub fn set_known(
        &self,
        configs: Vec<ServerConfig>,
        known: impl Fn(&ServerConfig) -> (Known, Option<HashSet<String>>),
    ) {
        // Held until the change is made: one at a time.
        let is_closed = locked(&self.changing);
        if *is_closed && !configs.is_empty() {
            // A change that was under way when they were closed would start what nobody ends any more.
            return;
        }
        let before = self.all.load_full();
        let mut now = All::new();
        let mut started = Vec::new();
        for config in configs {
            let name: Arc<str> = config.name.as_str().into();
            let old = before.get(&name);
            let upstream = match old.filter(|old| connects_alike(&old.config(), &config)) {
                Some(same) => {
                    if *same.config() != config {
                        // How its tools are held may be another thing now.
                        let (_, approved) = known(&config);
                        same.approve(approved);
                        same.adopt(config);
                        self.tell(&name);
                    }
                    Arc::clone(same)
                }
                None => {
                    let (known, approved) = known(&config);
                    let upstream = Upstream::new(config, Arc::clone(&self.options), known);
                    upstream.approve(approved);
                    let upstream = Arc::new(upstream);
                    started.push((Arc::clone(&upstream), old.map(|old| old.ended.clone())));
                    upstream
                }
            };
            now.insert(name, upstream);
        }
        for (name, old) in &*before {
            let new = now.get(name);
            if !new.is_some_and(|new| Arc::ptr_eq(new, old)) {
                old.retire(new.is_some_and(|new| new.is_tried()));
                self.tell(name);
            }
        }
        self.all.store(Arc::new(now));
        for (upstream, predecessor) in started {
            self.start(upstream, predecessor);
        }
    }

    fn start(&self, upstream: Arc<Upstream>, predecessor: Option<CancellationToken>) {
        self.tell(&upstream.name);
        if upstream.is_tried() {
            drop(self.tasks.spawn(supervise(upstream, predecessor)));
            return;
        }
        let status = upstream.status();
        upstream.log(&status.state, status.cause.as_deref());
        upstream.ended.cancel();
    }

    fn tell(&self, name: &Arc<str>) {
        let _ = self.options.notices.send(Notice::State(Arc::clone(name)));
    }

    pub fn get(&self, name: &str) -> Option<Arc<Upstream>> {
        self.all.load().get(name).cloned()
    }

    /// A server as a user reaches it: over a connection of their own, where everybody has one.
    pub fn of_user(
        &self,
        server: &Arc<Upstream>,
        user: Uuid,
    ) -> Result<Arc<Upstream>, UpstreamError> {
        match server.is_of_many() {
            true => server.of_user(user, &self.people, &self.tasks),
            false => Ok(Arc::clone(server)),
        }
    }

    /// What a server offers to a user, or offered last: where everybody has their own connection, over theirs.
    pub fn lists_of(&self, server: &Arc<Upstream>, user: Uuid) -> Arc<Lists> {
        let own = self.of_user(server, user);
        own.map(|own| own.lists()).unwrap_or_default()
    }

    /// The same where somebody wants to see it: a connection of theirs may have to be made first.
    pub async fn listed_of(&self, server: &Arc<Upstream>, user: Uuid) -> Arc<Lists> {
        if let Ok(own) = self.of_user(server, user) {
            own.listed().await;
        }
        self.lists_of(server, user)
    }

    /// In the order of their names.
    pub fn all(&self) -> Vec<Arc<Upstream>> {
        self.all.load().values().cloned().collect()
    }

    /// Ends them all, with every program that was started.
    pub async fn close(&self) {
        *locked(&self.changing) = true;
        self.set(Vec::new());
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// Whether two definitions of a server lead to the same connection. What else they say is looked at when it is needed.
fn connects_alike(a: &ServerConfig, b: &ServerConfig) -> bool {
    let of = |it: &ServerConfig| (it.guarded, it.disabled);
    of(a) == of(b)
        && a.transport == b.transport
        && a.auth == b.auth
        && a.unset == b.unset
        && a.refused == b.refused
}

impl Drop for Upstreams {
    /// For whoever forgot to close them.
    fn drop(&mut self) {
        for upstream in self.all.load().values() {
            upstream.end.cancel();
        }
    }
}
