//! How a request speaks: whether it orders, asks, points at something unsaid, or says that it does not know.

use crate::refusal::is_refusal;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manner {
    pub(crate) is_knowledge: bool,
    pub(crate) is_talk: bool,
    pub(crate) is_order: bool,
    /// Something is meant that the request does not say.
    pub(crate) is_vague: bool,
    /// It says itself that something is not known.
    pub(crate) is_unknown: bool,
    /// Something is not to be done.
    pub(crate) is_refusal: bool,
    /// Words that point to what was said before, or is before one's eyes.
    pub(crate) points: usize,
    /// Something of the asker's own.
    pub(crate) is_own: bool,
    /// What is asked for changes: how it is now.
    pub(crate) is_now: bool,
    /// How it once was.
    pub(crate) is_past: bool,
}

impl Manner {
    pub(crate) fn new(request: &str) -> Self {
        let small = request.to_lowercase().replace('’', "'");
        let any = |phrases: &[&str]| phrases.iter().any(|it| holds(&small, it));
        Manner {
            is_knowledge: any(&KNOWLEDGE),
            is_talk: any(&TALK),
            is_order: any(&ORDER),
            is_vague: any(&VAGUE),
            is_unknown: any(&UNKNOWN),
            is_refusal: is_refusal(request, &small),
            points: tokens(&small).filter(|it| points(it)).count(),
            is_now: tokens(&small).any(is_now),
            is_past: tokens(&small).any(is_past),
            is_own: tokens(&small).any(|it| OWN.contains(&it)),
        }
    }
}

/// Whether a phrase stands in a text; one of letters only where no letter goes on.
pub(crate) fn holds(text: &str, phrase: &str) -> bool {
    let mut found = text.match_indices(phrase);
    found.any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        let is_open = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric());
        !phrase.is_ascii() || (is_open(before) && is_open(after))
    })
}

pub(crate) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '\'';
    text.split(move |c| !is_word(c)).filter(|it| !it.is_empty())
}

/// Korean adds its endings to them.
fn points(token: &str) -> bool {
    POINTING.contains(&token) || POINTING_KOREAN.iter().any(|it| token.starts_with(it))
}

fn is_now(token: &str) -> bool {
    NOW.contains(&token) || NOW_KOREAN.iter().any(|it| token.starts_with(it))
}

/// A year that is long gone, or a word that only the past has.
fn is_past(token: &str) -> bool {
    let year = token.trim_end_matches("년에").trim_end_matches('년');
    let is_year = year.len() == 4 && matches!(year.parse::<u16>(), Ok(1000..2015));
    is_year || PAST.contains(&token)
}

const NOW: [&str; 22] = [
    "now",
    "today",
    "today's",
    "tonight",
    "yesterday",
    "yesterday's",
    "tomorrow",
    "currently",
    "current",
    "latest",
    "newest",
    "recent",
    "recently",
    "lately",
    "nowadays",
    "yet",
    "still",
    "already",
    "live",
    "upcoming",
    "next",
    "just",
];

const NOW_KOREAN: [&str; 18] = [
    "지금",
    "오늘",
    "어제",
    "어젯밤",
    "내일",
    "현재",
    "요즘",
    "요새",
    "최근",
    "최신",
    "이번",
    "올해",
    "작년",
    "내년",
    "다음",
    "아직",
    "벌써",
    "근황",
];

const PAST: [&str; 14] = [
    "was",
    "were",
    "wrote",
    "invented",
    "founded",
    "discovered",
    "painted",
    "built",
    "born",
    "ancient",
    "century",
    "발명한",
    "발견한",
    "옛날",
];

const POINTING: [&str; 22] = [
    "it", "this", "that", "these", "those", "him", "her", "them", "he", "she", "they", "same",
    "usual", "earlier", "previous", "else", "some", "any", "그", "이", "저", "다른",
];

const POINTING_KOREAN: [&str; 22] = [
    "그거",
    "이거",
    "저거",
    "그것",
    "이것",
    "저것",
    "그걸",
    "이걸",
    "그게",
    "이게",
    "그분",
    "걔",
    "아까",
    "그때",
    "거기",
    "여기",
    "지난번",
    "저번",
    "방금",
    "그쪽",
    "그놈",
    "요거",
];

const OWN: [&str; 10] = [
    "my", "mine", "our", "내", "제", "우리", "저희", "내가", "제가", "나의",
];

/// Asked of somebody who knows, not of somebody who does.
const KNOWLEDGE: [&str; 46] = [
    "who is",
    "who was",
    "who wrote",
    "who invented",
    "who painted",
    "who discovered",
    "what is the meaning",
    "meaning of",
    "what does",
    "what is a",
    "what is an",
    "what are",
    "what was",
    "why",
    "explain",
    "define",
    "definition of",
    "how does",
    "difference between",
    "history of",
    "capital of",
    "tell me about",
    "when did",
    "when was",
    "what causes",
    "in which year",
    "in what year",
    "뭐야",
    "무엇",
    "뭔가요",
    "뭐예요",
    "왜",
    "설명",
    "차이",
    "누구",
    "누가",
    "의미",
    "역사",
    "수도는",
    "이유",
    "무슨 뜻",
    "무슨뜻",
    "몇 년에",
    "뭐가 달라",
    "개념",
    "원리",
];

const TALK: [&str; 31] = [
    "hello",
    "hi",
    "good morning",
    "good evening",
    "thanks",
    "thank you",
    "how are you",
    "joke",
    "poem",
    "haiku",
    "bye",
    "nice to meet",
    "who are you",
    "your name",
    "do you think",
    "your opinion",
    "안녕",
    "고마",
    "감사합",
    "반가",
    "잘 지",
    "농담",
    "심심",
    "힘들",
    "삼행시",
    "너는",
    "넌 ",
    "생각해",
    "haha",
    "lol",
    "ㅋㅋ",
];

const ORDER: [&str; 46] = [
    "find",
    "search",
    "get",
    "send",
    "create",
    "make",
    "book",
    "schedule",
    "convert",
    "calculate",
    "check",
    "show",
    "list",
    "give me",
    "look up",
    "retrieve",
    "add",
    "delete",
    "remove",
    "update",
    "set",
    "play",
    "order",
    "translate",
    "run",
    "open",
    "download",
    "i need",
    "i want",
    "help me",
    "can you",
    "could you",
    "해줘",
    "해 줘",
    "주세요",
    "알려",
    "줄래",
    "줘",
    "찾아",
    "보내",
    "싶어",
    "싶습",
    "부탁",
    "해라",
    "please",
    "pls",
];

/// Points to something that the request does not say.
const VAGUE: [&str; 31] = [
    "something",
    "someone",
    "somebody",
    "somewhere",
    "that one",
    "this one",
    "deploy it",
    "send it",
    "that user",
    "that customer",
    "stuff",
    "things",
    "a file",
    "the file",
    "an order",
    "nearby",
    "near me",
    "around here",
    "for a while",
    "그거",
    "이거",
    "그것",
    "이것",
    "거기",
    "여기",
    "그 고객",
    "그 사람",
    "뭔가",
    "누군가",
    "하나",
    "한 통",
];

const UNKNOWN: [&str; 16] = [
    "don't know",
    "do not know",
    "don't remember",
    "can't remember",
    "forgot",
    "not sure",
    "no idea",
    "don't have the",
    "lost the",
    "몰라",
    "모르겠",
    "모르는데",
    "기억이 안",
    "기억 안",
    "까먹",
    "잊어버",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_request_speaks_is_seen() {
        let manner = Manner::new("Why is the sky blue?");
        assert!(manner.is_knowledge && !manner.is_order && !manner.is_talk);
        assert!(Manner::new("안녕하세요").is_talk);
        assert!(Manner::new("find a hotel").is_order && !Manner::new("findings").is_order);
        assert!(Manner::new("그거 보내줘").is_vague);
        assert!(Manner::new("I don’t remember the number").is_unknown);
        let pointing = Manner::new("my friend wants that, 그거 말이야");
        assert!(pointing.points == 2 && pointing.is_own);
        assert_eq!(Manner::new("서울역"), Manner::default());
    }
}
