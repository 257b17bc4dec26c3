//! Who wants to know that a list has changed: sessions, and modern clients that listen.

use crate::Face;
use crate::context::{Context, Params};
use crate::exchange::Answer;
use crate::followed::{Follows, told};
use crate::offers;
use crate::result::Done;
use catalog::caller::Caller;
use executor::line::Sender;
use mcp::upstream::Lists;
use mcp::wire::{self, Era, META_SUBSCRIPTION};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often what nobody came back for is let go.
const SWEEP: Duration = Duration::from_secs(15);

/// Which list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    Tools,
    Prompts,
    Resources,
}

impl List {
    pub(crate) const ALL: [List; 3] = [List::Tools, List::Prompts, List::Resources];

    fn method(self) -> &'static str {
        match self {
            List::Tools => "notifications/tools/list_changed",
            List::Prompts => "notifications/prompts/list_changed",
            List::Resources => "notifications/resources/list_changed",
        }
    }

    fn wanted(self) -> &'static str {
        match self {
            List::Tools => "toolsListChanged",
            List::Prompts => "promptsListChanged",
            List::Resources => "resourcesListChanged",
        }
    }
}

/// Modern clients that listen.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    listeners: Mutex<HashMap<u64, Listener>>,
    next: AtomicU64,
}

#[derive(Debug)]
struct Listener {
    caller: Arc<Caller>,
    line: Sender<String>,
    lists: Vec<List>,
    resources: Follows,
    /// The request that listens, as its client named it.
    subscription: Value,
    seen: u64,
}

impl Listener {
    fn tell(&self, method: &str, mut params: Value) {
        params["_meta"] = json!({META_SUBSCRIPTION: self.subscription});
        // Who does not read what it asked for misses it.
        let _ = self
            .line
            .try_send(wire::request(None, method, Some(&params)));
    }
}

impl Changes {
    /// What was accepted is said first, and nothing can come between: whoever tells of a change waits for the lock.
    fn add(&self, listener: Listener, accepted: &Value) -> u64 {
        let mut listeners = self.lock();
        let method = "notifications/subscriptions/acknowledged";
        listener.tell(method, json!({"notifications": accepted}));
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        listeners.insert(number, listener);
        number
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Listener>> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// `subscriptions/listen`: does not end before its client does.
pub(crate) async fn listen(context: Context, id: Box<RawValue>, params: Params) -> Answer {
    let face = &context.face;
    let wanted = params.get("notifications").cloned().unwrap_or_default();
    let is_wanted = |list: &List| wanted.get(list.wanted()) == Some(&Value::Bool(true));
    let lists: Vec<List> = List::ALL.into_iter().filter(is_wanted).collect();
    let resources = wanted
        .get("resourceSubscriptions")
        .and_then(Value::as_array);
    let resources = resources.into_iter().flatten().filter_map(Value::as_str);
    // What is not there, or tells nothing, is not followed, and so not said to be.
    let follow = |uri: &str| Some((uri.to_owned(), offers::follow(&context, uri).ok()?));
    let resources: Follows = resources.take(1_000).filter_map(follow).collect();
    let mut accepted = json!({});
    for list in &lists {
        accepted[list.wanted()] = true.into();
    }
    if !resources.is_empty() {
        let uris: BTreeSet<&String> = resources.keys().collect();
        accepted["resourceSubscriptions"] = json!(uris);
    }
    let listener = Listener {
        seen: face.fingerprint(&context.caller),
        caller: Arc::clone(&context.caller),
        line: context.line.clone(),
        lists,
        resources,
        subscription: serde_json::from_str(id.get()).unwrap_or_default(),
    };
    let _leave = Leave(face, face.changes.add(listener, &accepted));
    // Until the client is gone, which drops this, or the server stops.
    face.stopped().await;
    Answer::new(Done::default().answers(&id, Era::Modern))
}

struct Leave<'a>(&'a Face, u64);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.changes.lock().remove(&self.1);
    }
}

impl Face {
    fn fingerprint(&self, caller: &Caller) -> u64 {
        self.listings.of(&self.app, caller).fingerprint
    }

    /// Tells those whose tools are others now.
    fn tell_changed_tools(&self) {
        for listener in self.changes.lock().values_mut() {
            let now = self.fingerprint(&listener.caller);
            if std::mem::replace(&mut listener.seen, now) != now
                && listener.lists.contains(&List::Tools)
            {
                listener.tell(List::Tools.method(), json!({}));
            }
        }
        for session in self.sessions.all() {
            let now = self.fingerprint(&session.caller);
            if session.seen.swap(now, Ordering::Relaxed) != now {
                session.send(wire::request(None, List::Tools.method(), None));
            }
        }
    }

    /// Tells everybody who wants to know.
    pub(crate) fn announce(&self, list: List) {
        for listener in self.changes.lock().values() {
            if listener.lists.contains(&list) {
                listener.tell(list.method(), json!({}));
            }
        }
        for session in self.sessions.all() {
            session.send(wire::request(None, list.method(), None));
        }
    }

    /// The policy says which resources and prompts anybody may use: where it is another, their lists may be too.
    fn tell_changed_offers(&self) {
        let servers = self.app.upstreams.all();
        let lists: Vec<_> = servers.iter().map(|it| it.lists()).collect();
        if lists.iter().any(|it| !it.prompts.is_empty()) {
            self.announce(List::Prompts);
        }
        let of_people = servers.iter().any(|it| it.is_of_many());
        let has_some = |it: &Arc<Lists>| !it.resources.is_empty() || !it.templates.is_empty();
        if of_people || lists.iter().any(has_some) {
            self.announce(List::Resources);
        }
    }

    pub(crate) fn first_seen(&self, caller: &Caller) -> AtomicU64 {
        AtomicU64::new(self.fingerprint(caller))
    }

    /// Tells those who follow a resource, and still may use it.
    pub(crate) fn resource_updated(&self, server: &str, uri: &str) {
        let method = "notifications/resources/updated";
        let name = format!("{server}.{uri}");
        for listener in self.changes.lock().values() {
            let uri = told(&listener.resources, server, uri);
            if let Some(uri) = uri.filter(|_| self.app.may_use(&listener.caller, &name)) {
                listener.tell(method, json!({"uri": uri}));
            }
        }
        for session in self.sessions.all() {
            let uri = session.told(server, uri);
            if let Some(uri) = uri.filter(|_| self.app.may_use(&session.caller, &name)) {
                session.send(wire::request(None, method, Some(&json!({"uri": uri}))));
            }
        }
    }
}

/// Follows the catalogue for as long as there is a face.
pub(crate) fn watch(face: &Arc<Face>) {
    let mut changes = face.app.executor.changes();
    let mut policy = face.app.executor.policy.load_full();
    let face = Arc::downgrade(face);
    tokio::spawn(async move {
        let mut sweeps = tokio::time::interval(SWEEP);
        loop {
            let changed = tokio::select! {
                changed = changes.changed() => changed.is_ok(),
                _ = sweeps.tick() => false,
            };
            let Some(face) = face.upgrade() else { return };
            if changed {
                face.tell_changed_tools();
                let now = face.app.executor.policy.load_full();
                if !Arc::ptr_eq(&policy, &now) {
                    policy = now;
                    face.tell_changed_offers();
                }
            } else {
                face.sessions.sweep();
                face.parked.sweep();
            }
        }
    });
}
