//! Both engines put the text of a column in the place of its name before they run a query, so that twenty nested queries,
//! each of `SELECT x + x AS x`, become an expression of a million parts while the text is only planned, which nothing can
//! stop. This counts the parts beforehand. A value that is put together of others twice grows just the same, level by level,
//! while the query runs: it is counted with them.

mod queries;

use super::definition::definition;
use super::froms::{Stand, is_read, stands};
use super::gathered::{is_gathered, is_short};
use super::items::{
    alias, alias_after, is_asterisk, is_head, is_renamed, is_star, name, one_query, split, values,
};
use crate::error::Error;
use crate::lexeme::Lexeme;
use crate::statement::Engine;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Range;

const PARTS_MAX: u64 = 16_000;
/// A query that gives a value is planned anew wherever it is put, which costs as much as so many plain parts.
const QUERY_PARTS: u64 = 32;
/// What the columns of tables have together that are read by their names.
const ALL: &str = "*";

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
    /// Names that stand for a whole row, with what all its columns have together.
    rows: HashMap<String, u64>,
}

impl Columns {
    fn parts(&self, name: &str) -> u64 {
        let named = self.named.get(name).copied().unwrap_or(1);
        named.max(self.any).max(1)
    }

    fn row(&self, name: &str) -> u64 {
        self.rows.get(name).copied().unwrap_or(1).max(1)
    }

    fn add(&mut self, name: String, parts: u64) {
        raise(&mut self.named, name, parts);
    }

    fn add_row(&mut self, name: String, parts: u64) {
        raise(&mut self.rows, name, parts);
    }

    /// The columns of another query; the names in its FROM are its own.
    fn take(&mut self, other: &Columns) {
        for (name, parts) in &other.named {
            self.add(name.clone(), *parts);
        }
        self.any = self.any.max(other.any);
    }

    /// What a whole row of them has.
    fn total(&self) -> u64 {
        let named = self.named.values();
        named.fold(self.any, |sum, parts| sum.saturating_add(*parts))
    }

    /// Renamed by a list of names, so that any may be any.
    fn unnamed(&self) -> Columns {
        let most = self.named.values().copied().max().unwrap_or(0);
        Columns {
            any: most.max(self.any),
            ..Columns::default()
        }
    }
}

fn raise(known: &mut HashMap<String, u64>, name: String, parts: u64) {
    let known = known.entry(name).or_default();
    *known = parts.max(*known);
}

/// What a name may stand for, from the inside out.
struct Seen<'s> {
    columns: &'s Columns,
    outer: Option<&'s Seen<'s>>,
}

impl Seen<'_> {
    fn most(&self, of: impl Fn(&Columns) -> u64) -> u64 {
        let (mut seen, mut most) = (Some(self), 1);
        while let Some(Seen { columns, outer }) = seen {
            most = most.max(of(columns));
            seen = *outer;
        }
        most
    }
}

/// A query that is being counted.
struct Level<'s> {
    outer: Option<&'s Seen<'s>>,
    /// What its common table expressions have, and their names.
    defined: Columns,
    /// What it reads from has.
    read: Columns,
}

impl Level<'_> {
    /// `beside`: what it reads from is seen as well.
    fn seen<T>(&self, beside: bool, look: impl FnOnce(&Seen<'_>) -> T) -> T {
        let defined = Seen {
            columns: &self.defined,
            outer: self.outer,
        };
        match beside {
            true => look(&Seen {
                columns: &self.read,
                outer: Some(&defined),
            }),
            false => look(&defined),
        }
    }
}

/// What a query has.
#[derive(Debug, Default)]
struct Counted {
    columns: Columns,
    /// All its parts.
    parts: u64,
    /// How many of them its names have brought.
    grown: u64,
}

impl Counted {
    fn count(&mut self, (parts, grown): (u64, u64)) {
        self.parts = self.parts.saturating_add(parts);
        self.grown = self.grown.saturating_add(grown);
    }
}

fn parts(engine: Engine, pieces: &[Lexeme<'_>]) -> u64 {
    let stands = stands(pieces);
    let text = Text {
        engine,
        pieces,
        stands: &stands,
        most: Cell::new(0),
        values: RefCell::default(),
    };
    text.query(0..pieces.len(), None);
    text.most.get()
}

struct Text<'p, 't> {
    engine: Engine,
    pieces: &'p [Lexeme<'t>],
    stands: &'p [Stand],
    /// By how much the largest column or condition so far has grown.
    most: Cell<u64>,
    /// The parts of queries that give values and how many have been brought, by their parentheses: none is counted twice,
    /// or those in each other would take forever.
    values: RefCell<HashMap<usize, (u64, u64)>>,
}

impl<'t> Text<'_, 't> {
    /// Counts what stands in parentheses, or the whole. What it reads from comes first.
    fn query(&self, range: Range<usize>, outer: Option<&Seen<'_>>) -> Counted {
        let mut level = Level {
            outer,
            defined: Columns::default(),
            read: Columns::default(),
        };
        let mut counted = Counted::default();
        let mut at = range.start;
        while at < range.end {
            let stand = self.stands[at];
            if self.pieces[at].is_mark("(") {
                if stand.is_source {
                    self.source(&mut level, &mut counted, at);
                } else if stand.in_from {
                    self.called(&mut level, at);
                }
                at = stand.close;
            } else if stand.in_from && is_read(&self.pieces[..at]) {
                self.named(&mut level, at);
            }
            at += 1;
        }
        self.lists(&level, &mut counted, &self.visible(range));
        counted
    }

    /// A query in FROM, or one that defines a common table expression.
    fn source(&self, level: &mut Level<'_>, counted: &mut Counted, open: usize) {
        let (before, close) = (&self.pieces[..open], self.stands[open].close);
        let beside = before.last().is_some_and(|last| last.is_word("LATERAL"));
        let inner = level.seen(beside, |seen| self.query(open + 1..close, Some(seen)));
        counted.count((inner.parts, inner.grown));
        let definition = definition(before).filter(|_| self.stands[open].is_query);
        let after = self.pieces.get(close + 1..).unwrap_or_default();
        let renames = match &definition {
            Some(definition) => definition.renames,
            None => is_renamed(after),
        };
        let total = inner.columns.total();
        let columns = match renames {
            true => inner.columns.unnamed(),
            false => inner.columns,
        };
        if let Some(definition) = definition {
            let defined = definition.name.and_then(|it| name(self.engine, it));
            level.defined.take(&columns);
            if let Some(defined) = defined {
                level.defined.add_row(defined, total);
            }
        } else {
            level.read.take(&columns);
            if let Some((alias, _)) = alias_after(self.engine, after) {
                level.read.add_row(alias, total);
            }
        }
    }

    /// `FROM f(a, a) AS b`: a function there sees what stands before it.
    fn called(&self, level: &mut Level<'_>, open: usize) {
        let function = open.checked_sub(1).and_then(|at| self.pieces.get(at));
        let function = function.and_then(|piece| name(self.engine, piece));
        let Some(function) = function.filter(|_| !self.is_list(open)) else {
            return;
        };
        let close = self.stands[open].close;
        let arguments = self.visible(open + 1..close);
        let (parts, _) = level.seen(true, |seen| self.sum(&arguments, seen));
        let after = self.pieces.get(close + 1..).unwrap_or_default();
        let Some((alias, list)) = alias_after(self.engine, after) else {
            return level.read.add(function, parts);
        };
        for piece in list {
            if let Some(column) = name(self.engine, piece) {
                level.read.add(column, parts);
            }
        }
        level.read.add_row(alias.clone(), parts);
        level.read.add(alias, parts);
    }

    /// A common table expression that is read from may have other names here.
    fn named(&self, level: &mut Level<'_>, at: usize) {
        let Some(table) = name(self.engine, &self.pieces[at]) else {
            return;
        };
        let total = level.seen(false, |seen| seen.most(|columns| columns.row(&table)));
        // Its columns are known by their names all around; for a whole row it has to be known how many are read.
        let all = level.read.named.get(ALL).copied().unwrap_or(0);
        level.read.add(ALL.to_owned(), all.saturating_add(total));
        let Some((alias, list)) = alias_after(self.engine, &self.pieces[at + 1..]) else {
            return;
        };
        level.read.add_row(alias, total);
        if !list.is_empty() {
            level.read.any = level.read.any.max(total);
        }
    }

    /// The pieces without those of the queries among them, and without the names that columns get in FROM.
    fn visible(&self, range: Range<usize>) -> Vec<Lexeme<'t>> {
        let mut own = Vec::new();
        let mut at = range.start;
        while at < range.end {
            own.push(self.pieces[at]);
            let stand = self.stands[at];
            at = match stand.is_source || stand.is_query || self.is_list(at) {
                true => stand.close,
                false => at + 1,
            };
        }
        own
    }

    /// Counts the columns of a query, and its conditions.
    fn lists(&self, level: &Level<'_>, counted: &mut Counted, own: &[Lexeme<'_>]) {
        let (mut at, mut listed, mut all) = (0, false, false);
        while at < own.len() {
            let lists = own[at].is_word("SELECT");
            at += usize::from(lists);
            let (end, items) = split(&own[at..], lists);
            let gathered = lists && is_gathered(self.engine, one_query(&own[at..]));
            for item in &items {
                let (parts, grown) = level.seen(true, |seen| self.sum(item, seen));
                self.most.set(self.most.get().max(grown));
                counted.count((parts, grown));
                all |= lists && is_star(item);
                let parts = match gathered && is_short(item) {
                    true => level.seen(true, |seen| self.largest(item, seen)),
                    false => parts,
                };
                match alias(self.engine, item) {
                    _ if !lists => {}
                    Some(name) => counted.columns.add(name, parts),
                    None => counted.columns.any = counted.columns.any.max(parts),
                }
            }
            listed |= lists;
            for item in items.into_iter().filter(|_| !lists).flat_map(values) {
                listed = true;
                let (parts, grown) = level.seen(true, |seen| self.sum(item, seen));
                self.most.set(self.most.get().max(grown));
                counted.columns.any = counted.columns.any.max(parts);
            }
            at += end;
        }
        // What is read from is handed on by `*`, and by what has no list: a join, or TABLE.
        if all || !listed {
            counted.columns.take(&level.defined);
            counted.columns.take(&level.read);
        }
    }

    /// How many parts an expression has, and how many of them its names have brought.
    fn sum(&self, item: &[Lexeme<'_>], seen: &Seen<'_>) -> (u64, u64) {
        let (mut sum, mut grown) = (0u64, 0u64);
        if is_star(item) {
            return (sum, grown);
        }
        for (index, piece) in item.iter().enumerate() {
            if let Some((parts, brought)) = self.value(piece, seen) {
                sum = sum.saturating_add(parts).saturating_add(QUERY_PARTS);
                grown = grown.saturating_add(brought);
            } else if let Some(parts) = self.name(item, index, seen) {
                sum = sum.saturating_add(parts);
                grown = grown.saturating_add(parts - 1);
            }
        }
        (sum, grown)
    }

    /// A query that gives a value, where its parenthesis stands.
    fn value(&self, piece: &Lexeme<'_>, seen: &Seen<'_>) -> Option<(u64, u64)> {
        if !piece.is_mark("(") {
            return None;
        }
        let open = self.index(piece)?;
        let stand = self.stands[open];
        if !stand.is_query || stand.is_source {
            return None;
        }
        let known = self.values.borrow().get(&open).copied();
        let counted = known.unwrap_or_else(|| {
            let inner = self.query(open + 1..stand.close, Some(seen));
            (inner.parts, inner.grown)
        });
        self.values.borrow_mut().insert(open, counted);
        Some(counted)
    }

    fn index(&self, piece: &Lexeme<'_>) -> Option<usize> {
        let starts = |piece: &Lexeme<'_>| piece.start;
        self.pieces.binary_search_by_key(&piece.start, starts).ok()
    }

    /// Whether a name in FROM is that of a table, or the one that it gets: it adds nothing to any value.
    fn is_table(&self, piece: &Lexeme<'_>) -> bool {
        let Some(at) = self.index(piece).filter(|at| self.stands[*at].in_from) else {
            return false;
        };
        let before = &self.pieces[..at];
        self.renames(before) || is_read(before)
    }

    /// Whether a name after these pieces in FROM is one that something gets there.
    fn renames(&self, before: &[Lexeme<'_>]) -> bool {
        before.last().is_some_and(|last| {
            last.is_word("AS") || last.is_mark(")") || name(self.engine, last).is_some()
        })
    }

    /// Whether the piece is the parenthesis in `… AS t(a, b)`.
    fn is_list(&self, at: usize) -> bool {
        let stand = self.stands[at];
        let [before @ .., alias] = &self.pieces[..at] else {
            return false;
        };
        stand.in_from
            && !stand.is_source
            && self.pieces[at].is_mark("(")
            && name(self.engine, alias).is_some()
            && self.renames(before)
    }

    /// What the largest name of an expression has.
    fn largest(&self, item: &[Lexeme<'_>], seen: &Seen<'_>) -> u64 {
        let parts = (0..item.len()).filter_map(|index| self.name(item, index, seen));
        parts.max().unwrap_or(1)
    }

    /// What the name at the index has, if it is that of a column or of a row.
    fn name(&self, item: &[Lexeme<'_>], index: usize, seen: &Seen<'_>) -> Option<u64> {
        let next = item.get(index + 1);
        if next.is_some_and(|next| next.is_mark("(")) {
            return None;
        }
        let name = name(self.engine, &item[index])?;
        if is_head(&item[index + 1..]) || self.is_table(&item[index]) {
            return None;
        }
        let row = match self.engine {
            Engine::Postgres => seen.most(|columns| columns.row(&name)),
            Engine::Sqlite => 1,
        };
        // In `t.a` the table says nothing, in `ROW(t.*)` it is all.
        if next.is_some_and(|next| next.is_mark(".")) {
            let whole = item.get(index + 2).is_some_and(is_asterisk);
            return whole.then_some(row);
        }
        Some(row.max(seen.most(|columns| columns.parts(&name))))
    }
}

#[cfg(test)]
#[path = "columns_tests.rs"]
mod tests;
