//! Requests that want something else than the tool does which was chosen for them: a question about what it does, its undoing,
//! or something to be done where it only looks. Who plans by words alone lets somebody confirm these.

use crate::planner::is_korean;
use selection::deed_of_tool;
use selection::speech::clauses;

/// Why a call may not be what is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contrary {
    /// Something is asked, and the tool does it.
    Asks,
    /// Something is to be taken back, and the tool does it.
    Undoes,
    /// Something is to be done, and the tool only looks something up.
    Does,
    /// It is asked how much it is in a week, and the tool knows it for a day.
    Spans,
}

impl Contrary {
    #[must_use]
    pub fn told(self, request: &str) -> &'static str {
        match (self, is_korean(request)) {
            (Contrary::Asks, false) => {
                "The request reads like a question, and the tool does something"
            }
            (Contrary::Asks, true) => "요청은 질문처럼 보이는데, 이 도구는 무언가를 실행합니다",
            (Contrary::Undoes, false) => {
                "The request reads as if something were to be taken back, and the tool does not say that it does that"
            }
            (Contrary::Undoes, true) => {
                "요청은 무언가를 취소하거나 없애라는 뜻으로 보이는데, 이 도구는 그런 일을 한다고 하지 않습니다"
            }
            (Contrary::Does, false) => {
                "The request wants something done, and the tool only looks something up"
            }
            (Contrary::Does, true) => "요청은 무언가를 해 달라는 뜻인데, 이 도구는 조회만 합니다",
            (Contrary::Spans, false) => {
                "The request speaks of another span of time than the tool does"
            }
            (Contrary::Spans, true) => "요청에서 말하는 기간이 이 도구가 말하는 기간과 다릅니다",
        }
    }
}

/// A tool, as far as it matters here.
#[derive(Debug, Clone, Copy)]
pub struct Doer<'a> {
    pub name: &'a str,
    /// All that is said of it.
    pub descriptions: [&'a str; 2],
    /// Whether it is known to leave everything as it is.
    pub only_reads: bool,
}

/// Words that a question begins with.
const ASKING: [&str; 22] = [
    "who", "whose", "why", "how", "when", "where", "which", "what", "is", "are", "was", "were",
    "am", "did", "does", "has", "had", "who's", "what's", "when's", "where's", "isn't",
];

/// With these a question is a wish.
const WISHES: [&str; 9] = [
    "can you",
    "could you",
    "would you",
    "will you",
    "please",
    "i want",
    "i'd like",
    "how about",
    "what about",
];

const ASKING_KOREAN: [&str; 6] = ["누가", "누구", "왜 ", "어떻게", "언제", "무슨"];

/// How a wish ends in Korean, a question mark aside.
const WISHES_KOREAN: [&str; 11] = [
    "줘",
    "줘요",
    "주세요",
    "주십시오",
    "줄래",
    "줄래요",
    "주실래요",
    "주시겠어요",
    "달라고",
    "부탁해",
    "부탁해요",
];

/// How words begin that take something back; with the words of a tool that does it.
const UNDOING: [&str; 16] = [
    "cancel", "undo", "unbook", "revoke", "withdraw", "delet", "remov", "clear", "eras", "취소",
    "철회", "해지", "삭제", "지우", "지워", "없애",
];

/// Orders that change something, as a request begins.
const ORDERS: [&str; 24] = [
    "set", "change", "update", "delete", "remove", "cancel", "create", "send", "mail", "email",
    "e-mail", "book", "reserve", "transfer", "pay", "buy", "refund", "raise", "increase", "lower",
    "reset", "register", "approve", "rename",
];

/// What may stand before them.
const POLITE: [&str; 10] = [
    "please", "can", "could", "would", "will", "you", "now", "also", "then", "just",
];

/// The same in Korean, as the last word begins.
const ORDERS_KOREAN: [&str; 22] = [
    "없애", "보내", "전화", "설정", "바꿔", "변경", "올려", "낮춰", "늘려", "줄여", "삭제", "지워",
    "취소", "예약", "등록", "수정", "이체", "송금", "결제", "환불", "생성", "만들",
];

/// Spans of time that something is counted in, as both languages say them.
const SPANS: [&[&str]; 5] = [
    &["hourly", "an hour", "per hour", "시간당"],
    &["daily", "a day", "per day", "일일", "하루"],
    &["weekly", "a week", "per week", "일주일", "매주"],
    &["monthly", "a month", "per month", "한 달", "월간", "매월"],
    &["yearly", "annual", "a year", "per year", "연간", "매년"],
];

/// Whether every part of a request wants something else than the tool does.
#[must_use]
pub fn contrary(request: &str, tool: &Doer<'_>) -> Option<Contrary> {
    let parts = clauses(request);
    if parts.len() < 2 {
        return of_part(request, tool);
    }
    let all: Option<Vec<Contrary>> = parts.iter().map(|it| of_part(it, tool)).collect();
    all?.first().copied()
}

fn of_part(part: &str, tool: &Doer<'_>) -> Option<Contrary> {
    let small = part.trim().to_lowercase().replace('’', "'");
    let deed = deed_of_tool(tool.name);
    let does = deed < 0.0 || !tool.only_reads;
    match () {
        () if deed > 0.0 && is_order(&small) => Some(Contrary::Does),
        () if does && is_question(&small) => Some(Contrary::Asks),
        () if does && undoes(&small) && !says_undoing(tool) => Some(Contrary::Undoes),
        () if deed > 0.0 && is_other_span(&small, tool) => Some(Contrary::Spans),
        () => None,
    }
}

/// Whether a part of a request asks something, and wishes for nothing.
#[must_use]
pub fn is_question(part: &str) -> bool {
    let small = &*part.trim().to_lowercase();
    let first = small.split(|c: char| c.is_whitespace() || c == ',').next();
    let is_english = first.is_some_and(|it| ASKING.contains(&it));
    if is_english {
        return !WISHES.iter().any(|it| small.contains(it));
    }
    let bare = small.trim_end_matches(|c: char| !c.is_alphanumeric());
    let is_wish = WISHES_KOREAN.iter().any(|it| bare.ends_with(it));
    !is_wish && ASKING_KOREAN.iter().any(|it| small.contains(it))
}

/// Whether a word begins so.
fn begins(small: &str, stem: &str) -> bool {
    let mut found = small.match_indices(stem);
    found.any(|(at, _)| {
        !stem.is_ascii() || !small[..at].ends_with(|c: char| c.is_ascii_alphanumeric())
    })
}

fn undoes(small: &str) -> bool {
    UNDOING.iter().any(|it| begins(small, it))
}

fn says_undoing(tool: &Doer<'_>) -> bool {
    let name = tool.name.to_lowercase();
    let said = tool.descriptions.map(str::to_lowercase);
    UNDOING.iter().any(|it| name.contains(it)) || said.iter().any(|it| undoes(it))
}

/// Whether it is for another span than the one that the tool is called by, and does not speak of that as well.
fn is_other_span(small: &str, tool: &Doer<'_>) -> bool {
    let own = spans(&tool.name.to_lowercase().replace('_', " "));
    let asked = spans(small);
    own.len() == 1 && !asked.is_empty() && !asked.contains(&own[0])
}

/// The spans that a text counts something in. `For a week` says how long, and counts nothing.
fn spans(text: &str) -> Vec<usize> {
    const LASTING: [&str; 6] = ["for", "in", "over", "within", "after", "once"];
    let is_counted = |span: &str| {
        let mut found = text.match_indices(span);
        found.any(|(at, _)| {
            let before = text[..at]
                .split_whitespace()
                .next_back()
                .unwrap_or_default();
            let after = &text[at + span.len()..];
            let is_word = !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric())
                && !after.starts_with(|c: char| c.is_ascii_alphanumeric());
            !span.is_ascii() || (is_word && !LASTING.contains(&before))
        })
    };
    let all = SPANS.iter().enumerate();
    let said = all.filter(|(_, span)| span.iter().any(|it| is_counted(it)));
    said.map(|(at, _)| at).collect()
}

/// Whether a text in small letters is an order that changes something.
pub(crate) fn is_order(small: &str) -> bool {
    let mut words = small.split(|c: char| c.is_whitespace() || c == ',');
    let first = words.find(|it| !it.is_empty() && !POLITE.contains(it));
    if first.is_some_and(|it| ORDERS.contains(&it)) {
        return true;
    }
    let bare = small.trim_end_matches(|c: char| !c.is_alphanumeric());
    let last = bare
        .rsplit(char::is_whitespace)
        .find(|it| *it != "주세요" && *it != "줘");
    let is_wish = WISHES_KOREAN.iter().any(|it| bare.ends_with(it));
    is_wish && last.is_some_and(|it| ORDERS_KOREAN.iter().any(|verb| it.starts_with(verb)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_wants_something_else_is_told_from_what_wants_it() {
        let book = Doer {
            name: "book_room",
            descriptions: ["Books a meeting room", "회의실을 예약합니다"],
            only_reads: false,
        };
        let limit = Doer {
            name: "get_user_daily_limit",
            descriptions: [
                "Looks up how many calls a day a user has",
                "일일 제한량을 조회합니다",
            ],
            only_reads: true,
        };
        let delete = Doer {
            name: "delete_user",
            descriptions: ["Deletes a user", ""],
            only_reads: false,
        };
        for (request, tool, expected) in [
            (
                "Cancel the booking of the large room on 2026-03-04",
                &book,
                Some(Contrary::Undoes),
            ),
            (
                "large 회의실 2026-03-04 예약 취소해줘",
                &book,
                Some(Contrary::Undoes),
            ),
            (
                "Unbook the lab on 2026-03-04",
                &book,
                Some(Contrary::Undoes),
            ),
            (
                "Who booked the large room on 2026-03-04?",
                &book,
                Some(Contrary::Asks),
            ),
            (
                "Is the large room free on 2026-03-04?",
                &book,
                Some(Contrary::Asks),
            ),
            ("누가 large 회의실을 예약했어?", &book, Some(Contrary::Asks)),
            ("Book the large room on 2026-03-04", &book, None),
            ("Could you book the large room?", &book, None),
            ("Is it possible, please, to book the lab?", &book, None),
            ("내일 회의실 예약해 줄래요?", &book, None),
            ("왜 안 돼? 회의실 예약해줘", &book, None),
            (
                "Set hong's daily limit to 500",
                &limit,
                Some(Contrary::Does),
            ),
            ("hong의 한도를 없애줘", &limit, Some(Contrary::Does)),
            ("kim에게 메일 보내 주세요", &limit, Some(Contrary::Does)),
            ("What is the daily limit of hong?", &limit, None),
            ("hong의 일일 제한량 알려줘", &limit, None),
            ("Delete user 42", &delete, None),
            ("Cancel the alarm and book the large room", &book, None),
        ] {
            assert_eq!(contrary(request, tool), expected, "{request}");
        }
    }

    #[test]
    fn another_span_than_the_one_of_the_tool_is_told() {
        let limit = Doer {
            name: "get_user_daily_limit",
            descriptions: ["Looks up how many calls a user has", ""],
            only_reads: true,
        };
        let book = Doer {
            name: "book_room",
            descriptions: ["Books a meeting room", ""],
            only_reads: false,
        };
        for (request, tool, expected) in [
            (
                "How many calls a week may hong make?",
                &limit,
                Some(Contrary::Spans),
            ),
            (
                "kim이 일주일에 몇 번 호출할 수 있어?",
                &limit,
                Some(Contrary::Spans),
            ),
            ("hourly limit of hong", &limit, Some(Contrary::Spans)),
            ("How many calls a day may hong make?", &limit, None),
            ("Book the lab for a week", &book, None),
            ("daily limit of hong on a weekend", &limit, None),
            (
                "Give me hong's daily limit for the monthly report",
                &limit,
                None,
            ),
        ] {
            assert_eq!(contrary(request, tool), expected, "{request}");
        }
    }
}
