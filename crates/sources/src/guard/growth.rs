//! How many times longer a value gets on its way through a query. Thirty calls of `quote_literal` in each other are two
//! gigabytes, in a single step that PostgreSQL does not stop; in queries that read from each other they are as well.

use super::at;
use crate::error::Error;
use crate::lexeme::{Kind, Lexeme, unquote};
use crate::statement::Engine;

/// Functions that give back up to so many times what they are given: quotes and signs are doubled, letters spelled out.
const TIMES: &[(&str, u64)] = &[
    ("array_to_json", 2),
    ("convert_to", 2),
    ("encode", 4),
    ("json_build_array", 2),
    ("json_build_object", 2),
    ("jsonb_build_array", 2),
    ("jsonb_build_object", 2),
    ("quote_ident", 2),
    ("quote_literal", 2),
    ("quote_nullable", 2),
    ("row", 2),
    ("row_to_json", 2),
    ("textsend", 2),
    ("to_json", 2),
    ("to_jsonb", 2),
    ("xmlelement", 6),
    ("xmlforest", 6),
    ("xmltext", 6),
];
/// Rows and lists are quoted where they become one of these.
const TEXTS: &[&str] = &[
    "BYTEA", "CHAR", "JSON", "JSONB", "NAME", "TEXT", "VARCHAR", "XML",
];
const QUERIES: &[&str] = &["SELECT", "WITH", "VALUES", "TABLE"];
/// Words that end the tables of a query.
const ENDS: &[&str] = &[
    "EXCEPT",
    "GROUP",
    "HAVING",
    "INTERSECT",
    "LIMIT",
    "OFFSET",
    "ORDER",
    "SELECT",
    "UNION",
    "WHERE",
];
/// What may become of all that a text holds.
const BYTES_MAX: u64 = 256 * 1024 * 1024;

struct Open {
    times: u64,
    /// A query of its own begins here.
    is_query: bool,
    /// What it gives can be read by what stands beside it: a WITH, or LATERAL.
    is_read_beside: bool,
}

/// How far values of a query grow.
struct Query {
    /// In its own expressions.
    own: u64,
    /// In the queries that it reads from or asks for a value.
    inner: u64,
    /// In what reads from each other, one after the other.
    chain: u64,
    in_from: bool,
}

impl Query {
    const NEW: Query = Query {
        own: 1,
        inner: 1,
        chain: 1,
        in_from: false,
    };

    fn total(&self) -> u64 {
        let product = self.own.saturating_mul(self.inner);
        product.saturating_mul(self.chain)
    }
}

/// `made`: how many bytes the text makes out of nothing besides.
pub(super) fn check(text: &str, pieces: &[Lexeme<'_>], made: u64) -> Result<(), Error> {
    let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let most = BYTES_MAX / length.saturating_add(made).max(1);
    let mut queries = vec![Query::NEW];
    let mut open: Vec<Open> = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let is_outside = open.last().is_none_or(|it| it.is_query);
        if piece.is_mark("(") || piece.is_mark("[") {
            let opened = opened(pieces, index);
            if opened.is_query {
                queries.push(Query::NEW);
            } else if let Some(query) = queries.last_mut() {
                // A function in FROM may take what stands before it.
                if query.in_from && is_outside {
                    query.chain = query.chain.saturating_mul(opened.times);
                } else {
                    let around = open.iter().rev().take_while(|it| !it.is_query);
                    let grown = around.fold(opened.times, |all, it| all.saturating_mul(it.times));
                    query.own = grown.max(query.own);
                }
            }
            open.push(opened);
        } else if piece.is_mark(")") || piece.is_mark("]") {
            close(&mut open, &mut queries);
        } else if let Some(query) = queries.last_mut().filter(|_| is_outside) {
            query.in_from = match piece.is_word("FROM") {
                true => true,
                false => query.in_from && !ENDS.iter().any(|it| piece.is_word(it)),
            };
        }
        let all = queries.iter();
        if all.fold(1, |all, it| it.total().saturating_mul(all)) > most {
            let at_call = &pieces[index.saturating_sub(1)];
            return Err(at(
                text,
                at_call,
                "lengthens what others have lengthened, too often for one query; write it fewer times in each other",
            ));
        }
    }
    Ok(())
}

fn opened(pieces: &[Lexeme<'_>], index: usize) -> Open {
    let is = |at: Option<usize>, words: &[&str]| {
        let piece = at.and_then(|at| pieces.get(at));
        piece.is_some_and(|piece| words.iter().any(|word| piece.is_word(word)))
    };
    let before = index.checked_sub(1);
    Open {
        times: times(pieces, index),
        is_query: is(Some(index + 1), QUERIES),
        is_read_beside: is(before, &["AS", "MATERIALIZED", "LATERAL"]),
    }
}

/// What a query that ends has grown to is seen by the one around it.
fn close(open: &mut Vec<Open>, queries: &mut Vec<Query>) {
    let Some(closed) = open.pop().filter(|closed| closed.is_query) else {
        return;
    };
    let grown = queries.pop().map_or(1, |query| query.total());
    let Some(around) = queries.last_mut() else {
        return;
    };
    if closed.is_read_beside {
        around.chain = around.chain.saturating_mul(grown);
    } else {
        around.inner = around.inner.max(grown);
    }
}

/// How many times longer what stands in a parenthesis is afterwards.
fn times(pieces: &[Lexeme<'_>], index: usize) -> u64 {
    let called = index.checked_sub(1).map(|at| &pieces[at]);
    let name = called.and_then(|called| called.name(Engine::Postgres));
    let by_name = name.map_or(1, |name| {
        by_name(&name, &super::lengths::arguments(&pieces[index + 1..]))
    });
    by_name.max(by_cast(pieces, index))
}

fn by_name(name: &str, arguments: &[&[Lexeme<'_>]]) -> u64 {
    let written = |at: usize| match arguments.get(at) {
        Some([one]) if one.kind == Kind::Text => u64::try_from(unquote(one.text).len()).ok(),
        _ => None,
    };
    match name {
        "replace" => match (written(1), written(2)) {
            (Some(of), Some(by)) => by.div_ceil(of.max(1)).max(1),
            _ => 2,
        },
        // Each letter may be one that is replaced, and nothing between two letters too.
        "regexp_replace" => written(2).map_or(2, |by| by + 1),
        "array_to_string" => written(1).map_or(2, |by| by + 1),
        "format" => match arguments.first() {
            Some([one]) if one.kind == Kind::Text => {
                let places = u64::try_from(one.text.matches('%').count()).unwrap_or(u64::MAX);
                let quotes = one.text.contains(['L', 'I']);
                places.max(1).saturating_mul(if quotes { 2 } else { 1 })
            }
            _ => 2,
        },
        _ => {
            let known = TIMES.iter().find(|(of, _)| *of == name);
            known.map_or(1, |(_, times)| *times)
        }
    }
}

/// `(a, b)::text`, `ARRAY[a]::text`, `CAST(… AS text)`
fn by_cast(pieces: &[Lexeme<'_>], index: usize) -> u64 {
    let is_text = |piece: &Lexeme<'_>| TEXTS.iter().any(|it| piece.is_word(it));
    let Some(close) = end(pieces, index) else {
        return 1;
    };
    let casts = pieces.get(close + 1).is_some_and(|it| it.text == "::")
        && pieces.get(close + 2).is_some_and(is_text);
    let called = index
        .checked_sub(1)
        .is_some_and(|at| pieces[at].is_word("CAST"));
    let named = called && close > 0 && is_text(&pieces[close - 1]);
    if casts || named { 2 } else { 1 }
}

/// Where the parenthesis closes.
fn end(pieces: &[Lexeme<'_>], index: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, piece) in pieces.iter().enumerate().skip(index) {
        if piece.is_mark("(") || piece.is_mark("[") {
            depth += 1;
        } else if piece.is_mark(")") || piece.is_mark("]") {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::{Placeholders, lex};

    fn is_open(text: &str) -> bool {
        let pieces = lex(text, Engine::Postgres, Placeholders::Unknown).unwrap();
        check(text, &pieces, 0).is_ok()
    }

    fn nested(around: &str, first: &str) -> String {
        let value = (0..30).fold(first.to_owned(), |value, _| around.replace('@', &value));
        format!("SELECT length({value})")
    }

    #[test]
    fn what_doubles_thirty_times_is_refused() {
        for text in [
            nested("encode(@::bytea, 'hex')", "'x'"),
            nested("quote_literal(@)", "''''"),
            nested("to_json(@)::text", "'x'::text"),
            nested("replace(@, 'a', 'aa')", "'a'"),
            nested("format('%1$s%1$s', @)", "'a'"),
            nested("regexp_replace(@, '.', '\\&\\&', 'g')", "'a'"),
            nested("array_to_string(string_to_array(@, NULL), 'a')", "'aa'"),
            nested("(@, 1)::text", "'\"'"),
            nested("CAST(ARRAY[@] AS text)", "'\"'"),
            (0..30).fold("SELECT 'x' AS x".to_owned(), |text, _| {
                format!("SELECT encode(x::bytea, 'hex') AS x FROM ({text}) t")
            }),
            nested("(SELECT quote_literal(@))", "''''"),
        ] {
            assert!(!is_open(&text), "{text}");
        }
        let mut chain = "WITH a0 AS (SELECT 'x' AS x)".to_owned();
        for level in 1..30 {
            chain += &format!(
                ", a{level} AS (SELECT quote_literal(x) AS x FROM a{})",
                level - 1
            );
        }
        assert!(!is_open(&(chain + " SELECT length(x) FROM a29")));
        let beside = |first: &str, next: &str| {
            let mut text = format!("SELECT length(x29) FROM {first} AS x0");
            for level in 1..30 {
                let next = next.replace('@', &(level - 1).to_string());
                text += &format!(", {next} AS x{level}");
            }
            text
        };
        assert!(!is_open(&beside("quote_ident('x')", "quote_literal(x@)")));
        let lateral = beside("(SELECT 'x')", "LATERAL (SELECT quote_literal(x@::text))");
        assert!(!is_open(&lateral));
    }

    #[test]
    fn what_people_write_is_open() {
        let cleaned = (0..25).fold("name".to_owned(), |name, _| {
            format!("replace({name}, 'ab', 'a')")
        });
        let spaced = (0..8).fold("name".to_owned(), |name, _| {
            format!("regexp_replace({name}, '\\s+', ' ', 'g')")
        });
        let built = (0..8).fold("1".to_owned(), |inner, _| {
            format!("json_build_object('a', {inner})")
        });
        let asked = "(SELECT json_agg(json_build_object('a', json_build_object('b', b))) FROM t)";
        for text in [
            format!("SELECT {}", vec![asked; 60].join(", ")),
            format!("SELECT {}", vec!["quote_literal(a)"; 60].join(", ")),
            format!("SELECT {cleaned}, {spaced}, {built} FROM people"),
            "SELECT encode(sha256(a), 'hex'), quote_literal(b), format('%s-%s-%s', a, b, c) FROM t"
                .to_owned(),
            "SELECT xmlelement(name a, xmlelement(name b, xmlforest(a, b))) FROM t".to_owned(),
        ] {
            assert!(is_open(&text), "{text}");
        }
    }
}
