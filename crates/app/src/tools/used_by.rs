//! Who names a tool, so that nobody removes one, or gives it another name, that others still need.

use crate::App;
use crate::kept::{Head, Thing};
use catalog::caller::Caller;
use catalog::tool::Tool;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// What names a tool. An agent that names none may use all, and is not among them.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct UsedBy {
    pub agents: Vec<String>,
    pub toolsets: Vec<String>,
    /// How many more there are that you may not see.
    pub hidden: usize,
}

impl App {
    pub(super) fn used_by(&self, caller: &Caller, tool: &Tool) -> UsedBy {
        let mut used = UsedBy::default();
        let is_meant = |name: &str| {
            *name == *tool.definition.name || Uuid::parse_str(name).is_ok_and(|id| id == tool.id)
        };
        for agent in self.agents.load().live() {
            if agent.tools.0.contains(&tool.id) {
                add(caller, &agent.head(), &mut used.agents, &mut used.hidden);
            }
        }
        for set in self.toolsets.load().live() {
            if set.picks().any(is_meant) {
                add(caller, &set.head(), &mut used.toolsets, &mut used.hidden);
            }
        }
        used
    }
}

fn add(caller: &Caller, head: &Head<'_>, seen: &mut Vec<String>, hidden: &mut usize) {
    match head.may_see(caller) {
        true => seen.push(head.name.to_owned()),
        false => *hidden += 1,
    }
}
