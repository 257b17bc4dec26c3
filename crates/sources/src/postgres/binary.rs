//! Values of the most used types, from their binary form. What a write returns and what a prepared query gives comes by the
//! extended protocol, whose driver asks for nothing else. What is not here goes by a cursor, or an author casts it to text.

use super::errors::database;
use crate::answer::{Writer, push_bytes, push_integer, push_json, push_string};
use crate::error::Error;
use std::error::Error as StdError;
use std::fmt::Write as _;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Kind, Type};

/// The bytes of a value, whatever its type.
pub(super) struct Raw<'a>(pub(super) Option<&'a [u8]>);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Raw(Some(raw)))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Raw(None))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

pub(super) fn is_known(of: &Type) -> bool {
    match *of {
        Type::BOOL
        | Type::INT2
        | Type::INT4
        | Type::INT8
        | Type::OID
        | Type::FLOAT4
        | Type::FLOAT8
        | Type::NUMERIC
        | Type::TEXT
        | Type::VARCHAR
        | Type::BPCHAR
        | Type::NAME
        | Type::UNKNOWN
        | Type::XML
        | Type::JSON
        | Type::JSONB
        | Type::UUID
        | Type::BYTEA
        | Type::DATE
        | Type::TIMESTAMP
        | Type::TIMESTAMPTZ
        | Type::VOID => true,
        _ => match of.kind() {
            Kind::Enum(_) => true,
            Kind::Domain(inner) => is_known(inner),
            _ => of.name() == "citext",
        },
    }
}

/// The values of one row, of these types.
pub(super) fn push_row(writer: &mut Writer, row: &Row, types: &[Type]) -> Result<(), Error> {
    for (index, of) in types.iter().enumerate() {
        let Raw(raw) = row.try_get(index).map_err(|error| database(&error))?;
        writer.value(raw.map_or(4, <[u8]>::len), |out| match raw {
            Some(raw) => push_binary(out, of, raw),
            None => out.push_str("null"),
        });
    }
    Ok(())
}

fn push_binary(out: &mut String, of: &Type, raw: &[u8]) {
    if let Kind::Domain(inner) = of.kind() {
        return push_binary(out, inner, raw);
    }
    let pushed = match *of {
        Type::BOOL => push(out, if raw == [0] { "false" } else { "true" }),
        Type::INT2 => fixed(raw).map(|bytes| push_integer(out, i16::from_be_bytes(bytes).into())),
        Type::INT4 => fixed(raw).map(|bytes| push_integer(out, i32::from_be_bytes(bytes).into())),
        Type::OID => fixed(raw).map(|bytes| push_integer(out, u32::from_be_bytes(bytes).into())),
        Type::INT8 => fixed(raw).map(|bytes| push_integer(out, i64::from_be_bytes(bytes))),
        Type::FLOAT4 => fixed(raw).map(|bytes| float(out, f32::from_be_bytes(bytes))),
        Type::FLOAT8 => fixed(raw).map(|bytes| float(out, f64::from_be_bytes(bytes))),
        Type::NUMERIC => numeric(raw).map(|text| super::text::push_text(out, of, &text)),
        Type::JSON => embedded(out, raw),
        // The first byte of jsonb is its version.
        Type::JSONB => raw.get(1..).and_then(|raw| embedded(out, raw)),
        Type::UUID => fixed(raw).map(|bytes| uuid(out, bytes)),
        Type::BYTEA => None,
        Type::DATE => fixed(raw).map(|bytes| push_string(out, &date(i32::from_be_bytes(bytes)))),
        Type::TIMESTAMP => {
            fixed(raw).map(|bytes| push_string(out, &timestamp(i64::from_be_bytes(bytes), "")))
        }
        Type::TIMESTAMPTZ => fixed(raw)
            .map(|bytes| push_string(out, &timestamp(i64::from_be_bytes(bytes), "+00:00"))),
        Type::VOID => push(out, "null"),
        _ => {
            push_string(out, &String::from_utf8_lossy(raw));
            Some(())
        }
    };
    // Bytes are what bytes are, and what does not read as its type.
    if pushed.is_none() {
        push_bytes(out, raw);
    }
}

fn push(out: &mut String, text: &str) -> Option<()> {
    out.push_str(text);
    Some(())
}

fn fixed<const N: usize>(raw: &[u8]) -> Option<[u8; N]> {
    raw.try_into().ok()
}

fn float(out: &mut String, number: impl Into<f64> + Copy + std::fmt::Display + std::fmt::LowerExp) {
    let value: f64 = number.into();
    if value.is_finite() {
        let _ = match value.abs() {
            // Written out, a number may have three hundred digits.
            size if size != 0.0 && !(1e-4..1e15).contains(&size) => write!(out, "{number:e}"),
            _ => write!(out, "{number}"),
        };
    } else if value.is_nan() {
        out.push_str("\"NaN\"");
    } else {
        out.push_str(if value > 0.0 {
            "\"Infinity\""
        } else {
            "\"-Infinity\""
        });
    }
}

fn embedded(out: &mut String, raw: &[u8]) -> Option<()> {
    push_json(out, std::str::from_utf8(raw).ok()?);
    Some(())
}

fn uuid(out: &mut String, bytes: [u8; 16]) {
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        let dash = if matches!(index, 4 | 6 | 8 | 10) {
            "-"
        } else {
            ""
        };
        let _ = write!(text, "{dash}{byte:02x}");
    }
    push_string(out, &text);
}

/// Four numbers (digits, weight, sign, scale) and then digits to the base of ten thousand.
fn numeric(raw: &[u8]) -> Option<String> {
    let word = |index: usize| {
        let bytes = raw.get(index * 2..index * 2 + 2)?;
        Some(u16::from_be_bytes([bytes[0], bytes[1]]))
    };
    let (count, weight) = (usize::from(word(0)?), word(1)?.cast_signed());
    let (sign, scale) = (word(2)?, usize::from(word(3)?));
    let special = match sign {
        0xC000 => Some("NaN"),
        0xD000 => Some("Infinity"),
        0xF000 => Some("-Infinity"),
        _ => None,
    };
    if let Some(special) = special {
        return Some(special.to_owned());
    }
    let digit = |index: i32| -> Option<u16> {
        match usize::try_from(index) {
            Ok(index) if index < count => word(4 + index),
            _ => Some(0),
        }
    };
    let mut text = String::new();
    if sign == 0x4000 {
        text.push('-');
    }
    let weight = i32::from(weight);
    if weight < 0 {
        text.push('0');
    }
    for index in 0..=weight {
        let digit = digit(index)?;
        let _ = if index == 0 {
            write!(text, "{digit}")
        } else {
            write!(text, "{digit:04}")
        };
    }
    if scale > 0 {
        let mut fraction = String::new();
        let mut index = weight + 1;
        while fraction.len() < scale {
            let _ = write!(fraction, "{:04}", digit(index)?);
            index += 1;
        }
        fraction.truncate(scale);
        let _ = write!(text, ".{fraction}");
    }
    Some(text)
}

/// Days since the first of January 2000.
fn date(days: i32) -> String {
    match days {
        i32::MAX => "infinity".to_owned(),
        i32::MIN => "-infinity".to_owned(),
        _ => {
            let (day, era) = civil(i64::from(days));
            format!("{day}{era}")
        }
    }
}

/// Microseconds since the same day.
fn timestamp(micros: i64, zone: &str) -> String {
    const DAY: i64 = 86_400_000_000;
    match micros {
        i64::MAX => "infinity".to_owned(),
        i64::MIN => "-infinity".to_owned(),
        _ => {
            let (day, era) = civil(micros.div_euclid(DAY));
            let rest = micros.rem_euclid(DAY);
            let (seconds, fraction) = (rest / 1_000_000, rest % 1_000_000);
            let fraction = match fraction {
                0 => String::new(),
                _ => format!(".{fraction:06}").trim_end_matches('0').to_owned(),
            };
            let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
            format!("{day}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}{era}")
        }
    }
}

/// A day of the calendar, counted from the first of March of the year zero in eras of four hundred years.
fn civil(days: i64) -> (String, &'static str) {
    let days = days + 730_425; // from 0000-03-01 to 2000-01-01
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    if year > 0 {
        (format!("{year:04}-{month:02}-{day:02}"), "")
    } else {
        (format!("{:04}-{month:02}-{day:02}", 1 - year), " BC")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times() {
        assert_eq!(date(0), "2000-01-01");
        assert_eq!(date(59), "2000-02-29");
        assert_eq!(date(-1), "1999-12-31");
        assert_eq!(date(8827), "2024-03-02");
        assert_eq!(timestamp(1, "+00:00"), "2000-01-01T00:00:00.000001+00:00");
        assert_eq!(timestamp(-1_500_000, ""), "1999-12-31T23:59:58.5");
    }

    #[test]
    fn numbers_of_any_length() {
        let number = |words: &[u16]| {
            let raw: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            numeric(&raw).unwrap()
        };
        assert_eq!(number(&[0, 0, 0, 0]), "0");
        assert_eq!(number(&[2, 0, 0, 2, 12, 3400]), "12.34");
        assert_eq!(number(&[2, 1, 0x4000, 0, 1, 2]), "-10002");
        assert_eq!(number(&[1, 0xFFFF, 0, 6, 5]), "0.000500");
        assert_eq!(number(&[1, 2, 0, 0, 7]), "700000000");
        assert_eq!(number(&[0, 0, 0xC000, 0]), "NaN");
    }
}
