//! Days and hours that a request names. What may be one of several, such as `Friday` or `3시`, counts as vague.

mod hours;
mod meant;

pub(crate) use hours::written;

use super::doubt::{is_denied, is_near};
use super::numbers::digits;
use super::said::Said;
use super::wanted::End;
use jiff::ToSpan;
use jiff::civil::{Date, Time};
use std::ops::Range;

/// Something that was found, and the words that it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found<T> {
    pub(crate) value: T,
    pub(crate) words: Range<usize>,
    /// Whether something begins or ends then.
    pub(crate) end: Option<End>,
    /// It begins or ends there, and is not itself meant: `after tomorrow`.
    pub(crate) is_beyond: bool,
}

/// What a request says of time.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) days: Vec<Found<Date>>,
    pub(crate) hours: Vec<Found<Time>>,
    /// Words that mean a day or an hour, but do not say which.
    pub(crate) vague_days: Vec<Range<usize>>,
    pub(crate) vague_hours: Vec<Range<usize>>,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const RELATIVE: [(&str, i64); 13] = [
    ("today", 0),
    ("tonight", 0),
    ("tomorrow", 1),
    ("yesterday", -1),
    ("오늘", 0),
    ("내일모레", 2),
    ("내일", 1),
    ("모레", 2),
    ("글피", 3),
    ("어제", -1),
    ("그저께", -2),
    ("그제", -2),
    ("엊그제", -2),
];

const VAGUE: [&str; 24] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "weekend",
    "weekday",
    "christmas",
    "월요일",
    "화요일",
    "수요일",
    "목요일",
    "금요일",
    "토요일",
    "일요일",
    "주말",
    "이번주",
    "다음주",
    "지난주",
    "이번달",
    "다음달",
    "지난달",
];

impl Times {
    pub(crate) fn new(said: &Said<'_>, today: Date) -> Self {
        let mut times = Times::default();
        let mut at = 0;
        while at < said.words.len() {
            let reader = Reader { said, today, at };
            let end = times.take(&reader);
            at = end.max(at + 1);
        }
        times
    }

    /// Takes what begins at a word; says where it ends.
    fn take(&mut self, reader: &Reader<'_, '_>) -> usize {
        let at = reader.at;
        if let Some((value, end)) = reader.day() {
            match reader.is_turned(end) || reader.is_near(end) {
                true => self.vague_days.push(at..end),
                false => self.days.push(Found {
                    value,
                    words: at..end,
                    end: reader.end(end),
                    is_beyond: reader.is_beyond(),
                }),
            }
            return end;
        }
        if let Some((value, end)) = reader.hour() {
            let is_other = || {
                let place = reader.said.place(&(at..end));
                is_near(reader.said, &(at..end)) || is_denied(reader.said, &place)
            };
            match value.filter(|_| !is_other()) {
                Some(value) => self.hours.push(Found {
                    value,
                    words: at..end,
                    end: reader.end(end),
                    is_beyond: reader.is_beyond(),
                }),
                None => self.vague_hours.push(at..end),
            }
            return end;
        }
        if let Some(end) = reader.vague_day() {
            self.vague_days.push(at..end);
            return end;
        }
        at
    }

    /// All words that say when.
    pub(crate) fn taken(&self) -> Vec<Range<usize>> {
        let days = self.days.iter().map(|it| it.words.clone());
        let hours = self.hours.iter().map(|it| it.words.clone());
        let vague = self.vague_days.iter().chain(&self.vague_hours).cloned();
        days.chain(hours).chain(vague).collect()
    }
}

struct Reader<'s, 'a> {
    said: &'s Said<'a>,
    today: Date,
    at: usize,
}

impl Reader<'_, '_> {
    fn small(&self, ahead: usize) -> String {
        let word = self.said.words.get(self.at + ahead);
        word.map(|it| it.bare.to_lowercase()).unwrap_or_default()
    }

    fn stem(&self, ahead: usize) -> &str {
        let word = self.said.words.get(self.at + ahead);
        word.map_or("", |it| it.stem.as_str())
    }

    /// A day that is named beyond doubt, and where the words for it end.
    fn day(&self) -> Option<(Date, usize)> {
        let first = self.small(0);
        if let Some((day, _)) = year_first(&first) {
            return Some((day, self.at + 1));
        }
        if let Some((day, words)) = self.korean_day() {
            return Some((day, self.at + words));
        }
        if let Some((day, words)) = self.english_day() {
            return Some((day, self.at + words));
        }
        self.relative()
    }

    /// `2026년 11월 16일`, in one word or in three.
    fn korean_day(&self) -> Option<(Date, usize)> {
        let mut text = String::new();
        for words in 1..=3 {
            text.push_str(&self.small(words - 1));
            let Some((year, rest)) = text.split_once('년') else {
                continue;
            };
            let Some((month, rest)) = rest.split_once('월') else {
                continue;
            };
            if let Some((day, _)) = rest.split_once('일') {
                let day = made(year, month, day)?;
                return Some((day, words));
            }
        }
        None
    }

    /// `November 16, 2026`, `16 Nov 2026`.
    fn english_day(&self) -> Option<(Date, usize)> {
        let (first, second, third) = (self.small(0), self.small(1), self.small(2));
        let number = |text: &str| {
            let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
            digits.to_owned()
        };
        let (month, day) = match (month(&first), month(&second)) {
            (Some(month), _) => (month, number(&second)),
            (None, Some(month)) => (month, number(&first)),
            _ => return None,
        };
        let year = third.as_str();
        let is_year = year.len() == 4;
        let day = is_year.then(|| made(year, &month.to_string(), &day))??;
        Some((day, 3))
    }

    fn relative(&self) -> Option<(Date, usize)> {
        let moved = |days: i64| self.today.checked_add(days.days()).ok();
        let words = [self.stem(0), self.stem(1), self.stem(2)];
        match words {
            ["day", "after", "tomorrow"] => return Some((moved(2)?, self.at + 3)),
            ["day", "before", "yesterday"] => return Some((moved(-2)?, self.at + 3)),
            _ => {}
        }
        let known = RELATIVE.iter().find(|(word, _)| {
            words[0] == *word
                || self.small(0).strip_prefix(word).is_some_and(|rest| {
                    matches!(rest, "은" | "의" | "까지" | "부터" | "도" | "자" | "로")
                })
        });
        if let Some((_, days)) = known {
            return Some((moved(*days)?, self.at + 1));
        }
        let span = |word: &str| match word {
            "day" | "days" => Some(1),
            "week" | "weeks" => Some(7),
            _ => None,
        };
        let count = |text: &str| {
            digits(text)
                .filter(|it| it.1.is_empty())
                .and_then(|it| whole(it.0))
        };
        if words[0] == "in"
            && let (Some(count), Some(days)) = (count(&self.small(1)), span(words[2]))
        {
            return Some((moved(count * days)?, self.at + 3));
        }
        if let (Some(count), Some(days)) = (count(&self.small(0)), span(words[1])) {
            return match words[2] {
                "ago" | "earlier" => Some((moved(-count * days)?, self.at + 3)),
                "later" | "hence" => Some((moved(count * days)?, self.at + 3)),
                "from" if self.stem(3) == "now" => Some((moved(count * days)?, self.at + 4)),
                _ => None,
            };
        }
        self.korean_relative()
    }

    /// `3일 뒤`, `2주 전`.
    fn korean_relative(&self) -> Option<(Date, usize)> {
        let first = self.small(0);
        let (count, rest) = digits(&first)?;
        let (days, rest) = match (rest.strip_prefix('일'), rest.strip_prefix('주')) {
            (Some(rest), _) => (1, rest),
            (_, Some(rest)) => (7, rest.strip_prefix('일').unwrap_or(rest)),
            _ => return None,
        };
        let next = self.small(1);
        let (turn, words) = if rest.is_empty() {
            (next.as_str(), 2)
        } else {
            (rest, 1)
        };
        let sign = match () {
            () if ["뒤", "후"].iter().any(|it| turn.starts_with(it)) => 1,
            () if turn.starts_with('전') => -1,
            () => return None,
        };
        let days = whole(count)? * days * sign;
        Some((self.today.checked_add(days.days()).ok()?, self.at + words))
    }

    /// A day without a year, a day of the week, a month: which one is meant is not said.
    fn vague_day(&self) -> Option<usize> {
        let (first, second) = (self.small(0), self.small(1));
        let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        if VAGUE.iter().any(|it| first.starts_with(it)) {
            return Some(self.at + 1);
        }
        if month(&first).is_some() && is_number(&second) {
            return Some(self.at + 2);
        }
        if is_number(&first) && month(&second).is_some() {
            return Some(self.at + 2);
        }
        if let Some((number, rest)) = first.split_once('월')
            && number.parse::<u8>().is_ok()
        {
            let day = rest.contains('일') || !second.contains('일') || !is_number(&second);
            return Some(self.at + if day { 1 } else { 2 });
        }
        let is_slashed = first.split('/').count() == 3 && first.split('/').all(is_number);
        is_slashed.then_some(self.at + 1)
    }
}

fn month(word: &str) -> Option<i8> {
    let at = MONTHS.iter().position(|it| {
        *it == word
            || (word.len() >= 3 && *it != "may" && it.starts_with(word))
            || (word == "sept" && *it == "september")
    })?;
    i8::try_from(at + 1).ok()
}

fn made(year: &str, month: &str, day: &str) -> Option<Date> {
    let year: i16 = year.trim().parse().ok()?;
    let (month, day) = (month.trim().parse().ok()?, day.trim().parse().ok()?);
    (year >= 1000).then(|| Date::new(year, month, day).ok())?
}

/// `2026-11-16`, also with other marks between.
pub(crate) fn year_first(text: &str) -> Option<(Date, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && !"-/.".contains(c))
        .unwrap_or(text.len());
    let (number, rest) = (text[..end].trim_end_matches(['-', '/', '.']), &text[end..]);
    let mark = number.find(['-', '/', '.'])?;
    let parts: Vec<&str> = number.split(&number[mark..=mark]).collect();
    let [year, month, day] = parts[..] else {
        return None;
    };
    // The beginning of `2026-11-16T09:30`, a point in time, is no day.
    let goes_on = rest.starts_with(|c: char| c.is_ascii_alphabetic());
    (year.len() == 4 && !goes_on).then(|| Some((made(year, month, day)?, rest)))?
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "it is a small whole number"
)]
fn whole(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() < 100_000.0).then_some(value as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    const TODAY: Date = date(2026, 11, 18);

    #[test]
    fn days_are_read_where_they_are_certain() {
        for (request, expected) in [
            ("on 2026-12-01 please", Some("2026-12-01")),
            ("2026/12/01에 예약", Some("2026-12-01")),
            ("2026년 12월 1일에", Some("2026-12-01")),
            ("2026년12월1일", Some("2026-12-01")),
            ("December 1st, 2026", Some("2026-12-01")),
            ("1 Dec 2026", Some("2026-12-01")),
            ("tomorrow morning", Some("2026-11-19")),
            ("내일 회의", Some("2026-11-19")),
            ("the day after tomorrow", Some("2026-11-20")),
            ("모레까지", Some("2026-11-20")),
            ("in 2 weeks", Some("2026-12-02")),
            ("3 days ago", Some("2026-11-15")),
            ("3일 뒤에", Some("2026-11-21")),
            ("2주 전", Some("2026-11-04")),
            ("next Friday", None),
            ("12월 1일에", None),
            ("on December 1", None),
            ("3/4/2026", None),
            ("2026-13-01", None),
            ("version 1.2.3", None),
        ] {
            let times = Times::new(&Said::new(request), TODAY);
            let days: Vec<String> = times.days.iter().map(|it| it.value.to_string()).collect();
            assert_eq!(days, expected.into_iter().collect::<Vec<_>>(), "{request}");
        }
        let vague = |request: &str| !Times::new(&Said::new(request), TODAY).vague_days.is_empty();
        assert!(vague("next Friday") && vague("12월 1일에") && vague("on December 1"));
    }

    #[test]
    fn hours_are_read_where_they_are_certain() {
        for (request, expected) in [
            ("at 9:30", Some("09:30")),
            ("at 03:30", Some("03:30")),
            ("at 3pm", Some("15:00")),
            ("3:30 pm", Some("15:30")),
            ("12 a.m.", Some("00:00")),
            ("15시 20분", Some("15:20")),
            ("오후 3시 반에", Some("15:30")),
            ("오전 9시에", Some("09:00")),
            ("at noon", Some("12:00")),
            ("3시에", None),
            ("9시에", None),
            ("at 3:30", None),
            ("3시간 동안", None),
        ] {
            let times = Times::new(&Said::new(request), TODAY);
            let hours: Vec<String> = times.hours.iter().map(|it| written(it.value)).collect();
            assert_eq!(hours, expected.into_iter().collect::<Vec<_>>(), "{request}");
        }
        let times = Times::new(&Said::new("3시에"), TODAY);
        assert_eq!(times.vague_hours.len(), 1);
    }

    #[test]
    fn beginnings_and_ends_are_told_apart() {
        for request in ["from today to tomorrow", "오늘부터 내일까지"] {
            let times = Times::new(&Said::new(request), TODAY);
            let ends: Vec<Option<End>> = times.days.iter().map(|it| it.end).collect();
            assert_eq!(ends, [Some(End::From), Some(End::To)], "{request}");
        }
    }
}
