//! One call on its way: find → verdict → validate → permit → gate → run → validate → cap → log. What is started by
//! `Executor::call` passes these steps and no others.

use crate::answer::{
    Done, as_text, failed, log_failed, queue_full, status_of, succeeded, violated, within,
};
use crate::call::{CallRequest, Executor};
use crate::code::Code;
use crate::denial::{judge, not_found};
use crate::entry_log::{Ending, EntryDraft};
use crate::kind::{Data, Failure, Kind, Output, Run};
use crate::pending::CatchPanic;
use crate::response::{ToolResponse, python_float};
use crate::talk::Patience;
use crate::traced::ended;
use catalog::caller::Caller;
use catalog::catalogue::{Entry, Schemas};
use catalog::policy::{Denial, Verdict};
use catalog::schema::Schema;
use catalog::tool::OutputFormat;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// What the first steps made of a request.
struct Found {
    /// The tool, where the caller may know of it.
    entry: Option<Arc<Entry>>,
    /// The tool all the same, to know which arguments are secret.
    seen: Option<Arc<Entry>>,
    permitted: Result<(), Failure>,
}

/// One call on its way through the steps.
pub(crate) struct Attempt {
    pub(crate) executor: Arc<Executor>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) began: Instant,
    pub(crate) cancel: CancellationToken,
}

/// A call that may run once the limits let it.
struct Checked<'a> {
    entry: &'a Arc<Entry>,
    schemas: &'a Schemas,
    kind: &'a dyn Kind,
    timeout: f64,
    deadline: Instant,
    patience: Arc<Patience>,
}

impl Checked<'_> {
    fn late(&self) -> Failure {
        let shown = python_float(self.timeout);
        Failure::new(Code::Timeout, format!("Tool execution timeout ({shown}s)"))
    }
}

impl Attempt {
    pub(crate) async fn perform(
        self,
        mut request: CallRequest,
        unsaved: Option<Arc<Entry>>,
    ) -> ToolResponse {
        let executor = &self.executor;
        let started_at = executor.clock.now();
        let id = executions::new_id(started_at);
        let found = match unsaved {
            Some(entry) => {
                let policy = self.executor.policy.load();
                let verdict = policy.verdict(&self.caller, &entry.tool);
                let permitted = judge(&entry.name, verdict);
                Found {
                    seen: Some(Arc::clone(&entry)),
                    entry: Some(entry),
                    permitted,
                }
            }
            None => self.find(&request.tool, request.is_approved),
        };
        let Found {
            entry,
            seen,
            permitted,
        } = found;
        if let Some(entry) = &entry {
            entry.fill(&mut request.arguments);
        }
        let tool_name: Arc<str> = entry
            .as_ref()
            .map_or_else(|| request.tool.as_str().into(), |e| Arc::clone(&e.name));
        let mut draft = EntryDraft::new(
            id,
            started_at,
            Arc::clone(&tool_name),
            seen.as_deref(),
            &request.arguments,
        );
        let span = executor.trace(&mut request, (&tool_name, id), entry.as_deref());
        let mut result = match (&entry, permitted) {
            (Some(entry), Ok(())) => {
                let context = span.as_ref().map(|span| span.context.clone());
                telemetry::within(context, self.run(entry, request, &draft)).await
            }
            (_, Err(refusal)) => Err(refusal),
            (None, Ok(())) => unreachable!("`find` refuses what it does not find"),
        };
        let elapsed = self.began.elapsed();
        let seconds = elapsed.as_secs_f64();
        let logged = result.as_mut().ok().and_then(|done| done.logged.take());
        let (mut response, log_text) = match result {
            Ok(done) => succeeded(tool_name, id, seconds, done),
            Err(failure) => {
                let bytes_max = executor.settings.output_bytes_max;
                failed(tool_name, id, seconds, within(failure, bytes_max))
            }
        };
        draft.hide_opened(&mut response);
        ended(span, &response);
        let ending = Ending {
            status: status_of(&response),
            output: (response.error.is_none()).then(|| logged.as_deref().unwrap_or(&response.data)),
            error: response.error.as_ref(),
            log_text,
            elapsed_us: micros(elapsed),
        };
        let record = draft.finished(&self.caller, entry.as_deref(), ending);
        executor.logged(record, response).await
    }

    /// Find → may the caller see it → active → policy.
    fn find(&self, name: &str, is_approved: bool) -> Found {
        let unknown = || Failure::new(Code::ToolNotFound, format!("Tool '{name}' not found"));
        let catalogue = self.executor.catalogue.load();
        let Some(entry) = catalogue.find(name).cloned() else {
            let policy = self.executor.policy.load();
            let (why, alike) = not_found(&catalogue, &policy, &self.caller, name);
            let refusal = match alike.is_empty() {
                true => self.absent(name).unwrap_or_else(unknown),
                false => {
                    Failure::new(Code::ToolNotFound, why).with_details(json!({"candidates": alike}))
                }
            };
            return Found {
                entry: None,
                seen: None,
                permitted: Err(refusal),
            };
        };
        let verdict = self
            .executor
            .policy
            .load()
            .verdict(&self.caller, &entry.tool);
        if verdict == Verdict::Hidden {
            // The log may not tell apart what the answer does not, but it must know what is secret.
            return Found {
                entry: None,
                seen: Some(entry),
                permitted: Err(unknown()),
            };
        }
        let permitted = match verdict {
            Verdict::Denied(Denial::Approval) if is_approved => Ok(()),
            verdict => judge(&entry.name, verdict),
        };
        Found {
            seen: Some(Arc::clone(&entry)),
            entry: Some(entry),
            permitted,
        }
    }

    fn absent(&self, name: &str) -> Option<Failure> {
        let keyring = self.executor.keyring.get().and_then(Weak::upgrade)?;
        keyring.absent(&self.caller, name)
    }

    /// Validate input → permit, and what follows for those who get one.
    async fn run(
        &self,
        entry: &Arc<Entry>,
        request: CallRequest,
        draft: &EntryDraft,
    ) -> Result<Done, Failure> {
        let checked = self.check(entry, &request)?;
        if !self.executor.is_limited(&self.caller, entry) {
            return self.run_checked(&checked, request, draft).await;
        }
        // Boxed: those who are not limited need not carry it.
        let admitted = Box::pin(self.executor.admit(&self.caller, entry, draft.started_at));
        let permit = self.before(&checked, admitted).await??;
        let result = self.run_checked(&checked, request, draft).await;
        permit.finish(match &result {
            Ok(_) => true,
            Err(failure) => failure.code.may_have_run(),
        });
        result
    }

    /// What can be said without running anything: the arguments, the deadline, the kind.
    fn check<'a>(
        &'a self,
        entry: &'a Arc<Entry>,
        request: &CallRequest,
    ) -> Result<Checked<'a>, Failure> {
        let schemas = checked_input(entry, &request.arguments)?;
        let timeout = self.timeout(entry, request.timeout_seconds)?;
        let kind = entry.tool.definition.kind;
        let kind = self.executor.kinds.get(kind).ok_or_else(|| {
            let kind = kind.as_str();
            Failure::new(
                Code::NotConfigured,
                format!("This version cannot run '{kind}' tools"),
            )
        })?;
        Ok(Checked {
            entry,
            schemas,
            kind,
            timeout,
            deadline: self.began + Duration::from_secs_f64(timeout),
            patience: Arc::default(),
        })
    }

    /// Gate → run with deadline → validate output → cap size.
    async fn run_checked(
        &self,
        checked: &Checked<'_>,
        request: CallRequest,
        draft: &EntryDraft,
    ) -> Result<Done, Failure> {
        let Checked { entry, schemas, .. } = *checked;
        let definition = &entry.tool.definition;
        let _turn = if definition.runs_in_parallel() {
            None
        } else {
            let turn = entry.gate.pass(self.executor.settings.queue_max);
            Some(
                self.before(checked, turn)
                    .await?
                    .map_err(|_| queue_full(entry))?,
            )
        };
        if definition.may_have_effects() {
            let started = draft.started(&self.caller, Some(entry));
            let written = self.executor.log.started(started);
            self.before(checked, written)
                .await?
                .map_err(|e| log_failed(&e))?;
        }
        let run = Run {
            entry: Arc::clone(entry),
            caller: Arc::clone(&self.caller),
            arguments: request.arguments,
            deadline: checked.deadline,
            cancel: self.cancel.clone(),
            output_bytes_max: self.executor.settings.output_bytes_max,
            talk: request.talk,
            patience: Arc::clone(&checked.patience),
            keyring: self.executor.keyring.get().and_then(Weak::upgrade),
            opened: draft.opened.clone(),
            trace: request.trace,
            telemetry: self.executor.settings.telemetry.clone(),
        };
        let work = CatchPanic(checked.kind.run(&run));
        let ran = self.before(checked, work).await;
        // Whatever the run started elsewhere (a thread, a query) stops with it.
        self.cancel.cancel();
        let output = ran???;
        if let Some(schema) = &schemas.output {
            schema
                .check(&output.data.value())
                .map_err(|v| violated(Code::InvalidOutput, "Output validation failed", &v))?;
        }
        let marked = schemas
            .output
            .as_ref()
            .filter(|schema| schema.has_secrets());
        self.capped(definition.output_format, output, marked)
    }

    /// The tool's deadline, or the caller's where that is shorter (B5).
    fn timeout(&self, entry: &Entry, asked: Option<f64>) -> Result<f64, Failure> {
        let own = entry
            .tool
            .definition
            .timeout_seconds()
            .unwrap_or(self.executor.settings.timeout_seconds_default);
        match asked {
            None => Ok(own),
            Some(seconds) if seconds.is_finite() && seconds > 0.0 => Ok(own.min(seconds)),
            Some(seconds) => Err(Failure::new(
                Code::InvalidInput,
                format!(
                    "Input validation failed: timeout_seconds must be a number above 0, got {seconds}"
                ),
            )),
        }
    }

    /// Waits for `work`, but not past the deadline, a hang-up or the server's own end.
    async fn before<T>(
        &self,
        checked: &Checked<'_>,
        work: impl Future<Output = T>,
    ) -> Result<T, Failure> {
        if self.cancel.is_cancelled() {
            return Err(Failure::new(
                Code::Cancelled,
                "The caller cancelled the call",
            ));
        }
        tokio::select! {
            // The work first: what is ready at once never pays for timers.
            biased;
            done = work => Ok(done),
            () = self.cancel.cancelled() => {
                Err(Failure::new(Code::Cancelled, "The caller cancelled the call"))
            }
            () = self.executor.stopping.cancelled() => {
                Err(Failure::new(Code::Cancelled, "The server stopped before the call was done"))
            }
            () = checked.patience.until(checked.deadline) => Err(checked.late()),
        }
    }

    /// `marked`: the output's schema, where it marks secrets. They are hidden before the value becomes text.
    fn capped(
        &self,
        format: OutputFormat,
        output: Output,
        marked: Option<&Schema>,
    ) -> Result<Done, Failure> {
        let logged = marked
            .filter(|_| format == OutputFormat::Text)
            .and_then(|schema| {
                let mut shown = output.data.value().into_owned();
                schema.redact(&mut shown);
                to_raw_value(&as_text(shown)).ok()
            });
        let data = match (format, output.data) {
            (OutputFormat::Json, Data::Written(text)) => Ok(text),
            (OutputFormat::Json, Data::Value(value)) => to_raw_value(&value),
            // Text already, whose numbers keep their digits.
            (OutputFormat::Text, Data::Written(text)) if !text.get().starts_with(['"', 'n']) => {
                to_raw_value(text.get())
            }
            (OutputFormat::Text, data) => to_raw_value(&as_text(data.value().into_owned())),
        };
        let data =
            data.map_err(|_| Failure::new(Code::InvalidOutput, "The tool's output is not JSON"))?;
        let raw_bytes = output.raw.as_ref().map_or(0, |raw| raw.get().len());
        let bytes = data.get().len().max(raw_bytes);
        let bytes_max = self.executor.settings.output_bytes_max;
        if bytes > bytes_max {
            let message = format!("The output has {bytes} bytes; at most {bytes_max} are allowed");
            return Err(Failure::new(Code::OutputTooLarge, message)
                .with_details(json!({"bytes": bytes, "bytes_max": bytes_max})));
        }
        Ok(Done {
            data,
            logged,
            message: output.message,
            log_text: output.log_text,
            raw: output.raw,
            truncated: output.truncated,
            is_whole: output.is_whole,
        })
    }
}

/// The schemas of a tool, whose arguments these may be.
pub(crate) fn checked_input<'a>(
    entry: &'a Entry,
    arguments: &Value,
) -> Result<&'a Schemas, Failure> {
    let schemas = entry
        .schemas()
        .map_err(|why| Failure::execution(format_args!("the tool's schema is not valid: {why}")))?;
    let checked = schemas.input.check(arguments);
    checked.map_err(|v| violated(Code::InvalidInput, "Input validation failed", &v))?;
    Ok(schemas)
}

pub(crate) fn micros(elapsed: Duration) -> i64 {
    i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX)
}
