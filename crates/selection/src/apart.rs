//! Texts that a request sets apart from what is to be done with them: in quotes, behind a colon, or as what somebody says.

use crate::lexicon::LANGUAGES;
use crate::words::is_hangul;

/// Whether a text is given beside the words that say what to do with it.
pub(crate) fn sets_apart(request: &str) -> bool {
    let marks = [
        ": ", "\n", "“", "「", "```", ">> ", " — ", " – ", " - ", "->",
    ];
    let rest = |mark: &str| {
        request
            .split_once(mark)
            .is_some_and(|it| it.1.trim().len() > 4)
    };
    marks.into_iter().any(rest) || !unquoted(request).1.is_empty()
}

/// A request without its quotes, and what they hold.
pub(crate) fn unquoted(request: &str) -> (String, Vec<String>) {
    let mut plain = String::with_capacity(request.len());
    let mut quotes = Vec::new();
    let mut rest = request;
    while let Some(at) = rest.find(['"', '“', '`', '「', '\'', '‘']) {
        let open = rest[at..].chars().next().unwrap_or('"');
        let close = match open {
            '“' => '”',
            '「' => '」',
            '‘' => '’',
            same => same,
        };
        let after = &rest[at + open.len_utf8()..];
        // The mark in `don't` opens nothing.
        let is_apostrophe = open == '\'' && rest[..at].ends_with(char::is_alphanumeric);
        let end = after.find(close).filter(|_| !is_apostrophe);
        match end {
            Some(end) if end > 0 => {
                plain.push_str(&rest[..at]);
                plain.push(' ');
                quotes.push(after[..end].to_owned());
                rest = &after[end + close.len_utf8()..];
            }
            _ => {
                plain.push_str(&rest[..at + open.len_utf8()]);
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    (plain, quotes)
}

/// What English says before what somebody is told.
const THAT: [&str; 5] = [" that ", " saying ", " which says ", " to say ", ": "];

/// How a Korean word ends behind which something is told.
const SAID: [&str; 5] = ["다고", "라고", "자고", "냐고", "달라고"];

/// Fewer words tell nobody anything: `send that mail`.
const TOLD_WORDS_LEAST: usize = 3;

/// What somebody is to be told, without quotes: `tell Kim that lunch is late`, `점심 늦는다고 전해줘`, `note: buy milk`.
pub(crate) fn told(plain: &str) -> Option<String> {
    let behind = THAT.iter().filter_map(|it| {
        let at = plain.to_ascii_lowercase().find(it)?;
        Some((at, plain[at + it.len()..].trim()))
    });
    let is_long = |text: &str| {
        let words = text.split_whitespace().count();
        words >= TOLD_WORDS_LEAST || (words > 1 && text.chars().any(is_hangul))
    };
    let english = behind.min_by_key(|it| it.0).filter(|it| is_long(it.1));
    let korean = || {
        let mut words = plain.split_whitespace();
        let is_told = |it: &&str| {
            let stem = it.trim_end_matches([',', '.']);
            stem.chars().count() > 2 && SAID.iter().any(|end| stem.ends_with(end))
        };
        words.find(is_told)
    };
    let told = english.map(|it| it.1).or_else(korean);
    told.map(str::to_owned).or_else(|| translated(plain))
}

/// Behind these stands what is to be put into another language.
const BEFORE_TEXT: [&str; 7] = ["translate", "say", "put", "turn", "render", "is", "what's"];

/// Words that only point at a text.
const NO_TEXT: [&str; 26] = [
    "a",
    "an",
    "and",
    "document",
    "everything",
    "following",
    "for",
    "it",
    "letter",
    "me",
    "message",
    "my",
    "paragraph",
    "please",
    "sentence",
    "some",
    "something",
    "stuff",
    "text",
    "that",
    "the",
    "these",
    "this",
    "thing",
    "word",
    "words",
];

/// The text of `translate hello to French`, which may be any words at all.
fn translated(plain: &str) -> Option<String> {
    let small = plain.to_lowercase();
    let words = small
        .split_whitespace()
        .map(|it| it.trim_matches(|c: char| !c.is_alphanumeric() && c != '\''));
    let words: Vec<&str> = words.collect();
    let is_into = |at: usize| matches!(words[at - 1], "to" | "into" | "in");
    let end = (1..words.len()).find(|at| LANGUAGES.contains(&words[*at]) && is_into(*at))? - 1;
    let start = words[..end]
        .iter()
        .position(|it| BEFORE_TEXT.contains(it))?
        + 1;
    let text = &words[start..end];
    let says = text
        .iter()
        .any(|it| !it.is_empty() && !NO_TEXT.contains(it));
    says.then(|| text.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_is_told_is_a_text() {
        for (request, expected) in [
            ("tell Kim that lunch is late", Some("lunch is late")),
            (
                "post in #general: please call me back",
                Some("please call me back"),
            ),
            ("지훈님께 10분 늦는다고 전해줘", Some("늦는다고")),
            ("translate hello to French", Some("hello")),
            ("How do you say good night in Thai?", Some("good night")),
            ("translate this text into Korean", None),
            ("send that mail", None),
            ("회의실 예약해줘", None),
            ("at 10:30 tomorrow", None),
        ] {
            assert_eq!(told(request).as_deref(), expected, "{request}");
        }
    }
}
