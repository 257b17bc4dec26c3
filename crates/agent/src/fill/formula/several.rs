//! Several calculations in one breath: `2^10 and the square root of 2`.

use super::formula;
use super::tokens::{Token, tokens};

/// Where one calculation may end and the next begin; it may belong to one as well (`the sum of 3 and 4`).
const BETWEEN: [&str; 15] = [
    ". ",
    "? ",
    "! ",
    "이고 ",
    ", and ",
    " and also ",
    " and ",
    ", ",
    "; ",
    " 그리고 ",
    "이랑 ",
    "랑 ",
    "하고 ",
    "와 ",
    "과 ",
];

/// More of them nobody says in one breath.
const SEVERAL_MAX: usize = 6;

/// What is longer, or has more ends, is no list of calculations.
const BYTES_MAX: usize = 400;
const ENDS_MAX: usize = 24;

/// The calculations that a request is, where it is nothing but two or more.
pub(crate) fn several(request: &str) -> Option<Vec<&str>> {
    let may_be = request.len() <= BYTES_MAX && formula(request).is_none();
    let parts = may_be.then(|| cut(request, SEVERAL_MAX)).flatten();
    parts.filter(|it| it.len() > 1)
}

/// The longest calculation that it begins with, and those that the rest is.
fn cut(text: &str, most: usize) -> Option<Vec<&str>> {
    if is_whole(text) {
        return Some(vec![text]);
    }
    let mut ends: Vec<(usize, usize)> = BETWEEN
        .iter()
        .flat_map(|sign| text.match_indices(sign))
        .map(|(at, sign)| (at, at + sign.len()))
        .collect();
    if ends.len() > ENDS_MAX || most < 2 {
        return None;
    }
    ends.sort_unstable_by(|a, b| b.cmp(a));
    ends.into_iter().find_map(|(end, next)| {
        let (first, rest) = (&text[..end], &text[next..]);
        let goes_on = matches!(
            tokens(rest).as_deref(),
            Some([Token::Sign(sign), ..]) if *sign != '('
        );
        if goes_on || !is_whole(first) {
            return None;
        }
        let mut parts = vec![first];
        parts.extend(cut(rest, most - 1)?);
        Some(parts)
    })
}

/// Whether it is a calculation by itself. A share alone is one of something that stands elsewhere: `10% and 20% of 340`.
fn is_whole(text: &str) -> bool {
    let is_alone = |it: &String| {
        let plain = it
            .trim_start_matches(['-', '+'])
            .trim_end_matches([' ', '%']);
        plain.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    formula(text).is_some_and(|it| !is_alone(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_calculation_stands_for_itself() {
        for (request, expected) in [
            (
                "2^10 and the square root of 2",
                &["2^10", "the square root of 2"][..],
            ),
            (
                "What is 12.5% of 340, 5 + 6 and 7 * 8?",
                &["What is 12.5% of 340", "5 + 6", "7 * 8?"],
            ),
            (
                "the sum of 3 and 4 and the product of 5 and 6",
                &["the sum of 3 and 4", "the product of 5 and 6"],
            ),
            ("3 + 4 그리고 5 * 6", &["3 + 4", "5 * 6"]),
            (
                "2의 10제곱과 16의 제곱근은?",
                &["2의 10제곱", "16의 제곱근은?"],
            ),
            ("3 더하기 4랑 5 곱하기 6", &["3 더하기 4", "5 곱하기 6"]),
            ("3과 4의 합", &[]),
            ("What is 10% and 20% of 340?", &[]),
            ("340의 10%와 20%는?", &[]),
            ("What is 200 + 50, minus 10%?", &[]),
            ("100 + 20, minus 3 * 5", &[]),
            ("sum of 1, 2, 3 and 10%", &[]),
            ("the average of 3, 4 and 8", &[]),
            (
                "10km는 몇 마일이고 5kg은 몇 파운드야?",
                &["10km는 몇 마일", "5kg은 몇 파운드야?"],
            ),
            (
                "First multiply 3 by 4. Then convert 10 miles to km.",
                &["First multiply 3 by 4", "Then convert 10 miles to km."],
            ),
            ("2+2는? 3*3은?", &["2+2는", "3*3은?"]),
            ("3 + 4. Then times 2", &[]),
            ("3 and 4", &[]),
            ("3 + 4, times 2", &[]),
            ("2 + 2 and the weather", &[]),
        ] {
            let found = several(request).unwrap_or_default();
            assert_eq!(found, expected, "{request}");
        }
    }
}
