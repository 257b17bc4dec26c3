//! Addresses: of the server that is asked, and of what is asked of it.

use super::encode;
use crate::out::{Failure, Result};

/// `http://host:port/base` into what is connected to and what goes before every path.
pub(super) fn split_url(url: &str) -> Result<(String, String)> {
    let wrong = |why: &str| {
        Failure::usage(format!("'{url}' is not an address of a server: {why}"))
            .hint("it looks like http://127.0.0.1:8787")
    };
    let rest = match url.split_once("://") {
        Some(("http", rest)) => rest,
        Some(("https", _)) => {
            return Err(wrong(
                "only plain http is spoken here; put a tunnel before it",
            ));
        }
        _ => return Err(wrong("it must begin with http://")),
    };
    let (authority, base) = rest.split_once('/').unwrap_or((rest, ""));
    if authority.is_empty() || authority.contains('@') {
        return Err(wrong("expected a host and a port"));
    }
    let authority = match authority.rsplit_once(':') {
        // The colons of an IPv6 address are inside its brackets.
        Some((_, rest)) if rest.ends_with(']') => format!("{authority}:80"),
        None => format!("{authority}:80"),
        Some((_, port)) if port.parse::<u16>().is_ok() => authority.to_owned(),
        Some((_, port)) => return Err(wrong(&format!("'{port}' is not a port"))),
    };
    let base = base.trim_end_matches('/');
    Ok((
        authority,
        if base.is_empty() {
            String::new()
        } else {
            format!("/{base}")
        },
    ))
}

/// Several values of one parameter; none where there is none.
pub(crate) fn several(values: &[String]) -> Option<String> {
    (!values.is_empty()).then(|| values.join(","))
}

/// `?a=b&c=d` of the parameters that have a value.
pub(crate) fn query(parameters: &[(&str, Option<String>)]) -> String {
    let given = parameters
        .iter()
        .filter_map(|(name, value)| Some((name, value.as_ref()?)));
    let pairs: Vec<String> = given
        .map(|(name, value)| format!("{name}={}", encode(value)))
        .collect();
    if pairs.is_empty() {
        String::new()
    } else {
        format!("?{}", pairs.join("&"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::Cause;

    #[test]
    fn addresses_are_taken_apart() {
        let split = |url| split_url(url).map_err(|failure| failure.cause);
        assert_eq!(
            split("http://127.0.0.1:8787"),
            Ok(("127.0.0.1:8787".into(), String::new()))
        );
        assert_eq!(
            split("http://host/base/"),
            Ok(("host:80".into(), "/base".into()))
        );
        assert_eq!(
            split("http://[::1]"),
            Ok(("[::1]:80".into(), String::new()))
        );
        assert_eq!(
            split("http://[::1]:9"),
            Ok(("[::1]:9".into(), String::new()))
        );
        for wrong in [
            "",
            "host:1",
            "https://host",
            "http://",
            "http:///x",
            "http://a@b",
            "http://a:b",
            "http://a:99999",
        ] {
            assert_eq!(split(wrong), Err(Cause::Usage), "{wrong}");
        }
    }

    #[test]
    fn names_are_encoded() {
        assert_eq!(encode("a/b c?é"), "a%2Fb%20c%3F%C3%A9");
        assert_eq!(
            query(&[("q", Some("x&y".into())), ("kind", None)]),
            "?q=x%26y"
        );
    }
}
