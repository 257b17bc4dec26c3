//! What `doctor` finds of this machine: the data folder and its disk, who has the workspace, the clock, open files, walls.

use super::findings::Findings;
use crate::client::connect_owner;
use crate::config::Config;
use crate::workspace::Place;
use catalog::clock::Clock;
use rustix::fs::{Access, access};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const FREE_BYTES_LEAST: u64 = 100 << 20;
const FREE_BYTES_WISHED: u64 = 1 << 30;
/// The first of January 2025 and 2100: outside, the clock is surely wrong.
const CLOCK_SANE: std::ops::Range<i64> = 1_735_689_600_000..4_102_444_800_000;
/// With fewer, a handful of clients and programs is too many.
const OPEN_FILES_LEAST: u64 = 1024;
const SOCKET_PATIENCE: Duration = Duration::from_secs(5);
const DAY_MS: i64 = 86_400_000;

pub(super) fn data_folder(findings: &mut Findings, place: &Place) {
    let shown = place.data.display();
    let found = match std::fs::metadata(&place.data) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return missing(findings, place);
        }
        Err(error) => {
            return findings.bad(
                "data.not_readable",
                format!("{shown} cannot be looked at: {error}"),
                "run toolcrib as the user that owns it, or name another folder with --data",
            );
        }
    };
    if !found.is_dir() {
        return findings.bad(
            "data.not_a_folder",
            format!("{shown} is not a folder"),
            "remove it, or name another with --data",
        );
    }
    let me = rustix::process::geteuid().as_raw();
    if found.uid() != me {
        let owner = found.uid();
        findings.warning(
            "data.other_owner",
            format!("{shown} belongs to another user (uid {owner}, and this is {me})"),
            format!("run toolcrib as the user that owns it (`sudo -u '#{owner}' toolcrib …`)"),
        );
    } else if let Some(file) = strange_file(&place.data, me) {
        findings.warning(
            "data.other_files",
            format!(
                "{} belongs to another user: toolcrib was once run as somebody else here",
                file.display()
            ),
            format!("as root: chown -R {me} {shown}"),
        );
    }
    if access(&place.data, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        findings.bad(
            "data.not_writable",
            format!("{shown} cannot be written by this user, or its disk is read only"),
            "run toolcrib as the user that owns it, or name another folder with --data",
        );
    }
    if found.mode() & 0o077 == 0 {
        findings.good("data", format!("{shown} is closed to other users"));
    } else {
        findings.warning(
            "data.open",
            format!("{shown} is open to other users"),
            format!("chmod 700 {shown}"),
        );
    }
    disk(findings, &place.data);
    days(findings, &place.data);
}

fn missing(findings: &mut Findings, place: &Place) {
    let shown = place.data.display();
    let above = place.data.ancestors().skip(1).find(|it| it.exists());
    if let Some(above) = above
        && access(above, Access::WRITE_OK | Access::EXEC_OK).is_err()
    {
        findings.bad(
            "data.not_writable",
            format!("{shown} is not there, and this user may not make it: {} cannot be written", above.display()),
            format!("make it for this user, or name another folder with --data; `toolcrib` makes it where {} may be written", above.display()),
        );
    } else {
        let message = format!("{shown} is not there yet; it is made when needed");
        findings.good("data", message);
    }
    disk(findings, above.unwrap_or(&place.workspace));
}

/// One of the files at the top of the data folder that belongs to another user.
fn strange_file(data: &Path, me: u32) -> Option<PathBuf> {
    let entries = std::fs::read_dir(data).ok()?;
    let entries = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let is_strange =
        |path: &PathBuf| std::fs::symlink_metadata(path).is_ok_and(|it| it.uid() != me);
    let mut strange: Vec<PathBuf> = entries.filter(is_strange).collect();
    strange.sort();
    strange.into_iter().next()
}

fn disk(findings: &mut Findings, folder: &Path) {
    let Ok(state) = rustix::fs::statvfs(folder) else {
        return;
    };
    let free = state.f_bavail.saturating_mul(state.f_frsize);
    let message = format!("{} MB free for {}", free >> 20, folder.display());
    let remedy = "make room, or move the data with --data; a full disk makes every call fail";
    match free {
        0..FREE_BYTES_LEAST => findings.bad("disk.full", message, remedy),
        FREE_BYTES_LEAST..FREE_BYTES_WISHED => findings.warning("disk.low", message, remedy),
        _ => findings.good("disk", message),
    }
}

/// A file of the log for a day that has not begun: the clock was ahead, or was set back.
fn days(findings: &mut Findings, data: &Path) {
    let tomorrow = app::time::rfc3339(Clock::System.now() + DAY_MS);
    let tomorrow = tomorrow.get(..10).unwrap_or_default();
    let entries = std::fs::read_dir(data.join("log"));
    let names = entries
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let day = |name: String| Some(name.strip_suffix(".db")?.to_owned());
    let newest = names.filter_map(day).filter(|day| day.len() == 10).max();
    if let Some(day) = newest.filter(|day| day.as_str() > tomorrow) {
        findings.warning(
            "clock.set_back",
            format!("the log has entries of {day}, which is in the future"),
            "check this machine's clock (NTP); if it is right now, the entries of that day are kept longer than the others",
        );
    }
}

/// Who has the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    Nobody,
    Answers,
    Silent,
}

/// Looks who has the workspace; whether that one answers.
pub(super) async fn owner(findings: &mut Findings, place: &Place) -> Owner {
    match app::owner::held_still(&place.workspace, &place.data) {
        Ok(Some(_free)) => {
            findings.good("owner", "no server runs on this workspace");
            return Owner::Nobody;
        }
        // It is not there, which is told already.
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return Owner::Nobody,
        Err(error) => findings.bad(
            "owner.lock",
            format!("the lock cannot be used: {error}"),
            "check the permissions of the data folder",
        ),
        Ok(None) => {
            let owner = place.owner();
            let tried = tokio::time::timeout(SOCKET_PATIENCE, connect_owner(place)).await;
            let why = match tried {
                Ok(Ok(_)) => {
                    let message = format!("{owner} owns the workspace and its socket answers");
                    findings.good("owner", message);
                    return Owner::Answers;
                }
                Ok(Err(error)) => error.to_string(),
                Err(_) => "it took too long".to_owned(),
            };
            findings.warning(
                "owner.silent",
                format!("{owner} owns the workspace but its socket does not answer: {why}"),
                "it may be a short command, or a server that starts or stops; wait, else end that process",
            );
        }
    }
    Owner::Silent
}

pub(super) fn clock(findings: &mut Findings) {
    let now = Clock::System.now();
    if CLOCK_SANE.contains(&now) {
        findings.good("clock", app::time::rfc3339(now));
    } else {
        findings.bad(
            "clock.wrong",
            format!("it shows {}", app::time::rfc3339(now)),
            "set the system's clock; ids, expiry and the log depend on it",
        );
    }
}

/// A server started from here would have this limit; that of one that runs is told by its process.
pub(super) fn open_files(findings: &mut Findings, config: &Config) {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let Some(most) = limit.current.filter(|most| *most < OPEN_FILES_LEAST) else {
        return;
    };
    findings.warning(
        "limits.open_files",
        format!(
            "a process may open {most} files here, and each of up to {} connections is one",
            config.count("server.connections_max")
        ),
        "`ulimit -n 65536` before `toolcrib serve`, or LimitNOFILE=65536 in its unit; else lower server.connections_max",
    );
}

/// What this machine can wall programs in with.
pub(super) fn sandbox(findings: &mut Findings) {
    match process::sandbox::missing().as_slice() {
        [] => findings.good("sandbox", "programs can be walled in (Landlock, seccomp)"),
        missing => findings.warning(
            "sandbox.missing",
            format!("this kernel has no {}", missing.join(" and no ")),
            "tools with sandbox \"require\" refuse to run here, and \"auto\" runs without walls: use a newer kernel",
        ),
    }
}
