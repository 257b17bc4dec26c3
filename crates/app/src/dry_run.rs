//! Dry runs of changes: everything is checked that the change itself would check, and nothing is changed.

use crate::App;
use crate::error::Result;
use crate::tools::ToolView;
use crate::writer::Write;
use catalog::caller::Caller;
use std::sync::Arc;

/// Whether an answer says what a change does to the requests of the gold set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EffectAsked {
    #[default]
    No,
    Yes,
    /// Only where somebody has written such requests.
    IfKnown,
}

/// On which terms a tool is changed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terms {
    /// Only where this is still its version.
    pub expected_version: Option<i64>,
    /// Not really: everything is checked, and nothing is changed.
    pub dry_run: bool,
    pub effect: EffectAsked,
}

impl App {
    /// Makes the change, or only finds out what would become of it.
    pub(crate) async fn done(
        &self,
        caller: Arc<Caller>,
        write: Write,
        terms: Terms,
    ) -> Result<ToolView> {
        let asker = Arc::clone(&caller);
        let baseline = self.baseline(terms.effect).await?;
        let entry = self.queue(caller, write, terms.dry_run).await?;
        let mut view = self.checked(entry.clone(), &asker)?;
        if let (Some(baseline), Some(entry)) = (baseline, entry) {
            // The change is made: that its effect is not known is no reason to say otherwise.
            match self.effect(asker, baseline, entry).await {
                Ok(effect) => view.effect = Some(effect),
                Err(error) => tracing::error!(%error, "the effect of a change is not known"),
            }
        }
        Ok(view)
    }
}
