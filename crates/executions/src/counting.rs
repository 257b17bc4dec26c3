//! How often a tool was called, or a caller called: what limits go on from after a restart.

use crate::error::LogError;
use crate::log::{Engine, ExecutionLog, blocking};
use catalog::tool::Millis;

/// Rows that no run stands behind have no `tool_hash` (unknown tools, stored answers given again).
macro_rules! counted {
    ($select:literal, $of:literal, $group:literal) => {
        concat!(
            "SELECT ",
            $select,
            ", error_code, COUNT(*) FROM executions WHERE ",
            $of,
            " AND started_at >= $2 AND started_at < $3 AND tool_hash <> '' GROUP BY ",
            $group
        )
    };
}
/// By its own name, or behind another one.
const TOOL_TIMES: &str = counted!(
    "started_at",
    "(tool_name = $1 OR behind = $1)",
    "started_at, error_code ORDER BY started_at"
);
const TOOL_CALLS: &str = counted!(
    "MIN(started_at)",
    "(tool_name = $1 OR behind = $1)",
    "error_code"
);
const CALLER_CALLS: &str = counted!("MIN(started_at)", "caller = $1", "error_code");

/// Calls that ended the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    /// When the first of them started.
    pub at: Millis,
    /// None where they succeeded or are still running.
    pub error_code: Option<String>,
    pub count: u64,
}

impl ExecutionLog {
    /// When the calls of a tool, under whatever name, started from `since` until before `until`: oldest first, by millisecond and outcome.
    pub async fn tool_times(
        &self,
        tool: &str,
        since: Millis,
        until: Millis,
    ) -> Result<Vec<Calls>, LogError> {
        self.counted(TOOL_TIMES, tool, since, until).await
    }

    /// How many calls of a tool, under whatever name, started from `since` until before `until`, by outcome.
    pub async fn tool_calls(
        &self,
        tool: &str,
        since: Millis,
        until: Millis,
    ) -> Result<Vec<Calls>, LogError> {
        self.counted(TOOL_CALLS, tool, since, until).await
    }

    /// How many calls a caller started from `since` until before `until`, by outcome.
    pub async fn caller_calls(
        &self,
        caller: &str,
        since: Millis,
        until: Millis,
    ) -> Result<Vec<Calls>, LogError> {
        self.counted(CALLER_CALLS, caller, since, until).await
    }

    async fn counted(
        &self,
        sql: &'static str,
        name: &str,
        since: Millis,
        until: Millis,
    ) -> Result<Vec<Calls>, LogError> {
        let since = since.max(0);
        match &self.engine {
            Engine::Sqlite(folder, _) => {
                let (folder, name) = (self.complete(folder).await?, name.to_owned());
                blocking(move || folder.counted(sql, &name, since, until)).await
            }
            Engine::Postgres(postgres) => postgres.counted(sql, name, since, until).await,
        }
    }
}

/// One row of a count.
pub(crate) fn calls(at: Millis, error_code: Option<String>, count: i64) -> Calls {
    Calls {
        at,
        error_code,
        count: u64::try_from(count).unwrap_or_default(),
    }
}
