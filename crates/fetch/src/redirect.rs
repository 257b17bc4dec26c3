//! Where an answer leads, and what goes along.

use crate::error::{Error, Refusal};
use crate::guard::{place, read_from};
use bytes::Bytes;
use http::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION, CONTENT_TYPE, COOKIE,
    LOCATION, PROXY_AUTHORIZATION,
};
use http::{HeaderMap, Method, StatusCode};
use url::Url;

/// One request on the wire.
#[derive(Debug, Clone)]
pub(crate) struct Hop {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Hop {
    /// The request that this answer leads to; `None` where it is the last.
    pub(crate) fn next(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Result<Option<Hop>, Error> {
        let Some(location) = headers.get(LOCATION).filter(|_| leads_on(status)) else {
            return Ok(None);
        };
        let unreadable = |_| Error::Protocol {
            place: place(&self.url),
            why: "it led to an address that is no text",
            source: None,
        };
        // Servers write names of other languages as they are.
        let location = str::from_utf8(location.as_bytes()).map_err(unreadable)?;
        let url = read_from(&self.url, location)?;
        if self.url.scheme() == "https" && url.scheme() == "http" {
            return Err(Error::Refused {
                place: place(&url),
                refusal: Refusal::Downgrade,
            });
        }
        let mut next = self.clone();
        if becomes_get(status, &self.method) {
            next.method = Method::GET;
            next.body = Bytes::new();
            for name in [
                CONTENT_TYPE,
                CONTENT_ENCODING,
                CONTENT_LANGUAGE,
                CONTENT_LOCATION,
            ] {
                next.headers.remove(name);
            }
        }
        if url.origin() != self.url.origin() {
            drop_credentials(&mut next.headers);
        }
        next.url = url;
        Ok(Some(next))
    }
}

fn leads_on(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// 307 and 308 keep what was asked; the older ones are followed the way all clients have come to.
fn becomes_get(status: StatusCode, method: &Method) -> bool {
    match status.as_u16() {
        301 | 302 => method == Method::POST,
        303 => method != Method::GET && method != Method::HEAD,
        _ => false,
    }
}

/// They were meant for one host, and the next is another.
fn drop_credentials(headers: &mut HeaderMap) {
    let is_secret = |name: &http::HeaderName, headers: &HeaderMap| {
        [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION].contains(name)
            || headers
                .get_all(name)
                .iter()
                .any(|value| value.is_sensitive())
    };
    let secret: Vec<_> = headers
        .keys()
        .filter(|name| is_secret(name, headers))
        .cloned()
        .collect();
    for name in secret {
        headers.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn hop(method: Method, url: &str) -> Hop {
        let mut secret = HeaderValue::from_static("k");
        secret.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert("x-key", secret);
        headers.insert("authorization", HeaderValue::from_static("Bearer t"));
        headers.insert("cookie", HeaderValue::from_static("a=b"));
        headers.insert("content-type", HeaderValue::from_static("text/plain"));
        headers.insert("accept", HeaderValue::from_static("*/*"));
        Hop {
            method,
            url: Url::parse(url).unwrap(),
            headers,
            body: Bytes::from_static(b"body"),
        }
    }

    fn led(from: &Hop, status: u16, location: &str) -> Result<Option<Hop>, Error> {
        let mut headers = HeaderMap::new();
        headers.insert(
            "location",
            HeaderValue::from_bytes(location.as_bytes()).unwrap(),
        );
        from.next(StatusCode::from_u16(status).unwrap(), &headers)
    }

    #[test]
    fn methods_change_as_the_status_says() {
        for (status, method, expected) in [
            (301, Method::POST, Method::GET),
            (302, Method::POST, Method::GET),
            (303, Method::POST, Method::GET),
            (303, Method::PUT, Method::GET),
            (303, Method::HEAD, Method::HEAD),
            (301, Method::PUT, Method::PUT),
            (302, Method::DELETE, Method::DELETE),
            (307, Method::POST, Method::POST),
            (308, Method::PATCH, Method::PATCH),
        ] {
            let next = led(&hop(method.clone(), "http://a/"), status, "/b")
                .unwrap()
                .unwrap();
            assert_eq!(next.method, expected, "{status} {method}");
            let keeps_body = expected == method;
            assert_eq!(next.body.is_empty(), !keeps_body, "{status} {method}");
            assert_eq!(next.headers.contains_key("content-type"), keeps_body);
            assert!(
                next.headers.contains_key("authorization"),
                "the same origin keeps them"
            );
        }
        for status in [200, 201, 300, 304, 305, 306, 404] {
            assert!(
                led(&hop(Method::GET, "http://a/"), status, "/b")
                    .unwrap()
                    .is_none(),
                "{status}"
            );
        }
        let none = hop(Method::GET, "http://a/").next(StatusCode::FOUND, &HeaderMap::new());
        assert!(none.unwrap().is_none());
    }

    #[test]
    fn credentials_stay_with_their_origin() {
        for elsewhere in [
            "http://b/",
            "http://a:81/",
            "https://a/",
            "//b/x",
            "http://a.b/",
        ] {
            let next = led(&hop(Method::GET, "http://a/"), 302, elsewhere)
                .unwrap()
                .unwrap();
            let mut left: Vec<&str> = next.headers.keys().map(|name| name.as_str()).collect();
            left.sort_unstable();
            assert_eq!(left, ["accept", "content-type"], "{elsewhere}");
        }
        let next = led(&hop(Method::GET, "http://a:80/x"), 302, "http://A/y")
            .unwrap()
            .unwrap();
        assert_eq!(next.headers.len(), 5);
    }

    #[test]
    fn addresses_are_read_as_strictly_as_the_first() {
        let from = hop(Method::GET, "https://a/x/y");
        assert_eq!(
            led(&from, 302, "../z?q#f").unwrap().unwrap().url.as_str(),
            "https://a/z?q"
        );
        let down = led(&from, 302, "http://a/").unwrap_err();
        assert!(matches!(
            down,
            Error::Refused {
                refusal: Refusal::Downgrade,
                ..
            }
        ));
        for bad in [
            "file:///etc/passwd",
            "gopher://a/",
            "https://u:p@a/",
            "https://[::1",
            "https://a:99999/",
        ] {
            assert!(
                matches!(led(&from, 302, bad).unwrap_err(), Error::BadUrl { .. }),
                "{bad}"
            );
        }
    }
}
