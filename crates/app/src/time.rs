//! Times as people and JSON write them: RFC 3339 in UTC, and spans such as `2h` for "that long ago".

use crate::error::{Error, Result};
use catalog::tool::Millis;

pub fn rfc3339(time: Millis) -> String {
    jiff::Timestamp::from_millisecond(time)
        .map(|t| format!("{t:.3}"))
        .unwrap_or_default()
}

/// Reads `2026-11-15T02:00:00Z`, milliseconds since 1970, or a span back from now (`90s`, `15m`, `2h`, `7d`).
pub fn parse(field: &str, text: &str, now: Millis) -> Result<Millis> {
    if let Ok(stamp) = text.parse::<jiff::Timestamp>() {
        return Ok(stamp.as_millisecond());
    }
    if let Ok(millis) = text.parse::<Millis>() {
        return Ok(millis);
    }
    let unit = |suffix: char| match suffix {
        's' => Some(1_000),
        'm' => Some(60_000),
        'h' => Some(3_600_000),
        'd' => Some(86_400_000),
        _ => None,
    };
    let span = text.chars().last().and_then(unit).and_then(|unit: Millis| {
        let count: Millis = text[..text.len() - 1].parse().ok()?;
        count.checked_mul(unit)
    });
    span.filter(|span| *span >= 0).map(|span| now - span).ok_or_else(|| {
        Error::invalid(format!(
            "{field}: expected a time such as 2026-01-31T12:00:00Z or a span such as 90s, 15m, 2h, 7d, got '{text}'"
        ))
    })
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
        assert_eq!(rfc3339(1500), "1970-01-01T00:00:01.500Z");
    }
}
