//! Which functions, operators and views of a PostgreSQL database a caller's text may name; made of its own catalog.

use super::at;
use crate::error::Error;
use crate::lexeme::{Kind, Lexeme};
use crate::statement::Engine;
use std::collections::HashSet;

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
/// After these a name is that of a table, not of the type of its rows.
const TABLE_WORDS: &[&str] = &["FROM", "JOIN", "ONLY", "TABLE"];

/// A name of functions in one schema, as the catalog has it.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// In `pg_catalog`.
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
    /// Operators that a volatile function outside `pg_catalog` stands behind.
    operators: Vec<String>,
    relations: HashSet<String>,
    /// Tables whose rows, made of text, have a function run that may have an effect: a domain among their columns checks so.
    rows: HashSet<String>,
    /// What the owner of the source allows besides, as `name` or `schema.name`.
    listed: HashSet<String>,
}

impl Rules {
    pub(crate) fn new(
        found: &[Found],
        operators: Vec<String>,
        relations: impl IntoIterator<Item = String>,
        rows: HashSet<String>,
        listed: &[String],
    ) -> Rules {
        let listed: HashSet<String> = listed.iter().cloned().collect();
        let core: HashSet<String> = found
            .iter()
            .filter(|function| function.core && is_harmless(function))
            .map(|function| function.name.clone())
            .collect();
        // Somebody's own volatile `lower(mytype)` would be found by the bare name too.
        let shadowed: HashSet<&str> = found
            .iter()
            .filter(|function| !function.core && function.volatile)
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
        // wherever `t` is no table.
        let core_names: HashSet<&str> = found
            .iter()
            .filter(|function| function.core)
            .map(|function| function.name.as_str())
            .collect();
        let columns = found
            .iter()
            .filter(|function| function.is_column && !core_names.contains(function.name.as_str()))
            .map(|function| function.name.clone())
            .collect();
        let server = SERVER_RELATIONS.iter().map(|name| (*name).to_owned());
        Rules {
            known: found.iter().map(|function| function.name.clone()).collect(),
            relations: relations.into_iter().chain(server).collect(),
            core,
            bare,
            attributes,
            columns,
            operators,
            rows,
            listed,
        }
    }

    pub(super) fn check(&self, text: &str, pieces: &[Lexeme<'_>]) -> Result<(), Error> {
        for (index, piece) in pieces.iter().enumerate() {
            self.operator(text, piece)?;
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
                    "is about the server, or runs a function that may have an effect; it is not open to queries here",
                ));
            }
            if self.rows.contains(&name) && self.is_row(pieces, index) {
                return Err(at(
                    text,
                    piece,
                    "is used as a type, and making a value of it runs a function that may have an effect; it is not open to \
                     queries here",
                ));
            }
            if called {
                let schema = dotted.then(|| before.iter().rev().nth(1)).flatten();
                let schema = schema.and_then(|schema| schema.name(Engine::Postgres));
                self.call(text, piece, dotted, schema.as_deref(), &name)?;
            } else if dotted && self.attributes.contains(&name) {
                let of = before.iter().rev().nth(1);
                let of_table = of.is_some_and(|of| of.name(Engine::Postgres).is_some());
                if !of_table || !self.columns.contains(&name) {
                    return Err(not_open(text, piece));
                }
            }
        }
        Ok(())
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
            Some("pg_catalog") => self.core.contains(name),
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

    /// Whether a table stands where a type may be meant, or where its rows may be filled from JSON.
    fn is_row(&self, pieces: &[Lexeme<'_>], index: usize) -> bool {
        let fills = |piece: &Lexeme<'_>| {
            let name = piece.name(Engine::Postgres);
            name.is_some_and(|name| name.contains("_populate_record"))
        };
        // A string right after a name is a value of that type, wherever it stands.
        let typed = pieces.get(index + 1);
        let is_typed = typed.is_some_and(|next| next.kind == Kind::Text);
        if is_typed || pieces.iter().any(fills) {
            return true;
        }
        if pieces.get(index + 1).is_some_and(|next| next.is_mark(".")) {
            return false;
        }
        let mut before = &pieces[..index];
        while let [rest @ .., _, dot] = before
            && dot.is_mark(".")
        {
            before = rest;
        }
        let table = |last: &Lexeme<'_>| {
            last.is_mark(",") || TABLE_WORDS.iter().any(|word| last.is_word(word))
        };
        !before.last().is_some_and(table)
    }

    fn operator(&self, text: &str, piece: &Lexeme<'_>) -> Result<(), Error> {
        let denied = match piece.kind {
            Kind::Operator => self.operators.iter().any(|operator| {
                // PostgreSQL reads `!=` as `<>`.
                piece.text.contains(operator.as_str())
                    || operator == "<>" && piece.text.contains("!=")
            }),
            Kind::Word if !self.operators.is_empty() => {
                let word = OPERATOR_WORDS.iter().find(|(word, _)| piece.is_word(word));
                let stands_for = word.map_or(&[][..], |(_, operators)| operators);
                let denied = |operator: &String| stands_for.contains(&operator.as_str());
                self.operators.iter().any(denied)
            }
            _ => false,
        };
        if denied {
            return Err(at(
                text,
                piece,
                "is an operator with a function behind it that may have an effect; it is not open to queries here",
            ));
        }
        Ok(())
    }
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
