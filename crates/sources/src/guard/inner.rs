//! Tables that SQLite keeps for itself. Its authorizer is asked about the columns that a text names, but not about those by
//! which NATURAL and USING join: with `NATURAL FULL JOIN sqlite_master` they can all be read.

use crate::lexeme::{Kind, Lexeme, unquote};
use crate::statement::Engine;

pub(crate) const NOT_OPEN: &str =
    "is a table of SQLite's own; only the tables of the file are open to queries";

/// Where such a table is named, if it is.
pub(crate) fn inner_table<'p, 't>(
    engine: Engine,
    pieces: &'p [Lexeme<'t>],
) -> Option<&'p Lexeme<'t>> {
    let pairs = pieces.windows(2).filter(|_| engine == Engine::Sqlite);
    let named = pairs.filter(|pair| is_before_table(&pair[0]) && is_inner(&pair[1]));
    // A function is none: `sqlite_version()`.
    let called = |piece: &Lexeme<'_>| {
        let next = pieces.iter().find(|next| next.start >= piece.end);
        next.is_some_and(|next| next.is_mark("("))
    };
    named.map(|pair| &pair[1]).find(|piece| !called(piece))
}

fn is_before_table(piece: &Lexeme<'_>) -> bool {
    let marks = [",", "(", "."];
    marks.iter().any(|mark| piece.is_mark(mark)) || piece.is_word("FROM") || piece.is_word("JOIN")
}

fn is_inner(piece: &Lexeme<'_>) -> bool {
    // A string is taken for a name where a table has to stand.
    let name = match piece.kind {
        Kind::Text => Some(unquote(piece.text)),
        _ => piece.name(Engine::Sqlite),
    };
    name.is_some_and(|name| name.to_ascii_lowercase().starts_with("sqlite_"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::{Placeholders, lex};

    #[test]
    fn they_are_known_wherever_a_table_stands() {
        let names = |text: &str| {
            let pieces = lex(text, Engine::Sqlite, Placeholders::Unknown).unwrap();
            inner_table(Engine::Sqlite, &pieces).is_some()
        };
        for text in [
            "SELECT sql FROM (SELECT '' AS sql WHERE 0) NATURAL FULL JOIN sqlite_master",
            "SELECT 1 FROM people NATURAL JOIN main . \"SQLite_Schema\"",
            "SELECT 1 FROM 'sqlite_sequence' NATURAL JOIN people",
            "SELECT 1 FROM people, [sqlite_stat1]",
            "SELECT 1 FROM (sqlite_master) NATURAL JOIN people",
        ] {
            assert!(names(text), "{text}");
        }
        for text in [
            "SELECT sqlite_version(), lower(sqlite_version())",
            "SELECT 'sqlite_master' AS sqlite_name FROM people WHERE name LIKE 'sqlite_%'",
            "SELECT name FROM people -- FROM sqlite_master",
        ] {
            assert!(!names(text), "{text}");
        }
    }
}
