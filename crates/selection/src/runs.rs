//! Words of a request that are a value only together: `from 10 to 11am` are two hours, and `6890 1123 4567` is one number.

use crate::lexicon::DAYS;
use std::borrow::Cow;

/// A word, or several that are one, and what those beside it make of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Run<'a> {
    pub(crate) text: Cow<'a, str>,
    /// A number that stands for an hour here, and whether it can be nothing else.
    pub(crate) is_hour: bool,
    pub(crate) is_sure: bool,
    /// A number that is part of a date: `8 January`.
    pub(crate) is_day: bool,
    pub(crate) is_from: bool,
    pub(crate) is_to: bool,
}

/// A key of fewer digits is a number as any other.
const KEY_DIGITS_LEAST: usize = 8;

/// What may follow an hour that is a mere number. Behind anything else it counts something: `between 2 and 3 people`.
const AFTER_HOUR: [&str; 19] = [
    "am", "pm", "a.m", "p.m", "o'clock", "on", "at", "in", "for", "with", "please", "pls", "today",
    "tomorrow", "next", "this", "and", "then", "to",
];

pub(crate) fn runs(text: &str) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    for token in text.split_whitespace() {
        match sides(token) {
            Some((from, to)) => {
                runs.push(Run {
                    text: Cow::Borrowed(from),
                    is_hour: true,
                    is_sure: true,
                    is_from: true,
                    ..Run::default()
                });
                runs.push(Run {
                    text: Cow::Borrowed(to),
                    is_hour: true,
                    is_sure: true,
                    is_to: true,
                    ..Run::default()
                });
            }
            None => runs.push(Run {
                text: Cow::Borrowed(token),
                ..Run::default()
            }),
        }
    }
    join_keys(&mut runs);
    mark_hours(&mut runs);
    runs
}

/// `3-4pm`, `10:00–11:30` and `3~4시` are two hours each.
fn sides(token: &str) -> Option<(&str, &str)> {
    let at = token.find(['-', '–', '~'])?;
    let mark = token[at..].chars().next()?;
    let (from, to) = (&token[..at], &token[at + mark.len_utf8()..]);
    let is_from = from.starts_with(|c: char| c.is_ascii_digit())
        && from.chars().filter(char::is_ascii_digit).count() <= 4
        && is_hour(from, &["am", "pm", "시", "분"]);
    (is_from && says_hour(to)).then_some((from, to))
}

/// Digits up to 24, with minutes or one of some endings if any.
fn is_hour(text: &str, endings: &[&str]) -> bool {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    let is_hour = text[..digits].parse::<u8>().is_ok_and(|it| it <= 24);
    let rest = &text[digits..];
    is_hour
        && (rest.is_empty()
            || rest.starts_with(':')
            || endings.iter().any(|it| rest.starts_with(it)))
}

/// Whether a word cannot be anything but an hour.
fn says_hour(text: &str) -> bool {
    let small = text.to_lowercase();
    let digits = small.chars().take_while(char::is_ascii_digit).count();
    let rest = &small[digits..];
    let is_half = ["am", "pm", "a.m", "p.m"]
        .iter()
        .any(|it| rest.starts_with(it));
    let is_korean = rest.starts_with('시') && !rest.starts_with("시간");
    (1..=2).contains(&digits)
        && (is_half || is_korean || (rest.starts_with(':') && is_hour(&small, &[])))
}

/// People write long numbers in groups.
fn join_keys(runs: &mut Vec<Run<'_>>) {
    let digits = |it: &Run<'_>| it.text.chars().filter(char::is_ascii_digit).count();
    let is_group = |it: &Run<'_>| (3..=5).contains(&digits(it)) && digits(it) == it.text.len();
    // The last one may have an ending, or a mark behind it.
    let is_last = |it: &Run<'_>| {
        let count = it.text.chars().take_while(char::is_ascii_digit).count();
        let next = it.text[count..].chars().next();
        (3..=5).contains(&count) && next.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '.')
    };
    let mut at = 0;
    while at < runs.len() {
        let mut end = at;
        while end + 1 < runs.len() && is_group(&runs[end]) && is_last(&runs[end + 1]) {
            end += 1;
        }
        let all: usize = runs[at..=end].iter().map(digits).sum();
        if end > at && all >= KEY_DIGITS_LEAST {
            let texts: Vec<&str> = runs[at..=end].iter().map(|it| &*it.text).collect();
            let text = Cow::Owned(texts.join("-"));
            runs.drain(at + 1..=end);
            runs[at].text = text;
        }
        at += 1;
    }
}

fn mark_hours(runs: &mut [Run<'_>]) {
    let small: Vec<String> = runs.iter().map(|it| bare(&it.text)).collect();
    let word = |at: usize| small.get(at).map_or("", String::as_str);
    let is_mere = |at: usize| is_hour(word(at), &[]) && !word(at).is_empty();
    let ends_well = |at: usize| {
        let next = word(at);
        next.is_empty() || AFTER_HOUR.contains(&next) || DAYS.contains(&next)
    };
    let speaks_of_day = small.iter().any(|it| DAYS.contains(&it.as_str()));
    for at in 0..runs.len() {
        let is_opened = at > 0 && matches!(word(at - 1), "from" | "between");
        let is_range = matches!(word(at + 1), "to" | "until" | "till" | "through")
            || (is_opened && word(at + 1) == "and")
            || matches!(runs.get(at + 1).map(|it| &*it.text), Some("-" | "–" | "~"));
        let is_said = says_hour(word(at + 2)) || (is_mere(at + 2) && is_half(word(at + 3)));
        let ends = is_said || (is_opened && is_mere(at + 2) && ends_well(at + 3));
        if is_range && ends && (is_mere(at) || says_hour(word(at))) {
            for (at, is_from) in [(at, true), (at + 2, false)] {
                runs[at].is_hour = true;
                runs[at].is_sure = is_said || speaks_of_day;
                (runs[at].is_from, runs[at].is_to) = (is_from, !is_from);
            }
        }
        // `at 3`, `three in the afternoon`, `half past three`.
        let is_at =
            at > 0 && matches!(word(at - 1), "at" | "@") && is_mere(at) && ends_well(at + 1);
        let is_of_day = word(at + 1) == "in"
            && word(at + 2) == "the"
            && matches!(word(at + 3), "morning" | "afternoon" | "evening");
        let is_past =
            at > 1 && word(at - 1) == "past" && matches!(word(at - 2), "half" | "quarter");
        let is_korean = at > 0
            && word(at).starts_with('시')
            && !word(at).starts_with("시간")
            && KOREAN_HOURS.contains(&word(at - 1));
        if is_at || is_of_day || is_past || is_korean {
            runs[at].is_hour = true;
            runs[at].is_sure |= !is_at || speaks_of_day;
        }
        // `8 January`, `Dec 4`: no year, and no count of anything.
        let is_month = |at: usize| {
            MONTHS.iter().any(|it| word(at).starts_with(it)) && DAYS.contains(&word(at))
        };
        let is_date = word(at)
            .parse::<u8>()
            .is_ok_and(|it| (1..=31).contains(&it));
        runs[at].is_day = is_date && (is_month(at + 1) || (at > 0 && is_month(at - 1)));
    }
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// `세 시` is an hour as `세시` is.
const KOREAN_HOURS: [&str; 12] = [
    "한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열", "열한", "열두",
];

fn is_half(text: &str) -> bool {
    matches!(text, "am" | "pm" | "a.m" | "p.m")
}

fn bare(token: &str) -> String {
    let text = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '@');
    text.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(text: &str) -> Vec<String> {
        let runs = runs(text);
        let hours = runs.iter().filter(|it| it.is_hour);
        hours.map(|it| bare(&it.text)).collect()
    }

    #[test]
    fn ranges_are_two_hours() {
        for (text, expected) in [
            ("from 3 to 4pm", vec!["3", "4pm"]),
            ("tomorrow between 2 and 3", vec!["2", "3"]),
            ("10:00-11:30", vec!["10:00", "11:30"]),
            ("3-4pm please", vec!["3", "4pm"]),
            ("3~4시에", vec!["3", "4시에"]),
            ("9 to 11 am", vec!["9", "11"]),
            ("from 10 until 12 on Friday", vec!["10", "12"]),
            ("a room at 3", vec!["3"]),
            ("네 시 반에", vec!["시"]),
            ("half past one", vec!["one"]),
            ("Dec 4 at 10am", vec![]),
            ("between 2 and 3 people", vec![]),
            ("from 5 to 7 kilos", vec![]),
            ("2026-11-17", vec![]),
            ("look at 3 files", vec![]),
            ("세 시간", vec![]),
        ] {
            assert_eq!(hours(text), expected, "{text}");
        }
    }

    #[test]
    fn a_number_beside_a_month_is_a_day() {
        let days = |text| runs(text).iter().filter(|it| it.is_day).count();
        assert_eq!(
            (
                days("on 8 January"),
                days("Dec 4, 10 chairs"),
                days("8 chairs")
            ),
            (1, 1, 0)
        );
    }

    #[test]
    fn groups_of_digits_are_one_number() {
        let texts = |text| -> Vec<String> {
            runs(text)
                .into_iter()
                .map(|it| it.text.into_owned())
                .collect()
        };
        assert_eq!(texts("track 6890 1123 4567?"), ["track", "6890-1123-4567?"]);
        assert_eq!(texts("송장 6890 1123 4567을"), ["송장", "6890-1123-4567을"]);
        assert_eq!(texts("add 100 250"), ["add", "100", "250"]);
        assert_eq!(texts("in 2026 12 people"), ["in", "2026", "12", "people"]);
    }
}
