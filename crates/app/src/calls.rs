//! Calling a tool, and idempotency keys: the same key and arguments within a day give the stored answer.

use crate::App;
use crate::error::{Error, Result};
use catalog::caller::Caller;
use executor::code::Fault;
use executor::{CallRequest, Code, ToolResponse};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use store::idempotency::IdempotentCall;
use tokio::sync::watch;

/// How long an answer is kept.
const KEPT_MS: i64 = 24 * 3600 * 1000;

/// How often a call that runs on another server is looked at.
const ELSEWHERE: Duration = Duration::from_millis(250);

const KEY_CHARS_MAX: usize = 200;

/// Keyed calls that run in this process, so that a second asker waits for the first one's answer.
#[derive(Debug, Default)]
pub struct InFlight(Mutex<HashMap<(String, String), watch::Receiver<()>>>);

impl App {
    /// Runs a tool for a caller. With a key, at most once.
    pub async fn call(
        self: &Arc<Self>,
        caller: Arc<Caller>,
        request: CallRequest,
        idempotency_key: Option<String>,
    ) -> Result<ToolResponse> {
        match idempotency_key {
            None => Ok(self.executor.call(caller, request).await),
            Some(key) => {
                if key.is_empty() || key.chars().count() > KEY_CHARS_MAX {
                    return Err(Error::invalid(format!(
                        "idempotency_key: expected 1 to {KEY_CHARS_MAX} characters"
                    )));
                }
                self.call_once(caller, request, key).await
            }
        }
    }

    async fn call_once(
        self: &Arc<Self>,
        caller: Arc<Caller>,
        request: CallRequest,
        key: String,
    ) -> Result<ToolResponse> {
        let who = caller.user.to_string();
        let now = self.clock.now();
        let wanted = IdempotentCall {
            tool_name: request.tool.clone(),
            arguments_hash: fingerprint(&request.arguments),
            node: self.node.clone(),
            response: None,
            created_at: now,
        };
        loop {
            let found = self.store.reserve_call(&who, &key, &wanted).await?;
            let Some(found) = found else {
                return self.run_reserved(caller, request, who, key).await;
            };
            if found.created_at + KEPT_MS <= now {
                self.store.release_call(&who, &key).await?;
                continue;
            }
            if (&found.tool_name, &found.arguments_hash)
                != (&wanted.tool_name, &wanted.arguments_hash)
            {
                return Err(Error::conflict(format!(
                    "idempotency_key '{key}' was used for another call of '{}'; take a new key for a new call",
                    found.tool_name
                )));
            }
            if let Some(text) = found.response {
                return serde_json::from_str(&text)
                    .map_err(|e| Error::Internal(format!("a stored answer cannot be read: {e}")));
            }
            self.wait_for_other(&who, &key).await;
        }
    }

    /// The call runs in a task of its own: its answer must be stored even if the asker is gone.
    async fn run_reserved(
        self: &Arc<Self>,
        caller: Arc<Caller>,
        request: CallRequest,
        who: String,
        key: String,
    ) -> Result<ToolResponse> {
        let (done, waiting) = watch::channel(());
        self.idempotent
            .lock()
            .insert((who.clone(), key.clone()), waiting);
        let app = Arc::clone(self);
        let pending = self.executor.call(caller, request);
        let work = tokio::spawn(async move {
            let response = pending.await;
            let ran = response.error.as_ref().is_none_or(|e| may_have_run(e.code));
            let stored = if ran {
                let text =
                    serde_json::to_string(&response).map_err(|e| Error::Internal(e.to_string()));
                match text {
                    Ok(text) => app
                        .store
                        .answer_call(&who, &key, &text)
                        .await
                        .map_err(Error::from),
                    Err(error) => Err(error),
                }
            } else {
                app.store
                    .release_call(&who, &key)
                    .await
                    .map_err(Error::from)
            };
            app.idempotent.lock().remove(&(who, key));
            drop(done);
            stored.map(|()| response)
        });
        work.await
            .map_err(|e| Error::Internal(format!("a keyed call was lost: {e}")))?
    }

    async fn wait_for_other(&self, who: &str, key: &str) {
        let here = self
            .idempotent
            .lock()
            .get(&(who.to_owned(), key.to_owned()))
            .cloned();
        match here {
            // The sender never sends: it is dropped when the answer is stored.
            Some(mut running) => {
                let _ = running.changed().await;
            }
            None => tokio::time::sleep(ELSEWHERE).await,
        }
    }

    /// At start: calls this node left behind can never be answered; what is a day old is forgotten.
    pub(crate) async fn settle_idempotency(&self) -> Result<()> {
        self.store.forget_calls(self.clock.now() - KEPT_MS).await?;
        for (who, key) in self.store.unanswered_calls(&self.node).await? {
            let response = executor::response::ToolResponse::interrupted();
            let text =
                serde_json::to_string(&response).map_err(|e| Error::Internal(e.to_string()))?;
            self.store.answer_call(&who, &key, &text).await?;
        }
        Ok(())
    }
}

impl InFlight {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(String, String), watch::Receiver<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a failure can come from a call that did run. What was refused before may be tried again.
fn may_have_run(code: Code) -> bool {
    match code {
        Code::Cancelled | Code::Timeout | Code::Interrupted => true,
        Code::ServiceUnavailable | Code::NotConfigured | Code::RateLimited => false,
        other => other.row().fault == Fault::Tool,
    }
}

/// The same for the same arguments, whatever the order of their members.
fn fingerprint(arguments: &Value) -> String {
    let digest = Sha256::digest(
        catalog::tool::sorted(arguments.clone())
            .to_string()
            .as_bytes(),
    );
    digest.iter().take(16).map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_members_does_not_matter() {
        assert_eq!(
            fingerprint(&json!({"a":1,"b":{"c":2,"d":3}})),
            fingerprint(&json!({"b":{"d":3,"c":2},"a":1}))
        );
        assert_ne!(fingerprint(&json!([1, 2])), fingerprint(&json!([2, 1])));
    }

    #[test]
    fn a_call_that_was_refused_may_be_tried_again() {
        let refused = [
            Code::InvalidInput,
            Code::RateLimited,
            Code::BlockedByPolicy,
            Code::ToolNotFound,
            Code::ToolInactive,
        ];
        assert!(!refused.into_iter().any(may_have_run));
        let ran = [
            Code::ToolExecutionError,
            Code::Timeout,
            Code::InvalidOutput,
            Code::Cancelled,
        ];
        assert!(ran.into_iter().all(may_have_run));
    }
}
