//! How much of each limit is used up now.

use crate::admit::is_timed;
use crate::call::Executor;
use crate::earlier::{Whose, learn_day, learn_pace};
use crate::quota::{Target, day_of};
use catalog::catalogue::Entry;
use executions::LogError;

/// The calls of a tool that its `rate_limit` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaceUse {
    pub minute: u64,
    pub hour: u64,
    pub running: u32,
}

impl Executor {
    /// Today's calls of whoever has a quota, under the name they have in the log; none without a quota.
    pub async fn day_use(&self, target: Target, name: &str) -> Result<Option<u64>, LogError> {
        let quota = self.quotas.load().get(target).cloned();
        let Some(quota) = quota else {
            return Ok(None);
        };
        let now = self.clock.now();
        let whose = match target {
            Target::User(_) => Whose::Caller(name),
            Target::Tool(_) => Whose::Tool(name),
        };
        learn_day(&self.log, &quota.days, whose, now).await?;
        let count = quota.days.lock().count(day_of(now));
        Ok(count)
    }

    /// The recent and the running calls of a tool with a `rate_limit`.
    pub async fn pace_use(&self, entry: &Entry) -> Result<Option<PaceUse>, LogError> {
        let rate = entry.tool.definition.rate_limit.as_ref();
        let (Some(pace), Some(rate)) = (&entry.pace, rate) else {
            return Ok(None);
        };
        let now = self.clock.now();
        if is_timed(rate) {
            learn_pace(&self.log, pace, &entry.name, now).await?;
        }
        let state = pace.lock();
        Ok(Some(PaceUse {
            minute: state.minute.count(now),
            hour: state.hour.count(now),
            running: state.running,
        }))
    }
}
