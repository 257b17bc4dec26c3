//! The signs of arithmetic as words: of `12 + 7` and `12 × 7` nothing else tells which is meant.

use std::borrow::Cow;

/// What a sign is called.
fn name(c: char) -> Option<&'static str> {
    Some(match c {
        '+' => "plus",
        '-' | '−' => "minus",
        '*' | '×' => "times",
        '/' | '÷' => "divided",
        '^' => "power",
        '%' => "percent",
        _ => return None,
    })
}

/// A text with its signs of arithmetic in words: those that stand with numbers, or with other signs.
pub(crate) fn spelled(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| name(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let chars: Vec<char> = text.chars().collect();
    let mut spelled = String::with_capacity(text.len() + 16);
    for (at, c) in chars.iter().enumerate() {
        match name(*c).filter(|_| is_sign(&chars, at)) {
            Some(name) => {
                spelled.push(' ');
                spelled.push_str(name);
                spelled.push(' ');
            }
            None => spelled.push(*c),
        }
    }
    Cow::Owned(spelled)
}

/// A text with room around its signs of arithmetic, as in `2 + 2`: an encoder reads `2+2` as one odd word.
pub(crate) fn spaced(text: &str) -> Cow<'_, str> {
    let chars: Vec<char> = text.chars().collect();
    let is_tight = |at: usize| {
        let c = chars[at];
        let beside = |at: Option<usize>| {
            at.and_then(|at| chars.get(at))
                .is_some_and(|c| c.is_numeric())
        };
        c != '%'
            && name(c).is_some()
            && is_sign(&chars, at)
            && beside(at.checked_sub(1))
            && beside(Some(at + 1))
    };
    if !(0..chars.len()).any(is_tight) {
        return Cow::Borrowed(text);
    }
    let mut spaced = String::with_capacity(text.len() + 16);
    for (at, c) in chars.iter().enumerate() {
        match is_tight(at) {
            true => spaced.extend([' ', *c, ' ']),
            false => spaced.push(*c),
        }
    }
    Cow::Owned(spaced)
}

/// Whether a text works out more than one step: `3+4*2`.
pub(crate) fn is_formula(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let is_step = |at: &usize| {
        let c = chars[*at];
        c != '%' && name(c).is_some() && is_sign(&chars, *at)
    };
    (0..chars.len()).filter(is_step).count() > 1
}

fn is_sign(chars: &[char], at: usize) -> bool {
    let fits = |c: &char| c.is_numeric() || matches!(c, '(' | ')') || name(*c).is_some();
    let is_said = |c: &&char| !c.is_whitespace();
    let before = chars[..at].iter().rev().find(is_said).is_some_and(fits);
    let after = chars[at + 1..].iter().find(is_said).is_some_and(fits);
    let beside = |c: Option<&char>| c.is_none_or(|it| it.is_whitespace());
    let (left, right) = (chars[..at].last(), chars.get(at + 1));
    let is_alone = beside(left) && beside(right);
    // `C++`, `**bold**`, `--force` and `//` are no sums.
    let is_doubled = left == Some(&chars[at]) || right == Some(&chars[at]);
    let is_one = match chars[at] {
        '%' => before,
        // `2026-11-17`, `A-7` and `and/or` are none, either.
        '-' | '/' => is_alone && before && after,
        _ => (before && after) || (is_alone && (before || after)),
    };
    is_one && !is_doubled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_has_room_around_its_signs() {
        for (text, expected) in [
            ("What is 2+2?", "What is 2 + 2?"),
            ("3*4^2", "3 * 4 ^ 2"),
            ("2 + 2", "2 + 2"),
            ("C++ on 2026-11-17, 15%", "C++ on 2026-11-17, 15%"),
        ] {
            assert_eq!(spaced(text), expected);
        }
    }

    #[test]
    fn a_formula_has_several_steps() {
        for text in ["3+4*2", "(12 - 7) / 5 + 1"] {
            assert!(is_formula(text), "{text}");
        }
        for text in [
            "12 × 7",
            "15% of 60, 20% of 3",
            "2026-11-17",
            "and/or C++",
            "",
        ] {
            assert!(!is_formula(text), "{text}");
        }
    }

    #[test]
    fn signs_of_sums_are_words_and_others_are_not() {
        for (text, expected) in [
            ("12 + 7", "12 plus 7"),
            ("(3+4)*2", "(3 plus 4) times 2"),
            ("12 - 7", "12 minus 7"),
            ("144 / 12", "144 divided 12"),
            ("24 × 60, 15%", "24 times 60, 15 percent"),
            (
                "works out + - * / ^ %",
                "works out plus minus times divided power percent",
            ),
            ("A-10021 on 2026-11-17", "A-10021 on 2026-11-17"),
            ("C++ and/or --force", "C++ and/or --force"),
            ("회의 - 3시", "회의 - 3시"),
            ("plain", "plain"),
        ] {
            let words = |it: &str| it.split_whitespace().collect::<Vec<_>>().join(" ");
            let found = words(&spelled(text)).replace(" ,", ",").replace("( ", "(");
            assert_eq!(found, expected);
        }
    }
}
