//! Which of a few values a request speaks of, and how.

use super::doubt;
use super::said::{BOTH, EITHER, Said, Word};
use super::wanted::{Choice, End};
use std::ops::Range;

/// Words for the same thing: who offers one of them means all.
const SAME: [&str; 17] = [
    "en english 영어",
    "ko korean 한국어 한글",
    "ja japanese 일본어 일어",
    "zh chinese 중국어",
    "de german 독일어",
    "fr french 프랑스어 불어",
    "es spanish 스페인어",
    "vi vietnamese 베트남어",
    "krw won 원 원화",
    "usd dollar dollars 달러",
    "eur euro euros 유로",
    "jpy yen 엔 엔화",
    "cny yuan 위안 위안화",
    "celsius centigrade 섭씨",
    "fahrenheit 화씨",
    "python 파이썬",
    "shell bash 셸 쉘",
];

/// Currencies that are dollars as well: among them, `dollars` says too little.
const DOLLARS: [&str; 5] = ["cad", "aud", "hkd", "sgd", "nzd"];

/// A choice that a request names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mention {
    pub(crate) choice: usize,
    pub(super) words: Range<usize>,
    pub(super) end: Option<End>,
    /// `not by car`
    pub(super) is_denied: bool,
    /// It is said what for: `in celsius`, `섭씨로`.
    pub(super) is_led: bool,
    /// Korean says of it that it is one of several: `섭씨나`.
    is_offered: bool,
}

impl Mention {
    pub(crate) fn is_not_meant(&self, said: &Said<'_>) -> bool {
        let place = said.place(&self.words);
        self.is_denied || doubt::is_denied(said, &place) || doubt::is_compared(said, &place)
    }

    /// Whether it and the next one are both meant: `the blue and the red room`, `파란 방과 빨간 방`.
    pub(super) fn joins(&self, next: &Mention, said: &Said<'_>) -> bool {
        let between = said.words.get(self.words.end..next.words.start);
        let Some(between) = between.filter(|it| it.len() <= 3) else {
            return false;
        };
        let last = &said.words[self.words.end - 1];
        let stems = || between.iter().map(|it| it.stem.as_str());
        let is_and = |it: &str| BOTH.contains(&it);
        let ends_with = |all: &[&str]| {
            let ends = |word: &str| all.contains(&word);
            ends(last.particle) || between.iter().any(|it| ends(it.particle))
        };
        !last.ends_sentence
            && (stems().any(is_and) || ends_with(&["와", "과", "랑", "이랑", "하고"]))
    }

    /// Whether it is one of two, of which it is not said which: `by train or car`, `달러나 유로로`.
    pub(super) fn is_alternative(&self, said: &Said<'_>) -> bool {
        let is_or = |at: usize| {
            let stem = said.words.get(at).map_or("", |it| it.stem.as_str());
            EITHER.contains(&stem)
        };
        let is_not = |at: usize| said.words.get(at).is_some_and(|it| it.stem == "not");
        let last = &said.words[self.words.end - 1];
        let start = self.words.start;
        let is_second = start > 0 && is_or(start - 1);
        // `in celsius or in fahrenheit`
        let is_led_second = start > 1 && is_or(start - 2) && is_lead(&said.words[start - 1].stem);
        let is_first = is_or(self.words.end) && !last.ends_sentence && !is_not(self.words.end + 1);
        is_first || is_second || is_led_second || self.is_offered
    }
}

/// The choices that a request names, in its order.
pub(crate) fn mentions(said: &Said<'_>, choices: &[Choice]) -> Vec<Mention> {
    let has_dollars = choices
        .iter()
        .any(|it| it.words.iter().any(|it| DOLLARS.contains(&it.as_str())));
    let known: Vec<Vec<String>> = choices
        .iter()
        .map(|it| words_for(it, has_dollars))
        .collect();
    let mut found: Vec<Mention> = Vec::new();
    let mut at = 0;
    while at < said.words.len() {
        let mut best: Option<(usize, usize)> = None;
        for (choice, phrases) in known.iter().enumerate() {
            let longest = phrases
                .iter()
                .filter_map(|it| length_at(said, at, it))
                .max();
            if let Some(length) = longest
                && best.is_none_or(|it| it.1 < length)
            {
                best = Some((choice, length));
            }
        }
        if let Some((choice, length)) = best {
            let last = &said.words[at + length - 1];
            found.push(Mention {
                is_offered: offered(last).is_some_and(|it| {
                    known[choice].iter().any(|own| own.ends_with(&it))
                        && !known[choice].contains(&last.stem)
                }),
                ..mention(said, choice, at..at + length)
            });
            at += length;
        } else {
            at += 1;
        }
    }
    found
}

fn words_for(choice: &Choice, has_dollars: bool) -> Vec<String> {
    let mut words = choice.words.clone();
    for group in SAME {
        let mut same = group.split(' ');
        if same.any(|it| choice.words.iter().any(|own| own == it)) {
            let more = group.split(' ');
            let more =
                more.filter(|it| !(has_dollars && matches!(*it, "dollar" | "dollars" | "달러")));
            words.extend(more.map(str::to_owned));
        }
    }
    words
}

/// How many words a phrase takes where it stands at a place.
pub(super) fn length_at(said: &Said<'_>, at: usize, phrase: &str) -> Option<usize> {
    let parts: Vec<&str> = phrase.split(' ').collect();
    let words = said.words.get(at..at + parts.len())?;
    let is_there = words
        .iter()
        .zip(&parts)
        .all(|(word, part)| is_word(word, part));
    is_there.then_some(parts.len())
}

/// `100달러를` names the dollar, and so does `$100`.
fn is_word(word: &Word<'_>, part: &str) -> bool {
    let small = word.bare.to_lowercase();
    let unnumbered = word.stem.trim_start_matches(|c: char| {
        c.is_ascii_digit() || matches!(c, ',' | '.' | '천' | '만' | '억')
    });
    let is_joined = word.stem.replace(['-', '_'], " ") == part;
    word.stem == part
        || small == part
        || is_joined
        || (unnumbered != word.stem && unnumbered == part)
        || offered(word).is_some_and(|it| it == part)
}

/// `섭씨나`, `달러이나`: the word without the ending that offers another.
fn offered(word: &Word<'_>) -> Option<String> {
    let body = word
        .bare
        .strip_suffix("이나")
        .or(word.bare.strip_suffix('나'))?;
    (body.chars().count() > 1).then(|| body.to_lowercase())
}

pub(super) fn is_no(word: &str) -> bool {
    matches!(
        word,
        "not"
            | "no"
            | "without"
            | "except"
            | "never"
            | "don't"
            | "isn't"
            | "than"
            | "neither"
            | "nor"
    )
}

/// What says of a choice what for: `in celsius`.
fn is_lead(word: &str) -> bool {
    matches!(
        word,
        "in" | "as" | "to" | "by" | "with" | "via" | "using" | "use" | "only" | "into"
    )
}

pub(super) fn mention(said: &Said<'_>, choice: usize, words: Range<usize>) -> Mention {
    let word = |at: usize| said.words.get(at).map_or("", |it| it.stem.as_str());
    // What stands before a mark says nothing of what follows it.
    let before = |back: usize| {
        let from = words.start.checked_sub(back);
        let from = from.filter(|it| said.words[*it..words.start].iter().all(|it| !it.ends_part));
        from.map_or("", word)
    };
    let last = &said.words[words.end - 1];
    let end = match (before(1), last.particle) {
        ("to" | "into" | "in", _) | (_, "로" | "으로") => Some(End::To),
        ("from", _) | (_, "에서" | "을" | "를") => Some(End::From),
        _ => None,
    };
    Mention {
        choice,
        end,
        is_denied: is_no(before(1))
            || is_no(before(2))
            || doubt::is_left_out(said, &said.place(&words)),
        is_led: is_lead(before(1))
            || (before(1) == "the" && is_lead(before(2)))
            || matches!(last.particle, "로" | "으로" | "만")
            || last.stem.ends_with('순'),
        is_offered: false,
        words,
    }
}
