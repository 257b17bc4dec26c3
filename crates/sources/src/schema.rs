//! What is in a database: tables and views with their columns and keys, a page at a time.

use serde::{Deserialize, Serialize};

/// Which tables to show.
#[derive(Clone, Debug, Default)]
pub struct SchemaFilter {
    /// Text that the name of a table, its schema, one of its columns or a comment on it holds; any case.
    pub search: Option<String>,
    /// Only the table of this name, `schema.table` or `table`.
    pub table: Option<String>,
    /// Only tables after this schema and name in the order of the list. Whoever reads page by page so misses none that
    /// stays while others come and go, as a count of tables would. A schema says nothing where the engine has one only.
    pub after: Option<(String, String)>,
    pub offset: u64,
    /// How many tables at most; columns and keys are read for these only.
    pub limit: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaPage {
    pub tables: Vec<Table>,
    /// How many tables fit the filter.
    pub total: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableKind {
    Table,
    View,
    MaterializedView,
    ForeignTable,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Absent where the engine has one schema only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    pub name: String,
    pub kind: TableKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    #[serde(default)]
    pub columns: Vec<Column>,
    #[serde(default)]
    pub primary_key: Vec<String>,
    #[serde(default)]
    pub foreign_keys: Vec<ForeignKey>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    #[serde(rename = "type")]
    pub data_type: String,
    pub nullable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    pub columns: Vec<String>,
    /// The table they point to, with its schema where there are several.
    pub references: String,
    pub referenced_columns: Vec<String>,
}

/// What a test of a source found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TestReport {
    pub version: String,
    /// Whom we are connected as; absent for a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// How the database answered an attempt to write where only reading is allowed.
    pub read_only: String,
    /// Whether that is true of whatever a query may do: not of a superuser, nor of a role that reaches files or programs.
    pub is_bound: bool,
    /// Whether there is anything that a tool could change, were it allowed to.
    pub may_write: bool,
    /// What should be mended although it works.
    pub warnings: Vec<String>,
}
