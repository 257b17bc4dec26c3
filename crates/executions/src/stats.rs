//! Counts and durations over a span of time: grouped by the engine, added up here.

use crate::day::TIME_MAX;
use crate::error::LogError;
use crate::record::Status;
use catalog::tool::Millis;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// At most this many of the newest calls are looked at, so that a wide span cannot keep the disk busy.
pub(crate) const ROWS_MAX: i64 = 500_000;

/// The newest calls of a span. Durations are cut to two significant digits: few groups, and a percentile within 10%.
macro_rules! newest {
    () => {
        "SELECT tool_name, caller, status, error_code, CASE \
         WHEN elapsed_us < 100 THEN elapsed_us WHEN elapsed_us < 1000 THEN elapsed_us / 10 * 10 \
         WHEN elapsed_us < 10000 THEN elapsed_us / 100 * 100 WHEN elapsed_us < 100000 THEN elapsed_us / 1000 * 1000 \
         WHEN elapsed_us < 1000000 THEN elapsed_us / 10000 * 10000 WHEN elapsed_us < 10000000 THEN elapsed_us / 100000 * 100000 \
         WHEN elapsed_us < 100000000 THEN elapsed_us / 1000000 * 1000000 ELSE elapsed_us / 10000000 * 10000000 END AS bucket, \
         started_at FROM executions WHERE started_at >= $1 AND started_at < $2 ORDER BY started_at DESC LIMIT $3"
    };
}
/// Row by row, for an engine in this process: its GROUP BY would sort what a hash table here adds up faster.
pub(crate) const NEWEST: &str = newest!();
/// In groups, for an engine at the other end of a wire.
pub(crate) const GROUPS: &str = concat!(
    "SELECT tool_name, caller, status, error_code, bucket, MIN(started_at), COUNT(*) FROM (",
    newest!(),
    ") AS newest GROUP BY tool_name, caller, status, error_code, bucket"
);

/// What happened in a span of time.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Stats {
    pub total: u64,
    /// False when the span holds more calls than are looked at; then the numbers are of the newest ones,
    pub complete: bool,
    /// back to this time.
    pub covered_since: Millis,
    pub by_status: BTreeMap<Status, u64>,
    pub by_error_code: BTreeMap<String, u64>,
    /// Most called first.
    pub tools: Vec<ToolStats>,
    /// Most active first.
    pub callers: Vec<CallerStats>,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct ToolStats {
    pub tool_name: String,
    pub calls: u64,
    /// Calls that ended in anything but success (those still running are no errors).
    pub errors: u64,
    /// Of ended calls, to two significant digits.
    pub p50_us: i64,
    pub p95_us: i64,
}

#[derive(Debug, Clone, Default, Serialize)]
pub struct CallerStats {
    pub caller: String,
    pub calls: u64,
    pub errors: u64,
}

/// One row of `GROUPS`, or of `NEWEST` as a group of one.
pub(crate) struct Group<'a> {
    pub(crate) tool_name: &'a str,
    pub(crate) caller: &'a str,
    pub(crate) status: &'a str,
    pub(crate) error_code: Option<&'a str>,
    pub(crate) bucket: i64,
    pub(crate) oldest: Millis,
    pub(crate) calls: i64,
}

#[derive(Default)]
struct ToolTally {
    calls: u64,
    errors: u64,
    durations: BTreeMap<i64, u64>,
}

/// The span asked for, and the groups of it seen so far, newest day first.
pub(crate) struct Tally {
    pub(crate) from: Millis,
    /// Not included.
    pub(crate) to: Millis,
    rows_left: i64,
    oldest: Millis,
    stats: Stats,
    tools: HashMap<String, ToolTally>,
    callers: HashMap<String, CallerStats>,
}

impl Tally {
    pub(crate) fn new(since: Option<Millis>, until: Option<Millis>) -> Self {
        let from = since.unwrap_or(0).max(0);
        let to = until.unwrap_or(TIME_MAX + 1).min(TIME_MAX + 1);
        let (tools, callers) = Default::default();
        Tally {
            from,
            to,
            rows_left: ROWS_MAX,
            oldest: to,
            stats: Stats::default(),
            tools,
            callers,
        }
    }

    pub(crate) fn rows_left(&self) -> i64 {
        self.rows_left
    }

    pub(crate) fn add(&mut self, group: &Group<'_>) -> Result<(), LogError> {
        let status = Status::stored(group.status)?;
        let calls = u64::try_from(group.calls).unwrap_or_default();
        let failed = !matches!(status, Status::Started | Status::Success);
        let errors = if failed { calls } else { 0 };
        self.rows_left -= group.calls;
        self.oldest = self.oldest.min(group.oldest);
        self.stats.total += calls;
        *self.stats.by_status.entry(status).or_default() += calls;
        if let Some(code) = group.error_code {
            *self.stats.by_error_code.entry(code.to_owned()).or_default() += calls;
        }
        let tool = named(&mut self.tools, group.tool_name);
        tool.calls += calls;
        tool.errors += errors;
        // Neither of these two knows how long its call took.
        if !matches!(status, Status::Started | Status::Interrupted) {
            *tool.durations.entry(group.bucket).or_default() += calls;
        }
        let caller = named(&mut self.callers, group.caller);
        caller.calls += calls;
        caller.errors += errors;
        Ok(())
    }

    pub(crate) fn stats(self) -> Stats {
        let mut stats = self.stats;
        stats.complete = self.rows_left > 0;
        stats.covered_since = if stats.complete {
            self.from
        } else {
            self.oldest
        };
        stats.tools = self
            .tools
            .into_iter()
            .map(|(name, tally)| tool_stats(name, &tally))
            .collect();
        stats.tools.sort_by(|a, b| {
            b.calls
                .cmp(&a.calls)
                .then_with(|| a.tool_name.cmp(&b.tool_name))
        });
        stats.callers = self
            .callers
            .into_iter()
            .map(|(caller, tally)| CallerStats { caller, ..tally })
            .collect();
        stats
            .callers
            .sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.caller.cmp(&b.caller)));
        stats
    }
}

/// The entry of that name; the name is copied only when it is new.
fn named<'a, T: Default>(map: &'a mut HashMap<String, T>, name: &str) -> &'a mut T {
    if !map.contains_key(name) {
        map.insert(name.to_owned(), T::default());
    }
    map.get_mut(name).expect("it was inserted above")
}

fn tool_stats(tool_name: String, tally: &ToolTally) -> ToolStats {
    let (p50_us, p95_us) = (
        percentile(&tally.durations, 50),
        percentile(&tally.durations, 95),
    );
    ToolStats {
        tool_name,
        calls: tally.calls,
        errors: tally.errors,
        p50_us,
        p95_us,
    }
}

/// The nearest-rank percentile.
fn percentile(durations: &BTreeMap<i64, u64>, percent: u64) -> i64 {
    let rank = (durations.values().sum::<u64>() * percent).div_ceil(100);
    let mut seen = 0;
    for (duration, calls) in durations {
        seen += calls;
        if seen >= rank {
            return *duration;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let durations: BTreeMap<i64, u64> = (1..=100).map(|us| (us, 1)).collect();
        assert_eq!(
            (percentile(&durations, 50), percentile(&durations, 95)),
            (50, 95)
        );
        assert_eq!(percentile(&BTreeMap::from([(7, 1)]), 95), 7);
        assert_eq!(percentile(&BTreeMap::new(), 50), 0);
    }
}
