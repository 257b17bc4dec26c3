//! How a clause of a request is worded: whether it asks, orders, denies, goes on from the one before, or gives a condition.

use crate::clauses::{begins_a_wish, goes_on};

/// How a clause begins and ends.
#[derive(Debug, Default)]
pub(crate) struct Wording {
    pub(crate) asks: bool,
    pub(crate) asks_in_korean: bool,
    pub(crate) begins_a_wish: bool,
    pub(crate) goes_on: bool,
    /// It says that something is not so, or not wanted.
    pub(crate) denies: bool,
    pub(crate) is_joined: bool,
    pub(crate) is_conditional: bool,
}

/// What leads a clause that goes on from the one before it.
const JOINING: [&str; 12] = [
    "and",
    "then",
    "also",
    "plus",
    "next",
    "finally",
    "afterwards",
    "그리고",
    "또한",
    "그다음",
    "그럼",
    "이어서",
];
/// What may stand before the verb of an order.
const POLITE: [&str; 16] = [
    "please", "can", "could", "would", "will", "you", "just", "now", "pls", "kindly", "so", "ok",
    "hey", "hi", "to", "me",
];
const CONDITIONS: [&str; 10] = [
    "if", "when", "unless", "since", "because", "as", "while", "once", "after", "before",
];
/// How Korean ends what is a condition or a reason.
const KOREAN_CONDITIONS: [&str; 7] = ["면", "는데", "은데", "니까", "어서", "아서", "때문에"];
const DENIALS: [&str; 14] = [
    "not",
    "don't",
    "dont",
    "never",
    "no",
    "nothing",
    "isn't",
    "without",
    "instead",
    "말고",
    "아니라",
    "아니고",
    "말라고",
    "필요",
];
/// How Korean asks for something at the end of a clause.
const KOREAN_ASKS: [&str; 21] = [
    "줘",
    "줘요",
    "주세요",
    "줄래",
    "줄래요",
    "주라",
    "줄게",
    "주실래요",
    "주십시오",
    "바랍니다",
    "부탁",
    "부탁해",
    "부탁해요",
    "부탁드려요",
    "부탁드립니다",
    "까",
    "까요",
    "나요",
    "니",
    "냐",
    "지",
];

impl Wording {
    pub(crate) fn new(clause: &str) -> Self {
        let small = clause.to_lowercase().replace('’', "'");
        let is_letter = |c: char| c.is_alphanumeric() || c == '\'';
        let mut tokens: Vec<&str> = small
            .split(|c: char| !is_letter(c))
            .filter(|it| !it.is_empty())
            .collect();
        let lead = tokens.iter().take_while(|it| JOINING.contains(it)).count();
        let is_joined = lead > 0;
        tokens.drain(..lead);
        let verb = tokens.iter().find(|it| !POLITE.contains(it));
        let last = tokens.last().copied().unwrap_or_default();
        Wording {
            asks: small.trim_end().ends_with('?'),
            asks_in_korean: KOREAN_ASKS.iter().any(|it| last.ends_with(it)),
            begins_a_wish: verb.is_some_and(|it| begins_a_wish(it)),
            goes_on: goes_on(clause),
            denies: tokens.iter().any(|it| denies(it)),
            is_joined,
            is_conditional: tokens.first().is_some_and(|it| CONDITIONS.contains(it))
                || KOREAN_CONDITIONS.iter().any(|it| last.ends_with(it)),
        }
    }
}

fn denies(word: &str) -> bool {
    let is_one = |no: &&str| word == *no || (!no.is_ascii() && word.ends_with(no));
    DENIALS.iter().any(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wording_of_a_clause_is_read() {
        let and = Wording::new("and then please send it to Kim");
        assert!(and.is_joined && and.begins_a_wish && !and.asks, "{and:?}");
        let asks = Wording::new("where is my parcel?");
        assert!(asks.asks && !asks.is_joined && !asks.denies, "{asks:?}");
        let denies = Wording::new("don’t search for it");
        assert!(denies.denies && !denies.begins_a_wish, "{denies:?}");
        let condition = Wording::new("if it is not known yet");
        assert!(
            condition.is_conditional && condition.denies,
            "{condition:?}"
        );
        let first = Wording::new("서울 날씨를 확인하고");
        assert!(first.goes_on && !first.asks_in_korean, "{first:?}");
        let last = Wording::new("그리고 김 대리에게 메일을 보내줘");
        assert!(last.is_joined && last.asks_in_korean, "{last:?}");
        let other = Wording::new("예보 말고");
        assert!(other.denies, "{other:?}");
        let reason = Wording::new("고객이 기다리니까");
        assert!(reason.is_conditional, "{reason:?}");
    }
}
