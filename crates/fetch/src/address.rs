//! Which addresses are out in the world. The table is ours because the standard library's is not stable; what is not
//! known to be global is refused.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A block of addresses that are not global, and what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    pub range: &'static str,
    pub what: &'static str,
}

/// Where a cloud gives the machines inside it their credentials.
const CLOUD: &str = "a cloud's inside";

/// The first that fits counts.
const V4: &[(Ipv4Addr, u8, Block)] = &[
    v4([0, 0, 0, 0], 8, "0.0.0.0/8", "this machine"),
    v4([10, 0, 0, 0], 8, "10.0.0.0/8", "a private network"),
    v4([100, 100, 100, 200], 32, "100.100.100.200", CLOUD),
    v4([100, 64, 0, 0], 10, "100.64.0.0/10", "a carrier's network"),
    v4([127, 0, 0, 0], 8, "127.0.0.0/8", "this machine"),
    v4([168, 63, 129, 16], 32, "168.63.129.16", CLOUD),
    v4([169, 254, 0, 0], 16, "169.254.0.0/16", CLOUD),
    v4([172, 16, 0, 0], 12, "172.16.0.0/12", "a private network"),
    v4([192, 0, 0, 0], 24, "192.0.0.0/24", "protocols"),
    v4([192, 0, 2, 0], 24, "192.0.2.0/24", "documentation"),
    v4([192, 88, 99, 0], 24, "192.88.99.0/24", "6to4 relays"),
    v4([192, 168, 0, 0], 16, "192.168.0.0/16", "a private network"),
    v4([198, 18, 0, 0], 15, "198.18.0.0/15", "benchmarks"),
    v4([198, 51, 100, 0], 24, "198.51.100.0/24", "documentation"),
    v4([203, 0, 113, 0], 24, "203.0.113.0/24", "documentation"),
    v4([224, 0, 0, 0], 4, "224.0.0.0/4", "multicast"),
    v4([240, 0, 0, 0], 4, "240.0.0.0/4", "nothing"),
];

/// These have names of their own; whatever else lies outside 2000::/3 is `UNASSIGNED`.
const V6: &[(Ipv6Addr, u8, Block)] = &[
    v6([0, 0, 0, 0, 0, 0, 0, 1], 128, "::1", "this machine"),
    v6([0; 8], 128, "::", "this machine"),
    v6(
        [0x64, 0xff9b, 1, 0, 0, 0, 0, 0],
        48,
        "64:ff9b:1::/48",
        "local translation",
    ),
    v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64, "100::/64", "nothing"),
    v6(
        [0x2001, 0, 0, 0, 0, 0, 0, 0],
        23,
        "2001::/23",
        "tunnels and protocols",
    ),
    v6(
        [0x2001, 0xdb8, 0, 0, 0, 0, 0, 0],
        32,
        "2001:db8::/32",
        "documentation",
    ),
    v6(
        [0x3fff, 0, 0, 0, 0, 0, 0, 0],
        20,
        "3fff::/20",
        "documentation",
    ),
    v6(
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254],
        128,
        "fd00:ec2::254",
        CLOUD,
    ),
    v6(
        [0xfc00, 0, 0, 0, 0, 0, 0, 0],
        7,
        "fc00::/7",
        "a private network",
    ),
    v6(
        [0xfe80, 0, 0, 0, 0, 0, 0, 0],
        10,
        "fe80::/10",
        "the local link",
    ),
    v6(
        [0xfec0, 0, 0, 0, 0, 0, 0, 0],
        10,
        "fec0::/10",
        "a private network",
    ),
    v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, "ff00::/8", "multicast"),
];

const UNASSIGNED: Block = Block {
    range: "outside 2000::/3",
    what: "nothing",
};

const fn v4(
    [a, b, c, d]: [u8; 4],
    prefix: u8,
    range: &'static str,
    what: &'static str,
) -> (Ipv4Addr, u8, Block) {
    (Ipv4Addr::new(a, b, c, d), prefix, Block { range, what })
}

const fn v6(
    [a, b, c, d, e, f, g, h]: [u16; 8],
    prefix: u8,
    range: &'static str,
    what: &'static str,
) -> (Ipv6Addr, u8, Block) {
    let address = Ipv6Addr::new(a, b, c, d, e, f, g, h);
    (address, prefix, Block { range, what })
}

/// The block that makes this address no global one; `None` where it is.
pub fn not_global(address: IpAddr) -> Option<Block> {
    match address {
        IpAddr::V4(address) => not_global_v4(address),
        IpAddr::V6(address) => match inside(address) {
            Some(address) => not_global_v4(address),
            None => not_global_v6(address),
        },
    }
}

/// The block of a cloud's inside that this address is in.
pub(crate) fn of_cloud(address: IpAddr) -> Option<Block> {
    not_global(address).filter(|block| block.what == CLOUD)
}

/// Whether an address lies in the block that begins with `network` and shares its first `prefix` bits.
pub(crate) fn is_in(address: IpAddr, network: IpAddr, prefix: u8) -> bool {
    match (address.to_canonical(), network.to_canonical()) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            let differ = u32::from(address) ^ u32::from(network);
            differ.checked_shr(32 - u32::from(prefix)).unwrap_or(0) == 0
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            let differ = u128::from(address) ^ u128::from(network);
            differ.checked_shr(128 - u32::from(prefix)).unwrap_or(0) == 0
        }
        _ => false,
    }
}

fn not_global_v4(address: Ipv4Addr) -> Option<Block> {
    let found = |(network, prefix, _): &&(Ipv4Addr, u8, Block)| {
        is_in(address.into(), (*network).into(), *prefix)
    };
    V4.iter().find(found).map(|(_, _, block)| *block)
}

fn not_global_v6(address: Ipv6Addr) -> Option<Block> {
    let found = |(network, prefix, _): &&(Ipv6Addr, u8, Block)| {
        is_in(address.into(), (*network).into(), *prefix)
    };
    let known = V6.iter().find(found).map(|(_, _, block)| *block);
    let assigned = address.segments()[0] & 0xe000 == 0x2000;
    known.or_else(|| Some(UNASSIGNED).filter(|_| !assigned))
}

/// The IPv4 address that an IPv6 address leads to: mapped, translated (NAT64) or tunnelled (6to4). A network of today
/// may reach the whole world through the second; the first and last are ways to write what would be refused.
/// The old compatible form (::a.b.c.d) leads nowhere: it is refused as unassigned.
fn inside(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let joined = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] => Some(joined(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(joined(high, low)),
        [0x2002, high, low, ..] => Some(joined(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_global(text: &str) -> bool {
        not_global(text.parse().unwrap()).is_none()
    }

    /// Both ends of every block, and its neighbours.
    #[test]
    fn blocks_end_where_they_should() {
        let edges = [
            ("0.0.0.0", "0.255.255.255", "", "1.0.0.0"),
            ("10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"),
            (
                "100.64.0.0",
                "100.127.255.255",
                "100.63.255.255",
                "100.128.0.0",
            ),
            (
                "127.0.0.0",
                "127.255.255.255",
                "126.255.255.255",
                "128.0.0.0",
            ),
            (
                "168.63.129.16",
                "168.63.129.16",
                "168.63.129.15",
                "168.63.129.17",
            ),
            (
                "169.254.0.0",
                "169.254.255.255",
                "169.253.255.255",
                "169.255.0.0",
            ),
            (
                "172.16.0.0",
                "172.31.255.255",
                "172.15.255.255",
                "172.32.0.0",
            ),
            ("192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"),
            ("192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"),
            (
                "192.88.99.0",
                "192.88.99.255",
                "192.88.98.255",
                "192.88.100.0",
            ),
            (
                "192.168.0.0",
                "192.168.255.255",
                "192.167.255.255",
                "192.169.0.0",
            ),
            (
                "198.18.0.0",
                "198.19.255.255",
                "198.17.255.255",
                "198.20.0.0",
            ),
            (
                "198.51.100.0",
                "198.51.100.255",
                "198.51.99.255",
                "198.51.101.0",
            ),
            (
                "203.0.113.0",
                "203.0.113.255",
                "203.0.112.255",
                "203.0.114.0",
            ),
            ("224.0.0.0", "255.255.255.255", "223.255.255.255", ""),
        ];
        edges.into_iter().for_each(is_block);
    }

    #[test]
    fn newer_blocks_end_where_they_should() {
        let edges = [
            ("2001::", "2001:1ff:ffff::", "2000:ffff::", "2001:200::"),
            (
                "2001:db8::",
                "2001:db8:ffff::",
                "2001:db7:ffff::",
                "2001:db9::",
            ),
            ("3fff::", "3fff:fff::1", "3ffe:ffff::", "3fff:1000::"),
        ];
        edges.into_iter().for_each(is_block);
    }

    fn is_block((first, last, before, after): (&str, &str, &str, &str)) {
        assert!(!is_global(first), "{first}");
        assert!(!is_global(last), "{last}");
        for neighbour in [before, after].into_iter().filter(|text| !text.is_empty()) {
            assert!(is_global(neighbour), "{neighbour}");
        }
    }

    #[test]
    fn what_is_inside_decides() {
        for global in [
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
            "2606:4700::1111",
            "2a00:1450:4001::200e",
        ] {
            assert!(is_global(global), "{global}");
        }
        for refused in [
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "::8.8.8.8",
            "64:ff9b::10.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::808:808",
            "64:ff9b:0:0:0:1:808:808",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "100::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "4000::1",
            "5f00::1",
            "::ffff:0:8.8.8.8",
        ] {
            assert!(!is_global(refused), "{refused}");
        }
    }

    #[test]
    fn a_clouds_inside_is_known_in_every_spelling() {
        let found = |text: &str| of_cloud(text.parse().unwrap()).is_some();
        for inside in [
            "169.254.169.254",
            "168.63.129.16",
            "100.100.100.200",
            "fd00:ec2::254",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
        ] {
            assert!(found(inside), "{inside}");
        }
        for other in [
            "127.0.0.1",
            "10.0.0.1",
            "100.100.100.201",
            "fd00::1",
            "8.8.8.8",
        ] {
            assert!(!found(other), "{other}");
        }
    }

    #[test]
    fn a_prefix_of_nothing_holds_everything() {
        let at = |text: &str| text.parse::<IpAddr>().unwrap();
        assert!(is_in(at("1.2.3.4"), at("0.0.0.0"), 0));
        assert!(is_in(at("1::"), at("::"), 0));
        assert!(!is_in(at("1.2.3.4"), at("::"), 0));
        assert!(is_in(at("::ffff:10.1.2.3"), at("10.1.0.0"), 16));
        assert!(!is_in(at("10.2.2.3"), at("10.1.0.0"), 16));
    }
}
