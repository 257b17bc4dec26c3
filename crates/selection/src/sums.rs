//! What is to be done with numbers: whoever asks for a sum is not helped by a product, however alike the two requests read.

use crate::signs::{is_formula, spaced, spelled};

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

/// What is said for a sign, in English as a word and in Korean as one begins.
pub const SIGNS: [(&str, &str); 9] = [
    ("plus", "+"),
    ("minus", "-"),
    ("times", "*"),
    ("over", "/"),
    ("percent", "%"),
    ("더하기", "+"),
    ("빼기", "-"),
    ("곱하기", "*"),
    ("나누기", "/"),
];

/// What a sign does.
fn operation(sign: &str) -> u8 {
    match sign {
        "+" => ADD,
        "-" => SUBTRACT,
        "*" => MULTIPLY,
        "/" => DIVIDE,
        _ => OTHER,
    }
}

/// What else is said for it.
const WORDS: [(u8, &[&str]); 5] = [
    (ADD, &["sum", "add", "adds", "added", "total"]),
    (
        SUBTRACT,
        &[
            "subtract",
            "subtracts",
            "subtracted",
            "difference",
            "deduct",
        ],
    ),
    (
        MULTIPLY,
        &["multiply", "multiplies", "multiplied", "product", "x"],
    ),
    (
        DIVIDE,
        &["divide", "divides", "divided", "quotient", "ratio", "half"],
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
        &["빼면", "빼줘", "빼 줘", "뺀", "뺄셈", "차이", "마이너스"],
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

/// Korean goes on with an ending.
fn is_said(word: &str, said: &str) -> bool {
    word == said || (!said.is_ascii() && word.starts_with(said))
}

/// All that a text says is done with numbers, as bits; 0 where it says nothing of the kind.
pub(crate) fn operations(text: &str) -> u8 {
    let small = spelled(text).to_lowercase();
    let said = small.split(|c: char| !c.is_alphanumeric());
    let mut found = 0;
    for word in said {
        let english = WORDS.iter().filter(|(_, all)| all.contains(&word));
        found |= english.fold(0, |found, (bit, _)| found | bit);
        let signs = SIGNS.iter().filter(|(said, _)| is_said(word, said));
        found |= signs.fold(0, |found, (_, sign)| found | operation(sign));
    }
    let holds = |all: &[&str]| all.iter().any(|it| small.contains(it));
    let korean = KOREAN.iter().filter(|(_, all)| holds(all));
    korean.fold(found, |found, (bit, _)| found | bit)
}

/// What a tool gains that does with the numbers what is asked for.
const ALIKE: f32 = 0.06;

/// What a request wants to be done with numbers.
pub(crate) struct Sum {
    is_formula: bool,
    operations: u8,
    /// Whether it gives the numbers to do it with.
    is_whole: bool,
}

impl Sum {
    pub(crate) fn new(request: &str) -> Self {
        let operations = operations(request);
        let needed = if operations & OTHER == 0 { 2 } else { 1 };
        Sum {
            is_formula: is_formula(request),
            operations,
            is_whole: operations != 0 && numbers(request) >= needed,
        }
    }

    /// Whether it is a sum with all its numbers.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether a tool does what is asked for.
    pub(crate) fn is_done_by(&self, operations: u8) -> bool {
        self.is_whole && self.operations & operations != 0
    }

    pub(crate) fn gain(&self, operations: u8) -> f32 {
        if self.is_done_by(operations) {
            ALIKE
        } else {
            0.0
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

/// Numbers that stand for themselves: neither of a date nor of a key, nor of a day or an hour.
fn numbers(request: &str) -> usize {
    let is_number = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let digits = word
            .chars()
            .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ','));
        let rest = &word[digits.map(char::len_utf8).sum::<usize>()..];
        let is_short = rest.chars().count() <= 3 && !rest.chars().any(|c| c.is_ascii_digit());
        let is_time = ["월", "일", "시", "년", "분", "주", "am", "pm"]
            .iter()
            .any(|it| rest.starts_with(it));
        word.starts_with(|c: char| c.is_ascii_digit()) && is_short && !is_time
    };
    let spaced = spaced(request);
    spaced
        .split([' ', '(', ')', '\n'])
        .filter(is_number)
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_has_its_numbers() {
        for whole in [
            "48 modulo 5",
            "100 나누기 4는 얼마야?",
            "(3+4)*2",
            "12.5% of 340",
            "square root of 81",
            "5와 7을 곱해줘",
        ] {
            assert!(Sum::new(whole).is_whole(), "{whole}");
        }
        for other in [
            "add it up",
            "what is the difference between 3월 and 4월",
            "add 2026-11-17 to my list",
            "total sales since 9am",
        ] {
            assert!(!Sum::new(other).is_whole(), "{other}");
        }
    }

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
