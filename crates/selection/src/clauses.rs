//! A request that needs several tools falls into its clauses: at the ends of sentences, and where English or Korean goes
//! on to the next thing to do.

use crate::words::{is_hangul, words};

/// More clauses than this nobody says in one breath; the rest stays with the last.
pub(crate) const CLAUSES_MAX: usize = 6;

/// Fewer words that say something make no clause of their own.
const WORDS_LEAST: usize = 2;

/// What goes on to the next thing. Looked for in small letters, with what stands before it as a gap.
const ONWARD: [&str; 20] = [
    " and then ",
    ", then ",
    " then ",
    " and also ",
    ", also ",
    " after that",
    " afterwards",
    " afterward",
    " additionally",
    " in addition",
    " finally",
    " next,",
    " secondly",
    " as well as ",
    " plus ",
    " followed by ",
    ", and ",
    " 그리고 ",
    " 또한 ",
    " 그다음",
];

/// Verbs that ask for something to be done: where one follows `and`, something new begins.
const VERBS: [&str; 60] = [
    "add",
    "analyze",
    "book",
    "buy",
    "calculate",
    "call",
    "cancel",
    "change",
    "check",
    "close",
    "compare",
    "compute",
    "convert",
    "count",
    "create",
    "delete",
    "describe",
    "download",
    "draw",
    "email",
    "estimate",
    "export",
    "extract",
    "fetch",
    "find",
    "format",
    "generate",
    "give",
    "help",
    "list",
    "look",
    "make",
    "open",
    "order",
    "play",
    "plot",
    "post",
    "print",
    "read",
    "remind",
    "remove",
    "rename",
    "reserve",
    "retrieve",
    "run",
    "save",
    "schedule",
    "search",
    "send",
    "set",
    "share",
    "show",
    "start",
    "store",
    "submit",
    "summarize",
    "tell",
    "translate",
    "update",
    "write",
];

/// Endings of Korean verbs after which the next thing follows.
const ENDINGS: [&str; 12] = [
    "하고",
    "해서",
    "한 다음",
    "한 뒤",
    "한 후",
    "하고서",
    "하여",
    "내고",
    "찾고",
    "보고",
    "주고",
    "바꾸고",
];

/// The clauses of a request; none, where it is one.
#[must_use]
pub fn clauses(request: &str) -> Vec<&str> {
    let mut cuts = cuts(request);
    cuts.sort_unstable();
    cuts.dedup();
    let mut clauses: Vec<&str> = Vec::new();
    let mut start = 0;
    let mut waiting = 0;
    for end in cuts.into_iter().chain([request.len()]) {
        if end <= start {
            continue;
        }
        if says_something(&request[start..end]) && clauses.len() < CLAUSES_MAX - 1 {
            clauses.push(request[waiting..end].trim());
            waiting = end;
        }
        start = end;
    }
    let rest = request[waiting..].trim();
    match says_something(rest) {
        true => clauses.push(rest),
        // Too little to stand alone: it belongs to what stands before.
        false => {
            if let Some(last) = clauses.last_mut() {
                let from = last.as_ptr() as usize - request.as_ptr() as usize;
                *last = request[from..].trim();
            }
        }
    }
    if clauses.len() < 2 {
        clauses.clear();
    }
    clauses
}

fn says_something(text: &str) -> bool {
    let said = words(text)
        .into_iter()
        .filter(|word| !word.is_common || word.is_number());
    said.count() >= WORDS_LEAST
}

/// Where something new may begin.
fn cuts(request: &str) -> Vec<usize> {
    let mut cuts = Vec::new();
    let quoted = quoted(request);
    let is_quoted = |at: usize| quoted.iter().any(|(from, to)| (*from..*to).contains(&at));
    let mut chars = request.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            '.' | '!' | '?' | ';' => next.is_some_and(char::is_whitespace),
            '\n' | '。' | '！' | '？' => true,
            _ => false,
        };
        if ends && !is_quoted(at) {
            cuts.push(at + c.len_utf8());
        }
    }
    // Of ASCII letters only, so that places stay where they are.
    let small = request.to_ascii_lowercase();
    for phrase in ONWARD {
        let found = small.match_indices(phrase).map(|(at, _)| at);
        cuts.extend(found.filter(|at| !is_quoted(*at)));
    }
    for (at, found) in small.match_indices(" and ") {
        let rest = &small[at + found.len()..];
        let next = rest.split(|c: char| !c.is_alphanumeric()).next();
        let asks = ["how many ", "how much ", "what's ", "what is ", "where is "];
        let asks = asks.iter().any(|it| rest.starts_with(it));
        let is_done = next.is_some_and(|verb| VERBS.binary_search(&verb).is_ok());
        if (is_done || asks) && !is_quoted(at) {
            cuts.push(at);
        }
    }
    if request.chars().any(is_hangul) {
        for ending in ENDINGS {
            for (at, _) in request.match_indices(ending) {
                let end = at + ending.len();
                let rest = &request[end..];
                // `하고 싶어` wishes, and does not go on.
                let goes_on = rest.starts_with([' ', ',']) && !rest.trim_start().starts_with('싶');
                let is_within = request[..at].ends_with(|c: char| !c.is_whitespace());
                if goes_on && (is_within || ending.contains(' ')) && !is_quoted(at) {
                    cuts.push(end);
                }
            }
        }
    }
    cuts
}

/// From where to where something stands in quotes.
fn quoted(request: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (open, close) in [('"', '"'), ('“', '”'), ('「', '」'), ('`', '`')] {
        let mut from = None;
        for (at, c) in request.char_indices() {
            match from {
                Some(start) if c == close => {
                    found.push((start, at));
                    from = None;
                }
                None if c == open => from = Some(at),
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_for_several_things_fall_apart() {
        for (request, expected) in [
            ("Check the weather in Seoul and send an email to Kim.", 2),
            (
                "Get the web analytics of www.example.com. Afterward, validate the HTML code.",
                2,
            ),
            (
                "Convert 3.5 miles to kilometres, then plot the curve; finally save the picture",
                3,
            ),
            ("서울 날씨를 확인하고 김 대리에게 메일을 보내줘", 2),
            ("오늘 일정을 조회한 다음 회의를 예약해줘", 2),
            ("매출을 집계해줘. 그리고 보고서를 만들어줘.", 2),
            ("12.5 percent of 340 and how many miles are 5 km?", 2),
        ] {
            assert_eq!(clauses(request).len(), expected, "{:?}", clauses(request));
        }
    }

    #[test]
    fn one_request_stays_whole() {
        for request in [
            "",
            "What is the weather?",
            "Thank you. Please tell me the weather in Seoul!",
            "Compare apples and oranges",
            "Send the message \"Buy milk. Then feed the cat.\"",
            "가격을 비교하고 싶어",
            "Find a hotel in Paris. Thanks!",
        ] {
            assert_eq!(clauses(request), [] as [&str; 0], "{request}");
        }
    }

    #[test]
    fn no_more_than_so_many() {
        let request = "Find red shoes. ".repeat(40);
        let found = clauses(&request);
        assert_eq!(found.len(), CLAUSES_MAX);
        assert!(found[CLAUSES_MAX - 1].len() > 400);
        assert!(VERBS.is_sorted());
    }
}
