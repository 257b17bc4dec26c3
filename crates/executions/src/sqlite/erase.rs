//! A person taken out of day files, and out of what was set aside beside them. Nothing of it stays in pages that are free, nor in
//! the write-ahead logs.

use super::folder::{Folder, private_file};
use super::line::{read, write_line};
use crate::day::Day;
use crate::erase::{COUNT, ERASE, ERASED, Erased};
use crate::error::LogError;
use rusqlite::Connection;
use std::path::Path;

// All of it blocks: it runs off the async threads, and not on the one that writes.
impl Folder {
    pub(crate) fn calls_of(&self, name: &str, until: i64) -> Result<u64, LogError> {
        let mut count = 0;
        for day in self.days()? {
            let span = (name, day.start(), day.end().min(until));
            let found = self.read(day, |connection| Ok(counted(connection, span)?))?;
            count += found.unwrap_or_default();
        }
        Ok(u64::try_from(count).unwrap_or_default())
    }

    /// How many rows there were, and the days that the writer itself has to write anew, because it is writing to them. Every day
    /// is for itself: one that cannot be changed keeps no other from it, and is told at the end.
    pub(crate) fn erase(
        &self,
        who: &Erased,
        first: Day,
        today: Day,
    ) -> Result<(u64, Vec<Day>), LogError> {
        let (mut count, mut failed, mut rest) = (0, None, Vec::new());
        for day in self.days()?.range(first..) {
            let done = self.erase_day(who, *day).and_then(|rows| {
                match (rows, *day < today) {
                    (0, _) => {}
                    (_, true) => self.compact(*day)?,
                    (_, false) => rest.push(*day),
                }
                Ok(rows)
            });
            match done {
                Ok(rows) => count += rows,
                Err(error) => failed = Some(error.of_file(&self.file(*day))),
            }
        }
        for (day, path) in self.set_aside()? {
            if day >= first
                && let Err(error) = erase_lines(who, &path)
            {
                failed = Some(error);
            }
        }
        match failed {
            None => Ok((count, rest)),
            Some(error) => Err(error),
        }
    }

    fn erase_day(&self, who: &Erased, day: Day) -> Result<u64, LogError> {
        let until = day.end().min(who.until.saturating_add(1));
        let span = (&*who.name, day.start(), until);
        let found = self.read(day, |connection| Ok(counted(connection, span)?))?;
        if found.unwrap_or_default() == 0 {
            return Ok(0);
        }
        let connection = self.open_writer(day)?;
        let mut count = 0;
        for (from, to) in who.spans(day) {
            let values = (&*who.pseudonym, ERASED, &*who.name, from, to);
            count += connection.execute(ERASE, values)? as u64;
        }
        Ok(count)
    }

    /// Writes the file of a day anew: what was in it is still there, in pages that are free, between rows and in the
    /// write-ahead log. Whoever writes to it waits.
    pub(crate) fn compact(&self, day: Day) -> Result<(), LogError> {
        let connection = self.open_writer(day)?;
        connection.execute_batch("VACUUM")?;
        let is_busy: i64 =
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get(0))?;
        match is_busy {
            0 => Ok(()),
            _ => Err(LogError::unavailable(
                "somebody reads it, so what was erased is still in its write-ahead log",
            )),
        }
    }
}

fn counted(connection: &Connection, span: (&str, i64, i64)) -> rusqlite::Result<i64> {
    connection.query_row(COUNT, span, |row| row.get(0))
}

/// Written anew and put in place of what is there.
fn erase_lines(who: &Erased, path: &Path) -> Result<(), LogError> {
    let failed = |error| LogError::file(path, &error);
    let text = std::fs::read(path).map_err(failed)?;
    let mut rows = read(&[(&path.to_owned(), text)]).all;
    let taken = rows
        .values_mut()
        .filter_map(|row| who.take_out(row).then_some(()));
    if taken.count() == 0 {
        return Ok(());
    }
    let mut text = Vec::new();
    rows.values().for_each(|row| write_line(&mut text, row));
    text.push(b'\n');
    let part = path.with_extension("part");
    let _ = std::fs::remove_file(&part);
    private_file(&part)?;
    std::fs::write(&part, &text)
        .and_then(|()| std::fs::File::open(&part)?.sync_all())
        .and_then(|()| std::fs::rename(&part, path))
        .map_err(failed)
}
