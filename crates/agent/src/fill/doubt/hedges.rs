//! Numbers that only bound a value, or come near it.

use super::changes::is_change;
use crate::fill::numbers::Number;
use crate::fill::said::Said;
use crate::fill::units::Measures;
use crate::fill::wanted::{End, Wanted};

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
const HEDGED: [&str; 17] = [
    "more", "less", "fewer", "extra", "higher", "lower", "longer", "shorter", "louder", "quieter",
    "brighter", "darker", "ago", "later", "earlier", "plus", "minus",
];

/// The same of Korean, as the next word begins or the number's own ends.
const HEDGED_KOREAN: [&str; 11] = [
    "이상", "이하", "이내", "미만", "초과", "정도", "쯤", "가량", "내외", "보다", "만큼",
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

/// Whether a word only comes near something or bounds it: it names nothing itself.
pub(super) fn is_word(stem: &str) -> bool {
    HEDGING.contains(&stem) || HEDGED_KOREAN.contains(&stem)
}

/// Whether a number is no value of a parameter as it stands, whatever names it. `all` are those of the request.
pub(crate) fn is_hedged(
    said: &Said<'_>,
    wanted: &Wanted<'_>,
    number: &Number,
    all: &[Number],
) -> bool {
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
    let small = after.to_lowercase();
    let second = said
        .words
        .get(number.last + 2)
        .map_or("", |it| it.stem.as_str());
    let is_upper = (before(2), before(1)) == ("at", "most")
        || (before(2), before(1)) == ("up", "to")
        || (before(3), before(2), before(1)) == ("no", "more", "than")
        || (small == "at" && second == "most")
        || after.starts_with("이하")
        || after.starts_with("이내");
    let is_lower = (before(2), before(1)) == ("at", "least") || after.starts_with("이상");
    let is_limit = wanted.counts_results() || has(&["max"]);
    if (is_upper && is_limit) || (is_lower && has(&["min"])) {
        return false;
    }
    let measures = number.unit.map(|it| it.measures);
    // `over 3 years` is how long.
    let lasts = before(1) == "over" && measures == Some(Measures::Time);
    let is_part = before(1) == "of" && matches!(before(2), "half" | "third" | "quarter" | "most");
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
        || (!has(&CHANGES) && is_change(said, wanted, number, all))
}

fn is_number(said: &Said<'_>, at: usize) -> bool {
    let word = said.words.get(at);
    word.is_some_and(|it| it.bare.starts_with(|c: char| c.is_ascii_digit()))
}
