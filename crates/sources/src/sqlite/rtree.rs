//! R-Tree tables prepare statements that write as soon as one is opened, and look up how large SQLite takes it to be. No query
//! may do either, so they are opened beforehand, by a text of our own that the authorizer is not asked about.

use super::authorizer::for_reading;
use crate::error::Error;
use rusqlite::Connection;
use rusqlite::hooks::{AuthContext, Authorization};

/// Whether what went wrong may be that an R-Tree table was not open yet. They close with every change of the file's tables.
pub(super) fn may_sleep(error: &Error) -> bool {
    let told = error.to_string();
    told.contains("not authorized") || told.contains("prohibited")
}

/// Opens the R-Tree tables of the file for a connection that reads; false if there are none. An error means that the connection is not to be used again.
pub(super) fn wake(connection: &Connection) -> Result<bool, rusqlite::Error> {
    connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
    let woken = open_all(connection);
    connection.authorizer(Some(for_reading))?;
    // What kept us from it says less than what the query was refused with.
    Ok(woken.unwrap_or(false))
}

fn open_all(connection: &Connection) -> Result<bool, rusqlite::Error> {
    let mut list = connection.prepare(
        "SELECT name FROM main.sqlite_schema \
         WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE%USING%rtree%'",
    )?;
    let names = list.query_map([], |row| row.get(0))?;
    let names: Vec<String> = names.collect::<Result<_, _>>()?;
    for name in &names {
        // One that is broken is told of where a query names it.
        let quoted = name.replace('"', "\"\"");
        drop(connection.prepare(&format!("SELECT 1 FROM main.\"{quoted}\"")));
    }
    Ok(!names.is_empty())
}
