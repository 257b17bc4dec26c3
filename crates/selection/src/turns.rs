//! How a request is worded, whatever it is about: its words, which follows which and which the next but one, and of what
//! pieces Korean is made, whatever its spaces. `the usual one` and `부탁드려요` say of what kind a request is where its meaning
//! does not. So do the sorts of things that it gives, whatever they are: a day, an hour, a text in quotes.

use crate::request::core;
use crate::values::Given;
use crate::words::{is_hangul, key};

/// Turns of phrase share a slot where their hashes do: the more there are, the fewer do. A power of two.
pub(crate) const SLOTS: usize = 1 << 15;

/// The shortest and the longest pieces of Korean, in letters.
const PIECE: std::ops::RangeInclusive<usize> = 2..=4;

/// The slots of one text, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turns(Vec<u16>);

impl Turns {
    #[must_use]
    pub fn new(request: &str) -> Self {
        let small = core(request).to_lowercase();
        let words = tokens(&small).into_iter();
        let words = words.map(|it| if is_digit(it) { "0" } else { it });
        let words: Vec<&str> = words.collect();
        let mut slots = Vec::new();
        let (mut before, mut last) = (None, "^");
        for word in words.iter().copied().chain(["$"]) {
            slots.push(slot(&[last, " ", word]));
            if word != "$" {
                slots.push(slot(&["", word]));
            }
            if let Some(before) = before.replace(last) {
                slots.push(slot(&[before, " . ", word]));
            }
            last = word;
        }
        pieces(&words.join(" "), &mut slots);
        given(request, &mut slots);
        slots.sort_unstable();
        slots.dedup();
        Turns(slots)
    }

    #[must_use]
    pub fn slots(&self) -> &[u16] {
        &self.0
    }

    /// What each of them counts, so that a long text counts no more than a short one.
    pub(crate) fn each(&self) -> f32 {
        1.0 / f32::from(u16::try_from(self.0.len().max(1)).unwrap_or(u16::MAX)).sqrt()
    }
}

/// What a request gives, by its sorts, and which follows which.
fn given(request: &str, slots: &mut Vec<u16>) {
    let mut last = "";
    for value in Given::new(request).values {
        let sort = value.sort.name();
        slots.push(slot(&["<", sort]));
        slots.push(slot(&["<", last, " ", sort]));
        last = sort;
    }
    slots.push(slot(&["<", last, " $"]));
}

/// What Korean words are made of, also across the spaces between them, which people leave out as they like.
fn pieces(text: &str, slots: &mut Vec<u16>) {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let ends = |count: usize| starts.iter().skip(count).copied().chain([text.len()]);
    for count in PIECE {
        for (start, end) in starts.iter().zip(ends(count)) {
            let piece = &text[*start..end];
            if piece.contains(is_hangul) {
                slots.push(slot(&["~", piece]));
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Gap,
    Digit,
    Hangul,
    Letter,
    Mark,
}

fn class(c: char) -> Class {
    match c {
        '?' | '!' | '#' | '@' | ':' | '/' | '.' => Class::Mark,
        '\'' | '’' => Class::Letter,
        _ if is_hangul(c) => Class::Hangul,
        _ if c.is_numeric() => Class::Digit,
        _ if c.is_alphabetic() => Class::Letter,
        _ => Class::Gap,
    }
}

fn is_digit(token: &str) -> bool {
    token.starts_with(char::is_numeric)
}

/// Words, numbers and marks; each mark by itself.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut last = Class::Gap;
    for (at, c) in text.char_indices() {
        let this = class(c);
        if this != last || this == Class::Mark {
            if last != Class::Gap {
                found.push(&text[start..at]);
            }
            (start, last) = (at, this);
        }
    }
    if last != Class::Gap {
        found.push(&text[start..]);
    }
    found
}

fn slot(pieces: &[&str]) -> u16 {
    (key(pieces.concat().as_bytes()) as usize % SLOTS) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_falls_into_words_numbers_and_marks() {
        assert_eq!(
            tokens("what's 12.5%, 그거요?!"),
            ["what's", "12", ".", "5", "그거요", "?", "!"]
        );
        assert_eq!(tokens(" , "), [] as [&str; 0]);
    }

    #[test]
    fn what_is_worded_alike_has_the_same_turns() {
        let turns = Turns::new("Send the 3 files!");
        assert_eq!(turns, Turns::new("send the  4711 files!"));
        assert_ne!(turns, Turns::new("files, send the 3!"));
        let shared = |a: &str, b: &str| {
            let b = Turns::new(b);
            let a = Turns::new(a).0;
            a.iter().filter(|it| b.0.contains(it)).count()
        };
        assert!(shared("at 3pm on Friday", "tomorrow 10:30") > 1);
        assert!(shared("예약해주세요", "취소해주세요") > shared("예약해주세요", "예매했지"));
        let of = |text: &str| {
            let mut slots = Vec::new();
            pieces(text, &mut slots);
            slots
        };
        let expected = ["차 ", " 한", "한잔", "차 한", " 한잔", "차 한잔"];
        assert_eq!(of("차 한잔"), expected.map(|it| slot(&["~", it])));
        assert!(of("a cup of tea").is_empty() && of("").is_empty());
    }

    #[test]
    fn many_turns_count_as_much_as_few() {
        let long = "one two three four five six seven eight";
        for text in ["", "word", long] {
            let turns = Turns::new(text);
            let count = turns.slots().len() as f32;
            assert!((turns.each().powi(2) * count - 1.0).abs() < 1e-3, "{text}");
        }
    }
}
