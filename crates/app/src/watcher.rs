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
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let ours = |event: &notify::Event| {
            let named = |path: &std::path::PathBuf| {
                path.file_name()
                    .is_some_and(|name| name == TOOLS_FILE || name == MCP_FILE)
            };
            !event.kind.is_access() && event.paths.iter().any(named)
        };
        // A full channel already says "look again".
        if event.is_ok_and(|event| ours(&event)) {
            let _ = seen.try_send(());
        }
    })?;
    watcher.watch(workspace, RecursiveMode::NonRecursive)?;
    tokio::spawn(async move {
        while events.recv().await.is_some() {
            while tokio::time::timeout(QUIET, events.recv())
                .await
                .is_ok_and(|e| e.is_some())
            {}
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
            let _ = done.await;
        }
    });
    Ok(FileWatcher { _watcher: watcher })
}
