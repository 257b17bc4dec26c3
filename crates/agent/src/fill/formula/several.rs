//! Several calculations in one breath: `2^10 and the square root of 2`.

use super::formula;

/// Where one calculation may end and the next begin; it may belong to one as well (`the sum of 3 and 4`).
const BETWEEN: [&str; 10] = [
    ", and ",
    " and also ",
    " and ",
    ", ",
    "; ",
    " 그리고 ",
    "이랑 ",
    "하고 ",
    "와 ",
    "과 ",
];

/// More of them nobody says in one breath.
const SEVERAL_MAX: usize = 6;

/// What is longer is no list of calculations.
const BYTES_MAX: usize = 400;

/// The calculations that a request is, where it is nothing but two or more.
pub(crate) fn several(request: &str) -> Option<Vec<&str>> {
    let may_be = request.len() <= BYTES_MAX && formula(request).is_none();
    let parts = may_be.then(|| cut(request, SEVERAL_MAX)).flatten();
    parts.filter(|it| it.len() > 1)
}

/// The longest calculation that it begins with, and those that the rest is.
fn cut(text: &str, most: usize) -> Option<Vec<&str>> {
    if formula(text).is_some() {
        return Some(vec![text]);
    }
    let mut ends: Vec<(usize, usize)> = BETWEEN
        .iter()
        .flat_map(|sign| text.match_indices(sign))
        .map(|(at, sign)| (at, at + sign.len()))
        .collect();
    ends.sort_unstable_by(|a, b| b.cmp(a));
    ends.truncate(2 * SEVERAL_MAX);
    ends.into_iter()
        .filter(|_| most > 1)
        .find_map(|(end, next)| {
            let (first, rest) = (&text[..end], &text[next..]);
            formula(first)?;
            let mut parts = vec![first];
            parts.extend(cut(rest, most - 1)?);
            Some(parts)
        })
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
            ("3과 4의 합", &[]),
            ("the average of 3, 4 and 8", &[]),
            ("3 and 4", &[]),
            ("3 + 4, times 2", &[]),
            ("2 + 2 and the weather", &[]),
        ] {
            let found = several(request).unwrap_or_default();
            assert_eq!(found, expected, "{request}");
        }
    }
}
