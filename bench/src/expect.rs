//! What a right answer holds: a value or a number of items at a JSON pointer.
//! The answer is walked without building a tree, so that checking costs about a microsecond and the server is what gets measured.

use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::Failure;
use crate::template::Template;

pub(crate) struct Expectation {
    pointer: Pointer,
    want: Want,
}

enum Want {
    /// A JSON text with counters in it.
    Value(Template),
    Items(usize),
}

impl Expectation {
    /// From `POINTER=JSON`, as in `/data="row {i}"`.
    pub(crate) fn value(text: &str) -> Result<Self, Failure> {
        let (pointer, json) = Pointer::split(text, "/status=\"success\"")?;
        let template = Template::parse(json)?;
        let mut sample = Vec::new();
        template.render(1, &mut sample);
        serde_json::from_slice::<IgnoredAny>(&sample).map_err(|e| {
            format!("--expect {text}: the part after `=` is not JSON ({e}); a text needs its quotes, as in /status=\"success\"")
        })?;
        Ok(Expectation {
            pointer,
            want: Want::Value(template),
        })
    }

    /// From `POINTER=NUMBER`, as in `/items=50`.
    pub(crate) fn items(text: &str) -> Result<Self, Failure> {
        let (pointer, number) = Pointer::split(text, "/items=50")?;
        let number = number.parse().map_err(|_| {
            format!("--expect-items {text}: expected a whole number after `=`, as in /items=50")
        })?;
        Ok(Expectation {
            pointer,
            want: Want::Items(number),
        })
    }

    pub(crate) fn check(&self, i: u64, body: &[u8]) -> Result<(), Failure> {
        let found = self.pointer.find(body)?;
        match &self.want {
            Want::Value(template) => {
                let mut want = Vec::with_capacity(64);
                template.render(i, &mut want);
                if found.get().as_bytes() == want || same_value(found.get().as_bytes(), &want) {
                    return Ok(());
                }
                let want = String::from_utf8_lossy(&want);
                Err(format!(
                    "{} is {}, expected {want}",
                    self.pointer.text,
                    short(found.get())
                ))
            }
            Want::Items(want) => match serde_json::from_str::<Vec<IgnoredAny>>(found.get()) {
                Ok(items) if items.len() == *want => Ok(()),
                Ok(items) => Err(format!(
                    "{} has {} items, expected {want}",
                    self.pointer.text,
                    items.len()
                )),
                Err(_) => Err(format!(
                    "{} is {}, expected a list",
                    self.pointer.text,
                    short(found.get())
                )),
            },
        }
    }
}

/// Equal although written otherwise: escapes, spaces, order of keys.
fn same_value(left: &[u8], right: &[u8]) -> bool {
    match (
        serde_json::from_slice::<Value>(left),
        serde_json::from_slice::<Value>(right),
    ) {
        (Ok(left), Ok(right)) => left == right,
        _ => false,
    }
}

/// The beginning of a text, for messages.
pub(crate) fn short(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

struct Pointer {
    text: String,
    steps: Vec<String>,
}

impl Pointer {
    /// Splits `POINTER=REST` at the first `=`.
    fn split<'t>(text: &'t str, example: &str) -> Result<(Self, &'t str), Failure> {
        let (pointer, rest) = text
            .split_once('=')
            .filter(|(pointer, _)| pointer.is_empty() || pointer.starts_with('/'))
            .ok_or_else(|| {
                format!("expectation {text:?}: expected POINTER=VALUE, as in {example}")
            })?;
        let steps = pointer.split('/').skip(1);
        let steps = steps
            .map(|step| step.replace("~1", "/").replace("~0", "~"))
            .collect();
        Ok((
            Pointer {
                text: pointer.to_owned(),
                steps,
            },
            rest,
        ))
    }

    fn find<'b>(&self, body: &'b [u8]) -> Result<&'b RawValue, Failure> {
        let mut json = serde_json::Deserializer::from_slice(body);
        let found = Walk(&self.steps)
            .deserialize(&mut json)
            .and_then(|found| json.end().map(|()| found));
        match found {
            Ok(Some(found)) => Ok(found),
            Ok(None) => Err(format!(
                "nothing at {} in {}",
                self.text,
                short(&String::from_utf8_lossy(body))
            )),
            Err(e) => Err(format!(
                "the answer is not JSON ({e}): {}",
                short(&String::from_utf8_lossy(body))
            )),
        }
    }
}

/// Goes down the steps and reads past everything beside them.
struct Walk<'p>(&'p [String]);

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = Option<&'de RawValue>;

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        if self.0.is_empty() {
            return serde::Deserialize::deserialize(json).map(Some);
        }
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(ours) = map.next_key_seed(SameKey(&self.0[0]))? {
            if ours {
                found = map.next_value_seed(Walk(&self.0[1..]))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        if let Ok(place) = self.0[0].parse::<usize>() {
            for _ in 0..place {
                if seq.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(None);
                }
            }
            found = seq.next_element_seed(Walk(&self.0[1..]))?.flatten();
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(found)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// Compares a key where it lies: no allocation for keys without escapes.
struct SameKey<'p>(&'p str);

impl<'de> DeserializeSeed<'de> for SameKey<'_> {
    type Value = bool;

    fn deserialize<D: serde::Deserializer<'de>>(self, key: D) -> Result<bool, D::Error> {
        key.deserialize_str(self)
    }
}

impl Visitor<'_> for SameKey<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = r#"{"status":"success","n":{"a/b":[1,{"x":"row\u0020 7"},null]},"big":[[],{}],"e":1.5,"t":true}"#;

    fn check(expectation: &str, body: &str) -> Result<(), Failure> {
        Expectation::value(expectation)
            .unwrap()
            .check(7, body.as_bytes())
    }

    #[test]
    fn values_are_found_and_compared_as_json() {
        check("/status=\"success\"", BODY).unwrap();
        check("/n/a~1b/1/x=\"row  {i}\"", BODY).unwrap();
        check("/n/a~1b/2=null", BODY).unwrap();
        check("/big=[ [], {} ]", BODY).unwrap();
        check("=5", "5").unwrap();
    }

    #[test]
    fn a_wrong_or_missing_value_says_where_and_what() {
        assert_eq!(
            check("/status=\"error\"", BODY).unwrap_err(),
            "/status is \"success\", expected \"error\""
        );
        assert!(
            check("/n/a~1b/9=1", BODY)
                .unwrap_err()
                .contains("nothing at /n/a~1b/9")
        );
        for deeper in [
            "/e/x=1",
            "/t/0=1",
            "/status/x=1",
            "/n/a~1b/2/z=1",
            "/n/a~1b/0/z=1",
        ] {
            assert!(
                check(deeper, BODY).unwrap_err().contains("nothing at"),
                "{deeper}"
            );
        }
    }

    #[test]
    fn an_answer_that_is_not_json_to_its_end_is_wrong() {
        for body in [
            "",
            "<html>",
            "{\"status\":\"success\"",
            "{\"status\":\"success\"} x",
            "{\"status\":\"success\",\"b\":[1,}",
        ] {
            assert!(
                check("/status=\"success\"", body)
                    .unwrap_err()
                    .contains("not JSON"),
                "{body}"
            );
        }
    }

    #[test]
    fn items_are_counted() {
        let two = Expectation::items("/big=2").unwrap();
        two.check(0, BODY.as_bytes()).unwrap();
        assert!(
            two.check(0, br#"{"big":[1]}"#)
                .unwrap_err()
                .contains("has 1 items, expected 2")
        );
        assert!(
            two.check(0, br#"{"big":{}}"#)
                .unwrap_err()
                .contains("expected a list")
        );
    }

    #[test]
    fn bad_expectations_are_refused_with_an_example() {
        assert!(
            Expectation::value("status")
                .err()
                .unwrap()
                .contains("POINTER=VALUE")
        );
        assert!(
            Expectation::value("/status=success")
                .err()
                .unwrap()
                .contains("needs its quotes")
        );
        assert!(
            Expectation::items("/items=many")
                .err()
                .unwrap()
                .contains("whole number")
        );
    }
}
