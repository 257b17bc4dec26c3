//! What a request names and does not mean as it stands: what is denied or left out, and numbers that only bound a value, come
//! near it, or say by how much it changes. Such a value would be a wrong one, and taken as sure.

mod changes;
mod denials;
mod hedges;
mod korean;
mod sentences;

pub(crate) use hedges::is_hedged;

use super::said::Said;
use sentences::{Sentence, is_article};
use std::ops::Range;

/// What a comparison may be with that is no other of the same: `colder than usual`.
const USUAL: [&str; 16] = [
    "usual",
    "normal",
    "average",
    "expected",
    "ever",
    "before",
    "yesterday",
    "today",
    "tomorrow",
    "now",
    "it",
    "that",
    "this",
    "they",
    "we",
    "i",
];

/// Whether what stands at a place is not meant: `not 5`, `everyone but hong`, `내일 말고`, `4와 5를 곱하지 마`.
pub(crate) fn is_denied(said: &Said<'_>, place: &Range<usize>) -> bool {
    let sentence = Sentence::around(said, place);
    denials::is_denied_before(&sentence)
        || denials::is_denied_behind(&sentence)
        || korean::is_left_out(&sentence)
        || korean::is_forbidden(said, place)
}

/// Whether it is left out of something: `everyone but the boss`, `내일 말고`.
pub(crate) fn is_left_out(said: &Said<'_>, place: &Range<usize>) -> bool {
    let sentence = Sentence::around(said, place);
    denials::is_exception(&sentence) || korean::is_left_out(&sentence)
}

/// Whether the number of something stands in a list of several: `orders 7 and 8`; not in `order 7, 8 dollars`.
pub(crate) fn is_listed(said: &Said<'_>, place: &Range<usize>) -> bool {
    Sentence::around(said, place).is_listed()
}

/// Whether one of two is asked about, and which of them is not said: `is Seoul colder than Busan?`
pub(crate) fn is_compared(said: &Said<'_>, place: &Range<usize>) -> bool {
    let sentence = Sentence::around(said, place);
    (1..sentence.len()).any(|at| {
        let is_than =
            sentence.stem(at) == "than" && !matches!(sentence.stem(at - 1), "rather" | "other");
        let mut behind = at + 1..sentence.len();
        let other = behind.find(|it| !is_article(sentence.stem(*it)));
        let other = other.map_or("", |it| sentence.stem(it));
        is_than
            && !USUAL.contains(&other)
            && !other.starts_with(|c: char| c.is_ascii_digit() || "#$€₩£".contains(c))
    })
}

/// Whether a word only denies or bounds what stands beside it: it names nothing itself.
pub(crate) fn is_telling(stem: &str) -> bool {
    denials::is_word(stem) || hedges::is_word(stem) || korean::is_word(stem)
}

/// Whether a request begins or ends with that something is not to be done: what it hands over is not meant either.
pub(crate) fn is_forbidding(said: &Said<'_>) -> bool {
    let words = said.words.iter().take(6);
    let words: Vec<String> = words.map(|it| it.stem.replace('’', "'")).collect();
    denials::is_order_not_to(&words) || korean::is_any_forbidden(said)
}

/// Whether a time is only near what is said: `around 7pm`, `7시쯤`, `19시 이후`.
pub(crate) fn is_near(said: &Said<'_>, words: &Range<usize>) -> bool {
    let stem = |at: usize| said.words.get(at).map_or("", |it| it.stem.as_str());
    let lead = words.start.checked_sub(1).map_or("", stem);
    let own = said.words[words.end - 1].bare;
    let next = said.words.get(words.end).map_or("", |it| it.bare);
    matches!(
        lead,
        "about" | "around" | "approximately" | "roughly" | "near"
    ) || ["쯤", "쯤에", "경", "경에"]
        .iter()
        .any(|it| own.ends_with(it))
        || ["쯤", "정도", "이후", "이전", "넘어"]
            .iter()
            .any(|it| next.starts_with(it))
        || matches!(next, "전" | "전에" | "후" | "후에" | "경" | "경에")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_meant_is_told_from_what_is() {
        for (request, value, expected) in [
            ("do not multiply 4 by 5", "5", true),
            ("everyone but hong", "hong", true),
            ("everyone except the one of hong", "hong", true),
            ("50 instead of 60", "60", true),
            ("50 instead of 60", "50", false),
            ("not lee, but kim", "kim", false),
            ("in seoul, but in celsius", "celsius", false),
            ("don't forget to pay kim", "kim", false),
            ("4와 5를 곱하지 마", "4와", true),
            ("4와 5를 곱하지 말아줘", "5를", true),
            ("서울 말고 부산", "서울", true),
            ("서울 말고 부산", "부산", false),
            ("회의 잊지 말고 잡아줘", "회의", false),
        ] {
            let at = request.rfind(value).unwrap();
            let place = at..at + value.len();
            assert_eq!(
                is_denied(&Said::new(request), &place),
                expected,
                "{request}"
            );
        }
    }
}
