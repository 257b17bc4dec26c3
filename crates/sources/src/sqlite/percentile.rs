//! `median` and its like, in place of those of SQLite. Theirs sort by halving at a middle that somebody can choose: a list made
//! for it takes the square of its length, and as deep a stack, in a single step that nothing stops.

use rusqlite::functions::{Aggregate, Context, FunctionFlags, WindowAggregate};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result, ffi};

/// How many numbers one answer may be made of: 32 MB, and well below a second to sort.
const NUMBERS_MAX: usize = 4_000_000;

/// Which of them it is.
#[derive(Clone, Copy, Debug)]
struct Percentile {
    name: &'static str,
    arguments: i32,
    /// What the fraction is at most.
    whole: f64,
    /// Only what was given is an answer, nothing in between.
    discrete: bool,
}

const ALL: &[Percentile] = &[
    Percentile {
        name: "median",
        arguments: 1,
        whole: 1.0,
        discrete: false,
    },
    Percentile {
        name: "percentile",
        arguments: 2,
        whole: 100.0,
        discrete: false,
    },
    Percentile {
        name: "percentile_cont",
        arguments: 2,
        whole: 1.0,
        discrete: false,
    },
    Percentile {
        name: "percentile_disc",
        arguments: 2,
        whole: 1.0,
        discrete: true,
    },
];

/// The numbers of a group or a window.
#[derive(Debug)]
struct Numbers {
    fraction: f64,
    all: Vec<f64>,
    /// A window asks again and again: from the second time on each number is put where it belongs.
    sorted: bool,
}

pub(super) fn register(connection: &Connection) -> Result<()> {
    // Views may call them, as they may those of SQLite.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_INNOCUOUS;
    for percentile in ALL {
        let (name, arguments) = (percentile.name, percentile.arguments);
        connection.create_window_function(name, arguments, flags, *percentile)?;
    }
    Ok(())
}

impl Percentile {
    fn wrong<T>(&self, why: &str) -> Result<T> {
        let message = format!("{}(): {why}", self.name);
        let code = ffi::Error::new(ffi::SQLITE_ERROR);
        Err(Error::SqliteFailure(code, Some(message)))
    }

    fn fraction(&self, context: &Context<'_>) -> Result<f64> {
        if self.arguments == 1 {
            return Ok(0.5);
        }
        let given = match context.get_raw(1) {
            ValueRef::Text(text) => std::str::from_utf8(text)
                .ok()
                .and_then(|text| text.trim().parse().ok()),
            value => number(value),
        };
        match given.map(|given: f64| given / self.whole) {
            Some(fraction) if (0.0..=1.0).contains(&fraction) => Ok(fraction),
            _ => self.wrong(&format!(
                "the fraction is not between 0.0 and {:.1}",
                self.whole
            )),
        }
    }

    fn answer(&self, numbers: &mut Numbers) -> Option<f64> {
        let last = numbers.all.len().checked_sub(1)?;
        numbers.sort();
        let place = numbers.fraction * f64::from(u32::try_from(last).ok()?);
        let below = place.floor();
        let at = (below as usize).min(last);
        let first = numbers.all[at];
        let second = match self.discrete || place <= below {
            true => first,
            false => numbers.all[(at + 1).min(last)],
        };
        Some(first + (second - first) * (place - below))
    }
}

impl Numbers {
    fn sort(&mut self) {
        if !self.sorted {
            self.all.sort_unstable_by(f64::total_cmp);
            self.sorted = true;
        }
    }

    /// Where a number is, or where it belongs.
    fn find(&self, number: f64) -> Result<usize, usize> {
        self.all.binary_search_by(|other| other.total_cmp(&number))
    }
}

fn number(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Integer(integer) => Some(integer as f64),
        ValueRef::Real(real) => Some(real),
        _ => None,
    }
}

impl Aggregate<Numbers, Option<f64>> for Percentile {
    fn init(&self, context: &mut Context<'_>) -> Result<Numbers> {
        Ok(Numbers {
            fraction: self.fraction(context)?,
            all: Vec::new(),
            sorted: false,
        })
    }

    fn step(&self, context: &mut Context<'_>, numbers: &mut Numbers) -> Result<()> {
        if (self.fraction(context)? - numbers.fraction).abs() > 0.001 {
            return self.wrong("the fraction is not the same for all rows");
        }
        let value = context.get_raw(0);
        if matches!(value, ValueRef::Null) {
            return Ok(());
        }
        let Some(number) = number(value) else {
            return self.wrong("what is given is not a number");
        };
        if !number.is_finite() {
            return self.wrong("what is given is infinite");
        }
        if numbers.all.len() >= NUMBERS_MAX {
            return self.wrong(&format!("more than {NUMBERS_MAX} numbers are given"));
        }
        match numbers.sorted {
            true => {
                let (Ok(at) | Err(at)) = numbers.find(number);
                numbers.all.insert(at, number);
            }
            false => numbers.all.push(number),
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, numbers: Option<Numbers>) -> Result<Option<f64>> {
        Ok(numbers.and_then(|mut numbers| self.answer(&mut numbers)))
    }
}

impl WindowAggregate<Numbers, Option<f64>> for Percentile {
    fn value(&self, numbers: Option<&mut Numbers>) -> Result<Option<f64>> {
        Ok(numbers.and_then(|numbers| self.answer(numbers)))
    }

    fn inverse(&self, context: &mut Context<'_>, numbers: &mut Numbers) -> Result<()> {
        numbers.sort();
        if let Some(number) = number(context.get_raw(0))
            && let Ok(at) = numbers.find(number)
        {
            numbers.all.remove(at);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::types::Value;
    use std::collections::VecDeque;

    fn asked(sql: &str) -> Result<Vec<Value>> {
        let connection = Connection::open_in_memory().unwrap();
        register(&connection).unwrap();
        let mut statement = connection.prepare(sql)?;
        let rows = statement.query_map([], |row| row.get(0))?;
        rows.collect()
    }

    #[test]
    fn they_answer_as_those_of_sqlite_do() {
        let given = "(SELECT value AS x FROM json_each('[8, 1, null, 4, 2.5, 4]'))";
        for (call, expected) in [
            ("median(x)", Some(4.0)),
            ("median(DISTINCT x)", Some(3.25)),
            ("percentile(x, 0)", Some(1.0)),
            ("percentile(x, '100')", Some(8.0)),
            ("percentile(x, 10)", Some(1.6)),
            ("percentile_cont(x, 0.875)", Some(6.0)),
            ("percentile_disc(x, 0.875)", Some(4.0)),
            ("median(x) FILTER (WHERE x > 100)", None),
            ("median(NULL)", None),
        ] {
            let found = asked(&format!("SELECT {call} FROM {given}")).unwrap();
            assert_eq!(found, [expected.map_or(Value::Null, Value::Real)], "{call}");
        }
        let sliding = "SELECT median(value) OVER (ORDER BY key ROWS 2 PRECEDING) FROM json_each('[8, 1, 4, 2, null, 4]')";
        let expected = [8.0, 4.5, 4.0, 2.0, 3.0, 3.0].map(Value::Real);
        assert_eq!(asked(sliding).unwrap(), expected);
        for wrong in [
            "median('a')",
            "median(9e999)",
            "percentile(1, 101)",
            "percentile_cont(1, NULL)",
            "percentile_disc(value, value) FROM json_each('[0, 1]')",
        ] {
            assert!(asked(&format!("SELECT {wrong}")).is_err(), "{wrong}");
        }
    }

    /// The order in which a sort that halves at the middle of first, middle and last takes two off each time.
    fn worst(count: usize) -> Vec<usize> {
        let mut list = vec![0; count];
        let mut left: Vec<usize> = (0..count / 2).collect();
        let mut right: VecDeque<usize> = (count / 2..count).collect();
        let mut largest = count;
        while right.len() >= 2 {
            for at in [right.pop_back(), right.pop_front()].into_iter().flatten() {
                largest -= 1;
                list[at] = largest;
            }
            if let Some(at) = left.pop() {
                right.push_front(at);
            }
        }
        for (number, at) in left.into_iter().chain(right).enumerate() {
            list[at] = number;
        }
        list
    }

    /// SQLite's own ended the process here: a call in a call for every second number.
    #[test]
    fn no_order_is_a_bad_one() {
        let list = worst(300_001);
        let sql = format!("SELECT median(value) FROM json_each('{list:?}')");
        assert_eq!(asked(&sql).unwrap(), [Value::Real(150_000.0)]);
    }
}
