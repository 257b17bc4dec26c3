//! Numbers that are written in words: `twenty five`, `five thousand`, `셋`.

use super::said::Said;

/// Words that are seldom anything else; `one` often is, and `열` is heat as well.
const WORDS: [(&str, u32); 34] = [
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
    ("둘", 2),
    ("셋", 3),
    ("넷", 4),
    ("다섯", 5),
    ("여섯", 6),
    ("일곱", 7),
    ("여덟", 8),
    ("아홉", 9),
];

/// What a Korean number word goes on from: `스물 다섯`. They are no numbers here by themselves.
const TENS: [&str; 12] = [
    "열", "스물", "스무", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔", "백", "천",
];

/// What multiplies the number before it, as a word of its own.
const SCALES: [(&str, f64); 5] = [
    ("hundred", 1e2),
    ("dozen", 12.0),
    ("thousand", 1e3),
    ("million", 1e6),
    ("billion", 1e9),
];

fn small(stem: &str) -> Option<u32> {
    WORDS.iter().find(|it| it.0 == stem).map(|it| it.1)
}

fn is_number(said: &Said<'_>, at: usize) -> bool {
    let word = said.words.get(at);
    word.is_some_and(|it| {
        small(&it.stem).is_some() || it.bare.starts_with(|c: char| c.is_ascii_digit())
    })
}

/// The number in words that begins at a word, and its last word.
pub(super) fn spelled(said: &Said<'_>, at: usize) -> Option<(f64, usize)> {
    let tens = small(&said.words[at].stem)?;
    let units = said.next(at).filter(|_| !said.words[at].ends_part);
    let units = units.and_then(|it| small(&it.stem));
    let both = units.filter(|it| *it < 10 && tens >= 20 && tens % 10 == 0);
    let (value, last) = match both {
        Some(units) => (f64::from(tens + units), at + 1),
        None => (f64::from(tens), at),
    };
    Some(scaled(said, value, at, last))
}

fn is_scale(stem: &str) -> bool {
    SCALES.iter().any(|it| it.0 == stem)
}

/// Whether what stands before a number belongs to it: `hundred and five`, `스물 다섯`.
fn goes_before(said: &Said<'_>, at: usize) -> bool {
    let word = |back: usize| {
        let word = at.checked_sub(back).and_then(|at| said.words.get(at));
        word.filter(|it| !it.ends_part)
            .map_or("", |it| it.stem.as_str())
    };
    let joined = if word(1) == "and" { word(2) } else { word(1) };
    is_scale(joined) || TENS.contains(&word(1))
}

/// Whether what stands behind it does: `two hundred and five`, `two and a half million`.
fn goes_behind(said: &Said<'_>, last: usize, has_scale: bool) -> bool {
    if said.words[last].ends_part || said.next(last).is_none_or(|it| it.stem != "and") {
        return false;
    }
    let is_half = said.words[last + 2..]
        .iter()
        .take(2)
        .any(|it| it.stem == "half");
    is_half || (has_scale && is_number(said, last + 2))
}

/// A number with the scale that follows it as a word. What goes on with another number, `5 thousand 2 hundred`, would have to
/// be added up by rules that are not known here: it is no number.
pub(super) fn scaled(said: &Said<'_>, value: f64, at: usize, last: usize) -> (f64, usize) {
    let ends = |at: usize| said.words[at].ends_part;
    let next = said.next(last).filter(|_| !ends(last));
    let scale = next.and_then(|it| SCALES.iter().find(|known| known.0 == it.stem));
    let (value, last) = scale.map_or((value, last), |it| (value * it.1, last + 1));
    if goes_before(said, at) || goes_behind(said, last, scale.is_some()) {
        return (f64::NAN, last);
    }
    let goes_on = |at: usize| {
        let word = said.words.get(at);
        word.is_some_and(|it| is_scale(&it.stem)) || is_number(said, at)
    };
    match scale.is_some() && !ends(last) && goes_on(last + 1) {
        true => {
            let end = (last + 1..said.words.len()).take_while(|at| goes_on(*at));
            (f64::NAN, end.last().unwrap_or(last))
        }
        false => (value, last),
    }
}
