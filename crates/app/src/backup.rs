//! A consistent copy of everything this server keeps, made while it works on.

use crate::App;
use crate::error::{Error, Result};
use crate::shelf::{MCP_FILE, TOOLS_FILE};
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// The operator's configuration: kept with a backup, but nothing here reads it.
pub const CONFIG_FILE: &str = "toolcrib.toml";

impl App {
    /// Writes registry, log and the workspace's files into `folder`, which must be new or empty.
    pub async fn backup(&self, folder: &Path) -> Result<()> {
        let unusable = |error: std::io::Error| {
            Error::invalid(format!(
                "folder: {} cannot be used: {error}",
                folder.display()
            ))
        };
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(unusable)?;
        if fs::read_dir(folder).map_err(unusable)?.next().is_some() {
            return Err(Error::conflict(format!(
                "{} is not empty; name a new folder",
                folder.display()
            )));
        }
        self.store.backup_to(folder).await?;
        let log = folder.join("log");
        fs::create_dir_all(&log).map_err(unusable)?;
        self.executor.log.backup_to(&log).await?;
        for file in [TOOLS_FILE, MCP_FILE] {
            fs::copy(self.workspace.join(file), folder.join(file)).map_err(unusable)?;
        }
        let config = self.workspace.join(CONFIG_FILE);
        if config.exists() {
            fs::copy(config, folder.join(CONFIG_FILE)).map_err(unusable)?;
        }
        let about = format!(
            "{{\"toolcrib\": \"{}\", \"engine\": \"{}\"}}\n",
            env!("CARGO_PKG_VERSION"),
            self.store.engine()
        );
        fs::write(folder.join("backup.json"), about).map_err(unusable)
    }
}
