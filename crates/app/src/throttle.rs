//! Slows down whoever guesses passwords: after some wrong ones the next is not even looked at for a while.

use catalog::tool::Millis;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// How many wrong ones are free, for one address and for one name. An address counts more strictly: else anybody could
/// keep a user out by guessing in their name.
const FREE_FOR_ADDRESS: u32 = 10;
const FREE_FOR_NAME: u32 = 50;

/// Wrong ones are forgotten after this long without another.
const FORGET_MS: Millis = 15 * 60 * 1000;
const WAIT_MAX_MS: Millis = 5 * 60 * 1000;

/// How many addresses and names are remembered; the one that was quiet for longest makes room.
const REMEMBERED_MAX: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Throttle(Mutex<HashMap<String, Wrong>>);

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
    pub(crate) fn wait(&self, address: &str, name: &str, now: Millis) -> Millis {
        let seen = self.lock();
        let of = |key: &str, free| seen.get(key).map_or(0, |wrong| wrong.wait(free, now));
        of(&by_address(address), FREE_FOR_ADDRESS).max(of(&by_name(name), FREE_FOR_NAME))
    }

    pub(crate) fn wrong(&self, address: &str, name: &str, now: Millis) {
        let mut seen = self.lock();
        for key in [by_address(address), by_name(name)] {
            if seen.len() >= REMEMBERED_MAX && !seen.contains_key(&key) {
                seen.retain(|_, wrong| now - wrong.last < FORGET_MS);
                let quietest = seen.iter().min_by_key(|(_, wrong)| wrong.last);
                if let Some(quietest) = quietest.map(|(key, _)| key.clone())
                    && seen.len() >= REMEMBERED_MAX
                {
                    seen.remove(&quietest);
                }
            }
            let wrong = seen.entry(key).or_insert(Wrong {
                count: 0,
                last: now,
            });
            if now - wrong.last >= FORGET_MS {
                wrong.count = 0;
            }
            wrong.count += 1;
            wrong.last = now;
        }
    }

    /// The right one was given: the name starts anew. The address does not, or one account of one's own would be
    /// enough to guess on.
    pub(crate) fn right(&self, name: &str) {
        self.lock().remove(&by_name(name));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Wrong>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn by_address(address: &str) -> String {
    format!("address {address}")
}

fn by_name(name: &str) -> String {
    // Names are bounded; what is longer is nobody's.
    format!("name {}", name.chars().take(64).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guessing_gets_slower_and_is_forgotten() {
        let throttle = Throttle::default();
        for _ in 0..10 {
            assert_eq!(throttle.wait("a", "kim", 0), 0);
            throttle.wrong("a", "kim", 0);
        }
        assert_eq!(throttle.wait("a", "kim", 0), 0, "ten are free");
        throttle.wrong("a", "kim", 0);
        assert_eq!(throttle.wait("a", "kim", 0), 2_000);
        assert_eq!(
            throttle.wait("a", "lee", 1_999),
            1,
            "whoever they guess next"
        );
        assert_eq!(
            throttle.wait("b", "kim", 0),
            0,
            "kim comes in from elsewhere"
        );
        for _ in 0..40 {
            throttle.wrong("a", "kim", 0);
        }
        assert_eq!(throttle.wait("a", "kim", 0), WAIT_MAX_MS);
        assert!(throttle.wait("b", "kim", 0) > 0, "too many for one name");
        throttle.right("kim");
        assert_eq!(throttle.wait("b", "kim", 0), 0);
        throttle.wrong("a", "x", FORGET_MS);
        assert_eq!(throttle.wait("a", "kim", FORGET_MS), 0, "forgotten");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let throttle = Throttle::default();
        for i in 0..REMEMBERED_MAX {
            throttle.wrong(&format!("{i}"), "x", i as Millis);
        }
        assert!(throttle.lock().len() <= REMEMBERED_MAX);
    }
}
