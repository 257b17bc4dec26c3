//! How a tool would go about its work, for whoever writes tools.

use crate::App;
use crate::error::{Error, Result};
use catalog::caller::Caller;
use executor::Code;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

/// What the database says of a tool's query; nothing was run.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlanView {
    pub tool: String,
    /// As the database words it: of PostgreSQL its JSON, of SQLite the rows of EXPLAIN QUERY PLAN.
    pub plan: Value,
}

impl App {
    /// The plan of a call with these arguments, by somebody who might make it.
    pub async fn explain_tool(
        &self,
        caller: Arc<Caller>,
        target: &str,
        arguments: Value,
    ) -> Result<PlanView> {
        let entry = self.visible_now(&caller, target).await?;
        if self.executor.permits(&caller, &entry.name).is_none() {
            let why = format!("You may not call '{}'", entry.name);
            return Err(Error::Forbidden(why));
        }
        let tool = entry.name.to_string();
        let explained = self.executor.explain(caller, entry, arguments).await;
        let plan = explained.map_err(|failure| match failure.code {
            Code::Forbidden => Error::Forbidden(failure.message),
            Code::ServiceUnavailable | Code::Timeout => Error::Unavailable(failure.message),
            _ => Error::invalid(failure.message),
        })?;
        Ok(PlanView { tool, plan })
    }
}
