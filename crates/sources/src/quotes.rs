//! Takes the quotes away from a parameter that is a whole string: `'{{name}}'`, as those write it whose values are pasted into
//! the text. Here a value is bound, and between quotes nothing is.

use crate::lex::{Placeholders, lex};
use crate::lexeme::{Kind, Lexeme};
use crate::statement::Engine;

/// What a value may follow. Other words make a string something else: a name (`AS 'x'`), a type (`date 'x'`), a table.
const BEFORE_VALUES: &[&str] = &[
    "AND", "BETWEEN", "CASE", "DISTINCT", "ELSE", "ESCAPE", "GLOB", "HAVING", "ILIKE", "IS",
    "LIKE", "LIMIT", "MATCH", "NOT", "OFFSET", "ON", "OR", "REGEXP", "SELECT", "THEN", "TO",
    "WHEN", "WHERE",
];

/// The query with `{{name}}` for `'{{name}}'` where that stands for a value, and the names of these parameters, each once.
/// Nothing where the text cannot be cut.
pub fn without_quotes(
    query: &str,
    engine: Engine,
    is_parameter: impl Fn(&str) -> bool,
) -> Option<(String, Vec<String>)> {
    let pieces = lex(query, engine, Placeholders::Read).ok()?;
    let (mut text, mut names, mut at) = (String::new(), Vec::new(), 0);
    for (index, piece) in pieces.iter().enumerate() {
        let Some(name) = quoted_name(piece, engine).filter(|name| is_parameter(name)) else {
            continue;
        };
        if !is_value(&pieces[..index], &pieces[index + 1..]) {
            continue;
        }
        text.push_str(&query[at..piece.start]);
        text.push_str(&query[piece.start + 1..piece.end - 1]);
        at = piece.end;
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    text.push_str(&query[at..]);
    Some((text, names))
}

/// The name in a plain string that is one placeholder and nothing else. `':name'` is text to those who bind as well.
fn quoted_name<'t>(piece: &Lexeme<'t>, engine: Engine) -> Option<&'t str> {
    if piece.kind != Kind::Text {
        return None;
    }
    let inner = piece.text.strip_prefix('\'')?.strip_suffix('\'')?;
    let pieces = lex(inner, engine, Placeholders::Read).ok()?;
    match pieces.as_slice() {
        [only] => {
            let is_whole = (only.start, only.end) == (0, inner.len());
            let is_meant = only.kind == Kind::Placeholder && inner.starts_with("{{");
            (is_whole && is_meant).then_some(only.text)
        }
        _ => None,
    }
}

fn is_value(before: &[Lexeme<'_>], after: &[Lexeme<'_>]) -> bool {
    let follows = before.last().is_some_and(|last| match last.kind {
        Kind::Operator => true,
        Kind::Mark => matches!(last.text, "(" | "," | "["),
        Kind::Word => BEFORE_VALUES.iter().any(|word| last.is_word(word)),
        _ => false,
    });
    // PostgreSQL joins strings on lines that follow each other, and before a dot stands a name.
    let ends = after
        .first()
        .is_none_or(|next| next.kind != Kind::Text && !next.is_mark("."));
    follows && ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_parameter_that_is_the_whole_string_loses_its_quotes() {
        let of = |query: &str| without_quotes(query, Engine::Postgres, |name| name != "other");
        let done = |query: &str, expected: &str, names: &[&str]| {
            let (text, found) = of(query).unwrap();
            assert_eq!(text, expected, "{query}");
            assert_eq!(found, names, "{query}");
        };
        done(
            "SELECT * FROM t WHERE nm = '{{nm}}'",
            "SELECT * FROM t WHERE nm = {{nm}}",
            &["nm"],
        );
        done(
            "SELECT '{{ a }}' WHERE x IN ('{{b}}','{{a}}') AND y LIKE '{{사용자}}'",
            "SELECT {{ a }} WHERE x IN ({{b}},{{a}}) AND y LIKE {{사용자}}",
            &["a", "b", "사용자"],
        );
        for kept in [
            "SELECT '%{{nm}}%'",
            "SELECT '{{a}}{{b}}'",
            "SELECT ' {{nm}}'",
            "SELECT '{{nm}}'''",
            "SELECT ':nm'",
            "SELECT '{{other}}'",
            "SELECT x AS '{{nm}}' FROM t",
            "SELECT date '{{nm}}'",
            "SELECT * FROM '{{nm}}'",
            "SELECT E'{{nm}}', N'{{nm}}', $$'{{nm}}'$$",
            "SELECT 'a'\n'{{nm}}'",
            "SELECT '{{nm}}'\n'a'",
            "SELECT 1 -- '{{nm}}'",
            "SELECT 1 /* = '{{nm}}' */",
            "SELECT \"'{{nm}}'\" FROM t",
            "SELECT {{nm}}",
        ] {
            done(kept, kept, &[]);
        }
        assert_eq!(of("SELECT '"), None);
    }
}
