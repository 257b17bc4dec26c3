//! Conditions on metadata, as ChromaDB writes them: `{"table": "users"}`, `{"rows": {"$gt": 10}}`, `$and`, `$or`.
//! Read once; then the embedded store asks it of every record, and ChromaDB is sent the text as it was.

use crate::Result;
use crate::error::Error;
use crate::record::Metadata;
use serde::{Serialize, Serializer};
use serde_json::{Number, Value};
use std::cmp::Ordering;

/// A condition that makes sense.
#[derive(Debug, Clone)]
pub struct Filter {
    written: Value,
    condition: Condition,
}

#[derive(Debug, Clone)]
enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Compare(String, Comparison, Value),
    /// Whether the value is one of these.
    Among(String, Vec<Value>),
    /// Also true where there is no value.
    NotAmong(String, Vec<Value>),
}

#[derive(Debug, Clone, Copy)]
enum Comparison {
    Equal,
    /// Also true where there is no value.
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

/// Conditions in conditions, and conditions in all: what one may cost for each record.
const DEPTH_MAX: usize = 16;
const SIZE_MAX: usize = 10_000;

impl Filter {
    pub fn read(written: Value) -> Result<Self> {
        let mut left = SIZE_MAX;
        let condition = read(&written, DEPTH_MAX, &mut left)
            .map_err(|why| Error::Invalid(format!("The filter cannot be used: {why}")))?;
        Ok(Filter { written, condition })
    }

    pub fn matches(&self, metadata: &Metadata) -> bool {
        self.condition.matches(metadata)
    }
}

impl Serialize for Filter {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.written.serialize(serializer)
    }
}

type Read<T> = std::result::Result<T, String>;

fn read(written: &Value, depth: usize, left: &mut usize) -> Read<Condition> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(format!("it is more than {DEPTH_MAX} deep"));
    };
    let (key, value) = only_member(written).ok_or_else(|| {
        "each condition is an object with one name, such as {\"table\": \"users\"}; write several as {\"$and\": [...]}".to_owned()
    })?;
    spend(left)?;
    if key == "$and" || key == "$or" {
        let parts = value
            .as_array()
            .filter(|parts| !parts.is_empty())
            .ok_or_else(|| format!("{key} wants a list of conditions"))?;
        let parts = parts
            .iter()
            .map(|part| read(part, depth, left))
            .collect::<Read<Vec<_>>>()?;
        return Ok(match key {
            "$and" => Condition::All(parts),
            _ => Condition::Any(parts),
        });
    }
    if key.starts_with('$') {
        return Err(format!(
            "'{key}' cannot stand here; $and and $or can, or the name of a metadata"
        ));
    }
    match value {
        Value::Object(_) => comparison(key, value, left),
        _ => Ok(Condition::Compare(
            key.to_owned(),
            Comparison::Equal,
            scalar(key, value)?,
        )),
    }
}

fn comparison(key: &str, value: &Value, left: &mut usize) -> Read<Condition> {
    let (operator, operand) = only_member(value).ok_or_else(|| {
        format!("'{key}' wants one comparison, such as {{\"$gt\": 10}}; write several as {{\"$and\": [...]}}")
    })?;
    let compare = match operator {
        "$in" | "$nin" => return among(key, operator, operand, left),
        "$eq" => Comparison::Equal,
        "$ne" => Comparison::NotEqual,
        "$gt" => Comparison::Greater,
        "$gte" => Comparison::GreaterOrEqual,
        "$lt" => Comparison::Less,
        "$lte" => Comparison::LessOrEqual,
        _ => {
            return Err(format!(
                "'{operator}' is no comparison; $eq, $ne, $gt, $gte, $lt, $lte, $in and $nin are"
            ));
        }
    };
    let operand = scalar(key, operand)?;
    let is_order = !matches!(compare, Comparison::Equal | Comparison::NotEqual);
    if is_order && !operand.is_number() {
        return Err(format!("{operator} of '{key}' wants a number"));
    }
    Ok(Condition::Compare(key.to_owned(), compare, operand))
}

fn among(key: &str, operator: &str, operand: &Value, left: &mut usize) -> Read<Condition> {
    let wanted = || format!("{operator} of '{key}' wants a list of values of one type");
    let values = operand
        .as_array()
        .filter(|values| !values.is_empty())
        .ok_or_else(wanted)?;
    let first = std::mem::discriminant(&values[0]);
    let mut kept = Vec::with_capacity(values.len());
    for value in values {
        spend(left)?;
        if std::mem::discriminant(value) != first {
            return Err(wanted());
        }
        kept.push(scalar(key, value)?);
    }
    Ok(match operator {
        "$in" => Condition::Among(key.to_owned(), kept),
        _ => Condition::NotAmong(key.to_owned(), kept),
    })
}

fn spend(left: &mut usize) -> Read<()> {
    *left = left
        .checked_sub(1)
        .ok_or_else(|| format!("it holds more than {SIZE_MAX} conditions and values"))?;
    Ok(())
}

fn only_member(value: &Value) -> Option<(&str, &Value)> {
    let mut members = value.as_object()?.iter();
    let (key, value) = members.next()?;
    members.next().is_none().then_some((key.as_str(), value))
}

fn scalar(key: &str, value: &Value) -> Read<Value> {
    match value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) => Ok(value.clone()),
        _ => Err(format!(
            "'{key}' is compared with a string, a number or a boolean"
        )),
    }
}

impl Condition {
    fn matches(&self, metadata: &Metadata) -> bool {
        match self {
            Condition::All(parts) => parts.iter().all(|part| part.matches(metadata)),
            Condition::Any(parts) => parts.iter().any(|part| part.matches(metadata)),
            Condition::Compare(key, comparison, wanted) => {
                let found = metadata.get(key).and_then(|value| compare(value, wanted));
                comparison.holds(found)
            }
            Condition::Among(key, values) => is_among(metadata.get(key), values),
            Condition::NotAmong(key, values) => !is_among(metadata.get(key), values),
        }
    }
}

impl Comparison {
    /// Values of different types, and one that is missing, are neither equal nor in an order.
    fn holds(self, found: Option<Ordering>) -> bool {
        match self {
            Comparison::Equal => found == Some(Ordering::Equal),
            Comparison::NotEqual => found != Some(Ordering::Equal),
            Comparison::Greater => found == Some(Ordering::Greater),
            Comparison::GreaterOrEqual => found.is_some_and(Ordering::is_ge),
            Comparison::Less => found == Some(Ordering::Less),
            Comparison::LessOrEqual => found.is_some_and(Ordering::is_le),
        }
    }
}

fn is_among(value: Option<&Value>, values: &[Value]) -> bool {
    value.is_some_and(|value| {
        let is_same = |wanted: &Value| compare(value, wanted) == Some(Ordering::Equal);
        values.iter().any(is_same)
    })
}

fn compare(value: &Value, wanted: &Value) -> Option<Ordering> {
    match (value, wanted) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b),
        _ => None,
    }
}

/// Whole numbers exactly; a whole one and a fraction by value. (ChromaDB cuts the fraction off first when it compares
/// it with a whole number, and so finds 2 where 2.5 was asked for.)
fn compare_numbers(a: &Number, b: &Number) -> Option<Ordering> {
    let whole = |number: &Number| {
        number
            .as_i64()
            .map(i128::from)
            .or_else(|| number.as_u64().map(i128::from))
    };
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn finds(filter: Value, metadata: &Value) -> bool {
        let filter = Filter::read(filter).unwrap();
        filter.matches(metadata.as_object().unwrap())
    }

    #[test]
    fn every_comparison() {
        let record = json!({"table": "users", "rows": 10, "share": 0.5, "key": true});
        for (filter, expected) in [
            (json!({"table": "users"}), true),
            (json!({"table": "orders"}), false),
            (json!({"table": {"$eq": "users"}}), true),
            (json!({"table": {"$ne": "users"}}), false),
            (json!({"table": {"$ne": 1}}), true),
            (json!({"none": {"$ne": "users"}}), true),
            (json!({"none": "users"}), false),
            (json!({"rows": 10}), true),
            (json!({"rows": 10.0}), true),
            (json!({"rows": 10.5}), false),
            (json!({"rows": "10"}), false),
            (json!({"rows": {"$gt": 9.5}}), true),
            (json!({"rows": {"$gt": 10}}), false),
            (json!({"rows": {"$gte": 10}}), true),
            (json!({"rows": {"$lt": 10}}), false),
            (json!({"rows": {"$lte": 10}}), true),
            (json!({"share": {"$lt": 1}}), true),
            (json!({"table": {"$gt": 1}}), false),
            (json!({"none": {"$lt": 1}}), false),
            (json!({"key": true}), true),
            (json!({"key": {"$ne": true}}), false),
            (json!({"table": {"$in": ["users", "orders"]}}), true),
            (json!({"table": {"$nin": ["users", "orders"]}}), false),
            (json!({"rows": {"$in": [1, 10.0]}}), true),
            (json!({"none": {"$in": ["users"]}}), false),
            (json!({"none": {"$nin": ["users"]}}), true),
            (
                json!({"$and": [{"table": "users"}, {"rows": {"$gt": 1}}]}),
                true,
            ),
            (
                json!({"$and": [{"table": "users"}, {"rows": {"$gt": 99}}]}),
                false,
            ),
            (
                json!({"$or": [{"table": "orders"}, {"$and": [{"key": true}, {"rows": 10}]}]}),
                true,
            ),
            (json!({"$or": [{"table": "orders"}, {"rows": 11}]}), false),
        ] {
            assert_eq!(finds(filter.clone(), &record), expected, "{filter}");
        }
    }

    #[test]
    fn whole_numbers_beyond_what_a_float_can_hold_are_told_apart() {
        let large = 9_007_199_254_740_993_i64;
        assert!(finds(json!({"n": large}), &json!({"n": large})));
        assert!(!finds(json!({"n": large}), &json!({"n": large - 1})));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_the_reason() {
        for (filter, why) in [
            (json!({}), "an object with one name"),
            (json!("users"), "an object with one name"),
            (json!({"a": 1, "b": 2}), "$and"),
            (json!({"a": {"$gt": 1, "$lt": 5}}), "one comparison"),
            (json!({"a": {"$like": "x"}}), "'$like' is no comparison"),
            (json!({"a": {"$gt": "x"}}), "wants a number"),
            (json!({"a": null}), "a string, a number or a boolean"),
            (json!({"a": {"$in": []}}), "a list of values"),
            (json!({"a": {"$in": [1, "x"]}}), "of one type"),
            (
                json!({"a": {"$eq": [1]}}),
                "a string, a number or a boolean",
            ),
            (json!({"$and": []}), "a list of conditions"),
            (json!({"$not": [{"a": 1}]}), "cannot stand here"),
            (
                json!({"a": {"$in": vec![1; SIZE_MAX + 1]}}),
                "more than 10000",
            ),
        ] {
            let error = Filter::read(filter.clone()).unwrap_err().to_string();
            assert!(error.contains(why), "{filter}: {error}");
        }
        let mut deep = json!({"a": 1});
        for _ in 0..DEPTH_MAX {
            deep = json!({"$and": [deep]});
        }
        let error = Filter::read(deep).unwrap_err().to_string();
        assert!(error.contains("more than 16 deep"), "{error}");
    }
}
