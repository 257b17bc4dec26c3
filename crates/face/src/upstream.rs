//! Asking an upstream server for something that is no tool, for a client that may be asked in turn; and what upstream
//! servers tell by themselves.

use crate::Face;
use crate::changes::List;
use executor::{Event, Question, Talk};
use mcp::upstream::{Notice, Saying, Upstream, UpstreamError};
use mcp::wire::{RpcError, code};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// How long a server may take.
const WITHIN: Duration = Duration::from_secs(60);

/// While somebody is asked, nobody counts.
const WITHIN_ASKING: Duration = Duration::from_secs(660);

pub(crate) async fn ask(
    server: &Upstream,
    method: &str,
    params: Map<String, Value>,
    talk: &Talk,
    may_repeat: bool,
) -> Result<Value, UpstreamError> {
    let (events, mut said) = mpsc::channel(16);
    let can_be_asked = talk
        .capabilities
        .as_object()
        .is_some_and(|it| !it.is_empty());
    let sent = mcp::upstream::Talk {
        events: Some(events),
        capabilities: talk.capabilities.clone(),
        deadline: Instant::now() + if can_be_asked { WITHIN_ASKING } else { WITHIN },
        cancel: CancellationToken::new(),
        may_repeat,
        log_level: talk.log_level.clone(),
    };
    let mut answer = Box::pin(server.request(method, params, sent));
    loop {
        tokio::select! {
            biased;
            Some(saying) = said.recv() => pass_on(talk, saying).await,
            answer = &mut answer => {
                while let Ok(saying) = said.try_recv() {
                    pass_on(talk, saying).await;
                }
                return answer;
            }
        }
    }
}

async fn pass_on(talk: &Talk, saying: Saying) {
    let event = match saying {
        Saying::Progress {
            progress,
            total,
            message,
        } => Event::Progress {
            progress,
            total,
            message,
        },
        Saying::Log(line) => Event::Log(line),
        Saying::Ask {
            method,
            params,
            reply,
        } => {
            let (asked, answer) = oneshot::channel::<Result<Value, executor::Unanswered>>();
            tokio::spawn(async move {
                if let Ok(answer) = answer.await {
                    let _ = reply.send(answer.map_err(|why| RpcError::new(why.code, why.message)));
                }
            });
            Event::Ask(Question {
                key: None,
                method,
                params,
                reply: asked,
            })
        }
    };
    let _ = talk.events.send(event).await;
}

/// Why an upstream server gave no result, for a client of ours.
pub(crate) fn failed(server: &Upstream, error: UpstreamError) -> RpcError {
    match error {
        UpstreamError::Rpc(error) => error,
        other => RpcError::new(
            code::INTERNAL,
            format!("MCP server '{}': {other}", server.name()),
        ),
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
        Notice::State(_) => {}
        Notice::ResourceUpdated { uri, .. } => face.resource_updated(&uri),
        Notice::Lists(name) => {
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
