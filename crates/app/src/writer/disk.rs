//! The writer's look at the disk: edits of `tools.json` and `mcp.json`, and why changes of the file may have to wait.

use super::Writer;
use crate::error::{Error, Result};
use crate::plan::Plan;
use crate::shelf;
use crate::status::ShelfStatus;
use catalog::mcp_file::read_servers;
use catalog::problem::Problem;
use catalog::tool::Definition;
use std::sync::Arc;

/// Why changes of the file shelf cannot be made right now.
pub(super) enum Blocked {
    Problems(Vec<Problem>),
    Io(String),
    /// An edit on disk is valid, but the database does not take it over.
    Store(String),
}

impl Blocked {
    pub(super) fn error(&self) -> Error {
        match self {
            Blocked::Problems(problems) => Error::Conflict {
                message: format!(
                    "tools.json on disk is not valid, so it is not overwritten: {}",
                    crate::error::summary(problems)
                ),
                problems: problems.clone(),
            },
            Blocked::Io(why) => Error::Unavailable(format!("tools.json cannot be written: {why}")),
            Blocked::Store(why) => Error::Unavailable(format!(
                "tools.json was edited on disk and the edit cannot be taken over yet: {why}"
            )),
        }
    }
}

impl Writer {
    /// Takes an edit on disk into the plan. The problems of a file that is not valid stay on show.
    pub(super) async fn refresh(&mut self, plan: &mut Plan) -> Result<(), Blocked> {
        let checked = self.shelf.read_text().and_then(|text| {
            if text == self.shelf.text {
                return Ok(None);
            }
            let current = &plan.base;
            let known = |d: &Definition| {
                current
                    .get(&d.name)
                    .is_some_and(|e| e.tool.definition == *d)
            };
            shelf::check_tools(&text, known).map(|definitions| Some((text, definitions)))
        });
        let problems = checked.as_ref().err().cloned().unwrap_or_default();
        if problems.is_empty() && !self.status.load().tools_problems.is_empty() {
            tracing::info!("tools.json is valid again");
        }
        ShelfStatus::update(&self.status, |status| {
            status.tools_problems.clone_from(&problems)
        });
        match checked {
            Err(problems) => {
                shelf::log_problems(
                    &problems,
                    "tools.json is not valid; the old catalogue stays",
                );
                Err(Blocked::Problems(problems))
            }
            Ok(None) => Ok(()),
            Ok(Some((text, definitions))) => {
                let read = definitions.len();
                plan.sync_file(self, definitions, text)
                    .await
                    .inspect(|()| {
                        let changes = plan.changes.len();
                        tracing::info!(
                            tools = read,
                            changes,
                            "tools.json was edited on disk and is read again"
                        );
                    })
                    .map_err(|error| {
                        tracing::error!(?error, "an edit of tools.json could not be taken over");
                        Blocked::Store(error.to_string())
                    })
            }
        }
    }

    /// `mcp.json` is read and checked; whoever connects its servers is told.
    pub(super) fn reload_servers(&mut self) {
        let path = self.workspace.join(shelf::MCP_FILE);
        let read = shelf::read_file(&path, shelf::MCP_FILE, "{\"mcpServers\": {}}");
        if read.as_ref().is_ok_and(|text| *text == self.mcp_text) {
            ShelfStatus::update(&self.status, |status| status.mcp_problems.clear());
            return;
        }
        let checked =
            read.and_then(|text| Ok((read_servers(shelf::MCP_FILE, &text, &*self.env)?, text)));
        match checked {
            Ok((file, text)) => {
                self.mcp_text = text;
                tracing::info!(
                    servers = file.servers.len(),
                    "mcp.json was edited on disk and read again"
                );
                shelf::log_oddities(&file);
                ShelfStatus::update(&self.status, |status| {
                    status.mcp_problems.clear();
                    status.mcp_warnings.clone_from(&file.warnings);
                });
                self.servers.send_replace(Arc::new(file));
                self.replicas.set_shelf(&self.shelf.text, &self.mcp_text);
            }
            Err(problems) => {
                shelf::log_problems(&problems, "mcp.json is not valid; the old servers stay");
                ShelfStatus::update(&self.status, |status| {
                    status.mcp_problems.clone_from(&problems)
                });
            }
        }
    }
}
