//! The items of a list, the names that they get, and the names that others in FROM get.

use crate::lexeme::{Kind, Lexeme, unquote};
use crate::statement::Engine;

/// Words that are no columns.
const WORDS: &[&str] = &[
    "ALL",
    "AND",
    "ANY",
    "AS",
    "ASC",
    "BETWEEN",
    "BY",
    "CASE",
    "CAST",
    "COLLATE",
    "DESC",
    "DISTINCT",
    "ELSE",
    "END",
    "EXISTS",
    "FALSE",
    "FILTER",
    "FOLLOWING",
    "FROM",
    "GROUP",
    "HAVING",
    "ILIKE",
    "IN",
    "IS",
    "JOIN",
    "LATERAL",
    "LEFT",
    "LIKE",
    "LIMIT",
    "NOT",
    "NULL",
    "ON",
    "OR",
    "ORDER",
    "OVER",
    "PARTITION",
    "PRECEDING",
    "ROWS",
    "SELECT",
    "THEN",
    "TRUE",
    "UNBOUNDED",
    "UNION",
    "USING",
    "WHEN",
    "WHERE",
    "WITHIN",
];
/// Where the list of a SELECT ends.
const ENDS: &[&str] = &[
    "EXCEPT",
    "FETCH",
    "FROM",
    "GROUP",
    "HAVING",
    "INTERSECT",
    "INTO",
    "LIMIT",
    "OFFSET",
    "ORDER",
    "UNION",
    "WHERE",
    "WINDOW",
];

/// From the list of a SELECT to the end of its query.
pub(super) fn one_query<'p, 't>(pieces: &'p [Lexeme<'t>]) -> &'p [Lexeme<'t>] {
    let mut depth = 0usize;
    let ends = |piece: &Lexeme<'_>| {
        ["EXCEPT", "INTERSECT", "SELECT", "UNION"]
            .iter()
            .any(|word| piece.is_word(word))
    };
    for (index, piece) in pieces.iter().enumerate() {
        if piece.is_mark("(") {
            depth += 1;
        } else if piece.is_mark(")") {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && ends(piece) {
            return &pieces[..index];
        }
    }
    pieces
}

/// The items of the rows after VALUES, in what comes before the next SELECT.
pub(super) fn values<'p, 't>(pieces: &'p [Lexeme<'t>]) -> Vec<&'p [Lexeme<'t>]> {
    let (mut depth, mut from, mut items) = (0usize, None, Vec::new());
    let mut listed = false;
    for (index, piece) in pieces.iter().enumerate() {
        let ends = depth == 1 && (piece.is_mark(")") || piece.is_mark(","));
        if let (true, true, Some(start)) = (listed, ends, from) {
            items.push(&pieces[start..index]);
            from = Some(index + 1);
        }
        if piece.is_mark("(") {
            depth += 1;
            if depth == 1 {
                from = Some(index + 1);
            }
        } else if piece.is_mark(")") {
            depth = depth.saturating_sub(1);
        } else if depth == 0 {
            listed = piece.is_word("VALUES") || listed && !is_end(piece);
        }
    }
    items
}

/// Whether a name before these pieces is that of a common table expression: `… AS (`.
pub(super) fn is_head(after: &[Lexeme<'_>]) -> bool {
    let [as_, rest @ ..] = after else {
        return false;
    };
    let told = |piece: &Lexeme<'_>| piece.is_word("NOT") || piece.is_word("MATERIALIZED");
    let opens = rest.iter().find(|piece| !told(piece));
    as_.is_word("AS") && opens.is_some_and(|open| open.is_mark("("))
}

/// `*`, `t.*`
pub(super) fn is_star(item: &[Lexeme<'_>]) -> bool {
    match item {
        [star] => is_asterisk(star),
        [_, dot, star] => dot.is_mark(".") && is_asterisk(star),
        _ => false,
    }
}

pub(super) fn is_asterisk(piece: &Lexeme<'_>) -> bool {
    piece.kind == Kind::Operator && piece.text == "*"
}

/// The name that something in FROM gets after these pieces, and the names that its columns get.
pub(super) fn alias_after<'p, 't>(
    engine: Engine,
    after: &'p [Lexeme<'t>],
) -> Option<(String, &'p [Lexeme<'t>])> {
    let after = match after {
        [with, ordinality, rest @ ..]
            if with.is_word("WITH") && ordinality.is_word("ORDINALITY") =>
        {
            rest
        }
        after => after,
    };
    let after = match after {
        [first, rest @ ..] if first.is_word("AS") => rest,
        after => after,
    };
    let [first, rest @ ..] = after else {
        return None;
    };
    let alias = name(engine, first).filter(|_| !is_end(first))?;
    let list = match rest {
        [open, list @ ..] if open.is_mark("(") => {
            let end = list.iter().position(|piece| piece.is_mark(")"));
            &list[..end.unwrap_or(list.len())]
        }
        rest => &rest[..0],
    };
    Some((alias, list))
}

/// The items of a list, and where it ends; or one item up to the next SELECT.
pub(super) fn split<'p, 't>(
    pieces: &'p [Lexeme<'t>],
    lists: bool,
) -> (usize, Vec<&'p [Lexeme<'t>]>) {
    let (mut depth, mut from, mut items) = (0usize, 0, Vec::new());
    for (index, piece) in pieces.iter().enumerate() {
        if piece.is_mark("(") {
            depth += 1;
        } else if piece.is_mark(")") {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && lists && piece.is_mark(",") {
            items.push(&pieces[from..index]);
            from = index + 1;
        } else if depth == 0 && (piece.is_word("SELECT") || lists && is_end(piece)) {
            items.push(&pieces[from..index]);
            return (index, items);
        }
    }
    items.push(&pieces[from..]);
    (pieces.len(), items)
}

fn is_end(piece: &Lexeme<'_>) -> bool {
    ENDS.iter().any(|word| piece.is_word(word))
}

/// The name under which an item of a list is known, where that is sure.
pub(super) fn alias(engine: Engine, item: &[Lexeme<'_>]) -> Option<String> {
    let [rest @ .., last] = item else {
        return None;
    };
    let name = match last.kind {
        // SQLite takes a string for a name.
        Kind::Text if engine == Engine::Sqlite => Some(unquote(last.text).to_ascii_lowercase()),
        _ => name(engine, last),
    }?;
    let named = match rest {
        [] => true,
        [.., before] => before.is_mark(".") || before.is_word("AS") || ends_value(before),
    };
    named.then_some(name)
}

/// Whether a name after this is an alias, and not part of an expression.
fn ends_value(piece: &Lexeme<'_>) -> bool {
    match piece.kind {
        Kind::Mark => piece.is_mark(")") || piece.is_mark("]"),
        Kind::Word => piece.is_word("END") || !WORDS.iter().any(|word| piece.is_word(word)),
        Kind::Operator => false,
        _ => true,
    }
}

pub(super) fn name(engine: Engine, piece: &Lexeme<'_>) -> Option<String> {
    if WORDS.iter().any(|word| piece.is_word(word)) {
        return None;
    }
    piece.name(engine).map(|name| name.to_ascii_lowercase())
}

/// `… ) AS t(a, b)`
pub(super) fn is_renamed(after: &[Lexeme<'_>]) -> bool {
    let after = match after {
        [first, rest @ ..] if first.is_word("AS") => rest,
        after => after,
    };
    let is_name = |piece: &Lexeme<'_>| matches!(piece.kind, Kind::Word | Kind::Quoted);
    matches!(after, [name, open, ..] if is_name(name) && open.is_mark("(") && !is_end(name))
}
