//! Times as people and JSON write them: RFC 3339 in UTC, and spans such as `2h` for "that long ago".

use crate::error::{Error, Result};
use catalog::tool::Millis;

pub fn rfc3339(time: Millis) -> String {
    jiff::Timestamp::from_millisecond(time)
        .map(|t| format!("{t:.3}"))
        .unwrap_or_default()
}

/// The last moment that can be written down: 9999-12-31.
const LAST: Millis = 253_402_300_799_999;

/// Reads `2026-11-15T02:00:00Z`, `2026-11-15`, milliseconds since 1970, or a span back from now (`90s`, `15m`, `2h`, `7d`).
pub fn parse(field: &str, text: &str, now: Millis) -> Result<Millis> {
    read(field, text, |span| now - span)
}

/// The same, with spans counted from now on.
pub fn parse_ahead(field: &str, text: &str, now: Millis) -> Result<Millis> {
    read(field, text, |span| now + span)
}

fn read(field: &str, text: &str, from_now: impl Fn(Millis) -> Millis) -> Result<Millis> {
    let day = || format!("{text}T00:00:00Z").parse::<jiff::Timestamp>();
    let stamp = text.parse::<jiff::Timestamp>().or_else(|_| day());
    let time = match (stamp, text.parse::<Millis>()) {
        (Ok(stamp), _) => Some(stamp.as_millisecond()),
        (_, Ok(millis)) => Some(millis),
        _ => span(text).map(from_now),
    };
    time.filter(|time| (0..=LAST).contains(time)).ok_or_else(|| {
        Error::invalid(format!(
            "{field}: expected a time such as 2026-01-31T12:00:00Z or 2026-01-31, or a span such as 90s, 15m, 2h, 7d, got '{text}'"
        ))
    })
}

fn span(text: &str) -> Option<Millis> {
    let unit: Millis = match text.chars().last()? {
        's' => 1_000,
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        _ => return None,
    };
    let count: Millis = text[..text.len() - 1].parse().ok()?;
    count
        .checked_mul(unit)
        .filter(|span| (0..=LAST).contains(span))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_three_ways() {
        assert_eq!(parse("since", "1970-01-01T00:00:01Z", 0).ok(), Some(1000));
        assert_eq!(parse("since", "1500", 0).ok(), Some(1500));
        assert_eq!(parse("since", "2h", 7_200_001).ok(), Some(1));
        for wrong in ["", "h", "2x", "-1h", "yesterday", "99999999999999999d", "é"] {
            assert!(parse("since", wrong, 0).is_err(), "{wrong}");
        }
        assert_eq!(parse("since", "1970-01-02", 0).ok(), Some(86_400_000));
        assert_eq!(parse_ahead("expires_at", "2h", 1).ok(), Some(7_200_001));
        assert!(parse_ahead("expires_at", "9223372036854775807", 0).is_err());
        assert_eq!(rfc3339(1500), "1970-01-01T00:00:01.500Z");
    }
}
