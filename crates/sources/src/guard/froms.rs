//! Where a text reads from: which parentheses are read from by what is around them, and what stands in FROM itself. Any
//! other query in parentheses gives a value.

use super::definition::definition;
use crate::lexeme::Lexeme;

/// With what a query begins.
const QUERIES: &[&str] = &["SELECT", "TABLE", "VALUES", "WITH"];
/// Where FROM ends.
const ENDS: &[&str] = &[
    "EXCEPT",
    "FETCH",
    "FOR",
    "GROUP",
    "HAVING",
    "INTERSECT",
    "LIMIT",
    "OFFSET",
    "ORDER",
    "SELECT",
    "UNION",
    "WHERE",
    "WINDOW",
];
const SETS: &[&str] = &["EXCEPT", "INTERSECT", "UNION"];
/// After these in FROM comes what is read from.
const READS: &[&str] = &["FROM", "JOIN", "LATERAL", "ONLY"];

/// How a piece stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stand {
    /// An opening parenthesis that is read from.
    pub(super) is_source: bool,
    /// An opening parenthesis around a query.
    pub(super) is_query: bool,
    /// Directly in a FROM.
    pub(super) in_from: bool,
    /// Where an opening parenthesis is closed.
    pub(super) close: usize,
}

#[derive(Clone, Copy)]
struct Level {
    is_source: bool,
    is_query: bool,
    in_from: bool,
}

/// One for each piece.
pub(super) fn stands(pieces: &[Lexeme<'_>]) -> Vec<Stand> {
    let mut around: Vec<(Level, usize)> = Vec::new();
    let mut level = Level {
        is_source: true,
        is_query: true,
        in_from: false,
    };
    let mut stands: Vec<Stand> = Vec::with_capacity(pieces.len());
    for (index, piece) in pieces.iter().enumerate() {
        let before = &pieces[..index];
        let mut stand = Stand {
            in_from: level.in_from,
            close: pieces.len(),
            ..Stand::default()
        };
        if piece.is_mark("(") {
            let queries = begins_query(&pieces[index + 1..]);
            let defines = queries && definition(before).is_some();
            stand.is_source = defines || is_source(level, queries, before);
            // In `f((SELECT …))` only the inner one is around a query.
            let nested = pieces.get(index + 1).is_some_and(|next| next.is_mark("("));
            stand.is_query = queries && (stand.is_source || !nested);
            // `FROM (a JOIN b ON …)`, `FROM ((SELECT …) a JOIN b ON …)`
            let joins = !stand.is_query || nested && level.in_from;
            around.push((level, index));
            level = Level {
                is_source: stand.is_source,
                is_query: stand.is_query,
                in_from: stand.is_source && !defines && joins,
            };
        } else if piece.is_mark(")") {
            if let Some((outer, open)) = around.pop() {
                stands[open].close = index;
                level = outer;
            }
        } else if level.is_query && piece.is_word("FROM") {
            let compares = before.last().is_some_and(|last| last.is_word("DISTINCT"));
            level.in_from |= !compares;
        } else if is_one_of(piece, ENDS) {
            level.in_from = false;
        }
        stands.push(stand);
    }
    stands
}

/// Whether these pieces, in parentheses, are a query.
pub(super) fn begins_query(pieces: &[Lexeme<'_>]) -> bool {
    let first = pieces.iter().find(|piece| !piece.is_mark("("));
    first.is_some_and(|first| is_one_of(first, QUERIES))
}

/// Whether what follows these pieces in FROM is the name of a table, of a function, or a query.
pub(super) fn is_read(before: &[Lexeme<'_>]) -> bool {
    before
        .last()
        .is_some_and(|last| last.is_mark(",") || last.is_mark("(") || is_one_of(last, READS))
}

fn is_source(level: Level, is_query: bool, before: &[Lexeme<'_>]) -> bool {
    let Some(last) = before.last() else {
        return is_query;
    };
    if level.in_from && is_read(before) {
        return true;
    }
    // Around a whole query, or one of those that UNION puts together: `= ALL (SELECT …)` gives a value.
    let sets = match before {
        [.., set, all] if all.is_word("ALL") || all.is_word("DISTINCT") => is_one_of(set, SETS),
        _ => is_one_of(last, SETS),
    };
    is_query && level.is_source && (sets || last.is_mark("(") && level.is_query)
}

fn is_one_of(piece: &Lexeme<'_>, words: &[&str]) -> bool {
    words.iter().any(|word| piece.is_word(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::{Placeholders, lex};
    use crate::statement::Engine;

    /// What is read from, by the piece after its parenthesis.
    fn sources(text: &str) -> Vec<String> {
        let pieces = lex(text, Engine::Postgres, Placeholders::Unknown).unwrap();
        let stands = stands(&pieces);
        assert_eq!(stands.len(), pieces.len());
        let opens = stands.iter().enumerate();
        opens
            .filter(|(_, stand)| stand.is_source)
            .filter_map(|(index, _)| pieces.get(index + 2))
            .map(|piece| piece.text.to_owned())
            .collect()
    }

    #[test]
    fn only_what_is_read_from_is_a_source() {
        for (text, expected) in [
            ("SELECT (SELECT a), (SELECT b) FROM (SELECT c) t", "c"),
            (
                "SELECT 1 FROM t, (SELECT a) x, LATERAL (VALUES (1)) y",
                "a (",
            ),
            ("SELECT 1 FROM t JOIN (SELECT a) x ON f((SELECT b))", "a"),
            ("SELECT 1 FROM t WHERE a = ALL (SELECT b), (SELECT c)", ""),
            ("SELECT extract(year FROM (SELECT a))", ""),
            ("SELECT a IS DISTINCT FROM (SELECT b)", ""),
            ("WITH x AS (SELECT a) SELECT 1 FROM x", "a"),
            ("(SELECT a) UNION ALL (SELECT b)", "a b"),
            ("SELECT coalesce((SELECT a UNION ALL (SELECT b)), 1)", ""),
            (
                "SELECT 1 FROM ((SELECT a) x JOIN (SELECT b) y ON true)",
                "SELECT a b",
            ),
        ] {
            assert_eq!(sources(text).join(" "), expected, "{text}");
        }
    }
}
