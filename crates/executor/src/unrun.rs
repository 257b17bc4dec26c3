//! Calls that are answered without running: refused before the executor's own steps, or answered from a stored
//! answer. They are calls all the same, so they stand in the log (B9).

use crate::answer::{failed, status_of};
use crate::attempt::micros;
use crate::call::{CallRequest, Executor};
use crate::entry_log::{Ending, EntryDraft};
use crate::kind::Failure;
use crate::response::ToolResponse;
use catalog::caller::Caller;
use catalog::catalogue::Entry;
use catalog::policy::Verdict;
use std::sync::Arc;
use std::time::Instant;

impl Executor {
    /// Logs a refusal and gives it its answer.
    pub async fn refuse(
        &self,
        caller: &Caller,
        request: &CallRequest,
        failure: Failure,
    ) -> ToolResponse {
        let unrun = Unrun::new(self, caller, request);
        let name: Arc<str> = request.tool.as_str().into();
        let seconds = unrun.began.elapsed().as_secs_f64();
        let (response, log_text) = failed(name, unrun.draft.id, seconds, failure);
        unrun.answer(response, log_text).await
    }

    /// Logs that a stored answer was given again, and gives it.
    pub async fn replay(
        &self,
        caller: &Caller,
        request: &CallRequest,
        stored: ToolResponse,
    ) -> ToolResponse {
        let note = format!(
            "not run again: the stored answer of execution {} for the same idempotency_key",
            stored.execution_id
        );
        let unrun = Unrun::new(self, caller, request);
        let mut answer = stored;
        if answer.execution_id.is_nil() {
            // The answer of a call that was cut off: this entry is where it can be looked up.
            answer.execution_id = unrun.draft.id;
        }
        unrun.answer(answer, Some(note)).await
    }
}

struct Unrun<'a> {
    executor: &'a Executor,
    caller: &'a Caller,
    /// The tool, where the caller may know of it.
    entry: Option<Arc<Entry>>,
    draft: EntryDraft,
    began: Instant,
}

impl<'a> Unrun<'a> {
    fn new(executor: &'a Executor, caller: &'a Caller, request: &CallRequest) -> Self {
        let began = Instant::now();
        let started_at = executor.clock.now();
        // Looked up for what its schema calls secret, whoever asks.
        let seen = executor.catalogue.load().find(&request.tool).cloned();
        let policy = executor.policy.load();
        let entry = seen
            .clone()
            .filter(|entry| policy.verdict(caller, &entry.tool) != Verdict::Hidden);
        let name = match &entry {
            Some(entry) => Arc::clone(&entry.name),
            None => request.tool.as_str().into(),
        };
        let id = executions::new_id(started_at);
        Unrun {
            executor,
            caller,
            draft: EntryDraft::new(id, started_at, name, seen.as_deref(), &request.arguments),
            entry,
            began,
        }
    }

    async fn answer(self, response: ToolResponse, log_text: Option<String>) -> ToolResponse {
        let ending = Ending {
            status: status_of(&response),
            // A stored answer is not redacted, and what its tool's schema marks may have changed since. It stands
            // in the entry of the call that ran.
            output: None,
            error: response.error.as_ref(),
            log_text,
            elapsed_us: micros(self.began.elapsed()),
        };
        let mut record = self
            .draft
            .finished(self.caller, self.entry.as_deref(), ending);
        // No definition ran, so none is named. Limits count the calls that name one.
        record.tool_hash = Arc::default();
        self.executor.logged(record, response).await
    }
}
