//! The tables of a SQLite file. The list is read whole, which is quick; columns and keys only for the page that is shown.

use super::open::{Mode, open};
use super::perform::told;
use super::{Sqlite, run};
use crate::error::Error;
use crate::schema::{Column, ForeignKey, SchemaFilter, SchemaPage, Table, TableKind};
use crate::source::Call;
use rusqlite::{Connection, ErrorCode, Row};
use std::collections::HashSet;
use std::sync::Arc;

const PAGE_MAX: u64 = 500;

const FIND: &str = "\
SELECT name, type, CASE WHEN sql LIKE 'CREATE VIRTUAL TABLE%' THEN lower(sql) END FROM sqlite_schema
WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
const COLUMNS: &str = "SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_xinfo(?1) WHERE hidden <> 1 ORDER BY cid";
const KEYS: &str =
    "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?1) ORDER BY id, seq";

impl Sqlite {
    pub(crate) async fn schema(
        self: &Arc<Self>,
        filter: &SchemaFilter,
        call: &Call,
    ) -> Result<SchemaPage, Error> {
        let filter = filter.clone();
        run::within(self, call, run::Room::Usual, move |source, stop| {
            let connection = open(&source.config, Mode::Look)?;
            let watch = Arc::clone(stop);
            let found = connection
                .progress_handler(1000, Some(move || watch.now()))
                .and_then(|()| page(&connection, &filter));
            found.map_err(|error| told(&error, stop))
        })
        .await
    }
}

fn page(connection: &Connection, filter: &SchemaFilter) -> Result<SchemaPage, rusqlite::Error> {
    let found = found(connection)?;
    let search = filter.search.as_ref().map(|text| text.to_lowercase());
    let (mut tables, mut total) = (Vec::new(), 0);
    for (name, kind) in found {
        if filter.after.as_ref().is_some_and(|(_, last)| name <= *last) {
            continue;
        }
        if !fits(connection, filter, search.as_deref(), &name)? {
            continue;
        }
        let shown = filter.offset
            ..filter
                .offset
                .saturating_add(filter.limit.clamp(1, PAGE_MAX));
        if shown.contains(&total) {
            tables.push(describe(connection, name, &kind)?);
        }
        total += 1;
    }
    Ok(SchemaPage { tables, total })
}

/// Names and types, without the tables in which a virtual one keeps its own things.
fn found(connection: &Connection) -> Result<Vec<(String, String)>, rusqlite::Error> {
    let mut statement = connection.prepare(FIND)?;
    let mut rows = statement.query([])?;
    let (mut found, mut kept) = (Vec::new(), HashSet::new());
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        if let Some(made) = row.get::<_, Option<String>>(2)? {
            let parts = shadows(&made);
            let parts = parts.map(|part| format!("{}_{part}", name.to_ascii_lowercase()));
            kept.extend(parts);
        }
        found.push((name, row.get(1)?));
    }
    found.retain(|(name, _)| !kept.contains(&name.to_ascii_lowercase()));
    Ok(found)
}

/// What a virtual table calls the tables beside its own, by the text that makes it, in small letters.
fn shadows(made: &str) -> impl Iterator<Item = &'static str> + use<> {
    let module = made.split_once(" using ").map_or("", |(_, rest)| rest);
    let names: &[&str] = match module.split(['(', ' ']).next().unwrap_or_default() {
        "fts5" => &["data", "idx", "content", "docsize", "config"],
        "fts3" | "fts4" => &["content", "segments", "segdir", "docsize", "stat"],
        "rtree" | "rtree_i32" | "geopoly" => &["node", "rowid", "parent"],
        _ => &[],
    };
    // Where its text lies in a table of somebody else's, that one is theirs, whatever it is called.
    let is_theirs = module.replace(' ', "").contains("content=");
    let names = names.iter().copied();
    names.filter(move |name| *name != "content" || !is_theirs)
}

fn fits(
    connection: &Connection,
    filter: &SchemaFilter,
    search: Option<&str>,
    name: &str,
) -> Result<bool, rusqlite::Error> {
    if filter
        .table
        .as_ref()
        .is_some_and(|table| !table.eq_ignore_ascii_case(name))
    {
        return Ok(false);
    }
    let Some(search) = search else {
        return Ok(true);
    };
    if name.to_lowercase().contains(search) {
        return Ok(true);
    }
    let columns = columns(connection, name)?;
    Ok(columns
        .iter()
        .any(|(column, _)| column.name.to_lowercase().contains(search)))
}

/// The columns, each with its place in the primary key. A view that cannot be compiled has none to show, and must not
/// keep the others from being shown.
fn columns(connection: &Connection, name: &str) -> Result<Vec<(Column, i64)>, rusqlite::Error> {
    let mut statement = connection.prepare_cached(COLUMNS)?;
    let found = statement.query_map([name], |row| Ok((column(row)?, row.get::<_, i64>(4)?)))?;
    let columns: Result<Vec<_>, rusqlite::Error> = found.collect();
    match columns {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
            Err(error)
        }
        columns => Ok(columns.unwrap_or_default()),
    }
}

fn describe(connection: &Connection, name: String, kind: &str) -> Result<Table, rusqlite::Error> {
    let mut keys: Vec<(i64, String)> = Vec::new();
    let mut columns = Vec::new();
    for (column, key) in self::columns(connection, &name)? {
        if key > 0 {
            keys.push((key, column.name.clone()));
        }
        columns.push(column);
    }
    keys.sort();
    let foreign_keys = foreign_keys(connection, &name)?;
    Ok(Table {
        schema: None,
        name,
        kind: if kind == "view" {
            TableKind::View
        } else {
            TableKind::Table
        },
        comment: None,
        columns,
        primary_key: keys.into_iter().map(|(_, name)| name).collect(),
        foreign_keys,
    })
}

fn column(row: &Row<'_>) -> Result<Column, rusqlite::Error> {
    Ok(Column {
        name: row.get(0)?,
        data_type: row.get(1)?,
        nullable: row.get::<_, i64>(2)? == 0,
        default: row.get(3)?,
        comment: None,
    })
}

fn foreign_keys(connection: &Connection, table: &str) -> Result<Vec<ForeignKey>, rusqlite::Error> {
    let mut statement = connection.prepare_cached(KEYS)?;
    let found = statement.query_map([table], |row| {
        let to: Option<String> = row.get(3)?;
        Ok((
            row.get::<_, i64>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, String>(2)?,
            to,
        ))
    })?;
    let mut keys: Vec<(i64, ForeignKey)> = Vec::new();
    for part in found {
        let (id, references, from, to) = part?;
        if keys.last().is_none_or(|(last, _)| *last != id) {
            let key = ForeignKey {
                columns: Vec::new(),
                references,
                referenced_columns: Vec::new(),
            };
            keys.push((id, key));
        }
        if let Some((_, key)) = keys.last_mut() {
            key.columns.push(from);
            // Absent where the key points to the other's primary key.
            key.referenced_columns.extend(to);
        }
    }
    Ok(keys.into_iter().map(|(_, key)| key).collect())
}
