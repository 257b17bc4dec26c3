//! The workspace opened on a copy of its data that is thrown away: whoever only looks must change nothing, and a server that is
//! opened writes (tables, keys, its name, what it finds in files).

use crate::client::Client;
use crate::config::Config;
use crate::context::{Context, start_failure};
use crate::out::{Failure, Result};
use crate::workspace::Place;
use app::{App, StartError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

const OPEN_MAX: Duration = Duration::from_secs(30);

/// A folder of our own, gone when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        let name = format!("toolcrib-doctor-{}", uuid::Uuid::new_v4().simple());
        let path = std::env::temp_dir().join(name);
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Why nothing could be opened, with the name that `doctor` has for it.
pub(super) struct Fault {
    pub(super) id: &'static str,
    pub(super) failure: Failure,
}

/// Asks what is there; `work` is told the same as by a server that runs.
pub(super) async fn with<T>(
    context: &Context,
    place: &Place,
    config: &Config,
    work: impl AsyncFnOnce(&Client) -> Result<T>,
) -> std::result::Result<T, Fault> {
    let fault = |failure| Fault {
        id: "server.start",
        failure,
    };
    let unusable = |error: io::Error| {
        let why = format!("what is there could not be copied to look at it: {error}");
        fault(Failure::failed(why).hint(
            "check the permissions of the data folder and the room in the temporary one (TMPDIR)",
        ))
    };
    let folder = Folder::new().map_err(unusable)?;
    copy(place, &folder.0).map_err(unusable)?;
    let aside = Place {
        data: folder.0.clone(),
        ..place.clone()
    };
    let mut options = context.app_options(&aside, config, false);
    // What is in PostgreSQL is looked at by itself: to open it is to change it.
    options.database_url = None;
    let key_file = context.key_file(place, config);
    if key_file.exists() {
        options.sealing.file = key_file;
    }
    if config.database_url().is_some() {
        // The keys that are needed there have been compared already.
        options.sealing.text = None;
        options.sealing.file = folder.0.join("unused.key");
    }
    let _ = context.start_logging(config, false);
    let opening = tokio::time::timeout(OPEN_MAX, App::open(options)).await;
    let Ok(opened) = opening else {
        let why = Failure::failed("the workspace could not be opened within 30 s");
        return Err(fault(why.hint(
            "look at what is slow here: the disk, or the machine as a whole",
        )));
    };
    let app = opened.map_err(|error| explained(error, place, &folder.0))?;
    let client = Client::local(app, config);
    let done = work(&client).await;
    client.close().await;
    done.map_err(fault)
}

/// The registry and its journal, while nobody writes to them; what is only read is not copied.
fn copy(place: &Place, to: &Path) -> io::Result<()> {
    let held = app::owner::held_still(&place.workspace, &place.data)?;
    let held = held.ok_or_else(|| io::Error::other("another process has just taken it"))?;
    for name in ["registry.db", "registry.db-wal"] {
        match std::fs::copy(place.data.join(name), to.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    drop(held);
    for name in [app::backup::VECTORS, "python"] {
        if place.data.join(name).exists() {
            symlink(place.data.join(name), to.join(name))?;
        }
    }
    Ok(())
}

fn explained(error: StartError, place: &Place, aside: &Path) -> Fault {
    let id = match &error {
        StartError::Sealing(_) => "secrets.key",
        StartError::Store(store::Error::Newer(_)) => "database.newer",
        StartError::Store(_) => "database.damaged",
        _ => "server.start",
    };
    let mut failure = start_failure(error, place);
    let (from, to) = (
        aside.display().to_string(),
        place.data.display().to_string(),
    );
    for text in failure.errors.iter_mut().chain(&mut failure.hints) {
        *text = text.replace(&from, &to);
    }
    Fault { id, failure }
}
