//! Limits where several servers may be at work: every share is leased from what they count together, and the log is asked
//! once for what happened before a limit was counted there.

use crate::admit::{Limit, Limits, Refusal};
use crate::call::Executor;
use crate::earlier::{Whose, logged_day, logged_times};
use crate::leases::{Key, Leases, Limited, Seed};
use crate::lessee::{Denied, Lessee, Taken};
use crate::quota::{Quota, Target, day_of};
use crate::usage::PaceUse;
use catalog::catalogue::Entry;
use catalog::pace::{HOUR_MS, MINUTE_MS, Spans};
use catalog::tool::Millis;
use executions::LogError;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// A call that is told to stop takes a moment to end.
const ENDING_MS: Millis = 1_000;

/// Longer than this no call of a server that is gone keeps its place.
const CALL_MS_MAX: Millis = 86_400_000;

/// More calls than this are told to the database in steps, not each by its millisecond.
const SEED_ITEMS_MAX: usize = 1_000;

/// Why a leased share cannot be had.
pub(crate) enum Refused {
    By(Refusal),
    Unknown(String),
}

impl Executor {
    /// From now on shares of limits are leased. Whoever leases them is made after this and holds it.
    pub fn set_leases(&self, leases: Weak<dyn Leases>) {
        let lessee = Lessee::new(leases, self.clock.clone());
        let _ = self.lessee.set(Arc::new(lessee));
    }

    /// Gives back what was leased; calls have ended.
    pub async fn give_back_leases(&self) {
        if let Some(lessee) = self.lessee.get() {
            lessee.leave().await;
        }
    }

    /// For how long a call can run, in the eyes of other servers.
    fn call_ms(&self, entry: &Entry) -> Millis {
        let seconds = entry.tool.definition.timeout_seconds();
        let seconds = seconds.unwrap_or(self.settings.timeout_seconds_default);
        let time = std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let time = Millis::try_from(time.as_millis()).unwrap_or(CALL_MS_MAX);
        time.min(CALL_MS_MAX) + ENDING_MS
    }

    pub(crate) async fn lease(
        &self,
        lessee: &Arc<Lessee>,
        limits: &Arc<Limits>,
    ) -> Result<Taken, Refused> {
        if !limits.is_told() {
            let (lessee, limits, log) = (Arc::clone(lessee), Arc::clone(limits), self.log.clone());
            let now = self.clock.now();
            // In a task of its own: others wait for the same answer, so it must not go when this caller does.
            let told = tokio::spawn(async move {
                for entry in &limits.paced {
                    tell_pace(&lessee, &log, entry, now).await?;
                }
                for (quota, whose) in limits.quotas.iter().zip(&limits.whose) {
                    tell_day(&lessee, &log, quota, whose, now).await?;
                }
                Ok(())
            });
            let told = told.await.unwrap_or_else(|error| Err(error.to_string()));
            told.map_err(Refused::Unknown)?;
        }
        let (named, wanted) = limits.leased(self.call_ms(&limits.entry));
        let denied = match lessee.take(&wanted, limits.at).await {
            Ok(taken) => return Ok(taken.spend()),
            Err(denied) => denied,
        };
        let counted = match &denied {
            Denied::Unavailable(_) => &self.metrics.leases_unheard,
            Denied::Refused { .. } => &self.metrics.leases_refused,
        };
        counted.fetch_add(1, Ordering::Relaxed);
        Err(match denied {
            Denied::Unavailable(why) => Refused::Unknown(why),
            Denied::Refused { number, wait } => Refused::By(match wait {
                Some(wait) => Refusal {
                    wait,
                    by: named[number],
                },
                None => Refusal::busy(named[number]),
            }),
        })
    }

    pub(crate) async fn leased_day_use(
        &self,
        lessee: &Arc<Lessee>,
        quota: &Quota,
    ) -> Result<u64, LogError> {
        let whose = self.whose(quota);
        let told = tell_day(lessee, &self.log, quota, &whose, self.clock.now()).await;
        told.map_err(unavailable)?;
        let used = lessee.used(&[of_day(quota)]).await.map_err(unavailable)?;
        Ok(used.first().copied().unwrap_or_default())
    }

    pub(crate) async fn leased_pace_use(
        &self,
        lessee: &Arc<Lessee>,
        entry: &Entry,
    ) -> Result<PaceUse, LogError> {
        let now = self.clock.now();
        let told = tell_pace(lessee, &self.log, entry, now).await;
        told.map_err(unavailable)?;
        let id = entry.tool.id;
        let keys = [Key::Minute(id), Key::Hour(id), Key::Places(id)];
        let limits = keys.map(|key| Limited {
            key,
            max: None,
            call_ms: 0,
        });
        let used = lessee.used(&limits).await.map_err(unavailable)?;
        let of = |number: usize| used.get(number).copied().unwrap_or_default();
        let rate = entry.tool.definition.rate_limit.as_ref();
        let counted = rate.map(Spans::of);
        let (mut minute, mut hour) = (of(0), of(1));
        // Without a limit a window is not counted, but it is shown next to one that is.
        if counted.is_some_and(|spans| spans.minute != spans.hour) {
            let calls = logged_times(&self.log, &entry.name, now - HOUR_MS, now + 1).await?;
            let of = |span: Millis| {
                let within = calls.iter().filter(|(at, _)| now - at < span);
                within.map(|(_, count)| u64::from(*count)).sum()
            };
            match counted.is_some_and(|spans| spans.minute) {
                true => hour = of(HOUR_MS),
                false => minute = of(MINUTE_MS),
            }
        }
        Ok(PaceUse {
            minute,
            hour,
            running: u32::try_from(of(2)).unwrap_or(u32::MAX),
        })
    }
}

fn unavailable(message: String) -> LogError {
    LogError::Unavailable { message }
}

fn of_day(quota: &Quota) -> Limited {
    Limited {
        key: match quota.target {
            Target::User(id) => Key::User(id),
            Target::Tool(id) => Key::Tool(id),
        },
        max: Some(quota.max_count),
        call_ms: 0,
    }
}

impl Limits {
    fn is_told(&self) -> bool {
        let paces = self
            .paces()
            .all(|(pace, rate)| pace.is_told(Spans::of(rate)));
        let told = |quota: &Quota| quota.days.is_told.load(Ordering::SeqCst);
        paces && self.quotas.iter().all(told)
    }

    /// What has to be leased, and of each which limit it is.
    fn leased(&self, call_ms: Millis) -> (Vec<Limit>, Vec<Limited>) {
        let (mut named, mut wanted) = (Vec::new(), Vec::new());
        for entry in &self.paced {
            let Some(rate) = &entry.tool.definition.rate_limit else {
                continue;
            };
            let id = entry.tool.id;
            let mut add = |limit: Limit, key: Key, max: Option<u32>| {
                named.push(limit);
                wanted.push(Limited {
                    key,
                    max: max.map(u64::from),
                    call_ms,
                });
            };
            for (key, max, span) in [
                (Key::Minute(id), rate.requests_per_minute, MINUTE_MS),
                (Key::Hour(id), rate.requests_per_hour, HOUR_MS),
            ] {
                if let Some(max) = max {
                    add(Limit::Rate { max, span }, key, Some(max));
                }
            }
            let max = rate.concurrent_requests;
            let shown = max.unwrap_or_default();
            add(Limit::Places { max: shown }, Key::Places(id), max);
        }
        for (number, quota) in self.quotas.iter().enumerate() {
            named.push(Limit::Day { number });
            wanted.push(of_day(quota));
        }
        (named, wanted)
    }
}

/// Tells the shared counts what the log says of a tool's calls. Whoever comes first does, the others wait.
async fn tell_pace(
    lessee: &Arc<Lessee>,
    log: &executions::ExecutionLog,
    entry: &Entry,
    now: Millis,
) -> Result<(), String> {
    let rate = entry.tool.definition.rate_limit.as_ref();
    let (Some(pace), Some(rate)) = (&entry.pace, rate) else {
        return Ok(());
    };
    let spans = Spans::of(rate);
    if pace.is_told(spans) {
        return Ok(());
    }
    let _one_at_a_time = pace.learning.lock().await;
    if pace.is_told(spans) {
        return Ok(());
    }
    let since = now - HOUR_MS;
    let calls = logged_times(log, &entry.name, since, now + HOUR_MS).await;
    let calls = calls.map_err(|error| error.to_string())?;
    let id = entry.tool.id;
    let minute = spans.minute.then_some(Key::Minute(id));
    let hour = spans.hour.then_some(Key::Hour(id));
    let seeds = minute.into_iter().chain(hour).map(|key| {
        let ages = calls
            .iter()
            .map(|(at, count)| (now - at, u64::from(*count)));
        let calls: Vec<_> = ages.filter(|(age, _)| *age < key.span()).collect();
        Seed {
            key: key.text(),
            sort: key.sort(),
            span: key.span(),
            calls: in_steps(calls, key.span()),
            day: 0,
            count: 0,
        }
    });
    lessee.seed(seeds.collect()).await?;
    pace.tell(spans);
    Ok(())
}

/// Many calls as fewer items, each with the age of the youngest that it could stand for.
fn in_steps(calls: Vec<(Millis, u64)>, span: Millis) -> Vec<(Millis, u64)> {
    if calls.len() <= SEED_ITEMS_MAX {
        return calls;
    }
    let step = span / 6_000;
    let mut found: Vec<(Millis, u64)> = Vec::new();
    for (age, count) in calls {
        let age = age.div_euclid(step) * step;
        match found.last_mut() {
            Some((same, sum)) if *same == age => *sum += count,
            _ => found.push((age, count)),
        }
    }
    found
}

/// The same of a day's calls.
async fn tell_day(
    lessee: &Arc<Lessee>,
    log: &executions::ExecutionLog,
    quota: &Quota,
    whose: &Whose,
    now: Millis,
) -> Result<(), String> {
    let _one_at_a_time = quota.days.learning.lock().await;
    if quota.days.is_told.load(Ordering::SeqCst) {
        return Ok(());
    }
    let day = day_of(now);
    let logged = logged_day(log, whose, day).await;
    let key = of_day(quota).key;
    let seed = Seed {
        key: key.text(),
        sort: key.sort(),
        span: 0,
        calls: Vec::new(),
        day,
        count: logged.map_err(|error| error.to_string())?,
    };
    lessee.seed(vec![seed]).await?;
    quota.days.is_told.store(true, Ordering::SeqCst);
    Ok(())
}
