//! Which of a few values a request names, and what it says yes or no to.

use super::doubt;
use super::said::{Said, Word};
use super::wanted::{Choice, End, Wanted};
use selection::speech::is_common;
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
    words: Range<usize>,
    end: Option<End>,
    /// `not by car`
    is_denied: bool,
    /// It is said what for: `in celsius`, `섭씨로`.
    is_led: bool,
}

impl Mention {
    pub(crate) fn is_not_meant(&self, said: &Said<'_>) -> bool {
        let place = said.place(&self.words);
        self.is_denied || doubt::is_denied(said, &place) || doubt::is_compared(said, &place)
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
            found.push(mention(said, choice, at..at + length));
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
fn length_at(said: &Said<'_>, at: usize, phrase: &str) -> Option<usize> {
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
}

fn is_no(word: &str) -> bool {
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

fn mention(said: &Said<'_>, choice: usize, words: Range<usize>) -> Mention {
    let word = |at: usize| said.words.get(at).map_or("", |it| it.stem.as_str());
    // What stands before a mark says nothing of what follows it.
    let before = |back: usize| {
        let from = words.start.checked_sub(back);
        let from = from.filter(|it| said.words[*it..words.start].iter().all(|it| !it.ends_part));
        from.map_or("", word)
    };
    let last = &said.words[words.end - 1];
    let leads = [
        "in", "as", "to", "by", "with", "via", "using", "use", "only", "into",
    ];
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
        is_led: leads.contains(&before(1))
            || (before(1) == "the" && leads.contains(&before(2)))
            || matches!(last.particle, "로" | "으로" | "만")
            || last.stem.ends_with('순'),
        words,
    }
}

/// The one choice that is surely meant for a parameter.
///
/// What is handed over as a text, from a place of the request on, chooses nothing.
pub(crate) fn chosen(
    said: &Said<'_>,
    wanted: &Wanted<'_>,
    choices: &[Choice],
    text_from: usize,
) -> Option<usize> {
    let mut mentions = mentions(said, choices);
    mentions.retain(|it| said.words[it.words.start].place.start < text_from);
    // Of a direction only what points there: who translates from Korean does not want it.
    if wanted.end.is_some() {
        // But for what stands beside the very name: `use the database source`.
        let is_own = |at: Option<usize>| {
            let word = at.and_then(|at| said.words.get(at));
            word.is_some_and(|it| it.stem == wanted.spoken)
        };
        mentions.retain(|it| {
            let beside = [it.words.start.checked_sub(1), Some(it.words.end)];
            it.end == wanted.end || beside.into_iter().any(is_own)
        });
    }
    let (denied, mut mentions): (Vec<Mention>, Vec<Mention>) =
        mentions.into_iter().partition(|it| it.is_not_meant(said));
    // What is named once and denied once is not certain either way.
    mentions.retain(|it| denied.iter().all(|other| other.choice != it.choice));
    let named = |it: &&Mention| is_beside_name(said, wanted, &it.words);
    let by_name: Vec<&Mention> = mentions.iter().filter(named).collect();
    if let Some(one) = only(&by_name) {
        return Some(one);
    }
    let is_telling = |it: &&Mention| {
        let words = &said.words[it.words.clone()];
        let is_plain =
            words.len() == 1 && (is_common(&words[0].stem) || words[0].stem.chars().count() < 2);
        !is_plain && (wanted.required || it.is_led)
    };
    let telling: Vec<&Mention> = mentions.iter().filter(is_telling).collect();
    only(&telling)
}

fn only(mentions: &[&Mention]) -> Option<usize> {
    let first = mentions.first()?.choice;
    mentions
        .iter()
        .all(|it| it.choice == first)
        .then_some(first)
}

/// `sort by price`, `정렬은 가격순`: the name of the parameter stands beside the choice.
fn is_beside_name(said: &Said<'_>, wanted: &Wanted<'_>, words: &Range<usize>) -> bool {
    let near = words.start.saturating_sub(2)..(words.end + 1).min(said.words.len());
    let beside = near.filter(|at| !words.contains(at));
    let mut beside = beside.map(|at| said.words[at].stem.as_str());
    beside.any(|it| wanted.aliases.iter().any(|alias| alias == it))
}

/// Of two parameters with the same choices, the ones for where something begins and where it ends.
pub(crate) fn ends(said: &Said<'_>, choices: &[Choice]) -> Option<(usize, usize)> {
    let mentions = mentions(said, choices);
    let [first, second] = &mentions[..] else {
        return None;
    };
    if first.is_not_meant(said) || second.is_not_meant(said) || first.choice == second.choice {
        return None;
    }
    match (first.end, second.end) {
        (None | Some(End::From), Some(End::To)) => Some((first.choice, second.choice)),
        (Some(End::To), Some(End::From)) => Some((second.choice, first.choice)),
        _ => None,
    }
}

/// What a request says to a question of yes or no; nothing unless it names it.
pub(crate) fn yes_or_no(said: &Said<'_>, wanted: &Wanted<'_>) -> Option<bool> {
    // Who asks whether it is so does not say that it is to be.
    let first = said.words.first().map_or("", |it| it.stem.as_str());
    if matches!(first, "is" | "are" | "was" | "were") && said.request.trim_end().ends_with('?') {
        return None;
    }
    let words: Vec<&str> = wanted.spoken.split(' ').collect();
    let needs_verb = words
        .first()
        .is_some_and(|it| matches!(*it, "include" | "with" | "show" | "exclude"));
    let is_negative = words
        .first()
        .is_some_and(|it| matches!(*it, "exclude" | "no" | "without"));
    let telling: Vec<&str> = words
        .into_iter()
        .filter(|it| {
            let is_verb = matches!(
                *it,
                "is" | "has"
                    | "should"
                    | "include"
                    | "exclude"
                    | "with"
                    | "without"
                    | "use"
                    | "enable"
                    | "allow"
                    | "show"
                    | "no"
            );
            !is_verb && !is_common(it)
        })
        .collect();
    let phrase = telling.join(" ");
    if phrase.chars().count() < 3 {
        return None;
    }
    let at = (0..said.words.len()).find(|at| length_at(said, *at, &phrase).is_some())?;
    let found = mention(said, 0, at..at + telling.len());
    // `I don't want any archived orders`: what is denied, and how, is not certain.
    let part = said.words[..at].iter().rev();
    let mut part = part.take_while(|it| !it.ends_part).skip(2);
    if !found.is_denied && part.any(|it| is_no(&it.stem)) {
        return None;
    }
    let near = said.words[at.saturating_sub(3)..at]
        .iter()
        .map(|it| it.stem.as_str());
    let after = said.words.get(found.words.end).map_or("", |it| it.bare);
    let is_excluded = near
        .clone()
        .any(|it| matches!(it, "exclude" | "excluding" | "without" | "skip" | "hide"))
        || after.starts_with("제외");
    let is_included = near
        .clone()
        .any(|it| matches!(it, "include" | "including" | "with" | "also"))
        || after.starts_with("포함");
    let says = match (found.is_denied || is_excluded, is_included || !needs_verb) {
        (true, _) => false,
        (false, true) => true,
        (false, false) => return None,
    };
    Some(says != is_negative)
}
