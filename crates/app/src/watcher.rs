//! Watches the workspace's files; an edit on disk goes through the same queue as every other change.

use crate::shelf::{MCP_FILE, TOOLS_FILE};
use crate::writer::{Job, Write};
use arc_swap::ArcSwap;
use catalog::caller::{Caller, Role, Transport};
use catalog::tool::SYSTEM_USER;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// An editor writes in several steps; the file is looked at when it has been quiet for this long.
const QUIET: Duration = Duration::from_millis(40);

/// But not longer than this, however busy its folder is.
const QUIET_MAX: Duration = Duration::from_millis(400);

/// How long to wait before an edit that could not be taken over is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// How often the files are looked at although nothing was heard: a folder that was swapped for another tells nobody,
/// nor does a file on another machine.
const LOOK: Duration = Duration::from_secs(1);

/// More links than this lead in a circle.
const LINKS_MAX: usize = 40;

/// Keeps watching until it is dropped.
pub(crate) struct FileWatcher {
    task: tokio::task::JoinHandle<()>,
}

impl Drop for FileWatcher {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The files themselves as "who" asks.
pub(crate) fn file_caller() -> Arc<Caller> {
    let caller = Caller::of_user(SYSTEM_USER, "file", Role::Admin, Transport::Cli);
    Arc::new(caller)
}

pub(crate) fn watch(
    workspace: &Path,
    writer: mpsc::WeakSender<Job>,
) -> notify::Result<FileWatcher> {
    let workspace = workspace.canonicalize()?;
    let (seen, events) = mpsc::channel::<()>(1);
    let points = Arc::new(ArcSwap::from_pointee(points(&workspace)));
    let (watched, again) = (Arc::clone(&points), seen.clone());
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let ours = |event: &notify::Event| {
            let watched = watched.load();
            !event.kind.is_access() && event.paths.iter().any(|path| watched.contains(path))
        };
        // A full channel already says "look again"; so does an event that was lost.
        if event.map_or(true, |event| event.need_rescan() || ours(&event)) {
            let _ = seen.try_send(());
        }
    })?;
    watcher.watch(&workspace, RecursiveMode::NonRecursive)?;
    // What was saved between the first reading and this moment.
    let _ = again.try_send(());
    let following = Following {
        watcher,
        folders: BTreeMap::from([(workspace.clone(), inode(&workspace))]),
        seen: Vec::new(),
        workspace,
        points,
    };
    let task = tokio::spawn(following.run(events, again, writer));
    Ok(FileWatcher { task })
}

struct Following {
    watcher: RecommendedWatcher,
    workspace: PathBuf,
    /// The paths whose change matters.
    points: Arc<ArcSwap<BTreeSet<PathBuf>>>,
    /// The folders they stand in, which are what is watched. A watch stays with the folder when another takes its
    /// place, so each is remembered by its number as well.
    folders: BTreeMap<PathBuf, Inode>,
    /// What the files looked like when they were last read.
    seen: Vec<Option<Stamp>>,
}

/// Device and number of a folder, where there is one.
type Inode = Option<(u64, u64)>;

/// Device, number, length, and time of the last change of a file in seconds and nanoseconds.
type Stamp = (u64, u64, u64, i64, i64);

fn inode(path: &Path) -> Inode {
    let found = std::fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

impl Following {
    async fn run(
        mut self,
        mut events: mpsc::Receiver<()>,
        again: mpsc::Sender<()>,
        writer: mpsc::WeakSender<Job>,
    ) {
        loop {
            match tokio::time::timeout(LOOK, events.recv()).await {
                Ok(Some(())) => {}
                Ok(None) => return,
                Err(_) if self.looks_as_before() => continue,
                Err(_) => {}
            }
            let quiet = async {
                while tokio::time::timeout(QUIET, events.recv())
                    .await
                    .is_ok_and(|e| e.is_some())
                {}
            };
            let _ = tokio::time::timeout(QUIET_MAX, quiet).await;
            self.follow_links();
            self.seen = self.stamps();
            let Some(writer) = writer.upgrade() else {
                return;
            };
            let (reply, done) = oneshot::channel();
            let job = Job {
                write: Write::Reload,
                dry_run: false,
                caller: file_caller(),
                reply,
            };
            if writer.send(job).await.is_err() {
                return;
            }
            drop(writer);
            if let Ok(Err(_)) = done.await {
                tokio::time::sleep(AGAIN).await;
                let _ = again.try_send(());
            }
        }
    }

    fn stamps(&self) -> Vec<Option<Stamp>> {
        let stamp = |name: &str| {
            let found = std::fs::metadata(self.workspace.join(name)).ok()?;
            let changed = (found.mtime(), found.mtime_nsec());
            Some((found.dev(), found.ino(), found.len(), changed.0, changed.1))
        };
        [TOOLS_FILE, MCP_FILE].map(stamp).to_vec()
    }

    fn looks_as_before(&self) -> bool {
        let folders = self.folders.iter();
        self.stamps() == self.seen && folders.into_iter().all(|(path, is)| inode(path) == *is)
    }

    /// A link may point elsewhere now. Before the reading: what changes there afterwards is noticed.
    fn follow_links(&mut self) {
        let points = points(&self.workspace);
        let wanted: BTreeMap<PathBuf, Inode> = points
            .iter()
            .filter_map(|point| point.parent())
            .map(|folder| (folder.to_path_buf(), inode(folder)))
            .collect();
        for (folder, is) in &self.folders {
            if wanted.get(folder) != Some(is) {
                // It may be gone, and its watch with it.
                let _ = self.watcher.unwatch(folder);
            }
        }
        for (folder, is) in &wanted {
            if is.is_none() || self.folders.get(folder) == Some(is) {
                continue;
            }
            if let Err(error) = self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                tracing::warn!(folder = %folder.display(), %error, "edits in this folder are noticed later");
            }
        }
        self.points.store(Arc::new(points));
        self.folders = wanted;
    }
}

fn points(workspace: &Path) -> BTreeSet<PathBuf> {
    let mut points = BTreeSet::new();
    for name in [TOOLS_FILE, MCP_FILE] {
        points.extend(way(workspace, name));
    }
    points
}

/// Every link on the way to a file, and the file at its end.
fn way(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut way = Vec::new();
    let mut at = folder.to_path_buf();
    let mut left = vec![OsString::from(name)];
    while let Some(next) = left.pop() {
        if next == ".." {
            at.pop();
            continue;
        }
        let path = at.join(next);
        match std::fs::read_link(&path) {
            Ok(target) if way.len() < LINKS_MAX => {
                way.push(path);
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                let steps = target.components().rev().filter_map(|step| match step {
                    Component::Normal(_) | Component::ParentDir => Some(step.as_os_str().into()),
                    _ => None,
                });
                left.extend(steps);
            }
            _ => at = path,
        }
    }
    way.push(at);
    way
}
