//! Dry runs of changes: everything is checked that the change itself would check, and nothing is changed.

use crate::App;
use crate::error::Result;
use crate::tools::ToolView;
use crate::writer::Write;
use catalog::caller::Caller;
use std::sync::Arc;

/// On which terms a tool is changed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terms {
    /// Only where this is still its version.
    pub expected_version: Option<i64>,
    /// Not really: everything is checked, and nothing is changed.
    pub dry_run: bool,
}

impl App {
    /// Makes the change, or only finds out what would become of it.
    pub(crate) async fn done(
        &self,
        caller: Arc<Caller>,
        write: Write,
        dry_run: bool,
    ) -> Result<ToolView> {
        let asker = Arc::clone(&caller);
        let entry = self.queue(caller, write, dry_run).await?;
        self.checked(entry, &asker)
    }
}
