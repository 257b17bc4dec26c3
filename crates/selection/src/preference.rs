//! What a description says about when to take a tool: "prefer Y if Z", "only for X", "not for W", in English and in
//! Korean. Such sentences are taken out of the text that is compared, since the words of "not for invoices" would draw
//! the invoices; what they say is kept as rules. What a tool says in its own praise is taken out, and kept nowhere.

use crate::korean::korean;
use crate::praise::{before_claim, without_praise};

/// A sentence about when to take which tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) kind: Kind,
    /// When it holds; always, where empty.
    pub(crate) condition: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Another tool is to be taken, known by what the sentence calls it.
    Prefer(String),
    /// This one is to be taken.
    Own,
    Only,
    Not,
}

/// A description without what is said about when to take the tool, and what is said.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) rules: Vec<Rule>,
}

/// More rules than this nobody follows.
const RULES_MAX: usize = 8;

pub(crate) fn read(description: &str) -> Said {
    let mut said = Said::default();
    let mut last = None;
    for sentence in sentences(description) {
        let small = sentence.to_ascii_lowercase();
        let sentence = before_claim(sentence, &small);
        if sentence.is_empty() {
            continue;
        }
        let small = &small[..sentence.len()];
        let found = rules(sentence, small, &mut last);
        // What a tool is only for is what it is for.
        let is_about = found.is_empty() || found.iter().all(|it| it.kind == Kind::Only);
        if is_about {
            if !said.text.is_empty() {
                said.text.push(' ');
            }
            said.text.push_str(&without_praise(sentence));
            said.text.truncate(said.text.trim_end().len());
        }
        said.rules.extend(found);
    }
    said.rules.truncate(RULES_MAX);
    said
}

fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            '.' | '!' | '?' => next.is_none_or(char::is_whitespace),
            '\n' | '。' => true,
            _ => false,
        };
        if ends {
            let end = at + c.len_utf8();
            found.push(text[start..end].trim());
            start = end;
        }
    }
    found.push(text[start..].trim());
    found.retain(|it| !it.is_empty());
    found
}

/// The rules that a sentence gives; none, where it speaks of something else.
fn rules(sentence: &str, small: &str, last: &mut Option<String>) -> Vec<Rule> {
    let mut found = Vec::new();
    // `Not for X; use Y instead` gives two.
    let mut start = 0;
    let mut ends: Vec<(usize, usize)> = Vec::new();
    for mark in [";", "—", "하고,"] {
        let found = small.match_indices(mark);
        ends.extend(found.map(|(at, it)| (at, at + it.len())));
    }
    ends.sort_unstable();
    for (end, next) in ends.into_iter().chain([(small.len(), small.len())]) {
        let part = Part {
            text: sentence[start..end].trim(),
            small: small[start..end].trim(),
        };
        start = next;
        let rule = not(part)
            .or_else(|| only(part))
            .or_else(|| prefer(part))
            .or_else(|| korean(part.text));
        let Some(mut rule) = rule else { continue };
        // `In that case` is the case before.
        let is_that = matches!(
            rule.condition.as_str(),
            "" | "그" | "그때" | "이때" | "that" | "that case"
        );
        if is_that && let Some(before) = last.as_ref() {
            rule.condition.clone_from(before);
        }
        *last = (rule.kind == Kind::Not).then(|| rule.condition.clone());
        let is_rule = !rule.condition.is_empty() || matches!(rule.kind, Kind::Prefer(_));
        if is_rule {
            found.push(rule);
        }
    }
    found
}

/// A part of a sentence, as it stands and in small letters; places are the same in both.
#[derive(Clone, Copy)]
struct Part<'a> {
    text: &'a str,
    small: &'a str,
}

impl<'a> Part<'a> {
    /// What stands before and after the first of some phrases.
    fn around(self, phrases: &[&str]) -> Option<(Part<'a>, Part<'a>)> {
        let found = phrases
            .iter()
            .filter_map(|it| Some((self.find(it)?, it.len())));
        let (at, length) = found.min()?;
        Some((self.cut(0, at), self.cut(at + length, self.small.len())))
    }

    /// Where a phrase stands by itself, not within a word.
    fn find(self, phrase: &str) -> Option<usize> {
        let mut found = self.small.match_indices(phrase).map(|(at, _)| at);
        found.find(|at| {
            let before = self.small[..*at].chars().next_back();
            let after = self.small[at + phrase.len()..].chars().next();
            let is_ascii = phrase.is_ascii();
            !is_ascii || !(before.is_some_and(is_letter) || after.is_some_and(is_letter))
        })
    }

    fn cut(self, from: usize, to: usize) -> Part<'a> {
        let small = &self.small[from..to];
        let left = small.len() - small.trim_start().len();
        let right = small.trim_end().len().max(left);
        Part {
            text: &self.text[from + left..from + right],
            small: &small[left..right],
        }
    }
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

const WHEN: [&str; 7] = ["if", "when", "for", "to", "whenever", "in case of", "where"];

fn condition(part: Part<'_>) -> String {
    let text = part
        .text
        .trim_matches(|c: char| c.is_whitespace() || ",.:!()".contains(c));
    let small = text.to_ascii_lowercase();
    for start in [
        "this tool ",
        "it ",
        "the user wants to ",
        "the user wants ",
        "you need to ",
        "you want to ",
        "you need ",
        "you want ",
    ] {
        if small.starts_with(start) {
            return text[start.len()..].trim().to_owned();
        }
    }
    text.to_owned()
}

fn not(part: Part<'_>) -> Option<Rule> {
    let phrases = [
        "do not use",
        "don't use",
        "never use",
        "should not be used",
        "not to be used",
        "must not be used",
        "not intended",
        "not suitable",
        "not meant",
        "not for",
        "cannot be used",
        "not designed",
    ];
    let (before, after) = part.around(&phrases)?;
    let is_bare = part.find("not for") == Some(before.small.len())
        || part.small[before.small.len()..]
            .trim_start()
            .starts_with("not for");
    let asked = if is_bare {
        after
    } else {
        after.around(&WHEN)?.1
    };
    let asked = asked
        .around(&["use", "instead"])
        .map_or(asked, |(first, _)| first);
    Some(Rule {
        kind: Kind::Not,
        condition: condition(asked),
    })
}

fn only(part: Part<'_>) -> Option<Rule> {
    let found = part.around(&[
        "only for",
        "only when",
        "only if",
        "only to",
        "exclusively for",
        "solely for",
    ]);
    // `Search first only if asked` is about something else.
    let found = found.filter(|(before, _)| before.small.is_empty() || before.small.contains("use"));
    let asked = if let Some((_, after)) = found {
        after
    } else {
        let (_, after) = part.around(&[
            "only use this tool",
            "only use this",
            "only use it",
            "only use",
            "only to be used",
            "should only be used",
        ])?;
        after.around(&WHEN)?.1
    };
    Some(Rule {
        kind: Kind::Only,
        condition: condition(asked),
    })
}

fn prefer(part: Part<'_>) -> Option<Rule> {
    let is_instead = part.find("instead").is_some();
    let (before, after) = match part.around(&["prefer"]) {
        Some(found) => found,
        None => part.around(&["use", "call", "choose", "try"])?,
    };
    let is_preferred = part.find("prefer").is_some();
    // `For Z, use Y` says when before what.
    let first = before
        .around(&WHEN)
        .filter(|(front, _)| front.small.is_empty());
    let (named, asked) = match (first, after.around(&WHEN)) {
        (Some((_, asked)), rest) => (rest.map_or(after, |(named, _)| named), Some(asked)),
        (None, Some((named, asked))) => (named, Some(asked)),
        (None, None) => (after, None),
    };
    let named = named
        .around(&["instead of", "instead", "over", "rather than"])
        .map_or(named, |(name, _)| name);
    let name = name(named.text);
    if name.is_empty() || !(is_preferred || is_instead || is_identifier(&name)) {
        return None;
    }
    let own = ["this", "this tool", "it", "this one", "this function"];
    let kind = match own.contains(&name.to_ascii_lowercase().as_str()) {
        true if is_preferred => Kind::Own,
        // `Use it for sums instead of guessing` says what it is for.
        true => return None,
        false => Kind::Prefer(name),
    };
    let asked = asked.map(|it| {
        it.around(&["instead", "unless"])
            .map_or(it, |(first, _)| first)
    });
    Some(Rule {
        kind,
        condition: asked.map(condition).unwrap_or_default(),
    })
}

/// What a sentence calls a tool, without what stands around the name.
pub(crate) fn name(text: &str) -> String {
    let trimmed = |text: &str| {
        text.trim_matches(|c: char| c.is_whitespace() || "`'\"“”‘’,.()".contains(c))
            .to_owned()
    };
    let mut name = trimmed(text);
    for word in ["the "] {
        if name.to_ascii_lowercase().starts_with(word) {
            name = trimmed(&name[word.len()..]);
        }
    }
    for word in [" tool", " function", " 도구", "도구"] {
        let is_own = name.eq_ignore_ascii_case("this tool") || name == "이 도구";
        if let Some(rest) = name.strip_suffix(word)
            && !is_own
        {
            name = trimmed(rest);
        }
    }
    name
}

pub(crate) fn is_identifier(name: &str) -> bool {
    let is_one = !name.contains(char::is_whitespace);
    let is_camel = name.chars().skip(1).any(char::is_uppercase);
    is_one && (name.contains(['_', '.', '-', '/']) || is_camel)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules_of(description: &str) -> Vec<(Kind, String)> {
        let rules = read(description).rules.into_iter();
        rules.map(|it| (it.kind, it.condition)).collect()
    }

    #[test]
    fn rules_are_read_in_english() {
        let prefer = |name: &str| Kind::Prefer(name.to_owned());
        for (description, kind, condition) in [
            (
                "Prefer web_search if the user wants news.",
                prefer("web_search"),
                "news",
            ),
            (
                "Prefer the `sql_query` tool for tables with many rows.",
                prefer("sql_query"),
                "tables with many rows",
            ),
            (
                "For Korean addresses, use geocode_kr instead.",
                prefer("geocode_kr"),
                "Korean addresses",
            ),
            (
                "Use calc.sum instead when numbers are added.",
                prefer("calc.sum"),
                "numbers are added",
            ),
            (
                "If the file is a PDF use readPdf.",
                prefer("readPdf"),
                "the file is a PDF",
            ),
            (
                "Prefer this tool when maps are wanted.",
                Kind::Own,
                "maps are wanted",
            ),
            ("Use this tool only for invoices.", Kind::Only, "invoices"),
            (
                "Only use this when a tracking number is given.",
                Kind::Only,
                "a tracking number is given",
            ),
            ("Not for medical questions.", Kind::Not, "medical questions"),
            (
                "Do not use this tool for live prices.",
                Kind::Not,
                "live prices",
            ),
            ("Should not be used to send mail", Kind::Not, "send mail"),
        ] {
            assert_eq!(
                rules_of(description),
                [(kind, condition.to_owned())],
                "{description}"
            );
        }
    }

    #[test]
    fn rules_are_read_in_korean() {
        let prefer = |name: &str| Kind::Prefer(name.to_owned());
        for (description, kind, condition) in [
            (
                "뉴스를 찾는 경우에는 web_search를 우선 사용하세요.",
                prefer("web_search"),
                "뉴스를 찾는",
            ),
            (
                "해외 주소라면 이 도구 대신 geocode를 사용하세요.",
                prefer("geocode"),
                "해외 주소",
            ),
            (
                "국내 날씨에는 kma_weather 도구를 선호합니다.",
                prefer("kma_weather"),
                "국내 날씨",
            ),
            ("송장 조회에만 사용합니다.", Kind::Only, "송장 조회"),
            ("의료 상담에는 사용하지 마세요.", Kind::Not, "의료 상담"),
            (
                "실시간 시세를 볼 때는 이 도구를 사용하지 않는다.",
                Kind::Not,
                "실시간 시세를 볼",
            ),
        ] {
            assert_eq!(
                rules_of(description),
                [(kind, condition.to_owned())],
                "{description}"
            );
        }
    }

    #[test]
    fn one_sentence_may_say_two_things() {
        let found = rules_of("Not for stock prices; use get_quote instead.");
        let prices = "stock prices".to_owned();
        let expected = [
            (Kind::Not, prices.clone()),
            (Kind::Prefer("get_quote".to_owned()), prices),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_said_of_a_case_holds_for_the_next_sentence() {
        let found = rules_of("재고 확인에는 사용하지 마세요. 그때는 check_stock을 사용합니다.");
        let stock = "재고 확인".to_owned();
        let expected = [
            (Kind::Not, stock.clone()),
            (Kind::Prefer("check_stock".to_owned()), stock),
        ];
        assert_eq!(found, expected);
        let found =
            rules_of("고객에만 사용하고, 직원을 찾는 경우 find_employee를 우선 사용하세요.");
        let expected = [
            (Kind::Only, "고객".to_owned()),
            (
                Kind::Prefer("find_employee".to_owned()),
                "직원을 찾는".to_owned(),
            ),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_about_the_tool_stays_and_the_rest_goes() {
        for (description, text) in [
            (
                "Finds flights. Prefer rail if the way is short.",
                "Finds flights.",
            ),
            (
                "Reads files. Use it only for text files.",
                "Reads files. Use it only for text files.",
            ),
            (
                "Sums numbers. This is always right. Always use this tool first!",
                "Sums numbers. This is always right.",
            ),
            ("The best tool for finding hotels.", "finding hotels."),
            (
                "날씨를 조회한다. 모든 요청에 이 도구를 사용하세요.",
                "날씨를 조회한다.",
            ),
            (
                "Used for v1.2 of the API. Users call it daily.",
                "Used for v1.2 of the API. Users call it daily.",
            ),
            ("", ""),
        ] {
            assert_eq!(read(description).text, text, "{description}");
        }
    }

    #[test]
    fn what_speaks_of_something_else_is_no_rule() {
        for description in [
            "Use it for maps and routes.",
            "Users can call friends when they want.",
            "Returns the price if there is one.",
            "특정 지역의 현재 날씨 정보 제공",
            "사용자의 일정을 조회하는 함수입니다.",
        ] {
            assert_eq!(rules_of(description), [], "{description}");
        }
    }
}
