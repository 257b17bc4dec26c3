//! Deciding about a change without making it.

use super::Plan;
use crate::error::{Error, Result};
use crate::writer::{Write, Writer};
use catalog::caller::Caller;
use catalog::catalogue::{Entry, Gate};
use std::sync::Arc;

impl Plan {
    /// The tool as the change would leave it, or why it is refused. The group goes on as if nobody had asked.
    pub(crate) async fn rehearse(
        &self,
        writer: &Writer,
        write: &Write,
        caller: &Caller,
    ) -> Result<Option<Arc<Entry>>> {
        let mut aside = self.clone();
        let id = aside.apply(writer, write, caller).await?;
        // Edits of tools.json are put together at the end, where one can still be found wrong.
        aside.file_text().map_err(Error::problems)?;
        let entry = |tool| Arc::new(Entry::new(tool, Arc::new(Gate::default())));
        Ok(aside.find(id).map(entry))
    }
}
