//! `fixture_wait`: waits as long as it is told and says how many calls ran beside it. It exists to test this
//! program from outside (deadlines, hang-ups, serial tools) and is off unless the configuration asks for it.

use super::{About, Builtin};
use catalog::tool::Annotations;
use executor::kind::RunFuture;
use executor::{Event, Failure, Run};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Counters per tool name: several tools may run this builtin.
#[derive(Default)]
pub(super) struct Wait(Mutex<HashMap<String, Arc<Counts>>>);

impl Wait {
    fn counts(&self, tool: &str) -> Arc<Counts> {
        let mut counts = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        Arc::clone(counts.entry(tool.to_owned()).or_default())
    }
}

#[derive(Default)]
struct Counts {
    running: AtomicU64,
    peak: AtomicU64,
    started: AtomicU64,
    finished: AtomicU64,
}

/// Counts a call out again however it ends.
struct Leave(Arc<Counts>);

impl Drop for Leave {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Builtin for Wait {
    fn about(&self) -> About {
        About {
            name: "fixture_wait",
            description: "Test fixture: waits, then tells how many calls ran at the same time.",
            description_user: "Only for testing: waits for the given seconds and reports counters.",
            input_schema: json!({
                "type": "object",
                "properties": {
                    "seconds": {"type": "number", "minimum": 0, "maximum": 60},
                    "fail": {"type": "string", "description": "Fail with this text instead"},
                    "bytes": {"type": "integer", "minimum": 0, "maximum": 50_000_000, "description": "Answer with this much text"},
                    "panic": {"type": "boolean"},
                    "secret": {"type": "string", "writeOnly": true}
                }
            }),
            output_schema: None,
            annotations: Annotations {
                destructive: Some(true),
                ..Annotations::default()
            },
            parallel_capable: true,
            examples: &[],
        }
    }

    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        Box::pin(async move {
            let counts = self.counts(&run.entry.name);
            counts.started.fetch_add(1, Ordering::SeqCst);
            let running = counts.running.fetch_add(1, Ordering::SeqCst) + 1;
            counts.peak.fetch_max(running, Ordering::SeqCst);
            let leave = Leave(Arc::clone(&counts));
            let argument = |name: &str| run.arguments.get(name);
            let seconds = argument("seconds").and_then(Value::as_f64).unwrap_or(0.0);
            let progress = Event::Progress {
                progress: 0.0,
                total: Some(seconds),
                message: None,
            };
            run.tell(progress).await;
            tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
            assert!(argument("panic").is_none(), "a panic was asked for");
            if let Some(text) = argument("fail").and_then(Value::as_str) {
                return Err(Failure::execution(text));
            }
            if let Some(bytes) = argument("bytes").and_then(Value::as_u64) {
                let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
                return Ok(Value::String("x".repeat(bytes)).into());
            }
            drop(leave);
            counts.finished.fetch_add(1, Ordering::SeqCst);
            Ok(json!({
                "waited": seconds,
                "running": counts.running.load(Ordering::SeqCst),
                "peak": counts.peak.load(Ordering::SeqCst),
                "started": counts.started.load(Ordering::SeqCst),
                "finished": counts.finished.load(Ordering::SeqCst),
                "secret": argument("secret"),
            })
            .into())
        })
    }
}
