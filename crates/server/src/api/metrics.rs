//! `GET /metrics`, for Prometheus: what the app counts, and what is counted of requests and of the process.

use crate::auth::CanOperate;
use crate::error::ErrorBody;
use crate::router::Server;
use app::metrics::Exposition;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What the format is called, with its version.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Status codes begin at 100 and end before this.
const STATUS_MAX: usize = 600;

/// Requests that were answered, by their status.
pub(crate) struct Answered([AtomicU64; STATUS_MAX]);

impl Default for Answered {
    fn default() -> Self {
        Answered([const { AtomicU64::new(0) }; STATUS_MAX])
    }
}

impl Answered {
    pub(crate) fn count(&self, status: StatusCode) {
        if let Some(counted) = self.0.get(usize::from(status.as_u16())) {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn write(&self, face: &str, name: &str, to: &mut Exposition) {
        for (status, count) in self.0.iter().enumerate() {
            let count = count.load(Ordering::Relaxed);
            if count > 0 {
                let labels = [("face", face), ("status", &*status.to_string())];
                to.sample(name, &labels, count);
            }
        }
    }
}

/// Requests by how they came in.
#[derive(Default)]
pub(crate) struct Requests {
    pub(crate) mcp: Answered,
    pub(crate) api: Answered,
}

/// Figures for Prometheus, in its text format. They name every tool that was called, whoever may see it.
#[utoipa::path(get, path = "/metrics", tag = "health",
    responses((status = 200, content_type = "text/plain", body = String), (status = "4XX", body = ErrorBody)))]
pub(crate) async fn metrics(State(server): State<Arc<Server>>, _: CanOperate) -> Response {
    let mut to = server.app.metrics();
    let name = "toolcrib_http_requests_total";
    let what =
        "Requests that were answered: messages of MCP, and all others; this one is not in it yet.";
    to.about(name, "counter", what);
    server.requests.mcp.write("mcp", name, &mut to);
    server.requests.api.write("api", name, &mut to);
    let in_flight = server.in_flight.load(Ordering::Relaxed);
    let what = "Requests that are being answered now.";
    to.one("toolcrib_http_requests_running", "gauge", what, in_flight);
    let what = "Sessions of MCP clients of the older era.";
    let sessions = server.face.sessions.count();
    to.one("toolcrib_mcp_sessions", "gauge", what, sessions);
    if let Some(telemetry) = server.app.telemetry() {
        let what = "Spans and log records that the collector was never sent.";
        let dropped = telemetry.dropped();
        to.one("toolcrib_telemetry_dropped_total", "counter", what, dropped);
    }
    let alive = tokio::runtime::Handle::current().metrics();
    let (what, alive) = (
        "Tasks that are alive, waiting ones too.",
        alive.num_alive_tasks(),
    );
    to.one("toolcrib_tasks", "gauge", what, alive);
    process(&mut to);
    ([(header::CONTENT_TYPE, FORMAT)], to.into_text()).into_response()
}

/// By the names that Prometheus' own libraries use. Where the system does not tell, they are left out.
fn process(to: &mut Exposition) {
    if let Some(spent) = processor_time() {
        let what = "Processor time that was spent.";
        to.one("process_cpu_seconds_total", "counter", what, spent);
    }
    if let Some(bytes) = resident_bytes() {
        let what = "Resident memory.";
        to.one("process_resident_memory_bytes", "gauge", what, bytes);
    }
    if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
        // One of them is the folder itself.
        let open = open.count().saturating_sub(1);
        to.one("process_open_fds", "gauge", "Open files.", open);
    }
}

/// In seconds. The kernel tells programs hundredths, whatever it counts in itself.
fn processor_time() -> Option<String> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name in brackets may hold anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut fields = fields.split(' ').skip(11).map(str::parse::<u64>);
    let spent = fields.next()?.ok()? + fields.next()?.ok()?;
    Some(format!("{}.{:02}", spent / 100, spent % 100))
}

fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib << 10)
}
