//! Watches the workspace's files; an edit on disk goes through the same queue as every other change.

use crate::shelf::{MCP_FILE, TOOLS_FILE};
use crate::writer::{Job, Write};
use catalog::caller::{Caller, Scopes, Transport};
use catalog::tool::SYSTEM_USER;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// An editor writes in several steps; the file is looked at when it has been quiet for this long.
const QUIET: Duration = Duration::from_millis(40);

/// But not longer than this, however busy its folder is.
const QUIET_MAX: Duration = Duration::from_millis(400);

/// How long to wait before an edit that could not be taken over is tried again.
const AGAIN: Duration = Duration::from_secs(1);

/// Keeps watching until it is dropped.
pub(crate) struct FileWatcher {
    _watcher: RecommendedWatcher,
}

/// The files themselves as "who" asks.
pub(crate) fn file_caller() -> Arc<Caller> {
    Arc::new(Caller {
        user: SYSTEM_USER,
        user_name: "file".into(),
        key: None,
        agent: None,
        run: None,
        toolset: None,
        transport: Transport::Cli,
        scopes: Scopes::all(),
    })
}

pub(crate) fn watch(
    workspace: &Path,
    writer: mpsc::WeakSender<Job>,
) -> notify::Result<FileWatcher> {
    let (seen, mut events) = mpsc::channel::<()>(1);
    let first = seen.clone();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let ours = |event: &notify::Event| {
            let named = |path: &std::path::PathBuf| {
                path.file_name()
                    .is_some_and(|name| name == TOOLS_FILE || name == MCP_FILE)
            };
            !event.kind.is_access() && event.paths.iter().any(named)
        };
        // A full channel already says "look again"; so does an event that was lost.
        if event.map_or(true, |event| event.need_rescan() || ours(&event)) {
            let _ = seen.try_send(());
        }
    })?;
    watcher.watch(workspace, RecursiveMode::NonRecursive)?;
    // What was saved between the first reading and this moment.
    let _ = first.try_send(());
    tokio::spawn(async move {
        while events.recv().await.is_some() {
            let quiet = async {
                while tokio::time::timeout(QUIET, events.recv())
                    .await
                    .is_ok_and(|e| e.is_some())
                {}
            };
            let _ = tokio::time::timeout(QUIET_MAX, quiet).await;
            let Some(writer) = writer.upgrade() else {
                return;
            };
            let (reply, done) = oneshot::channel();
            let job = Job {
                write: Write::Reload,
                caller: file_caller(),
                reply,
            };
            if writer.send(job).await.is_err() {
                return;
            }
            drop(writer);
            if let Ok(Err(_)) = done.await {
                tokio::time::sleep(AGAIN).await;
                let _ = first.try_send(());
            }
        }
    });
    Ok(FileWatcher { _watcher: watcher })
}
