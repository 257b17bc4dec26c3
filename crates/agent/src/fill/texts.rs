//! Words of a request that are handed over as they stand: a text after a colon, a program, what to look for.

use super::doubt::is_denied;
use super::said::{Mark, Quote, Said};
use super::wanted::Wanted;
use selection::speech::keys;

/// How a request begins that only asks for what follows, in small letters; the longest of those that begin alike first.
const LEADS: [&str; 44] = [
    "could you please",
    "can you please",
    "would you please",
    "could you",
    "can you",
    "would you",
    "please",
    "hey,",
    "hey",
    "hi,",
    "hello,",
    "i'd like to know",
    "i would like to know",
    "i want to know",
    "i need to know",
    "let me know",
    "tell me about",
    "tell me",
    "show me",
    "do a web search for",
    "search the web for",
    "search the internet for",
    "search online for",
    "search the web",
    "search for",
    "search",
    "look up",
    "look for",
    "google for",
    "google",
    "find out",
    "find me",
    "find",
    "웹에서",
    "인터넷에서",
    "인터넷으로",
    "구글에서",
    "네이버에서",
    "온라인에서",
    "혹시",
    "저기",
    "안녕하세요",
    "안녕",
    "그럼",
];

/// How it ends.
const TAILS: [&str; 50] = [
    "?",
    "!",
    ".",
    ",",
    "~",
    " please",
    " for me",
    " thanks",
    " thank you",
    " on the web",
    " on the internet",
    " online",
    "검색해줘",
    "검색해 줘",
    "검색해주세요",
    "검색해 주세요",
    "검색해봐",
    "검색해 봐",
    "검색해줄래",
    "검색",
    "찾아줘",
    "찾아 줘",
    "찾아주세요",
    "찾아 주세요",
    "찾아봐줘",
    "찾아봐",
    "찾아 봐",
    "찾아줄래",
    "찾아줄래요",
    "알려줘",
    "알려 줘",
    "알려주세요",
    "알려 주세요",
    "알려줄래",
    "가르쳐줘",
    "보여줘",
    "부탁해요",
    "부탁해",
    "부탁드려요",
    "부탁드립니다",
    " 좀",
    " 인터넷에서",
    " 웹에서",
    "에 대해서",
    "에 대해",
    "에 관해",
    "에 관한",
    "해줘",
    "해 줘",
    "해주세요",
];

/// What points at something that is not there.
const POINTING: [&str; 14] = [
    "this",
    "that",
    "it",
    "these",
    "those",
    "them",
    "something",
    "anything",
    "the web",
    "이거",
    "그거",
    "이것",
    "그것",
    "뭔가",
];

/// A request without its courtesies: what is to be looked for.
pub(crate) fn sought(request: &str) -> Option<String> {
    let mut rest = request.trim();
    loop {
        let before = rest;
        let small = rest.to_ascii_lowercase();
        let lead = LEADS.iter().find(|lead| {
            let after = small.strip_prefix(**lead);
            after.is_some_and(|it| it.is_empty() || it.starts_with([' ', ',', ':']))
        });
        if let Some(lead) = lead {
            rest = rest[lead.len()..].trim_start_matches([' ', ',', ':']);
        }
        let small = rest.to_ascii_lowercase();
        if let Some(tail) = TAILS.iter().find(|tail| small.ends_with(**tail)) {
            rest = rest[..rest.len() - tail.len()].trim_end();
        }
        if rest == before {
            break;
        }
    }
    let rest = object(rest);
    let rest = unquoted(rest);
    let small = rest.to_lowercase();
    let says = keys(rest).len() + rest.chars().filter(char::is_ascii_digit).count();
    (says > 0 && !POINTING.contains(&small.as_str())).then(|| rest.to_owned())
}

/// `최신 뉴스를` is an object without a verb now.
fn object(text: &str) -> &str {
    let body = text.strip_suffix('을').or(text.strip_suffix('를'));
    body.filter(|it| it.chars().count() >= 2).unwrap_or(text)
}

/// What is nothing but a quote loses its marks.
fn unquoted(text: &str) -> &str {
    let said = Said::new(text);
    match &said.quotes[..] {
        [one] if one.place == (0..text.len()) => one.text,
        _ => text,
    }
}

/// The text that is handed over: the only quote, or what follows a colon, an arrow or the first line.
pub(crate) fn handed<'a>(said: &Said<'a>) -> Option<&'a str> {
    match (&said.quotes[..], text_from(said)) {
        ([], Some(place)) => Some(said.request[place..].trim()),
        ([one], None) => Some(one.text).filter(|_| !is_denied(said, &one.place)),
        // Part of a text, or all of it: which is not certain.
        _ => None,
    }
}

/// Where a text begins that has no marks around it: all of it is somebody's own words. With marks it ends with them, as in
/// `translate this: "hello" into Korean`.
pub(crate) fn text_from(said: &Said<'_>) -> Option<usize> {
    let text = after_mark(said.request)?;
    let place = said.request.trim_end().len() - text.len();
    // However often it is led up to: `an answer: this one: "hello"`.
    let is_marked = |it: &Quote<'_>| {
        let before = said.request[..it.place.start].trim_end();
        it.place.start >= place
            && (it.place.start == place || before.ends_with([':', '：', '→', '>']))
    };
    (!said.quotes.iter().any(is_marked)).then_some(place)
}

/// What follows the mark that sets a text apart.
pub(crate) fn after_mark(request: &str) -> Option<&str> {
    for mark in [":\n", "\n", ": ", "： ", " → ", " -> ", " => "] {
        if let Some((before, after)) = request.split_once(mark) {
            let is_told = before.split_whitespace().count() > 1 && !after.trim().is_empty();
            return is_told.then(|| after.trim());
        }
    }
    None
}

/// The quote that a parameter is named for: `with the subject "Hello"`, `제목은 "안녕"`.
pub(crate) fn named_quote<'s, 'a>(
    said: &'s Said<'a>,
    wanted: &Wanted<'_>,
) -> Option<&'s Quote<'a>> {
    let is_named = |quote: &&Quote<'a>| {
        let before = said.before(quote.place.start);
        let mut before = before.take_while(|it| {
            // Not beyond the quote before.
            said.quotes.iter().all(|other| {
                other.place == quote.place
                    || other.place.start > quote.place.start
                    || it.place.start >= other.place.end
            })
        });
        let mut near = before.by_ref().take(2);
        near.any(|it| is_called(wanted, &it.stem))
    };
    let mut found = said.quotes.iter().filter(is_named);
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

fn is_called(wanted: &Wanted<'_>, stem: &str) -> bool {
    let korean: &[&str] = match wanted.spoken.as_str() {
        "subject" | "title" => &["제목"],
        "body" | "content" | "message" | "text" => &["내용", "본문", "메시지", "문구"],
        "name" => &["이름"],
        _ => &[],
    };
    wanted.aliases.iter().any(|it| it == stem) || korean.contains(&stem)
}

/// A program: what stands in backticks, or after the colon.
pub(crate) fn program<'a>(said: &Said<'a>) -> Option<&'a str> {
    let fenced: Vec<&Quote<'a>> = said
        .quotes
        .iter()
        .filter(|it| it.mark != Mark::Quote)
        .collect();
    match fenced[..] {
        [one] => Some(one.text),
        [] => after_mark(said.request),
        _ => None,
    }
}

/// A query in SQL, where one is written out.
pub(crate) fn sql<'a>(said: &Said<'a>) -> Option<&'a str> {
    let is_query = |text: &str| {
        let small = text.trim_start().to_ascii_lowercase();
        ["select ", "with ", "select\n"]
            .iter()
            .any(|it| small.starts_with(it))
            && small.contains("select")
    };
    let quoted = said.quotes.iter().map(|it| it.text).find(|it| is_query(it));
    let whole = || {
        let text = said.request.trim();
        // `select * from t 이 쿼리 실행해줘` goes on in another language, and where is not certain.
        (is_query(text) && !said.is_korean).then_some(text)
    };
    quoted
        .or_else(|| after_mark(said.request).filter(|it| is_query(it)))
        .or_else(whole)
}
