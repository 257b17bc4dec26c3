//! Changing some members of a tool.

use super::{no_servers, only_owner, read_body};
use crate::App;
use crate::auth::AuthChange;
use crate::dry_run::Terms;
use crate::error::{Error, Result};
use crate::patch;
use crate::tools::ToolView;
use catalog::caller::Caller;
use std::sync::Arc;

/// How often a patch is merged anew because somebody was faster.
const TRIES: usize = 20;

impl App {
    /// Changes only the members of a JSON merge patch (RFC 7396). Without a version of the caller's own, it is meant for
    /// whatever is there: where somebody was faster, it is merged with what they made of it.
    pub async fn patch_tool(
        &self,
        caller: Arc<Caller>,
        target: &str,
        patch: &str,
        terms: Terms,
    ) -> Result<ToolView> {
        let mut tries = 0;
        loop {
            let merged = self.merge_patch(&caller, target, patch, terms).await;
            match merged {
                Err(Error::Stale { .. }) if terms.expected_version.is_none() && tries < TRIES => {
                    tries += 1;
                }
                merged => return merged,
            }
        }
    }

    async fn merge_patch(
        &self,
        caller: &Arc<Caller>,
        target: &str,
        patch: &str,
        mut terms: Terms,
    ) -> Result<ToolView> {
        let current = self.visible_now(caller, target).await?;
        no_servers(&current.tool)?;
        only_owner(caller, &current.tool)?;
        let patch = patch::read(patch)?;
        let auth = match patch.get("auth_config") {
            None => AuthChange::Keep,
            Some(_) => AuthChange::Written,
        };
        let mut merged = serde_json::to_value(&current.tool.definition)
            .map_err(|e| Error::Internal(e.to_string()))?;
        patch::merge(&mut merged, patch);
        let definition = read_body(&merged.to_string(), current.tool.shelf)?;
        terms.expected_version.get_or_insert(current.tool.version);
        let changed = (definition, auth);
        self.change(Arc::clone(caller), &current.tool, changed, terms, "update")
            .await
    }
}
