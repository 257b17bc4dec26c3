//! What is asked for beside calls, such as a resource of an upstream server: it runs elsewhere, and stands in the log all
//! the same.

use crate::answer::log_failed;
use crate::attempt::micros;
use crate::call::Executor;
use crate::code::Code;
use crate::entry_log::{Ending, EntryDraft};
use crate::kind::Failure;
use crate::response::CallError;
use catalog::caller::Caller;
use executions::Status;
use serde_json::Value;
use std::time::Instant;

/// A request that is no call, from when it began.
pub struct Beside {
    draft: EntryDraft,
    began: Instant,
}

impl Executor {
    /// `name` stands where calls have that of their tool.
    pub fn begin_beside(&self, name: &str, arguments: &Value) -> Beside {
        let started_at = self.clock.now();
        let id = executions::new_id(started_at);
        Beside {
            draft: EntryDraft::new(id, started_at, name.into(), None, arguments),
            began: Instant::now(),
        }
    }

    /// Writes the entry. As with calls, what is not written down is not answered: then this fails. No tool is named by its
    /// hash, so limits do not count it, and what was read stays out of the log.
    pub async fn end_beside(
        &self,
        caller: &Caller,
        beside: Beside,
        failure: Option<Failure>,
    ) -> Result<(), Failure> {
        let status = match failure.as_ref().map(|it| it.code) {
            None => Status::Success,
            Some(Code::Cancelled) => Status::Cancelled,
            Some(_) => Status::Error,
        };
        let error = failure.map(|it| CallError {
            code: it.code,
            message: it.message,
            details: it.details,
        });
        let ending = Ending {
            status,
            output: None,
            error: error.as_ref(),
            log_text: None,
            elapsed_us: micros(beside.began.elapsed()),
        };
        let record = beside.draft.finished(caller, None, ending);
        let written = self.written(record).await;
        written.map_err(|error| log_failed(&error))
    }
}
