//! Being told of changes: a modern server is asked for one long stream of them, an older one resource by resource.

use super::connection::{Call, Connection};
use super::exchange::Answer;
use super::fault::Fault;
use super::hooks::{Changed, Watched};
use super::locked;
use super::params::Params;
use super::talk::Talk;
use crate::wire::{Era, code};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// For an older server to take note of one resource.
const SUBSCRIBE: Duration = Duration::from_secs(20);

/// Runs beside a connection, for as long as there is one.
pub(super) async fn listen(connection: Arc<Connection>) {
    match connection.peer.get().map(|peer| peer.era) {
        Some(Era::Modern) => {
            listen_modern(&connection).await;
            connection.exchange.hooks.listens.notify_one();
        }
        Some(Era::Legacy) => subscribe(&connection).await,
        None => {}
    }
}

async fn listen_modern(connection: &Connection) {
    let hooks = &connection.exchange.hooks;
    let (mut pause, mut is_first) = (PAUSE, true);
    'streams: loop {
        let Some(filter) = filter(connection, &hooks.watched) else {
            hooks.listens.notify_one();
            hooks.watched.told.notified().await;
            continue;
        };
        let began = Instant::now();
        let is_again = !std::mem::take(&mut is_first);
        let mut stream = pin!(stream(connection, &filter));
        let ended = loop {
            tokio::select! {
                ended = &mut stream => break ended,
                // Another filter needs another stream.
                () = hooks.watched.told.notified() => continue 'streams,
                // It is open; nobody told what happened since the one before ended.
                () = hooks.listens.notified(), if is_again => hooks.changed.add(Changed::ALL),
            }
        };
        match ended {
            Err(fault)
                if fault
                    .rpc()
                    .is_some_and(|error| error.code == code::NO_METHOD) =>
            {
                return;
            }
            Err(Fault::NotSent(_) | Fault::Auth(_)) => return,
            Ok(_) | Err(_) => {}
        }
        if began.elapsed() > PAUSE_MAX {
            pause = PAUSE;
        }
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
        // The next one may never say that it is open.
        hooks.changed.add(Changed::ALL);
    }
}

async fn stream(connection: &Connection, filter: &Map<String, Value>) -> Answer {
    let talk = Talk::quiet();
    let none = Map::new();
    let call = Call {
        method: "subscriptions/listen",
        params: Params::Of(filter),
        extra: &none,
        era: Era::Modern,
        talk: &talk,
    };
    connection.call(call).await
}

/// What to be told, if anything is.
fn filter(connection: &Connection, watched: &Watched) -> Option<Map<String, Value>> {
    let peer = connection.peer.get()?;
    let mut wanted = Map::new();
    for (name, member) in [
        ("tools", "toolsListChanged"),
        ("prompts", "promptsListChanged"),
        ("resources", "resourcesListChanged"),
    ] {
        if peer.tells_changes(name) {
            wanted.insert(member.to_owned(), true.into());
        }
    }
    let uris = locked(&watched.uris).clone();
    if !uris.is_empty() {
        wanted.insert("resourceSubscriptions".to_owned(), json!(uris));
    }
    if wanted.is_empty() {
        return None;
    }
    Some(Map::from_iter([(
        "notifications".to_owned(),
        wanted.into(),
    )]))
}

async fn subscribe(connection: &Connection) {
    let peer = connection.peer.get();
    let resources = peer.and_then(|peer| peer.capabilities.get("resources"));
    let can = resources.and_then(|resources| resources.get("subscribe")?.as_bool());
    if can != Some(true) {
        return;
    }
    let watched = &connection.exchange.hooks.watched;
    let mut subscribed = BTreeSet::new();
    loop {
        let wanted = locked(&watched.uris).clone();
        let new = wanted.difference(&subscribed);
        let old = subscribed.difference(&wanted);
        let steps = new
            .map(|uri| ("resources/subscribe", uri))
            .chain(old.map(|uri| ("resources/unsubscribe", uri)));
        for (method, uri) in steps {
            let params = Map::from_iter([("uri".to_owned(), uri.as_str().into())]);
            let talk = Talk::until(Instant::now() + SUBSCRIBE);
            if let Err(fault) = connection.ask(method, Params::Of(&params), &talk, 1).await {
                let server = &connection.exchange.hooks.server;
                tracing::debug!(%server, method, ?fault, "a resource cannot be watched");
            }
        }
        subscribed = wanted;
        watched.told.notified().await;
    }
}
