//! Hours of a day, as they are said and written.

use super::Reader;
use jiff::civil::{Time, time};

impl Reader<'_, '_> {
    /// An hour; without a value where it may be in the morning or the afternoon.
    pub(super) fn hour(&self) -> Option<(Option<Time>, usize)> {
        let first = self.small(0);
        match first.as_str() {
            "noon" | "정오" | "정오에" => return Some((Some(time(12, 0, 0, 0)), self.at + 1)),
            "midnight" | "자정" | "자정에" => {
                return Some((Some(time(0, 0, 0, 0)), self.at + 1));
            }
            _ => {}
        }
        let half = match first.as_str() {
            "오전" | "아침" | "새벽" => Some(Half::Morning),
            "오후" | "저녁" | "밤" => Some(Half::Evening),
            _ => None,
        };
        let text = self.small(usize::from(half.is_some()));
        let at = self.at + usize::from(half.is_some());
        if let Some((hour, rest)) = text.split_once('시')
            && let Ok(hour) = hour.parse::<i8>()
            && !rest.starts_with('간')
        {
            return self.korean_hour(hour, rest, half, at);
        }
        let half = half.or_else(|| half_of(&text));
        let bare = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '.');
        let (bare, tail) = (bare, &text[bare.len()..]);
        let next = self.said.words.get(at + 1).map(|it| it.bare.to_lowercase());
        let beside = next
            .as_deref()
            .filter(|_| tail.is_empty())
            .and_then(half_word);
        let end = at + 1 + usize::from(beside.is_some());
        let half = half.or(beside);
        let bare: String = bare
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == ':')
            .collect();
        let (hour, minute) = match bare.split_once(':') {
            Some((hour, minute)) if minute.len() == 2 => (hour, minute),
            None if half.is_some() => (bare.as_str(), "0"),
            _ => return None,
        };
        let is_padded = hour.len() == 2;
        let (hour, minute) = (hour.parse().ok()?, minute.parse().ok()?);
        Some((hour_of(hour, minute, half, is_padded), end))
    }

    fn korean_hour(
        &self,
        hour: i8,
        rest: &str,
        half: Option<Half>,
        at: usize,
    ) -> Option<(Option<Time>, usize)> {
        let next = self.said.words.get(at + 1).map_or("", |it| it.bare);
        let (minute, words) = match minutes(rest) {
            Some(minute) => (minute, 1),
            None => minutes(next).map_or((0, 1), |minute| (minute, 2)),
        };
        // Said, and not written: `9시` is of the evening as often as not.
        let is_certain = half.is_some() || hour > 12;
        let value = hour_of(hour, minute, half, false).filter(|_| is_certain);
        Some((value, at + words))
    }
}

/// An hour as it is written in arguments.
pub(crate) fn written(hour: Time) -> String {
    format!("{:02}:{:02}", hour.hour(), hour.minute())
}

#[derive(Clone, Copy)]
enum Half {
    Morning,
    Evening,
}

fn half_of(text: &str) -> Option<Half> {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
    if digits.len() == text.len() {
        return None;
    }
    half_word(digits)
}

fn half_word(text: &str) -> Option<Half> {
    match text {
        "am" | "a.m" | "a.m." => Some(Half::Morning),
        "pm" | "p.m" | "p.m." => Some(Half::Evening),
        _ => None,
    }
}

/// `9:30` is read as it stands; `3:30` and `3시` are more often said of the afternoon than written for the night.
fn hour_of(hour: i8, minute: i8, half: Option<Half>, is_padded: bool) -> Option<Time> {
    let hour = match half {
        Some(Half::Morning) if hour == 12 => 0,
        Some(Half::Evening) if hour < 12 => hour + 12,
        Some(_) => hour,
        None if hour > 12 || is_padded || (7..12).contains(&hour) => hour,
        None => return None,
    };
    Time::new(hour, minute, 0, 0).ok()
}

fn minutes(text: &str) -> Option<i8> {
    if text.starts_with('반') {
        return Some(30);
    }
    let (minute, _) = text.split_once('분')?;
    minute.parse().ok()
}
