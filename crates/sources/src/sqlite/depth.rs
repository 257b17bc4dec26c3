//! Generated columns, checks and triggers of a file may call functions that go as deep as a path is long. SQLite asks nobody
//! about those, and no text tells of them: on a thread of the usual size a long path in a row ended the process.

use super::Sqlite;
use super::open::{self, Identity, Mode};
use super::perform::Work;
use crate::error::Error;
use rusqlite::Connection;
use std::sync::PoisonError;

/// All functions that go deep, and some more: a comment that names one costs no more than a thread.
const DEPTH: &str = "\
SELECT coalesce(max(type = 'table'), 0), count(*) > 0 FROM main.sqlite_schema
WHERE sql LIKE '%json%_set%' OR sql LIKE '%json%_insert%'";

/// What a file was found to hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Depth {
    identity: Identity,
    /// Its tables have not changed for as long as this is the same.
    version: i64,
    in_tables: bool,
    anywhere: bool,
}

impl Sqlite {
    /// Whether what the file itself does may need more stack than a thread usually has.
    pub(super) fn hides_depth(&self, connection: &Connection, work: Work) -> Result<bool, Error> {
        let identity = self.glance()?;
        let version = connection.pragma_query_value(None, "schema_version", |row| row.get(0));
        // What keeps us from it keeps the query from the file too, which then says so.
        let Ok(version) = version else {
            return Ok(false);
        };
        let known = *self.depth.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.filter(|it| it.identity == identity && it.version == version);
        let depth = match known {
            Some(depth) => depth,
            None => self.sound(identity, version)?,
        };
        Ok(match work {
            // Views are asked about as any text is, and triggers do not run.
            Work::Read | Work::Explain => depth.in_tables,
            Work::Write | Work::LookAtWrite => depth.anywhere,
        })
    }

    fn sound(&self, identity: Identity, version: i64) -> Result<Depth, Error> {
        let looking = open::open(&self.config, Mode::Look)?;
        let found = looking.query_row(DEPTH, [], |row| Ok((row.get(0)?, row.get(1)?)));
        // A file that cannot be read is told of by the query; until then nothing is known.
        let Ok((in_tables, anywhere)) = found else {
            return Ok(Depth {
                identity,
                version,
                in_tables: true,
                anywhere: true,
            });
        };
        let depth = Depth {
            identity,
            version,
            in_tables,
            anywhere,
        };
        *self.depth.lock().unwrap_or_else(PoisonError::into_inner) = Some(depth);
        Ok(depth)
    }
}
