//! Where a token may be asked for. The operator has named one server; every other address is what that server, or
//! somebody it names, tells us, and could lead anywhere.

use crate::Result;
use crate::error::Error;
use fetch::{Method, Request, Trust, Url};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 256 << 10;

/// The server that the operator named, as the measure for all other addresses.
#[derive(Debug, Clone)]
pub(crate) struct Around {
    pub(crate) server: Url,
}

impl Around {
    pub(crate) fn new(server_url: &str) -> Result<Self> {
        let server = Url::parse(server_url)
            .map_err(|_| Error::unusable("the server's own address cannot be read"))?;
        Ok(Around { server })
    }

    /// What the server told us of `what`, judged: at the server itself, or on the same machine where the server is on
    /// this one; anywhere else over TLS and, when it is called, at a public address.
    pub(crate) fn judge(&self, address: &str, what: &str) -> Result<(Url, Trust)> {
        let bad = |why: &str| Error::Unusable(format!("the address of {what} {why}"));
        let url = Url::parse(address).map_err(|_| bad("cannot be read"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad("is neither http nor https"));
        }
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(bad("holds a user name, a password or a fragment"));
        }
        let is_ours = url.origin() == self.server.origin();
        if is_ours || (is_loopback(&url) && is_loopback(&self.server)) {
            return Ok((url, Trust::Operator));
        }
        match url.scheme() {
            "https" => Ok((url, Trust::Guarded)),
            _ => Err(bad("does not begin with https://")),
        }
    }

    /// A request to such an address. Nothing that is answered there is worth following a redirect, which could lead
    /// anywhere.
    pub(crate) fn request(&self, method: Method, address: &str, what: &str) -> Result<Request> {
        let (url, trust) = self.judge(address, what)?;
        let mut request = Request::new(method, url.as_str(), trust);
        request.limits.total = TIMEOUT;
        request.limits.redirects_max = 0;
        request.limits.body_bytes_max = ANSWER_BYTES_MAX;
        Ok(request)
    }
}

/// Whether an address names this machine itself.
pub fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else {
        return false;
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.parse::<Ipv4Addr>().is_ok_and(|it| it.is_loopback())
        || bare.parse::<Ipv6Addr>().is_ok_and(|it| it.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_tells_is_judged_by_where_the_server_is() {
        let trust = |server: &str, address: &str| {
            let judged = Around::new(server).unwrap().judge(address, "it");
            judged.map(|(_, trust)| trust).ok()
        };
        let (public, inside, here) = (
            "https://a.example/mcp",
            "http://10.0.0.7:8080/mcp",
            "http://localhost:9000/mcp",
        );
        assert_eq!(
            trust(public, "https://a.example/token"),
            Some(Trust::Operator)
        );
        assert_eq!(
            trust(public, "https://id.example/token"),
            Some(Trust::Guarded)
        );
        assert_eq!(
            trust(inside, "http://10.0.0.7:8080/x"),
            Some(Trust::Operator)
        );
        assert_eq!(
            trust(here, "http://127.0.0.1:9400/x"),
            Some(Trust::Operator)
        );
        assert_eq!(trust(here, "http://[::1]:9400/x"), Some(Trust::Operator));
        for (server, told) in [
            (public, "http://a.example/token"),
            (public, "http://127.0.0.1/token"),
            (public, "http://169.254.169.254/latest"),
            (inside, "http://10.0.0.7:8081/x"),
            (inside, "http://localhost/x"),
            (here, "http://10.0.0.7/x"),
            (here, "http://localhost.evil.example/x"),
            (public, "file:///etc/passwd"),
            (public, "javascript:alert(1)"),
            (public, "https://a@id.example/"),
            (public, "https://id.example/#x"),
            (public, "id.example"),
        ] {
            assert_eq!(trust(server, told), None, "{server} {told}");
        }
        // Over TLS it is still guarded when it is called.
        assert_eq!(trust(public, "https://127.0.0.1/x"), Some(Trust::Guarded));
    }
}
