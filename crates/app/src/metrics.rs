//! What Prometheus reads: how many calls ended how, how long they took, what runs and which servers are up.

use crate::App;
use executor::Code;
use executor::metrics::BOUNDS;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// The text of one answer, with each metric said what it is before its figures.
#[derive(Default)]
pub struct Exposition(String);

impl Exposition {
    pub fn about(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// One figure; `labels` are written in their order.
    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        self.0.push_str(name);
        for (at, (label, text)) in labels.iter().enumerate() {
            self.0.push(if at == 0 { '{' } else { ',' });
            let _ = write!(self.0, "{label}=\"");
            for letter in text.chars() {
                match letter {
                    '\\' => self.0.push_str("\\\\"),
                    '"' => self.0.push_str("\\\""),
                    '\n' => self.0.push_str("\\n"),
                    other => self.0.push(other),
                }
            }
            self.0.push('"');
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }

    /// A metric of one figure.
    pub fn one(&mut self, name: &str, kind: &str, help: &str, value: impl std::fmt::Display) {
        self.about(name, kind, help);
        self.sample(name, &[], value);
    }

    pub fn into_text(self) -> String {
        self.0
    }
}

fn seconds(us: u64) -> String {
    format!("{}.{:06}", us / 1_000_000, us % 1_000_000)
}

impl App {
    /// Where traces go, where there is a collector.
    pub fn telemetry(&self) -> Option<&Arc<telemetry::Telemetry>> {
        self.executor.telemetry()
    }

    /// What this process knows of itself; whoever answers requests adds what it knows.
    pub fn metrics(&self) -> Exposition {
        let mut to = Exposition::default();
        to.about(
            "toolcrib_build_info",
            "gauge",
            "Which program and engine this is.",
        );
        let labels = [
            ("version", env!("CARGO_PKG_VERSION")),
            ("engine", self.store.engine()),
        ];
        to.sample("toolcrib_build_info", &labels, 1);
        self.calls(&mut to);
        let executor = &self.executor;
        let what = "Calls that are running now.";
        to.one("toolcrib_calls_running", "gauge", what, executor.running());
        let what =
            "Whether entries of the execution log can be written; without, no call is answered.";
        let works = u8::from(executor.log_works());
        to.one("toolcrib_log_works", "gauge", what, works);
        let room = executor.log.room();
        let what = "What the execution log takes on disk.";
        to.one("toolcrib_log_bytes", "gauge", what, room.bytes);
        let what = "What it may take; 0 is no bound.";
        to.one("toolcrib_log_bytes_max", "gauge", what, room.bytes_max);
        let what = "Days that the execution log holds.";
        to.one("toolcrib_log_days", "gauge", what, room.days);
        let (catalogue, what) = (executor.catalogue.load(), "Tools in the catalogue.");
        to.one("toolcrib_tools", "gauge", what, catalogue.len());
        let mut states: BTreeMap<&str, u64> = BTreeMap::new();
        for upstream in self.upstreams.all() {
            *states.entry(upstream.status().state.as_str()).or_default() += 1;
        }
        let name = "toolcrib_upstream_servers";
        to.about(name, "gauge", "Upstream MCP servers by their state.");
        for (state, count) in states {
            to.sample(name, &[("state", state)], count);
        }
        let runs = &self.runs;
        runs.counted.tell(runs.under_way(), &mut to);
        if self.is_shared() {
            self.replicas(&mut to);
        }
        to
    }

    /// How it stands with the other servers on the same PostgreSQL.
    fn replicas(&self, to: &mut Exposition) {
        let figures = self.replicas.figures();
        let what = "Other servers on the same database that were heard of lately.";
        let name = "toolcrib_replicas_others";
        to.one(name, "gauge", what, figures.others);
        let what = "The number of the last change of the registry that counts here.";
        to.one("toolcrib_revision", "gauge", what, figures.revision);
        if let Some(ago) = figures.looked_ago {
            let what = "How long ago changes of other servers were last looked for, and all of them known.";
            let ago = format!("{:.3}", ago.as_secs_f64());
            to.one("toolcrib_revision_age_seconds", "gauge", what, ago);
        }
        let what =
            "Whether changes of other servers are told at once; without, they are looked for.";
        let hears = u8::from(figures.hears);
        to.one("toolcrib_replicas_line", "gauge", what, hears);
        let what = "Sorts of things that other servers have stored and this one cannot read.";
        to.one("toolcrib_replicas_unread", "gauge", what, figures.unread);
        let (name, what) = (
            "toolcrib_heartbeats_failed_total",
            "How often the others could not be told that this server is there.",
        );
        to.one(name, "counter", what, figures.beats_failed);
        let name = "toolcrib_lease_refusals_total";
        let what = "Calls that got no share of a limit that servers have together, by cause.";
        to.about(name, "counter", what);
        for (cause, count) in self.executor.metrics.lease_refusals() {
            to.sample(name, &[("cause", cause)], count);
        }
    }

    fn calls(&self, to: &mut Exposition) {
        let (metrics, name) = (&self.executor.metrics, "toolcrib_calls_total");
        let tools = metrics.tools();
        let what =
            "Calls that ended, by tool and by the code of their error; calls of no tool have none.";
        to.about(name, "counter", what);
        for tool in &tools {
            for (code, count) in &tool.ends {
                let status = match code {
                    None => "success",
                    Some(Code::Cancelled) => "cancelled",
                    Some(_) => "error",
                };
                let code = code.map_or("", Code::as_str);
                let labels = [("tool", &*tool.tool), ("status", status), ("code", code)];
                to.sample(name, &labels, count);
            }
        }
        let name = "toolcrib_call_seconds_total";
        to.about(name, "counter", "How long calls took in all, by tool.");
        for tool in &tools {
            to.sample(name, &[("tool", &*tool.tool)], seconds(tool.took_us));
        }
        let (name, took) = ("toolcrib_call_duration_seconds", metrics.took());
        to.about(
            name,
            "histogram",
            "How long calls took, all tools together.",
        );
        let bucket = format!("{name}_bucket");
        for ((_, bound), count) in BOUNDS.into_iter().zip(took.within) {
            to.sample(&bucket, &[("le", bound)], count);
        }
        to.sample(&bucket, &[("le", "+Inf")], took.count);
        to.sample(&format!("{name}_sum"), &[], seconds(took.sum_us));
        to.sample(&format!("{name}_count"), &[], took.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_seconds_are_exact() {
        let mut to = Exposition::default();
        to.sample("m", &[("a", "x\"y\\z\n"), ("b", "")], 3);
        to.one("n", "gauge", "N.", seconds(1_000_007));
        assert_eq!(
            to.into_text(),
            "m{a=\"x\\\"y\\\\z\\n\",b=\"\"} 3\n# HELP n N.\n# TYPE n gauge\nn 1.000007\n"
        );
    }
}
