//! Slows down whoever guesses passwords: after some wrong ones the next is not even looked at for a while. It also
//! decides which wrong ones are told to the audit log, so that nobody can fill the database by guessing.

use catalog::tool::Millis;
use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use uuid::Uuid;

/// How many wrong ones are free, for one guesser and for one name. A guesser counts more strictly: else anybody could
/// keep a user out by guessing in their name.
const FREE_FOR_GUESSER: u32 = 10;
const FREE_FOR_NAME: u32 = 50;

/// Wrong ones are forgotten after this long without another.
const FORGET_MS: Millis = 15 * 60 * 1000;
const WAIT_MAX_MS: Millis = 5 * 60 * 1000;

/// How many guessers and names are remembered; the one that was quiet for longest makes room.
const REMEMBERED_MAX: usize = 10_000;

/// How many wrong ones are told in an hour, whoever guesses: with many addresses one could else write without end.
const TOLD_MAX: u32 = 100;
const TOLD_MS: Millis = 60 * 60 * 1000;

/// Who guesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Guesser {
    /// Somebody at this address. Of IPv6 it is the network (/64): whoever has one has all of its addresses.
    Address(IpAddr),
    /// Whoever holds a session of this user and is asked for the password once more.
    Session(Uuid),
    /// Somebody on this machine, or in a test: there is no address.
    Nowhere,
}

impl Guesser {
    pub(crate) fn at(address: Option<IpAddr>) -> Self {
        match address.map(|address| address.to_canonical()) {
            None => Guesser::Nowhere,
            Some(IpAddr::V4(address)) => Guesser::Address(address.into()),
            Some(IpAddr::V6(address)) => {
                let [a, b, c, d, ..] = address.segments();
                Guesser::Address(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into())
            }
        }
    }
}

impl fmt::Display for Guesser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Guesser::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            Guesser::Address(IpAddr::V6(network)) => write!(f, "{network}/64"),
            Guesser::Session(_) => f.write_str("a session"),
            Guesser::Nowhere => f.write_str("unknown"),
        }
    }
}

/// A wrong one that stands in the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Telling {
    /// The how many-th it was, of this guesser for this name.
    pub(crate) count: u32,
    /// How many should have been told before it, of anybody, but were too many.
    pub(crate) untold: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Throttle(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    wrong: HashMap<Counted, Wrong>,
    told_since: Millis,
    told: u32,
    untold: u32,
}

/// What wrong ones are counted by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Counted {
    Guesser(Guesser),
    Name(String),
    /// A guesser's for one name: what is told.
    Both(Guesser, String),
    /// A guesser's links that open nothing: told, but nobody has to wait because of them.
    Link(Guesser),
}

#[derive(Debug, Clone, Copy)]
struct Wrong {
    count: u32,
    last: Millis,
}

impl Wrong {
    /// How long nothing is looked at.
    fn wait(self, free: u32, now: Millis) -> Millis {
        let over = self.count.saturating_sub(free);
        if over == 0 {
            return 0;
        }
        let wait = (1_000_i64 << over.min(20)).min(WAIT_MAX_MS);
        (self.last + wait - now).max(0)
    }
}

impl Throttle {
    /// Milliseconds until this one may try again; 0 is now.
    pub(crate) fn wait(&self, guesser: Guesser, name: &str, now: Millis) -> Millis {
        let seen = self.lock();
        let of = |by: Counted, free| seen.wrong.get(&by).map_or(0, |wrong| wrong.wait(free, now));
        of(Counted::Guesser(guesser), FREE_FOR_GUESSER)
            .max(of(Counted::Name(bounded(name)), FREE_FOR_NAME))
    }

    /// Counts a wrong password; what the audit log is to be told of it, if anything. Whether the name is somebody's
    /// plays no part in it, or the time it takes would tell.
    pub(crate) fn wrong(&self, guesser: Guesser, name: &str, now: Millis) -> Option<Telling> {
        let mut seen = self.lock();
        let name = bounded(name);
        seen.count(Counted::Guesser(guesser), now);
        seen.count(Counted::Name(name.clone()), now);
        let count = seen.count(Counted::Both(guesser, name), now);
        seen.telling(count, now)
    }

    /// The same for a link that opens nothing. It cannot be guessed, so there is no wait: who has to wait because of
    /// wrong passwords can still be let in by a link.
    pub(crate) fn wait_for_link(&self, guesser: Guesser, now: Millis) -> Millis {
        let seen = self.lock();
        let wrong = seen.wrong.get(&Counted::Link(guesser));
        wrong.map_or(0, |wrong| wrong.wait(FREE_FOR_GUESSER, now))
    }

    pub(crate) fn wrong_link(&self, guesser: Guesser, now: Millis) -> Option<Telling> {
        let mut seen = self.lock();
        let count = seen.count(Counted::Link(guesser), now);
        seen.telling(count, now)
    }

    /// The right one was given: the name starts anew. The guesser does not, or one account of one's own would be
    /// enough to guess on.
    pub(crate) fn right(&self, guesser: Guesser, name: &str) {
        let mut seen = self.lock();
        seen.wrong.remove(&Counted::Name(bounded(name)));
        seen.wrong.remove(&Counted::Both(guesser, bounded(name)));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// One more wrong one; how many there are now.
    fn count(&mut self, by: Counted, now: Millis) -> u32 {
        if self.wrong.len() >= REMEMBERED_MAX && !self.wrong.contains_key(&by) {
            self.wrong.retain(|_, wrong| now - wrong.last < FORGET_MS);
            let quietest = self.wrong.iter().min_by_key(|(_, wrong)| wrong.last);
            if let Some(quietest) = quietest.map(|(by, _)| by.clone())
                && self.wrong.len() >= REMEMBERED_MAX
            {
                self.wrong.remove(&quietest);
            }
        }
        let wrong = self.wrong.entry(by).or_insert(Wrong {
            count: 0,
            last: now,
        });
        if now - wrong.last >= FORGET_MS {
            wrong.count = 0;
        }
        wrong.count = wrong.count.saturating_add(1);
        wrong.last = now;
        wrong.count
    }

    /// The first is told, and then the tenth, the hundredth …: somebody who mistypes leaves one entry, somebody who
    /// guesses for days a handful, and each says how many there were.
    fn telling(&mut self, count: u32, now: Millis) -> Option<Telling> {
        if 10_u32.pow(count.ilog10()) != count {
            return None;
        }
        if now - self.told_since >= TOLD_MS {
            self.told_since = now;
            self.told = 0;
        }
        if self.told >= TOLD_MAX {
            self.untold = self.untold.saturating_add(1);
            return None;
        }
        self.told += 1;
        Some(Telling {
            count,
            untold: std::mem::take(&mut self.untold),
        })
    }
}

fn bounded(name: &str) -> String {
    // Names are bounded; what is longer is nobody's.
    name.chars().take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> Guesser {
        Guesser::at(Some(address.parse().unwrap()))
    }

    #[test]
    fn guessing_gets_slower_and_is_forgotten() {
        let throttle = Throttle::default();
        let (a, b) = (at("10.0.0.1"), at("10.0.0.2"));
        for _ in 0..10 {
            assert_eq!(throttle.wait(a, "kim", 0), 0);
            throttle.wrong(a, "kim", 0);
        }
        assert_eq!(throttle.wait(a, "kim", 0), 0, "ten are free");
        throttle.wrong(a, "kim", 0);
        assert_eq!(throttle.wait(a, "kim", 0), 2_000);
        let other = throttle.wait(a, "lee", 1_999);
        assert_eq!(other, 1, "whoever they guess next");
        let elsewhere = throttle.wait(b, "kim", 0);
        assert_eq!(elsewhere, 0, "kim comes in from elsewhere");
        for _ in 0..40 {
            throttle.wrong(a, "kim", 0);
        }
        assert_eq!(throttle.wait(a, "kim", 0), WAIT_MAX_MS);
        assert!(throttle.wait(b, "kim", 0) > 0, "too many for one name");
        throttle.right(b, "kim");
        assert_eq!(throttle.wait(b, "kim", 0), 0);
        throttle.wrong(a, "x", FORGET_MS);
        assert_eq!(throttle.wait(a, "kim", FORGET_MS), 0, "forgotten");
    }

    #[test]
    fn a_guesser_is_an_address_a_network_or_a_session() {
        assert_eq!(at("2001:db8:1:2::1"), at("2001:db8:1:2:ffff::9"), "one /64");
        assert_ne!(at("2001:db8:1:2::1"), at("2001:db8:1:3::1"));
        assert_eq!(at("::ffff:203.0.113.9"), at("203.0.113.9"), "mapped");
        assert_ne!(at("203.0.113.9"), at("203.0.113.8"));
        assert_eq!(at("2001:db8:1:2::1").to_string(), "2001:db8:1:2::/64");
        assert_eq!(at("::ffff:203.0.113.9").to_string(), "203.0.113.9");
        assert_eq!(Guesser::at(None).to_string(), "unknown");

        // Who guesses in a session of theirs slows down nobody else.
        let throttle = Throttle::default();
        let session = |n| Guesser::Session(Uuid::from_u128(n));
        for _ in 0..20 {
            throttle.wrong(session(1), "kim", 0);
        }
        assert!(throttle.wait(session(1), "kim", 0) > 0);
        assert_eq!(throttle.wait(session(2), "lee", 0), 0);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let throttle = Throttle::default();
        for i in 0..REMEMBERED_MAX {
            let guesser = Guesser::Session(Uuid::from_u128(i as u128));
            throttle.wrong(guesser, "x", i as Millis);
        }
        assert!(throttle.lock().wrong.len() <= REMEMBERED_MAX);
    }

    #[test]
    fn few_wrong_ones_are_told_and_each_says_how_many() {
        let throttle = Throttle::default();
        let a = at("10.0.0.1");
        let mut told = Vec::new();
        for _ in 0..1_500 {
            told.extend(throttle.wrong(a, "kim", 0).map(|telling| telling.count));
        }
        assert_eq!(told, [1, 10, 100, 1_000]);
        assert!(throttle.wrong(a, "lee", 0).is_some(), "another name");
        throttle.right(a, "lee");
        let again = throttle.wrong(a, "lee", 0);
        assert_eq!(again.map(|t| t.count), Some(1), "after a right one");
        assert!(throttle.wrong(at("10.0.0.2"), "kim", 0).is_some());
        assert_eq!(throttle.wrong_link(a, 0).map(|t| t.count), Some(1));
        assert_eq!(throttle.wrong_link(a, 0), None);

        // Nor does anybody with many addresses write without end; what was left out is counted.
        let throttle = Throttle::default();
        let network = |n: u16| at(&format!("2001:db8:{n:x}::1"));
        let tellings = (0..5_000).filter_map(|n| throttle.wrong(network(n), "kim", 1));
        assert_eq!(tellings.count(), TOLD_MAX as usize);
        let next = throttle.wrong(network(6_000), "kim", TOLD_MS + 1).unwrap();
        assert_eq!((next.count, next.untold), (1, 5_000 - TOLD_MAX));
    }
}
