//! A query as an author wrote it, with `:name` or `{{name}}` where values go, and the text the engine gets instead.
//!
//! Values are always bound, never written into the text. The same name twice is one parameter, except that PostgreSQL gets
//! one of its own for `:name IS NULL`, which says nothing of its type. Inside `IN (:ids)` a list
//! becomes as many parameters as it has items; anywhere else a list is one value: an array for PostgreSQL
//! (`= ANY(:ids)`), JSON text for SQLite (`IN (SELECT value FROM json_each(:ids))`). A value that a cast to `json` or
//! `jsonb` follows is sent as JSON.

use crate::binding::Bindings;
use crate::error::{Error, Place};
use crate::guard::{NOT_OPEN, inner_table};
use crate::lex::{Placeholders, lex};
use crate::lexeme::{Kind, Lexeme};
use crate::memo::Memo;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

pub(crate) const TEXT_BYTES_MAX: usize = 64 * 1024;
const LIST_ITEMS_MAX: usize = 1000;
const PARAMETERS_MAX: usize = 100;
/// SQLite is set to take so many numbers of parameters, and PostgreSQL no more than 65,535.
pub(crate) const SENT_MAX: usize = 10_000;

/// Who will run the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Postgres,
    Sqlite,
}

/// A query that was read once and can be bound many times.
#[derive(Clone, Debug)]
pub struct Statement {
    engine: Engine,
    text: String,
    /// The text for values none of which is a list inside `IN (…)`; parameter `n` of it is `names[n - 1]`.
    plain: String,
    names: Vec<String>,
    /// Which of the names are sent as JSON.
    json: Vec<bool>,
    slots: Vec<Slot>,
    verb: String,
    changes_with: Option<&'static str>,
    bound_bytes_max: Option<usize>,
    goes_deep: bool,
    memo: Arc<Memo>,
}

/// A place in the text that a value goes to.
#[derive(Clone, Debug)]
struct Slot {
    start: usize,
    end: usize,
    name: usize,
    within: Within,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    In,
    NotIn,
    /// `:name IS NULL`, for PostgreSQL.
    NullTest,
    Elsewhere,
}

impl Within {
    fn takes_lists(self) -> bool {
        matches!(self, Within::In | Within::NotIn)
    }
}

/// What is sent to the engine.
#[derive(Debug)]
pub(crate) struct Bound<'s> {
    pub(crate) sql: Cow<'s, str>,
    /// For each parameter its name, its value and whether the value goes as JSON.
    pub(crate) values: Vec<(&'s str, Value, bool)>,
}

impl Statement {
    /// Reads one statement; what is wrong with it is told with its place.
    pub fn read(text: &str, engine: Engine) -> Result<Statement, Error> {
        if text.len() > TEXT_BYTES_MAX {
            let message = format!("it has {} bytes, the most is {TEXT_BYTES_MAX}", text.len());
            return Err(wrong(text, 0, message));
        }
        if let Some(at) = text.find('\0') {
            return Err(wrong(text, at, "it holds the character NUL"));
        }
        let pieces = lex(text, engine, Placeholders::Read).map_err(|uncut| Error::Query {
            message: uncut.message,
            place: uncut.place,
        })?;
        let pieces = alone(text, &pieces)?;
        let words = pieces.iter().position(|piece| !piece.is_mark("("));
        let Some((first, words)) = words.map(|at| (&pieces[at], &pieces[at..])) else {
            return Err(wrong(
                text,
                0,
                "it is empty; expected a query such as SELECT",
            ));
        };
        if let Some(native) = pieces.iter().find(|piece| piece.kind == Kind::Native) {
            let message = format!(
                "`{}` is the database's own form of a parameter; write `:name` instead",
                native.text
            );
            return Err(wrong(text, native.start, message));
        }
        if let Some(table) = inner_table(engine, pieces) {
            return Err(wrong(
                text,
                table.start,
                format!("`{}` {NOT_OPEN}", table.text),
            ));
        }
        let mut statement = Statement {
            engine,
            text: text[..pieces.last().map_or(0, |last| last.end)].to_owned(),
            plain: String::new(),
            names: Vec::new(),
            json: Vec::new(),
            slots: Vec::new(),
            verb: first.text.to_ascii_uppercase(),
            changes_with: crate::verb::change_with(words),
            bound_bytes_max: None,
            goes_deep: false,
            memo: Arc::default(),
        };
        statement.take_slots(text, pieces)?;
        statement.plain = statement.write(|slot| Numbers {
            first: slot.name + 1,
            count: 1,
        });
        if engine == Engine::Sqlite {
            statement.bound_bytes_max = crate::sqlite::bound_bytes_max(&statement.plain);
            statement.goes_deep = crate::sqlite::goes_deep(&statement.plain);
        }
        Ok(statement)
    }

    /// The names of the parameters, in the order of their first appearance. One that is also asked for NULL may be there
    /// twice.
    pub fn parameters(&self) -> &[String] {
        &self.names
    }

    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// Where the name first appears, for messages about it.
    pub fn place(&self, name: &str) -> Option<Place> {
        let slot = self
            .slots
            .iter()
            .find(|slot| self.names[slot.name] == name)?;
        Some(Place::of(&self.text, slot.start))
    }

    /// What the database said of a number that it was sent, said of the parameter that the author wrote: one that stands
    /// where no value can.
    pub(crate) fn in_its_words(&self, error: Error) -> Error {
        let Error::Database { message, code, .. } = &error else {
            return error;
        };
        let sign = match self.engine {
            Engine::Postgres => "near \"$",
            Engine::Sqlite => "near \"?",
        };
        let said = message.split_once(sign);
        let number = said.and_then(|(_, rest)| rest.split('"').next()?.parse::<usize>().ok());
        let name = number.and_then(|number| self.names.get(number.checked_sub(1)?));
        let Some(name) = name else {
            return error;
        };
        let place = self.place(name).map(|place| format!(" at {place}"));
        Error::Database {
            message: format!(
                "`:{name}`{} stands where the query needs a name or a word of SQL: a parameter stands for a value and cannot be a table, a column or a keyword; write the name itself into the query, or make a tool for each",
                place.unwrap_or_default()
            ),
            hint: None,
            code: code.clone(),
            parameter: None,
        }
    }

    /// How long a text may be that is bound, where the query does something heavy.
    pub(crate) fn bound_bytes_max(&self) -> Option<usize> {
        self.bound_bytes_max
    }

    /// Whether it needs more stack than a thread usually has.
    pub(crate) fn goes_deep(&self) -> bool {
        self.goes_deep
    }

    /// What sources have learned of it.
    pub(crate) fn memo(&self) -> &Arc<Memo> {
        &self.memo
    }

    /// The first word, in capitals.
    pub(crate) fn verb(&self) -> &str {
        &self.verb
    }

    /// What a statement that begins with WITH changes rows by, in capitals.
    pub(crate) fn changes_with(&self) -> Option<&'static str> {
        self.changes_with
    }

    pub(crate) fn bind(&self, bindings: &Bindings<'_>) -> Result<Bound<'_>, Error> {
        let values: Vec<&Value> = self.names.iter().map(|name| bindings.value(name)).collect();
        let spreads = |slot: &Slot| slot.within.takes_lists() && values[slot.name].is_array();
        if !self.slots.iter().any(spreads) {
            let values = values.into_iter().zip(&self.names).zip(&self.json);
            return Ok(Bound {
                sql: Cow::Borrowed(&self.plain),
                values: values
                    .map(|((value, name), json)| (name.as_str(), value.clone(), *json))
                    .collect(),
            });
        }
        self.spread(&values)
    }

    /// Binds where at least one list inside `IN (…)` becomes several parameters.
    fn spread(&self, values: &[&Value]) -> Result<Bound<'_>, Error> {
        let mut sent = Vec::new();
        let mut whole: Vec<Option<usize>> = vec![None; self.names.len()];
        let mut spread: Vec<Option<Numbers>> = vec![None; self.names.len()];
        let mut numbers = Vec::with_capacity(self.slots.len());
        for slot in &self.slots {
            let name = self.names[slot.name].as_str();
            let items = match values[slot.name] {
                Value::Array(items) if slot.within.takes_lists() => items,
                value => {
                    let first = *whole[slot.name].get_or_insert_with(|| {
                        sent.push((name, value.clone(), self.json[slot.name]));
                        sent.len()
                    });
                    numbers.push(Numbers { first, count: 1 });
                    continue;
                }
            };
            self.check_list(name, items, slot)?;
            let range = *spread[slot.name].get_or_insert_with(|| {
                let first = sent.len() + 1;
                sent.extend(items.iter().map(|item| (name, item.clone(), false)));
                Numbers {
                    first,
                    count: items.len(),
                }
            });
            numbers.push(range);
        }
        if sent.len() > SENT_MAX {
            return Err(Error::refused(format!(
                "the lists have {} items together, the most is {SENT_MAX}",
                sent.len()
            )));
        }
        let mut numbers = numbers.into_iter();
        let sql = self.write(|_| numbers.next().unwrap_or(Numbers { first: 1, count: 1 }));
        Ok(Bound {
            sql: Cow::Owned(sql),
            values: sent,
        })
    }

    fn check_list(&self, name: &str, items: &[Value], slot: &Slot) -> Result<(), Error> {
        let wrong = |message: String| {
            Err(Error::Argument {
                name: name.to_owned(),
                message,
            })
        };
        if items.len() > LIST_ITEMS_MAX {
            return wrong(format!(
                "the list has {} items, the most is {LIST_ITEMS_MAX}",
                items.len()
            ));
        }
        if items.iter().any(|item| item.is_array() || item.is_object()) {
            return wrong("the list holds lists or objects; expected plain values".to_owned());
        }
        // `NOT IN ()` means every row. No PostgreSQL text says so whatever the type of the column, and in SQLite none where
        // the list has other items.
        if items.is_empty() && slot.within == Within::NotIn && !self.may_be_empty(slot) {
            return wrong(match self.engine {
                Engine::Postgres => {
                    "the list is empty, which NOT IN cannot say; write `<> ALL(:name)` in the query"
                }
                Engine::Sqlite => {
                    "the list is empty, which NOT IN cannot say beside other items; write them as conditions of their own"
                }
            }
            .to_owned());
        }
        Ok(())
    }

    /// Whether the engine takes `()` there: SQLite does, if the list holds nothing else.
    fn may_be_empty(&self, slot: &Slot) -> bool {
        let before = self.text[..slot.start].trim_end();
        let after = self.text[slot.end..].trim_start();
        self.engine == Engine::Sqlite && before.ends_with('(') && after.starts_with(')')
    }

    fn take_slots(&mut self, text: &str, pieces: &[Lexeme<'_>]) -> Result<(), Error> {
        for (index, piece) in pieces.iter().enumerate() {
            if piece.kind != Kind::Placeholder {
                continue;
            }
            let within = match self.engine {
                Engine::Postgres if is_null_test(&pieces[..index], &pieces[index + 1..]) => {
                    Within::NullTest
                }
                _ => within(&pieces[..index]),
            };
            let is_same = |slot: &&Slot| {
                (slot.within == Within::NullTest) == (within == Within::NullTest)
                    && self.names[slot.name] == piece.text
            };
            let known = self.slots.iter().find(is_same).map(|slot| slot.name);
            let name = known.unwrap_or_else(|| {
                self.names.push(piece.text.to_owned());
                self.json.push(false);
                self.names.len() - 1
            });
            if self.names.len() > PARAMETERS_MAX {
                let message = format!("it has more than {PARAMETERS_MAX} parameters");
                return Err(wrong(text, piece.start, message));
            }
            self.json[name] |= cast_to_json(&pieces[index + 1..]);
            self.slots.push(Slot {
                start: piece.start,
                end: piece.end,
                name,
                within,
            });
        }
        Ok(())
    }

    /// The text with each slot replaced by numbered parameters.
    fn write(&self, mut numbers: impl FnMut(&Slot) -> Numbers) -> String {
        let mut sql = String::with_capacity(self.text.len() + 8 * self.slots.len());
        let mut at = 0;
        for slot in &self.slots {
            sql.push_str(&self.text[at..slot.start]);
            let numbers = numbers(slot);
            // A parameter must grow together with neither side: `x:a` is not the name `x$1`, nor `{{a}}2` the number 12.
            if sql.chars().next_back().is_some_and(joins) {
                sql.push(' ');
            }
            // An empty list matches nothing, and so does NULL.
            if numbers.count == 0 && !self.may_be_empty(slot) {
                sql.push_str("NULL");
            }
            for number in numbers.first..numbers.first + numbers.count {
                let comma = if number > numbers.first { "," } else { "" };
                let sign = match self.engine {
                    Engine::Postgres => '$',
                    Engine::Sqlite => '?',
                };
                let _ = write!(sql, "{comma}{sign}{number}");
            }
            if slot.within == Within::NullTest {
                sql.push_str("::text");
            }
            if self.text[slot.end..].chars().next().is_some_and(joins) {
                sql.push(' ');
            }
            at = slot.end;
        }
        sql.push_str(&self.text[at..]);
        sql
    }
}

#[derive(Clone, Copy, Debug)]
struct Numbers {
    first: usize,
    count: usize,
}

fn joins(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$' || !letter.is_ascii()
}

fn wrong(text: &str, at: usize, message: impl Into<String>) -> Error {
    Error::Query {
        message: message.into(),
        place: Place::of(text, at),
    }
}

/// The pieces without the semicolons at their end; a second statement is refused.
fn alone<'p, 't>(text: &str, pieces: &'p [Lexeme<'t>]) -> Result<&'p [Lexeme<'t>], Error> {
    let Some(end) = pieces.iter().position(|piece| piece.is_mark(";")) else {
        return Ok(pieces);
    };
    match pieces[end..].iter().find(|piece| !piece.is_mark(";")) {
        Some(second) => Err(wrong(
            text,
            second.start,
            "a second statement begins here; expected one only",
        )),
        None => Ok(&pieces[..end]),
    }
}

fn within(before: &[Lexeme<'_>]) -> Within {
    // Between the parenthesis and the placeholder there may be other items of the list.
    let listed = |piece: &&Lexeme<'_>| {
        piece.is_mark(",") || matches!(piece.kind, Kind::Placeholder | Kind::Text | Kind::Number)
    };
    let items = before.iter().rev().take_while(listed).count();
    let before = &before[..before.len() - items];
    match before {
        [.., not, word, open] if open.is_mark("(") && word.is_word("IN") => {
            if not.is_word("NOT") {
                Within::NotIn
            } else {
                Within::In
            }
        }
        _ => Within::Elsewhere,
    }
}

/// Whether nothing but being NULL is asked of the value: `(:name IS NULL OR name = :name)`. PostgreSQL takes its type from
/// what is done with it, and would find none here.
fn is_null_test(before: &[Lexeme<'_>], after: &[Lexeme<'_>]) -> bool {
    const BEGINNINGS: &[&str] = &[
        "AND", "ELSE", "HAVING", "NOT", "ON", "OR", "SELECT", "THEN", "WHEN", "WHERE",
    ];
    let asks = match after {
        [is, null, ..] if is.is_word("IS") && null.is_word("NULL") => true,
        [is, not, null, ..] => is.is_word("IS") && not.is_word("NOT") && null.is_word("NULL"),
        _ => false,
    };
    let Some((last, earlier)) = before.split_last() else {
        return false;
    };
    let begins = |piece: &Lexeme<'_>| BEGINNINGS.iter().any(|word| piece.is_word(word));
    // `x BETWEEN 1 AND :n IS NULL` asks it of the whole.
    let condition = earlier.iter().rev().take_while(|piece| !begins(piece));
    let is_between = || {
        let mut condition = condition;
        last.is_word("AND") && condition.any(|piece| piece.is_word("BETWEEN"))
    };
    asks && (last.is_mark("(") || last.is_mark(",") || begins(last) && !is_between())
}

fn cast_to_json(after: &[Lexeme<'_>]) -> bool {
    match after {
        [sign, word, ..] if sign.text == "::" => word.is_word("json") || word.is_word("jsonb"),
        [sign, word, ..] if sign.is_word("AS") => word.is_word("json") || word.is_word("jsonb"),
        _ => false,
    }
}

#[cfg(test)]
#[path = "statement_tests.rs"]
mod tests;
