//! Daily quotas: how many calls of a user, or of a tool, may start within a UTC day.

use catalog::caller::Caller;
use catalog::catalogue::Entry;
use catalog::tool::Millis;
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

pub(crate) const DAY_MS: Millis = 86_400_000;

/// Whose calls are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    User(Uuid),
    Tool(Uuid),
}

/// How many calls a day, and how many there were.
#[derive(Debug, Clone)]
pub struct Quota {
    pub target: Target,
    /// As the log calls the user or the tool. Of a tool it is the name the quota was set for.
    pub name: Arc<str>,
    pub max_count: u64,
    pub(crate) days: Arc<Days>,
}

/// Every quota there is; an immutable snapshot, like the catalogue.
#[derive(Debug, Default)]
pub struct Quotas {
    by_target: HashMap<Target, Quota>,
    /// Tools by the name their quota was set for: whoever removes such a tool and makes it again has a new id.
    by_name: HashMap<Arc<str>, Target>,
}

impl Quotas {
    pub fn is_empty(&self) -> bool {
        self.by_target.is_empty()
    }

    pub fn get(&self, target: Target) -> Option<&Quota> {
        self.by_target.get(&target)
    }

    /// The quota of a tool: its own, whatever it is called now, or the one that was set for its name.
    pub fn of_tool(&self, id: Uuid, name: &str) -> Option<&Quota> {
        let named = || self.by_name.get(name).and_then(|target| self.get(*target));
        self.get(Target::Tool(id)).or_else(named)
    }

    /// Every quota that a call takes from, each once.
    pub(crate) fn of_call(&self, caller: &Caller, entry: &Entry) -> Vec<Quota> {
        let mut found: Vec<Quota> = Vec::new();
        // Not by name: somebody's own tool of that name is another one.
        let behind = entry.behind.as_ref();
        let behind = behind.and_then(|(_, id)| self.get(Target::Tool(*id)));
        let own = self.of_tool(entry.tool.id, &entry.name);
        let user = self.get(Target::User(caller.user));
        for quota in [own, behind, user].into_iter().flatten() {
            if found.iter().all(|other| other.target != quota.target) {
                found.push(quota.clone());
            }
        }
        // Everybody locks in this order, so nobody waits for each other in a circle.
        found.sort_by_key(|quota| quota.target);
        found
    }

    /// The next snapshot. Whoever had a quota before keeps the count; the others' is asked from the log.
    pub fn with(&self, limits: impl IntoIterator<Item = (Target, Arc<str>, u64)>) -> Quotas {
        let mut next = Quotas::default();
        for (target, name, max_count) in limits {
            let days = self.get(target).map(|old| Arc::clone(&old.days));
            let quota = Quota {
                target,
                name: Arc::clone(&name),
                max_count,
                days: days.unwrap_or_default(),
            };
            next.by_target.insert(target, quota);
            if let Target::Tool(_) = target {
                next.by_name.insert(name, target);
            }
        }
        next
    }
}

/// The calls of one target by day.
#[derive(Debug, Default)]
pub(crate) struct Days {
    counts: Mutex<DayCounts>,
    /// Held by the one who asks the log for the day's calls; the others wait for what it says.
    pub(crate) learning: tokio::sync::Mutex<()>,
    /// Whether the counts that servers share have heard what the log says.
    pub(crate) is_told: AtomicBool,
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
        let named = |target, max| (target, Arc::from("t"), max);
        let first = Quotas::default().with([named(kim, 5), named(tool, 5)]);
        let days = |quotas: &Quotas, target| Arc::clone(&quotas.get(target).unwrap().days);
        let second = first.with([named(kim, 9)]);
        assert!(Arc::ptr_eq(&days(&first, kim), &days(&second, kim)));
        assert_eq!(second.get(kim).unwrap().max_count, 9);
        let third = second.with([named(kim, 9), named(tool, 5)]);
        assert!(!Arc::ptr_eq(&days(&first, tool), &days(&third, tool)));
    }

    #[test]
    fn a_quota_holds_for_the_tool_and_for_its_name() {
        let [id, other] = [1, 2].map(Uuid::from_u128);
        let quotas = Quotas::default().with([(Target::Tool(id), Arc::from("a"), 5)]);
        let found = |id, name| quotas.of_tool(id, name).is_some();
        assert!(found(id, "a") && found(id, "renamed"));
        assert!(found(other, "a"), "removed and made again");
        assert!(!found(other, "b"));
    }
}
