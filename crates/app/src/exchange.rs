//! Replacing a file so that it is whole at every instant and nobody's edit is lost: a temporary file beside it,
//! fsync, exchange, fsync of the folder.

use rustix::fs::{CWD, RenameFlags, XattrFlags, fchown, fgetxattr, fsetxattr, renameat_with};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum WriteError {
    /// Somebody edited the file in this very moment; nothing was overwritten.
    ChangedOnDisk,
    Io(io::Error),
}

/// Between the file's own name and what tells one replacement from another.
const MARK: &str = ".toolcrib-";

/// Removes what killed processes left behind, except somebody's edit that was exchanged and not put back.
pub(crate) fn sweep(target: &Path) {
    let (Some(folder), Some(file)) = (target.parent(), target.file_name()) else {
        return;
    };
    let prefix = format!(".{}{MARK}", file.to_string_lossy());
    let current = fs::read(target)
        .map(|text| digest(&text))
        .unwrap_or_default();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some([pid, old, new]) = name.strip_prefix(&prefix).and_then(parts) else {
            continue;
        };
        if Path::new("/proc").join(pid).exists() {
            continue;
        }
        let left = fs::read(entry.path())
            .map(|text| digest(&text))
            .unwrap_or_default();
        if current == new && left != old && left != new {
            let kept = target.with_file_name(format!("{}.edit-{left}", file.to_string_lossy()));
            tracing::warn!(file = %kept.display(), "an edit of tools.json that came while it was replaced is kept here");
            let _ = fs::rename(entry.path(), kept);
        } else {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn parts(rest: &str) -> Option<[&str; 3]> {
    let parts: Vec<&str> = rest.split('-').collect();
    parts.try_into().ok()
}

fn digest(text: &[u8]) -> String {
    let digest = Sha256::digest(text);
    digest.iter().take(8).map(|b| format!("{b:02x}")).collect()
}

/// The exchange gives us the old file back, so an edit that came in between is seen and put back.
pub(crate) fn replace(target: &Path, expected: &str, text: &str) -> Result<(), WriteError> {
    let temporary = temporary(target, expected, text);
    let done = write_new(&temporary, target, text)
        .map_err(WriteError::Io)
        .and_then(|()| exchange(&temporary, target, expected));
    let _ = fs::remove_file(&temporary);
    done
}

/// Beside the file, and nobody else's: the folder behind a link may serve several workspaces. The name says what was
/// to be exchanged for what, so that `sweep` knows what it finds.
fn temporary(target: &Path, expected: &str, text: &str) -> PathBuf {
    let file = target.file_name().unwrap_or_default().to_string_lossy();
    let (old, new) = (digest(expected.as_bytes()), digest(text.as_bytes()));
    let pid = std::process::id();
    target.with_file_name(format!(".{file}{MARK}{pid}-{old}-{new}"))
}

/// Writes the new text beside the file, for the same readers as the file.
fn write_new(temporary: &Path, target: &Path, text: &str) -> io::Result<()> {
    // Whatever stands there is a leftover; a link planted there must not be written through.
    match fs::remove_file(temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(temporary)?;
    if let Ok(old) = File::open(target) {
        keep_access(&old, &file)?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Gives the new file owner, mode and access list of the old one.
fn keep_access(old: &File, new: &File) -> io::Result<()> {
    let (was, is) = (old.metadata()?, new.metadata()?);
    if (was.uid(), was.gid()) != (is.uid(), is.gid()) {
        let (owner, group) = (
            rustix::fs::Uid::from_raw(was.uid()),
            rustix::fs::Gid::from_raw(was.gid()),
        );
        // Only root may give a file away; a member of the group can at least keep the group.
        if fchown(new, Some(owner), Some(group)).is_err() && fchown(new, None, Some(group)).is_err()
        {
            tracing::warn!(
                uid = was.uid(),
                gid = was.gid(),
                "tools.json changes its owner: this user may not give it to its old one"
            );
        }
    }
    new.set_permissions(was.permissions())?;
    const ACCESS_LIST: &str = "system.posix_acl_access";
    let mut list = [0_u8; 4096];
    if let Ok(length) = fgetxattr(old, ACCESS_LIST, &mut list) {
        fsetxattr(new, ACCESS_LIST, &list[..length], XattrFlags::empty())?;
    }
    Ok(())
}

/// Puts the new file in the old one's place, unless the old one is no longer what `expected` says.
fn exchange(temporary: &Path, target: &Path, expected: &str) -> Result<(), WriteError> {
    let swap = || renameat_with(CWD, temporary, CWD, target, RenameFlags::EXCHANGE);
    match swap() {
        Ok(()) => {
            let replaced = fs::read(temporary).map_err(WriteError::Io)?;
            if replaced != expected.as_bytes() {
                swap().map_err(|e| WriteError::Io(e.into()))?;
                return Err(WriteError::ChangedOnDisk);
            }
        }
        Err(Errno::INVAL | Errno::NOSYS) => rename_over(temporary, target, expected)?,
        Err(error) => return Err(WriteError::Io(error.into())),
    }
    let folder = target.parent().unwrap_or(Path::new("."));
    File::open(folder)
        .and_then(|f| f.sync_all())
        .map_err(WriteError::Io)
}

/// For file systems that cannot exchange. As atomic, but an edit in the instant between the look and the
/// rename is lost.
fn rename_over(temporary: &Path, target: &Path, expected: &str) -> Result<(), WriteError> {
    if fs::read(target).map_err(WriteError::Io)? != expected.as_bytes() {
        return Err(WriteError::ChangedOnDisk);
    }
    fs::rename(temporary, target).map_err(WriteError::Io)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A folder with a file that says "old".
    fn old_file() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("tools.json");
        fs::write(&path, "old").expect("the folder can be written");
        (folder, path)
    }

    fn read(path: &Path) -> String {
        fs::read_to_string(path).expect("the file is there")
    }

    #[test]
    fn an_unseen_edit_stays() {
        let (_folder, path) = old_file();
        let refused = replace(&path, "as we knew it", "new");
        assert!(matches!(refused, Err(WriteError::ChangedOnDisk)));
        assert_eq!(read(&path), "old");
        replace(&path, "old", "new").expect("replaced");
        assert_eq!(read(&path), "new");
    }

    #[test]
    fn without_exchange_an_unseen_edit_stays_too() {
        let (folder, path) = old_file();
        let new = folder.path().join("new");
        fs::write(&new, "new").expect("writable");
        let refused = rename_over(&new, &path, "as we knew it");
        assert!(matches!(refused, Err(WriteError::ChangedOnDisk)));
        assert_eq!(read(&path), "old");
        rename_over(&new, &path, "old").expect("renamed");
        assert_eq!(read(&path), "new");
    }

    #[test]
    fn a_link_planted_in_the_temporary_files_place_is_not_written_through() {
        let (folder, path) = old_file();
        let precious = folder.path().join("precious");
        fs::write(&precious, "precious").expect("writable");
        symlink(&precious, temporary(&path, "old", "new")).expect("a link");
        replace(&path, "old", "new").expect("replaced");
        assert_eq!(
            (read(&precious), read(&path)),
            ("precious".into(), "new".into())
        );
    }

    #[test]
    fn the_mode_is_kept() {
        let (_folder, path) = old_file();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("own file");
        replace(&path, "old", "new").expect("replaced");
        let mode = fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[test]
    fn leftovers_of_the_dead_are_swept_but_an_edit_among_them_is_kept() {
        let (folder, path) = old_file();
        // No process can have this number.
        let left = |expected: &str, text: &str| {
            let own = temporary(&path, expected, text);
            let name = own.file_name().expect("a name").to_string_lossy();
            let pid = std::process::id().to_string();
            path.with_file_name(name.replacen(&pid, "999999999", 1))
        };
        let names = || {
            let entries = fs::read_dir(folder.path()).expect("readable");
            let mut names: Vec<String> = entries
                .map(|entry| {
                    entry
                        .expect("readable")
                        .file_name()
                        .to_string_lossy()
                        .into()
                })
                .collect();
            names.sort();
            names
        };
        fs::write(left("old", "never exchanged"), "never exch").expect("writable");
        fs::write(left("before", "old"), "before").expect("writable");
        fs::write(temporary(&path, "old", "new"), "of a living process").expect("writable");
        sweep(&path);
        assert_eq!(names().len(), 2, "{:?}", names());
        fs::write(left("before", "old"), "somebody's edit").expect("writable");
        sweep(&path);
        let kept = names()
            .into_iter()
            .find(|name| name.starts_with("tools.json.edit-"));
        assert_eq!(
            read(&folder.path().join(kept.expect("it is kept"))),
            "somebody's edit"
        );
        assert_eq!(read(&path), "old");
    }

    /// Needs root, as the tests have in a container; elsewhere the owner cannot differ to begin with.
    #[test]
    fn the_owner_is_kept_where_that_is_allowed() {
        let (_folder, path) = old_file();
        if std::os::unix::fs::chown(&path, Some(12_345), Some(12_345)).is_err() {
            return;
        }
        replace(&path, "old", "new").expect("replaced");
        let is = fs::metadata(&path).expect("there");
        assert_eq!((is.uid(), is.gid()), (12_345, 12_345));
    }
}
