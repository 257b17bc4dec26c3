//! A query that groups, removes what is double, or looks at other rows is computed by itself: its columns are not put in the
//! place of their names. What is left to count is how large their values may become.

use super::froms::begins_query;
use crate::lexeme::{Kind, Lexeme};
use crate::statement::Engine;

/// Functions that make one row of many. In SQLite `max(a, b)` is none, so that these two do not tell.
const AGGREGATES: &[&str] = &[
    "array_agg",
    "avg",
    "bool_and",
    "bool_or",
    "count",
    "every",
    "group_concat",
    "json_agg",
    "json_group_array",
    "jsonb_agg",
    "percentile_cont",
    "percentile_disc",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "string_agg",
    "sum",
    "var_pop",
    "var_samp",
    "variance",
];
const EXTREMES: &[&str] = &["max", "min"];
/// Functions whose value is not larger than the largest of what they are given.
const SHORT: &[&str] = &[
    "abs",
    "avg",
    "bool_and",
    "bool_or",
    "ceil",
    "ceiling",
    "coalesce",
    "count",
    "date",
    "date_part",
    "date_trunc",
    "decimal",
    "dense_rank",
    "every",
    "extract",
    "first_value",
    "floor",
    "greatest",
    "ifnull",
    "iif",
    "julianday",
    "lag",
    "last_value",
    "lead",
    "least",
    "length",
    "lower",
    "max",
    "min",
    "mod",
    "nth_value",
    "ntile",
    "nullif",
    "numeric",
    "percent_rank",
    "percentile_cont",
    "percentile_disc",
    "rank",
    "round",
    "row_number",
    "sign",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "strftime",
    "sum",
    "total",
    "trunc",
    "upper",
    "var_pop",
    "var_samp",
    "variance",
];
/// What stands before a parenthesis that holds a list, and makes no row of it.
const LISTS: &[&str] = &["BY", "IN", "ON", "OVER"];

/// Whether the columns of a query, from its list to its end, stay what they are. Queries in it that give values do not tell.
pub(super) fn is_gathered(engine: Engine, query: &[Lexeme<'_>]) -> bool {
    let mut inside: Vec<bool> = Vec::new();
    for (index, piece) in query.iter().enumerate() {
        if piece.is_mark("(") {
            let hidden = inside.last().copied().unwrap_or(false);
            inside.push(hidden || begins_query(&query[index + 1..]));
        } else if piece.is_mark(")") {
            inside.pop();
        }
        if inside.last().copied().unwrap_or(false) {
            continue;
        }
        let next = query.get(index + 1);
        let called = next.is_some_and(|next| next.is_mark("("));
        let tells = match index {
            0 if piece.is_word("DISTINCT") => true,
            _ if piece.is_word("GROUP") => next.is_some_and(|next| next.is_word("BY")),
            _ => piece.is_word("OVER") || called && is_aggregate(engine, piece),
        };
        if tells {
            return true;
        }
    }
    false
}

fn is_aggregate(engine: Engine, piece: &Lexeme<'_>) -> bool {
    is_one_of(piece, AGGREGATES) || engine == Engine::Postgres && is_one_of(piece, EXTREMES)
}

/// Whether a value is not larger than the largest of those it is made of: nothing puts two of them together.
pub(super) fn is_short(item: &[Lexeme<'_>]) -> bool {
    // Whether a comma may stand in the parenthesis.
    let mut lists: Vec<bool> = Vec::new();
    for (index, piece) in item.iter().enumerate() {
        let joins = match piece.kind {
            Kind::Operator => piece.text.contains("||"),
            Kind::Word => piece.is_word("ARRAY") || piece.is_word("ROW"),
            Kind::Mark if piece.is_mark("(") => {
                let before = index.checked_sub(1).and_then(|at| item.get(at));
                let short = before.is_some_and(|before| is_one_of(before, SHORT));
                let list = before.is_some_and(|before| is_one_of(before, LISTS));
                lists.push(short || list);
                let called = before.is_some_and(|before| {
                    before.kind == Kind::Quoted
                        || before.kind == Kind::Word && !is_word_of_sql(before)
                });
                // What stood in a query that gives a value may have been taken out.
                let empty = item.get(index + 1).is_some_and(|next| next.is_mark(")"));
                let queries = begins_query(&item[index + 1..]) || empty && !called;
                queries || called && !short
            }
            Kind::Mark if piece.is_mark(")") => {
                lists.pop();
                false
            }
            Kind::Mark => piece.is_mark(",") && !lists.last().copied().unwrap_or(true),
            _ => false,
        };
        if joins {
            return false;
        }
    }
    true
}

/// Words before a parenthesis that call nothing.
fn is_word_of_sql(piece: &Lexeme<'_>) -> bool {
    const WORDS: &[&str] = &[
        "AND", "BETWEEN", "BY", "CASE", "CAST", "ELSE", "FILTER", "FROM", "GROUP", "IN", "LIKE",
        "NOT", "ON", "OR", "OVER", "THEN", "WHEN", "WHERE",
    ];
    is_one_of(piece, WORDS)
}

fn is_one_of(piece: &Lexeme<'_>, words: &[&str]) -> bool {
    words.iter().any(|word| piece.is_word(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::{Placeholders, lex};

    fn pieces(text: &str) -> Vec<Lexeme<'_>> {
        lex(text, Engine::Postgres, Placeholders::Unknown).unwrap()
    }

    #[test]
    fn queries_that_are_computed_by_themselves_are_known() {
        for (text, gathered) in [
            ("a FROM t GROUP BY a", true),
            ("DISTINCT a FROM t", true),
            ("sum(a) FROM t", true),
            ("max(a + b) FROM t", true),
            ("rank() OVER (ORDER BY a) FROM t", true),
            ("a + b FROM t", false),
            ("(SELECT sum(b) FROM u GROUP BY c) + a FROM t", false),
            ("a FROM t WHERE a IN (SELECT max(b) FROM u)", false),
        ] {
            assert_eq!(
                is_gathered(Engine::Postgres, &pieces(text)),
                gathered,
                "{text}"
            );
        }
        assert!(!is_gathered(Engine::Sqlite, &pieces("max(a, b) FROM t")));
    }

    #[test]
    fn values_that_hold_two_others_are_known() {
        for (text, short) in [
            (
                "sum(CASE WHEN amount > 0 THEN amount ELSE -amount END) AS amount",
                true,
            ),
            ("coalesce(a, b) * (a - b) AS a", true),
            ("CAST(sum(a) AS numeric(10, 2)) AS a", true),
            ("count(*) FILTER (WHERE a IN (1, 2))", true),
            ("a || a AS a", false),
            ("concat(a, a)", false),
            ("\"sum\"(a, a)", false),
            ("ARRAY[a, a]", false),
            ("(a, a) AS a", false),
            ("(SELECT a) AS a", false),
        ] {
            assert_eq!(is_short(&pieces(text)), short, "{text}");
        }
    }
}
