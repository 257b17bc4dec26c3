//! Dry runs of changes: everything is checked that the change itself would check, and nothing is changed.

use crate::App;
use crate::auth::AuthChange;
use crate::error::{Error, Result};
use crate::tools::ToolView;
use crate::writer::Write;
use catalog::caller::Caller;
use catalog::catalogue::{Entry, Gate};
use catalog::tool::{Definition, Millis, SYSTEM_USER, Shelf, Tool};
use std::sync::Arc;
use uuid::Uuid;

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
        if dry_run {
            return self.rehearsed(caller, write).await;
        }
        let asker = Arc::clone(&caller);
        let entry = self.write(caller, write).await?;
        self.checked(entry, &asker)
    }

    /// The tool as it would be after this change, with what would keep it from working; or why it is refused.
    async fn rehearsed(&self, caller: Arc<Caller>, write: Write) -> Result<ToolView> {
        let (tool, auth) = self.would_be(&write)?;
        let asker = Arc::clone(&caller);
        self.queue(caller, write, true).await?;
        let trouble = self.missing_of(&tool);
        let entry = Entry::new(tool, Arc::new(Gate::default()));
        let mut view = self.view(&entry, &asker);
        view.trouble = trouble;
        if auth == AuthChange::Written {
            // Nothing of it was sealed, so it may hold values in the clear.
            view.auth_config = None;
        }
        Ok(view)
    }

    fn would_be(&self, write: &Write) -> Result<(Tool, AuthChange)> {
        let now = self.clock.now();
        match write {
            Write::Create {
                shelf,
                definition,
                owner,
                created_at,
            } => {
                let owner = match shelf {
                    Shelf::Database => *owner,
                    _ => SYSTEM_USER,
                };
                let tool = Tool {
                    id: Uuid::nil(),
                    owner,
                    shelf: *shelf,
                    version: 1,
                    created_at: created_at.unwrap_or(now),
                    updated_at: now,
                    hash: definition.hash(),
                    definition: definition.clone(),
                };
                Ok((tool, AuthChange::Written))
            }
            Write::Update {
                id,
                definition,
                auth,
                ..
            } => {
                let catalogue = self.executor.catalogue.load();
                let current = catalogue.by_id(*id);
                let current = current.ok_or_else(|| Error::tool_not_found(&id.to_string()))?;
                Ok((changed(&current.tool, definition, *auth, now), *auth))
            }
            _ => Err(Error::Internal(
                "only making and changing a tool can be tried without doing it".to_owned(),
            )),
        }
    }
}

fn changed(current: &Tool, definition: &Definition, auth: AuthChange, now: Millis) -> Tool {
    let mut definition = definition.clone();
    if auth == AuthChange::Keep {
        definition
            .auth_config
            .clone_from(&current.definition.auth_config);
    }
    if definition == current.definition {
        return current.clone();
    }
    Tool {
        version: current.version + 1,
        updated_at: now,
        hash: definition.hash(),
        definition,
        ..current.clone()
    }
}
