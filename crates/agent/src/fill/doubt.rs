//! What a request names and does not mean as it stands: what is denied or left out, and numbers that only bound a value, come
//! near it, or say by how much it changes. Such a value would be a wrong one, and taken as sure.

use super::numbers::Number;
use super::said::{Said, Word};
use super::units::Measures;
use super::wanted::{End, Wanted};
use std::ops::Range;

/// What denies all that follows it, up to the next mark.
const DENYING: [&str; 23] = [
    "not",
    "don't",
    "dont",
    "doesn't",
    "didn't",
    "isn't",
    "aren't",
    "won't",
    "can't",
    "cannot",
    "shouldn't",
    "never",
    "without",
    "except",
    "excluding",
    "besides",
    "neither",
    "nor",
    "stop",
    "avoid",
    "outside",
    "rather",
    "than",
];

/// The same of Korean, as the word begins that follows what is left out.
const LEFT_OUT: [&str; 8] = [
    "말고", "빼고", "제외", "아니", "아닌", "이외", "외에", "대신",
];

/// What comes near a number, or only bounds it, as the word before it.
const HEDGING: [&str; 22] = [
    "about",
    "around",
    "approximately",
    "approx",
    "roughly",
    "nearly",
    "almost",
    "above",
    "below",
    "over",
    "under",
    "exceeding",
    "than",
    "least",
    "most",
    "twice",
    "double",
    "triple",
    "half",
    "more",
    "less",
    "extra",
];

/// The same as the word after it.
const HEDGED: [&str; 13] = [
    "more", "less", "fewer", "extra", "higher", "lower", "longer", "shorter", "ago", "later",
    "earlier", "plus", "minus",
];

/// The same of Korean, as the next word begins or the number's own ends.
const HEDGED_KOREAN: [&str; 11] = [
    "이상", "이하", "이내", "미만", "초과", "정도", "쯤", "가량", "내외", "보다", "만큼",
];

/// Verbs with which a number says by how much, unless something leads to it: `raise it to 10`.
const CHANGING: [&str; 10] = [
    "increase",
    "increment",
    "raise",
    "lift",
    "boost",
    "bump",
    "decrease",
    "decrement",
    "reduce",
    "lower",
];

const CHANGING_KOREAN: [&str; 12] = [
    "올려", "올리", "높여", "높이", "늘려", "늘리", "줄여", "줄이", "낮춰", "낮추", "키워", "더",
];

/// Parameters that want to know by how much.
const CHANGES: [&str; 8] = [
    "by",
    "delta",
    "change",
    "step",
    "increment",
    "difference",
    "adjustment",
    "offset",
];

/// Whether what stands at a place is not meant: `not 5`, `everyone but hong`, `내일 말고`, `4와 5를 곱하지 마`.
pub(crate) fn is_denied(said: &Said<'_>, place: &Range<usize>) -> bool {
    let before: Vec<&Word<'_>> = said
        .before(place.start)
        .take_while(|it| !it.ends_part)
        .collect();
    let stem = |at: usize| before.get(at).map_or("", |it| it.stem.as_str());
    let denies = |at: usize| {
        let own = stem(at).replace('’', "'");
        // `instead of 60`; and who is not to forget it means it.
        let is_reminder = at > 0 && matches!(stem(at - 1), "forget" | "hesitate");
        (DENYING.contains(&own.as_str()) && !is_reminder)
            || (own == "instead" && at > 0 && stem(at - 1) == "of")
    };
    is_left_out(said, place)
        || (0..before.len()).any(denies)
        || following(said, place).any(|at| forbids(said, at))
        || is_ruled_out(said, following(said, place))
}

/// `order 4711 must not be cancelled`
fn is_ruled_out(said: &Said<'_>, mut following: Range<usize>) -> bool {
    let stem = |at: usize| said.words.get(at).map_or("", |it| it.stem.as_str());
    let first = following.start;
    let is_apart = first > 0 && said.words[first - 1].ends_part;
    let rules = |at: usize| {
        let may = matches!(stem(at), "must" | "should" | "shall" | "may");
        (may && stem(at + 1) == "not") || matches!(stem(at), "mustn't" | "shouldn't")
    };
    let in_part = |at: &usize| *at == first || !said.words[at - 1].ends_part;
    !is_apart && following.by_ref().take_while(in_part).any(rules)
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

/// `everyone but the boss`, and not `that, but in celsius`; `내일 말고`.
pub(crate) fn is_left_out(said: &Said<'_>, place: &Range<usize>) -> bool {
    let before = said.before(place.start).take_while(|it| !it.ends_part);
    let mut before = before.skip_while(|it| matches!(it.stem.as_str(), "the" | "a" | "an" | "for"));
    let is_but = before.next().is_some_and(|it| it.stem == "but") && before.next().is_some();
    let next = said.words.get(following(said, place).start);
    let next = next.filter(|_| !following(said, place).is_empty());
    is_but
        || said.request[place.clone()].ends_with("말고")
        || next.is_some_and(|next| LEFT_OUT.iter().any(|it| next.bare.starts_with(it)))
}

/// The words behind a place, in its sentence: there Korean denies.
fn following(said: &Said<'_>, place: &Range<usize>) -> Range<usize> {
    let is_behind = |it: &Word<'_>| it.place.start >= place.end;
    let first = said.words.iter().position(is_behind);
    let first = first.unwrap_or(said.words.len());
    let last = first.checked_sub(1).map(|at| &said.words[at]);
    if last.is_some_and(|it| it.ends_sentence && it.place.end >= place.end) {
        return first..first;
    }
    let rest = said.words[first..].iter();
    let end = rest.clone().position(|it| it.ends_sentence);
    first..end.map_or(said.words.len(), |it| first + it + 1)
}

/// `하지 마`, `곱하지 말아줘`, `보내지마`.
fn forbids(said: &Said<'_>, at: usize) -> bool {
    let word = said.words[at].bare;
    let before = said.previous(at).map_or("", |it| it.bare);
    let is_apart = before.ends_with('지')
        && !before.starts_with("잊")
        && ["마", "말", "않"].iter().any(|it| word.starts_with(it));
    let is_banned = word == "안" || word.starts_with("안돼") || word.starts_with("안되");
    let is_joined = ["지마", "지말", "지않"]
        .iter()
        .any(|it| word.contains(it) && !word.starts_with("잊"));
    is_apart || is_joined || is_banned
}

/// Whether a word only denies or bounds what stands beside it: it names nothing itself.
pub(crate) fn is_telling(stem: &str) -> bool {
    let korean = LEFT_OUT.iter().chain(&HEDGED_KOREAN);
    DENYING.contains(&stem) || HEDGING.contains(&stem) || korean.into_iter().any(|it| *it == stem)
}

/// Whether a request begins or ends with that something is not to be done: what it hands over is not meant either.
pub(crate) fn is_forbidding(said: &Said<'_>) -> bool {
    let words = said.words.iter().map(|it| it.stem.replace('’', "'"));
    let words: Vec<String> = words.skip_while(|it| it == "please").take(3).collect();
    let at = |at: usize| words.get(at).map_or("", String::as_str);
    let (no, next) = match (at(0), at(1)) {
        ("do", "not") => (true, at(2)),
        (first, next) => (matches!(first, "don't" | "dont" | "never"), next),
    };
    (no && next != "forget") || (0..said.words.len()).any(|at| forbids(said, at))
}

/// Whether a number is no value of a parameter as it stands, whatever names it.
pub(crate) fn is_hedged(said: &Said<'_>, wanted: &Wanted<'_>, number: &Number) -> bool {
    let has = |all: &[&str]| wanted.spoken.split(' ').any(|own| all.contains(&own));
    let before = |back: usize| {
        let word = number.at.checked_sub(back).map(|at| &said.words[at]);
        word.filter(|it| !it.ends_part)
            .map_or("", |it| it.stem.as_str())
    };
    let after = said
        .next(number.last)
        .filter(|_| !said.words[number.last].ends_part);
    let after = after.map_or("", |it| it.bare);
    let is_upper = (before(2), before(1)) == ("at", "most")
        || (before(2), before(1)) == ("up", "to")
        || after.starts_with("이하")
        || after.starts_with("이내");
    let is_lower = (before(2), before(1)) == ("at", "least") || after.starts_with("이상");
    if (is_upper && has(&["max", "limit", "count", "top"])) || (is_lower && has(&["min"])) {
        return false;
    }
    let measures = number.unit.map(|it| it.measures);
    // `over 3 years` is how long.
    let lasts = before(1) == "over" && measures == Some(Measures::Time);
    let is_part = before(1) == "of" && matches!(before(2), "half" | "third" | "quarter" | "most");
    let small = after.to_lowercase();
    let second = said
        .words
        .get(number.last + 2)
        .map_or("", |it| it.stem.as_str());
    // `50만원에서 수수료를 빼고` begins with it.
    let is_taken_from = number.particle.starts_with("에서") && wanted.end != Some(End::From);
    let is_repeated = before(1) == "every" || number.particle.starts_with("마다");
    is_upper
        || is_taken_from
        || (is_repeated && !has(&["interval", "every", "period", "frequency"]))
        || (small == "at" && matches!(second, "least" | "most"))
        || is_part
        || (HEDGING.contains(&before(1)) && !lasts)
        || HEDGED.contains(&small.as_str())
        || (small == "or" && !is_number(said, number.last + 2))
        || HEDGED_KOREAN
            .iter()
            .any(|it| after.starts_with(it) || number.particle.starts_with(it))
        || (measures != Some(Measures::Share) && !has(&CHANGES) && is_change(said, number))
}

fn is_number(said: &Said<'_>, at: usize) -> bool {
    let word = said.words.get(at);
    word.is_some_and(|it| it.bare.starts_with(|c: char| c.is_ascii_digit()))
}

/// `increase the volume by 10`, `볼륨 10 올려줘`; not `raise it to 10`, `10으로 올려줘`.
fn is_change(said: &Said<'_>, number: &Number) -> bool {
    let place = said.words[number.at].place.start;
    let mut before = said.before(place);
    let lead = before.next().map_or("", |it| it.stem.as_str());
    if matches!(lead, "to" | "at" | "in" | "for") {
        return false;
    }
    // `turn it up by 10`; and `back up` changes nothing.
    let changes = |it: &Word<'_>| {
        let own = it.stem.as_str();
        CHANGING.contains(&own) || (lead == "by" && matches!(own, "up" | "down"))
    };
    let is_told = matches!(
        number.particle.as_str(),
        "으로" | "로" | "까지" | "에" | "에서"
    );
    let next = said
        .next(number.last)
        .filter(|_| !said.words[number.last].ends_sentence);
    let grows = |it: &&str| next.is_some_and(|next| next.bare.starts_with(*it));
    before.any(changes) || (!is_told && CHANGING_KOREAN.iter().any(grows))
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
