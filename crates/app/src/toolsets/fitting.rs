//! What the patterns of a toolset come to right now, for whoever looks at one set.

use super::{Stored, ToolsetView};
use crate::App;
use catalog::caller::Caller;
use catalog::policy::Verdict;

impl App {
    /// A toolset with the tools that its patterns bring in. A hidden tool does not exist here either: neither is it shown,
    /// nor does a pattern fit it.
    pub(super) fn toolset_in_full(&self, caller: &Caller, stored: &Stored) -> ToolsetView {
        let (policy, catalogue) = (self.executor.policy.load(), self.executor.catalogue.load());
        let through = Caller {
            toolset: Some(stored.row.name.as_str().into()),
            ..caller.clone()
        };
        let members = stored.toolset.members(&catalogue).into_iter();
        let fitting = members.filter(|it| {
            let is_seen = policy.verdict(&through, &it.entry.tool) != Verdict::Hidden;
            it.pick.is_none() && is_seen
        });
        let seen = catalogue.after(None).map(|entry| &entry.tool);
        let seen: Vec<_> = seen
            .filter(|tool| policy.verdict(caller, tool) != Verdict::Hidden)
            .collect();
        let fits_nothing = stored.toolset.idle_patterns(&seen);
        ToolsetView {
            fitting: Some(fitting.map(|it| it.name.to_owned()).collect()),
            fits_nothing: fits_nothing.into_iter().map(str::to_owned).collect(),
            ..self.toolset_view(stored)
        }
    }
}
