//! What a request needs where no model thinks: the tools that selection finds, with the arguments that it surely gives.

use crate::App;
use crate::error::Result;
use crate::select::{ASKING, Request, SelectView, item};
use agent::planner::{Chosen, Plan, plan};
use catalog::caller::Caller;
use catalog::catalogue::Entry;
use catalog::policy::Verdict;
use jiff::civil::Date;
use selection::{Item, Outcome};
use std::collections::HashMap;
use std::sync::Arc;

/// What is to be done, and how that was found.
#[derive(Debug)]
pub struct Planned {
    pub plan: Plan,
    pub selection: SelectView,
}

impl App {
    /// The plan for a request among the tools that the caller may call, or among those of these that are named.
    pub async fn plan_without_model(
        self: &Arc<Self>,
        caller: &Arc<Caller>,
        request: &str,
        among: Option<Vec<String>>,
    ) -> Result<Planned> {
        let asked = Request {
            query: request.to_owned(),
            among,
            ..Request::default()
        };
        let selection = self.select(Arc::clone(caller), asked).await?;
        let outcome = match selection.outcome.as_str() {
            "call" => Outcome::Call,
            "ask" => Outcome::Ask,
            _ => Outcome::None,
        };
        let names = selection.tools.iter().filter(|it| *it != ASKING);
        let names: Vec<&String> = names.chain(&selection.about).collect();
        let catalogue = self.executor.catalogue.load();
        let entries: Vec<Arc<Entry>> = names
            .into_iter()
            .filter_map(|name| catalogue.find(name).cloned())
            .collect();
        let items: Vec<Item> = entries.iter().map(|it| self.item(it)).collect();
        let chosen: Vec<Chosen<'_>> = entries
            .iter()
            .zip(&items)
            .map(|(entry, tool)| Chosen {
                tool,
                input_schema: &entry.tool.definition.input_schema,
            })
            .collect();
        let plan = plan(request, outcome, &chosen, self.today());
        Ok(Planned { plan, selection })
    }

    /// What a request surely gives one tool; nothing where the caller may not know of it.
    pub fn filled(
        &self,
        caller: &Caller,
        request: &str,
        tool: &str,
    ) -> Option<agent::fill::Filled> {
        let (policy, catalogue) = (self.executor.policy.load(), self.executor.catalogue.load());
        let shown = policy.find(&catalogue, caller, tool)?;
        let entry = shown.entry;
        if policy.verdict(caller, &entry.tool) == Verdict::Hidden {
            return None;
        }
        let schema = &entry.tool.definition.input_schema;
        let item = self.item(entry);
        Some(agent::fill::fill_for(request, &item, schema, self.today()))
    }

    /// A tool by itself, for those who have chosen it already.
    fn item(&self, entry: &Entry) -> Item {
        item(entry, self.access.load().admins(), &HashMap::new())
    }

    /// The day it is where this server stands.
    pub fn today(&self) -> Date {
        let now = jiff::Timestamp::from_millisecond(self.clock.now()).unwrap_or_default();
        now.to_zoned(jiff::tz::TimeZone::system()).date()
    }
}
