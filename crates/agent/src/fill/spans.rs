//! What numbers that stand side by side are together: one measure, the ends of a stretch, or a list.

use super::numbers::Number;
use super::said::{EITHER, Said};
use super::units::{Measures, Unit, unit};
use std::ops::Range;

/// Numbers that say one thing together: `1 hour 30 minutes` is neither 1 nor 30, and in `5 to 10 minutes` both are minutes.
pub(super) fn join(said: &Said<'_>, found: &mut [Number]) {
    for at in 0..found.len() {
        let from = at.checked_sub(1).map_or(0, |it| found[it].last + 1);
        let between = between(said, from..found[at].at);
        let is_added = |own: Option<Unit>, before: Option<Unit>| {
            let pair = own.zip(before).filter(|(own, before)| own != before);
            pair.is_some_and(|(own, before)| {
                let is_measure = !matches!(
                    own.measures,
                    Measures::Count | Measures::Money | Measures::Share
                );
                is_measure && own.measures == before.measures
            })
        };
        let own = found[at].unit;
        // `an hour and 30 minutes`; but 시간 is time as well, of which no count says how much.
        let word = match between[..] {
            [.., count, word, "and"] | [.., count, word] if is_count(count) => unit(word),
            _ => None,
        };
        if is_added(own, word) {
            found[at].value = f64::NAN;
        }
        let Some(before) = at.checked_sub(1).map(|it| found[it].clone()) else {
            continue;
        };
        let lead = said.previous(before.at).map_or("", |it| it.stem.as_str());
        let is_range = match between[..] {
            ["to" | "until" | "~" | "-"] => true,
            [one] if EITHER.contains(&one) => true,
            ["and"] => lead == "between",
            // `350에서 20%` is no range.
            [] => {
                own.is_some_and(|it| it.measures == Measures::Time)
                    && matches!(before.particle.as_str(), "에서" | "부터" | "이나")
            }
            _ => false,
        };
        if matches!(between[..], [] | ["and"]) && is_added(own, before.unit) {
            found[at].value = f64::NAN;
            found[at - 1].value = f64::NAN;
        } else if is_range {
            found[at - 1].unit = before.unit.or(own);
            (found[at - 1].is_one_of_two, found[at].is_one_of_two) = (true, true);
        }
    }
}

/// Whether a word says how many there are of the next one.
fn is_count(stem: &str) -> bool {
    let counts = [
        "an", "a", "one", "half", "few", "several", "of", "한", "두", "세", "네", "몇", "반",
    ];
    counts.contains(&stem)
}

/// The words of a stretch; none where one word gave both its ends, as `300x200` does.
fn between<'s>(said: &'s Said<'_>, stretch: Range<usize>) -> Vec<&'s str> {
    let words = said.words.get(stretch).unwrap_or_default();
    words.iter().map(|it| it.stem.as_str()).collect()
}

/// Whether numbers are nothing but a list: `3, 4 and 8`, and not `1 to 10` or `3, 4 to two decimals`.
pub(crate) fn is_list(said: &Said<'_>, numbers: &[Number]) -> bool {
    let follows = |pair: &[Number]| {
        let between = between(said, pair[0].last + 1..pair[1].at);
        let is_joined = matches!(between[..], [] | ["and" | "plus" | "그리고"]);
        is_joined && !matches!(pair[0].particle.as_str(), "에서" | "부터" | "으로" | "로")
    };
    numbers.len() > 1
        && numbers.iter().all(|it| it.unit.is_none())
        && numbers.windows(2).all(follows)
}
