//! Whom named secrets are shown to by now: the addresses of HTTP tools, and whoever else refers to them.

use crate::App;
use crate::kept::Thing;
use crate::tools::is_mine;
use catalog::auth::Reference;
use catalog::caller::Caller;
use catalog::policy::Verdict;
use catalog::tool::{KindName, Tool};
use openapi::sharing::{Uses, origin};
use serde_json::Value;
use store::secrets::SecretRow;

/// What is said of those that the asker may not see.
const HIDDEN: &str = "something that you may not see";

impl App {
    /// What these are for, as far as the caller may know.
    pub(crate) fn uses_of_secrets(&self, caller: &Caller, secrets: &[(String, SecretRow)]) -> Uses {
        let mut uses: Uses = secrets
            .iter()
            .map(|(name, row)| {
                (
                    name.clone(),
                    self.owner_alone(caller, row).into_iter().collect(),
                )
            })
            .collect();
        let mut tell = |name: &str, user: String| {
            if let Some(known) = uses.get_mut(name) {
                known.insert(user);
            }
        };
        let catalogue = self.executor.catalogue.load();
        let policy = self.executor.policy.load();
        for entry in catalogue.after(None) {
            let tool = &entry.tool;
            for name in secrets_of(tool).filter(|name| self.has_secret(tool, name)) {
                match policy.verdict(caller, tool) {
                    Verdict::Hidden => tell(&name, HIDDEN.to_owned()),
                    _ => places(caller, tool)
                        .into_iter()
                        .for_each(|place| tell(&name, place)),
                }
            }
        }
        for (secret, agent) in self.agents_with_secrets(caller) {
            let agent = agent.map(|name| format!("the agent '{name}'"));
            tell(&secret, agent.unwrap_or_else(|| HIDDEN.to_owned()));
        }
        uses
    }

    /// The secrets that agents show their models, each with the agent where the caller may see it.
    pub(crate) fn agents_with_secrets(&self, caller: &Caller) -> Vec<(String, Option<String>)> {
        let agents = self.agents.load();
        let all = agents.live().filter_map(|agent| {
            let key = agent.config.0.get("api_key").and_then(Reference::of);
            let Some(Reference::Secret(secret)) = key else {
                return None;
            };
            let head = agent.head();
            let name = head.may_see(caller).then(|| head.name.to_owned());
            Some((secret, name))
        });
        all.collect()
    }

    /// What an admin has set is there for every admin; what somebody else has set is for them alone.
    fn owner_alone(&self, caller: &Caller, row: &SecretRow) -> Option<String> {
        let theirs = row.owner_id != caller.user && !self.is_trusted(row.owner_id);
        theirs.then(|| format!("'{}', whose it is,", self.user_name(row.owner_id)))
    }
}

/// The named secrets that a tool refers to.
pub(crate) fn secrets_of(tool: &Tool) -> impl Iterator<Item = String> {
    let references = Reference::all_of(&tool.definition).into_iter();
    references.filter_map(|(_, reference)| match reference {
        Reference::Secret(name) => Some(name),
        _ => None,
    })
}

/// Where a tool shows what it refers to. Who gives it tokens stands in what only its owner is told.
fn places(caller: &Caller, tool: &Tool) -> Vec<String> {
    let definition = &tool.definition;
    let base = definition.config.get("base_url").and_then(Value::as_str);
    let auth = definition.auth_config.as_ref();
    let token = auth.and_then(|auth| auth["token_url"].as_str());
    match (definition.kind, base) {
        (KindName::Http, Some(base)) => {
            let token = token.filter(|_| is_mine(caller, tool));
            [base].into_iter().chain(token).map(origin).collect()
        }
        _ => vec![format!("the tool '{}'", definition.name)],
    }
}
