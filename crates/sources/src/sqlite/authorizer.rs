//! What SQLite asks us about each step of a statement while it compiles it, and what we answer.

use super::heavy::is_deep;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

/// Functions of the bundled SQLite that compute and do nothing else. What is not here is refused: `load_extension`,
/// `fts3_tokenizer`, whatever a later version brings.
const FUNCTIONS: &[&str] = &[
    "->",
    "->>",
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "avg",
    "bm25",
    "ceil",
    "ceiling",
    "changes",
    "char",
    "coalesce",
    "concat",
    "concat_ws",
    "cos",
    "cosh",
    "count",
    "cume_dist",
    "current_date",
    "current_time",
    "current_timestamp",
    "date",
    "datetime",
    "degrees",
    "dense_rank",
    "exp",
    "first_value",
    "floor",
    "format",
    "glob",
    "group_concat",
    "hex",
    "highlight",
    "if",
    "ifnull",
    "iif",
    "instr",
    "json",
    "json_array",
    "json_array_insert",
    "json_array_length",
    "json_each",
    "json_error_position",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_insert",
    "json_object",
    "json_patch",
    "json_pretty",
    "json_quote",
    "json_remove",
    "json_replace",
    "json_set",
    "json_tree",
    "json_type",
    "json_valid",
    "jsonb",
    "jsonb_array",
    "jsonb_array_insert",
    "jsonb_each",
    "jsonb_extract",
    "jsonb_group_array",
    "jsonb_group_object",
    "jsonb_insert",
    "jsonb_object",
    "jsonb_patch",
    "jsonb_remove",
    "jsonb_replace",
    "jsonb_set",
    "jsonb_tree",
    "julianday",
    "lag",
    "last_value",
    "lead",
    "length",
    "like",
    "likelihood",
    "likely",
    "ln",
    "log",
    "log10",
    "log2",
    "lower",
    "ltrim",
    "match",
    "matchinfo",
    "max",
    "median",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "octet_length",
    "offsets",
    "percent_rank",
    "percentile",
    "percentile_cont",
    "percentile_disc",
    "pi",
    "pow",
    "power",
    "printf",
    "quote",
    "radians",
    "random",
    "randomblob",
    "rank",
    "replace",
    "round",
    "row_number",
    "rtrim",
    "sign",
    "sin",
    "sinh",
    "snippet",
    "soundex",
    "sqlite_version",
    "sqrt",
    "strftime",
    "string_agg",
    "substr",
    "substring",
    "sum",
    "tan",
    "tanh",
    "time",
    "timediff",
    "total",
    "trim",
    "trunc",
    "typeof",
    "unhex",
    "unicode",
    "unistr",
    "unistr_quote",
    "unixepoch",
    "unlikely",
    "upper",
    "zeroblob",
];

pub(super) fn for_reading(context: AuthContext<'_>) -> Authorization {
    let ours = is_main(&context);
    answer(match context.action {
        AuthAction::Select | AuthAction::Recursive => true,
        AuthAction::Read { table_name, .. } => ours && is_open(table_name),
        // What a view does is not seen in the text: nobody has made room for it.
        AuthAction::Function { function_name } => {
            is_harmless(function_name) && (context.accessor.is_none() || !is_deep(function_name))
        }
        // Full-text search asks whether the file has changed, we ask whether its tables have.
        AuthAction::Pragma {
            pragma_name,
            pragma_value: None,
        } => ["data_version", "schema_version"]
            .iter()
            .any(|open| pragma_name.eq_ignore_ascii_case(open)),
        _ => false,
    })
}

pub(super) fn for_writing(context: AuthContext<'_>) -> Authorization {
    let ours = is_main(&context);
    match context.action {
        AuthAction::Insert { table_name }
        | AuthAction::Delete { table_name }
        | AuthAction::Update { table_name, .. } => answer(ours && is_open(table_name)),
        AuthAction::Function { function_name } => answer(is_harmless(function_name)),
        // Ours only: an author's own text never begins with such a word.
        AuthAction::Transaction { .. } => Authorization::Allow,
        _ => for_reading(context),
    }
}

fn answer(allowed: bool) -> Authorization {
    if allowed {
        Authorization::Allow
    } else {
        Authorization::Deny
    }
}

/// Columns of a table that is only counted are asked about without a database.
fn is_main(context: &AuthContext<'_>) -> bool {
    context
        .database_name
        .is_none_or(|name| name.eq_ignore_ascii_case("main"))
}

/// Tables of SQLite itself, and functions in the guise of tables that tell of the engine.
fn is_open(table: &str) -> bool {
    let name = table.to_ascii_lowercase();
    let inner = ["sqlite_", "pragma_"]
        .iter()
        .any(|start| name.starts_with(start));
    let engine = ["dbstat", "bytecode", "tables_used"];
    !inner && !engine.contains(&name.as_str())
}

fn is_harmless(function: &str) -> bool {
    let name = function.to_ascii_lowercase();
    FUNCTIONS.binary_search(&name.as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_searched() {
        assert!(FUNCTIONS.is_sorted());
        assert!(is_harmless("COUNT") && is_harmless("->>"));
        assert!(!is_harmless("load_extension") && !is_harmless("fts3_tokenizer"));
        assert!(is_open("users") && is_open("json_each"));
        assert!(!is_open("SQLITE_MASTER") && !is_open("pragma_table_info") && !is_open("dbstat"));
    }
}
