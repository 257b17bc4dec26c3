//! Whether something is to be looked up or to be done: `get_order` and `cancel_order` are about the same things, and only
//! the verb of a request tells which of them it needs. These are words that tell it surely; with the encoder of this program
//! the ranking goes by what was learned (`nature.rs`), which also reads requests without any of them.

use crate::manner::holds;
use crate::words::spoken;

/// What asks how things are.
const LOOKS: [&str; 28] = [
    "show",
    "list",
    "find",
    "look up",
    "look for",
    "check",
    "how many",
    "how much",
    "what",
    "which",
    "when",
    "where",
    "who",
    "is there",
    "are there",
    "does",
    "did",
    "has",
    "have",
    "get me",
    "tell me",
    "see",
    "view",
    "status",
    "track",
    "search",
    "fetch",
    "any",
];

const LOOKS_KOREAN: [&str; 22] = [
    "보여",
    "알려",
    "찾아",
    "조회",
    "확인",
    "검색",
    "어디",
    "언제",
    "얼마",
    "몇",
    "뭐",
    "무엇",
    "있나",
    "있는지",
    "인지",
    "봐줘",
    "봐 줘",
    "어때",
    "누구",
    "됐나",
    "됐어",
    "궁금",
];

/// What makes them different.
const DOES: [&str; 67] = [
    "create",
    "add",
    "make",
    "cancel",
    "delete",
    "remove",
    "send",
    "book",
    "reserve",
    "refund",
    "deploy",
    "roll back",
    "rollback",
    "revert",
    "submit",
    "file",
    "open a",
    "open an",
    "schedule",
    "set up",
    "update",
    "change",
    "register",
    "request",
    "put",
    "post",
    "mail",
    "e-mail",
    "email",
    "message",
    "shorten",
    "resize",
    "ship",
    "push",
    "apply",
    "report",
    "write",
    "forward",
    "reply",
    "order",
    "buy",
    "pay",
    "assign",
    "close",
    "start",
    "stop",
    "restart",
    "log a",
    "log an",
    "expense",
    "remind",
    "upload",
    "rename",
    "move",
    "approve",
    "money back",
    "raise",
    "increase",
    "lower",
    "extend",
    "postpone",
    "reschedule",
    "transfer",
    "install",
    "print",
    "sell",
    "reset",
];

const DOES_KOREAN: [&str; 45] = [
    "만들어",
    "생성",
    "추가",
    "취소",
    "삭제",
    "지워",
    "보내",
    "예약",
    "잡아",
    "환불",
    "배포",
    "롤백",
    "되돌려",
    "제출",
    "신청",
    "등록",
    "올려",
    "넣어",
    "바꿔",
    "변경",
    "줄여",
    "전송",
    "전달",
    "결제",
    "주문해",
    "작성",
    "열어",
    "끊어",
    "써줘",
    "써 줘",
    "남겨",
    "돌려줘",
    "돌려주",
    "늘려",
    "미뤄",
    "옮겨",
    "이체",
    "매수",
    "매도",
    "인쇄",
    "설치",
    "수정",
    "구매",
    "연장",
    "고쳐",
];

/// How tools are called that only look, and how those that do something.
const LOOKING: &str = " get list search find check track lookup show read fetch query count view describe estimate calculate compare ";
const DOING: &str = " add book cancel create delete deploy remove refund request reserve resize rollback send shorten submit update set make post put start stop restart register schedule order buy pay write upload change edit rename move assign close approve ";

/// Something is to be looked up: 1; to be done: -1; 0, where nothing tells, or both are spoken of.
pub(crate) fn of_request(request: &str) -> f32 {
    let small = request.to_lowercase();
    let any = |phrases: &[&str]| phrases.iter().any(|it| holds(&small, it));
    let looks = any(&LOOKS) || any(&LOOKS_KOREAN);
    let does = any(&DOES) || any(&DOES_KOREAN);
    match (looks, does) {
        (true, false) => 1.0,
        (false, true) => -1.0,
        _ => 0.0,
    }
}

/// The same of a tool, by the first word of its name or else by the last: `web_search`.
#[must_use]
pub fn of_tool(name: &str) -> f32 {
    let name = spoken(name);
    let of_word = |word: &str| {
        let word = format!(" {word} ");
        match (LOOKING.contains(&word), DOING.contains(&word)) {
            (true, _) => Some(1.0),
            (_, true) => Some(-1.0),
            _ => None,
        }
    };
    let first = name.split(' ').next().and_then(of_word);
    first
        .or_else(|| name.split(' ').next_back().and_then(of_word))
        .unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_tell_looking_from_doing() {
        for (request, expected) in [
            ("What became of A-20515?", 1.0),
            ("Cancel A-20515", -1.0),
            ("Find A-20515 and cancel it", 0.0),
            ("A-20515", 0.0),
            ("A-20515 지금 어디쯤이야", 1.0),
            ("A-20515 취소해줘", -1.0),
        ] {
            assert!((of_request(request) - expected).abs() < 1e-6, "{request}");
        }
    }

    #[test]
    fn names_tell_what_tools_do() {
        for (name, expected) in [
            ("get_order", 1.0),
            ("cancelOrder", -1.0),
            ("web_search", 1.0),
            ("calculator", 0.0),
            ("", 0.0),
        ] {
            assert!((of_tool(name) - expected).abs() < 1e-6, "{name}");
        }
    }
}
