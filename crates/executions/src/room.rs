//! How much room the log takes, and which days have to go so that it takes no more than it may.

use crate::day::Day;
use crate::log::Options;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// What the days of a log take on disk, as it was last looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Room {
    /// All days together, what surrounds their rows included.
    pub bytes: u64,
    pub days: u64,
    /// What it may take; 0 is no bound.
    pub bytes_max: u64,
    /// Today alone takes more than that. It is never deleted: nothing but waiting for tomorrow, or more room, helps.
    pub is_exceeded: bool,
}

/// The same while it changes, shared by the writer and whoever asks.
#[derive(Debug)]
pub(crate) struct Measured {
    bytes_max: u64,
    bytes: AtomicU64,
    days: AtomicU64,
    today_bytes: AtomicU64,
    /// The day of which it was last said that it takes too much.
    told: AtomicI64,
}

impl Measured {
    pub(crate) fn new(options: &Options) -> Self {
        Measured {
            bytes_max: options.retention_bytes,
            bytes: AtomicU64::default(),
            days: AtomicU64::default(),
            today_bytes: AtomicU64::default(),
            told: AtomicI64::new(-1),
        }
    }

    pub(crate) fn room(&self) -> Room {
        let of = |counted: &AtomicU64| counted.load(Ordering::Relaxed);
        Room {
            bytes: of(&self.bytes),
            days: of(&self.days),
            bytes_max: self.bytes_max,
            is_exceeded: self.bytes_max > 0 && of(&self.today_bytes) > self.bytes_max,
        }
    }

    /// Takes note of what each day takes, oldest first. Says which is the first that may stay; the days before it are
    /// counted as gone.
    pub(crate) fn first_kept(&self, sizes: &BTreeMap<Day, u64>, today: Day) -> Option<Day> {
        let (mut bytes, mut days, mut first) = (0_u64, 0, None);
        let recent = sizes.range(today..).map(|(_, size)| size);
        bytes = recent.fold(bytes, |sum, size| sum.saturating_add(*size));
        days += sizes.range(today..).count() as u64;
        let today_bytes = bytes;
        for (day, size) in sizes.range(..today).rev() {
            let with = bytes.saturating_add(*size);
            if self.bytes_max > 0 && with > self.bytes_max {
                first = Some(day.next());
                break;
            }
            bytes = with;
            days += 1;
        }
        self.bytes.store(bytes, Ordering::Relaxed);
        self.days.store(days, Ordering::Relaxed);
        self.today_bytes.store(today_bytes, Ordering::Relaxed);
        self.tell(today, today_bytes);
        first
    }

    /// Once a day: it is looked at every minute.
    fn tell(&self, today: Day, bytes: u64) {
        let day = today.start();
        if self.room().is_exceeded && self.told.swap(day, Ordering::Relaxed) != day {
            tracing::warn!(
                bytes,
                bytes_max = self.bytes_max,
                "today alone takes more room than log.retention_megabytes allows for the whole execution log; all other days are deleted, today is kept"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::day::DAY_MS;

    fn measured(bytes_max: u64) -> Measured {
        let options = Options {
            retention_bytes: bytes_max,
            ..Options::default()
        };
        Measured::new(&options)
    }

    #[test]
    fn the_oldest_days_go_first_and_today_never() {
        let day = |number: i64| Day::of(number * DAY_MS);
        let sizes: BTreeMap<Day, u64> = [(5, 30), (6, 5), (7, 20), (8, 10), (9, 0)]
            .map(|(number, size)| (day(number), size))
            .into();
        let today = day(8);
        for (bytes_max, first, bytes, days, is_exceeded) in [
            (0, None, 65, 5, false),
            (65, None, 65, 5, false),
            (64, Some(day(6)), 35, 4, false),
            (34, Some(day(7)), 30, 3, false),
            // A small day behind one that goes does not stay: there would be a gap.
            (29, Some(day(8)), 10, 2, false),
            (9, Some(day(8)), 10, 2, true),
        ] {
            let measured = measured(bytes_max);
            assert_eq!(measured.first_kept(&sizes, today), first, "{bytes_max}");
            let room = Room {
                bytes,
                days,
                bytes_max,
                is_exceeded,
            };
            assert_eq!(measured.room(), room, "{bytes_max}");
        }
    }
}
