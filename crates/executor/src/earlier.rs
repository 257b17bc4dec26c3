//! What the execution log says of earlier calls: where limits go on after a restart, or when one is set.

use crate::code::Code;
use crate::quota::{DAY_MS, Days, day_of};
use catalog::pace::{HOUR_MS, Pace};
use catalog::tool::Millis;
use catalog::window::Window;
use executions::{Calls, ExecutionLog, LogError};
use std::sync::Arc;

/// Whose calls of a day are asked for, by the names that stand in the log.
#[derive(Debug, Clone)]
pub(crate) enum Whose {
    /// More than one where it was renamed since its quota was set.
    Tool(Vec<Arc<str>>),
    Caller(Arc<str>),
}

/// Makes known what a call of the tool that starts at `at` depends on. Whoever comes first asks, the others wait.
pub(crate) async fn learn_pace(
    log: &ExecutionLog,
    pace: &Pace,
    tool: &str,
    at: Millis,
) -> Result<(), LogError> {
    let _one_at_a_time = pace.learning.lock().await;
    let known = pace.lock().knows(at);
    if known {
        return Ok(());
    }
    let since = Window::needs(HOUR_MS, at);
    let calls = logged_times(log, tool, since, at + HOUR_MS + 1).await?;
    pace.lock().learn(since, at, &calls);
    Ok(())
}

/// When calls of a tool began that count, and how many did; oldest first.
pub(crate) async fn logged_times(
    log: &ExecutionLog,
    tool: &str,
    since: Millis,
    until: Millis,
) -> Result<Vec<(Millis, u32)>, LogError> {
    let logged = log.tool_times(tool, since, until).await?;
    let mut calls: Vec<(Millis, u32)> = Vec::new();
    for found in logged.iter().filter(|calls| counts(calls)) {
        let count = u32::try_from(found.count).unwrap_or(u32::MAX);
        match calls.last_mut() {
            Some((at, same)) if *at == found.at => *same = same.saturating_add(count),
            _ => calls.push((found.at, count)),
        }
    }
    Ok(calls)
}

/// Makes the count of the day known that `at` belongs to.
pub(crate) async fn learn_day(
    log: &ExecutionLog,
    days: &Days,
    whose: &Whose,
    at: Millis,
) -> Result<(), LogError> {
    let _one_at_a_time = days.learning.lock().await;
    let day = day_of(at);
    let known = days.lock().count(day).is_some();
    if known {
        return Ok(());
    }
    let count = logged_day(log, whose, day).await?;
    days.lock().learn(day, count);
    Ok(())
}

/// The calls of a day that count.
pub(crate) async fn logged_day(
    log: &ExecutionLog,
    whose: &Whose,
    day: i64,
) -> Result<u64, LogError> {
    let (start, end) = (day * DAY_MS, (day + 1) * DAY_MS);
    let logged = match whose {
        Whose::Caller(name) => log.caller_calls(name, start, end).await?,
        Whose::Tool(names) => {
            let mut found = Vec::new();
            for name in names {
                found.extend(log.tool_calls(name, start, end).await?);
            }
            found
        }
    };
    let count = logged.iter().filter(|calls| counts(calls));
    Ok(count.map(|calls| calls.count).sum())
}

/// A call counts where the tool may have run. A code of a later version is taken for one of these.
fn counts(calls: &Calls) -> bool {
    let code = calls.error_code.as_deref().and_then(Code::from_name);
    code.is_none_or(Code::may_have_run)
}
