//! What is to be done with numbers: whoever asks for a sum is not helped by a product, however alike the two requests read.

use crate::signs::{is_formula, spelled};

/// What a tool loses that wants numbers one by one where a formula is given.
const FORMULA: f32 = 0.15;

/// What a tool loses that does something else with the numbers than is asked for.
const OTHERWISE: f32 = 0.4;

const ADD: u8 = 1;
const SUBTRACT: u8 = 2;
const MULTIPLY: u8 = 4;
const DIVIDE: u8 = 8;
/// Anything else that is done with numbers: powers, means, remainders, which is larger.
const OTHER: u8 = 16;

const WORDS: [(u8, &[&str]); 5] = [
    (ADD, &["plus", "sum", "add", "adds", "added", "total"]),
    (
        SUBTRACT,
        &[
            "minus",
            "subtract",
            "subtracts",
            "subtracted",
            "difference",
            "deduct",
        ],
    ),
    (
        MULTIPLY,
        &[
            "times",
            "multiply",
            "multiplies",
            "multiplied",
            "product",
            "x",
        ],
    ),
    (
        DIVIDE,
        &[
            "divide", "divides", "divided", "over", "quotient", "ratio", "half",
        ],
    ),
    (
        OTHER,
        &[
            "power",
            "root",
            "squared",
            "cubed",
            "average",
            "mean",
            "median",
            "modulo",
            "mod",
            "remainder",
            "larger",
            "largest",
            "bigger",
            "greater",
            "smaller",
            "smallest",
            "less",
            "maximum",
            "minimum",
            "percent",
            "factorial",
        ],
    ),
];

/// Beginnings of words, as endings follow them without a space. `합` alone begins too many others.
const KOREAN: [(u8, &[&str]); 5] = [
    (
        ADD,
        &[
            "더하",
            "더해",
            "더한",
            "합계",
            "합은",
            "합을",
            "덧셈",
            "플러스",
        ],
    ),
    (
        SUBTRACT,
        &[
            "빼기",
            "빼면",
            "빼줘",
            "빼 줘",
            "뺀",
            "뺄셈",
            "차이",
            "마이너스",
        ],
    ),
    (MULTIPLY, &["곱"]),
    (DIVIDE, &["나누", "나눈", "나눠", "나눗", "몫", "비율"]),
    (
        OTHER,
        &[
            "평균",
            "나머지",
            "제곱",
            "루트",
            "퍼센트",
            "더 큰",
            "더 작은",
            "최댓값",
            "최솟값",
        ],
    ),
];

/// All that a text says is done with numbers, as bits; 0 where it says nothing of the kind.
pub(crate) fn operations(text: &str) -> u8 {
    let small = spelled(text).to_lowercase();
    let said = small.split(|c: char| !c.is_alphanumeric());
    let mut found = 0;
    for word in said {
        let english = WORDS.iter().filter(|(_, all)| all.contains(&word));
        found |= english.fold(0, |found, (bit, _)| found | bit);
    }
    let holds = |all: &[&str]| all.iter().any(|it| small.contains(it));
    let korean = KOREAN.iter().filter(|(_, all)| holds(all));
    korean.fold(found, |found, (bit, _)| found | bit)
}

/// What a request wants to be done with numbers.
pub(crate) struct Sum {
    is_formula: bool,
    operations: u8,
}

impl Sum {
    pub(crate) fn new(request: &str) -> Self {
        Sum {
            is_formula: is_formula(request),
            operations: operations(request),
        }
    }

    /// What a tool loses that wants its numbers one by one and does this with them.
    pub(crate) fn loss(&self, operations: u8) -> f32 {
        let is_known = self.operations != 0 && operations != 0;
        let is_otherwise = is_known && self.operations & operations == 0;
        match (self.is_formula, is_otherwise) {
            (true, true) => FORMULA + OTHERWISE,
            (true, false) => FORMULA,
            (false, true) => OTHERWISE,
            (false, false) => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_with_numbers_is_read_in_both_languages() {
        for (text, expected) in [
            ("Sum of 48 and 125", ADD),
            ("48+125", ADD),
            ("100 빼기 4", SUBTRACT),
            ("100에서 4를 빼줘", SUBTRACT),
            ("multiply 48 by 125", MULTIPLY),
            ("36 x 19 = ?", MULTIPLY),
            ("두 숫자를 입력받아 곱한 결과를 반환합니다", MULTIPLY),
            ("What is 48 over 125?", DIVIDE),
            ("100을 4로 나누면?", DIVIDE),
            ("48과 125의 평균", OTHER),
            ("Which is larger, 48 or 125?", OTHER),
            ("(3 + 4) * 2", ADD | MULTIPLY),
            ("합니다 2026-11-17", 0),
            ("book a room for 5", 0),
        ] {
            assert_eq!(operations(text), expected, "{text}");
        }
    }
}
