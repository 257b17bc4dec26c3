//! Whether a call gets past the limits: the tool's rates and places, and the daily quotas of user and tool. A call
//! takes something from all of them or from none. Calls that nothing limits do not come here.

use crate::call::Executor;
use crate::code::Code;
use crate::earlier::{Whose, learn_day, learn_pace};
use crate::kind::Failure;
use crate::leased::Refused;
use crate::lessee::Taken;
use crate::quota::{DAY_MS, Days, Quota, Target, day_of};
use catalog::caller::Caller;
use catalog::catalogue::Entry;
use catalog::pace::{HOUR_MS, MINUTE_MS, Pace};
use catalog::tool::{Millis, RateLimit};
use executions::{ExecutionLog, LogError};
use serde_json::json;
use std::sync::Arc;

/// How long whoever finds all places taken should wait; nobody knows when one is free.
const BUSY_MS: Millis = 1_000;

const LOG: &str = "execution log";

/// What was learned can be forgotten again while a call waits, if the clock is set meanwhile.
const TRIES: usize = 3;

impl Executor {
    /// Whether any limit is set on this call.
    pub(crate) fn is_limited(&self, caller: &Caller, entry: &Entry) -> bool {
        let borrows = entry.behind.is_some() || is_trial(entry);
        if entry.pace.is_some() || borrows && self.paced_elsewhere(entry).next().is_some() {
            return true;
        }
        let quotas = self.quotas.load();
        !quotas.is_empty() && !quotas.of_call(caller, entry).is_empty()
    }

    /// Takes this call's share of every limit on it, or says which one refuses it for longest.
    pub(crate) async fn admit(
        &self,
        caller: &Caller,
        entry: &Arc<Entry>,
        at: Millis,
    ) -> Result<Permit, Failure> {
        let own = entry.pace.is_some().then(|| Arc::clone(entry));
        let mut paced: Vec<Arc<Entry>> = own.into_iter().collect();
        paced.extend(self.paced_elsewhere(entry));
        paced.sort_by_key(|entry| entry.tool.id);
        // Whoever was renamed meanwhile would be locked twice.
        paced.dedup_by_key(|entry| entry.tool.id);
        let quotas = self.quotas.load().of_call(caller, entry);
        let limits = Arc::new(Limits {
            entry: Arc::clone(entry),
            whose: quotas.iter().map(|quota| self.whose(quota)).collect(),
            paced,
            quotas,
            at,
        });
        if let Some(lessee) = self.lessee.get() {
            let leased = self.lease(lessee, &limits).await;
            return leased.map(Permit::Leased).map_err(|refused| match refused {
                Refused::By(refusal) => refusal.failure(&limits),
                Refused::Unknown(why) => unknown(&why, "database"),
            });
        }
        for _ in 0..TRIES {
            if let Some(decided) = limits.take() {
                return decided.map_err(|refusal| refusal.failure(&limits));
            }
            let (earlier, log) = (Arc::clone(&limits), self.log.clone());
            // In a task of its own: others wait for the same answer, so it must not go when this caller does.
            let learned = tokio::spawn(async move { earlier.learn(&log).await }).await;
            match learned {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Err(unknown(&error, LOG)),
                Err(error) => return Err(unknown(&error, LOG)),
            }
        }
        Err(unknown(&"the clock was set", LOG))
    }

    /// Other entries whose `rate_limit` counts for this one: that of the tool behind it and, where a definition is
    /// only tried out, that of the tool it may become.
    fn paced_elsewhere(&self, entry: &Entry) -> impl Iterator<Item = Arc<Entry>> {
        let catalogue = self.catalogue.load();
        let saved = is_trial(entry)
            .then(|| catalogue.get(&entry.name))
            .flatten();
        let behind = entry.behind.as_ref().and_then(|(name, id)| {
            // Somebody's own tool of that name is another one.
            let found = catalogue.get(name);
            found.filter(|found| found.tool.id == *id)
        });
        let found = [saved, behind].map(|entry| entry.filter(|e| e.pace.is_some()).cloned());
        found.into_iter().flatten()
    }
}

/// Only what is saved has a version.
fn is_trial(entry: &Entry) -> bool {
    entry.tool.version == 0
}

/// Fail closed: whoever does not know what was used up lets nobody through.
fn unknown(error: &dyn std::fmt::Display, silent: &str) -> Failure {
    tracing::error!(%error, "calls cannot be counted, so limited calls are refused");
    let message =
        format!("The limits of this call cannot be checked: the {silent} does not answer.");
    Failure::new(Code::ServiceUnavailable, message).with_details(json!({"retry_after_seconds": 1}))
}

/// A call that was let through. Its places are given back when this goes, however the call ends.
pub(crate) enum Permit {
    /// Counted in this process.
    Own(Own),
    /// Counted together with other servers.
    Leased(Taken),
}

impl Permit {
    /// The call is over. What cannot have run does not count: a full queue, a server that is not there.
    pub(crate) fn finish(self, may_have_run: bool) {
        match self {
            Permit::Own(own) => own.finish(may_have_run),
            Permit::Leased(taken) => taken.finish(may_have_run),
        }
    }
}

/// What a call has of the limits that only this process counts.
pub(crate) struct Own {
    at: Millis,
    places: Vec<Place>,
    quotas: Vec<Arc<Days>>,
}

impl Own {
    fn finish(self, may_have_run: bool) {
        if may_have_run {
            return;
        }
        for place in self.places.iter().filter(|place| place.is_timed) {
            place.pace.lock().take_back(self.at);
        }
        for days in &self.quotas {
            days.lock().take_back(day_of(self.at));
        }
    }
}

/// One of the calls of a tool that run at a time.
struct Place {
    pace: Arc<Pace>,
    /// Whether the call stands in the windows, too.
    is_timed: bool,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.pace.lock().running -= 1;
    }
}

/// Every limit that one call has to pass.
pub(crate) struct Limits {
    pub(crate) entry: Arc<Entry>,
    /// Tools whose `rate_limit` counts, in the order of their ids.
    pub(crate) paced: Vec<Arc<Entry>>,
    /// In the order of their targets.
    pub(crate) quotas: Vec<Quota>,
    /// Of each quota, whose calls it counts.
    pub(crate) whose: Vec<Whose>,
    pub(crate) at: Millis,
}

impl Limits {
    /// None where the log must be asked first.
    fn take(&self) -> Option<Result<Permit, Refusal>> {
        let (at, day) = (self.at, day_of(self.at));
        // Paces before quotas, both in their order: everybody does, so nobody waits for each other in a circle.
        let mut paces: Vec<_> = self.paces().map(|(pace, _)| pace.lock()).collect();
        let quotas = self.quotas.iter();
        let mut counts: Vec<_> = quotas.map(|quota| quota.days.lock()).collect();
        let mut longest: Option<Refusal> = None;
        let mut refused = |wait: Millis, by: Limit| {
            if longest.is_none_or(|known| known.wait < wait) {
                longest = Some(Refusal { wait, by });
            }
        };
        for (pace, (_, rate)) in paces.iter_mut().zip(self.paces()) {
            if is_timed(rate) && !pace.knows(at) {
                return None;
            }
            for (window, max, span) in [
                (&pace.minute, rate.requests_per_minute, MINUTE_MS),
                (&pace.hour, rate.requests_per_hour, HOUR_MS),
            ] {
                let Some(max) = max else { continue };
                if let Some(wait) = window.wait(at, u64::from(max)) {
                    refused(wait, Limit::Rate { max, span });
                }
            }
            let places = rate.concurrent_requests;
            if let Some(max) = places.filter(|max| pace.running >= *max) {
                refused(BUSY_MS, Limit::Places { max });
            }
        }
        for (number, counts) in counts.iter_mut().enumerate() {
            if counts.count(day)? >= self.quotas[number].max_count {
                refused((day + 1) * DAY_MS - at, Limit::Day { number });
            }
        }
        if let Some(refusal) = longest {
            return Some(Err(refusal));
        }
        for (pace, (_, rate)) in paces.iter_mut().zip(self.paces()) {
            pace.running += 1;
            if is_timed(rate) {
                pace.add(at);
            } else {
                pace.lose_track();
            }
        }
        for counts in &mut counts {
            counts.add(day);
        }
        let place = |(pace, rate): (&Arc<Pace>, &RateLimit)| Place {
            pace: Arc::clone(pace),
            is_timed: is_timed(rate),
        };
        let days = |quota: &Quota| Arc::clone(&quota.days);
        Some(Ok(Permit::Own(Own {
            at,
            places: self.paces().map(place).collect(),
            quotas: self.quotas.iter().map(days).collect(),
        })))
    }

    async fn learn(&self, log: &ExecutionLog) -> Result<(), LogError> {
        for entry in &self.paced {
            let rate = entry.tool.definition.rate_limit.as_ref();
            if let Some(pace) = entry.pace.as_ref().filter(|_| rate.is_some_and(is_timed)) {
                learn_pace(log, pace, &entry.name, self.at).await?;
            }
        }
        for (quota, whose) in self.quotas.iter().zip(&self.whose) {
            learn_day(log, &quota.days, whose, self.at).await?;
        }
        Ok(())
    }

    pub(crate) fn paces(&self) -> impl Iterator<Item = (&Arc<Pace>, &RateLimit)> {
        self.paced.iter().filter_map(|entry| {
            let rate = entry.tool.definition.rate_limit.as_ref();
            entry.pace.as_ref().zip(rate)
        })
    }
}

/// Whether the limit is on calls in a span of time, and not only on calls at a time.
pub(crate) fn is_timed(rate: &RateLimit) -> bool {
    rate.requests_per_minute.is_some() || rate.requests_per_hour.is_some()
}

/// The limit that refuses a call for longest: what is said about waiting must be true for all of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refusal {
    pub(crate) wait: Millis,
    pub(crate) by: Limit,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    Rate {
        max: u32,
        span: Millis,
    },
    Places {
        max: u32,
    },
    /// The quota with this number.
    Day {
        number: usize,
    },
}

impl Refusal {
    /// There may be room at any moment.
    pub(crate) fn busy(by: Limit) -> Self {
        Refusal { wait: BUSY_MS, by }
    }

    fn failure(self, limits: &Limits) -> Failure {
        // Rounded up: who comes back a moment too early is refused again.
        let seconds = self.wait.div_euclid(1_000) + i64::from(self.wait % 1_000 > 0);
        let calls = |count: u64, what: &str| match count {
            1 => format!("1 {what}"),
            _ => format!("{count} {what}s"),
        };
        match self.by {
            Limit::Rate { max, span } => {
                let unit = if span == MINUTE_MS { "minute" } else { "hour" };
                let shown = calls(max.into(), "request");
                let message = format!("Rate limit exceeded: {shown} per {unit}");
                Failure::new(Code::RateLimited, message).with_details(json!({"limit": max,
                    "window_seconds": span / 1_000, "retry_after_seconds": seconds}))
            }
            Limit::Places { max } => {
                let shown = calls(max.into(), "concurrent request");
                let message = format!("Rate limit exceeded: {shown}");
                Failure::new(Code::RateLimited, message)
                    .with_details(json!({"limit": max, "retry_after_seconds": seconds}))
            }
            Limit::Day { number } => limits.quota_exceeded(&limits.quotas[number], seconds),
        }
    }
}

impl Limits {
    fn quota_exceeded(&self, quota: &Quota, seconds: Millis) -> Failure {
        let (kind, name) = match quota.target {
            Target::User(_) => ("USER", &quota.name),
            Target::Tool(id) if id == self.entry.tool.id => ("TOOL", &self.entry.name),
            Target::Tool(_) => ("TOOL", &quota.name),
        };
        let (max, who) = (quota.max_count, kind.to_lowercase());
        let shown = if max == 1 {
            "1 call"
        } else {
            &format!("{max} calls")
        };
        let message = format!("Daily quota exceeded: {shown} per day (UTC) for {who} '{name}'");
        Failure::new(Code::QuotaExceeded, message)
            .with_details(json!({"limit": max, "quota": kind, "retry_after_seconds": seconds}))
    }
}
