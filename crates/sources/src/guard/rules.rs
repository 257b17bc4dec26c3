//! Which functions, operators and views of a PostgreSQL database a caller's text may name; made of its own catalog.

use super::at;
use super::operators::{cut, is_star};
use super::position::Layout;
use crate::error::Error;
use crate::lexeme::{Kind, Lexeme};
use crate::statement::Engine;
use std::collections::{HashMap, HashSet};

/// Functions that are volatile by declaration and harmless all the same.
pub(crate) const HARMLESS: &[&str] = &[
    // How a sample of a table is taken: `TABLESAMPLE BERNOULLI (1)`.
    "bernoulli",
    "system",
    "clock_timestamp",
    "gen_random_uuid",
    "pg_column_size",
    "pg_database_size",
    "pg_indexes_size",
    "pg_relation_size",
    "pg_table_size",
    "pg_total_relation_size",
    "random",
    "random_normal",
    "timeofday",
    "uuidv4",
    "uuidv7",
];
/// Functions that are not volatile and yet tell of the server, take a number from it, or run other text or a type's
/// functions by a name in a string.
pub(crate) const HARMFUL: &[&str] = &[
    "current_setting",
    "fmgr_c_validator",
    "fmgr_internal_validator",
    "fmgr_sql_validator",
    "inet_server_addr",
    "inet_server_port",
    "pg_conf_load_time",
    "pg_config",
    "pg_current_xact_id",
    "pg_current_xact_id_if_assigned",
    "pg_cursor",
    "pg_get_replication_slots",
    "pg_input_error_info",
    "pg_input_is_valid",
    "pg_options_to_table",
    "pg_postmaster_start_time",
    "pg_prepared_statement",
    "pg_relation_filepath",
    "pg_settings_get_flags",
    "pg_show_all_settings",
    "pg_tablespace_databases",
    "pg_tablespace_location",
    "txid_current",
    "txid_current_if_assigned",
];
/// What is in these relations is about the server and its other users, not about the data.
const SERVER_RELATIONS: &[&str] = &[
    "_pg_foreign_data_wrappers",
    "_pg_foreign_servers",
    "_pg_foreign_table_columns",
    "_pg_foreign_tables",
    "_pg_user_mappings",
    "foreign_data_wrapper_options",
    "foreign_server_options",
    "foreign_table_options",
    "pg_auth_members",
    "pg_authid",
    "pg_backend_memory_contexts",
    "pg_config",
    "pg_cursors",
    "pg_db_role_setting",
    "pg_file_settings",
    "pg_foreign_data_wrapper",
    "pg_foreign_server",
    "pg_foreign_table",
    "pg_group",
    "pg_hba_file_rules",
    "pg_ident_file_mappings",
    "pg_largeobject",
    "pg_locks",
    "pg_prepared_statements",
    "pg_prepared_xacts",
    "pg_replication_origin_status",
    "pg_replication_slots",
    "pg_settings",
    "pg_shadow",
    "pg_shmem_allocations",
    "pg_stat_activity",
    "pg_stat_archiver",
    "pg_stat_bgwriter",
    "pg_stat_checkpointer",
    "pg_stat_database",
    "pg_stat_gssapi",
    "pg_stat_io",
    "pg_stat_progress_analyze",
    "pg_stat_progress_basebackup",
    "pg_stat_progress_cluster",
    "pg_stat_progress_copy",
    "pg_stat_progress_create_index",
    "pg_stat_progress_vacuum",
    "pg_stat_replication",
    "pg_stat_replication_slots",
    "pg_stat_slru",
    "pg_stat_ssl",
    "pg_stat_statements",
    "pg_stat_subscription",
    "pg_roles",
    "pg_stat_wal",
    "pg_stat_wal_receiver",
    "pg_subscription",
    "pg_tablespace",
    "pg_user",
    "pg_user_mapping",
    "pg_user_mappings",
    "user_mapping_options",
];
/// Words that stand for operators, which are looked up by name like any other.
const OPERATOR_WORDS: &[(&str, &[&str])] = &[
    ("BETWEEN", &["<", "<=", ">", ">="]),
    ("CASE", &["="]),
    ("DISTINCT", &["="]),
    ("ILIKE", &["~~*", "!~~*"]),
    ("IN", &["=", "<>"]),
    ("LIKE", &["~~", "!~~"]),
    ("NATURAL", &["="]),
    ("NULLIF", &["="]),
    ("SIMILAR", &["~", "!~"]),
    ("USING", &["="]),
];
/// A name of functions in one schema, as the catalog has it.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The server's own, in `pg_catalog`.
    pub(crate) core: bool,
    pub(crate) schema: String,
    pub(crate) name: String,
    /// At least one function of this name is volatile, or runs with somebody else's rights.
    pub(crate) volatile: bool,
    /// At least one takes what only the server's own machinery has: the reading function of a type, say.
    pub(crate) internal: bool,
    /// At least one can be called as `(value).name`, without parentheses.
    pub(crate) attribute: bool,
    /// A table has a column of that name.
    pub(crate) is_column: bool,
    /// Numbers of those that somebody wrote in this database and that the name alone may call. What they are declared to be
    /// proves nothing.
    pub(crate) unproven: Vec<i64>,
}

/// An operator and a function behind it that may have an effect, unless it is proven.
#[derive(Clone, Debug)]
pub(crate) struct Behind {
    pub(crate) operator: String,
    /// With its schema.
    pub(crate) function: String,
    pub(crate) oid: i64,
}

/// What the catalog of a database says, as far as it matters to what a text may name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) functions: Vec<Found>,
    pub(crate) operators: Vec<Behind>,
    /// Views that a function is behind which may have an effect.
    pub(crate) views: HashSet<String>,
    /// Types of which no value is made without such a function.
    pub(crate) types: HashSet<String>,
    /// Tables whose rows are such types.
    pub(crate) rows: HashSet<String>,
}

#[derive(Debug)]
pub(crate) struct Rules {
    /// Functions of `pg_catalog` that may be called with their schema.
    core: HashSet<String>,
    /// Names that may be called without a schema.
    bare: HashSet<String>,
    /// All names there are functions of.
    known: HashSet<String>,
    /// Names that must not stand behind a dot.
    attributes: HashSet<String>,
    /// Those that may behind the name of a table, because a column is meant there.
    columns: HashSet<String>,
    /// Operators that a function stands behind which may have an effect, with that function.
    operators: HashMap<String, String>,
    relations: HashSet<String>,
    /// Types of which no value is made without a function that may have an effect.
    types: HashSet<String>,
    /// Tables whose rows, made of text, have a function run that may have an effect: a domain among their columns checks so.
    rows: HashSet<String>,
    /// What the owner of the source allows besides, as `name` or `schema.name`.
    listed: HashSet<String>,
}

impl Rules {
    /// `proven`: functions that were written in this database and do nothing that a caller may not.
    pub(crate) fn new(catalog: &Catalog, listed: &[String], proven: &HashSet<i64>) -> Rules {
        let found = &catalog.functions;
        let listed: HashSet<String> = listed.iter().cloned().collect();
        // With the schema alone somebody else's function in `pg_catalog` is not told from the server's own.
        let added: HashSet<&str> = found
            .iter()
            .filter(|function| !function.core && function.schema == "pg_catalog")
            .map(|function| function.name.as_str())
            .collect();
        let core: HashSet<String> = found
            .iter()
            .filter(|function| function.core && is_harmless(function))
            .filter(|function| !added.contains(function.name.as_str()))
            .map(|function| function.name.clone())
            .collect();
        // Somebody's own `lower(mytype)` would be found by the bare name too, and for more than values of that type: a row
        // or a string without a type is taken for one of it.
        let has_unproven =
            |function: &Found| function.unproven.iter().any(|it| !proven.contains(it));
        let shadowed: HashSet<&str> = found
            .iter()
            .filter(|function| !function.core && function.volatile || has_unproven(function))
            .map(|function| function.name.as_str())
            .collect();
        let bare: HashSet<String> = core
            .iter()
            .filter(|name| !shadowed.contains(name.as_str()))
            .cloned()
            .collect();
        let attributes: HashSet<String> = found
            .iter()
            .filter(|function| function.attribute)
            .filter(|function| !bare.contains(&function.name) && !is_listed(&listed, function))
            .map(|function| function.name.clone())
            .collect();
        // What the server itself has under such a name is never meant by a column: `t.nextval` would be taken for one
        // wherever `t` is no table. Unless it is harmless, as `length` is, and no volatile one shares the name.
        let volatile: HashSet<&str> = found
            .iter()
            .filter(|function| !function.core && function.volatile)
            .map(|function| function.name.as_str())
            .collect();
        let is_open = |name: &str| core.contains(name) && !volatile.contains(name);
        let harmful: HashSet<&str> = found
            .iter()
            .filter(|function| function.core && !is_open(&function.name))
            .map(|function| function.name.as_str())
            .collect();
        let columns = found
            .iter()
            .filter(|function| function.is_column && !harmful.contains(function.name.as_str()))
            .map(|function| function.name.clone())
            .collect();
        let server = SERVER_RELATIONS.iter().map(|name| (*name).to_owned());
        Rules {
            known: found.iter().map(|function| function.name.clone()).collect(),
            relations: catalog.views.iter().cloned().chain(server).collect(),
            core,
            bare,
            attributes,
            columns,
            operators: operators(catalog, proven),
            types: catalog.types.clone(),
            rows: catalog.rows.clone(),
            listed,
        }
    }

    pub(super) fn check(&self, text: &str, pieces: &[Lexeme<'_>]) -> Result<(), Error> {
        let layout = Layout::new(pieces);
        let filled = pieces.iter().any(fills_rows);
        for (index, piece) in pieces.iter().enumerate() {
            self.operator(text, pieces, index)?;
            let Some(name) = piece.name(Engine::Postgres) else {
                continue;
            };
            let before = &pieces[..index];
            let dotted = before.last().is_some_and(|last| last.is_mark("."));
            let called = pieces.get(index + 1).is_some_and(|next| next.is_mark("("));
            if self.relations.contains(&name) {
                return Err(at(
                    text,
                    piece,
                    "is about the server, or runs a function that may have an effect; it is not open to queries here. An \
                     admin can list a view of yours under `functions` of the source",
                ));
            }
            let is_row = self.rows.contains(&name);
            let is_type = is_row || self.types.contains(&name);
            if is_row && filled || is_type && layout.makes(index) {
                return Err(at(
                    text,
                    piece,
                    "is used as a type, and making a value of it runs a function that may have an effect; it is not open to \
                     queries here. An admin can list the type under `functions` of the source",
                ));
            }
            if called {
                let schema = dotted.then(|| before.iter().rev().nth(1)).flatten();
                let schema = schema.and_then(|schema| schema.name(Engine::Postgres));
                self.call(text, piece, dotted, schema.as_deref(), &name)?;
            } else if dotted && self.attributes.contains(&name) {
                // Behind a function in FROM may be a single value, and then the name is called with it.
                if !layout.is_of_table(index) || !self.columns.contains(&name) {
                    return Err(not_open(text, piece));
                }
            }
        }
        Ok(())
    }

    /// Whether a name stands behind a dot that may be called with what stands before it. The parameters of a function are
    /// values, and look like tables.
    pub(super) fn calls_by_dot(&self, pieces: &[Lexeme<'_>]) -> bool {
        let is_called = |pair: &[Lexeme<'_>]| {
            let name = pair[1].name(Engine::Postgres);
            let is_known =
                |name: &String| self.attributes.contains(name) || self.types.contains(name);
            pair[0].is_mark(".") && name.as_ref().is_some_and(is_known)
        };
        pieces.windows(2).any(is_called)
    }

    fn call(
        &self,
        text: &str,
        piece: &Lexeme<'_>,
        dotted: bool,
        schema: Option<&str>,
        name: &str,
    ) -> Result<(), Error> {
        let open = match schema {
            _ if self.listed.contains(name) => true,
            Some("pg_catalog") if self.core.contains(name) => true,
            Some(schema) => self.listed.contains(&format!("{schema}.{name}")),
            None if dotted => false,
            // What is no function is a keyword, a type or an alias: the database knows.
            None => self.bare.contains(name) || !self.known.contains(name),
        };
        if open {
            Ok(())
        } else {
            Err(not_open(text, piece))
        }
    }

    fn operator(&self, text: &str, pieces: &[Lexeme<'_>], index: usize) -> Result<(), Error> {
        let piece = &pieces[index];
        if self.operators.is_empty() {
            return Ok(());
        }
        let used = match piece.kind {
            Kind::Operator if is_star(pieces, index) => Vec::new(),
            Kind::Operator => cut(piece.text),
            Kind::Word => {
                let word = OPERATOR_WORDS.iter().find(|(word, _)| piece.is_word(word));
                let stands_for = word.map(|(_, operators)| operators.to_vec());
                stands_for.unwrap_or_default()
            }
            _ => Vec::new(),
        };
        match used.iter().find_map(|it| self.operators.get_key_value(*it)) {
            None => Ok(()),
            Some((operator, function)) => Err(at(
                text,
                piece,
                format!(
                    "uses the operator {operator}, behind which is a function that may have an effect or is not known to be \
                     harmless; it is not open to queries here. An admin can list {function} under `functions` of the source"
                ),
            )),
        }
    }
}

/// The operators that are not open, each with the functions behind it.
fn operators(catalog: &Catalog, proven: &HashSet<i64>) -> HashMap<String, String> {
    let mut operators: HashMap<String, String> = HashMap::new();
    let refused = catalog.operators.iter();
    for behind in refused.filter(|behind| !proven.contains(&behind.oid)) {
        let functions = operators.entry(behind.operator.clone()).or_default();
        if !functions.is_empty() {
            functions.push_str(", ");
        }
        functions.push_str(&behind.function);
    }
    operators
}

/// Whether rows of a table are filled from JSON, which makes values of all types in them.
fn fills_rows(piece: &Lexeme<'_>) -> bool {
    let name = piece.name(Engine::Postgres);
    name.is_some_and(|name| name.contains("_populate_record"))
}

fn is_listed(listed: &HashSet<String>, function: &Found) -> bool {
    listed.contains(&function.name)
        || listed.contains(&format!("{}.{}", function.schema, function.name))
}

fn is_harmless(function: &Found) -> bool {
    let name = function.name.as_str();
    if HARMLESS.contains(&name) {
        return true;
    }
    // `query_to_xml` and its kin run text; what `pg_stat_get_…` tells is about other sessions.
    let harmful = function.internal
        || HARMFUL.contains(&name)
        || name.contains("_to_xml")
        || name.starts_with("pg_stat_get_")
        || name.starts_with("binary_upgrade_");
    !function.volatile && !harmful
}

fn not_open(text: &str, piece: &Lexeme<'_>) -> Error {
    at(
        text,
        piece,
        "is a function that may have an effect or is not known to be harmless; it is not open to queries here. \
         An admin can list it under `functions` of the source",
    )
}
