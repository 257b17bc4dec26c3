//! Asking an upstream server for something that is no tool, for a client that may be asked in turn; and what upstream
//! servers tell by themselves.

use crate::Face;
use crate::changes::List;
use app::asking::{self, Request};
use catalog::caller::Caller;
use executor::{Asker, Talk};
use mcp::upstream::{Notice, Params, Upstream, UpstreamError};
use mcp::wire::{RpcError, code, tree};
use serde_json::{Map, Value};
use std::collections::HashMap;
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
        cancel: Some(cancel.clone()),
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

/// Why an upstream server gave no result, for a client of ours.
pub(crate) fn failed(caller: &Caller, server: &Upstream, error: UpstreamError) -> RpcError {
    match error {
        UpstreamError::Rpc(error) => error,
        other => RpcError::new(code::INTERNAL, server.told_to(caller, &other)),
    }
}

/// Passes on what upstream servers tell, for as long as there is a face.
pub(crate) fn listen(face: &Arc<Face>) {
    let mut notices = face.app.upstream_notices();
    let face = Arc::downgrade(face);
    tokio::spawn(async move {
        let mut known: HashMap<Arc<str>, [u64; 2]> = HashMap::new();
        loop {
            let told = match notices.recv().await {
                Ok(notice) => heard(&face, &mut known, notice),
                Err(broadcast::error::RecvError::Lagged(_)) => Some(()),
                Err(broadcast::error::RecvError::Closed) => None,
            };
            if told.is_none() {
                return;
            }
        }
    });
}

fn heard(face: &Weak<Face>, known: &mut HashMap<Arc<str>, [u64; 2]>, notice: Notice) -> Option<()> {
    let face = face.upgrade()?;
    match notice {
        // It may be another than the one that was told what is followed.
        Notice::State(name) => face.tell_followed(&name),
        Notice::ResourceUpdated { server, uri } => face.resource_updated(&server, &uri),
        Notice::ElicitationComplete { server, id } => face.asked.completed(server, id),
        Notice::Lists(name) => {
            face.tell_followed(&name);
            let lists = face.app.upstreams.get(&name).map(|it| it.lists());
            let hash = |items: Vec<&Value>| {
                let mut hasher = DefaultHasher::new();
                for item in items {
                    item.to_string().hash(&mut hasher);
                }
                hasher.finish()
            };
            let now = lists.map_or([0, 0], |lists| {
                let resources = lists.resources.iter().chain(&lists.templates);
                [
                    hash(lists.prompts.iter().collect()),
                    hash(resources.collect()),
                ]
            });
            let before = known.insert(name, now).unwrap_or_default();
            if before[0] != now[0] {
                face.announce(List::Prompts);
            }
            if before[1] != now[1] {
                face.announce(List::Resources);
            }
        }
    }
    Some(())
}
