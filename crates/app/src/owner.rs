//! One process owns a workspace's data folder; the lock says who, the socket beside it lets the others ask.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Held as long as this process owns the data folder; the system releases it however the process ends.
#[derive(Debug)]
pub struct OwnerLock {
    _data: File,
    _workspace: File,
}

impl OwnerLock {
    /// Makes the data folder where needed. `None`: another process owns it, or works on the same workspace with
    /// a data folder of its own: `tools.json` has one writer.
    pub fn acquire(workspace: &Path, data: &Path) -> io::Result<Option<Self>> {
        let workspace = File::open(workspace)?;
        match workspace.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(data)?;
        let mut options = OpenOptions::new();
        options
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600);
        let mut file = options.open(data.join("lock"))?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0)?;
                writeln!(file, "{}", std::process::id())?;
                Ok(Some(OwnerLock {
                    _data: file,
                    _workspace: workspace,
                }))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// The locks of a folder that nobody owns, while they are kept; `None`: somebody does. Unlike `OwnerLock` nothing is made
/// or written, for whoever only wants to look.
pub fn held_still(workspace: &Path, data: &Path) -> io::Result<Option<Vec<File>>> {
    let mut held = Vec::new();
    for file in [workspace.to_owned(), data.join("lock")] {
        let file = match File::open(&file) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        match file.try_lock() {
            Ok(()) => held.push(file),
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    Ok(Some(held))
}

/// Where the owner listens for other processes of the same user.
pub fn socket_path(data: &Path) -> PathBuf {
    data.join("toolcrib.sock")
}

/// The name of this installation in log rows and reservations; made once per data folder.
pub fn node_name(data: &Path) -> io::Result<String> {
    let path = data.join("node");
    match fs::read_to_string(&path) {
        Ok(name) if !name.trim().is_empty() => Ok(name.trim().to_owned()),
        _ => {
            let name = uuid::Uuid::new_v4().simple().to_string()[..12].to_owned();
            fs::write(&path, format!("{name}\n"))?;
            Ok(name)
        }
    }
}
