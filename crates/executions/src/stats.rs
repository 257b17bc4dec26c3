//! Counts and durations over a span of time: grouped by the engine, added up here.

use crate::day::TIME_MAX;
use crate::error::LogError;
use crate::query::listed;
use crate::record::Status;
use catalog::caller::Transport;
use catalog::tool::Millis;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use utoipa::ToSchema;

/// At most this many of the newest calls are looked at, so that a wide span cannot keep the disk busy.
pub(crate) const ROWS_MAX: i64 = 500_000;

/// Which calls are counted, and into how many slots of time.
#[derive(Debug, Clone, Default)]
pub struct Span {
    pub since: Option<Millis>,
    /// Not included.
    pub until: Option<Millis>,
    pub tool: Option<String>,
    pub caller: Option<String>,
    pub status: Option<Status>,
    /// How they came in: one of these, or any where there are none.
    pub transports: Vec<Transport>,
    /// Of equal length; none where only sums are wanted.
    pub slots: Option<u16>,
}

/// The newest calls of a span. The parameters are numbered as they come: SQLite counts them so. Durations are cut to two significant digits: few groups, and a percentile within 10%.
macro_rules! newest {
    () => {
        "SELECT tool_name, caller, status, error_code, CASE \
         WHEN elapsed_us < 100 THEN elapsed_us WHEN elapsed_us < 1000 THEN elapsed_us / 10 * 10 \
         WHEN elapsed_us < 10000 THEN elapsed_us / 100 * 100 WHEN elapsed_us < 100000 THEN elapsed_us / 1000 * 1000 \
         WHEN elapsed_us < 1000000 THEN elapsed_us / 10000 * 10000 WHEN elapsed_us < 10000000 THEN elapsed_us / 100000 * 100000 \
         WHEN elapsed_us < 100000000 THEN elapsed_us / 1000000 * 1000000 ELSE elapsed_us / 10000000 * 10000000 END AS bucket, \
         started_at, (started_at - $1) / $2 AS slot FROM executions WHERE started_at >= $1 AND started_at < $3 \
         AND ($4 IS NULL OR tool_name = $4) AND ($5 IS NULL OR caller = $5) AND ($6 IS NULL OR status = $6) \
         AND ($7 IS NULL OR $7 LIKE '%,' || transport || ',%') ORDER BY started_at DESC LIMIT $8"
    };
}
/// Row by row, for an engine in this process: its GROUP BY would sort what a hash table here adds up faster.
pub(crate) const NEWEST: &str = newest!();
/// In groups, for an engine at the other end of a wire.
pub(crate) const GROUPS: &str = concat!(
    "SELECT tool_name, caller, status, error_code, bucket, MIN(started_at), slot, COUNT(*) FROM (",
    newest!(),
    ") AS newest GROUP BY tool_name, caller, status, error_code, bucket, slot"
);

/// What happened in a span of time.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct Stats {
    pub total: u64,
    /// False when the span holds more calls than are looked at; then the numbers are of the newest ones,
    pub complete: bool,
    /// back to this time.
    pub covered_since: Millis,
    #[schema(value_type = BTreeMap<String, u64>)]
    pub by_status: BTreeMap<Status, u64>,
    pub by_error_code: BTreeMap<String, u64>,
    /// Most called first.
    pub tools: Vec<ToolStats>,
    /// Most active first.
    pub callers: Vec<CallerStats>,
    /// Slot by slot, where slots are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
}

/// Calls in slots of time of equal length, the oldest first.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct Series {
    /// When the first one begins.
    pub from: Millis,
    pub slot_ms: i64,
    pub calls: Vec<u64>,
    pub errors: Vec<u64>,
}

#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct ToolStats {
    pub tool_name: String,
    pub calls: u64,
    /// Calls that ended in anything but success (those still running are no errors).
    pub errors: u64,
    /// Of ended calls, to two significant digits.
    pub p50_us: i64,
    pub p95_us: i64,
    /// In the slots of `series`, where there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls_by_slot: Vec<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors_by_slot: Vec<u64>,
}

#[derive(Debug, Clone, Default, Serialize, ToSchema)]
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
    pub(crate) slot: i64,
    pub(crate) calls: i64,
}

#[derive(Default)]
struct ToolTally {
    calls: u64,
    errors: u64,
    durations: BTreeMap<i64, u64>,
    calls_by_slot: Vec<u64>,
    errors_by_slot: Vec<u64>,
}

/// What is asked for, and the groups of it seen so far, newest day first.
pub(crate) struct Tally {
    pub(crate) from: Millis,
    /// Not included.
    pub(crate) to: Millis,
    /// How long a slot is; one holds everything where none are asked for.
    pub(crate) slot_ms: i64,
    pub(crate) tool: Option<String>,
    pub(crate) caller: Option<String>,
    pub(crate) status: Option<&'static str>,
    pub(crate) transports: Option<String>,
    rows_left: i64,
    oldest: Millis,
    stats: Stats,
    tools: HashMap<String, ToolTally>,
    callers: HashMap<String, CallerStats>,
}

impl Tally {
    pub(crate) fn new(span: Span) -> Self {
        let from = span.since.unwrap_or(0).max(0);
        let to = span.until.unwrap_or(TIME_MAX + 1).min(TIME_MAX + 1);
        let slots = span.slots.map(i64::from).filter(|slots| *slots > 0);
        let slot_ms = slots.map_or(i64::MAX, |slots| {
            let whole = (to - from).max(1);
            whole / slots + i64::from(whole % slots != 0)
        });
        let series = slots.map(|slots| Series {
            from,
            slot_ms,
            calls: empty(slots),
            errors: empty(slots),
        });
        let (tools, callers) = Default::default();
        Tally {
            from,
            to,
            slot_ms,
            tool: span.tool,
            caller: span.caller,
            status: span.status.map(Status::as_str),
            transports: listed(&span.transports),
            rows_left: ROWS_MAX,
            oldest: to,
            stats: Stats {
                series,
                ..Stats::default()
            },
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
        if let Some(series) = &mut self.stats.series {
            let count = series.calls.len();
            let slot = usize::try_from(group.slot).unwrap_or_default();
            let slot = slot.min(count - 1);
            for (all, more) in [
                (&mut series.calls, calls),
                (&mut series.errors, errors),
                (&mut tool.calls_by_slot, calls),
                (&mut tool.errors_by_slot, errors),
            ] {
                all.resize(count, 0);
                all[slot] += more;
            }
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
            .map(|(name, tally)| tool_stats(name, tally))
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

fn empty(slots: i64) -> Vec<u64> {
    vec![0; usize::try_from(slots).unwrap_or_default()]
}

fn tool_stats(tool_name: String, tally: ToolTally) -> ToolStats {
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
        calls_by_slot: tally.calls_by_slot,
        errors_by_slot: tally.errors_by_slot,
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
