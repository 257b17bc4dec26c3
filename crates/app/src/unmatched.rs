//! Patterns of the policy's rules that fit no tool there is: mostly a name that was mistyped, so that what should be refused is
//! not. They are told and not refused, because a tool may come later.

use crate::App;
use crate::policy::RuleText;
use catalog::glob::fits;

impl App {
    /// What is to be said of them, in their order.
    pub(crate) fn unmatched(&self, rules: &[RuleText]) -> Vec<String> {
        let catalogue = self.executor.catalogue.load();
        let is_there = |pattern: &str| match pattern.contains(['*', '?']) {
            false => catalogue.get(pattern).is_some(),
            true => {
                let mut all = catalogue.after(None);
                all.any(|entry| fits(pattern, &entry.name))
            }
        };
        // The tools of a server are known once it was connected.
        let is_of_server = |pattern: &str| {
            let server = pattern.split_once('.').map(|(server, _)| server);
            server.is_some_and(|server| self.server(server).is_ok())
        };
        let mut said = Vec::new();
        for (i, rule) in rules.iter().enumerate() {
            let allow = rule.allow.as_deref().unwrap_or_default();
            for (member, patterns) in [("allow", allow), ("deny", &rule.deny), ("hide", &rule.hide)]
            {
                let lost = patterns
                    .iter()
                    .filter(|it| !is_there(it) && !is_of_server(it));
                said.extend(lost.map(|it| format!("rules[{i}].{member}: '{it}' fits no tool")));
            }
        }
        said
    }
}
