//! A value as PostgreSQL writes it, by its type, to JSON. Whatever the text is, what comes out is valid JSON.

use crate::answer::{push_integer, push_json, push_string};
use tokio_postgres::types::{Kind, Type};

/// Digits that a double always holds exactly.
const EXACT_DIGITS: usize = 15;
const ARRAY_DEPTH_MAX: usize = 8;

pub(super) fn push_text(out: &mut String, of: &Type, text: &str) {
    match *of {
        Type::BOOL => out.push_str(if text == "t" { "true" } else { "false" }),
        Type::VOID => out.push_str("null"),
        Type::INT2 | Type::INT4 | Type::INT8 | Type::OID => match text.parse() {
            Ok(number) => push_integer(out, number),
            Err(_) => push_string(out, text),
        },
        Type::FLOAT4 | Type::FLOAT8 => push_number(out, text, |_| true),
        Type::NUMERIC => push_number(out, text, is_held),
        Type::JSON | Type::JSONB => push_json(out, text),
        Type::TIMESTAMP | Type::TIMESTAMPTZ => push_timestamp(out, text),
        Type::INT2_VECTOR | Type::OID_VECTOR => push_vector(out, text),
        _ => match of.kind() {
            Kind::Domain(inner) => push_text(out, inner, text),
            Kind::Array(inner) => push_array(out, inner, text),
            _ => push_string(out, text),
        },
    }
}

/// A number if it is one that JSON can say and readers keep, else a string: `NaN`, `Infinity`, thirty digits.
fn push_number(out: &mut String, text: &str, is_kept: impl Fn(&str) -> bool) {
    if is_kept(text) && serde_json::from_str::<serde_json::Number>(text).is_ok() {
        out.push_str(text);
    } else {
        push_string(out, text);
    }
}

/// Whether a double holds every digit: not too many of them, and none so far behind the point that it becomes nothing.
fn is_held(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit);
    let significant = digits.skip_while(|digit| *digit == b'0').count();
    let is_near = |number: f64| significant == 0 || number.is_normal();
    significant <= EXACT_DIGITS && text.parse().is_ok_and(is_near)
}

/// `2024-01-02 03:04:05+09` to `2024-01-02T03:04:05+09:00`, as `to_json` has it.
fn push_timestamp(out: &mut String, text: &str) {
    let Some((date, rest)) = text.split_once(' ') else {
        return push_string(out, text); // infinity
    };
    let (time, era) = rest.split_once(' ').unwrap_or((rest, ""));
    let offset = time.rfind(['+', '-']);
    let short = offset.is_some_and(|at| time.len() - at == 3);
    let minutes = if short { ":00" } else { "" };
    let gap = if era.is_empty() { "" } else { " " };
    push_string(out, &format!("{date}T{time}{minutes}{gap}{era}"));
}

fn push_vector(out: &mut String, text: &str) {
    let numbers: Vec<&str> = text.split_ascii_whitespace().collect();
    if numbers.iter().all(|number| number.parse::<i64>().is_ok()) {
        out.push('[');
        out.push_str(&numbers.join(","));
        out.push(']');
    } else {
        push_string(out, text);
    }
}

/// `{1,2}`, `{{a,"b c"},{NULL,d}}`, `[0:1]={1,2}`. What does not read as an array stays text.
fn push_array(out: &mut String, of: &Type, text: &str) {
    let start = out.len();
    // Bounds other than the usual ones stand in front.
    let body = match text.strip_prefix('[') {
        Some(_) => text.split_once('=').map_or(text, |(_, body)| body),
        None => text,
    };
    // The only type whose values hold commas and are parted by something else.
    let comma = if *of == Type::BOX { b';' } else { b',' };
    let mut reader = Reader {
        text: body,
        at: 0,
        comma,
    };
    let read = reader.array(out, of, 0);
    if read.is_none() || reader.at != body.len() {
        out.truncate(start);
        push_string(out, text);
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    comma: u8,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn array(&mut self, out: &mut String, of: &Type, depth: usize) -> Option<()> {
        if depth > ARRAY_DEPTH_MAX || !self.eat(b'{') {
            return None;
        }
        out.push('[');
        if self.eat(b'}') {
            out.push(']');
            return Some(());
        }
        loop {
            match self.peek()? {
                b'{' => self.array(out, of, depth + 1)?,
                b'"' => {
                    let item = self.quoted()?;
                    push_text(out, of, &item);
                }
                _ => self.bare(out, of)?,
            }
            if self.eat(b'}') {
                out.push(']');
                return Some(());
            }
            if !self.eat(self.comma) {
                return None;
            }
            out.push(',');
        }
    }

    fn quoted(&mut self) -> Option<String> {
        self.at += 1;
        let mut item = String::new();
        let mut letters = self.text[self.at..].char_indices();
        while let Some((offset, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.at += offset + 1;
                    return Some(item);
                }
                '\\' => item.push(letters.next()?.1),
                _ => item.push(letter),
            }
        }
        None
    }

    fn bare(&mut self, out: &mut String, of: &Type) -> Option<()> {
        let rest = &self.text[self.at..];
        let end = rest
            .bytes()
            .position(|byte| byte == self.comma || byte == b'}')?;
        let item = &rest[..end];
        self.at += end;
        if item.eq_ignore_ascii_case("NULL") {
            out.push_str("null");
        } else {
            push_text(out, of, item);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::value::RawValue;

    fn json(of: &Type, text: &str) -> String {
        let mut out = String::new();
        push_text(&mut out, of, text);
        assert!(serde_json::from_str::<&RawValue>(&out).is_ok(), "{out}");
        out
    }

    #[test]
    fn values_by_type() {
        let cases = [
            (Type::BOOL, "t", "true"),
            (Type::INT8, "9007199254740993", "\"9007199254740993\""),
            (Type::INT4, "-5", "-5"),
            (Type::FLOAT8, "1e+20", "1e+20"),
            (Type::FLOAT8, "-Infinity", "\"-Infinity\""),
            (Type::NUMERIC, "1.10", "1.10"),
            (Type::NUMERIC, "NaN", "\"NaN\""),
            (
                Type::NUMERIC,
                "0.000000000000000000001",
                "0.000000000000000000001",
            ),
            (
                Type::NUMERIC,
                "123456789012345678.5",
                "\"123456789012345678.5\"",
            ),
            (Type::NUMERIC, "0.00", "0.00"),
            (Type::JSONB, "{\"a\": [1, null]}", "{\"a\": [1, null]}"),
            (
                Type::JSONB,
                "{\"n\": 0.12345678901234567890}",
                "{\"n\": 0.12345678901234567890}",
            ),
            (Type::JSONB, "1e-400", "1e-400"),
            (Type::JSON, "{bad", "\"{bad\""),
            (Type::JSONB, "1e400", "\"1e400\""),
            (Type::JSON, r#""\ud800""#, r#""\"\\ud800\"""#),
            (Type::VOID, "", "null"),
            (Type::BYTEA, "\\x00ff", "\"\\\\x00ff\""),
            (
                Type::TIMESTAMPTZ,
                "2024-01-02 03:04:05.5+09",
                "\"2024-01-02T03:04:05.5+09:00\"",
            ),
            (
                Type::TIMESTAMPTZ,
                "2024-01-02 03:04:05-03:30",
                "\"2024-01-02T03:04:05-03:30\"",
            ),
            (
                Type::TIMESTAMP,
                "0044-03-15 00:00:00 BC",
                "\"0044-03-15T00:00:00 BC\"",
            ),
            (Type::TIMESTAMP, "infinity", "\"infinity\""),
            (Type::INTERVAL, "1 day 02:00:00", "\"1 day 02:00:00\""),
            (Type::INT2_VECTOR, "1 2", "[1,2]"),
        ];
        for (of, text, expected) in cases {
            assert_eq!(json(&of, text), expected, "{of} {text}");
        }
    }

    #[test]
    fn what_a_double_would_take_for_nothing_is_text() {
        for zeros in [306, 310, 329] {
            let text = format!("-0.{}1", "0".repeat(zeros));
            let expected = match zeros {
                306 => text.clone(),
                _ => format!("\"{text}\""),
            };
            assert_eq!(json(&Type::NUMERIC, &text), expected);
        }
        assert_eq!(json(&Type::FLOAT8, "5e-324"), "5e-324");
    }

    #[test]
    fn arrays_are_nested() {
        let cases = [
            (Type::INT4_ARRAY, "{1,2,NULL}", "[1,2,null]"),
            (Type::INT4_ARRAY, "{}", "[]"),
            (Type::INT4_ARRAY, "{{1,2},{3,4}}", "[[1,2],[3,4]]"),
            (Type::INT4_ARRAY, "[0:1]={1,2}", "[1,2]"),
            (
                Type::TEXT_ARRAY,
                "{a,\"b,\\\"}\",\"NULL\",\"\"}",
                "[\"a\",\"b,\\\"}\",\"NULL\",\"\"]",
            ),
            (Type::JSONB_ARRAY, "{\"{\\\"a\\\": 1}\"}", "[{\"a\": 1}]"),
            (
                Type::JSONB_ARRAY,
                "{0.12345678901234567890,NULL}",
                "[0.12345678901234567890,null]",
            ),
            (
                Type::BOX_ARRAY,
                "{(1,1),(0,0);(2,2),(1,1)}",
                "[\"(1,1),(0,0)\",\"(2,2),(1,1)\"]",
            ),
            (Type::INT4_ARRAY, "{1,2", "\"{1,2\""),
            (Type::INT4_ARRAY, "{1}x", "\"{1}x\""),
        ];
        for (of, text, expected) in cases {
            assert_eq!(json(&of, text), expected, "{of} {text}");
        }
        let deep = format!("{}{}", "{".repeat(50), "}".repeat(50));
        assert!(json(&Type::INT4_ARRAY, &deep).starts_with('"'));
    }
}
