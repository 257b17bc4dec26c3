//! The execution log as it is shown: reading, filtering, statistics.

use crate::error::{Error, Result};
use crate::{App, time};
use catalog::caller::{Caller, Scope, Transport};
use catalog::tool::Millis;
use executions::{Execution, Filter, Span, Stats, Status};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use uuid::Uuid;

/// More are not told apart in a picture.
const SLOTS_MAX: u16 = 500;

/// A logged call as it is shown.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExecutionView {
    pub id: Uuid,
    pub started_at: String,
    pub tool_name: String,
    pub tool_version: i64,
    pub tool_hash: String,
    pub caller: String,
    pub key: Option<String>,
    pub agent: Option<Uuid>,
    pub run: Option<Uuid>,
    pub toolset: Option<String>,
    pub transport: String,
    #[schema(value_type = Value)]
    pub arguments: Box<RawValue>,
    /// `started`, `success`, `error`, `cancelled` or `interrupted`.
    pub status: &'static str,
    #[schema(value_type = Value)]
    pub output: Box<RawValue>,
    #[schema(value_type = Value)]
    pub error: Box<RawValue>,
    /// What the tool printed.
    pub log_text: Option<String>,
    /// Seconds.
    pub elapsed: f64,
    pub node: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ExecutionPage {
    pub items: Vec<ExecutionView>,
    pub next_cursor: Option<String>,
}

/// Which entries to list, as they come in from outside.
#[derive(Debug, Default)]
pub struct ExecutionFilter {
    pub tool: Option<String>,
    pub status: Option<String>,
    pub caller: Option<String>,
    /// Names of ways in, with commas between them.
    pub transport: Option<String>,
    pub since: Option<String>,
    pub until: Option<String>,
    pub limit: Option<usize>,
    pub cursor: Option<String>,
    pub after: Option<Uuid>,
}

impl App {
    pub async fn list_executions(
        &self,
        caller: &Caller,
        filter: ExecutionFilter,
    ) -> Result<ExecutionPage> {
        let asked = asked(caller, filter, self.clock.now())?;
        let page = self.executor.log.list(asked).await?;
        let items = page.items.into_iter().map(view).collect();
        Ok(ExecutionPage {
            items,
            next_cursor: page.next_cursor,
        })
    }

    pub async fn get_execution(&self, caller: &Caller, id: &str) -> Result<ExecutionView> {
        let unknown = || Error::NotFound {
            what: "Execution",
            name: id.to_owned(),
        };
        let parsed = Uuid::parse_str(id).map_err(|_| unknown())?;
        let found = self.executor.log.get(parsed).await?.ok_or_else(unknown)?;
        let theirs = visible_caller(caller, None).is_some_and(|name| *name != *found.caller);
        if theirs {
            Err(unknown())
        } else {
            Ok(view(found))
        }
    }

    /// Counts and durations of what this caller may see; with `slots` also over time, which needs a beginning.
    pub async fn execution_stats(
        &self,
        caller: &Caller,
        filter: ExecutionFilter,
        slots: Option<u16>,
    ) -> Result<Stats> {
        let now = self.clock.now();
        let asked = asked(caller, filter, now)?;
        if slots.is_some_and(|slots| !(1..=SLOTS_MAX).contains(&slots)) {
            let why = format!("slots: expected 1 to {SLOTS_MAX}");
            return Err(Error::invalid(why));
        }
        if slots.is_some() && asked.since.is_none() {
            return Err(Error::invalid(
                "since: expected a time where slots are asked for",
            ));
        }
        let span = Span {
            since: asked.since,
            // A slot has an end.
            until: asked.until.or(slots.map(|_| now + 1)),
            tool: asked.tool,
            caller: asked.caller,
            status: asked.status,
            transports: asked.transports,
            slots,
        };
        Ok(self.executor.log.stats(span).await?)
    }
}

/// A filter as the log takes it, of what this caller may see.
pub(crate) fn asked(caller: &Caller, filter: ExecutionFilter, now: Millis) -> Result<Filter> {
    for (field, text) in [("tool", &filter.tool), ("caller", &filter.caller)] {
        if text
            .as_ref()
            .is_some_and(|text| text.chars().any(char::is_control))
        {
            return Err(Error::invalid(format!(
                "{field}: expected printable characters"
            )));
        }
    }
    if filter
        .limit
        .is_some_and(|limit| !(1..=1_000).contains(&limit))
    {
        return Err(Error::invalid("limit: expected 1 to 1000"));
    }
    let status = match filter.status.as_deref() {
        None => None,
        Some(name) => Some(Status::from_name(name).ok_or_else(|| {
            let known = Status::ALL.map(Status::as_str).join(", ");
            Error::invalid(format!("status: expected one of {known}, got '{name}'"))
        })?),
    };
    let at =
        |field, text: Option<&String>| text.map(|text| time::parse(field, text, now)).transpose();
    Ok(Filter {
        tool: filter.tool,
        status,
        caller: visible_caller(caller, filter.caller),
        transports: transports(filter.transport.as_deref())?,
        since: at("since", filter.since.as_ref())?,
        until: at("until", filter.until.as_ref())?,
        limit: filter.limit,
        cursor: filter.cursor,
        after: filter.after,
    })
}

fn transports(names: Option<&str>) -> Result<Vec<Transport>> {
    let names = names.into_iter().flat_map(|names| names.split(','));
    let known = |name: &str| {
        Transport::from_name(name.trim()).ok_or_else(|| {
            let known = Transport::ALL.map(Transport::as_str).join(", ");
            Error::invalid(format!("transport: expected one of {known}, got '{name}'"))
        })
    };
    names.map(known).collect()
}

/// An admin sees every entry, anybody else their own.
fn visible_caller(caller: &Caller, asked: Option<String>) -> Option<String> {
    if caller.scopes.allow(Scope::Admin) {
        asked
    } else {
        Some(caller.user_name.to_string())
    }
}

pub(crate) fn view(execution: Execution) -> ExecutionView {
    ExecutionView {
        id: execution.id,
        started_at: time::rfc3339(execution.started_at),
        tool_name: execution.tool_name.to_string(),
        tool_version: execution.tool_version,
        tool_hash: execution.tool_hash.to_string(),
        caller: execution.caller.to_string(),
        key: execution.key.map(|key| key.to_string()),
        agent: execution.agent,
        run: execution.run,
        toolset: execution.toolset.map(|toolset| toolset.to_string()),
        transport: execution.transport.into_owned(),
        arguments: raw(Some(execution.arguments)),
        status: execution.status.as_str(),
        output: raw(execution.output),
        error: raw(execution.error),
        log_text: execution.log_text,
        elapsed: micros_as_seconds(execution.elapsed_us),
        node: execution.node.to_string(),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "durations are far below 2^53 µs"
)]
fn micros_as_seconds(micros: i64) -> f64 {
    micros as f64 / 1e6
}

/// Stored JSON text; should it be damaged, it is shown as a string rather than not at all.
fn raw(text: Option<String>) -> Box<RawValue> {
    let Some(text) = text else {
        return RawValue::NULL.to_owned();
    };
    RawValue::from_string(text).unwrap_or_else(|_| {
        serde_json::value::to_raw_value(&Value::String("(unreadable)".to_owned()))
            .unwrap_or_else(|_| RawValue::NULL.to_owned())
    })
}
