//! Runs as they are shown, and who may see them: whoever began one, and admins.

use super::journal;
use crate::App;
use crate::error::{Error, Result};
use crate::{page, time};
use agent::entry::{Pending, RunError, Status};
use agent::state::State;
use catalog::caller::{Caller, Scope};
use serde::Serialize;
use serde_json::Value;
use store::runs::RunRow;
use utoipa::ToSchema;
use uuid::Uuid;

/// A run as it is shown.
#[derive(Debug, Serialize, ToSchema)]
pub struct RunView {
    pub id: Uuid,
    /// running, needs_input, done, failed, cancelled or expired.
    #[schema(example = "done")]
    pub status: String,
    /// The beginning of what was asked for.
    pub input: String,
    pub output: Option<String>,
    /// The output, where it had to have a shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub value: Option<Value>,
    /// Why it has no output, or not all of it.
    #[schema(value_type = Option<Object>)]
    pub error: Option<RunError>,
    /// What somebody has to answer before it goes on.
    pub pending: Vec<PendingView>,
    pub owner: String,
    /// The agent's name; null where it has none.
    pub agent: Option<String>,
    pub agent_id: Option<Uuid>,
    /// Turns of the model, and calls. A list leaves the figures out: they stand in the journal, which it does not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub usage: Option<providers::Usage>,
    /// In the currency of the configured prices; left out where there is none for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The id of the last event: `/events` goes on after it.
    pub last_event: String,
    pub created_at: String,
    pub updated_at: String,
    pub ended_at: Option<String>,
}

/// A question, or a call that has to be approved.
#[derive(Debug, Serialize, ToSchema)]
pub struct PendingView {
    pub request_id: String,
    /// question or approval.
    pub kind: String,
    pub question: String,
    /// What the answer must be.
    #[schema(value_type = Object)]
    pub schema: Value,
    pub tool: Option<String>,
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// Why somebody is asked.
    pub because: String,
    pub expires_at: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct RunPage {
    pub items: Vec<RunView>,
    pub next_cursor: Option<String>,
}

/// Which runs to list.
#[derive(Debug, Default)]
pub struct RunFilter {
    pub status: Option<String>,
    pub agent: Option<String>,
    /// For admins: somebody else's. Others see their own.
    pub owner: Option<String>,
    pub limit: Option<usize>,
    pub cursor: Option<String>,
}

impl App {
    /// One run with its state.
    pub async fn get_run(&self, caller: &Caller, id: &str) -> Result<RunView> {
        let row = self.run_row(caller, id).await?;
        let state = self.run_state(&row).await?;
        Ok(self.run_view(&row, Some(&state)))
    }

    /// The newest first.
    pub async fn list_runs(&self, caller: &Caller, filter: &RunFilter) -> Result<RunPage> {
        let limit = page::limit(filter.limit)?;
        if let Some(status) = &filter.status
            && Status::from_name(status).is_none()
        {
            let known: Vec<&str> = Status::ALL.iter().map(|it| it.as_str()).collect();
            let why = format!("status: expected {}, got '{status}'", known.join(", "));
            return Err(Error::invalid(why));
        }
        let owner = self.listed_owner(caller, filter.owner.as_deref())?;
        let agent = match &filter.agent {
            Some(name) => Some(self.agents.load().visible(caller, name, false)?.id),
            None => None,
        };
        let wanted = store::runs::RunFilter {
            owner,
            agent,
            status: filter.status.clone(),
            before: filter.cursor.as_deref().map(read_cursor).transpose()?,
            limit: limit as i64 + 1,
        };
        let mut rows = self.store.runs(&wanted).await?;
        let is_more = rows.len() > limit;
        rows.truncate(limit);
        let last = rows.last().filter(|_| is_more);
        let next_cursor = last.map(|row| format!("{}.{}", row.created_at, row.id));
        let mut items = Vec::with_capacity(rows.len());
        for row in &rows {
            // What is asked is shown in a list, too; the rest of a journal is not needed there.
            let state = match row.status == Status::NeedsInput.as_str() {
                true => Some(self.run_state(row).await?),
                false => None,
            };
            items.push(self.run_view(row, state.as_ref()));
        }
        Ok(RunPage { items, next_cursor })
    }

    fn listed_owner(&self, caller: &Caller, wanted: Option<&str>) -> Result<Option<Uuid>> {
        let is_admin = caller.scopes.allow(Scope::Admin);
        let access = self.access.load();
        match wanted {
            None if is_admin => Ok(None),
            None => Ok(Some(caller.user)),
            Some(name) if name == &*caller.user_name => Ok(Some(caller.user)),
            Some(_) if !is_admin => {
                let why = "Only an admin may list the runs of others";
                Err(Error::Forbidden(why.to_owned()))
            }
            Some(name) => match access.user_named(name) {
                Some(user) => Ok(Some(user.id)),
                None => Err(Error::NotFound {
                    what: "User",
                    name: name.to_owned(),
                }),
            },
        }
    }

    /// A run that the caller may see.
    pub(crate) async fn run_row(&self, caller: &Caller, id: &str) -> Result<RunRow> {
        let unknown = || Error::NotFound {
            what: "Run",
            name: id.to_owned(),
        };
        let row = match Uuid::parse_str(id) {
            Ok(id) => self.store.run(id).await?,
            Err(_) => None,
        };
        let is_theirs =
            |row: &RunRow| row.owner_id == caller.user || caller.scopes.allow(Scope::Admin);
        row.filter(is_theirs).ok_or_else(unknown)
    }

    pub(crate) async fn run_state(&self, row: &RunRow) -> Result<State> {
        let entries = journal::read(self.store.run_entries(row.id, 0).await?)?;
        Ok(State::of(
            entries.iter().map(|kept| (kept.at, &*kept.entry)),
        ))
    }

    pub(crate) fn run_view(&self, row: &RunRow, state: Option<&State>) -> RunView {
        let agent = row.agent_id.and_then(|id| self.agents.load().by_id(id));
        let error = row
            .error
            .as_deref()
            .and_then(|it| serde_json::from_str(it).ok());
        let ending = state.and_then(|state| state.ending.as_ref());
        let seq = state.map_or(row.last_seq as u64, |state| state.seq);
        RunView {
            id: row.id,
            status: state
                .map_or(row.status.as_str(), |it| it.status().as_str())
                .to_owned(),
            input: row.request.clone(),
            output: ending.map_or(row.output.clone(), |it| it.output.clone()),
            value: ending.and_then(|it| it.value.clone()),
            error: ending.map_or(error, |it| it.error.clone()),
            pending: state
                .into_iter()
                .flat_map(State::pending)
                .map(pending_view)
                .collect(),
            owner: self.user_name(row.owner_id),
            agent: agent.map(|agent| agent.name.clone()),
            agent_id: row.agent_id,
            steps: state.map(|it| it.steps),
            calls: state.map(|it| it.calls),
            usage: state.map(|it| it.usage),
            cost: state.and_then(|it| it.cost),
            last_event: seq.to_string(),
            created_at: time::rfc3339(row.created_at),
            updated_at: time::rfc3339(row.updated_at),
            ended_at: row.ended_at.map(time::rfc3339),
        }
    }
}

/// A question as whoever has to answer it is shown it, in a view and in an event.
pub(super) fn pending_view(pending: &Pending) -> PendingView {
    let kind = serde_json::to_value(pending.kind).unwrap_or_default();
    PendingView {
        request_id: pending.request_id.clone(),
        kind: kind.as_str().unwrap_or_default().to_owned(),
        question: pending.question.clone(),
        schema: pending.schema.clone(),
        tool: pending.tool.clone(),
        arguments: pending.arguments.clone(),
        because: pending.because.clone(),
        expires_at: time::rfc3339(pending.expires_at),
    }
}

fn read_cursor(cursor: &str) -> Result<(i64, Uuid)> {
    let parts = cursor.split_once('.');
    let read = parts.and_then(|(at, id)| Some((at.parse().ok()?, Uuid::parse_str(id).ok()?)));
    read.ok_or_else(|| Error::invalid("cursor: expected the next_cursor of the page before"))
}
