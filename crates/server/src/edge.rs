//! What is checked before anything else is looked at: under which name we were called, from which site, by whom; and
//! the headers that every answer carries.

use crate::auth::Door;
use crate::error::ApiError;
use crate::router::Server;
use axum::extract::FromRequestParts;
use axum::http::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use axum::response::Response;
use executor::Code;
use std::net::IpAddr;
use std::sync::Arc;

/// What a server tells about itself to those who come through the network.
#[derive(Debug, Clone, Default)]
pub struct Edge {
    /// The names it may be called by, without a port; none takes every name.
    pub hosts: Option<Vec<String>>,
    /// How many proxies stand in front, each of which adds to `X-Forwarded-For`.
    pub proxy_hops: usize,
    /// How browsers reach it, such as `https://tools.example.com`; none is the name they ask for.
    pub url: Option<String>,
    /// The address it listens on, for those who know no other.
    pub listens: Option<String>,
}

/// The names of this machine to itself.
pub const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl Edge {
    /// Refuses a request that was meant for somebody else, or that another site's page makes in its visitor's name.
    pub(crate) fn check<B>(
        &self,
        door: Option<Door>,
        request: &Request<B>,
    ) -> Result<(), ApiError> {
        if door == Some(Door::Socket) {
            return Ok(());
        }
        let host = host_of(request.headers(), request.uri());
        if let Some(known) = self.hosts.as_ref().filter(|_| !is_watching(request)) {
            // Without a name there is no page behind it: browsers always send one.
            let asked = host.map(name_of).unwrap_or_default();
            let asked_uri = request.uri().authority().map(|a| name_of(a.as_str()));
            let fits = |name: &str| known.iter().any(|known| known.eq_ignore_ascii_case(name));
            if host.is_some_and(|_| !fits(asked)) || asked_uri.is_some_and(|name| !fits(name)) {
                return Err(ApiError::new(
                    Code::Forbidden,
                    "This server is not called by that name; whoever runs it lists its names in server.hosts",
                ));
            }
        }
        let Some(origin) = request.headers().get(header::ORIGIN) else {
            return Ok(());
        };
        let origin = origin.to_str().unwrap_or_default();
        if is_same_site(origin, host) {
            return Ok(());
        }
        Err(ApiError::new(
            Code::Forbidden,
            "Pages of other sites may not use this server: the Origin of a request must be the host that it is sent to, and a program that is no page sends none",
        ))
    }

    /// The address of a page of ours, for somebody else to send a browser to. Without a configured one the name that
    /// was asked for is taken, if it is this machine's own: a made-up one would send people elsewhere.
    pub(crate) fn own_url(
        &self,
        headers: &HeaderMap,
        uri: &Uri,
        path: &str,
    ) -> Result<String, ApiError> {
        if let Some(url) = &self.url {
            return Ok(format!("{}{path}", url.trim_end_matches('/')));
        }
        let host = host_of(headers, uri).filter(|host| LOOPBACK.contains(&name_of(host)));
        let host = host.ok_or_else(|| {
            let why =
                "This server does not know how browsers reach it; whoever runs it sets server.url";
            ApiError::new(Code::ServiceUnavailable, why)
        })?;
        Ok(format!("http://{host}{path}"))
    }

    /// The address that tokens are made for. Without a configured one it is where the server listens: another program
    /// of this machine must not name its own and show us the tokens that it was given.
    pub(crate) fn resource_url(
        &self,
        headers: &HeaderMap,
        uri: &Uri,
        path: &str,
    ) -> Result<String, ApiError> {
        let asked = host_of(headers, uri).map(port_of);
        let listens = self.listens.as_deref().map(port_of);
        if self.url.is_none() && listens.is_some() && asked != listens {
            let why = "This server does not know the address that you use; whoever runs it sets server.url";
            return Err(ApiError::new(Code::ServiceUnavailable, why));
        }
        self.own_url(headers, uri, path)
    }

    /// Where a request came from: the peer, or what the proxies in front have written down about it.
    fn client(&self, headers: &HeaderMap, peer: Option<IpAddr>) -> Option<IpAddr> {
        if self.proxy_hops == 0 {
            return peer;
        }
        // From the right: each proxy adds the one it was called by, and whatever stands further left may be made up.
        let lines = headers.get_all("x-forwarded-for").iter();
        let joined: Vec<&str> = lines.filter_map(|line| line.to_str().ok()).collect();
        let joined = joined.join(",");
        let known = joined.rsplit(',').nth(self.proxy_hops - 1);
        let known = known.and_then(|text| text.trim().parse().ok());
        known.or(peer)
    }
}

/// The authority of a request, as its headers say or its line.
pub(crate) fn host_of<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    match headers.get(header::HOST) {
        Some(host) => Some(host.to_str().unwrap_or("")),
        None => uri.authority().map(|authority| authority.as_str()),
    }
}

/// Whether it is a question of whoever watches each server at its own address. A page that was led here by a name of its own
/// learns nothing: what these say without a key is for everybody, and it has none to show.
fn is_watching<B>(request: &Request<B>) -> bool {
    let shows_key = || {
        let headers = request.headers();
        headers.contains_key(header::AUTHORIZATION) || headers.contains_key("x-api-key")
    };
    match request.uri().path() {
        "/healthz" | "/readyz" => true,
        "/metrics" => shows_key(),
        _ => false,
    }
}

/// The port of an authority or of an address without a path.
fn port_of(authority: &str) -> u16 {
    let port = authority.rsplit_once(':').map(|(_, port)| port.parse());
    port.and_then(Result::ok).unwrap_or(80)
}

/// The name without its port.
pub(crate) fn name_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => authority,
    }
}

/// Whether a page of `origin` is a page of ours.
pub(crate) fn is_same_site(origin: &str, host: Option<&str>) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    // The default port is left out on one side and may stand on the other.
    let plain = |authority: &str| {
        let port = if scheme == "https" { ":443" } else { ":80" };
        let authority = authority.strip_suffix(port).unwrap_or(authority);
        authority.to_ascii_lowercase()
    };
    host.is_some_and(|host| plain(host) == plain(authority))
}

/// The address a request came from; none through the owner's socket.
pub(crate) struct Client(pub(crate) Option<IpAddr>);

impl FromRequestParts<Arc<Server>> for Client {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> Result<Self, ApiError> {
        let peer = match parts.extensions.get::<Door>() {
            Some(Door::Network(peer)) => Some(*peer),
            _ => None,
        };
        Ok(Client(server.edge.client(&parts.headers, peer)))
    }
}

const NOSNIFF: (HeaderName, HeaderValue) = (
    header::X_CONTENT_TYPE_OPTIONS,
    HeaderValue::from_static("nosniff"),
);

/// For what is HTML and no document of ours (`document.rs`, whose policy is its own): it shows nothing, and stands in nobody's frame.
const PAGE_HEADERS: [(HeaderName, HeaderValue); 3] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; base-uri 'none'; frame-ancestors 'none'"),
    ),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    // Not `no-referrer`: with it a browser says `Origin: null` for a form of ours, which is refused as a foreign one.
    (
        header::REFERRER_POLICY,
        HeaderValue::from_static("same-origin"),
    ),
];

/// Adds what every answer carries.
pub(crate) fn secure(response: &mut Response) {
    let headers = response.headers_mut();
    let kind = headers.get(header::CONTENT_TYPE);
    let is_page = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    headers.insert(NOSNIFF.0, NOSNIFF.1);
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
    if is_page {
        for (name, value) in PAGE_HEADERS {
            headers.entry(name).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn request(headers: &[(&str, &str)], uri: &str) -> Request<Body> {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Body::empty()).unwrap()
    }

    #[test]
    fn only_our_own_names_are_answered() {
        let edge = Edge {
            hosts: Some(LOOPBACK.map(str::to_owned).to_vec()),
            ..Edge::default()
        };
        for (host, fine) in [
            ("localhost", true),
            ("LocalHost:8787", true),
            ("127.0.0.1:1", true),
            ("[::1]:8787", true),
            ("evil.example", false),
            ("localhost.evil.example:8787", false),
            ("user@localhost", false),
            ("localhost:80@evil.example", false),
            ("127.0.0.1:x", false),
            ("", false),
        ] {
            let answer = edge.check(None, &request(&[("host", host)], "/"));
            assert_eq!(answer.is_ok(), fine, "{host}");
        }
        let absolute = request(&[("host", "localhost")], "http://evil.example/");
        assert!(edge.check(None, &absolute).is_err());
        assert!(edge.check(None, &request(&[], "/")).is_ok(), "no browser");
        let key = ("x-api-key", "tck_some");
        for (path, headers, fine) in [
            ("/healthz", vec![("host", "10.0.0.7:8787")], true),
            ("/readyz", vec![("host", "10.0.0.7:8787")], true),
            ("/metrics", vec![("host", "10.0.0.7:8787"), key], true),
            (
                "/metrics",
                vec![("host", "10.0.0.7:8787"), ("cookie", "s=1")],
                false,
            ),
            ("/metrics/", vec![("host", "10.0.0.7:8787"), key], false),
            ("/api/v1/tools", vec![("host", "10.0.0.7:8787"), key], false),
        ] {
            let answer = edge.check(None, &request(&headers, path));
            assert_eq!(answer.is_ok(), fine, "{path} {headers:?}");
        }
        let anybody = Edge::default();
        assert!(
            anybody
                .check(None, &request(&[("host", "tools.example")], "/"))
                .is_ok()
        );
    }

    #[test]
    fn pages_of_other_sites_are_refused() {
        let edge = Edge::default();
        for (origin, host, fine) in [
            ("http://localhost:8787", "localhost:8787", true),
            ("https://tools.example", "tools.example", true),
            ("https://tools.example", "tools.example:443", true),
            ("http://localhost:8787", "localhost:8788", false),
            ("https://evil.example", "tools.example", false),
            ("null", "tools.example", false),
            ("", "tools.example", false),
            ("https://tools.example.evil.example", "tools.example", false),
        ] {
            let headers = [("origin", origin), ("host", host)];
            let answer = edge.check(None, &request(&headers, "/"));
            assert_eq!(answer.is_ok(), fine, "{origin} on {host}");
        }
    }

    #[test]
    fn the_address_is_the_one_our_proxies_saw() {
        let peer = Some(IpAddr::from([10, 0, 0, 1]));
        let mut headers = HeaderMap::new();
        let value = "6.6.6.6, 203.0.113.9, 198.51.100.2";
        headers.append("x-forwarded-for", HeaderValue::from_static(value));
        let client = |proxy_hops| {
            let edge = Edge {
                proxy_hops,
                ..Edge::default()
            };
            edge.client(&headers, peer).unwrap().to_string()
        };
        assert_eq!(client(0), "10.0.0.1");
        assert_eq!(client(1), "198.51.100.2");
        assert_eq!(client(2), "203.0.113.9");
        assert_eq!(client(9), "10.0.0.1");
    }
}
