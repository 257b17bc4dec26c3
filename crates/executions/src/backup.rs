//! Backups: day files of SQLite, or one file of JSON lines a day from PostgreSQL. Either engine restores both.

use crate::day::Day;
use crate::error::LogError;
use crate::log::{Engine, ExecutionLog, blocking};
use crate::postgres::Postgres;
use crate::query::{Filter, Search};
use crate::record::{Execution, Status};
use crate::sqlite;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Rows in flight at once while restoring or copying.
const CHUNK_ROWS: usize = 256;

impl ExecutionLog {
    /// Copies the log into a folder that holds no backup yet, while writing goes on.
    pub async fn backup_to(&self, folder: impl Into<PathBuf>) -> Result<(), LogError> {
        let target: PathBuf = folder.into();
        let checked = target.clone();
        blocking(move || empty_folder(&checked)).await?;
        match &self.engine {
            Engine::Sqlite(source, _) => {
                let source = self.complete(source).await?;
                blocking(move || source.backup_to(&target)).await
            }
            Engine::Postgres(postgres) => {
                for day in postgres.days().await? {
                    copy_lines(postgres, day, &target).await?;
                }
                Ok(())
            }
        }
    }

    /// Adds the rows of a backup to this log and says how many they were; rows already there are replaced by the backup's.
    pub async fn restore_from(&self, folder: impl Into<PathBuf>) -> Result<u64, LogError> {
        let source: PathBuf = folder.into();
        let listed = source.clone();
        let files = blocking(move || backup_files(&listed)).await?;
        if files.is_empty() {
            return Err(LogError::invalid(format!(
                "{} holds no backup of the execution log",
                source.display()
            )));
        }
        let mut restored = 0;
        for path in files {
            let lines = path
                .extension()
                .is_some_and(|extension| extension == "jsonl");
            restored += if lines {
                self.restore_lines(path).await?
            } else {
                self.restore_day_file(path).await?
            };
        }
        Ok(restored)
    }

    async fn restore_day_file(&self, path: PathBuf) -> Result<u64, LogError> {
        let mut restored = 0;
        let mut after = Uuid::from_u128(0x7000 << 64);
        loop {
            let search = Search::new(Filter {
                after: Some(after),
                limit: Some(CHUNK_ROWS),
                ..Filter::default()
            })?;
            let file = path.clone();
            let rows = blocking(move || sqlite::page_of_file(&file, &search))
                .await?
                .items;
            let Some(last) = rows.last() else {
                return Ok(restored);
            };
            after = last.id;
            restored += self.restore_rows(rows).await?;
        }
    }

    async fn restore_lines(&self, path: PathBuf) -> Result<u64, LogError> {
        let mut restored = 0;
        let opened = path.clone();
        let mut lines = blocking(move || Lines::open(opened)).await?;
        loop {
            let (rows, rest) = blocking(move || lines.chunk()).await?;
            if rows.is_empty() {
                return Ok(restored);
            }
            restored += self.restore_rows(rows).await?;
            lines = rest;
        }
    }

    async fn restore_rows(&self, rows: Vec<Execution>) -> Result<u64, LogError> {
        let mut tasks = tokio::task::JoinSet::new();
        for mut row in rows {
            // Nobody runs it any more.
            if row.status == Status::Started {
                row.mark_interrupted();
            }
            let log = self.clone();
            tasks.spawn(async move { log.restore(Box::new(row)).await });
        }
        let mut restored = 0;
        for result in tasks.join_all().await {
            result?;
            restored += 1;
        }
        Ok(restored)
    }
}

fn empty_folder(path: &Path) -> Result<(), LogError> {
    std::fs::create_dir_all(path).map_err(|error| LogError::file(path, &error))?;
    if backup_files(path)?.is_empty() {
        return Ok(());
    }
    Err(LogError::invalid(format!(
        "{} already holds a backup of the execution log; name another folder",
        path.display()
    )))
}

/// The files of a backup, oldest day first.
fn backup_files(folder: &Path) -> Result<Vec<PathBuf>, LogError> {
    let failed = |error: std::io::Error| LogError::file(folder, &error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let of = path
            .file_name()
            .and_then(|name| Day::of_file(name.to_str()?));
        if of.is_some_and(|(_, rest)| rest == ".db" || rest == ".jsonl") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Writes one day of PostgreSQL as JSON lines.
async fn copy_lines(postgres: &Postgres, day: Day, target: &Path) -> Result<(), LogError> {
    let path = target.join(day.lines_name());
    let part = path.with_extension("part");
    let made = part.clone();
    let mut out = blocking(move || {
        std::fs::OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .mode(0o600)
            .open(&made)
            .map(BufWriter::new)
            .map_err(|error| LogError::file(&made, &error))
    })
    .await?;
    let mut after = Uuid::from_u128(0x7000 << 64);
    loop {
        let (since, until) = (Some(day.start()), Some(day.end()));
        let filter = Filter {
            since,
            until,
            after: Some(after),
            limit: Some(CHUNK_ROWS),
            ..Filter::default()
        };
        let rows = postgres.list(Search::new(filter)?).await?.items;
        let Some(last) = rows.last() else { break };
        after = last.id;
        let file = part.clone();
        out = blocking(move || {
            for row in &rows {
                let line = serde_json::to_string(row)
                    .map_err(|error| LogError::damaged(error.to_string()))?;
                writeln!(out, "{line}").map_err(|error| LogError::file(&file, &error))?;
            }
            Ok(out)
        })
        .await?;
    }
    blocking(move || {
        let synced = out
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)
            .and_then(|file| file.sync_all());
        synced
            .and_then(|()| std::fs::rename(&part, &path))
            .map_err(|error| LogError::file(&path, &error))
    })
    .await
}

/// A file of JSON lines while it is being read.
struct Lines {
    path: PathBuf,
    reader: BufReader<File>,
    number: usize,
}

impl Lines {
    fn open(path: PathBuf) -> Result<Self, LogError> {
        let file = File::open(&path).map_err(|error| LogError::file(&path, &error))?;
        Ok(Lines {
            path,
            reader: BufReader::new(file),
            number: 0,
        })
    }

    /// The next rows; none at the end.
    fn chunk(mut self) -> Result<(Vec<Execution>, Self), LogError> {
        let mut rows = Vec::new();
        let mut line = String::new();
        while rows.len() < CHUNK_ROWS {
            line.clear();
            self.number += 1;
            if self
                .reader
                .read_line(&mut line)
                .map_err(|error| LogError::file(&self.path, &error))?
                == 0
            {
                break;
            }
            rows.push(serde_json::from_str(&line).map_err(|error| {
                LogError::damaged(format!(
                    "{} line {}: not an execution: {error}",
                    self.path.display(),
                    self.number
                ))
            })?);
        }
        Ok((rows, self))
    }
}
