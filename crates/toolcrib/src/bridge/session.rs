//! The session of a legacy client: what the server says in it unasked, and another one in the place of one that the server
//! has forgotten, of which the client notices nothing but that it is told to look at every list again.

use super::link::{Lost, Need};
use super::{Bridge, LINE_BYTES_MAX, add_session, messages};
use fetch::events::Events;
use mcp::wire::{self, Members, Message};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long to wait before a stream that ended is opened again.
const AGAIN: Duration = Duration::from_secs(1);

/// Resources that are asked for again in another session.
const FOLLOWED_MAX: usize = 1000;

/// What may have changed while nobody told.
const CHANGED: [&str; 3] = [
    "notifications/tools/list_changed",
    "notifications/resources/list_changed",
    "notifications/prompts/list_changed",
];

/// Requests whose effect lasts as long as their session, as they came: another session is asked for the same.
#[derive(Default)]
pub(super) struct Kept {
    level: Option<String>,
    /// By the address of the resource.
    followed: BTreeMap<String, String>,
}

impl Kept {
    pub(super) fn note(&mut self, message: &Message<'_>) {
        let uri = || Some(Members::of(message.params?).text("uri")?.into_owned());
        match message.method.as_deref() {
            Some("logging/setLevel") => self.level = Some(again(message)),
            Some("resources/subscribe") => {
                if let Some(uri) = uri().filter(|_| self.followed.len() < FOLLOWED_MAX) {
                    self.followed.insert(uri, again(message));
                }
            }
            Some("resources/unsubscribe") => {
                if let Some(uri) = uri() {
                    self.followed.remove(&uri);
                }
            }
            _ => {}
        }
    }

    fn requests(&self) -> Vec<String> {
        self.level
            .iter()
            .chain(self.followed.values())
            .cloned()
            .collect()
    }
}

/// The same request with an id that no client uses: its answer is nobody's.
fn again(message: &Message<'_>) -> String {
    let params = message.params.map(wire::tree);
    let method = message.method.as_deref().unwrap_or_default();
    wire::request(Some(&"toolcrib-again".into()), method, params.as_ref())
}

impl Bridge {
    /// Begins a session in place of one that the server has forgotten, unless another request has done so meanwhile.
    /// Whether there is one now. Nothing that was asked has run yet, whatever goes wrong here.
    pub(super) async fn begin_anew(
        self: &Arc<Self>,
        forgotten: &str,
        need: Need,
    ) -> Result<bool, Lost> {
        let before = |lost: Lost| match lost {
            Lost::Before(why) | Lost::Midway(why) | Lost::Refused(why) => Lost::Before(why),
            lost @ Lost::Unserved(..) => lost,
        };
        let _one = self.beginning.lock().await;
        if self.session().is_some_and(|now| now != forgotten) {
            return Ok(true);
        }
        let Some(initialize) = self.lock().initialize.clone() else {
            return Ok(false);
        };
        let begun = self.post_once(&initialize, None, None, need).await;
        let mut begun = begun.map_err(before)?;
        begun.whole().await.map_err(before)?;
        let session = self.session();
        if begun.status >= 400 || session.as_deref() == Some(forgotten) {
            return Ok(false);
        }
        let initialized = wire::request(None, "notifications/initialized", None);
        let told = self.post_once(&initialized, None, session.as_deref(), need);
        told.await.map_err(before)?;
        let kept = self.lock().kept.requests();
        for request in kept {
            // What the new session refuses, the client hears when it asks itself.
            let asked = self.post_once(&request, None, session.as_deref(), need);
            if let Ok(mut reply) = asked.await {
                let _ = reply.whole().await;
            }
        }
        self.listen();
        for method in CHANGED {
            self.say(wire::request(None, method, None)).await;
        }
        Ok(true)
    }

    /// What the server says unasked, for as long as there is a session.
    pub(super) fn listen(self: &Arc<Self>) {
        let token = CancellationToken::new();
        let before = self.lock().listening.replace(token.clone());
        if let Some(before) = before {
            before.cancel();
        }
        let bridge = Arc::downgrade(self);
        tokio::spawn(async move {
            let mut is_first = true;
            while let Some(bridge) = bridge.upgrade().filter(|_| !token.is_cancelled()) {
                if !bridge.hear(&token, is_first).await {
                    return;
                }
                is_first = false;
                drop(bridge);
                tokio::time::sleep(AGAIN).await;
            }
        });
    }

    /// Passes on one stream until it ends. Whether another is to be opened.
    async fn hear(self: &Arc<Self>, token: &CancellationToken, is_first: bool) -> bool {
        let session = self.session();
        let mut headers = vec![("accept".to_owned(), "text/event-stream".to_owned())];
        add_session(&mut headers, session.as_deref());
        let mut reply = match self.link.send("GET", &headers, None, Need::Own).await {
            Ok(reply) if reply.is_stream => reply,
            Ok(reply) => match (reply.status, session) {
                // A session that has just begun is known: there it is the stream that is not.
                (404, Some(forgotten)) if !is_first => {
                    let _ = self.begin_anew(&forgotten, Need::Own).await;
                    return true;
                }
                // It is busy, or starts behind somebody who answers for it.
                (429 | 500.., _) => return true,
                // It has none to give.
                _ => return false,
            },
            Err(_) => return true,
        };
        let mut events = Events::new(LINE_BYTES_MAX);
        loop {
            let next = tokio::select! {
                next = reply.next() => next,
                () = token.cancelled() => return false,
            };
            let next = next.and_then(Result::ok);
            let next = next.and_then(|it| messages(&mut events, &it).ok());
            let Some(texts) = next else { return true };
            for text in texts {
                self.say(text).await;
            }
        }
    }
}
