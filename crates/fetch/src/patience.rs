//! How long a server wants to be left alone.

use http::HeaderMap;
use http::header::{DATE, HeaderName, RETRY_AFTER};
use std::time::Duration;

/// What `Retry-After` says: seconds, or a time; the server's own clock says from when.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let word = |name: HeaderName| headers.get(name)?.to_str().ok();
    let after = word(RETRY_AFTER)?.trim();
    if let Ok(seconds) = after.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let until = httpdate::parse_http_date(after).ok()?;
    let now = httpdate::parse_http_date(word(DATE)?).ok()?;
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_says_how_long() {
        let told = |after: &str, date: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after", after.parse().unwrap());
            headers.insert("date", date.parse().unwrap());
            retry_after(&headers)
        };
        let noon = "Sun, 06 Nov 1994 12:00:00 GMT";
        let later = "Sun, 06 Nov 1994 12:00:09 GMT";
        assert_eq!(told("7", ""), Some(Duration::from_secs(7)));
        assert_eq!(told(later, noon), Some(Duration::from_secs(9)));
        assert_eq!(told(noon, later), Some(Duration::ZERO));
        assert_eq!(told(later, ""), None);
        assert_eq!(told("soon", noon), None);
    }
}
