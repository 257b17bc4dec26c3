//! The operator's list of places that may be called although they are not public.

use crate::address::is_in;
use crate::error::Error;
use std::net::IpAddr;
use std::str::FromStr;
use url::Host;

/// One entry: `host`, `host:port`, `*.corp.example`, `10.1.0.0/16`, `10.1.0.0/16:8080`, `[::1]:8080`, `[fd00::/8]:443`.
/// Without a port it is for every port where HTTP may be expected; with one, for that port whatever is usual there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    host: Pattern,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    /// This name, whatever it stands for.
    Name(String),
    /// Every name that ends so, with the dot.
    Below(String),
    /// These addresses, under whatever name.
    Network(IpAddr, u8),
}

impl Allowed {
    /// A comma-separated list, as in TOOLCRIB_HTTP_ALLOW.
    pub fn list(text: &str) -> Result<Vec<Self>, Error> {
        let entries = text.split(',').map(str::trim);
        entries
            .filter(|entry| !entry.is_empty())
            .map(str::parse)
            .collect()
    }

    /// Whether the name itself is trusted, with all it stands for.
    pub(crate) fn has_name(&self, name: &str, port: u16) -> bool {
        let named = match &self.host {
            Pattern::Name(allowed) => allowed == name,
            Pattern::Below(end) => name.len() > end.len() && name.ends_with(end.as_str()),
            Pattern::Network(..) => false,
        };
        named && self.has_port(port)
    }

    pub(crate) fn has_address(&self, address: IpAddr, port: u16) -> bool {
        let within = match self.host {
            Pattern::Network(network, prefix) => is_in(address, network, prefix),
            Pattern::Name(_) | Pattern::Below(_) => false,
        };
        within && self.has_port(port)
    }

    fn has_port(&self, port: u16) -> bool {
        self.port.is_none_or(|allowed| allowed == port)
    }

    /// Whether it names its port, and so means it.
    pub(crate) fn names_port(&self) -> bool {
        self.port.is_some()
    }
}

impl FromStr for Allowed {
    type Err = Error;

    fn from_str(entry: &str) -> Result<Self, Error> {
        read(entry).map_err(|why| Error::BadAllowed {
            entry: entry.to_owned(),
            why,
        })
    }
}

fn read(entry: &str) -> Result<Allowed, &'static str> {
    if entry.contains("://") || entry.contains(['@', '?', '#']) {
        return Err("write only host:port, such as intranet.example:8080");
    }
    let (host, port) = split(entry)?;
    let port = match port.map(str::parse) {
        None => None,
        Some(Err(_) | Ok(0)) => return Err("its port is not a number from 1 to 65535"),
        Some(Ok(port)) => Some(port),
    };
    let host = match host.strip_prefix("*.") {
        Some(end) => Pattern::Below(format!(".{}", name(end)?)),
        None if host.contains('*') => {
            return Err("a star stands only at the beginning, as in *.corp.example");
        }
        None => match host.split_once('/') {
            Some((network, prefix)) => self::network(network, prefix)?,
            None => self::host(host)?,
        },
    };
    Ok(Allowed { host, port })
}

/// The host without brackets, and the text of the port.
fn split(entry: &str) -> Result<(&str, Option<&str>), &'static str> {
    if let Some(rest) = entry.strip_prefix('[') {
        let (host, after) = rest.split_once(']').ok_or("its bracket is not closed")?;
        if after.is_empty() {
            return Ok((host, None));
        }
        let port = after
            .strip_prefix(':')
            .ok_or("after a bracket comes :port or nothing")?;
        return Ok((host, Some(port)));
    }
    match entry.split_once(':') {
        // An IPv6 address without brackets has no port.
        Some((_, rest)) if rest.contains(':') => Ok((entry, None)),
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((entry, None)),
    }
}

fn network(network: &str, prefix: &str) -> Result<Pattern, &'static str> {
    let address: IpAddr = network
        .parse()
        .map_err(|_| "before / stands an IP address, as in 10.1.0.0/16")?;
    if address != address.to_canonical() {
        return Err("write it as the IPv4 network that it is");
    }
    let bits = if address.is_ipv4() { 32 } else { 128 };
    let prefix: u8 = prefix
        .parse()
        .map_err(|_| "after / stands a number of bits, as in 10.1.0.0/16")?;
    if prefix > bits {
        return Err("it has more bits after / than the address");
    }
    // A mistyped network would allow something else than was meant.
    let host_bits = match address {
        IpAddr::V4(v4) => u128::from(u32::from(v4).checked_shl(u32::from(prefix)).unwrap_or(0)),
        IpAddr::V6(v6) => u128::from(v6).checked_shl(u32::from(prefix)).unwrap_or(0),
    };
    if host_bits != 0 {
        return Err("it names one address of the block; write the first, as in 10.1.0.0/16");
    }
    Ok(Pattern::Network(address, prefix))
}

fn host(host: &str) -> Result<Pattern, &'static str> {
    let address = match host.parse::<IpAddr>() {
        Ok(address) => address,
        Err(_) => match Host::parse(host) {
            Ok(Host::Ipv4(address)) => address.into(),
            Ok(Host::Ipv6(address)) => address.into(),
            _ => return Ok(Pattern::Name(name(host)?)),
        },
    };
    let address = address.to_canonical();
    let bits = if address.is_ipv4() { 32 } else { 128 };
    Ok(Pattern::Network(address, bits))
}

/// As the guard will see it: lower case, without the last dot, international names in ASCII.
fn name(text: &str) -> Result<String, &'static str> {
    match Host::parse(text.strip_suffix('.').unwrap_or(text)) {
        Ok(Host::Domain(name)) if !name.is_empty() => Ok(name),
        _ => Err("it is neither a host name nor an address"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Allowed {
        text.parse().unwrap()
    }

    #[test]
    fn entries_hold_what_they_say() {
        let names = [
            ("intranet", "intranet", 80, true),
            ("Intranet.Example.", "intranet.example", 443, true),
            ("intranet:8080", "intranet", 8080, true),
            ("intranet:8080", "intranet", 80, false),
            ("intranet", "evil-intranet", 80, false),
            ("*.corp.example", "a.corp.example", 80, true),
            ("*.corp.example", "a.b.corp.example", 80, true),
            ("*.corp.example", "corp.example", 80, false),
            ("*.corp.example", "evilcorp.example", 80, false),
            ("*.corp.example:81", "a.corp.example", 80, false),
            ("bücher.example", "xn--bcher-kva.example", 80, true),
            ("10.0.0.0/8", "10.0.0.1", 80, false),
        ];
        for (text, name, port, expected) in names {
            assert_eq!(entry(text).has_name(name, port), expected, "{text} {name}");
        }
        let addresses = [
            ("127.0.0.1:80", "127.0.0.1", 80, true),
            ("127.0.0.1:80", "127.0.0.1", 81, false),
            ("127.0.0.1", "127.0.0.2", 80, false),
            ("127.1", "127.0.0.1", 80, true),
            ("10.1.0.0/16", "10.1.255.255", 1, true),
            ("10.1.0.0/16", "10.2.0.0", 1, false),
            ("10.1.0.0/16:8080", "10.1.2.3", 8080, true),
            ("10.1.0.0/16:8080", "10.1.2.3", 80, false),
            ("0.0.0.0/0", "10.1.2.3", 80, true),
            ("::1", "::1", 80, true),
            ("[::1]:8080", "::1", 8080, true),
            ("[::1]", "::1", 8080, true),
            ("[fd00::/8]:443", "fd12::1", 443, true),
            ("fd00::/8", "fd12::1", 1, true),
            ("10.0.0.0/8", "::ffff:10.0.0.1", 1, true),
            ("::ffff:10.0.0.1", "10.0.0.1", 1, true),
        ];
        for (text, address, port, expected) in addresses {
            let address = address.parse().unwrap();
            assert_eq!(
                entry(text).has_address(address, port),
                expected,
                "{text} {address}"
            );
        }
        assert_eq!(
            Allowed::list(" a:1, ,b ,").unwrap(),
            [entry("a:1"), entry("b")]
        );
    }

    #[test]
    fn wrong_entries_are_named_with_the_remedy() {
        for (text, why) in [
            ("http://a", "host:port"),
            ("a@b", "host:port"),
            ("a:0", "port"),
            ("a:x", "port"),
            ("a:70000", "port"),
            ("a:", "port"),
            ("[::1", "bracket"),
            ("[::1]x", "bracket"),
            ("*", "star"),
            ("a.*.b", "star"),
            ("*.", "neither"),
            ("10.0.0.0/33", "more bits"),
            ("10.0.0.0/x", "number of bits"),
            ("10.0.0.1/8", "first"),
            ("fd00::1/8", "first"),
            ("::ffff:0:0/96", "IPv4"),
            ("host/8", "IP address"),
            ("a b", "neither"),
            ("", "neither"),
        ] {
            let error = text.parse::<Allowed>().unwrap_err().to_string();
            assert!(
                error.contains(why) && error.contains(text),
                "{text}: {error}"
            );
        }
        assert!(
            Allowed::list("a:1,b:x")
                .unwrap_err()
                .to_string()
                .contains("b:x")
        );
    }
}
