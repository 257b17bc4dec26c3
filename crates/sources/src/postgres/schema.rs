//! The tables of a PostgreSQL database: found first, described a page at a time.

use super::Postgres;
use super::parameter::Parameter;
use super::run::{Reading, Work};
use crate::error::Error;
use crate::schema::{Column, ForeignKey, SchemaFilter, SchemaPage, Table, TableKind};
use crate::source::Call;
use serde::Deserialize;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

const PAGE_MAX: u64 = 500;

/// $1 is a pattern or null, $2 a name or null, $5 and $6 are schema and name of the last table before or null.
const FIND: &str = "\
SELECT c.oid::bigint AS oid, n.nspname AS schema, c.relname AS name, c.relkind::text AS kind,
  pg_catalog.obj_description(c.oid, 'pg_class') AS comment, pg_catalog.count(*) OVER () AS total
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' AND NOT c.relispartition
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
  AND (pg_catalog.has_table_privilege(c.oid, 'SELECT') OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT'))
  AND ($5::text IS NULL OR (n.nspname, c.relname) > ($5::text::name, $6::text::name))
  AND ($2::text IS NULL OR c.relname = $2 OR n.nspname || '.' || c.relname = $2)
  AND ($1::text IS NULL OR c.relname ILIKE $1 OR n.nspname ILIKE $1
    OR pg_catalog.obj_description(c.oid, 'pg_class') ILIKE $1
    OR EXISTS (SELECT 1 FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      AND pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT')
      AND (a.attname ILIKE $1 OR pg_catalog.col_description(c.oid, a.attnum) ILIKE $1)))
ORDER BY 2, 3 LIMIT $3::bigint OFFSET $4::bigint";

/// Those that the role may read: rights may be given for columns alone.
const COLUMNS: &str = "\
SELECT a.attrelid::bigint AS oid, a.attname AS name, pg_catalog.format_type(a.atttypid, a.atttypmod) AS data_type,
  NOT a.attnotnull AS nullable, pg_catalog.pg_get_expr(d.adbin, d.adrelid) AS default,
  pg_catalog.col_description(a.attrelid, a.attnum) AS comment
FROM pg_catalog.pg_attribute a
LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = ANY($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
  AND pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT')
ORDER BY a.attrelid, a.attnum";

const KEYS: &str = "\
SELECT k.conrelid::bigint AS oid, k.contype::text AS kind,
  ARRAY(SELECT a.attname::text FROM pg_catalog.unnest(k.conkey) WITH ORDINALITY u(num, ord)
    JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.num ORDER BY u.ord) AS columns,
  n.nspname || '.' || c.relname AS references,
  ARRAY(SELECT a.attname::text FROM pg_catalog.unnest(k.confkey) WITH ORDINALITY u(num, ord)
    JOIN pg_catalog.pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.num ORDER BY u.ord) AS referenced_columns
FROM pg_catalog.pg_constraint k
LEFT JOIN pg_catalog.pg_class c ON c.oid = k.confrelid
LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE k.conrelid = ANY($1::oid[]) AND k.contype IN ('p', 'f')
  AND NOT EXISTS (SELECT 1 FROM pg_catalog.unnest(k.conkey) u(num)
    WHERE NOT pg_catalog.has_column_privilege(k.conrelid, u.num, 'SELECT'))
ORDER BY k.conrelid, k.conname";

#[derive(Deserialize)]
struct FoundTable {
    oid: i64,
    schema: String,
    name: String,
    kind: String,
    comment: Option<String>,
    total: u64,
}

#[derive(Deserialize)]
struct FoundColumn {
    oid: i64,
    name: String,
    data_type: String,
    nullable: bool,
    default: Option<String>,
    comment: Option<String>,
}

#[derive(Deserialize)]
struct FoundKey {
    oid: i64,
    kind: String,
    columns: Vec<String>,
    references: Option<String>,
    referenced_columns: Vec<String>,
}

impl Postgres {
    pub(crate) async fn schema(
        self: &Arc<Self>,
        filter: &SchemaFilter,
        call: &Call,
    ) -> Result<SchemaPage, Error> {
        self.enter(call).await?;
        let pattern = filter.search.as_deref().map(pattern);
        let (last_schema, last_name) = filter.after.clone().unzip();
        let parameters = [
            Parameter::new("search", &json!(pattern), false)?,
            Parameter::new("table", &json!(filter.table), false)?,
            Parameter::new("limit", &json!(filter.limit.clamp(1, PAGE_MAX)), false)?,
            Parameter::new("offset", &json!(filter.offset), false)?,
            Parameter::new("after", &json!(last_schema), false)?,
            Parameter::new("after", &json!(last_name), false)?,
        ];
        let found: Vec<FoundTable> = self.look(FIND, parameters.into(), call).await?;
        let total = found.first().map_or(0, |table| table.total);
        let oids: Vec<i64> = found.iter().map(|table| table.oid).collect();
        let oids = Parameter::new("oids", &json!(oids), false)?;
        // With the path of the role, so that types are named as its queries may name them.
        let once = Work::Read(Reading::Once);
        let columns: Vec<FoundColumn> = self
            .look_by(once, COLUMNS, vec![oids.clone()], call)
            .await?;
        let keys: Vec<FoundKey> = self.look(KEYS, vec![oids], call).await?;
        Ok(SchemaPage {
            tables: put_together(found, columns, keys),
            total,
        })
    }
}

/// Text to look for anywhere, with nothing in it that means more than itself.
fn pattern(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('%', "\\%")
        .replace('_', "\\_");
    format!("%{escaped}%")
}

fn put_together(
    found: Vec<FoundTable>,
    columns: Vec<FoundColumn>,
    keys: Vec<FoundKey>,
) -> Vec<Table> {
    let mut index = HashMap::new();
    let mut tables = Vec::with_capacity(found.len());
    for table in found {
        index.insert(table.oid, tables.len());
        tables.push(Table {
            schema: Some(table.schema),
            name: table.name,
            kind: match table.kind.as_str() {
                "v" => TableKind::View,
                "m" => TableKind::MaterializedView,
                "f" => TableKind::ForeignTable,
                _ => TableKind::Table,
            },
            comment: table.comment,
            columns: Vec::new(),
            primary_key: Vec::new(),
            foreign_keys: Vec::new(),
        });
    }
    for column in columns {
        if let Some(at) = index.get(&column.oid) {
            tables[*at].columns.push(Column {
                name: column.name,
                data_type: column.data_type,
                nullable: column.nullable,
                default: column.default,
                comment: column.comment,
            });
        }
    }
    for key in keys {
        let Some(at) = index.get(&key.oid) else {
            continue;
        };
        match key.references {
            Some(references) if key.kind == "f" => tables[*at].foreign_keys.push(ForeignKey {
                columns: key.columns,
                references,
                referenced_columns: key.referenced_columns,
            }),
            _ => tables[*at].primary_key = key.columns,
        }
    }
    tables
}
