//! What can be seen of a request and of the tool that fits it best, in numbers: what the outcome is judged by.

use crate::corpus::Corpus;
use crate::words::{is_hangul, words};

/// What each number is, in their order.
pub const FEATURES: [&str; 35] = [
    "meaning",
    "name",
    "example",
    "words",
    "spelling",
    "score",
    "above the others",
    "before the second",
    "tools",
    "korean",
    "length",
    "words not of the tool",
    "share not of the tool",
    "numbers",
    "quotes",
    "proper names",
    "required",
    "nothing required",
    "missing",
    "enough",
    "values",
    "asks for knowledge",
    "small talk",
    "asks to do",
    "vague",
    "meaning in korean",
    "above in korean",
    "missing in korean",
    "share in korean",
    "enough in korean",
    "given",
    "something given",
    "given in korean",
    "numbers in korean",
    "length in korean",
];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Features(pub [f32; FEATURES.len()]);

/// What is known of the tool that fits best.
#[derive(Debug, Default)]
pub(crate) struct Top {
    pub(crate) at: Option<usize>,
    pub(crate) about: f32,
    pub(crate) name: f32,
    pub(crate) example: Option<f32>,
    pub(crate) words: f32,
    pub(crate) spelling: f32,
    pub(crate) score: f32,
    /// By how many spreads it is above the mean.
    pub(crate) above: f32,
    /// By how much it is before the second.
    pub(crate) margin: f32,
    pub(crate) shown: usize,
}

impl Features {
    pub(crate) fn new(request: &str, top: &Top, corpus: &Corpus) -> Self {
        let read = Read::new(request, top, corpus);
        let required = top.at.map_or(0, |at| corpus.parts[at].required);
        let missing = required.saturating_sub(read.values);
        let korean = number(usize::from(read.is_korean));
        let enough = match required {
            0 => 1.0,
            _ => (number(read.values) / number(required)).min(2.0) / 2.0,
        };
        let share = number(read.unexplained) / number(read.said.max(1));
        let above = top.above.clamp(0.0, 8.0) / 8.0;
        let missing = number(missing.min(4)) / 4.0;
        let meaning = top.about.max(0.0);
        let certain = read.numbers + read.names + read.quotes + read.given;
        let certain = number(usize::from(certain > 0));
        Features([
            meaning,
            top.name.max(0.0),
            top.example.unwrap_or(meaning).max(meaning),
            top.words.min(2.0),
            top.spelling,
            top.score,
            above,
            top.margin.clamp(0.0, 0.5) * 2.0,
            (1.0 + number(top.shown)).ln() / 7.0,
            korean,
            (1.0 + number(read.said)).ln() / 3.0,
            number(read.unexplained.min(10)) / 10.0,
            share,
            number(read.numbers.min(4)) / 4.0,
            number(read.quotes.min(2)) / 2.0,
            number(read.names.min(4)) / 4.0,
            number(required.min(6)) / 6.0,
            number(usize::from(required == 0)),
            missing,
            enough,
            number(read.values.min(6)) / 6.0,
            number(usize::from(read.is_knowledge)),
            number(usize::from(read.is_talk)),
            number(usize::from(read.is_order)),
            number(usize::from(read.is_vague)),
            meaning * korean,
            above * korean,
            missing * korean,
            share * korean,
            enough * korean,
            number(read.given.min(4)) / 4.0,
            certain,
            number(read.given.min(4)) / 4.0 * korean,
            number(read.numbers.min(4)) / 4.0 * korean,
            (1.0 + number(read.said)).ln() / 3.0 * korean,
        ])
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of words are small")]
fn number(count: usize) -> f32 {
    count as f32
}

/// A request, read for what it gives and what it wants.
#[derive(Debug, Default)]
struct Read {
    is_korean: bool,
    /// Words that say something.
    said: usize,
    /// Of these, those that the tool does not have.
    unexplained: usize,
    numbers: usize,
    quotes: usize,
    names: usize,
    /// Runs of words that look like something to give to a tool.
    values: usize,
    /// Words that stand where something given stands: after `in` or `to`, before `에서` or `까지`.
    given: usize,
    is_knowledge: bool,
    is_talk: bool,
    is_order: bool,
    is_vague: bool,
}

impl Read {
    fn new(request: &str, top: &Top, corpus: &Corpus) -> Self {
        let small = request.to_lowercase();
        let any = |phrases: &[&str]| phrases.iter().any(|it| holds(&small, it));
        let mut read = Read {
            is_korean: request.chars().any(is_hangul),
            quotes: quotes(request),
            is_knowledge: any(&KNOWLEDGE),
            is_talk: any(&TALK),
            is_order: any(&ORDER),
            is_vague: any(&VAGUE),
            ..Read::default()
        };
        let mut is_run = false;
        let mut begins = true;
        let mut leads = false;
        for token in request.split_whitespace() {
            let kind = read.token(token, begins, top, corpus);
            begins = token.ends_with(['.', '!', '?']);
            let bare = token.trim_matches(|c: char| !c.is_alphanumeric());
            let is_place = PLACES.iter().any(|it| bare.ends_with(it));
            read.given += usize::from(kind == Kind::Other && (leads || is_place));
            leads = LEADS.contains(&bare.to_ascii_lowercase().as_str());
            read.numbers += usize::from(kind == Kind::Number);
            read.names += usize::from(kind == Kind::Name);
            let is_value = matches!(kind, Kind::Number | Kind::Name | Kind::Other);
            read.values += usize::from(is_value && !is_run);
            is_run = is_value && !token.ends_with([',', ';', '.']);
        }
        read
    }

    /// What a token is, and counts its words.
    fn token(&mut self, token: &str, begins: bool, top: &Top, corpus: &Corpus) -> Kind {
        let is_generic = GENERIC.iter().any(|it| token.starts_with(it));
        let said: Vec<_> = words(token)
            .into_iter()
            .filter(|it| !it.is_common)
            .collect();
        if token.chars().any(|c| c.is_ascii_digit()) {
            self.said += 1;
            return Kind::Number;
        }
        let bare = token.trim_matches(|c: char| !c.is_alphanumeric());
        if bare.contains(['@', '/', '_', '.', '-']) && bare.is_ascii() {
            self.said += 1;
            return Kind::Name;
        }
        if said.is_empty() || is_generic {
            return Kind::Nothing;
        }
        let has = |key: u32| top.at.is_some_and(|at| corpus.parts[at].bag.has(key));
        let known = said.iter().filter(|it| has(it.key)).count();
        self.said += 1;
        if known * 2 >= said.len() {
            return Kind::Known;
        }
        self.unexplained += 1;
        let is_capital = token
            .chars()
            .find(|c| c.is_alphabetic())
            .is_some_and(char::is_uppercase);
        let is_latin = token.chars().any(|c| c.is_ascii_alphabetic());
        let is_verb = VERBS.iter().any(|it| bare.ends_with(it));
        match is_latin && (self.is_korean || (is_capital && !begins)) {
            true => Kind::Name,
            false if is_verb => Kind::Nothing,
            false => Kind::Other,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nothing,
    /// The tool has it.
    Known,
    Number,
    Name,
    Other,
}

fn quotes(request: &str) -> usize {
    let marks = request
        .chars()
        .filter(|c| "\"“”'‘’「」".contains(*c))
        .count();
    // `don't` has one.
    marks / 2
}

/// Whether a phrase stands in a text; one of letters only where no letter goes on.
fn holds(text: &str, phrase: &str) -> bool {
    let mut found = text.match_indices(phrase);
    found.any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        let is_open = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric());
        !phrase.is_ascii() || (is_open(before) && is_open(after))
    })
}

/// Asked of somebody who knows, not of somebody who does.
const KNOWLEDGE: [&str; 40] = [
    "who is",
    "who was",
    "who wrote",
    "who invented",
    "who painted",
    "what is the meaning",
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
    "how do",
    "difference between",
    "history of",
    "capital of",
    "tell me about",
    "when did",
    "when was",
    "how many",
    "what causes",
    "뭐야",
    "무엇",
    "뭔가요",
    "뭐예요",
    "왜",
    "설명",
    "차이",
    "누구",
    "누가",
    "언제 ",
    "어떻게",
    "의미",
    "역사",
    "수도",
    "이유",
];

const TALK: [&str; 26] = [
    "hello",
    "hi",
    "hey",
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
    "안녕",
    "고마",
    "감사",
    "반가",
    "잘 지",
    "농담",
    "심심",
    "힘들",
    "시를",
    "삼행시",
    "너는",
];

const ORDER: [&str; 44] = [
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
];

/// Points to something that the request does not say.
const VAGUE: [&str; 26] = [
    "something",
    "someone",
    "somewhere",
    "some",
    "this",
    "that",
    "it",
    "them",
    "my",
    "a file",
    "the file",
    "stuff",
    "thing",
    "things",
    "him",
    "her",
    "그거",
    "이거",
    "그것",
    "이것",
    "뭔가",
    "어떤",
    "누군가",
    "하나",
    "좀",
    "내",
];

/// Korean words that give nothing to a tool, whatever their endings.
const GENERIC: [&str; 62] = [
    "지금", "혹시", "바로", "다시", "현재", "요즘", "그냥", "한번", "한 번", "빨리", "얼른",
    "제발", "아마", "정말", "진짜", "너무", "많이", "조금", "잠깐", "우리", "나는", "내가", "제가",
    "저는", "저의", "나의", "너는", "네가", "당신", "이거", "그거", "저거", "이것", "그것", "무엇",
    "뭐", "어디", "언제", "얼마", "어떻", "어떤", "무슨", "알고", "알아", "알려", "싶", "있", "없",
    "해줘", "해주", "해줄", "하려", "할까", "하고", "하는", "했", "될까", "되는", "궁금", "필요",
    "부탁", "가능",
];

/// Endings of Korean verbs: what ends so is done, not given.
const VERBS: [&str; 64] = [
    "있어", "했어", "해줘", "하고", "해서", "는데", "인데", "려고", "을까", "할까", "나요", "세요",
    "니다", "어요", "아요", "해요", "줄래", "싶어", "하는", "있는", "가는", "되는", "되고", "보고",
    "찾고", "하면", "으면", "라고", "다고", "같아", "같은", "해야", "았어", "었어", "였어", "왔어",
    "은데", "건데", "는지", "지를", "어도", "위해", "통해", "대해", "주실", "보여", "러줘", "려줘",
    "해봐", "아봐", "어봐", "아줘", "어줘", "여줘", "와줘", "까요", "할게", "했는", "겠다", "잖아",
    "거든", "였는", "했을", "한데",
];

/// After these stands what is given.
const LEADS: [&str; 14] = [
    "in", "to", "from", "for", "of", "at", "on", "about", "with", "named", "called", "by",
    "between", "into",
];

/// Before these stands what is given.
const PLACES: [&str; 22] = [
    "에서",
    "까지",
    "부터",
    "에게",
    "한테",
    "으로",
    "과의",
    "와의",
    "이랑",
    "님께",
    "씨에",
    "역",
    "동",
    "구",
    "시에",
    "읍",
    "대학교",
    "은행",
    "점에",
    "님",
    "의",
    "로",
];
