//! Daily quotas: how many calls of a user, or of a tool, may start within a UTC day.

use catalog::tool::Millis;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

pub(crate) const DAY_MS: Millis = 86_400_000;

/// Whose calls are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    User(Uuid),
    Tool(Uuid),
}

/// How many calls a day, and how many there were.
#[derive(Debug, Clone)]
pub struct Quota {
    pub max_count: u64,
    pub(crate) days: Arc<Days>,
}

/// Every quota there is; an immutable snapshot, like the catalogue.
#[derive(Debug, Default)]
pub struct Quotas(HashMap<Target, Quota>);

impl Quotas {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, target: Target) -> Option<&Quota> {
        self.0.get(&target)
    }

    /// The next snapshot. Whoever had a quota before keeps the count; the others' is asked from the log.
    pub fn with(&self, limits: impl IntoIterator<Item = (Target, u64)>) -> Quotas {
        let quota = |(target, max_count)| {
            let days = self.get(target).map(|old| Arc::clone(&old.days));
            let days = days.unwrap_or_default();
            (target, Quota { max_count, days })
        };
        Quotas(limits.into_iter().map(quota).collect())
    }
}

/// The calls of one target by day.
#[derive(Debug, Default)]
pub(crate) struct Days {
    counts: Mutex<DayCounts>,
    /// Held by the one who asks the log for the day's calls; the others wait for what it says.
    pub(crate) learning: tokio::sync::Mutex<()>,
}

impl Days {
    pub(crate) fn lock(&self) -> MutexGuard<'_, DayCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts of neighbouring days: around midnight calls of both are on their way.
#[derive(Debug, Default)]
pub(crate) struct DayCounts(Vec<(i64, u64)>);

impl DayCounts {
    /// The calls of that day so far; none where only the log knows.
    pub(crate) fn count(&mut self, day: i64) -> Option<u64> {
        self.0.retain(|(known, _)| known.abs_diff(day) <= 1);
        let of = |day| self.0.iter().find(|(known, _)| *known == day);
        match (of(day), of(day - 1)) {
            (Some((_, count)), _) => Some(*count),
            // Counted all through the day before: the new one begins with nothing.
            (None, Some(_)) => Some(0),
            (None, None) => None,
        }
    }

    pub(crate) fn learn(&mut self, day: i64, count: u64) {
        if self.count(day).is_none() {
            self.0.push((day, count));
        }
    }

    pub(crate) fn add(&mut self, day: i64) {
        match self.of(day) {
            Some(count) => *count += 1,
            None => self.0.push((day, 1)),
        }
    }

    pub(crate) fn take_back(&mut self, day: i64) {
        if let Some(count) = self.of(day) {
            *count = count.saturating_sub(1);
        }
    }

    fn of(&mut self, day: i64) -> Option<&mut u64> {
        let found = self.0.iter_mut().find(|(known, _)| *known == day);
        found.map(|(_, count)| count)
    }
}

pub(crate) fn day_of(time: Millis) -> i64 {
    time.div_euclid(DAY_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_with_nothing_only_where_the_day_before_was_counted() {
        let mut counts = DayCounts::default();
        assert_eq!(counts.count(10), None, "only the log knows");
        counts.learn(10, 7);
        counts.add(10);
        assert_eq!(counts.count(11), Some(0));
        counts.add(11);
        assert_eq!(
            (counts.count(10), counts.count(11)),
            (Some(8), Some(1)),
            "a late call of yesterday is yesterday's"
        );
        assert_eq!(counts.count(13), None, "nobody counted the day between");
        assert_eq!(counts.count(11), None, "and what lies far off is forgotten");
    }

    #[test]
    fn counts_survive_another_maximum_but_not_the_end_of_the_limit() {
        let (kim, tool) = (
            Target::User(Uuid::from_u128(1)),
            Target::Tool(Uuid::from_u128(1)),
        );
        let first = Quotas::default().with([(kim, 5), (tool, 5)]);
        let days = |quotas: &Quotas, target| Arc::clone(&quotas.get(target).unwrap().days);
        let second = first.with([(kim, 9)]);
        assert!(Arc::ptr_eq(&days(&first, kim), &days(&second, kim)));
        assert_eq!(second.get(kim).unwrap().max_count, 9);
        let third = second.with([(kim, 9), (tool, 5)]);
        assert!(!Arc::ptr_eq(&days(&first, tool), &days(&third, tool)));
    }
}
