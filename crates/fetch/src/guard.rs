//! What may be called: the form of an address, its port, and every address that its host stands for.

use crate::address::{not_global, of_cloud};
use crate::allow::Allowed;
use crate::error::{Error, Refusal};
use crate::request::Trust;
use std::net::IpAddr;
use url::{Host, Url};

/// Where something else than HTTP answers: what browsers refuse, and the usual databases. A request there is at best
/// a mistake, and at worst a command to that service.
const PORTS: &[u16] = &[
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
    103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 445,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 873, 989,
    990, 993, 995, 1433, 1521, 1719, 1720, 1723, 2049, 2181, 3306, 3389, 3659, 4045, 4190, 5060,
    5061, 5432, 5672, 5900, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 9042, 9092,
    10080, 11211, 27017,
];

/// The allow list and the rules. It asks nobody: what a name stands for is told it.
#[derive(Debug, Default)]
pub(crate) struct Guard {
    allow: Vec<Allowed>,
}

impl Guard {
    pub(crate) fn new(allow: Vec<Allowed>) -> Self {
        Guard { allow }
    }

    /// Whether a host that stands for these addresses may be called. One that is not public spoils all: whoever owns
    /// a name could otherwise hide one among others and wait for it to be tried. An operator's may be private, but a
    /// cloud's credentials are given to nobody who does not mean it.
    pub(crate) fn admit(
        &self,
        trust: Trust,
        host: &str,
        port: u16,
        addresses: &[IpAddr],
    ) -> Result<(), Refusal> {
        let barred = match trust {
            Trust::Operator => of_cloud,
            Trust::Guarded => not_global,
        };
        let trusted = || {
            self.allow
                .iter()
                .filter(|allowed| allowed.has_name(host, port))
        };
        let has_name = trusted().next().is_some();
        let mut means_port = trusted().any(Allowed::names_port);
        for address in addresses {
            let within = || {
                self.allow
                    .iter()
                    .filter(|allowed| allowed.has_address(*address, port))
            };
            means_port |= within().any(Allowed::names_port);
            if let Some(block) = barred(*address)
                && !has_name
                && within().next().is_none()
            {
                return Err(Refusal::Address(block));
            }
        }
        if trust == Trust::Guarded && PORTS.contains(&port) && !means_port {
            return Err(Refusal::Port);
        }
        Ok(())
    }
}

/// Reads an address of which it is known what it means: http or https, nobody's name in it, and its host in the one
/// form that everything after us reads the same way.
pub(crate) fn read(text: &str) -> Result<Url, Error> {
    let bad = |why: String| Error::BadUrl { why };
    let url = Url::parse(text).map_err(|error| {
        bad(format!(
            "{error}. Write it like https://api.example.com/path"
        ))
    })?;
    tidy(url)
}

/// The same for an address that a redirect names, seen from where it was named.
pub(crate) fn read_from(base: &Url, text: &str) -> Result<Url, Error> {
    let url = base.join(text).map_err(|error| Error::BadUrl {
        why: format!("{} led to one that makes no sense: {error}", place(base)),
    })?;
    tidy(url)
}

fn tidy(mut url: Url) -> Result<Url, Error> {
    let bad = |why: &str| Error::BadUrl {
        why: why.to_owned(),
    };
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("it must begin with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad(
            "it must not hold a user name or password; send them as authentication",
        ));
    }
    let Some(Host::Domain(name)) = url.host() else {
        url.set_fragment(None);
        return Ok(url);
    };
    // With its last dot a name means the same, and must not count as another.
    if let Some(bare) = name.strip_suffix('.') {
        let bare = bare.to_owned();
        if bare.is_empty() || bare.ends_with('.') || url.set_host(Some(&bare)).is_err() {
            return Err(bad("its host is no name"));
        }
    }
    url.set_fragment(None);
    Ok(url)
}

/// Scheme, host and port: what can be told of an address without telling a secret.
pub(crate) fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{}://{host}:{port}", url.scheme()),
        None => format!("{}://{host}", url.scheme()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(allow: &str) -> Guard {
        Guard::new(Allowed::list(allow).unwrap())
    }

    fn admits(allow: &str, host: &str, port: u16, addresses: &[&str]) -> Result<(), Refusal> {
        let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
        guard(allow).admit(Trust::Guarded, host, port, &addresses)
    }

    #[test]
    fn one_bad_address_spoils_all() {
        assert_eq!(admits("", "a", 80, &["8.8.8.8", "2606:4700::1"]), Ok(()));
        let mixed = admits("", "a", 80, &["8.8.8.8", "10.0.0.1"]);
        assert!(matches!(mixed, Err(Refusal::Address(block)) if block.range == "10.0.0.0/8"));
        assert_eq!(
            admits("10.0.0.1", "a", 80, &["8.8.8.8", "10.0.0.1"]),
            Ok(())
        );
        assert!(admits("10.0.0.1", "a", 80, &["10.0.0.1", "10.0.0.2"]).is_err());
        assert_eq!(admits("a", "a", 80, &["10.0.0.1", "10.0.0.2"]), Ok(()));
        assert!(admits("a:81", "a", 80, &["10.0.0.1"]).is_err());
    }

    #[test]
    fn ports_of_other_services_are_refused_unless_named() {
        for port in [22, 25, 3306, 5432, 6379, 6667, 11211, 27017] {
            assert_eq!(
                admits("", "a", port, &["8.8.8.8"]),
                Err(Refusal::Port),
                "{port}"
            );
            assert_eq!(
                admits("a,8.8.8.0/24", "a", port, &["8.8.8.8"]),
                Err(Refusal::Port)
            );
            assert_eq!(
                admits(&format!("a:{port}"), "a", port, &["8.8.8.8"]),
                Ok(())
            );
            assert_eq!(
                admits(&format!("8.8.8.0/24:{port}"), "a", port, &["8.8.8.8"]),
                Ok(())
            );
        }
        for port in [80, 443, 3000, 8000, 8080, 8443, 9200] {
            assert_eq!(admits("", "a", port, &["8.8.8.8"]), Ok(()), "{port}");
        }
    }

    #[test]
    fn addresses_are_brought_into_one_form() {
        for (text, host) in [
            ("http://EXAMPLE.com./a#b", "example.com"),
            ("http://127.1/", "127.0.0.1"),
            ("http://0x7f.1", "127.0.0.1"),
            ("http://017700000001", "127.0.0.1"),
            ("http://2130706433", "127.0.0.1"),
            ("http://１２７.０.０.１", "127.0.0.1"),
            ("http://%31%32%37.0.0.1", "127.0.0.1"),
            ("http://127.0.0.1.", "127.0.0.1"),
            ("http://[::FFFF:7f00:1]", "[::ffff:7f00:1]"),
            ("http:\\\\a\\b", "a"),
        ] {
            let url = read(text).unwrap();
            assert_eq!(url.host_str(), Some(host), "{text}");
            assert_eq!(url.fragment(), None);
        }
    }
}
