//! Calls as they are counted for those who watch the server: exactly those that stand in the log.

use crate::code::{Code, TABLE};
use executions::{Execution, Status};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Tools that are counted by their name; the calls of others are counted together. What is watched grows with it.
const TOOLS_MAX: usize = 10_000;

/// The tool of calls that found none, and of the tools beyond `TOOLS_MAX`. No tool has these names.
pub const NO_TOOL: &str = "";
pub const OTHER_TOOLS: &str = "(other)";

/// Upper bounds of how long calls took: in microseconds, and as seconds are written.
pub const BOUNDS: [(u64, &str); 14] = [
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (500_000, "0.5"),
    (1_000_000, "1"),
    (2_500_000, "2.5"),
    (5_000_000, "5"),
    (10_000_000, "10"),
    (60_000_000, "60"),
];

/// One for each code, and one for success.
const ENDS: usize = TABLE.len() + 1;
const SUCCESS: usize = TABLE.len();

#[derive(Default)]
pub struct Metrics {
    tools: RwLock<HashMap<Arc<str>, Arc<OfTool>>>,
    took: [AtomicU64; BOUNDS.len() + 1],
    took_us: AtomicU64,
    /// Calls that a limit of several servers refused, and those for which it could not be asked.
    pub(crate) leases_refused: AtomicU64,
    pub(crate) leases_unheard: AtomicU64,
}

struct OfTool {
    ends: [AtomicU64; ENDS],
    took_us: AtomicU64,
}

impl Default for OfTool {
    fn default() -> Self {
        OfTool {
            ends: [const { AtomicU64::new(0) }; ENDS],
            took_us: AtomicU64::new(0),
        }
    }
}

/// What is known of a tool's calls.
pub struct ToolMetrics {
    pub tool: Arc<str>,
    /// How many ended how: none is success. Those that never happened are left out.
    pub ends: Vec<(Option<Code>, u64)>,
    pub took_us: u64,
}

/// How long calls took, all tools together.
pub struct Took {
    /// How many took no longer than each of `BOUNDS`.
    pub within: [u64; BOUNDS.len()],
    pub count: u64,
    pub sum_us: u64,
}

impl Metrics {
    /// Calls that got no share of a limit that several servers have together: because it is used up, and because the database
    /// did not answer.
    pub fn lease_refusals(&self) -> [(&'static str, u64); 2] {
        [
            ("limit", self.leases_refused.load(Ordering::Relaxed)),
            ("unavailable", self.leases_unheard.load(Ordering::Relaxed)),
        ]
    }

    /// Counts a call whose entry has been written.
    pub(crate) fn count(&self, record: &Ended) {
        let took_us = record.took_us;
        let tool = self.of(&record.tool);
        tool.ends[record.end].fetch_add(1, Ordering::Relaxed);
        tool.took_us.fetch_add(took_us, Ordering::Relaxed);
        let bucket = BOUNDS.partition_point(|bound| bound.0 < took_us);
        self.took[bucket].fetch_add(1, Ordering::Relaxed);
        self.took_us.fetch_add(took_us, Ordering::Relaxed);
    }

    fn of(&self, tool: &Arc<str>) -> Arc<OfTool> {
        {
            let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = tools.get(tool) {
                return Arc::clone(known);
            }
        }
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        let name = match tools.len() < TOOLS_MAX {
            true => Arc::clone(tool),
            false => OTHER_TOOLS.into(),
        };
        Arc::clone(tools.entry(name).or_default())
    }

    /// By name.
    pub fn tools(&self) -> Vec<ToolMetrics> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<ToolMetrics> = tools.iter().map(|(name, of)| of.read(name)).collect();
        all.sort_unstable_by(|a, b| a.tool.cmp(&b.tool));
        all
    }

    pub fn took(&self) -> Took {
        let mut count = 0;
        let mut all = self.took.iter().map(|it| it.load(Ordering::Relaxed));
        let within = std::array::from_fn(|_| {
            count += all.next().unwrap_or_default();
            count
        });
        Took {
            within,
            count: count + all.sum::<u64>(),
            sum_us: self.took_us.load(Ordering::Relaxed),
        }
    }
}

impl OfTool {
    fn read(&self, name: &Arc<str>) -> ToolMetrics {
        let codes = TABLE.iter().map(|row| Some(row.code)).chain([None]);
        let ends = codes.zip(self.ends.iter().map(|it| it.load(Ordering::Relaxed)));
        ToolMetrics {
            tool: Arc::clone(name),
            ends: ends.filter(|(_, count)| *count > 0).collect(),
            took_us: self.took_us.load(Ordering::Relaxed),
        }
    }
}

/// What is counted of an entry; the entry itself goes to the log.
pub(crate) struct Ended {
    tool: Arc<str>,
    end: usize,
    took_us: u64,
}

impl Ended {
    /// Names that no tool has are not counted by name: whoever calls could make up as many as they like.
    pub(crate) fn of(record: &Execution) -> Self {
        let is_known = record.tool_version > 0;
        let code = record.error_code.as_deref().unwrap_or_default();
        let end = match record.status {
            Status::Success => SUCCESS,
            _ => {
                let found = TABLE.iter().position(|row| row.name == code);
                found.unwrap_or(Code::Internal as usize)
            }
        };
        Ended {
            tool: match is_known {
                true => Arc::clone(&record.tool_name),
                false => NO_TOOL.into(),
            },
            end,
            took_us: u64::try_from(record.elapsed_us).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(tool: &str, end: usize, took_us: u64) -> Ended {
        Ended {
            tool: tool.into(),
            end,
            took_us,
        }
    }

    #[test]
    fn every_call_is_counted_once_where_it_belongs() {
        let metrics = Metrics::default();
        metrics.count(&ended("b", SUCCESS, 1_000));
        metrics.count(&ended("b", SUCCESS, 1_001));
        metrics.count(&ended("b", Code::Timeout as usize, 70_000_000));
        metrics.count(&ended("a", SUCCESS, 0));
        let tools = metrics.tools();
        let names: Vec<&str> = tools.iter().map(|it| &*it.tool).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(tools[1].ends, [(Some(Code::Timeout), 1), (None, 2)]);
        assert_eq!(tools[1].took_us, 70_002_001);
        let took = metrics.took();
        assert_eq!((took.within[0], took.within[1]), (2, 3));
        assert_eq!((took.within[13], took.count), (3, 4));
        assert_eq!(took.sum_us, 70_002_001);
    }

    #[test]
    fn what_is_watched_stays_bounded() {
        let metrics = Metrics::default();
        for number in 0..TOOLS_MAX + 50 {
            metrics.count(&ended(&format!("t{number}"), SUCCESS, 1));
        }
        let tools = metrics.tools();
        assert_eq!(tools.len(), TOOLS_MAX + 1);
        let others = tools.iter().find(|it| &*it.tool == OTHER_TOOLS).unwrap();
        assert_eq!(others.ends, [(None, 50)]);
    }
}
