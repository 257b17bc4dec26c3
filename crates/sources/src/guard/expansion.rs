//! A common table expression is copied wherever it is named, so that thirty of them, each naming the one before twice,
//! become a thousand million while the text is only compiled. SQLite does so with all of them, PostgreSQL with those that
//! are `NOT MATERIALIZED`. This counts the copies beforehand.

use super::definition::definition;
use crate::error::Error;
use crate::lexeme::{Kind, Lexeme, unquote};
use crate::statement::Engine;
use std::collections::HashMap;

const COPIES_MAX: u64 = 2000;

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

/// What the whole text costs, if a name costs what its definition costs. Definitions come before their use, and one that
/// comes later counts as one: it is no copy but recursion, which SQLite runs in a loop.
fn copies(engine: Engine, pieces: &[Lexeme<'_>]) -> u64 {
    let mut costs: HashMap<String, u64> = HashMap::new();
    let mut open: Vec<(Option<String>, u64)> = vec![(None, 1)];
    for (index, piece) in pieces.iter().enumerate() {
        if piece.is_mark("(") {
            open.push((defined(engine, &pieces[..index]), 1));
        } else if piece.is_mark(")") && open.len() > 1 {
            let Some((name, cost)) = open.pop() else {
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
        } else if let Some(name) = named(engine, piece) {
            let cost = costs.get(&name).copied();
            add(&mut open, cost.unwrap_or(0));
        }
    }
    open.iter()
        .fold(0, |sum, (_, cost)| sum.saturating_add(*cost))
}

fn add(open: &mut [(Option<String>, u64)], cost: u64) {
    if let Some((_, sum)) = open.last_mut() {
        *sum = sum.saturating_add(cost);
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
    }
}
