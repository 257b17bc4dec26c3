//! Where a parameter is written: in what the database reads only as text, or beside a comparison. Its author has to be told.

use crate::lex::{Placeholders, lex};
use crate::lexeme::{Kind, Lexeme};
use crate::statement::Engine;

/// Whether `:name` or `{{name}}` stands in a string, in a quoted name or in a comment of the query.
pub fn stands_in_text(query: &str, engine: Engine, name: &str) -> bool {
    let Ok(pieces) = lex(query, engine, Placeholders::Read) else {
        return false;
    };
    let is_read = |at: usize| {
        let piece = pieces.iter().find(|piece| at < piece.end);
        piece.is_some_and(|piece| {
            piece.start <= at && !matches!(piece.kind, Kind::Text | Kind::Quoted | Kind::Disguised)
        })
    };
    let colons = query.match_indices(':').filter(|(at, _)| {
        let after = query[at + 1..].strip_prefix(name);
        after.is_some_and(|after| is_alone(&query[..*at], after))
    });
    let braces = query.match_indices("{{").filter(|(at, _)| {
        let inner = query[at + 2..].split_once("}}");
        inner.is_some_and(|(inner, _)| inner.trim() == name)
    });
    colons.chain(braces).any(|(at, _)| !is_read(at))
}

/// Whether the parameter stands right behind an operator or a word that compares one value with another.
pub fn is_compared(query: &str, engine: Engine, name: &str) -> bool {
    let Ok(pieces) = lex(query, engine, Placeholders::Read) else {
        return false;
    };
    let compares = |before: &Lexeme<'_>| match before.kind {
        Kind::Operator => matches!(
            before.text,
            "=" | "==" | "<>" | "!=" | "<" | ">" | "<=" | ">="
        ),
        _ => ["LIKE", "ILIKE", "GLOB"]
            .iter()
            .any(|word| before.is_word(word)),
    };
    pieces.windows(2).any(|pair| match pair {
        [before, it] => it.kind == Kind::Placeholder && it.text == name && compares(before),
        _ => false,
    })
}

/// Neither a cast before it nor the rest of a longer name after it.
fn is_alone(before: &str, after: &str) -> bool {
    let goes_on = |letter: char| letter.is_alphanumeric() || letter == '_';
    !before.ends_with(':') && !after.starts_with(goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_is_text() {
        for (query, name, expected) in [
            ("SELECT ':user'", "user", true),
            ("SELECT 'at {{user}}!'", "user", true),
            ("SELECT '{{ user }}'", "user", true),
            ("SELECT {{ user }}, '{{ other }}'", "user", false),
            ("SELECT \":user\" FROM t", "user", true),
            ("SELECT 1 -- of :user", "user", true),
            ("SELECT 1 /* :user */ + 1", "user", true),
            ("SELECT $$ :user $$", "user", true),
            ("SELECT :user_name", "user", false),
            ("SELECT ':user_name'", "user", false),
            ("SELECT x::text FROM t", "text", false),
            ("SELECT '1::text'", "text", false),
            ("SELECT :user", "user", false),
            ("SELECT 1", "user", false),
            ("SELECT '", "user", false),
        ] {
            let found = stands_in_text(query, Engine::Postgres, name);
            assert_eq!(found, expected, "{query}");
        }
    }
}
