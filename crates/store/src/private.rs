//! Files that only the user who runs the server may read.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// A new, empty file.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create_new(true)
        .write(true)
        .mode(0o600)
        .open(path)
}

/// Makes the file of a database if it is not there, and takes it and its companions from everybody else if it is:
/// versions before this rule left them open. SQLite gives new companions the mode of the file.
pub(crate) fn database(path: &Path) -> io::Result<()> {
    match create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => return other.map(|_| ()),
    }
    for companion in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(companion);
        let path = Path::new(&name);
        let is_open = path
            .metadata()
            .is_ok_and(|found| found.permissions().mode() & 0o077 != 0);
        // Somebody else's file is theirs to protect, and as usable as before.
        if is_open && let Err(error) = std::fs::set_permissions(path, Permissions::from_mode(0o600))
        {
            tracing::warn!(file = %path.display(), %error, "others can read this file, and that cannot be changed");
        }
    }
    Ok(())
}
