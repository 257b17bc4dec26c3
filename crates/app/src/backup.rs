//! A consistent copy of everything this server keeps, made while it works on.

use crate::App;
use crate::audit::act;
use crate::error::{Error, Result};
use crate::shelf::{MCP_FILE, TOOLS_FILE};
use catalog::caller::Caller;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The operator's configuration: kept with a backup, but nothing here reads it.
pub const CONFIG_FILE: &str = "toolcrib.toml";

/// The folder of the vectors that this server keeps itself, in the data folder and in a backup.
pub const VECTORS: &str = kinds::retrieval::FOLDER;

impl App {
    /// Writes registry, log, vectors and the workspace's files into `folder`, which must be new or empty and is closed to
    /// everybody else: arguments, outputs and key hashes are in it.
    pub async fn backup(&self, caller: &Caller, folder: &Path) -> Result<()> {
        let (now, target) = (self.clock.now(), format!("folder:{}", folder.display()));
        let done = act(now, caller, "backup.create", target, None, None);
        self.store.write(&[done]).await?;
        let unusable = |error: io::Error| {
            Error::invalid(format!(
                "folder: {} cannot be used: {error}",
                folder.display()
            ))
        };
        private_folder(folder).map_err(unusable)?;
        if fs::read_dir(folder).map_err(unusable)?.next().is_some() {
            return Err(Error::conflict(format!(
                "{} is not empty; name a new folder",
                folder.display()
            )));
        }
        if let Err(error) = fs::set_permissions(folder, Permissions::from_mode(0o700)) {
            // Each file is private by itself as well.
            tracing::warn!(folder = %folder.display(), %error, "others may list the files of this backup");
        }
        self.store.backup_to(folder).await?;
        let log = folder.join("log");
        private_folder(&log).map_err(unusable)?;
        self.executor.log.backup_to(&log).await?;
        for file in [TOOLS_FILE, MCP_FILE] {
            copy(&self.workspace.join(file), &folder.join(file)).map_err(unusable)?;
        }
        let config = self.workspace.join(CONFIG_FILE);
        if config.exists() {
            copy(&config, &folder.join(CONFIG_FILE)).map_err(unusable)?;
        }
        copy_vectors(&self.data.join(VECTORS), &folder.join(VECTORS)).map_err(unusable)?;
        // Which keys will be needed to open the secrets in here; the keys themselves are kept elsewhere.
        let about = serde_json::json!({
            "toolcrib": env!("CARGO_PKG_VERSION"),
            "engine": self.store.engine(),
            "sealing_keys": self.vault.key_ids(),
        });
        let about = format!("{about}\n");
        write(&folder.join("backup.json"), about.as_bytes()).map_err(unusable)
    }
}

fn private_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

/// Each collection is one file, which is only ever replaced as a whole.
fn copy_vectors(from: &Path, to: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    private_folder(to)?;
    for entry in entries {
        let entry = entry?;
        let mut file = match fs::File::open(entry.path()) {
            // Half a file that is a whole one by now.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            file => file?,
        };
        let mut copy = private_file(&to.join(entry.file_name()))?;
        io::copy(&mut file, &mut copy)?;
    }
    Ok(())
}

/// Not `fs::copy`: that would copy the mode too.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    write(to, &fs::read(from)?)
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    private_file(path)?.write_all(content)
}

fn private_file(path: &Path) -> io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.create_new(true).write(true).mode(0o600);
    options.open(path)
}
