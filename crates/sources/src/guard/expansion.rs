//! A common table expression is copied wherever it is named, so that thirty of them, each naming the one before twice,
//! become a thousand million while the text is only compiled. SQLite does so with all of them, PostgreSQL with those that
//! are `NOT MATERIALIZED`. This counts the copies beforehand.

use super::definition::definition;
use crate::error::Error;
use crate::lexeme::{Kind, Lexeme, unquote};
use crate::statement::Engine;
use std::collections::HashMap;

const COPIES_MAX: u64 = 2000;
/// Words that end the list of tables; both engines take none of them for the name of one.
pub(super) const AFTER_TABLES: &[&str] = &[
    "EXCEPT",
    "GROUP",
    "HAVING",
    "INTERSECT",
    "LIMIT",
    "ORDER",
    "SELECT",
    "UNION",
    "WHERE",
];

pub(super) fn check(engine: Engine, pieces: &[Lexeme<'_>]) -> Result<(), Error> {
    let copies = copies(engine, pieces);
    if copies > COPIES_MAX {
        return Err(Error::refused(format!(
            "the common table expressions of the query name each other so often that it would be copied {copies} times, \
             the most is {COPIES_MAX}; name them less often"
        )));
    }
    Ok(())
}

/// What stands in parentheses, or the whole.
#[derive(Debug, Default)]
struct Scope {
    /// The name that it defines.
    name: Option<String>,
    cost: u64,
    /// Names here may be those of tables: it comes after FROM.
    tables: bool,
}

/// What the whole text costs, if the name of a table costs what its definition costs. Definitions come before their use, and
/// one that comes later counts as one: it is no copy but recursion, which SQLite runs in a loop.
fn copies(engine: Engine, pieces: &[Lexeme<'_>]) -> u64 {
    let mut costs: HashMap<String, u64> = HashMap::new();
    let mut open = vec![Scope {
        cost: 1,
        ..Scope::default()
    }];
    for (index, piece) in pieces.iter().enumerate() {
        let before = index.checked_sub(1).map(|at| &pieces[at]);
        let inside = open.len() > 1;
        let Some(scope) = open.last_mut() else {
            continue;
        };
        if piece.is_mark("(") {
            let tables = scope.tables && before.is_some_and(|before| leads(before, scope.tables));
            open.push(Scope {
                name: defined(engine, &pieces[..index]),
                cost: 1,
                tables,
            });
        } else if piece.is_mark(")") && inside {
            let Some(Scope { name, cost, .. }) = open.pop() else {
                continue;
            };
            match name {
                Some(name) => {
                    // The same name may be defined at several depths: the dearest counts.
                    let known = costs.entry(name).or_default();
                    *known = cost.max(*known);
                }
                None => add(&mut open, cost.saturating_sub(1)),
            }
        } else if before.is_some_and(|before| before.is_mark(".") || before.is_word("AS")) {
            // A column or an alias, whatever word it is.
        } else if piece.is_word("FROM") {
            scope.tables = true;
        } else if AFTER_TABLES.iter().any(|word| piece.is_word(word)) {
            scope.tables = false;
        } else if let Some(name) = named(engine, piece)
            && before.is_some_and(|before| leads(before, scope.tables))
        {
            // `name.column` is no copy.
            let qualifies = pieces.get(index + 1).is_some_and(|next| next.is_mark("."));
            let cost = costs.get(&name).copied().filter(|_| !qualifies);
            add(&mut open, cost.unwrap_or(0));
        }
    }
    open.iter()
        .fold(0, |sum, scope| sum.saturating_add(scope.cost))
}

/// Whether a table may be named after this.
fn leads(before: &Lexeme<'_>, tables: bool) -> bool {
    // `x IN name`, `TABLE name`
    const ALWAYS: &[&str] = &["FROM", "IN", "JOIN", "LATERAL", "ONLY", "TABLE"];
    let mark = before.is_mark(",") || before.is_mark("(");
    tables && mark || ALWAYS.iter().any(|word| before.is_word(word))
}

fn add(open: &mut [Scope], cost: u64) {
    if let Some(scope) = open.last_mut() {
        scope.cost = scope.cost.saturating_add(cost);
    }
}

/// The name of a table. SQLite takes a string for one.
fn named(engine: Engine, piece: &Lexeme<'_>) -> Option<String> {
    let name = match piece.kind {
        Kind::Text if engine == Engine::Sqlite => Some(unquote(piece.text)),
        _ => piece.name(engine),
    };
    name.map(|name| name.to_ascii_lowercase())
}

/// The name that an opening parenthesis defines and that is copied.
fn defined(engine: Engine, before: &[Lexeme<'_>]) -> Option<String> {
    let definition = definition(before)?;
    let copied = engine == Engine::Sqlite || definition.not_materialized;
    copied
        .then_some(definition.name)
        .flatten()
        .and_then(|name| named(engine, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::{Placeholders, lex};

    fn count(engine: Engine, text: &str) -> u64 {
        copies(engine, &lex(text, engine, Placeholders::Unknown).unwrap())
    }

    /// Thirty levels, each of which names the one below twice.
    fn doubled(defined: &str, names: [&str; 2]) -> String {
        let mut text = String::from("WITH a0 AS (SELECT 1)");
        for level in 1..30 {
            let name = |index: usize| names[index].replace('N', &format!("a{}", level - 1));
            let (first, second) = (name(0), name(1));
            text.push_str(&format!(
                ", a{level} AS {defined}(SELECT 1 FROM {first} x, {second} y)"
            ));
        }
        text + " SELECT * FROM a29"
    }

    #[test]
    fn honest_queries_cost_little() {
        for engine in [Engine::Postgres, Engine::Sqlite] {
            for text in [
                "WITH a AS (SELECT 1), b(x) AS (SELECT * FROM a) SELECT * FROM a JOIN b JOIN b",
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i FROM n",
            ] {
                assert!(count(engine, text) < 20, "{text}");
            }
            // Columns may be named as often as anybody likes, with their table or as one.
            let mut report = String::from("WITH a0 AS (SELECT 1 AS c, 2 AS a0)");
            for level in 1..6 {
                let below = format!("a{}", level - 1);
                let columns = format!("{below}.c, max({below}.c, {below}.a0), a0, (a0)").repeat(9);
                report.push_str(&format!(
                    ", a{level} AS NOT MATERIALIZED (SELECT {columns} FROM {below} WHERE {below}.c IN (a0, {below}.c) \
                     GROUP BY a0, {below}.c)"
                ));
            }
            let cost = count(engine, &format!("{report} SELECT a5.c FROM a5"));
            assert!(cost < 20, "{engine:?} {cost}");
        }
        // PostgreSQL computes what is named twice once, unless it is told not to.
        assert!(count(Engine::Postgres, &doubled("", ["N", "N"])) < 200);
    }

    #[test]
    fn doubling_is_seen_however_it_is_spelled() {
        let never = "NOT MATERIALIZED ";
        for (engine, defined, names) in [
            (Engine::Sqlite, "", ["N", "N"]),
            (Engine::Sqlite, never, ["N", "\"N\""]),
            (Engine::Sqlite, "", ["'N'", "[N]"]),
            (Engine::Sqlite, "", ["\u{feff}N", "`N`"]),
            (Engine::Postgres, never, ["N", "\"N\""]),
        ] {
            let text = doubled(defined, names);
            let open = format!("{text} /* open");
            let renamed = text.replace(" AS ", "(n) AS ");
            for text in [&text, &open, &renamed] {
                let Ok(pieces) = lex(text, engine, Placeholders::Unknown) else {
                    continue;
                };
                assert!(copies(engine, &pieces) > COPIES_MAX, "{text}");
                assert!(check(engine, &pieces).is_err());
            }
        }
        // Longer than a name of PostgreSQL can be.
        let long = doubled("", ["N", "\"N\""]).replace('a', &"a".repeat(70));
        assert!(count(Engine::Sqlite, &long) > COPIES_MAX, "{long}");
        let both = [Engine::Postgres, Engine::Sqlite];
        for (engines, query) in [
            (&both[..], "SELECT 1 FROM (@ x, @ y)"),
            (&both[..], "SELECT 1 FROM ((@) x CROSS JOIN (@ y))"),
            (&both[..], "SELECT 1 FROM @ x JOIN @ y ON x.\"where\" = y.b"),
            (&both[..], "SELECT 1 FROM t JOIN @ x ON x.where = 1, @ y"),
            (&both[..], "SELECT (SELECT 1 FROM @) FROM @"),
            (&both[..], "SELECT 1 FROM @ UNION ALL SELECT 1 FROM @"),
            (&both[..], "SELECT 1 FROM @ WHERE EXISTS (SELECT 1 FROM @)"),
            (&both[..1], "(TABLE @) UNION ALL (TABLE @)"),
            (&both[..1], "SELECT 1 FROM ONLY @, ONLY (@)"),
            (&both[1..], "SELECT 1 WHERE 1 IN @ OR 2 IN @"),
            (&both[1..], "SELECT 1 FROM '@' AS x, [@] AS y"),
        ] {
            let mut text = String::from("WITH a0 AS NOT MATERIALIZED (SELECT 1)");
            for level in 1..30 {
                let query = query.replace('@', &format!("a{}", level - 1));
                text.push_str(&format!(", a{level} AS NOT MATERIALIZED ({query})"));
            }
            text.push_str(" SELECT * FROM a29");
            for engine in engines {
                assert!(count(*engine, &text) > COPIES_MAX, "{text}");
            }
        }
    }
}
