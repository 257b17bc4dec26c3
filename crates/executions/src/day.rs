//! The UTC day that a row belongs to, and the names of its file and its partition.

use catalog::tool::Millis;
use jiff::civil::Date;

pub(crate) const DAY_MS: Millis = 86_400_000;
/// The last millisecond of the year 9998: the end of what a day's name can surely say.
pub(crate) const TIME_MAX: Millis = 253_370_764_799_999;

/// Days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Day(i64);

impl Day {
    /// Times outside 1970..=9998 are taken as the nearest day inside.
    pub(crate) fn of(time: Millis) -> Self {
        Day(time.clamp(0, TIME_MAX) / DAY_MS)
    }

    pub(crate) fn start(self) -> Millis {
        self.0 * DAY_MS
    }

    /// The first moment that is no longer this day.
    pub(crate) fn end(self) -> Millis {
        self.start() + DAY_MS
    }

    pub(crate) fn next(self) -> Self {
        Day(self.0 + 1)
    }

    pub(crate) fn back(self, days: u32) -> Self {
        Day(self.0 - i64::from(days))
    }

    fn date(self) -> Date {
        jiff::Timestamp::from_millisecond(self.start())
            .expect("a day is made from a time that a date can hold")
            .to_zoned(jiff::tz::TimeZone::UTC)
            .date()
    }

    pub(crate) fn file_name(self) -> String {
        format!("executions-{}.db", self.date())
    }

    /// The name of this day's rows as text, in a backup of PostgreSQL.
    pub(crate) fn lines_name(self) -> String {
        format!("executions-{}.jsonl", self.date())
    }

    /// The name of rows that this day's file does not take.
    pub(crate) fn unwritten_name(self) -> String {
        format!("journal-unwritten-{}.jsonl", self.date())
    }

    pub(crate) fn of_unwritten(name: &str) -> Option<Self> {
        let date = name.strip_prefix("journal-unwritten-")?;
        let date: Date = date.strip_suffix(".jsonl")?.parse().ok()?;
        Day::of_date(date)
    }

    pub(crate) fn partition(self) -> String {
        format!("executions_{}", self.date().strftime("%Y%m%d"))
    }

    /// The day and what follows it of a name such as `executions-2026-11-15.db-wal`.
    pub(crate) fn of_file(name: &str) -> Option<(Self, &str)> {
        let rest = name.strip_prefix("executions-")?;
        let date: Date = rest.get(..10)?.parse().ok()?;
        Some((Self::of_date(date)?, rest.get(10..)?))
    }

    pub(crate) fn of_partition(name: &str) -> Option<Self> {
        let digits = name.strip_prefix("executions_")?;
        let well_formed = digits.len() == 8 && digits.bytes().all(|byte| byte.is_ascii_digit());
        Self::of_date(
            Date::strptime("%Y%m%d", digits)
                .ok()
                .filter(|_| well_formed)?,
        )
    }

    fn of_date(date: Date) -> Option<Self> {
        let start = date
            .to_zoned(jiff::tz::TimeZone::UTC)
            .ok()?
            .timestamp()
            .as_millisecond();
        (0..=TIME_MAX).contains(&start).then(|| Day::of(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        let day = Day::of(1_794_700_800_000);
        assert_eq!(day.file_name(), "executions-2026-11-15.db");
        assert_eq!(day.partition(), "executions_20261115");
        assert_eq!(
            Day::of_file("executions-2026-11-15.db-wal"),
            Some((day, ".db-wal"))
        );
        assert_eq!(Day::of_partition("executions_20261115"), Some(day));
        assert_eq!(Day::of(day.end() - 1), day);
        assert_eq!(Day::of(day.end()), day.next());
    }

    #[test]
    fn other_names_are_nobodys_day() {
        for name in [
            "executions-.db",
            "executions-2026-13-01.db",
            "executions-2026-11-1",
            "registry.db",
            "executions-é2026-11-15",
        ] {
            assert_eq!(Day::of_file(name), None, "{name}");
        }
        for name in [
            "executions_",
            "executions_pkey",
            "executions_2026111",
            "executions_20261115_tool",
            "executions_1969123１",
        ] {
            assert_eq!(Day::of_partition(name), None, "{name}");
        }
        assert_eq!(Day::of(i64::MIN).file_name(), "executions-1970-01-01.db");
        assert_eq!(Day::of(i64::MAX).file_name(), "executions-9998-12-31.db");
        assert_eq!(Day::of_file("executions-9999-12-31.db"), None);
    }
}
