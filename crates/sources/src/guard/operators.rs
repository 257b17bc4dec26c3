//! The operators of a text, cut as PostgreSQL cuts them: a run of their letters may be several, and one is never taken for a
//! part of another.

use crate::lexeme::{Kind, Lexeme};

/// Letters that no operator of standard SQL has. Only with one of them may an operator end in a sign.
const UNUSUAL: &[char] = &['~', '!', '@', '#', '%', '^', '&', '|', '`', '?'];

/// The operators that a run of their letters is.
pub(super) fn cut(mut run: &str) -> Vec<&str> {
    let mut operators = Vec::new();
    while !run.is_empty() {
        let (operator, rest) = run.split_at(first(run));
        operators.push(match operator {
            "!=" => "<>",
            other => other,
        });
        run = rest;
    }
    operators
}

/// How long the first operator of a run is.
fn first(run: &str) -> usize {
    if run.contains(UNUSUAL) {
        return run.len();
    }
    run.trim_end_matches(['+', '-']).len().max(1)
}

/// Whether a `*` stands for all columns or rows and not for an operator: `SELECT *`, `t.*`, `count(*)`.
pub(super) fn is_star(pieces: &[Lexeme<'_>], index: usize) -> bool {
    if pieces[index].text != "*" || is_named(pieces, index) {
        return false;
    }
    // Something has to follow what is multiplied.
    let ends = |next: &Lexeme<'_>| {
        [",", ")", ";"].iter().any(|mark| next.is_mark(mark)) || next.is_word("FROM")
    };
    let of_table = index > 0 && pieces[index - 1].is_mark(".");
    of_table || pieces.get(index + 1).is_none_or(ends)
}

/// Whether it stands in `OPERATOR(schema.*)`.
fn is_named(pieces: &[Lexeme<'_>], index: usize) -> bool {
    let mut before = &pieces[..index];
    while let [rest @ .., name, dot] = before
        && dot.is_mark(".")
        && matches!(name.kind, Kind::Word | Kind::Quoted)
    {
        before = rest;
    }
    matches!(before, [.., word, open] if open.is_mark("(") && word.is_word("OPERATOR"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::{Placeholders, lex};
    use crate::statement::Engine;

    #[test]
    fn runs_are_cut_as_postgresql_cuts_them() {
        for (run, operators) in [
            ("*", &["*"][..]),
            ("*-", &["*", "-"]),
            ("=+-", &["=", "+", "-"]),
            ("--", &["-", "-"]),
            ("@-", &["@-"]),
            ("*-/", &["*-/"]),
            ("!=", &["<>"]),
            (">=-", &[">=", "-"]),
            ("->>", &["->>"]),
        ] {
            assert_eq!(cut(run), operators, "{run}");
        }
    }

    #[test]
    fn a_star_is_not_always_an_operator() {
        for (text, expected) in [
            ("SELECT * FROM t", true),
            ("SELECT *, a FROM t", true),
            ("SELECT t.* , (u).* FROM t, u", true),
            ("SELECT t.* = u.* FROM t, u", true),
            ("SELECT count(*) FROM t", true),
            ("TABLE t UNION (SELECT *)", true),
            ("SELECT *", true),
            ("SELECT a * b FROM t", false),
            ("SELECT a * (b) FROM t", false),
            ("SELECT a * -1", false),
            ("SELECT a OPERATOR(*) b", false),
            ("SELECT a OPERATOR(public.*) b", false),
            ("SELECT a OPERATOR(x.\"public\".*) b", false),
        ] {
            let pieces = lex(text, Engine::Postgres, Placeholders::Unknown).unwrap();
            let star = pieces.iter().position(|piece| piece.text == "*").unwrap();
            assert_eq!(is_star(&pieces, star), expected, "{text}");
        }
    }
}
