//! How much of each limit is used up now.

use crate::admit::is_timed;
use crate::call::Executor;
use crate::earlier::{Whose, learn_day, learn_pace};
use crate::quota::{Quota, Target, day_of};
use catalog::catalogue::Entry;
use executions::LogError;
use std::sync::Arc;

/// The calls of a tool that its `rate_limit` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaceUse {
    pub minute: u64,
    pub hour: u64,
    pub running: u32,
}

impl Executor {
    /// Today's calls of whoever has a quota; none without one.
    pub async fn day_use(&self, target: Target) -> Result<Option<u64>, LogError> {
        let quota = self.quotas.load().get(target).cloned();
        let Some(quota) = quota else {
            return Ok(None);
        };
        if let Some(lessee) = self.lessee.get() {
            return self.leased_day_use(lessee, &quota).await.map(Some);
        }
        let now = self.clock.now();
        learn_day(&self.log, &quota.days, &self.whose(&quota), now).await?;
        let count = quota.days.lock().count(day_of(now));
        Ok(count)
    }

    /// The names under which the log has the calls that a quota counts.
    pub(crate) fn whose(&self, quota: &Quota) -> Whose {
        let name = Arc::clone(&quota.name);
        match quota.target {
            Target::User(_) => Whose::Caller(name),
            Target::Tool(id) => {
                let catalogue = self.catalogue.load();
                let now = catalogue.by_id(id).map(|entry| Arc::clone(&entry.name));
                let renamed = now.filter(|now| *now != name);
                Whose::Tool([Some(name), renamed].into_iter().flatten().collect())
            }
        }
    }

    /// The recent and the running calls of a tool with a `rate_limit`.
    pub async fn pace_use(&self, entry: &Entry) -> Result<Option<PaceUse>, LogError> {
        let rate = entry.tool.definition.rate_limit.as_ref();
        let (Some(pace), Some(rate)) = (&entry.pace, rate) else {
            return Ok(None);
        };
        if let Some(lessee) = self.lessee.get() {
            return self.leased_pace_use(lessee, entry).await.map(Some);
        }
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
