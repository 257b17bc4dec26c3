//! Numbers that are written in words: `twenty five`, `five thousand`, `셋`.

use super::said::Said;

/// Words that are seldom anything else; `one` often is, and `열` is heat as well.
const WORDS: [(&str, u32); 23] = [
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
    ("fifteen", 15),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("ninety", 90),
    ("둘", 2),
    ("셋", 3),
    ("넷", 4),
    ("다섯", 5),
    ("여섯", 6),
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
    match both {
        Some(units) => Some(scaled(said, f64::from(tens + units), at + 1)),
        None => Some(scaled(said, f64::from(tens), at)),
    }
}

/// A number with the scale that follows it as a word. What goes on with another number, `5 thousand 2 hundred`, would have to
/// be added up by rules that are not known here: it is no number.
pub(super) fn scaled(said: &Said<'_>, value: f64, last: usize) -> (f64, usize) {
    let ends = |at: usize| said.words[at].ends_part;
    let next = said.next(last).filter(|_| !ends(last));
    let scale = next.and_then(|it| SCALES.iter().find(|known| known.0 == it.stem));
    let (value, last) = scale.map_or((value, last), |it| (value * it.1, last + 1));
    let goes_on = |at: usize| {
        let word = said.words.get(at);
        let has_scale = word.is_some_and(|it| SCALES.iter().any(|known| known.0 == it.stem));
        has_scale || is_number(said, at)
    };
    match scale.is_some() && !ends(last) && goes_on(last + 1) {
        true => {
            let end = (last + 1..said.words.len()).take_while(|at| goes_on(*at));
            (f64::NAN, end.last().unwrap_or(last))
        }
        false => (value, last),
    }
}
