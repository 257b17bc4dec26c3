//! What a tool's description was understood to say about when to take it, for who may change it: a sentence that is no rule, a
//! name that nobody has and a rule that does not count look alike otherwise.

use super::item::is_trusted;
use crate::App;
use catalog::caller::Caller;
use catalog::catalogue::Entry;
use selection::speech::spoken;
use selection::understood;

impl App {
    pub(crate) fn rules_said(&self, entry: &Entry, caller: &Caller) -> Vec<String> {
        let counts = is_trusted(entry, self.access.load().admins());
        let rules = understood(&entry.tool.definition.description).into_iter();
        let told = rules.map(|rule| match rule.names {
            _ if !counts => format!(
                "{} (does not count: only an admin's tool, or one of tools.json, may say so)",
                rule.text
            ),
            Some(name) if !self.is_called(&name, caller) => {
                format!("{} (there is no tool '{name}')", rule.text)
            }
            _ => rule.text,
        });
        told.collect()
    }

    /// Whether there is such a tool for this caller, by its name or as it is spoken.
    fn is_called(&self, name: &str, caller: &Caller) -> bool {
        let catalogue = self.executor.catalogue.load();
        let meant = spoken(name);
        let mut all = catalogue.after(None);
        all.any(|it| spoken(&it.name) == meant && self.may_know(caller, it))
    }
}
