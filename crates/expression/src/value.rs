//! JSON values to Python's and back.

use crate::Limits;
use crate::fault::{Fault, Kind};
use monty_types::{MontyDateTime, MontyObject, MontyTime, MontyTimeDelta};
use num_bigint::BigInt;
use serde_json::{Map, Number, Value};

/// As Python does: longer integers take too long to write.
const DIGITS_MAX: u64 = 4300;

pub(crate) fn to_object(value: &Value) -> MontyObject {
    match value {
        Value::Null => MontyObject::None,
        Value::Bool(value) => MontyObject::Bool(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => MontyObject::Int(integer),
            (None, Some(integer)) => MontyObject::BigInt(BigInt::from(integer)),
            (None, None) => MontyObject::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => MontyObject::String(text.clone()),
        Value::Array(items) => MontyObject::List(items.iter().map(to_object).collect()),
        Value::Object(members) => {
            let pairs = members
                .iter()
                .map(|(name, value)| (MontyObject::String(name.clone()), to_object(value)));
            MontyObject::dict(pairs.collect::<Vec<_>>())
        }
    }
}

/// A result as JSON, within the limits on its size and depth.
pub(crate) fn from_object(object: MontyObject, limits: &Limits) -> Result<Value, Fault> {
    let mut budget = Budget {
        bytes_left: limits.result_bytes_max,
        bytes_max: limits.result_bytes_max,
        depth_max: limits.result_depth_max,
    };
    budget.value(object, 0)
}

struct Budget {
    bytes_left: usize,
    bytes_max: usize,
    depth_max: usize,
}

impl Budget {
    /// `bytes` is the least that the value takes when written.
    fn take(&mut self, bytes: usize) -> Result<(), Fault> {
        let left = self.bytes_left.checked_sub(bytes);
        self.bytes_left = left.ok_or_else(|| too_large(self.bytes_max))?;
        Ok(())
    }

    fn value(&mut self, object: MontyObject, depth: usize) -> Result<Value, Fault> {
        if depth > self.depth_max {
            let message = format!("the value is nested deeper than {} levels", self.depth_max);
            return Err(Fault::new(Kind::Limit, message));
        }
        self.take(1)?;
        Ok(match object {
            MontyObject::None => Value::Null,
            MontyObject::Bool(value) => Value::Bool(value),
            MontyObject::Int(integer) => {
                self.take(digits(integer))?;
                integer.into()
            }
            MontyObject::BigInt(integer) => big(&integer)?,
            MontyObject::Float(number) => {
                Value::Number(Number::from_f64(number).ok_or_else(|| not_finite(number))?)
            }
            MontyObject::String(text) => self.text(text)?,
            MontyObject::List(items) | MontyObject::Tuple(items) => self.list(items, depth)?,
            MontyObject::NamedTuple { values, .. } => self.list(values, depth)?,
            MontyObject::Set(items) | MontyObject::FrozenSet(items) => {
                let Value::Array(mut items) = self.list(items, depth)? else {
                    return Ok(Value::Null);
                };
                sort(&mut items);
                Value::Array(items)
            }
            MontyObject::Dict(pairs) => {
                let mut members = Map::new();
                for (key, value) in pairs {
                    let key = self.key(key)?;
                    let value = self.value(value, depth + 1)?;
                    if members.contains_key(&key) {
                        return Err(no_json(&format!(
                            "a dict of which two keys are written '{key}'"
                        )));
                    }
                    members.insert(key, value);
                }
                Value::Object(members)
            }
            MontyObject::Date(date) => Value::String(format!(
                "{:04}-{:02}-{:02}",
                date.year, date.month, date.day
            )),
            MontyObject::DateTime(moment) => Value::String(iso_datetime(&moment)),
            MontyObject::Time(time) => Value::String(iso_time(&time)),
            MontyObject::TimeDelta(delta) => Value::String(python_timedelta(&delta)),
            other => return Err(no_json(&described(&other))),
        })
    }

    fn list(&mut self, items: Vec<MontyObject>, depth: usize) -> Result<Value, Fault> {
        let items = items.into_iter().map(|item| self.value(item, depth + 1));
        Ok(Value::Array(items.collect::<Result<_, _>>()?))
    }

    fn text(&mut self, text: String) -> Result<Value, Fault> {
        self.take(text.len())?;
        Ok(Value::String(text))
    }

    /// As `json.dumps` writes a key.
    fn key(&mut self, key: MontyObject) -> Result<String, Fault> {
        let key = match key {
            MontyObject::String(text) => text,
            MontyObject::Int(integer) => integer.to_string(),
            MontyObject::Bool(value) => value.to_string(),
            MontyObject::None => "null".to_owned(),
            MontyObject::Float(number) if number.is_finite() => {
                MontyObject::Float(number).py_repr()
            }
            other => {
                return Err(no_json(&format!(
                    "a dict with the key {}",
                    described(&other)
                )));
            }
        };
        self.take(key.len() + 3)?;
        Ok(key)
    }
}

pub(crate) fn too_large(bytes_max: usize) -> Fault {
    Fault::new(
        Kind::Limit,
        format!("the value is larger than {bytes_max} bytes"),
    )
}

fn no_json(what: &str) -> Fault {
    Fault::new(
        Kind::Result,
        format!("the value is {what}, which JSON cannot carry"),
    )
}

fn digits(integer: i64) -> usize {
    let digits = integer.unsigned_abs().checked_ilog10();
    digits.map_or(1, |last| usize::try_from(last + 1).unwrap_or(1))
}

/// An integer beyond 64 bits would lose digits as a number; its text keeps them.
fn big(integer: &BigInt) -> Result<Value, Fault> {
    if let Ok(integer) = u64::try_from(integer) {
        return Ok(integer.into());
    }
    // A digit is a little more than 3.3 bits.
    if integer.bits() > DIGITS_MAX * 10 / 3 {
        let message = format!(
            "ValueError: Exceeds the limit ({DIGITS_MAX} digits) for integer string conversion"
        );
        return Err(Fault::new(Kind::Value, message));
    }
    Ok(Value::String(integer.to_string()))
}

fn not_finite(number: f64) -> Fault {
    let name = if number.is_nan() {
        "nan (not a number)"
    } else {
        "infinity"
    };
    no_json(name)
}

fn described(object: &MontyObject) -> String {
    match object {
        MontyObject::Bytes(_) => {
            "bytes (use .decode(), or base64.b64encode(…).decode())".to_owned()
        }
        MontyObject::Cycle(..) => "a container that contains itself".to_owned(),
        MontyObject::Repr(text) if text == "<deeply nested>" => "too deeply nested".to_owned(),
        MontyObject::Repr(text) => {
            let text: String = text.chars().take(60).collect();
            format!("{text} (use list(…) for what can be iterated)")
        }
        MontyObject::Exception { exc_type, .. } => format!("an exception ({exc_type})"),
        MontyObject::Function { .. } | MontyObject::BuiltinFunction(_) => "a function".to_owned(),
        MontyObject::Type(_) => "a class".to_owned(),
        MontyObject::ClassInstance(instance) => format!("a {}", instance.class_type.name),
        other => {
            let text: String = other.py_repr().chars().take(60).collect();
            text
        }
    }
}

/// Numbers and texts in order, so that a set is the same list each time; what cannot be compared stays as it was.
fn sort(items: &mut [Value]) {
    if items.iter().all(Value::is_string) {
        items.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    } else if items.iter().all(Value::is_number) {
        items.sort_by(|a, b| match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => f64::total_cmp(
                &a.as_f64().unwrap_or(f64::NAN),
                &b.as_f64().unwrap_or(f64::NAN),
            ),
        });
    }
}

fn iso_datetime(moment: &MontyDateTime) -> String {
    let date = format!("{:04}-{:02}-{:02}", moment.year, moment.month, moment.day);
    let time = clock(
        moment.hour,
        moment.minute,
        moment.second,
        moment.microsecond,
    );
    format!("{date}T{time}{}", offset(moment.offset_seconds))
}

fn iso_time(time: &MontyTime) -> String {
    let text = clock(time.hour, time.minute, time.second, time.microsecond);
    text + &offset(time.offset_seconds)
}

fn clock(hour: u8, minute: u8, second: u8, microsecond: u32) -> String {
    let fraction = match microsecond {
        0 => String::new(),
        microsecond => format!(".{microsecond:06}"),
    };
    format!("{hour:02}:{minute:02}:{second:02}{fraction}")
}

fn offset(seconds: Option<i32>) -> String {
    let Some(seconds) = seconds else {
        return String::new();
    };
    let sign = if seconds < 0 { '-' } else { '+' };
    let size = seconds.unsigned_abs();
    let (hours, minutes, rest) = (size / 3600, size / 60 % 60, size % 60);
    match rest {
        0 => format!("{sign}{hours:02}:{minutes:02}"),
        rest => format!("{sign}{hours:02}:{minutes:02}:{rest:02}"),
    }
}

/// As `str()` writes it: `1 day, 2:03:04`.
fn python_timedelta(delta: &MontyTimeDelta) -> String {
    let (seconds, micros) = (delta.seconds, delta.microseconds);
    let days = match delta.days {
        0 => String::new(),
        days @ (1 | -1) => format!("{days} day, "),
        days => format!("{days} days, "),
    };
    let time = format!(
        "{}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    match micros {
        0 => format!("{days}{time}"),
        micros => format!("{days}{time}.{micros:06}"),
    }
}
