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
const VERBS: [&str; 142] = [
    "add",
    "alert",
    "analyze",
    "announce",
    "apply",
    "approve",
    "arrange",
    "ask",
    "assign",
    "block",
    "book",
    "bring",
    "buy",
    "calculate",
    "call",
    "cancel",
    "change",
    "check",
    "claim",
    "clean",
    "clear",
    "close",
    "collect",
    "compare",
    "compose",
    "compute",
    "confirm",
    "convert",
    "copy",
    "count",
    "create",
    "cut",
    "delete",
    "deploy",
    "describe",
    "design",
    "display",
    "download",
    "draw",
    "drop",
    "email",
    "embed",
    "enter",
    "estimate",
    "evaluate",
    "execute",
    "export",
    "extract",
    "fetch",
    "file",
    "find",
    "flag",
    "format",
    "forward",
    "generate",
    "get",
    "give",
    "grab",
    "hand",
    "help",
    "inform",
    "invite",
    "leave",
    "let",
    "list",
    "log",
    "look",
    "mail",
    "make",
    "measure",
    "message",
    "move",
    "note",
    "notify",
    "open",
    "order",
    "paste",
    "pay",
    "ping",
    "plan",
    "play",
    "please",
    "plot",
    "post",
    "print",
    "publish",
    "pull",
    "push",
    "put",
    "query",
    "read",
    "record",
    "redeploy",
    "refund",
    "register",
    "remind",
    "remove",
    "rename",
    "reply",
    "report",
    "request",
    "reserve",
    "resize",
    "restart",
    "restore",
    "retrieve",
    "return",
    "revert",
    "roll",
    "run",
    "save",
    "scan",
    "schedule",
    "search",
    "see",
    "send",
    "set",
    "share",
    "ship",
    "shorten",
    "show",
    "sign",
    "start",
    "store",
    "strip",
    "submit",
    "sum",
    "summarize",
    "tell",
    "text",
    "ticket",
    "track",
    "transfer",
    "translate",
    "trim",
    "turn",
    "update",
    "upload",
    "verify",
    "warn",
    "work",
    "write",
];

/// Endings of Korean verbs after which the next thing follows, beside the one of most verbs (`고`).
const ENDINGS: [&str; 7] = [
    "해서",
    "한 다음",
    "한 뒤",
    "한 후",
    "하고서",
    "고 나서",
    "하여",
];

/// Nouns, and what is said or wished by somebody, that end as verbs do that go on.
const NOUNS: [&str; 29] = [
    "다고",
    "냐고",
    "자고",
    "려고",
    "그리고",
    "경고",
    "공고",
    "광고",
    "권고",
    "금고",
    "기고",
    "냉장고",
    "로고",
    "망고",
    "발라고",
    "비고",
    "사고",
    "선고",
    "수고",
    "원고",
    "예고",
    "재고",
    "중고",
    "차고",
    "창고",
    "최고",
    "충고",
    "통고",
    "라고",
];

/// What a verb does not go on with, though it ends so: wishes, what lasts, and what is not done.
const LASTING: [&str; 6] = ["싶", "있", "계", "나서", "말", "보니"];

/// Whether a word in small letters asks for something to be done, where a part of a request begins with it.
#[must_use]
pub fn begins_a_wish(word: &str) -> bool {
    VERBS.binary_search(&word).is_ok()
}

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
        let asks = [
            "how ", "what", "where", "when ", "who ", "which ", "whether ", "is ", "are ", "did ",
            "does ", "do ", "can ", "could ", "any ", "also ",
        ];
        let asks = asks.iter().any(|it| rest.starts_with(it));
        let is_done = next.is_some_and(begins_a_wish);
        if (is_done || asks) && !is_quoted(at) {
            cuts.push(at);
        }
    }
    if request.chars().any(is_hangul) {
        cuts.extend(korean(request).filter(|at| !is_quoted(*at)));
    }
    cuts
}

/// Whether a Korean clause ends with a verb that goes on to the next thing.
pub(crate) fn goes_on(clause: &str) -> bool {
    let clause = clause.trim_end_matches([',', ' ']);
    let is_verb = clause.ends_with('고') && !NOUNS.iter().any(|it| clause.ends_with(it));
    ENDINGS.iter().any(|it| clause.ends_with(it)) || is_verb
}

/// Where a Korean verb or particle goes on to the next thing.
fn korean(request: &str) -> impl Iterator<Item = usize> {
    let of_endings = ENDINGS.iter().flat_map(|ending| {
        let found = request.match_indices(ending).map(|(at, _)| at);
        let is_within = |at: &usize| {
            ending.contains(' ') || request[..*at].ends_with(|c: char| !c.is_whitespace())
        };
        let ends = found.filter(is_within).map(|at| at + ending.len());
        ends.filter(|end| request[*end..].starts_with([' ', ',']))
    });
    let words = request.match_indices([' ', ',']);
    let of_words = words.filter_map(|(at, _)| {
        let word = request[..at].rsplit(char::is_whitespace).next()?;
        let rest = request[at..].trim_start_matches([' ', ',']);
        let is_long = word.chars().count() > 1;
        let is_verb = word.ends_with('고') && !NOUNS.iter().any(|it| word.ends_with(it));
        let goes_on = is_verb && !LASTING.iter().any(|it| rest.starts_with(it));
        (is_long && goes_on).then_some(at)
    });
    of_endings.chain(of_words)
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
            ("주문을 환불하고 나서 고객에게 알려줘", 2),
            ("결제 서버 오류율 보여 주고 티켓도 등록해 주세요", 2),
            ("Refund order 4711 and ping the sales channel", 2),
            (
                "How warm is it in Ulsan now and what about Sunday in Busan",
                2,
            ),
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
            "서버가 느려지고 있는지 확인해줘",
            "창고 재고 수량 좀 확인해줘",
            "내일 회의가 있다고 김 대리에게 알려줘",
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
