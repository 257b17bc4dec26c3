//! How a tool would go about its work, for whoever writes tools.

use crate::App;
use crate::error::{Error, Result};
use catalog::caller::Caller;
use catalog::catalogue::Entry;
use executor::{Code, Failure};
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa::ToSchema;

/// What the database says of a tool's query; nothing was run.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlanView {
    pub tool: String,
    /// As the database words it: of PostgreSQL its JSON, of SQLite the rows of EXPLAIN QUERY PLAN.
    pub plan: Value,
    /// What keeps it from being the plan of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

const WITHOUT_ARGUMENTS: &str = "planned without arguments, each of which is null here unless it has a default; a call is refused without them, and its plan may be another";

impl App {
    /// The plan of a call with these arguments, by somebody who might make it. Without any it is one all the same, and says
    /// so.
    pub async fn explain_tool(
        &self,
        caller: Arc<Caller>,
        target: &str,
        arguments: Option<Value>,
    ) -> Result<PlanView> {
        let entry = self.visible_now(&caller, target).await?;
        if self.executor.permits(&caller, &entry.name).is_none() {
            let why = format!("You may not call '{}'", entry.name);
            return Err(Error::Forbidden(why));
        }
        self.plan_of(caller, entry, arguments).await
    }

    /// The same of a definition that is not saved.
    pub async fn explain_unsaved(
        &self,
        caller: Arc<Caller>,
        (name, tool): (&str, &Value),
        arguments: Option<Value>,
    ) -> Result<PlanView> {
        let entry = self.unsaved(&caller, tool).await?;
        if *entry.name != *name {
            return Err(Error::invalid(format!(
                "tool.name: expected '{name}', as in the address, got '{}'",
                entry.name
            )));
        }
        self.plan_of(caller, entry, arguments).await
    }

    async fn plan_of(
        &self,
        caller: Arc<Caller>,
        entry: Arc<Entry>,
        arguments: Option<Value>,
    ) -> Result<PlanView> {
        let tool = entry.name.to_string();
        let is_given = arguments.is_some();
        let arguments = arguments.unwrap_or_else(|| Value::Object(Map::new()));
        let note = match self.executor.check_arguments(&entry, &arguments) {
            Ok(()) => None,
            Err(failure) if is_given => return Err(refused(failure)),
            Err(_) => Some(WITHOUT_ARGUMENTS.to_owned()),
        };
        let explained = self.executor.explain(caller, entry, arguments).await;
        let plan = explained.map_err(refused)?;
        Ok(PlanView { tool, plan, note })
    }
}

fn refused(failure: Failure) -> Error {
    match failure.code {
        Code::Forbidden => Error::Forbidden(failure.message),
        Code::NotConfigured => Error::conflict(failure.message),
        Code::ServiceUnavailable | Code::Timeout => Error::Unavailable(failure.message),
        _ => Error::invalid(failure.message),
    }
}
