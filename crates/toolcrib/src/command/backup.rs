//! `toolcrib backup` and `toolcrib restore`.

use crate::client::Client;
use crate::config::Config;
use crate::context::{Context, start_failure};
use crate::out::{Failure, Result};
use crate::workspace::Place;
use app::backup::{CONFIG_FILE, VECTORS};
use app::owner::{OwnerLock, node_name};
use app::shelf::{MCP_FILE, TOOLS_FILE};
use executions::ExecutionLog;
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use store::Db;
use store::erasure::ErasureRow;
use store::replicas::GONE_AFTER_MS;

/// Whoever has the workspace makes the copy, so that it is whole.
pub(crate) async fn backup(context: &Context, folder: &Path) -> Result {
    let folder = std::path::absolute(folder).map_err(|e| failed(folder, &e))?;
    let body = json!({"folder": folder});
    Client::with(context, async |client| {
        client
            .request("POST", "/api/v1/admin/backup", Some(body))
            .await?
            .ok()
    })
    .await?;
    if context.out.json {
        context.out.value(&json!({"folder": folder}));
    }
    context.out.done(format!("copied to {}", folder.display()));
    // Not only for people at a terminal: a backup that opens nothing is found out too late.
    context.out.say("note: the keys that open its secrets are not in it; keep TOOLCRIB_SECRET_KEY or the key file (secret.key in the data folder) elsewhere");
    Ok(())
}

/// Puts a backup in place of what there is; that is kept beside it. In PostgreSQL, log entries made since the
/// backup stay.
pub(crate) async fn restore(context: &Context, folder: &Path) -> Result {
    let place = context.place()?;
    // Not the backup's configuration: it may name a database that is in use elsewhere.
    let config = context.config(&place, Vec::new())?;
    let brings_config = brings_config(folder, &place);
    let _ = context.start_logging(&config, false);
    let engine = engine_of(folder)?;
    let wanted = if config.database_url().is_some() {
        "postgres"
    } else {
        "sqlite"
    };
    if engine != wanted {
        return Err(Failure::failed(format!(
            "this is a backup from {engine}, but the configuration names {wanted}"
        ))
        .hint("set or unset DATABASE_URL so that both are the same"));
    }
    let unusable = |error| app::StartError::Data {
        path: place.data.clone(),
        error,
    };
    // A new machine has no workspace yet.
    fs::create_dir_all(&place.workspace).map_err(|e| failed(&place.workspace, &e))?;
    let lock = OwnerLock::acquire(&place.workspace, &place.data)
        .map_err(|error| start_failure(unusable(error), &place))?;
    let Some(_lock) = lock else {
        return Err(Failure::failed(format!(
            "{} is using {}",
            place.owner(),
            place.data.display()
        ))
        .hint("stop it first; a restore needs the workspace for itself"));
    };
    let erased = before_restore(&place, &config, context).await?;
    let aside = set_aside(&place).map_err(|e| failed(&place.data, &e))?;
    let kept =
        |failure: Failure| failure.hint(format!("what was there before is in {}", aside.display()));
    copy_files(folder, &place).map_err(|e| kept(failed(folder, &e)))?;
    let (rows, erased) = restore_databases(context, folder, &place, &config, &erased)
        .await
        .map_err(kept)?;
    let out = &context.out;
    if erased > 0 {
        out.say(format!("{erased} people who were erased since the backup are erased again; the logs follow when a server starts. What they own is theirs under the pseudonym: `toolcrib users reassign` gives it to somebody else"));
    }
    if out.json {
        out.value(&json!({
            "workspace": place.workspace, "engine": engine, "executions": rows, "before": aside,
            "config_restored": brings_config, "erased_again": erased,
        }));
    } else {
        // Not only for people at a terminal: this is the place to see that it was the wrong workspace.
        out.say(format!(
            "restored into {}, with {rows} log entries; what was there before is in {}",
            place.workspace.display(),
            aside.display()
        ));
    }
    let (own, theirs) = (place.config_file(), folder.join(CONFIG_FILE));
    if brings_config {
        out.say(format!("{} was taken from the backup", own.display()));
    } else if theirs.exists() {
        out.say(format!(
            "{} was left as it is; the one of the backup is {}",
            own.display(),
            theirs.display()
        ));
    }
    Ok(())
}

/// The configuration belongs to the machine: a backup's is taken only where there is none.
fn brings_config(folder: &Path, place: &Place) -> bool {
    folder.join(CONFIG_FILE).exists() && !place.config_file().exists()
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::failed(format!("{}: {error}", path.display()))
}

/// The engine a backup was made from; everything it must hold is there.
fn engine_of(folder: &Path) -> Result<String> {
    let incomplete = |file: &str| {
        let why = format!(
            "{} is not a complete backup: it has no valid {file}",
            folder.display()
        );
        Failure::failed(why).hint("name the folder that was given to `toolcrib backup`")
    };
    let text = fs::read_to_string(folder.join("backup.json"));
    let about = text
        .ok()
        .and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let engine = about.and_then(|about| about["engine"].as_str().map(str::to_owned));
    let engine = engine.ok_or_else(|| incomplete("backup.json"))?;
    let registry = if engine == "sqlite" {
        "registry.db"
    } else {
        "tools.jsonl"
    };
    for file in [TOOLS_FILE, MCP_FILE, registry, "log"] {
        if !folder.join(file).exists() {
            return Err(incomplete(file));
        }
    }
    Ok(engine)
}

/// Moves what there is into a new folder of the data folder; a restore must be possible to undo.
fn set_aside(place: &Place) -> io::Result<PathBuf> {
    let name = |number: u32| place.data.join(format!("before-restore-{number}"));
    let aside = (1..)
        .map(name)
        .find(|path| !path.exists())
        .unwrap_or_else(|| name(0));
    fs::create_dir_all(&aside)?;
    for file in [
        "registry.db",
        "registry.db-wal",
        "registry.db-shm",
        "log",
        VECTORS,
    ] {
        move_if_there(&place.data.join(file), &aside.join(file))?;
    }
    for file in [TOOLS_FILE, MCP_FILE] {
        move_if_there(&place.workspace.join(file), &aside.join(file))?;
    }
    Ok(aside)
}

fn move_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // The data folder may lie on another disk than the workspace.
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            fs::copy(from, to)?;
            fs::remove_file(from)
        }
        other => other,
    }
}

fn copy_files(folder: &Path, place: &Place) -> io::Result<()> {
    fs::create_dir_all(&place.workspace)?;
    for file in [TOOLS_FILE, MCP_FILE] {
        // Not `fs::copy`: a backup is private, but these are files that people share and edit.
        fs::write(place.workspace.join(file), fs::read(folder.join(file))?)?;
    }
    if brings_config(folder, place) {
        fs::copy(folder.join(CONFIG_FILE), place.config_file())?;
    }
    if let Ok(entries) = fs::read_dir(folder.join(VECTORS)) {
        let target = place.data.join(VECTORS);
        fs::create_dir_all(&target)?;
        for entry in entries {
            let entry = entry?;
            fs::copy(entry.path(), target.join(entry.file_name()))?;
        }
    }
    let registry = folder.join("registry.db");
    if registry.exists() {
        let target = place.data.join("registry.db");
        fs::copy(&registry, &target)?;
        fs::File::open(&target)?.sync_all()?;
    }
    Ok(())
}

/// Nobody else may work on what is replaced. Who is erased in what there is now, where that can still be read.
async fn before_restore(
    place: &Place,
    config: &Config,
    context: &Context,
) -> Result<Vec<ErasureRow>> {
    if let Some(url) = config.database_url() {
        let store = Db::open_postgres(&url).await.map_err(said)?;
        let living = store.living_replicas().await;
        store.close().await;
        let living = living.map_err(said)?;
        if living.is_empty() {
            // Read with everything else, in the transaction that replaces it.
            return Ok(Vec::new());
        }
        let why = format!(
            "servers work on this database: {}",
            store::replicas::named(&living)
        );
        let seconds = GONE_AFTER_MS / 1_000;
        return Err(Failure::failed(why).hint(format!(
            "stop them first; one that ended without a word counts as gone after {seconds} seconds"
        )));
    }
    let file = place.data.join("registry.db");
    if !file.exists() {
        return Ok(Vec::new());
    }
    let erased = store::backup::erased_in(&file).await;
    Ok(erased.unwrap_or_else(|error| {
        context.out.warn(format!(
            "who was erased since the backup cannot be read from {}: {error}; erase them again",
            file.display()
        ));
        Vec::new()
    }))
}

/// How many entries of the log there are, and how many people are erased again.
async fn restore_databases(
    context: &Context,
    folder: &Path,
    place: &Place,
    config: &Config,
    erased: &[ErasureRow],
) -> Result<(u64, usize)> {
    let options = context.app_options(place, config, false);
    let node = node_name(&place.data).map_err(|e| failed(&place.data, &e))?;
    let (log, again) = match config.database_url() {
        None => {
            let store = Db::open_sqlite(&place.data.join("registry.db")).await;
            let store = store.map_err(said)?;
            store.adopt_calls(&node).await.map_err(said)?;
            let again = store.erase_again(erased).await.map_err(said)?;
            store.close().await;
            let folder = place.data.join("log");
            let log = ExecutionLog::open_sqlite(folder, options.log, options.clock).await;
            (log, again)
        }
        Some(url) => {
            let store = Db::open_postgres(&url).await.map_err(said)?;
            let again = store.restore_from(folder).await.map_err(said)?;
            store.adopt_calls(&node).await.map_err(said)?;
            store.close().await;
            let pool = Db::log_pool(&url).await.map_err(said)?;
            let log = ExecutionLog::open_postgres(pool, options.log, options.clock).await;
            (log, again)
        }
    };
    let log = log.map_err(said)?;
    let entries = folder.join("log");
    let is_empty = fs::read_dir(&entries).map_or(true, |mut entries| entries.next().is_none());
    let rows = if is_empty {
        0
    } else {
        log.restore_from(&entries).await.map_err(said)?
    };
    log.close().await.map_err(said)?;
    Ok((rows, again))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape `map_err` asks for"
)]
fn said(error: impl ToString) -> Failure {
    Failure::failed(error.to_string())
}
