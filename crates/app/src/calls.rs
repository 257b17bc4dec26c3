//! Calling a tool, and idempotency keys: the same key and arguments within a day give the stored answer.

use crate::App;
use crate::error::{Error, Result};
use catalog::caller::Caller;
use catalog::catalogue::Entry;
use catalog::hex::hex;
use executor::{CallRequest, Code, Failure, ToolResponse};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::collections::hash_map;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::idempotency::IdempotentCall;
use tokio::sync::watch;
use tokio_util::task::TaskTracker;

/// How long an answer is kept.
const KEPT_MS: i64 = 24 * 3600 * 1000;

/// How often a call that runs on another server is looked at.
const ELSEWHERE: Duration = Duration::from_millis(250);

const KEY_CHARS_MAX: usize = 200;

/// Keys that wait to be given back; of one beyond them the database says for a day that its call was cut off.
const UNRELEASED_MAX: usize = 10_000;

/// How long an asker waits for somebody else's call with the same key.
const WAIT_MAX: Duration = Duration::from_secs(60);

/// A user and a key of theirs.
type Slot = (String, String);

/// Keyed calls that run in this process, so that a second asker waits for the first one's answer.
#[derive(Debug, Default)]
pub struct InFlight {
    running: Mutex<HashMap<Slot, watch::Receiver<()>>>,
    /// When those keys were taken whose calls never ran and that the database could not give back so far.
    unreleased: Mutex<HashMap<Slot, i64>>,
    swept_at: AtomicI64,
    /// Whoever stops the server waits for these: an answer must be stored before the database closes.
    pub(crate) tasks: TaskTracker,
}

impl App {
    /// Runs a tool for a caller, who names it as the toolset does that they came through. With a key, at most once.
    pub async fn call(
        self: &Arc<Self>,
        caller: Arc<Caller>,
        request: CallRequest,
        idempotency_key: Option<String>,
    ) -> Result<ToolResponse> {
        if self.is_shared() && !self.is_known(&caller, &request.tool) {
            Box::pin(self.may_have_missed()).await;
        }
        let request = match self.within_toolset(&caller, request) {
            Ok(request) => request,
            Err((request, refusal)) => {
                // Boxed, as is all that few calls need: every call is moved with room for it.
                let refused = self.executor.refuse(&caller, &request, *refusal);
                return Ok(Box::pin(refused).await);
            }
        };
        let Some(key) = idempotency_key else {
            return Ok(self.executor.call(caller, request).await);
        };
        let count = key.chars().count();
        if !(1..=KEY_CHARS_MAX).contains(&count) || key.chars().any(char::is_control) {
            let why =
                format!("idempotency_key: expected 1 to {KEY_CHARS_MAX} printable characters");
            let refusal = Failure::new(Code::InvalidInput, why);
            return Ok(Box::pin(self.executor.refuse(&caller, &request, refusal)).await);
        }
        let Some(entry) = self.executor.permits(&caller, &request.tool) else {
            // It is refused, so there is nothing to keep; and what is refused today is not answered from yesterday.
            return Ok(self.executor.call(caller, request).await);
        };
        // In a task of its own: once the key is taken, its answer must be stored even if the asker is gone.
        let app = Arc::clone(self);
        let work = async move { app.call_once(caller, request, &entry, key).await };
        let work = self.idempotent.tasks.spawn(work);
        work.await
            .map_err(|e| Error::Internal(format!("a keyed call was lost: {e}")))?
    }

    /// Whether there is a tool of this name, as the caller's toolset has it.
    fn is_known(&self, caller: &Caller, tool: &str) -> bool {
        let (policy, catalogue) = (self.executor.policy.load(), self.executor.catalogue.load());
        policy.find(&catalogue, caller, tool).is_some()
    }

    async fn call_once(
        &self,
        caller: Arc<Caller>,
        request: CallRequest,
        entry: &Entry,
        key: String,
    ) -> Result<ToolResponse> {
        let slot = (caller.user.to_string(), key);
        let now = self.clock.now();
        self.forget_old_keys(now).await?;
        let wanted = IdempotentCall {
            // The same tool whether it was asked for by name or by id.
            tool_name: entry.name.to_string(),
            arguments_hash: fingerprint(&request.arguments),
            node: self.node.clone(),
            response: None,
            created_at: now,
        };
        let asked = request
            .timeout_seconds
            .filter(|s| (0.0..WAIT_MAX.as_secs_f64()).contains(s));
        let patience = asked.map_or(WAIT_MAX, Duration::from_secs_f64);
        let give_up = tokio::time::Instant::now() + patience;
        loop {
            // Known here before it is known in the database: who finds the row finds this as well.
            let (done, running) = watch::channel(());
            let mine = self.idempotent.enter(&slot, running);
            if mine {
                let _leave = Leave(&self.idempotent, &slot, done);
                let (who, key) = (&slot.0, &slot.1);
                self.release_late(&slot).await?;
                let found = self.store.reserve_call(who, key, &wanted).await?;
                let Some(found) = found else {
                    return Ok(self.run_reserved(caller, request, &slot, now).await);
                };
                if found.created_at + KEPT_MS <= now {
                    self.store.release_call(who, key, found.created_at).await?;
                    continue;
                }
                if (&found.tool_name, &found.arguments_hash)
                    != (&wanted.tool_name, &wanted.arguments_hash)
                {
                    let why = format!(
                        "idempotency_key '{key}' was used for another call of '{}'; take a new key for a new call",
                        found.tool_name
                    );
                    let refusal = Failure::new(Code::Conflict, why);
                    return Ok(self.executor.refuse(&caller, &request, refusal).await);
                }
                let known = match found.response {
                    Some(text) => Some(stored(&text)?),
                    // Ours, and nobody here runs it: its answer could not be stored. It is never run again.
                    None if found.node == self.node => {
                        Some(self.settle(&slot, &found.tool_name).await?)
                    }
                    None => None,
                };
                if let Some(known) = known {
                    return Ok(self.executor.replay(&caller, &request, known).await);
                }
            }
            if tokio::time::Instant::now() >= give_up {
                let why =
                    "Another call with this idempotency_key is still running; ask again later";
                let refusal = Failure::new(Code::ServiceUnavailable, why)
                    .with_details(json!({"retry_after_seconds": 1}));
                return Ok(self.executor.refuse(&caller, &request, refusal).await);
            }
            self.wait_for_other(&slot, mine, give_up).await;
        }
    }

    /// Whatever the database says, the answer is given: the tool may have run.
    async fn run_reserved(
        &self,
        caller: Arc<Caller>,
        request: CallRequest,
        slot: &Slot,
        taken_at: i64,
    ) -> ToolResponse {
        let response = self.executor.call(caller, request).await;
        if !response.may_have_run() {
            self.release(slot, taken_at).await;
        } else if let Err(error) = self.keep_answer(slot, &response).await {
            tracing::error!(%error, "the answer of a keyed call could not be stored; its key answers 'interrupted' from now on");
        }
        response
    }

    async fn keep_answer(&self, (who, key): &Slot, response: &ToolResponse) -> Result<()> {
        let text = as_text(response)?;
        Ok(self.store.answer_call(who, key, &text).await?)
    }

    /// Gives back the key of a call that never ran, or remembers that this is still to be done.
    async fn release(&self, slot: &Slot, taken_at: i64) {
        let Err(error) = self.store.release_call(&slot.0, &slot.1, taken_at).await else {
            return;
        };
        tracing::error!(%error, "the key of a call that did not run could not be given back; it is tried again when the key is used");
        let mut waiting = held(&self.idempotent.unreleased);
        if waiting.len() < UNRELEASED_MAX {
            waiting.insert(slot.clone(), taken_at);
        }
    }

    async fn release_late(&self, slot: &Slot) -> Result<()> {
        let taken_at = held(&self.idempotent.unreleased).get(slot).copied();
        if let Some(taken_at) = taken_at {
            self.store.release_call(&slot.0, &slot.1, taken_at).await?;
            held(&self.idempotent.unreleased).remove(slot);
        }
        Ok(())
    }

    async fn wait_for_other(&self, slot: &Slot, elsewhere: bool, give_up: tokio::time::Instant) {
        let here = self.idempotent.lock().get(slot).cloned();
        match here {
            // The sender never sends: it is dropped when the answer is stored.
            Some(mut running) if !elsewhere => {
                let _ = tokio::time::timeout_at(give_up, running.changed()).await;
            }
            _ => tokio::time::sleep(ELSEWHERE).await,
        }
    }

    /// Gives a key whose call was cut off its last answer.
    async fn settle(&self, slot: &Slot, tool_name: &str) -> Result<ToolResponse> {
        let response = ToolResponse::interrupted(tool_name);
        let text = as_text(&response)?;
        self.store.settle_call(&slot.0, &slot.1, &text).await?;
        Ok(response)
    }

    /// Calls that a node left behind can never be answered.
    pub(crate) async fn settle_idempotency(&self, node: &str) -> Result<()> {
        for (who, key, tool_name) in self.store.unanswered_calls(node).await? {
            self.settle(&(who, key), &tool_name).await?;
        }
        Ok(())
    }

    /// Once an hour, by whoever comes by.
    async fn forget_old_keys(&self, now: i64) -> Result<()> {
        let last = self.idempotent.swept_at.load(Ordering::Relaxed);
        let due = now - last >= 3_600_000;
        if due && self.idempotent.swept_at.swap(now, Ordering::Relaxed) == last {
            held(&self.idempotent.unreleased).retain(|_, taken_at| *taken_at >= now - KEPT_MS);
            self.store.forget_calls(now - KEPT_MS).await?;
        }
        Ok(())
    }
}

fn stored(text: &str) -> Result<ToolResponse> {
    serde_json::from_str(text)
        .map_err(|e| Error::Internal(format!("a stored answer cannot be read: {e}")))
}

/// With what an answer over MCP is made from, and over REST is not told.
fn as_text(response: &ToolResponse) -> Result<String> {
    let text = serde_json::to_string(response);
    let mut text = text.map_err(|e| Error::Internal(e.to_string()))?;
    if response.is_whole {
        text.pop();
        text.push_str(r#","is_whole":true}"#);
    }
    Ok(text)
}

/// Takes the key out of the list however the call ends, and wakes those who wait for it.
struct Leave<'a>(
    &'a InFlight,
    &'a Slot,
    #[expect(dead_code, reason = "dropping it wakes the others")] watch::Sender<()>,
);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.lock().remove(self.1);
    }
}

impl InFlight {
    /// Whether the slot was free and is now ours.
    fn enter(&self, slot: &Slot, running: watch::Receiver<()>) -> bool {
        match self.lock().entry(slot.clone()) {
            hash_map::Entry::Occupied(_) => false,
            hash_map::Entry::Vacant(free) => {
                free.insert(running);
                true
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Slot, watch::Receiver<()>>> {
        held(&self.running)
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same for the same arguments, whatever the order of their members.
fn fingerprint(arguments: &Value) -> String {
    let digest = Sha256::digest(
        catalog::tool::sorted(arguments.clone())
            .to_string()
            .as_bytes(),
    );
    hex(&digest[..16])
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
    fn an_answer_that_is_kept_is_told_in_the_same_way() {
        let mut answer = ToolResponse::interrupted("t");
        for is_whole in [false, true] {
            answer.is_whole = is_whole;
            let again = stored(&as_text(&answer).unwrap()).unwrap();
            assert_eq!(again.is_whole, is_whole);
            let told = serde_json::to_value(&again).unwrap();
            assert_eq!(told.get("is_whole"), None, "it is nobody's business");
        }
    }
}
