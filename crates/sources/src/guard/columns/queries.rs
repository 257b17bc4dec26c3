//! With a column SQLite copies the queries in it that give a value: `SELECT (SELECT x) + (SELECT x) AS x`, a dozen times around
//! itself, is ten thousand queries before the first has begun. This counts them beforehand.

use super::super::definition::definition;
use super::super::expansion::AFTER_TABLES;
use super::{alias, name, split};
use crate::error::Error;
use crate::lexeme::Lexeme;
use crate::statement::Engine;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

const QUERIES_MAX: u64 = 2000;

pub(super) fn check(engine: Engine, pieces: &[Lexeme<'_>]) -> Result<(), Error> {
    if engine == Engine::Sqlite && queries(pieces) > QUERIES_MAX {
        return Err(Error::refused(format!(
            "the columns of the query name each other so often that it would become more than {QUERIES_MAX} queries; \
             name columns with queries in them less often"
        )));
    }
    Ok(())
}

/// What an expression becomes, once its names are replaced.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    queries: u64,
    /// How often it names something, which may be a column of a query around it.
    names: u64,
}

impl Cost {
    fn add(&mut self, other: Cost) {
        self.queries = self.queries.saturating_add(other.queries);
        self.names = self.names.saturating_add(other.names);
    }

    fn or(self, other: Cost) -> Cost {
        Cost {
            queries: self.queries.max(other.queries),
            names: self.names.max(other.names),
        }
    }
}

/// What the columns of tables become.
#[derive(Clone, Debug, Default)]
struct Held {
    named: HashMap<String, Cost>,
    /// The most of a column whose name we do not know for sure.
    any: Cost,
}

impl Held {
    fn of(&self, name: &str) -> Cost {
        let named = self.named.get(name).copied().unwrap_or_default();
        named.or(self.any)
    }

    fn add(&mut self, name: Option<String>, cost: Cost) {
        let known = match name {
            Some(name) => self.named.entry(name).or_default(),
            None => &mut self.any,
        };
        *known = known.or(cost);
    }

    fn take(&mut self, other: &Held) {
        for (name, cost) in &other.named {
            self.add(Some(name.clone()), *cost);
        }
        self.add(None, other.any);
    }

    /// Renamed by a list of names, so that any may be any.
    fn unnamed(&self) -> Held {
        Held {
            named: HashMap::new(),
            any: self.named.values().copied().fold(self.any, Cost::or),
        }
    }
}

/// What a pair of parentheses is for what is around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Role {
    /// It gives a value, or is only there for the order.
    #[default]
    Value,
    /// A query in place of a table: it sees nothing of what stands beside it.
    Source,
    Definition {
        renames: bool,
    },
}

/// What stands in parentheses, or the whole.
#[derive(Debug, Default)]
struct Scope {
    role: Role,
    start: usize,
    /// A parenthesis may be a table here: it comes after FROM.
    tables: bool,
    /// What earlier common table expressions have, here and around.
    before: Rc<Held>,
    /// What the tables in here have.
    inner: Held,
    /// Where queries stand in place of tables.
    hidden: Vec<Range<usize>>,
    /// What the queries in here that give a value have brought by tables of their own, and where they begin.
    brought: Vec<(usize, Cost)>,
}

fn queries(pieces: &[Lexeme<'_>]) -> u64 {
    let mut open = vec![Scope::default()];
    let mut most = 0;
    for (index, piece) in pieces.iter().enumerate() {
        let before = index.checked_sub(1).map(|at| &pieces[at]);
        let inside = open.len() > 1;
        let Some(scope) = open.last_mut() else {
            continue;
        };
        if piece.is_mark("(") {
            let role = match definition(&pieces[..index]) {
                Some(definition) => Role::Definition {
                    renames: definition.renames,
                },
                None if scope.tables && before.is_some_and(leads) => Role::Source,
                None => Role::Value,
            };
            let before = Rc::clone(&scope.before);
            open.push(Scope {
                role,
                start: index + 1,
                tables: role == Role::Source,
                before,
                ..Scope::default()
            });
        } else if piece.is_mark(")") && inside {
            let Some(scope) = open.pop() else {
                continue;
            };
            // What names no tables is read where it stands.
            if scope.role == Role::Value && scope.hidden.is_empty() && scope.brought.is_empty() {
                continue;
            }
            let closed = scope.close(&pieces[scope.start..index]);
            most = most.max(closed.queries);
            if let Some(outer) = open.last_mut() {
                outer.receive(&scope, closed, pieces, index);
            }
        } else if piece.is_word("FROM") {
            // `a IS DISTINCT FROM b`
            scope.tables |= !before.is_some_and(|before| before.is_word("DISTINCT"));
        } else if AFTER_TABLES.iter().any(|word| piece.is_word(word)) {
            scope.tables = false;
        }
    }
    let rest = open.iter();
    rest.map(|scope| scope.close(&pieces[scope.start..]).queries)
        .fold(most, u64::max)
}

/// Whether a parenthesis after this stands in place of a table.
fn leads(before: &Lexeme<'_>) -> bool {
    let word = before.is_word("FROM") || before.is_word("JOIN");
    word || before.is_mark(",") || before.is_mark("(")
}

#[derive(Debug)]
struct Closed {
    columns: Held,
    /// How many all of it becomes.
    queries: u64,
    /// What of it tables in here have brought: nobody around sees them.
    brought: Cost,
}

impl Scope {
    fn close(&self, pieces: &[Lexeme<'_>]) -> Closed {
        let own: Vec<Lexeme<'_>> = pieces
            .iter()
            .enumerate()
            .filter(|(at, _)| !self.is_hidden(self.start + at))
            .map(|(_, piece)| *piece)
            .collect();
        let mut columns = self.inner.clone();
        let (mut sum, mut at) = (Cost::default(), 0);
        let mut brought = self.brought_by_values(0..usize::MAX);
        while at < own.len() {
            let lists = own[at].is_word("SELECT");
            at += usize::from(lists);
            let (end, items) = split(&own[at..], lists);
            for item in items {
                let (cost, of_tables) = self.sum(item);
                sum.add(cost);
                brought.add(of_tables);
                if lists {
                    columns.add(alias(Engine::Sqlite, item), cost);
                }
            }
            at += end;
        }
        Closed {
            columns,
            queries: sum.queries,
            brought,
        }
    }

    fn is_hidden(&self, at: usize) -> bool {
        let after = self.hidden.partition_point(|range| range.start <= at);
        after > 0 && self.hidden[after - 1].contains(&at)
    }

    /// What an expression becomes, and what of it columns of tables in here have brought.
    fn sum(&self, item: &[Lexeme<'_>]) -> (Cost, Cost) {
        let (mut sum, mut of_tables) = (Cost::default(), Cost::default());
        let mut dearest = 0;
        for (index, piece) in item.iter().enumerate() {
            let before = index.checked_sub(1).map(|at| &item[at]);
            let aliases = before.is_some_and(|before| before.is_word("AS"));
            let called = item.get(index + 1).is_some_and(|next| next.is_mark("("));
            if piece.is_word("SELECT") {
                sum.queries = sum.queries.saturating_add(1);
            } else if let Some(name) = name(Engine::Sqlite, piece).filter(|_| !called && !aliases) {
                let inner = self.inner.of(&name);
                let queries = inner.queries.max(self.before.of(&name).queries);
                sum.add(Cost {
                    queries,
                    names: inner.names.max(1),
                });
                of_tables.add(inner);
                dearest = dearest.max(queries);
            }
        }
        if let (Some(first), Some(last)) = (item.first(), item.last()) {
            let brought = self.brought_by_values(first.start..last.end);
            sum.add(brought);
            // What tables of an inner query made of columns of here.
            let copied = brought.names.saturating_mul(dearest);
            sum.queries = sum.queries.saturating_add(copied);
        }
        (sum, of_tables)
    }

    fn brought_by_values(&self, within: Range<usize>) -> Cost {
        let mut sum = Cost::default();
        for (at, cost) in &self.brought {
            if within.contains(at) {
                sum.add(*cost);
            }
        }
        sum
    }

    /// Takes what a pair of parentheses in here has, which ends at `end`.
    fn receive(&mut self, scope: &Scope, closed: Closed, pieces: &[Lexeme<'_>], end: usize) {
        match scope.role {
            // All of it is read here once more, for the columns of here that it names.
            Role::Value => {
                let at = pieces[scope.start - 1].start;
                if closed.brought.queries > 0 || closed.brought.names > 0 {
                    self.brought.push((at, closed.brought));
                }
            }
            Role::Source => {
                self.inner.take(&closed.columns);
                self.hidden.push(scope.start..end);
            }
            Role::Definition { renames } => {
                let columns = match renames {
                    true => closed.columns.unnamed(),
                    false => closed.columns,
                };
                Rc::make_mut(&mut self.before).take(&columns);
                self.inner.take(&columns);
                self.hidden.push(scope.start..end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::{Placeholders, lex};

    fn count(text: &str) -> u64 {
        queries(&lex(text, Engine::Sqlite, Placeholders::Unknown).unwrap())
    }

    /// Twelve times the second text around the first.
    fn nested(around: &str) -> String {
        let first = "SELECT id AS x FROM people".to_owned();
        (0..12).fold(first, |text, _| around.replace('@', &text))
    }

    #[test]
    fn doubling_is_seen_however_it_is_spelled() {
        for around in [
            "SELECT (SELECT x) + (SELECT x) AS x FROM (@)",
            "SELECT id, ((SELECT x)), f(1, (SELECT x) + (SELECT x)) x FROM (@)",
            "SELECT x IN (SELECT x) AS x FROM (@)",
            "SELECT EXISTS (SELECT x WHERE x) \"x\" FROM tree, (@)",
            "SELECT (SELECT y FROM (SELECT x AS y)) + (SELECT y FROM (SELECT x AS y)) AS x FROM (@)",
            "SELECT (1 IS DISTINCT FROM (SELECT x)) + (1 IS DISTINCT FROM (SELECT x)) AS x FROM (@)",
            "SELECT CASE WHEN x THEN (SELECT [x] LIMIT 1) END AS x FROM people JOIN ((@) AS t) ON 1",
            "SELECT * FROM (SELECT (SELECT x + t.x) AS x FROM (@) t)",
            "SELECT (WITH c AS (SELECT x AS y) SELECT y + y FROM c) AS x FROM (@)",
            "SELECT (SELECT y + y FROM (SELECT * FROM (SELECT (SELECT x) AS y))) AS x FROM (@)",
        ] {
            let text = nested(around);
            assert!(count(&text) > QUERIES_MAX, "{} {around}", count(&text));
        }
        let mut chain = "WITH a0(x) AS (SELECT 1)".to_owned();
        for level in 1..=12 {
            let below = level - 1;
            chain.push_str(&format!(
                ", a{level}(x) AS (SELECT (SELECT x) + (SELECT x) FROM a{below})"
            ));
        }
        assert!(count(&format!("{chain} SELECT x FROM a12")) > QUERIES_MAX);
    }

    #[test]
    fn honest_queries_hold_few() {
        let values = vec!["(SELECT max(id) FROM people p WHERE p.dept = q.dept)"; 100].join(", ");
        let wide = format!("SELECT {values} FROM people q WHERE id IN (SELECT id FROM people)");
        let mut steps = "WITH a0 AS (SELECT id, dept, round(coalesce((SELECT avg(id) FROM people), 0), 2) AS mean FROM people)"
            .to_owned();
        for level in 1..8 {
            let below = level - 1;
            steps.push_str(&format!(
                ", a{level} AS (SELECT id, dept, a{below}.mean, CASE WHEN mean > 0 THEN (dept / nullif(mean, 0)) END AS part{level}, \
                 (SELECT count(*) FROM people p WHERE p.dept = a{below}.dept) AS size{level} FROM a{below} \
                 WHERE mean > (SELECT min(mean) FROM a0))"
            ));
        }
        steps.push_str(" SELECT a7.id, a7.mean, a7.part7, a7.size7 FROM a7 ORDER BY mean");
        let deep = format!("SELECT {}1{}", "(SELECT ".repeat(30), ")".repeat(30));
        for text in [wide, steps, deep] {
            assert!(count(&text) < 300, "{} {text}", count(&text));
        }
    }
}
