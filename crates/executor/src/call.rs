//! `Executor::call`: the only way a tool runs. A caller who hangs up cancels the call; it is stopped and logged
//! all the same.

use crate::answer::unlogged;
use crate::attempt::{Attempt, checked_input};
use crate::code::Code;
use crate::denial::judge;
use crate::kind::{Failure, Keyring, Kinds, Opened, Run};
use crate::lessee::Lessee;
use crate::metrics::{Ended, Metrics};
use crate::pending::PendingCall;
use crate::quota::Quotas;
use crate::response::ToolResponse;
use crate::talk::Talk;
use arc_swap::ArcSwap;
use catalog::caller::Caller;
use catalog::catalogue::{Catalogue, Entry};
use catalog::clock::Clock;
use catalog::policy::{Policy, Verdict};
use catalog::tool::Definition;
use executions::{Execution, ExecutionLog, LogError};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The executor's own limits; every one is in the configuration.
#[derive(Debug, Clone)]
pub struct Settings {
    pub timeout_seconds_default: f64,
    pub output_bytes_max: usize,
    /// How many calls may wait for their turn at one serial tool.
    pub queue_max: usize,
    /// What is told of calls.
    pub telemetry: Option<Arc<telemetry::Telemetry>>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            timeout_seconds_default: 30.0,
            output_bytes_max: 1 << 20,
            queue_max: 256,
            telemetry: None,
        }
    }
}

/// What a caller asks for.
#[derive(Debug, Default)]
pub struct CallRequest {
    pub tool: String,
    pub arguments: Value,
    /// May only shorten the tool's own.
    pub timeout_seconds: Option<f64>,
    /// With whoever asked, while the call runs; none where they only wait for its end.
    pub talk: Option<Talk>,
    /// The trace that it belongs to.
    pub trace: Option<Box<telemetry::Context>>,
    /// Whether somebody let this very call run, where the tool asks for that. Only a run can say so.
    pub is_approved: bool,
}

/// Everything a call needs, shared by all faces.
pub struct Executor {
    pub catalogue: ArcSwap<Catalogue>,
    pub policy: ArcSwap<Policy>,
    pub quotas: ArcSwap<Quotas>,
    pub log: ExecutionLog,
    pub metrics: Metrics,
    pub clock: Clock,
    pub(crate) kinds: Kinds,
    pub(crate) settings: Settings,
    running: TaskTracker,
    pub(crate) stopping: CancellationToken,
    /// Whether the last entry could be written.
    log_works: AtomicBool,
    pub(crate) keyring: OnceLock<Weak<dyn Keyring>>,
    /// Where several servers may be at work, what this one has of the limits they share.
    pub(crate) lessee: OnceLock<Arc<Lessee>>,
    changes: watch::Sender<()>,
}

impl Executor {
    pub fn new(
        catalogue: Catalogue,
        policy: Policy,
        kinds: Kinds,
        log: ExecutionLog,
        clock: Clock,
        settings: Settings,
    ) -> Arc<Self> {
        Arc::new(Executor {
            catalogue: ArcSwap::from_pointee(catalogue),
            policy: ArcSwap::from_pointee(policy),
            quotas: ArcSwap::default(),
            log,
            metrics: Metrics::default(),
            clock,
            kinds,
            settings,
            running: TaskTracker::new(),
            stopping: CancellationToken::new(),
            log_works: AtomicBool::new(true),
            keyring: OnceLock::new(),
            lessee: OnceLock::new(),
            changes: watch::Sender::default(),
        })
    }

    /// Tells when the catalogue or the policy is another.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Somebody may see other tools now, though neither the catalogue nor the policy is another.
    pub fn tell_changed(&self) {
        self.changes.send_replace(());
    }

    pub fn set_catalogue(&self, catalogue: Catalogue) {
        self.catalogue.store(Arc::new(catalogue));
        self.changes.send_replace(());
    }

    pub fn set_policy(&self, policy: Policy) {
        self.policy.store(Arc::new(policy));
        self.changes.send_replace(());
    }

    /// Whoever holds the secrets is made after this and holds it, so it is told later and not held in turn.
    pub fn set_keyring(&self, keyring: Weak<dyn Keyring>) {
        let _ = self.keyring.set(keyring);
    }

    /// Asks the definition's kind whether it could run; see `Kind::check`.
    pub async fn check(&self, definition: &Definition) -> Result<(), Failure> {
        match self.kinds.get(definition.kind) {
            Some(kind) => kind.check(definition).await,
            None => Ok(()),
        }
    }

    /// What a call of it would find missing right now; see `Kind::missing`.
    pub fn missing(&self, definition: &Definition) -> Option<String> {
        self.kinds.get(definition.kind)?.missing(definition)
    }

    /// Why only an admin may have it; see `Kind::needs_trust`.
    pub fn needs_trust(&self, definition: &Definition) -> Option<String> {
        self.kinds.get(definition.kind)?.needs_trust(definition)
    }

    /// Whether a call with these arguments would be let through to the tool.
    pub fn check_arguments(&self, entry: &Entry, arguments: &Value) -> Result<(), Failure> {
        let mut arguments = arguments.clone();
        entry.fill(&mut arguments);
        checked_input(entry, &arguments).map(drop)
    }

    /// How a call of a tool would go about its work; see `Kind::explain`.
    pub async fn explain(
        &self,
        caller: Arc<Caller>,
        entry: Arc<Entry>,
        mut arguments: Value,
    ) -> Result<Value, Failure> {
        entry.fill(&mut arguments);
        let kind = entry.tool.definition.kind;
        let Some(kind) = self.kinds.get(kind) else {
            let why = format!("This version cannot run '{}' tools", kind.as_str());
            return Err(Failure::new(Code::NotConfigured, why));
        };
        let seconds = self.settings.timeout_seconds_default;
        let run = Run {
            entry,
            caller,
            arguments,
            deadline: Instant::now() + Duration::from_secs_f64(seconds),
            cancel: CancellationToken::new(),
            output_bytes_max: self.settings.output_bytes_max,
            talk: None,
            patience: Arc::default(),
            keyring: self.keyring.get().and_then(Weak::upgrade),
            opened: Opened::default(),
            trace: None,
            telemetry: None,
        };
        let plan = kind.explain(&run).await?;
        Ok(plan.data.value().into_owned())
    }

    /// Runs a tool of the catalogue for a caller.
    pub fn call(self: &Arc<Self>, caller: Arc<Caller>, request: CallRequest) -> PendingCall {
        self.start(caller, request, None)
    }

    /// Runs a definition that is not in the catalogue (a test before saving) on the same path.
    pub fn call_unsaved(
        self: &Arc<Self>,
        caller: Arc<Caller>,
        request: CallRequest,
        entry: Arc<Entry>,
    ) -> PendingCall {
        self.start(caller, request, Some(entry))
    }

    fn start(
        self: &Arc<Self>,
        caller: Arc<Caller>,
        request: CallRequest,
        unsaved: Option<Arc<Entry>>,
    ) -> PendingCall {
        let cancel = CancellationToken::new();
        let attempt = Attempt {
            executor: Arc::clone(self),
            caller,
            began: Instant::now(),
            cancel: cancel.clone(),
        };
        let work = self.running.track_future(attempt.perform(request, unsaved));
        PendingCall {
            work: Some(Box::pin(work)),
            cancel,
        }
    }

    /// Lets running calls finish for `grace`, then cancels the rest and waits until each is logged.
    pub async fn stop(&self, grace: Duration) {
        self.running.close();
        if tokio::time::timeout(grace, self.running.wait())
            .await
            .is_err()
        {
            self.stopping.cancel();
            self.running.wait().await;
        }
    }

    /// Whether a call would get past the first steps: found, visible, active, allowed.
    pub fn permits(&self, caller: &Caller, tool: &str) -> Option<Arc<Entry>> {
        let entry = self.catalogue.load().find(tool).cloned()?;
        let verdict = self.policy.load().verdict(caller, &entry.tool);
        let permitted = verdict != Verdict::Hidden && judge(&entry.name, verdict).is_ok();
        permitted.then_some(entry)
    }

    /// Writes the entry of a call; only then is its answer given away.
    pub(crate) async fn logged(
        &self,
        record: Box<Execution>,
        response: ToolResponse,
    ) -> ToolResponse {
        match self.written(record).await {
            Ok(()) => response,
            Err(error) => unlogged(&response, &error),
        }
    }

    pub(crate) async fn written(&self, record: Box<Execution>) -> Result<(), LogError> {
        let ended = Ended::of(&record);
        let written = self.log.finish(record).await;
        self.log_works.store(written.is_ok(), Ordering::Relaxed);
        if written.is_ok() {
            self.metrics.count(&ended);
        }
        written
    }

    /// False while entries cannot be written, which means that no call is answered.
    pub fn log_works(&self) -> bool {
        self.log_works.load(Ordering::Relaxed)
    }

    pub fn running(&self) -> usize {
        self.running.len()
    }
}
