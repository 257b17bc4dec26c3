//! What is learned of a query that comes again, kept with its text. It is learned of one source, and for a while: what
//! stands behind the names of a query may change.

use crate::answer::Keys;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Instant;

/// How long it counts.
const FRESH_MINUTES: u64 = 10;

/// A source among all that were ever opened here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SourceNumber(u32);

impl SourceNumber {
    pub(crate) fn next() -> SourceNumber {
        // From 1: what was never learned of anything bears 0.
        static LAST: AtomicU32 = AtomicU32::new(0);
        SourceNumber(LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Memo {
    /// One word, because it is read at every call: the source, the minute, and what was learned.
    word: AtomicU64,
    /// Of the columns that the last answer had.
    keys: Mutex<Keys>,
}

const MINUTE_BITS: u64 = 24;

impl Memo {
    pub(crate) fn of(&self, source: SourceNumber) -> Option<i8> {
        self.at(source, minute())
    }

    pub(crate) fn note(&self, source: SourceNumber, learned: i8) {
        self.note_at(source, learned, minute());
    }

    /// The keys of columns of these names.
    pub(crate) fn keys<'n>(&self, names: impl Iterator<Item = &'n str> + Clone) -> Keys {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if !keys.are_of(names.clone()) {
            *keys = Keys::new(names);
        }
        keys.clone()
    }

    fn at(&self, SourceNumber(source): SourceNumber, now: u64) -> Option<i8> {
        let word = self.word.load(Ordering::Relaxed);
        let [.., learned] = word.to_be_bytes();
        let minute = word >> 8 & ((1 << MINUTE_BITS) - 1);
        let counts = word >> (8 + MINUTE_BITS) == u64::from(source);
        (counts && now.abs_diff(minute) < FRESH_MINUTES).then(|| learned.cast_signed())
    }

    fn note_at(&self, SourceNumber(source): SourceNumber, learned: i8, now: u64) {
        let source = u64::from(source) << (8 + MINUTE_BITS);
        let word = source | now << 8 | u64::from(learned.cast_unsigned());
        self.word.store(word, Ordering::Relaxed);
    }
}

/// Since the first call, and anew after thirty years.
fn minute() -> u64 {
    static FIRST: LazyLock<Instant> = LazyLock::new(Instant::now);
    FIRST.elapsed().as_secs() / 60 % (1 << MINUTE_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_of_one_source_and_for_a_while() {
        let (one, other) = (SourceNumber::next(), SourceNumber::next());
        let memo = Memo::default();
        assert_eq!(memo.at(one, 0), None);
        memo.note_at(one, -16, 5);
        assert_eq!(memo.at(one, 5), Some(-16));
        assert_eq!(memo.at(one, 14), Some(-16));
        assert_eq!(memo.at(other, 5), None);
        assert_eq!(memo.at(one, 15), None);
        memo.note_at(other, i8::MIN, 15);
        assert_eq!(memo.at(other, 15), Some(i8::MIN));
        assert_eq!(memo.at(one, 15), None);
    }

    #[test]
    fn keys_are_of_the_columns_that_there_are() {
        let memo = Memo::default();
        for names in [&["a", "b"][..], &["a", "b"], &["a"], &[], &["b", "a"]] {
            let keys = memo.keys(names.iter().copied());
            assert!(keys.are_of(names.iter().copied()), "{names:?}");
        }
    }
}
