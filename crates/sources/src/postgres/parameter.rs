//! Values as text, so that the server itself reads them as whatever type the query wants there.

use crate::error::Error;
use bytes::BytesMut;
use serde_json::Value;
use std::error::Error as StdError;
use tokio_postgres::types::{Format, IsNull, ToSql, Type};

#[derive(Clone)]
pub(super) struct Parameter<'n> {
    pub(super) name: &'n str,
    /// It is an argument, and not known of the caller.
    pub(super) is_given: bool,
    /// None is NULL.
    text: Option<String>,
}

impl std::fmt::Debug for Parameter<'_> {
    /// Drivers log what they bind; values are nobody's business.
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("Parameter")
    }
}

impl<'n> Parameter<'n> {
    pub(super) fn new(name: &'n str, value: &Value, json: bool) -> Result<Parameter<'n>, Error> {
        let text = match value {
            Value::Null => return Ok(Parameter::of(name, None)),
            _ if json => value.to_string(),
            Value::String(text) => text.clone(),
            Value::Array(items) => array(items),
            Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
        };
        if text.contains('\0') {
            return Err(Error::Argument {
                name: name.to_owned(),
                message: "the text holds the character NUL, which PostgreSQL cannot store"
                    .to_owned(),
            });
        }
        Ok(Parameter::of(name, Some(text)))
    }

    fn of(name: &'n str, text: Option<String>) -> Parameter<'n> {
        Parameter {
            name,
            is_given: true,
            text,
        }
    }
}

/// A list as PostgreSQL writes arrays.
fn array(items: &[Value]) -> String {
    let mut text = String::from("{");
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        match item {
            Value::Null => text.push_str("NULL"),
            Value::Array(inner) => text.push_str(&array(inner)),
            Value::String(inner) => quote(&mut text, inner),
            Value::Object(_) => quote(&mut text, &item.to_string()),
            Value::Bool(_) | Value::Number(_) => text.push_str(&item.to_string()),
        }
    }
    text.push('}');
    text
}

fn quote(text: &mut String, item: &str) {
    text.push('"');
    for letter in item.chars() {
        if letter == '"' || letter == '\\' {
            text.push('\\');
        }
        text.push(letter);
    }
    text.push('"');
}

impl ToSql for Parameter<'_> {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match &self.text {
            None => Ok(IsNull::Yes),
            Some(text) => {
                out.extend_from_slice(text.as_bytes());
                Ok(IsNull::No)
            }
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    fn to_sql_checked(
        &self,
        of: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        self.to_sql(of, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(value: &Value, json: bool) -> Option<String> {
        Parameter::new("a", value, json).unwrap().text
    }

    #[test]
    fn values_are_text() {
        assert_eq!(text(&json!(null), true), None);
        assert_eq!(text(&json!(1.5), false).unwrap(), "1.5");
        assert_eq!(text(&json!(true), false).unwrap(), "true");
        assert_eq!(text(&json!({"a": 1}), false).unwrap(), r#"{"a":1}"#);
        assert_eq!(text(&json!("x"), true).unwrap(), r#""x""#);
        assert_eq!(text(&json!([1, [2, null]]), true).unwrap(), "[1,[2,null]]");
        assert_eq!(
            text(&json!(["a,b", "q\"\\", null, "NULL", ["}"]]), false).unwrap(),
            r#"{"a,b","q\"\\",NULL,"NULL",{"}"}}"#
        );
        assert!(Parameter::new("a", &json!("\0"), false).is_err());
    }
}
