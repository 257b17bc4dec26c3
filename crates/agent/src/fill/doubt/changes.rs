//! Numbers that say by how much something changes, and not what it becomes.

use crate::fill::numbers::Number;
use crate::fill::said::{Said, Word};
use crate::fill::units::Measures;
use crate::fill::wanted::Wanted;

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

/// What these are of, where they are no verbs: `lower limit 10`.
const BOUNDS: [&str; 6] = ["limit", "bound", "end", "threshold", "case", "floor"];

/// The same of Korean, as the next word begins.
const CHANGING_KOREAN: [&str; 20] = [
    "올려",
    "올리",
    "높여",
    "높이고",
    "높이자",
    "늘려",
    "늘리",
    "줄여",
    "줄이",
    "낮춰",
    "낮추",
    "키워",
    "내려",
    "내리",
    "깎",
    "덜",
    "더해",
    "더하",
    "빼",
    "추가",
];

/// With these the number after `by` is one to calculate with.
const CALCULATING: [&str; 6] = [
    "multiply",
    "multiplied",
    "times",
    "divide",
    "divided",
    "split",
];

/// Verbs that put a number to what is there, or take it away: `add 10 to the volume`.
const ADDING: [&str; 8] = [
    "add", "subtract", "take", "deduct", "remove", "knock", "shave", "put",
];

/// Verbs of which `up` and `down` are a part, and change nothing: `back up 5 files`.
const PHRASAL: [&str; 16] = [
    "back", "set", "look", "sign", "pick", "wake", "shut", "break", "write", "clean", "come",
    "open", "end", "split", "call", "follow",
];

/// Whether a number says by how much: `by 10`, `volume down 10`, `볼륨 10 올려줘`; not `raise it to 10`, `10으로 올려줘`.
pub(super) fn is_change(
    said: &Said<'_>,
    wanted: &Wanted<'_>,
    number: &Number,
    all: &[Number],
) -> bool {
    let around = Around::new(said, number);
    let is_any = around.is_by()
        || around.is_moved()
        || around.is_put_to(said, wanted, number)
        || around.is_verb_for()
        || is_korean(said, number);
    let is_share = number.unit.is_some_and(|it| it.measures == Measures::Share);
    // `reduce 350 by 20%` says all that there is to calculate.
    is_any && !(is_share && all.iter().any(|it| is_base(said, it)))
}

/// The words of the number's own part.
struct Around<'s> {
    /// The nearest first.
    before: Vec<&'s str>,
    after: &'s str,
}

impl<'s> Around<'s> {
    fn new(said: &'s Said<'_>, number: &Number) -> Self {
        let before = said.before(said.words[number.at].place.start);
        let before = before.take_while(|it| !it.ends_part);
        let after = said.next(number.last).filter(|_| !ends(said, number));
        Around {
            before: before.map(|it| it.stem.as_str()).collect(),
            after: after.map_or("", |it| it.stem.as_str()),
        }
    }

    fn back(&self, by: usize) -> &str {
        self.before.get(by).copied().unwrap_or_default()
    }

    fn has(&self, words: &[&str]) -> bool {
        self.before.iter().any(|it| words.contains(it))
    }

    /// `by 10`; but who multiplies by 10 changes nothing.
    fn is_by(&self) -> bool {
        self.back(0) == "by" && !self.has(&CALCULATING)
    }

    /// `volume up 10`, `10 down`
    fn is_moved(&self) -> bool {
        let is_way = |it: &str| matches!(it, "up" | "down");
        (is_way(self.back(0)) || is_way(self.after)) && !self.has(&PHRASAL)
    }

    /// `add 10 to the volume`, `take 10 off it`
    fn is_put_to(&self, said: &Said<'_>, wanted: &Wanted<'_>, number: &Number) -> bool {
        let is_put = self.has(&ADDING) && matches!(self.after, "to" | "from" | "off" | "on");
        let rest = said.words.get(number.last + 2..).unwrap_or_default();
        let mut rest = rest.iter().map(|it| it.stem.as_str());
        let target = rest.find(|it| !matches!(*it, "the" | "my" | "its" | "this" | "current"));
        // Time is added to what there is, and money may be all that somebody gets.
        let is_more = number
            .unit
            .is_some_and(|it| !matches!(it.measures, Measures::Money | Measures::Count));
        is_put
            && target.is_some_and(|it| {
                is_more || matches!(it, "it" | "that") || wanted.aliases.iter().any(|own| own == it)
            })
    }

    fn is_verb_for(&self) -> bool {
        if matches!(self.back(0), "to" | "at" | "in" | "for") {
            return false;
        }
        // What stands right behind the verb is changed itself: `reduce 350 by 20%`.
        (1..self.before.len()).any(|at| {
            let next = |ahead: usize| at.checked_sub(ahead).map_or("", |it| self.back(it));
            // `raise an invoice of 500`
            let is_made = matches!(next(1), "a" | "an") && self.back(0) == "of";
            CHANGING.contains(&self.back(at)) && !BOUNDS.contains(&next(1)) && !is_made
        })
    }
}

fn is_korean(said: &Said<'_>, number: &Number) -> bool {
    let is_told = matches!(
        number.particle.as_str(),
        "으로" | "로" | "까지" | "에" | "에서"
    );
    let next = said.next(number.last).filter(|_| !ends(said, number));
    // `사과 3개 추가해줘` says how many.
    let counts = number.unit.is_some_and(|it| it.measures == Measures::Count);
    let changes = |next: &Word<'_>| {
        let mut verbs = CHANGING_KOREAN.iter();
        let verb = verbs.find(|it| next.bare.starts_with(**it));
        next.bare == "더" || verb.is_some_and(|it| *it != "추가" || !counts)
    };
    !is_told && next.is_some_and(changes)
}

/// What a percentage may be of: `reduce 350`, `20% off 350`, `80달러에`; and not `lamp 3`.
fn is_base(said: &Said<'_>, number: &Number) -> bool {
    let measures = number.unit.map(|it| it.measures);
    let lead = said.previous(number.at).map_or("", |it| it.stem.as_str());
    let is_led = matches!(
        lead,
        "of" | "from" | "to" | "off" | "on" | "price" | "amount"
    );
    let is_plain = is_led
        || CHANGING.contains(&lead)
        || matches!(number.particle.as_str(), "에서" | "에" | "의" | "을" | "를");
    measures == Some(Measures::Money) || (measures.is_none() && is_plain)
}

fn ends(said: &Said<'_>, number: &Number) -> bool {
    said.words[number.last].ends_part
}
