//! Deciding about a change without making it.

use super::Plan;
use crate::error::{Error, Result};
use crate::writer::{Write, Writer};
use catalog::caller::Caller;
use uuid::Uuid;

impl Plan {
    /// Refuses what would be refused now. The group goes on as if nobody had asked.
    pub(crate) async fn rehearse(
        &self,
        writer: &Writer,
        write: &Write,
        caller: &Caller,
    ) -> Result<Option<Uuid>> {
        let mut aside = self.clone();
        aside.apply(writer, write, caller).await?;
        // Edits of tools.json are put together at the end, where one can still be found wrong.
        aside.file_text().map_err(Error::problems)?;
        Ok(None)
    }
}
