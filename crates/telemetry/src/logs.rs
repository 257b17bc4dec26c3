//! What the server logs, for the collector, too.

use crate::context::hex;
use crate::current::current;
use crate::export::{Item, Telemetry};
use crate::otlp;
use crate::span::{nanos, now};
use serde_json::{Value, json};
use std::fmt::Debug;
use std::sync::{Arc, OnceLock};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

/// Part of the program's logging from its start; silent until there is somebody to tell.
#[derive(Clone, Default)]
pub struct ToCollector(Arc<OnceLock<Arc<Telemetry>>>);

impl ToCollector {
    /// From now on what is logged goes there as well.
    pub fn tell(&self, telemetry: Arc<Telemetry>) {
        let _ = self.0.set(telemetry);
    }
}

impl<S: Subscriber> Layer<S> for ToCollector {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let Some(telemetry) = self.0.get() else {
            return;
        };
        // What the exporter itself says must not make it say more.
        if event.metadata().target().starts_with("telemetry") {
            return;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let now = nanos(now());
        let (number, text) = severity(*event.metadata().level());
        let mut record = json!({
            "timeUnixNano": now,
            "observedTimeUnixNano": now,
            "severityNumber": number,
            "severityText": text,
            "body": {"stringValue": fields.message},
            "attributes": otlp::attributes(fields.others),
        });
        if let Some(context) = current() {
            record["traceId"] = hex(&context.trace_id).into();
            record["spanId"] = hex(&context.span_id).into();
            record["flags"] = u8::from(context.is_sampled).into();
        }
        telemetry.put(Item::Log(record));
    }
}

fn severity(level: Level) -> (u8, &'static str) {
    match level {
        Level::ERROR => (17, "ERROR"),
        Level::WARN => (13, "WARN"),
        Level::INFO => (9, "INFO"),
        Level::DEBUG => (5, "DEBUG"),
        Level::TRACE => (1, "TRACE"),
    }
}

#[derive(Default)]
struct Fields {
    message: String,
    others: Vec<(&'static str, Value)>,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            name => self.others.push((name, format!("{value:?}").into())),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => value.clone_into(&mut self.message),
            name => self.others.push((name, value.into())),
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.others.push((field.name(), value.into()));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.others.push((field.name(), value.into()));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.others.push((field.name(), value.into()));
    }
}
