//! Who was sent to an address to answer there: when the server that asked says that it is done, they are told.

use crate::sessions::Session;
use mcp::wire;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// So many are remembered.
const ASKED_MAX: usize = 10_000;

/// A server and what it calls its question.
type Asked = (Arc<str>, String);

/// Sessions that were asked. A modern client hears nothing that belongs to no request of its own.
#[derive(Default)]
pub(crate) struct AskedElsewhere(Mutex<HashMap<Asked, Weak<Session>>>);

impl AskedElsewhere {
    fn lock(&self) -> MutexGuard<'_, HashMap<Asked, Weak<Session>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of a question, where its answer is given elsewhere.
    pub(crate) fn note(&self, session: &Arc<Session>, from: Option<&Arc<str>>, params: &Value) {
        let id = params.get("elicitationId").and_then(Value::as_str);
        let (Some(from), Some(id)) = (from, id) else {
            return;
        };
        let mut all = self.lock();
        if all.len() >= ASKED_MAX {
            all.retain(|_, session| session.strong_count() > 0);
        }
        if all.len() < ASKED_MAX {
            let asked = (Arc::clone(from), id.to_owned());
            all.insert(asked, Arc::downgrade(session));
        }
    }

    /// A server says that what it asked for is done.
    pub(crate) fn completed(&self, server: Arc<str>, id: String) {
        let params = json!({"elicitationId": id});
        let session = self.lock().remove(&(server, id));
        if let Some(session) = session.and_then(|session| session.upgrade()) {
            let method = "notifications/elicitation/complete";
            session.send(wire::request(None, method, Some(&params)));
        }
    }
}
