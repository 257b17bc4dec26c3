//! The words that people answer and decide with, in English and Korean: one list for questions, approvals and commands.

use crate::entry::Decision;

const YES: &[&str] = &[
    "yes", "y", "ok", "okay", "sure", "네", "예", "응", "맞아", "그래",
];

const NO: &[&str] = &["no", "n", "아니", "아니오", "아니요", "아뇨"];

/// What may be decided about a call that waits for somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Approve,
    Edit,
    Reject,
    Respond,
    Always,
}

impl Verb {
    pub const ALL: [Verb; 5] = [
        Verb::Approve,
        Verb::Edit,
        Verb::Reject,
        Verb::Respond,
        Verb::Always,
    ];

    /// As the API calls it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Approve => "approve",
            Verb::Edit => "edit",
            Verb::Reject => "reject",
            Verb::Respond => "respond",
            Verb::Always => "always",
        }
    }

    /// What else people say for it. Whole words only: `승인안함` is no approval.
    fn words(self) -> &'static [&'static str] {
        match self {
            Verb::Approve => &["approved", "allow", "승인", "승인함", "승인합니다", "허락"],
            Verb::Edit => &["e", "change", "수정", "변경"],
            Verb::Reject => &[
                "rejected",
                "deny",
                "refuse",
                "거절",
                "거절함",
                "거절합니다",
                "거부",
            ],
            Verb::Respond => &["r", "answer", "응답", "대답", "답변"],
            Verb::Always => &["a", "항상", "언제나", "계속"],
        }
    }

    fn is_said_by(self, word: &str) -> bool {
        let plain = match self {
            Verb::Approve => YES,
            Verb::Reject => NO,
            Verb::Edit | Verb::Respond | Verb::Always => &[],
        };
        self.as_str() == word || self.words().contains(&word) || plain.contains(&word)
    }

    /// Whether something belongs to it: other arguments, a reason, what is answered in the tool's place.
    fn takes_more(self) -> bool {
        matches!(self, Verb::Edit | Verb::Reject | Verb::Respond)
    }
}

/// The verb that a line begins with, and what stands behind it: `reject: too much`, `수정 {"amount": 10}`. A yes with
/// something behind it ("yes, but only 5") approves of nothing.
#[must_use]
pub fn verb(line: &str) -> Option<(Verb, &str)> {
    let line = line.trim();
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '.' | ':' | '!' | '{');
    let (word, rest) = line.split_at(line.find(ends).unwrap_or(line.len()));
    let small = word.to_lowercase();
    let verb = Verb::ALL.into_iter().find(|it| it.is_said_by(&small))?;
    let rest = rest.trim_start_matches([',', '.', ':', '!']).trim();
    (verb.takes_more() || rest.is_empty()).then_some((verb, rest))
}

/// What a line decides, where it says all that is needed for it.
#[must_use]
pub fn decision(line: &str) -> Option<Decision> {
    let (verb, rest) = verb(line)?;
    let text = Some(rest.to_owned()).filter(|it| !it.is_empty());
    Some(match verb {
        Verb::Approve => Decision::Approve,
        Verb::Always => Decision::Always,
        Verb::Edit => Decision::Edit {
            arguments: serde_json::from_str(rest).ok()?,
        },
        Verb::Reject => Decision::Reject { text },
        Verb::Respond => Decision::Respond { text: text? },
    })
}

/// Whether an answer to a question says yes, or no.
pub(crate) fn yes_or_no(text: &str) -> Option<bool> {
    let small = text.trim_end_matches(['.', '!']).to_lowercase();
    let says = |words: &[&str], signs: &[&str]| {
        words.contains(&small.as_str()) || signs.contains(&small.as_str())
    };
    match () {
        () if says(YES, &["true", "1", "on"]) => Some(true),
        () if says(NO, &["false", "0", "off"]) => Some(false),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn decided(line: &str) -> Option<serde_json::Value> {
        decision(line).map(|it| json!(it))
    }

    #[test]
    fn people_decide_in_their_own_words() {
        for (line, expected) in [
            ("approve", json!({"decision": "approve"})),
            ("Y", json!({"decision": "approve"})),
            ("예", json!({"decision": "approve"})),
            ("네.", json!({"decision": "approve"})),
            ("승인", json!({"decision": "approve"})),
            ("always", json!({"decision": "always"})),
            ("항상", json!({"decision": "always"})),
            ("no", json!({"decision": "reject"})),
            ("아니오", json!({"decision": "reject"})),
            (
                "거절: 너무 많음",
                json!({"decision": "reject", "text": "너무 많음"}),
            ),
            (
                "reject not today",
                json!({"decision": "reject", "text": "not today"}),
            ),
            (
                "respond take 9",
                json!({"decision": "respond", "text": "take 9"}),
            ),
            (
                "대답 9로 해",
                json!({"decision": "respond", "text": "9로 해"}),
            ),
            (
                "edit {\"n\": 1}",
                json!({"decision": "edit", "arguments": {"n": 1}}),
            ),
            (
                "수정{\"n\": 1}",
                json!({"decision": "edit", "arguments": {"n": 1}}),
            ),
        ] {
            assert_eq!(decided(line), Some(expected), "{line}");
        }
    }

    #[test]
    fn what_is_not_surely_said_decides_nothing() {
        for line in [
            "",
            "perhaps",
            "yes, but only 5",
            "always except today",
            "승인안함",
            "edit",
            "edit n=1",
            "respond",
        ] {
            assert_eq!(decided(line), None, "{line}");
        }
        // It is known what is wanted, and the rest can be asked for.
        assert_eq!(verb("edit"), Some((Verb::Edit, "")));
        assert_eq!(verb("respond"), Some((Verb::Respond, "")));
    }

    #[test]
    fn questions_are_answered_with_yes_and_no() {
        for (text, expected) in [
            ("네", Some(true)),
            ("Yes!", Some(true)),
            ("on", Some(true)),
            ("아니요", Some(false)),
            ("0", Some(false)),
            ("approve", None),
        ] {
            assert_eq!(yes_or_no(text), expected, "{text}");
        }
    }
}
