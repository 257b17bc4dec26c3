//! Sealed values of a tool that nothing needs any more: they go in the same commit as the last version within reach
//! that refers to them.

use super::Plan;
use crate::error::Result;
use crate::writer::Writer;
use catalog::auth::sealed_in;
use catalog::tool::Tool;
use serde_json::Value;
use std::collections::HashSet;
use uuid::Uuid;

/// So many versions before the newest can be gone back to with everything they authenticate with.
pub(crate) const VERSIONS_WITH_VALUES: i64 = 20;

impl Plan {
    /// `new` is about to take the place of `old`.
    pub(super) async fn forget_values(
        &mut self,
        writer: &Writer,
        old: &Tool,
        new: &Tool,
    ) -> Result<()> {
        let auth = |tool: &Tool| tool.definition.auth_config.as_ref().map(sealed_in);
        let mut needed: HashSet<Uuid> = auth(new).into_iter().flatten().collect();
        needed.extend(auth(old).into_iter().flatten());
        let sealed = writer.vault.of_tool(new.id);
        if sealed.iter().all(|row| needed.contains(&row.id)) {
            return Ok(());
        }
        let stored = writer.store.versions(new.id, None, VERSIONS_WITH_VALUES);
        let stored = stored.await?;
        let of_this_group = self.writes.iter().filter_map(|write| match write {
            store::Write::Version(row) if row.tool_id == new.id => Some(row),
            _ => None,
        });
        for row in stored.iter().chain(of_this_group) {
            let definition: Value = serde_json::from_str(&row.definition).unwrap_or_default();
            needed.extend(sealed_in(&definition));
        }
        let gone = sealed.iter().filter(|row| !needed.contains(&row.id));
        let gone: Vec<Uuid> = gone.map(|row| row.id).collect();
        if !gone.is_empty() {
            self.writes.push(store::Write::NoSecrets(gone));
        }
        Ok(())
    }
}
