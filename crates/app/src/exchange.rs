//! Replacing a file so that it is whole at every instant and nobody's edit is lost: a temporary file beside it,
//! fsync, exchange, fsync of the folder.

use catalog::hex::hex;
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
        let Some(Leftover { maker, old, new }) = name.strip_prefix(&prefix).and_then(leftover)
        else {
            continue;
        };
        if maker.is_alive() {
            continue;
        }
        let left = fs::read(entry.path())
            .map(|text| digest(&text))
            .unwrap_or_default();
        if current == new && left != old && left != new {
            keep_edit(&entry.path(), target);
        } else {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// What the name of a temporary file says.
struct Leftover<'a> {
    maker: Maker<'a>,
    old: &'a str,
    new: &'a str,
}

fn leftover(rest: &str) -> Option<Leftover<'_>> {
    let parts: Vec<&str> = rest.split('-').collect();
    let (pid, started, old, new) = match parts[..] {
        [pid, started, old, new] => (pid, Some(started), old, new),
        // As names were before they said when the process started.
        [pid, old, new] => (pid, None, old, new),
        _ => return None,
    };
    let maker = Maker {
        pid: pid.parse().ok()?,
        started,
    };
    Some(Leftover { maker, old, new })
}

/// The process that made a temporary file. Its number is not enough: numbers are used again, and in a container the
/// server is number 1 at every start.
struct Maker<'a> {
    pid: u32,
    started: Option<&'a str>,
}

impl Maker<'_> {
    fn is_alive(&self) -> bool {
        match self.started {
            Some(started) => started_at(self.pid).is_some_and(|at| at == started),
            // Whoever sweeps has exchanged nothing yet: what bears our own number is a dead one's.
            None => self.pid != std::process::id() && started_at(self.pid).is_some(),
        }
    }
}

/// When a process started, in the kernel's own count; none when there is no such process.
fn started_at(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name in brackets, which may hold anything; the start is the twenty-second.
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(19).map(str::to_owned)
}

fn digest(text: &[u8]) -> String {
    let digest = Sha256::digest(text);
    hex(&digest[..8])
}

/// The exchange gives us the old file back, so an edit that came in between is seen and put back.
pub(crate) fn replace(target: &Path, expected: &str, text: &str) -> Result<(), WriteError> {
    let temporary = temporary(target, expected, text);
    let swap = || renameat_with(CWD, &temporary, CWD, target, RenameFlags::EXCHANGE);
    let done = write_new(&temporary, target, text)
        .map_err(Undone::from)
        .and_then(|()| exchange(&temporary, target, expected, swap));
    tidied(done, &temporary, target)
}

/// Why a file was not replaced.
enum Undone {
    /// No edit is in the temporary file: it holds our own text, or the old one that was exchanged for it.
    NothingLost(WriteError),
    /// An edit could not be put back: the temporary file is all that is left of it.
    NotPutBack(io::Error),
}

impl From<io::Error> for Undone {
    fn from(error: io::Error) -> Self {
        Undone::NothingLost(WriteError::Io(error))
    }
}

fn tidied(done: Result<(), Undone>, temporary: &Path, target: &Path) -> Result<(), WriteError> {
    let done = match done {
        Err(Undone::NotPutBack(error)) => {
            keep_edit(temporary, target);
            return Err(WriteError::Io(error));
        }
        Err(Undone::NothingLost(error)) => Err(error),
        Ok(()) => Ok(()),
    };
    let _ = fs::remove_file(temporary);
    done
}

/// Gives somebody's edit a name of its own, under which nobody removes it.
fn keep_edit(left: &Path, target: &Path) {
    let file = target.file_name().unwrap_or_default().to_string_lossy();
    // What cannot be read keeps the name that it has, which tells it apart as well.
    let mark = match fs::read(left) {
        Ok(text) => digest(&text),
        Err(_) => left
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
    };
    let kept = target.with_file_name(format!("{file}.edit-{mark}"));
    match fs::rename(left, &kept) {
        Ok(()) => {
            tracing::warn!(file = %kept.display(), "an edit of tools.json that came while it was replaced is kept here");
        }
        Err(error) => {
            tracing::error!(file = %left.display(), %error, "an edit of tools.json that came while it was replaced is still here");
        }
    }
}

/// Beside the file, and nobody else's: the folder behind a link may serve several workspaces. The name says what was
/// to be exchanged for what, so that `sweep` knows what it finds.
fn temporary(target: &Path, expected: &str, text: &str) -> PathBuf {
    let file = target.file_name().unwrap_or_default().to_string_lossy();
    let (old, new) = (digest(expected.as_bytes()), digest(text.as_bytes()));
    let pid = std::process::id();
    let started = started_at(pid).unwrap_or_default();
    target.with_file_name(format!(".{file}{MARK}{pid}-{started}-{old}-{new}"))
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
fn exchange(
    temporary: &Path,
    target: &Path,
    expected: &str,
    swap: impl Fn() -> rustix::io::Result<()>,
) -> Result<(), Undone> {
    match swap() {
        Ok(()) => {
            let refused = match fs::read(temporary) {
                Ok(replaced) if replaced == expected.as_bytes() => None,
                Ok(_) => Some(WriteError::ChangedOnDisk),
                Err(error) => Some(WriteError::Io(error)),
            };
            if let Some(refused) = refused {
                swap().map_err(|e| Undone::NotPutBack(e.into()))?;
                return Err(Undone::NothingLost(refused));
            }
        }
        Err(Errno::INVAL | Errno::NOSYS) => {
            rename_over(temporary, target, expected).map_err(Undone::NothingLost)?;
        }
        Err(error) => return Err(io::Error::from(error).into()),
    }
    let folder = target.parent().unwrap_or(Path::new("."));
    Ok(File::open(folder).and_then(|f| f.sync_all())?)
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
    use std::cell::Cell;
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

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("readable");
        let name = |entry: io::Result<fs::DirEntry>| {
            let name = entry.expect("readable").file_name();
            name.to_string_lossy().into_owned()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    /// What the one kept edit says.
    fn kept_edit(folder: &Path) -> String {
        let names = names(folder);
        let kept = |name: &&String| name.starts_with("tools.json.edit-");
        let kept = names.iter().find(kept).expect("it is kept");
        read(&folder.join(kept))
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
        let names = || names(folder.path());
        fs::write(left("old", "never exchanged"), "never exch").expect("writable");
        fs::write(left("before", "old"), "before").expect("writable");
        fs::write(temporary(&path, "old", "new"), "of a living process").expect("writable");
        sweep(&path);
        assert_eq!(names().len(), 2, "{:?}", names());
        fs::write(left("before", "old"), "somebody's edit").expect("writable");
        sweep(&path);
        assert_eq!(kept_edit(folder.path()), "somebody's edit");
        assert_eq!(read(&path), "old");
    }

    /// In a container the server is number 1 at every start, and elsewhere numbers are used again.
    #[test]
    fn a_number_alone_does_not_keep_a_leftover_alive() {
        let pid = std::process::id();
        let of_the_dead = [
            format!("{pid}-"),
            format!("{pid}-0-"),
            "1-never-".to_owned(),
        ];
        for maker in of_the_dead {
            let (folder, path) = old_file();
            let (before, old) = (digest(b"before"), digest(b"old"));
            let left = path.with_file_name(format!(".tools.json{MARK}{maker}{before}-{old}"));
            fs::write(left, "somebody's edit").expect("writable");
            sweep(&path);
            assert_eq!(kept_edit(folder.path()), "somebody's edit", "{maker}");
            assert_eq!(names(folder.path()).len(), 2, "{maker}");
        }
    }

    #[test]
    fn a_leftover_of_a_living_process_stays_under_its_old_name_too() {
        let (folder, path) = old_file();
        let left = path.with_file_name(format!(".tools.json{MARK}1-{0}-{0}", digest(b"old")));
        fs::write(&left, "of a living process").expect("writable");
        sweep(&path);
        assert_eq!(names(folder.path()).len(), 2);
        assert_eq!(read(&left), "of a living process");
    }

    #[test]
    fn an_edit_that_cannot_be_put_back_is_kept() {
        let (folder, path) = old_file();
        let new = temporary(&path, "as we knew it", "new");
        fs::write(&new, "new").expect("writable");
        let swaps = Cell::new(0);
        let once = || {
            swaps.set(swaps.get() + 1);
            match swaps.get() {
                1 => renameat_with(CWD, &new, CWD, &path, RenameFlags::EXCHANGE),
                _ => Err(Errno::IO),
            }
        };
        let done = exchange(&new, &path, "as we knew it", once);
        let done = tidied(done, &new, &path);
        assert!(matches!(done, Err(WriteError::Io(_))));
        assert_eq!(kept_edit(folder.path()), "old");
    }

    #[test]
    fn what_cannot_be_read_back_is_put_back() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("tools.json");
        symlink("nowhere", &path).expect("a link");
        assert!(matches!(
            replace(&path, "old", "new"),
            Err(WriteError::Io(_))
        ));
        let there = fs::read_link(&path).expect("it is a link again");
        assert_eq!(there, Path::new("nowhere"));
        assert_eq!(names(folder.path()), ["tools.json"]);
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
