//! The head of a common table expression: `name AS (`, `name(a, b) AS NOT MATERIALIZED (`.

use crate::lexeme::Lexeme;

pub(super) struct Definition<'l, 't> {
    pub(super) name: Option<&'l Lexeme<'t>>,
    /// Its columns are renamed by a list.
    pub(super) renames: bool,
    pub(super) not_materialized: bool,
}

/// What the opening parenthesis after these pieces defines, if anything.
pub(super) fn definition<'l, 't>(before: &'l [Lexeme<'t>]) -> Option<Definition<'l, 't>> {
    let mut before = before;
    let mut not_materialized = false;
    while let [rest @ .., last] = before
        && (last.is_word("MATERIALIZED") || last.is_word("NOT"))
    {
        not_materialized |= last.is_word("NOT");
        before = rest;
    }
    let [head @ .., as_] = before else {
        return None;
    };
    if !as_.is_word("AS") {
        return None;
    }
    let renames = head.last()?.is_mark(")");
    let name = match renames {
        true => {
            let list = head.iter().rposition(|piece| piece.is_mark("("));
            list.and_then(|list| head[..list].last())
        }
        false => head.last(),
    };
    Some(Definition {
        name,
        renames,
        not_materialized,
    })
}
