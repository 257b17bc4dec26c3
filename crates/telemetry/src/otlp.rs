//! The JSON of OTLP: values, attributes, and the envelope around spans and log records.

use serde_json::{Value, json};

pub(crate) fn attributes(pairs: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let pairs = pairs.into_iter();
    pairs
        .map(|(name, value)| json!({"key": name, "value": any(value)}))
        .collect()
}

/// A value with its type. Integers are texts there.
fn any(value: Value) -> Value {
    match value {
        Value::Bool(it) => json!({"boolValue": it}),
        Value::Number(it) if it.is_f64() => json!({"doubleValue": it}),
        Value::Number(it) => json!({"intValue": it.to_string()}),
        Value::String(it) => json!({"stringValue": it}),
        other => json!({"stringValue": other.to_string()}),
    }
}

/// What is sent in one request: all from one process.
pub(crate) fn envelope(
    (outer, inner, list): (&str, &str, &str),
    resource: &Value,
    items: &[Value],
) -> Value {
    let scope = json!({"name": "toolcrib", "version": env!("CARGO_PKG_VERSION")});
    json!({outer: [{
        "resource": {"attributes": resource},
        inner: [{"scope": scope, list: items}],
    }]})
}
