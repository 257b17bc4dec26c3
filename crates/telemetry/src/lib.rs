//! Traces and logs for OpenTelemetry: the W3C context that requests carry, spans, and an exporter that speaks OTLP over HTTP
//! as JSON. Nobody waits for it: what cannot be sent in time is dropped, and counted.

pub mod context;
mod current;
mod export;
pub mod logs;
mod otlp;
pub mod span;

pub use context::Context;
pub use current::{handed_on, within};
pub use export::{Settings, Telemetry};
pub use span::{Kind, Span};
