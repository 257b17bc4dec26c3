//! Names without dots, for clients and model APIs that take only letters, digits, `_` and `-`, 64 at most. Each leads back to
//! what it stands for by an index that is made beforehand.

use crate::hex::hex;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The longest plain name.
pub const PLAIN_MAX: usize = 64;

/// So many bytes of a hash tell two names apart that would be the same.
const HASH_BYTES: usize = 4;

/// What a hashed name begins with is cut to this length: then come `_` and the hash.
const HEAD_MAX: usize = PLAIN_MAX - 1 - 2 * HASH_BYTES;

/// How tools and prompts are named where they are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Names {
    /// As they are: `server.tool`.
    #[default]
    Dotted,
    /// `server__tool`.
    Plain,
}

impl Names {
    pub const NAMES: [&'static str; 2] = ["dotted", "plain"];

    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "dotted" => Some(Names::Dotted),
            "plain" => Some(Names::Plain),
            _ => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Names::Dotted => "dotted",
            Names::Plain => "plain",
        }
    }
}

/// The plain names of something whose own name is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainName {
    /// By the rule alone. Another name may come to the same.
    pub short: Arc<str>,
    /// With a hash of the whole name: of no other.
    pub hashed: Arc<str>,
}

impl PlainName {
    /// None where the name is plain already.
    pub fn of(name: &str) -> Option<Self> {
        (!is_plain(name)).then(|| Self::made(name, spelled(name)))
    }

    /// Of something of an upstream server, which is called `server.own`.
    pub fn of_server(server: &str, own: &str) -> Self {
        let spelled = format!("{}__{}", spelled(server), spelled(own));
        Self::made(&format!("{server}.{own}"), spelled)
    }

    fn made(name: &str, spelled: String) -> Self {
        let digest = Sha256::digest(name.as_bytes());
        let head = &spelled[..spelled.len().min(HEAD_MAX)];
        let hashed: Arc<str> = format!("{head}_{}", hex(&digest[..HASH_BYTES])).into();
        let short = match spelled.len() <= PLAIN_MAX {
            true => spelled.into(),
            false => Arc::clone(&hashed),
        };
        PlainName { short, hashed }
    }

    /// Whether a plain name can be of something of this server. Most are told apart without making any.
    pub fn may_be_of(server: &str, name: &str) -> bool {
        let head = format!("{}__", spelled(server));
        name.starts_with(&head[..head.len().min(HEAD_MAX)])
    }
}

/// Whether every client takes it.
pub fn is_plain(name: &str) -> bool {
    (1..=PLAIN_MAX).contains(&name.len()) && name.chars().all(is_plain_letter)
}

fn is_plain_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

fn spelled(name: &str) -> String {
    let letters = name.chars();
    letters
        .map(|letter| if is_plain_letter(letter) { letter } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_name_is_one_that_every_client_takes() {
        assert_eq!(PlainName::of("web_search-2"), None);
        let short = |name: &str| PlainName::of(name).unwrap().short.to_string();
        assert_eq!(short("a.b"), "a_b");
        assert_eq!(short("날씨 now"), "___now");
        let of = |server: &str, own: &str| PlainName::of_server(server, own).short.to_string();
        assert_eq!(of("github", "create_issue"), "github__create_issue");
        assert_eq!(of("files", "read/file.txt"), "files__read_file_txt");
        for (server, own) in [
            ("s", ""),
            ("s", "é.ü"),
            ("s", &*"x".repeat(500)),
            (&*"s".repeat(64), "t"),
        ] {
            let plain = PlainName::of_server(server, own);
            for name in [&plain.short, &plain.hashed] {
                assert!(is_plain(name), "{name}");
                assert!(PlainName::may_be_of(server, name), "{server} {name}");
            }
        }
        assert!(!PlainName::may_be_of("b", "a__b"));
    }

    #[test]
    fn a_long_name_is_cut_and_told_apart_by_a_hash_that_stays_the_same() {
        let of = |own: &str| PlainName::of_server("server", own);
        let long = "x".repeat(57);
        let (one, two) = (of(&format!("{long}1")), of(&format!("{long}2")));
        assert_eq!(one.short, one.hashed);
        assert_ne!(one.short, two.short);
        assert_eq!(one.short.len(), PLAIN_MAX);
        let fits = of(&"x".repeat(56));
        assert_eq!(fits.short.len(), PLAIN_MAX);
        assert_ne!(fits.short, fits.hashed);
        // Written down by clients, so that it may never change.
        assert_eq!(&*PlainName::of_server("a", "b").hashed, "a__b_2e7336dc");
    }
}
