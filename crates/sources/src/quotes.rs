//! Takes parameters out of strings: `'{{name}}'` and `'%{{name}}%'`, as those write it whose values are pasted into the text.
//! Here a value is bound, and between quotes nothing is.

use crate::lex::{Placeholders, lex};
use crate::lexeme::{Kind, Lexeme};
use crate::statement::Engine;

/// What a value may follow. Other words make a string something else: a name (`AS 'x'`), a type (`date 'x'`), a table.
const BEFORE_VALUES: &[&str] = &[
    "AND", "BETWEEN", "CASE", "DISTINCT", "ELSE", "ESCAPE", "GLOB", "HAVING", "ILIKE", "IS",
    "LIKE", "LIMIT", "MATCH", "NOT", "OFFSET", "ON", "OR", "REGEXP", "SELECT", "THEN", "TO",
    "WHEN", "WHERE",
];

/// The query with `{{name}}` for `'{{name}}'`, and `('%' || {{name}} || '%')` for `'%{{name}}%'`, where that stands for a value;
/// and the names of these parameters, each once. Nothing where the text cannot be cut.
pub fn without_quotes(
    query: &str,
    engine: Engine,
    is_parameter: impl Fn(&str) -> bool,
) -> Option<(String, Vec<String>)> {
    let pieces = lex(query, engine, Placeholders::Read).ok()?;
    let (mut text, mut names, mut at) = (String::new(), Vec::new(), 0);
    for (index, piece) in pieces.iter().enumerate() {
        let parts = parts(piece, &is_parameter);
        if parts.is_empty() || !is_value(&pieces[..index], &pieces[index + 1..]) {
            continue;
        }
        text.push_str(&query[at..piece.start]);
        let written: Vec<String> = parts.iter().map(Part::written).collect();
        match written.as_slice() {
            [one] => text.push_str(one),
            several => text.extend(["(", &several.join(" || "), ")"]),
        }
        at = piece.end;
        for part in parts {
            if let Part::Parameter(braced) = part {
                let name = named(braced);
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }
    }
    text.push_str(&query[at..]);
    Some((text, names))
}

/// A part of a string.
enum Part<'t> {
    /// As it stands between the quotes.
    Text(&'t str),
    /// With its braces.
    Parameter(&'t str),
}

impl Part<'_> {
    fn written(&self) -> String {
        match self {
            Part::Text(text) => format!("'{text}'"),
            Part::Parameter(braced) => (*braced).to_owned(),
        }
    }
}

fn named(braced: &str) -> &str {
    braced[2..braced.len() - 2].trim()
}

/// Whether it can stand between braces outside of a string.
fn is_name(text: &str) -> bool {
    let in_names = |letter: char| letter.is_alphanumeric() || letter == '_';
    !text.starts_with(|first: char| first.is_ascii_digit()) && text.chars().all(in_names)
}

/// A plain string taken apart at the parameters in it; nothing where there are none. `':name'` is text to those who bind as
/// well.
fn parts<'t>(piece: &Lexeme<'t>, is_parameter: &impl Fn(&str) -> bool) -> Vec<Part<'t>> {
    let inner = (piece.kind == Kind::Text).then_some(piece.text);
    let inner = inner.and_then(|text| text.strip_prefix('\'')?.strip_suffix('\''));
    let (mut parts, mut left) = (Vec::new(), inner.unwrap_or_default());
    let mut from = 0;
    let mut has_any = false;
    while let Some(start) = left[from..].find("{{").map(|at| from + at) {
        let Some(end) = left[start..].find("}}").map(|at| start + at + 2) else {
            break;
        };
        let braced = &left[start..end];
        let name = named(braced);
        if !is_name(name) || !is_parameter(name) {
            from = start + 1;
            continue;
        }
        has_any = true;
        if start > 0 {
            parts.push(Part::Text(&left[..start]));
        }
        parts.push(Part::Parameter(braced));
        (left, from) = (&left[end..], 0);
    }
    if !left.is_empty() {
        parts.push(Part::Text(left));
    }
    if has_any { parts } else { Vec::new() }
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
    fn parameters_are_taken_out_of_the_strings_that_stand_for_values() {
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
        done(
            "SELECT 1 WHERE a LIKE '%{{nm}}%' AND b = '{{a}}{{b}}' OR c = 'it''s {{nm}}''' AND d = '{{other}}{{ a }}'",
            "SELECT 1 WHERE a LIKE ('%' || {{nm}} || '%') AND b = ({{a}} || {{b}}) OR c = ('it''s ' || {{nm}} || '''') AND d = ('{{other}}' || {{ a }})",
            &["nm", "a", "b"],
        );
        done(
            "SELECT '{{{nm}}}'",
            "SELECT ('{' || {{nm}} || '}')",
            &["nm"],
        );
        for kept in [
            "SELECT '{{nm'",
            "SELECT '{{n-m}}', '{{n m}}', '{{1st}}'",
            "SELECT 'nm}}'",
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
