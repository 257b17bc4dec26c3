//! The numbers of a request, each with its unit.

use super::said::{Said, Word};
use super::units::{Unit, leading_unit, unit};
use super::{spans, spelled};
use selection::speech::is_hangul;
use serde_json::Value;
use std::ops::Range;

/// What multiplies the number that it is written behind.
const SCALES: [(&str, f64); 4] = [("억", 1e8), ("만", 1e4), ("천", 1e3), ("백", 1e2)];

/// 천 and 백 count within what 만 and 억 multiply.
const GROUP: f64 = 1e4;

/// A number that a request gives.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Number {
    pub(crate) value: f64,
    pub(crate) unit: Option<Unit>,
    /// Its first and last word.
    pub(crate) at: usize,
    pub(crate) last: usize,
    /// What Korean puts to it: `10에서`.
    pub(crate) particle: String,
    /// One end of a stretch, or one of two: `10 to 20`, `10 or 20`.
    pub(crate) is_one_of_two: bool,
}

impl Number {
    /// Whole numbers are written as such.
    pub(crate) fn json(&self) -> Option<Value> {
        json(self.value)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "it is a whole number below 2^53"
)]
pub(crate) fn json(value: f64) -> Option<Value> {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return Some(Value::from(value as i64));
    }
    serde_json::Number::from_f64(value).map(Value::Number)
}

/// The numbers among some words; those within `taken`, such as days, are none.
pub(crate) fn numbers(said: &Said<'_>, taken: &[Range<usize>]) -> Vec<Number> {
    let mut found: Vec<Number> = Vec::new();
    let mut at = 0;
    while at < said.words.len() {
        let is_free = !taken.iter().any(|it| it.contains(&at));
        let read = if is_free { read(said, at) } else { Vec::new() };
        at = read.last().map_or(at, |it| it.last) + 1;
        found.extend(read);
    }
    spans::join(said, &mut found);
    found
}

fn read(said: &Said<'_>, at: usize) -> Vec<Number> {
    let word = &said.words[at];
    // `300x200` gives two.
    if let Some((a, b)) = word.stem.split_once(['x', '×'])
        && let (Some((a, "")), Some((b, ""))) = (digits(a), digits(b))
    {
        let number = |value| plain(value, at);
        return vec![number(a), number(b)];
    }
    let Some((mut value, rest, money)) = leading(word) else {
        return in_words(said, at);
    };
    let (scaled, mut rest) = scales(value, &rest);
    let is_scaled = scaled.to_bits() != value.to_bits();
    value = scaled;
    let mut number = plain(value, at);
    number.unit = money;
    let mut next = said.next(at).filter(|_| !word.ends_part);
    // `100 만원`, `1억 5천만원`
    if let Some(more) = next.filter(|_| rest.is_empty()) {
        let small = more.bare.to_lowercase();
        let further = match leading(more).filter(|_| is_scaled) {
            Some((second, rest, _)) => {
                let (second, rest) = scales(second, &rest);
                Some((
                    if second < value {
                        value + second
                    } else {
                        f64::NAN
                    },
                    rest,
                ))
            }
            None if small.starts_with(is_scale) => Some(scales(value, &small)),
            None => None,
        };
        if let Some(further) = further {
            (number.value, rest) = further;
            number.last = at + 1;
            next = said.next(number.last).filter(|_| !more.ends_part);
        }
    }
    if rest.is_empty() {
        if number.last == at {
            (number.value, number.last) = spelled::scaled(said, number.value, at, at);
        }
        let ends = said.words[number.last].ends_part;
        let next = said.next(number.last).filter(|_| !ends);
        if let Some((unit, particle)) = next.and_then(spoken_unit) {
            number.unit = Some(unit);
            number.particle = particle;
            number.last += 1;
        }
        return vec![number];
    }
    match leading_unit(&rest) {
        // `3일` are three days, or the third of a month.
        Some((unit, after)) if rest.starts_with('일') && unit.name == "days" => {
            let lasts = matches!(after, "간" | "동안" | "짜리" | "치")
                || next.is_some_and(|it| it.bare.starts_with("동안"));
            number.unit = Some(unit);
            if lasts { vec![number] } else { Vec::new() }
        }
        Some((unit, after)) if is_ending(after) => {
            number.unit = Some(unit);
            number.particle = after.to_owned();
            vec![number]
        }
        _ if is_particle(&rest) => {
            number.particle = rest;
            vec![number]
        }
        // `3rd`, `5G`, `A4`: no number of anything.
        _ => Vec::new(),
    }
}

pub(super) fn plain(value: f64, at: usize) -> Number {
    Number {
        value,
        unit: None,
        at,
        last: at,
        particle: String::new(),
        is_one_of_two: false,
    }
}

fn in_words(said: &Said<'_>, at: usize) -> Vec<Number> {
    let Some((value, last)) = spelled::spelled(said, at) else {
        return Vec::new();
    };
    let mut number = Number {
        last,
        ..plain(value, at)
    };
    let next = said.next(last).filter(|_| !said.words[last].ends_part);
    if let Some((unit, particle)) = next.and_then(spoken_unit) {
        number.unit = Some(unit);
        number.particle = particle;
        number.last += 1;
    }
    vec![number]
}

/// A word that is a unit, and what Korean puts to it.
fn spoken_unit(word: &Word<'_>) -> Option<(Unit, String)> {
    let small = word.bare.to_lowercase();
    if let Some(unit) = unit(&small) {
        return Some((unit, String::new()));
    }
    let (unit, after) = leading_unit(&small).filter(|_| small.chars().any(is_hangul))?;
    is_ending(after).then(|| (unit, after.to_owned()))
}

fn is_ending(rest: &str) -> bool {
    rest.is_empty() || is_particle(rest)
}

/// Korean goes on without a gap, in many forms: `3명이랑`, `12피트면`. Not in a word of another meaning: `3일차`.
fn is_particle(rest: &str) -> bool {
    let known = [
        "의",
        "을",
        "를",
        "은",
        "는",
        "이",
        "가",
        "에",
        "에서",
        "으로",
        "로",
        "와",
        "과",
        "랑",
        "이랑",
        "하고",
        "면",
        "이면",
        "까지",
        "부터",
        "만",
        "도",
        "짜리",
        "정도",
        "씩",
        "에다",
        "에다가",
        "야",
        "이야",
        "이지",
        "인지",
        "예요",
        "이에요",
        "입니다",
        "간",
        "동안",
        "이나",
        "치",
        "어치",
        "마다",
        "당",
        "보다",
        "건",
    ];
    known.contains(&rest)
}

/// The number that a word begins with, what follows it, and the currency before it.
fn leading(word: &Word<'_>) -> Option<(f64, String, Option<Unit>)> {
    let small = word.bare.to_lowercase();
    let small = small.strip_prefix('#').unwrap_or(&small);
    let (money, small) = match small.chars().next() {
        Some(sign @ ('$' | '€' | '₩' | '£')) => (
            unit(sign.encode_utf8(&mut [0; 4])),
            &small[sign.len_utf8()..],
        ),
        _ => (None, small),
    };
    let (value, rest) = digits(small)?;
    Some((value, rest.to_owned(), money))
}

/// A number at the beginning of a text. No date, hour, version or phone number.
pub(crate) fn digits(text: &str) -> Option<(f64, &str)> {
    let sign = usize::from(text.starts_with(['-', '+']));
    let body = &text[sign..];
    let end = body
        .find(|c: char| !c.is_ascii_digit() && c != ',' && c != '.')
        .unwrap_or(body.len());
    let number = body[..end].trim_end_matches([',', '.']);
    let rest = &body[number.len()..];
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_grouped = match whole.split_once(',') {
        None => true,
        Some((first, groups)) => {
            (1..=3).contains(&first.len()) && groups.split(',').all(|it| it.len() == 3)
        }
    };
    let is_plain = |it: &str| it.chars().all(|c| c.is_ascii_digit());
    let is_number = !whole.is_empty() && is_grouped && is_plain(fraction);
    let goes_on = rest.starts_with([':', '-', '/', '~', '@', '_', '.', ',']);
    if !is_number || goes_on || whole.len() > 15 {
        return None;
    }
    let value: f64 = text[..sign + number.len()].replace(',', "").parse().ok()?;
    Some((value, rest))
}

fn is_scale(c: char) -> bool {
    SCALES.iter().any(|it| it.0.starts_with(c))
}

/// `35만` and `3천5백만`: what stands before 만 or 억 is added up first. Where a greater one comes later, it is no number.
fn scales(value: f64, rest: &str) -> (f64, String) {
    let (mut sum, mut group) = (0.0, 0.0);
    // What the next may at most come to, in the sum and in the group.
    let (mut below, mut below_in_group) = (f64::INFINITY, f64::INFINITY);
    let (mut next, mut rest) = (Some(value), rest);
    let mut is_one = true;
    while let Some((word, by)) = SCALES.iter().find(|it| rest.starts_with(it.0)) {
        rest = &rest[word.len()..];
        let more = next.unwrap_or_default();
        if *by < GROUP {
            is_one &= next.is_some() && (group == 0.0 || more * by < below_in_group);
            group += more * by;
            below_in_group = *by;
        } else {
            is_one &= (group + more) * by < below;
            sum += (group + more) * by;
            (group, below, below_in_group) = (0.0, *by, f64::INFINITY);
        }
        (next, rest) = match digits(rest) {
            Some((more, after)) => (Some(more), after),
            None => (None, rest),
        };
    }
    let last = next.unwrap_or_default();
    is_one &= last < below_in_group && group + last < below;
    match is_one {
        true => (sum + group + last, rest.to_owned()),
        false => (f64::NAN, rest.to_owned()),
    }
}
