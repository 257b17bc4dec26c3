//! Asking an upstream server for something that is no tool, for a client that may be asked in turn; and what upstream
//! servers tell by themselves.

use crate::Face;
use crate::changes::List;
use app::App;
use app::asking::{self, Request};
use catalog::caller::Caller;
use executor::{Asker, Talk};
use mcp::upstream::{Lists, Notice, Params, Upstream, UpstreamError};
use mcp::wire::{RpcError, code, tree};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

/// How long a server may take. While somebody is asked, nobody counts.
const WITHIN: Duration = Duration::from_secs(60);

/// Asks for what may be asked for twice.
pub(crate) async fn ask(
    server: &Upstream,
    method: &str,
    params: Map<String, Value>,
    talk: &Talk,
) -> Result<Value, UpstreamError> {
    let (asker, cancel) = (Asker::new(talk.clone()), CancellationToken::new());
    let request = Request {
        method,
        params: Params::Of(&params),
        may_repeat: true,
        connect_by: None,
        cancel: Some(cancel.clone()),
        trace: None,
    };
    let mut answer = pin!(asking::ask(server, request, asker.clone()));
    tokio::select! {
        biased;
        answer = &mut answer => return answer.map(|raw| tree(&raw)),
        () = asker.until(Instant::now() + WITHIN) => cancel.cancel(),
    }
    let _ = answer.await;
    Err(UpstreamError::Late)
}

/// The same for somebody who stands in the execution log with it.
pub(crate) async fn read(
    asked: (&App, &Caller),
    server: &Upstream,
    method: &str,
    params: Map<String, Value>,
    talk: &Talk,
) -> Result<Value, RpcError> {
    let (app, caller) = asked;
    let what = params.clone();
    let work = ask(server, method, params, talk);
    let read = app.noted(caller, server.name(), method, what, work).await;
    let read = read.map_err(|unwritten| RpcError::new(code::INTERNAL, unwritten.message))?;
    read.map_err(|error| failed(caller, server, error))
}

/// Why an upstream server gave no result, for a client of ours.
pub(crate) fn failed(caller: &Caller, server: &Upstream, error: UpstreamError) -> RpcError {
    match error {
        UpstreamError::Rpc(error) => error,
        other => RpcError::new(code::INTERNAL, asking::told_to(caller, server, &other)),
    }
}

/// What a server offered when it was last looked at.
#[derive(Default)]
struct Offered {
    lists: Arc<Lists>,
    prompts: u64,
    resources: u64,
}

impl Offered {
    fn of(lists: Arc<Lists>) -> Self {
        Offered {
            prompts: hash(lists.prompts.iter()),
            resources: hash(lists.resources.iter().chain(&lists.templates)),
            lists,
        }
    }
}

/// Nothing at all is 0, as is what was never looked at.
fn hash<'a>(items: impl Iterator<Item = &'a Value>) -> u64 {
    let mut items = items.peekable();
    if items.peek().is_none() {
        return 0;
    }
    let mut hasher = DefaultHasher::new();
    for item in items {
        item.to_string().hash(&mut hasher);
    }
    hasher.finish()
}

/// By the name of the server.
type Known = HashMap<Arc<str>, Offered>;

/// Passes on what upstream servers tell, for as long as there is a face.
pub(crate) fn listen(face: &Arc<Face>) {
    let mut notices = face.app.upstream_notices();
    let servers = face.app.upstreams.all().into_iter();
    let known = servers.map(|it| (it.shared_name(), Offered::of(it.lists())));
    let mut known: Known = known.collect();
    let face = Arc::downgrade(face);
    tokio::spawn(async move {
        loop {
            let told = match notices.recv().await {
                Ok(notice) => heard(&face, &mut known, notice),
                Err(broadcast::error::RecvError::Lagged(_)) => missed(&face, &mut known),
                Err(broadcast::error::RecvError::Closed) => None,
            };
            if told.is_none() {
                return;
            }
        }
    });
}

fn heard(face: &Weak<Face>, known: &mut Known, notice: Notice) -> Option<()> {
    let face = face.upgrade()?;
    match notice {
        Notice::ResourceUpdated { server, uri } => face.resource_updated(&server, &uri),
        Notice::ElicitationComplete { server, id } => face.asked.completed(server, id),
        // It may be another than the one that was told what is followed, or be switched off or gone.
        Notice::State(name) | Notice::Lists(name) => {
            face.tell_followed(&name);
            look(&face, known, name);
        }
    }
    Some(())
}

/// Notices were lost, of any server.
fn missed(face: &Weak<Face>, known: &mut Known) -> Option<()> {
    let face = face.upgrade()?;
    let names = face.app.upstreams.all().into_iter();
    let names: HashSet<Arc<str>> = names
        .map(|it| it.shared_name())
        .chain(known.keys().cloned())
        .collect();
    for name in names {
        look(&face, known, name);
    }
    Some(())
}

/// Announces what a server offers now, where that is something else than before.
fn look(face: &Face, known: &mut Known, name: Arc<str>) {
    let server = face.app.upstreams.get(&name);
    let lists = server.as_ref().map(|it| it.lists()).unwrap_or_default();
    let is_same = |before: &Offered| Arc::ptr_eq(&before.lists, &lists);
    if known.get(&name).is_some_and(is_same) {
        return;
    }
    let now = Offered::of(lists);
    let (prompts, resources) = (now.prompts, now.resources);
    let before = match server {
        Some(_) => known.insert(name, now),
        None => known.remove(&name),
    };
    let before = before.unwrap_or_default();
    if before.prompts != prompts {
        face.announce(List::Prompts);
    }
    if before.resources != resources {
        face.announce(List::Resources);
    }
}
