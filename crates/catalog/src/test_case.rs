//! The tests that a tool carries: calls with what they should answer.

use serde::Serialize;
use serde_json::Value;

/// A saved call with what it should answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TestCase {
    /// What it is called among the others, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub arguments: Value,
    #[serde(flatten)]
    pub expect: Expected,
}

/// What a test expects of its call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Expected {
    /// This data.
    #[serde(rename = "expect")]
    Data(Value),
    /// Data that has this in it: see [`contains`].
    #[serde(rename = "expect_contains")]
    Part(Value),
    /// A failure with this code, one of `CALL_ERRORS`.
    #[serde(rename = "expect_error")]
    Error(String),
}

/// How a call can fail; what each means is in the executor's table of codes.
pub const CALL_ERRORS: [&str; 18] = [
    "tool_not_found",
    "tool_inactive",
    "blocked_by_policy",
    "approval_required",
    "invalid_input",
    "rate_limited",
    "quota_exceeded",
    "cancelled",
    "invalid_output",
    "output_too_large",
    "tool_execution_error",
    "upstream_error",
    "service_unavailable",
    "not_configured",
    "auth_required",
    "timeout",
    "interrupted",
    "needs_run",
];

impl Expected {
    /// Whether a call that gave this data, or failed with this code, is what the test expects.
    pub fn fits(&self, data: &Value, error: Option<&str>) -> bool {
        match self {
            Expected::Data(expected) => error.is_none() && is_same(data, expected),
            Expected::Part(part) => error.is_none() && contains(data, part),
            Expected::Error(code) => error == Some(code),
        }
    }
}

/// Equal as JSON means it: 4 and 4.0 are the same number.
pub fn is_same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let found = |(name, value): (&String, &Value)| {
                b.get(name).is_some_and(|other| is_same(value, other))
            };
            a.len() == b.len() && a.iter().all(found)
        }
        _ => left == right,
    }
}

/// Whether data has a part in it: a text that stands somewhere in it, items that are in a list in any order, members of an
/// object that may have more.
pub fn contains(data: &Value, part: &Value) -> bool {
    match (data, part) {
        (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
        (Value::Array(items), Value::String(_)) => items.iter().any(|item| contains(item, part)),
        (Value::Object(members), Value::String(_)) => {
            members.values().any(|member| contains(member, part))
        }
        (Value::Array(items), Value::Array(parts)) => parts
            .iter()
            .all(|part| items.iter().any(|item| contains(item, part))),
        // One row of a result.
        (Value::Array(items), part) => items.iter().any(|item| contains(item, part)),
        (Value::Object(members), Value::Object(parts)) => parts.iter().all(|(name, part)| {
            members
                .get(name)
                .is_some_and(|member| contains(member, part))
        }),
        _ => is_same(data, part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_compared_as_json() {
        let fits = |expect: Value, data: Value| Expected::Data(expect).fits(&data, None);
        assert!(fits(
            json!({"a": [4, "x"], "b": null}),
            json!({"b": null, "a": [4.0, "x"]})
        ));
        assert!(!fits(json!([1, 2]), json!([2, 1])));
        assert!(!fits(json!({"a": 1}), json!({"a": 1, "b": 2})));
        assert!(!fits(json!("1"), json!(1)));
        let null = json!(null);
        assert!(!Expected::Data(null.clone()).fits(&null, Some("timeout")));
        let error = Expected::Error("timeout".to_owned());
        assert!(error.fits(&null, Some("timeout")));
        assert!(!error.fits(&null, None) && !error.fits(&null, Some("cancelled")));
        let case = TestCase {
            name: None,
            arguments: json!({}),
            expect: error,
        };
        let written = json!({"arguments": {}, "expect_error": "timeout"});
        assert_eq!(serde_json::to_value(case).unwrap(), written);
    }

    #[test]
    fn a_part_is_found_wherever_it_stands() {
        let fits = |part: Value, data: Value| Expected::Part(part).fits(&data, None);
        let rows =
            json!({"rows": [{"id": 1, "name": "Kim Minsu"}, {"id": 2, "name": "Lee"}], "count": 2});
        for part in [
            json!("Minsu"),
            json!({"count": 2.0}),
            json!({"rows": [{"id": 2}, {"name": "Kim"}]}),
            json!({"rows": {"id": 2, "name": "Lee"}}),
            json!({}),
        ] {
            assert!(fits(part.clone(), rows.clone()), "{part}");
        }
        for part in [
            json!("minsu"),
            json!({"count": 3}),
            json!({"rows": [{"id": 2, "name": "Kim"}]}),
            json!({"others": null}),
            json!(2),
        ] {
            assert!(!fits(part.clone(), rows.clone()), "{part}");
        }
        let failed = Expected::Part(json!({})).fits(&json!({}), Some("timeout"));
        assert!(!failed);
    }
}
