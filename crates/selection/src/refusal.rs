//! Whether a request says that something is not to be done, or that nothing is wanted: `do not send any mail`, `아 됐어요`.

use crate::manner::{holds, tokens};

/// `small` is the request in small letters.
pub(crate) fn is_refusal(request: &str, small: &str) -> bool {
    REFUSAL.iter().any(|it| holds(small, it)) || declines(small) || refuses(request)
}

const REFUSAL: [&str; 15] = [
    "never mind",
    "nevermind",
    "don't send",
    "don't do",
    "do not send",
    "not yet",
    "no need",
    "forget it",
    "myself then",
    "cancel that",
    "하지 마",
    "하지마",
    "보내지 마",
    "안 해도",
    "내가 할게",
];

/// Whether somebody says in Korean that nothing is wanted: `아 됐어요`, `괜찮아, 내가 할게`. `누가 됐어` and `내일 괜찮아?` ask.
fn declines(small: &str) -> bool {
    let marks = [',', '.', '!', '?', '\n'];
    small.split_inclusive(marks).any(|it| {
        let said = it.trim_matches(|c: char| marks.contains(&c) && c != '?');
        let mut words = said.split_whitespace();
        let first = words
            .find(|it| !is_before_a_refusal(it))
            .unwrap_or_default();
        DECLINES.contains(&first.strip_suffix('요').unwrap_or(first))
    })
}

/// An interjection, or what it is about: `검색은`.
fn is_before_a_refusal(word: &str) -> bool {
    INTERJECTIONS.contains(&word) || word.ends_with(['은', '는'])
}

const DECLINES: [&str; 3] = ["됐어", "됐습니다", "괜찮아"];
const INTERJECTIONS: [&str; 21] = [
    "아니요",
    "아니오",
    "아냐",
    "아니다",
    "네",
    "전",
    "저",
    "아",
    "아니",
    "아니야",
    "아뇨",
    "어",
    "음",
    "응",
    "이제",
    "그럼",
    "그냥",
    "난",
    "나는",
    "저는",
    "그건",
];

/// Whether all that is said is that something is not to be done: `do not send any mail`, `메일 보내지 마`. What goes on with
/// something else to do refuses only how: `don't mail it, send a message`.
#[must_use]
pub fn refuses(request: &str) -> bool {
    let small = request.to_lowercase().replace('’', "'");
    let words: Vec<&str> = tokens(&small).collect();
    let is_polite = |it: &&&str| {
        matches!(
            **it,
            "please" | "no" | "ok" | "oh" | "hey" | "wait" | "so" | "and" | "but" | "just" | "stop"
        )
    };
    let start = words.iter().take_while(is_polite).count();
    let rest = &words[start..];
    let (is_not, after) = match rest {
        ["don't" | "dont" | "never", after @ ..]
        | ["do", "not", after @ ..]
        | ["i", "don't", "want", "you", "to", after @ ..]
        | ["i", "do", "not", "want", "you", "to", after @ ..] => (true, after),
        _ => (false, rest),
    };
    let is_kept = matches!(
        after.first(),
        None | Some(&("forget" | "let" | "you" | "we" | "i" | "they" | "worry" | "lose"))
    );
    let goes_on = [
        ", ", "; ", " but ", " instead", " just ", ". ", " until ", " - ",
    ]
    .iter()
    .any(|it| small.contains(it));
    if is_not && !is_kept && !goes_on {
        return true;
    }
    let last = small.trim_end_matches(|c: char| !c.is_alphanumeric());
    let last = last.strip_suffix('요').unwrap_or(last);
    let ends = NOT_KOREAN.iter().find_map(|it| last.strip_suffix(it));
    ends.is_some_and(|before| !KEPT_KOREAN.iter().any(|it| before.trim_end().ends_with(it)))
}

/// How Korean says that something is not to be done, at the end of what is said.
const NOT_KOREAN: [&str; 14] = [
    "지 마",
    "지마",
    "지 마라",
    "지마라",
    "지 말아줘",
    "지 말아 줘",
    "지 말아주세",
    "지 말아 주세",
    "지 마세",
    "지마세",
    "지 말아",
    "지 말자",
    "지 말고 기다려",
    "지 않아도 돼",
];

/// `잊지 마` asks for something.
const KEPT_KOREAN: [&str; 5] = ["잊", "놓치", "까먹", "빠뜨리", "걱정하"];

#[cfg(test)]
mod tests {
    use crate::manner::Manner;

    fn is(request: &str) -> bool {
        Manner::new(request).is_refusal
    }

    #[test]
    fn what_is_not_wanted_is_known_from_what_is_asked() {
        assert!(is("아니 하지 마"));
        for declined in [
            "됐어",
            "아 됐어요, 고마워",
            "괜찮아요. 제가 볼게요",
            "이제 됐습니다!",
            "아니요 괜찮아요",
            "아냐 됐어 취소",
            "검색은 됐어 나중에 할게",
        ] {
            assert!(is(declined), "{declined}");
        }
        for asked in [
            "삼성전자 새 대표 누가 됐어",
            "어떤 우유가 리콜됐어?",
            "내일 세 시 괜찮아?",
            "점심은 어떻게 됐어",
            "괜찮아?",
        ] {
            assert!(!is(asked), "{asked}");
        }
        for refusal in [
            "Do not send any mail",
            "please don't book anything",
            "Do not multiply 4 by 5",
            "메일 보내지 마",
            "회의실 예약하지 말아줘",
            "배포하지 마세요!",
            "I don't want you to book the lab on 2026-03-04",
        ] {
            assert!(is(refusal), "{refusal}");
        }
        for wish in [
            "Don't forget to send the mail",
            "don't use chat, e-mail it to kim@acme.example",
            "I don't want rain, is it dry in Seoul?",
            "메신저 말고 이메일로 보내줘",
            "우산 챙기는 거 잊지 마",
        ] {
            assert!(!is(wish), "{wish}");
        }
    }
}
