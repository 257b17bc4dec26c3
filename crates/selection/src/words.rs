//! Texts fall into words: names at their joints, English without its endings, Korean two syllables at a time, numbers as
//! what they all are.

use crate::signs::spelled;

/// More of a text than this says nothing new about a tool.
pub(crate) const TEXT_BYTES_MAX: usize = 8 * 1024;

/// A word as it is compared, and whether it says anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// The same for the same text, everywhere and always.
    pub(crate) key: u32,
    /// `the` and `please` say nothing about which tool is meant.
    pub(crate) is_common: bool,
}

impl Word {
    fn new(text: String, is_common: bool) -> Self {
        let key = key(text.as_bytes());
        Word {
            text,
            key,
            is_common,
        }
    }

    pub(crate) fn is_number(&self) -> bool {
        self.text == NUMBER
    }
}

/// FNV-1a with its bits mixed once more, since only some of them are used.
pub(crate) fn key(bytes: &[u8]) -> u32 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 29;
    hash = hash.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (hash >> 32) as u32
}

/// What every number is as a word: which one it is says what a tool is to be given, not which tool is meant.
const NUMBER: &str = "#";

pub(crate) fn cut(text: &str, bytes_max: usize) -> &str {
    &text[..text.floor_char_boundary(bytes_max)]
}

/// The words of a text in their order.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let text = spelled(cut(text, TEXT_BYTES_MAX));
    for run in text.split(|c: char| !c.is_alphanumeric()) {
        for part in joints(run) {
            if part.chars().next().is_some_and(is_syllable) {
                pairs(part, &mut found);
            } else if part.chars().all(char::is_numeric) {
                found.push(Word::new(NUMBER.to_owned(), true));
            } else {
                let small = part.to_lowercase();
                let is_common = is_common(&small);
                found.push(Word::new(stem(&small), is_common));
            }
        }
    }
    found
}

/// The words of a text that say something, as they are compared.
#[must_use]
pub fn keys(text: &str) -> Vec<u32> {
    let said = words(text).into_iter().filter(|it| !it.is_common);
    said.map(|it| it.key).collect()
}

/// Whether a word, in small letters, says nothing about which tool is meant: `the`, `please`.
#[must_use]
pub fn is_common(small: &str) -> bool {
    COMMON.binary_search(&small).is_ok()
}

/// A name as a sentence would have it: `getURLs_v2` becomes `get urls v2`.
#[must_use]
pub fn spoken(name: &str) -> String {
    let mut spoken = String::with_capacity(name.len() + 8);
    for run in name.split(|c: char| !c.is_alphanumeric()) {
        for part in joints(run) {
            if !spoken.is_empty() {
                spoken.push(' ');
            }
            spoken.push_str(&part.to_lowercase());
        }
    }
    spoken
}

/// `parseHTTPBody한글` to `parse`, `HTTP`, `Body`, `한글`.
fn joints(run: &str) -> Vec<&str> {
    let chars: Vec<(usize, char)> = run.char_indices().collect();
    let mut parts = Vec::new();
    let mut start = 0;
    for at in 1..chars.len() {
        let (before, (here, this)) = (chars[at - 1].1, chars[at]);
        // `URLs` is one word.
        let rest = chars[at + 1..].iter().map(|(_, c)| *c);
        let is_plural = rest.clone().take(2).eq(['s']);
        let next_is_small = !is_plural && rest.clone().next().is_some_and(char::is_lowercase);
        let is_new = is_syllable(before) != is_syllable(this)
            || (this.is_uppercase() && (!before.is_uppercase() || next_is_small));
        if is_new {
            parts.push(&run[start..here]);
            start = here;
        }
    }
    if start < run.len() {
        parts.push(&run[start..]);
    }
    parts
}

/// Nothing parts the words of Korean from their endings, nor those of Chinese and Japanese from each other.
fn pairs(run: &str, found: &mut Vec<Word>) {
    let chars: Vec<char> = run.chars().collect();
    if chars.len() == 1 {
        found.push(Word::new(run.to_owned(), true));
        return;
    }
    for pair in chars.windows(2) {
        let text: String = pair.iter().collect();
        let is_common = COMMON_PAIRS.contains(&text.as_str());
        found.push(Word::new(text, is_common));
    }
}

pub(crate) fn is_syllable(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3040}'..='\u{30ff}' | '\u{3130}'..='\u{318f}'
        | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}')
}

#[must_use]
pub fn is_hangul(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7a3}')
}

/// Endings, the longest first, each with how many letters must be left.
const ENDINGS: [(&str, usize); 17] = [
    ("ations", 4),
    ("ation", 4),
    ("ators", 4),
    ("ator", 4),
    ("ating", 4),
    ("ated", 4),
    ("ates", 4),
    ("ate", 4),
    ("ings", 3),
    ("ing", 3),
    ("ers", 4),
    ("ies", 2),
    ("er", 4),
    ("ed", 3),
    ("es", 3),
    ("s", 3),
    ("e", 3),
];

/// What is left of an English word without its ending: rough, but the same for all forms of most words.
fn stem(word: &str) -> String {
    if !word.is_ascii() || word.bytes().any(|b| b.is_ascii_digit()) {
        return word.to_owned();
    }
    for (ending, least) in ENDINGS {
        let Some(rest) = word.strip_suffix(ending) else {
            continue;
        };
        if rest.len() < least || (ending == "s" && rest.ends_with(['s', 'u', 'i'])) {
            continue;
        }
        if ending == "ies" {
            return format!("{rest}y");
        }
        // `stopping` and `stopped` are of `stop`; `calling` is of `call`.
        let bytes = rest.as_bytes();
        let is_doubled = matches!(ending, "ing" | "ed" | "er" | "ers" | "ings")
            && bytes.len() > 3
            && bytes[bytes.len() - 1] == bytes[bytes.len() - 2]
            && !rest.ends_with(['l', 's', 'z']);
        let end = rest.len() - usize::from(is_doubled);
        return rest[..end].to_owned();
    }
    word.to_owned()
}

/// In order.
const COMMON: [&str; 123] = [
    "a",
    "able",
    "about",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "based",
    "be",
    "been",
    "being",
    "but",
    "by",
    "can",
    "could",
    "d",
    "did",
    "do",
    "does",
    "e",
    "each",
    "etc",
    "for",
    "from",
    "function",
    "g",
    "get",
    "give",
    "given",
    "gonna",
    "had",
    "has",
    "have",
    "hello",
    "help",
    "her",
    "here",
    "hey",
    "hi",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "just",
    "kindly",
    "know",
    "let",
    "like",
    "ll",
    "looking",
    "m",
    "may",
    "me",
    "might",
    "more",
    "my",
    "need",
    "no",
    "not",
    "now",
    "of",
    "on",
    "one",
    "only",
    "or",
    "our",
    "out",
    "please",
    "provide",
    "provided",
    "provides",
    "re",
    "s",
    "shall",
    "should",
    "show",
    "so",
    "some",
    "specific",
    "specified",
    "such",
    "t",
    "tell",
    "than",
    "thanks",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "to",
    "tool",
    "up",
    "us",
    "use",
    "used",
    "user",
    "using",
    "ve",
    "want",
    "was",
    "we",
    "were",
    "what",
    "which",
    "will",
    "with",
    "would",
    "you",
];

/// Endings and courtesies of Korean.
const COMMON_PAIRS: [&str; 48] = [
    "알려", "려줘", "주세", "세요", "해줘", "해주", "하는", "습니", "니다", "합니", "하고", "싶어",
    "고싶", "있어", "있을", "을까", "할까", "줄래", "줄수", "수있", "나요", "어요", "에서", "으로",
    "까지", "부터", "해서", "하려", "려고", "는데", "인데", "제공", "공합", "한다", "하세", "해요",
    "이야", "입니", "됩니", "대한", "위한", "주어", "어진", "특정", "사용", "용자", "해봐", "궁금",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> String {
        let words = words(text).into_iter().map(|word| word.text);
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn texts_fall_into_words() {
        for (text, expected) in [
            ("web_search.v2-beta", "web search v2 beta"),
            ("parseHTTPBody", "pars http body"),
            ("getURLs", "get url"),
            ("Files, status & classes", "fil status class"),
            ("날씨를 알려줘", "날씨 씨를 알려 려줘"),
            ("PDF변환 도구", "pdf 변환 도구"),
            ("차", "차"),
            ("ÉCOLE  42", "école #"),
            ("1,250원 or mp3", "# # 원 or mp3"),
            ("__", ""),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }

    #[test]
    fn forms_of_a_word_are_one_word() {
        for forms in [
            "calculate calculates calculating calculated calculator calculation",
            "stop stops stopped stopping",
            "call calls called calling",
            "city cities",
            "convert converts converted converting converter",
        ] {
            let all = words(forms);
            assert!(
                all.iter().all(|it| it.key == all[0].key),
                "{}",
                split(forms)
            );
        }
    }

    #[test]
    fn what_says_nothing_is_known_as_such() {
        let said = |text: &str| {
            let words = words(text).into_iter().filter(|it| !it.is_common);
            words.map(|it| it.text).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(said("Could you please tell me the price?"), "pric");
        assert_eq!(said("서울 날씨 알려줘"), "서울 날씨");
        assert_eq!(said("15 of 60"), "");
        assert!(COMMON.is_sorted());
    }

    #[test]
    fn names_are_spoken() {
        assert_eq!(spoken("getURLs_v2"), "get urls v2");
        assert_eq!(spoken("날씨.조회PDF"), "날씨 조회 pdf");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("가나다", 4), "가");
        assert_eq!(cut("abc", 9), "abc");
    }
}
