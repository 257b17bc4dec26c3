//! Both engines put the text of a column in the place of its name before they run a query, so that twenty nested queries,
//! each of `SELECT x + x AS x`, become an expression of a million parts while the text is only planned, which nothing can
//! stop. This counts the parts beforehand.

mod queries;

use super::definition::definition;
use crate::error::Error;
use crate::lexeme::{Kind, Lexeme, unquote};
use crate::statement::Engine;
use std::collections::HashMap;
use std::rc::Rc;

const PARTS_MAX: u64 = 16_000;
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

pub(super) fn check(engine: Engine, pieces: &[Lexeme<'_>]) -> Result<(), Error> {
    queries::check(engine, pieces)?;
    if parts(engine, pieces) > PARTS_MAX {
        return Err(Error::refused(format!(
            "the columns of the query name each other so often that one would have more than {PARTS_MAX} parts; \
             name the columns of inner queries less often"
        )));
    }
    Ok(())
}

/// How many parts each column of a query has, once its names are replaced.
#[derive(Clone, Debug, Default)]
struct Columns {
    named: HashMap<String, u64>,
    /// The most of a column whose name we do not know for sure.
    any: u64,
}

impl Columns {
    fn parts(&self, name: &str) -> u64 {
        let named = self.named.get(name).copied().unwrap_or(1);
        named.max(self.any).max(1)
    }

    fn add(&mut self, name: String, parts: u64) {
        let known = self.named.entry(name).or_default();
        *known = parts.max(*known);
    }

    fn take(&mut self, other: &Columns) {
        for (name, parts) in &other.named {
            self.add(name.clone(), *parts);
        }
        self.any = self.any.max(other.any);
    }

    /// Renamed by a list of names, so that any may be any.
    fn unnamed(&self) -> Columns {
        let most = self.named.values().copied().max().unwrap_or(0);
        Columns {
            named: HashMap::new(),
            any: most.max(self.any),
        }
    }
}

/// What stands in parentheses, or the whole.
#[derive(Debug, Default)]
struct Scope {
    start: usize,
    /// What earlier common table expressions have, here and around; shared, because every parenthesis has one.
    before: Rc<Columns>,
    /// What the queries in here have.
    inner: Columns,
    /// It is one that later ones see.
    defines: bool,
    /// It renames its columns by a list in its head.
    renames: bool,
}

fn parts(engine: Engine, pieces: &[Lexeme<'_>]) -> u64 {
    let mut open = vec![Scope::default()];
    let mut most = 0;
    for (index, piece) in pieces.iter().enumerate() {
        if piece.is_mark("(") {
            let Some(outer) = open.last() else { continue };
            let mut before = Rc::clone(&outer.before);
            // What stands beside it in FROM is seen as well.
            if index > 0 && pieces[index - 1].is_word("LATERAL") {
                Rc::make_mut(&mut before).take(&outer.inner);
            }
            let definition = definition(&pieces[..index]);
            open.push(Scope {
                start: index + 1,
                before,
                defines: definition.is_some(),
                renames: definition.is_some_and(|definition| definition.renames),
                ..Scope::default()
            });
        } else if piece.is_mark(")") && open.len() > 1 {
            let Some(scope) = open.pop() else { continue };
            let (start, defines, renames) = (scope.start, scope.defines, scope.renames);
            let (mut columns, parts) = scope.columns(engine, &pieces[start..index]);
            most = most.max(parts);
            if renames || is_renamed(&pieces[index + 1..]) {
                columns = columns.unnamed();
            }
            let Some(outer) = open.last_mut() else {
                continue;
            };
            if defines {
                Rc::make_mut(&mut outer.before).take(&columns);
            }
            if defines || is_source(&pieces[..start - 1]) {
                outer.inner.take(&columns);
            }
        }
    }
    while let Some(scope) = open.pop() {
        let start = scope.start;
        most = most.max(scope.columns(engine, &pieces[start..]).1);
    }
    most
}

impl Scope {
    /// The columns of the queries in here, and by how much the largest of them, or of the conditions, has grown.
    fn columns(self, engine: Engine, pieces: &[Lexeme<'_>]) -> (Columns, u64) {
        let mut found = Vec::new();
        let (mut most, mut at) = (0, 0);
        // Inner queries have been counted by themselves.
        let own = without_queries(pieces);
        while at < own.len() {
            let lists = own[at].is_word("SELECT");
            at += usize::from(lists);
            let (end, items) = split(&own[at..], lists);
            for item in items {
                let (parts, grown) = self.sum(engine, item);
                most = most.max(grown);
                if lists {
                    found.push((alias(engine, item), parts));
                }
            }
            at += end;
        }
        let mut columns = self.inner;
        for (name, parts) in found {
            match name {
                Some(name) => columns.add(name, parts),
                None => columns.any = columns.any.max(parts),
            }
        }
        (columns, most)
    }

    /// How many parts an expression has, and how many of them its names have brought.
    fn sum(&self, engine: Engine, item: &[Lexeme<'_>]) -> (u64, u64) {
        let (mut sum, mut grown) = (0u64, 0u64);
        for (index, piece) in item.iter().enumerate() {
            let called = item.get(index + 1).is_some_and(|next| next.is_mark("("));
            let Some(name) = name(engine, piece).filter(|_| !called) else {
                continue;
            };
            let parts = self.before.parts(&name).max(self.inner.parts(&name));
            sum = sum.saturating_add(parts);
            grown = grown.saturating_add(parts - 1);
        }
        (sum, grown)
    }
}

/// The pieces without those of inner queries.
fn without_queries<'t>(pieces: &[Lexeme<'t>]) -> Vec<Lexeme<'t>> {
    let mut own = Vec::with_capacity(pieces.len());
    let mut inside: Vec<bool> = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        if piece.is_mark(")") {
            inside.pop();
        }
        let hidden = inside.last().copied().unwrap_or(false);
        if piece.is_mark("(") {
            let next = pieces[index + 1..].iter().find(|piece| !piece.is_mark("("));
            let query = next.is_some_and(|next| {
                ["SELECT", "WITH", "VALUES", "TABLE"]
                    .iter()
                    .any(|word| next.is_word(word))
            });
            inside.push(hidden || query);
        }
        if !hidden {
            own.push(*piece);
        }
    }
    own
}

/// The items of a list, and where it ends; or one item up to the next SELECT.
fn split<'p, 't>(pieces: &'p [Lexeme<'t>], lists: bool) -> (usize, Vec<&'p [Lexeme<'t>]>) {
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
fn alias(engine: Engine, item: &[Lexeme<'_>]) -> Option<String> {
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

fn name(engine: Engine, piece: &Lexeme<'_>) -> Option<String> {
    if WORDS.iter().any(|word| piece.is_word(word)) {
        return None;
    }
    piece.name(engine).map(|name| name.to_ascii_lowercase())
}

/// Whether the columns of a query that begins here have names for what is around it. Those of one that gives a value have
/// none: `WHERE a IN (SELECT …)`.
fn is_source(before: &[Lexeme<'_>]) -> bool {
    const WORDS: &[&str] = &[
        "ALL",
        "EXCEPT",
        "FROM",
        "INTERSECT",
        "JOIN",
        "LATERAL",
        "UNION",
    ];
    before.last().is_none_or(|last| {
        last.is_mark("(") || last.is_mark(",") || WORDS.iter().any(|word| last.is_word(word))
    })
}

/// `… ) AS t(a, b)`
fn is_renamed(after: &[Lexeme<'_>]) -> bool {
    let after = match after {
        [first, rest @ ..] if first.is_word("AS") => rest,
        after => after,
    };
    let is_name = |piece: &Lexeme<'_>| matches!(piece.kind, Kind::Word | Kind::Quoted);
    matches!(after, [name, open, ..] if is_name(name) && open.is_mark("(") && !is_end(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::{Placeholders, lex};

    fn count(engine: Engine, text: &str) -> u64 {
        parts(engine, &lex(text, engine, Placeholders::Unknown).unwrap())
    }

    /// Eighteen times the second text around the first; `#` is the level, `@` what was before.
    fn nested(first: &str, around: &str) -> String {
        (1..=18).fold(first.to_owned(), |text, level| {
            around.replace('@', &text).replace('#', &level.to_string())
        })
    }

    #[test]
    fn doubling_is_seen_however_it_is_spelled() {
        let chain = |defined: &str| {
            let mut text = "WITH a0(x) AS (SELECT 1 AS x)".to_owned();
            for level in 1..=18 {
                let below = level - 1;
                let part = defined.replace('#', &level.to_string());
                text.push_str(&part.replace('@', &format!("a{below}")));
            }
            text + " SELECT x FROM a18"
        };
        for text in [
            nested(
                "SELECT id AS x FROM people",
                "SELECT x + x AS x FROM (@) t#",
            ),
            nested("SELECT id AS x FROM people", "SELECT x + x x FROM (@) t#"),
            nested(
                "SELECT id AS x FROM people",
                "SELECT t#.x || t#.x AS \"x\" FROM (@) AS t#",
            ),
            nested(
                "SELECT id AS x FROM people",
                "SELECT x + x FROM (@) AS t#(x)",
            ),
            nested(
                "SELECT 1 AS a, 2 AS b",
                "SELECT a + b AS a, a - b AS b FROM (@) t#",
            ),
            nested(
                "SELECT id AS abs FROM people",
                "SELECT abs(abs + abs) FROM (@) t#",
            ),
            nested(
                "SELECT id AS int4 FROM people",
                "SELECT (int4 + int4)::int FROM (@) t#",
            ),
            nested(
                "SELECT id AS x FROM people",
                "SELECT CASE WHEN x > 1 THEN x ELSE x END AS x FROM (@) t#",
            ),
            nested(
                "SELECT id AS x FROM people",
                "SELECT * FROM (SELECT *, x + x AS x FROM (@) t#) u#",
            ),
            nested(
                "SELECT id AS x FROM people",
                "(SELECT x + x AS x FROM (@) t# LIMIT 1)",
            ),
            chain(", a# AS (SELECT x + x AS x FROM @)"),
            chain(", a#(x) AS (SELECT x + x FROM @)"),
            chain(", a# AS NOT MATERIALIZED (SELECT x + x AS x FROM @)"),
        ] {
            for engine in [Engine::Postgres, Engine::Sqlite] {
                assert!(count(engine, &text) > PARTS_MAX, "{engine:?} {text}");
            }
        }
        let lateral = (1..=18).fold(
            "SELECT * FROM (SELECT 1 AS x0) t0".to_owned(),
            |text, level| {
                let below = level - 1;
                format!("{text}, LATERAL (SELECT x{below} + x{below} AS x{level}) t{level}")
            },
        );
        assert!(count(Engine::Postgres, &lateral) > PARTS_MAX);
    }

    #[test]
    fn honest_queries_have_few_parts() {
        let union = "SELECT a + a AS a, b FROM t UNION ALL ".repeat(200) + "SELECT 1, 2";
        let unions = "(SELECT a + a AS a, b FROM t) UNION ALL ".repeat(100) + "(SELECT 1, 2)";
        let wide = format!(
            "SELECT {} FROM (SELECT * FROM t) s",
            vec!["s.a"; 300].join(", ")
        );
        let steps = "WITH a AS (SELECT dept, sum(pay) AS total, count(*) n FROM staff GROUP BY dept),
            b AS (SELECT a.*, total / n AS mean, CASE WHEN n > 3 THEN 'many' ELSE 'few' END AS size FROM a),
            c AS (SELECT size, avg(mean) AS mean, max(mean) - min(mean) AS spread, sum(total) AS total FROM b GROUP BY size)
            SELECT c.size, round(c.mean, 2), c.spread / nullif(c.mean, 0) AS rel, c.total,
                rank() OVER (ORDER BY c.total DESC) AS place
            FROM c JOIN b ON b.size = c.size WHERE c.mean > (SELECT avg(mean) FROM b) ORDER BY c.mean + c.spread";
        let values = format!(
            "SELECT {} FROM t WHERE a > (SELECT avg(b * c * d * e * f * g) FROM u) AND b IN (SELECT c + d + e + f FROM v)",
            vec!["a + b + c"; 1000].join(", ")
        );
        for text in [union.as_str(), &unions, &wide, steps, &values] {
            for engine in [Engine::Postgres, Engine::Sqlite] {
                let parts = count(engine, text);
                assert!(parts < 1000, "{parts} {text}");
            }
        }
    }
}
