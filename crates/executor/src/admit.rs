//! Whether a call gets past the limits: the tool's rates and places, and the daily quotas of user and tool. A call
//! takes something from all of them or from none. Calls that nothing limits do not come here.

use crate::call::Executor;
use crate::code::Code;
use crate::earlier::{Whose, learn_day, learn_pace};
use crate::kind::Failure;
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

/// What was learned can be forgotten again while a call waits, if the clock is set meanwhile.
const TRIES: usize = 3;

impl Executor {
    /// Whether any limit is set on this call.
    pub(crate) fn is_limited(&self, caller: &Caller, entry: &Entry) -> bool {
        if entry.pace.is_some() {
            return true;
        }
        let quotas = self.quotas.load();
        !quotas.is_empty()
            && (quotas.get(Target::User(caller.user)).is_some()
                || quotas.get(Target::Tool(entry.tool.id)).is_some())
    }

    /// Takes this call's share of every limit on it, or says which one refuses it for longest.
    pub(crate) async fn admit(
        &self,
        caller: &Caller,
        entry: &Arc<Entry>,
        at: Millis,
    ) -> Result<Permit, Failure> {
        let quotas = self.quotas.load();
        let limits = Arc::new(Limits {
            entry: Arc::clone(entry),
            user_name: Arc::clone(&caller.user_name),
            tool: quotas.get(Target::Tool(entry.tool.id)).cloned(),
            user: quotas.get(Target::User(caller.user)).cloned(),
            at,
        });
        drop(quotas);
        for _ in 0..TRIES {
            if let Some(decided) = limits.take() {
                return decided.map_err(|refusal| refusal.failure(&limits));
            }
            let (earlier, log) = (Arc::clone(&limits), self.log.clone());
            // In a task of its own: others wait for the same answer, so it must not go when this caller does.
            let learned = tokio::spawn(async move { earlier.learn(&log).await }).await;
            match learned {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Err(unknown(&error)),
                Err(error) => return Err(unknown(&error)),
            }
        }
        Err(unknown(&"the clock was set"))
    }
}

/// Fail closed: whoever does not know what was used up lets nobody through.
fn unknown(error: &dyn std::fmt::Display) -> Failure {
    tracing::error!(%error, "earlier calls cannot be counted, so limited calls are refused");
    let message = "The limits of this call cannot be checked: the execution log does not answer.";
    Failure::new(Code::ServiceUnavailable, message).with_details(json!({"retry_after_seconds": 1}))
}

/// A call that was let through. Its place is given back when this goes, however the call ends.
pub(crate) struct Permit {
    at: Millis,
    place: Option<Place>,
    quotas: [Option<Arc<Days>>; 2],
}

impl Permit {
    /// The call is over. What cannot have run does not count: a full queue, a server that is not there.
    pub(crate) fn finish(self, may_have_run: bool) {
        if may_have_run {
            return;
        }
        if let Some(place) = self.place.as_ref().filter(|place| place.is_timed) {
            place.pace.lock().take_back(self.at);
        }
        for days in self.quotas.iter().flatten() {
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
struct Limits {
    entry: Arc<Entry>,
    user_name: Arc<str>,
    tool: Option<Quota>,
    user: Option<Quota>,
    at: Millis,
}

impl Limits {
    /// None where the log must be asked first.
    fn take(&self) -> Option<Result<Permit, Refusal>> {
        let (at, day) = (self.at, day_of(self.at));
        // Everybody locks in this order, so nobody waits for each other in a circle.
        let mut pace = self.entry.pace.as_ref().map(|pace| pace.lock());
        let mut tool = self.tool.as_ref().map(|quota| quota.days.lock());
        let mut user = self.user.as_ref().map(|quota| quota.days.lock());
        let mut longest: Option<Refusal> = None;
        let mut refused = |wait: Millis, by: Limit| {
            if longest.is_none_or(|known| known.wait < wait) {
                longest = Some(Refusal { wait, by });
            }
        };
        let rate = self.rate();
        let is_timed = is_timed(rate);
        if let Some(pace) = &mut pace {
            if is_timed && !pace.knows(at) {
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
        for (counts, quota, by) in [
            (&mut tool, &self.tool, Limit::ToolDay),
            (&mut user, &self.user, Limit::UserDay),
        ] {
            let (Some(counts), Some(quota)) = (counts, quota) else {
                continue;
            };
            if counts.count(day)? >= quota.max_count {
                refused((day + 1) * DAY_MS - at, by);
            }
        }
        if let Some(refusal) = longest {
            return Some(Err(refusal));
        }
        if let Some(pace) = &mut pace {
            pace.running += 1;
            if is_timed {
                pace.add(at);
            } else {
                pace.lose_track();
            }
        }
        for counts in [&mut tool, &mut user].into_iter().flatten() {
            counts.add(day);
        }
        let place = self.entry.pace.clone();
        let days = |quota: &Option<Quota>| quota.as_ref().map(|quota| Arc::clone(&quota.days));
        Some(Ok(Permit {
            at,
            place: place.map(|pace| Place { pace, is_timed }),
            quotas: [days(&self.tool), days(&self.user)],
        }))
    }

    async fn learn(&self, log: &ExecutionLog) -> Result<(), LogError> {
        let (name, at) = (&self.entry.name, self.at);
        if let Some(pace) = self.entry.pace.as_ref().filter(|_| is_timed(self.rate())) {
            learn_pace(log, pace, name, at).await?;
        }
        if let Some(quota) = &self.tool {
            learn_day(log, &quota.days, Whose::Tool(name), at).await?;
        }
        if let Some(quota) = &self.user {
            learn_day(log, &quota.days, Whose::Caller(&self.user_name), at).await?;
        }
        Ok(())
    }

    fn rate(&self) -> &RateLimit {
        const NONE: &RateLimit = &RateLimit {
            requests_per_minute: None,
            requests_per_hour: None,
            concurrent_requests: None,
        };
        let rate = self.entry.tool.definition.rate_limit.as_ref();
        rate.unwrap_or(NONE)
    }
}

/// Whether the limit is on calls in a span of time, and not only on calls at a time.
pub(crate) fn is_timed(rate: &RateLimit) -> bool {
    rate.requests_per_minute.is_some() || rate.requests_per_hour.is_some()
}

/// The limit that refuses a call for longest: what is said about waiting must be true for all of them.
#[derive(Debug, Clone, Copy)]
struct Refusal {
    wait: Millis,
    by: Limit,
}

#[derive(Debug, Clone, Copy)]
enum Limit {
    Rate { max: u32, span: Millis },
    Places { max: u32 },
    ToolDay,
    UserDay,
}

impl Refusal {
    fn failure(self, limits: &Limits) -> Failure {
        // Rounded up: who comes back a moment too early is refused again.
        let seconds = self.wait.div_euclid(1_000) + i64::from(self.wait % 1_000 > 0);
        let calls = |count: u64, what: &str| match count {
            1 => format!("1 {what}"),
            _ => format!("{count} {what}s"),
        };
        let max = |quota: &Option<Quota>| quota.as_ref().map_or(0, |quota| quota.max_count);
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
            Limit::ToolDay => {
                let (max, name) = (max(&limits.tool), &limits.entry.name);
                quota_exceeded(&format!("tool '{name}'"), "TOOL", max, seconds)
            }
            Limit::UserDay => {
                let (max, name) = (max(&limits.user), &limits.user_name);
                quota_exceeded(&format!("user '{name}'"), "USER", max, seconds)
            }
        }
    }
}

fn quota_exceeded(who: &str, quota: &str, max: u64, seconds: Millis) -> Failure {
    let shown = if max == 1 {
        "1 call"
    } else {
        &format!("{max} calls")
    };
    let message = format!("Daily quota exceeded: {shown} per day (UTC) for {who}");
    Failure::new(Code::QuotaExceeded, message)
        .with_details(json!({"limit": max, "quota": quota, "retry_after_seconds": seconds}))
}
