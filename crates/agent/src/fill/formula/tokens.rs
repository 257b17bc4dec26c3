//! A request for a calculation in pieces: numbers, signs, units and the words that say what to do with them.

use crate::fill::units::{Measures, Unit, leading_unit, unit};
use selection::speech::{SIGNS, is_hangul};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// As the calculator reads it.
    Number(String),
    Sign(char),
    Unit(Unit),
    Function(&'static str),
    Constant(&'static str),
    /// A comma: what stands before it belongs together.
    Pause,
    /// A word that joins the others, in one form for all.
    Word(String),
}

/// Words that only ask: they have no part in a calculation.
const CARRIERS: [&str; 43] = [
    "what",
    "what's",
    "whats",
    "is",
    "are",
    "the",
    "a",
    "an",
    "please",
    "pls",
    "can",
    "could",
    "you",
    "would",
    "tell",
    "me",
    "give",
    "show",
    "calculate",
    "compute",
    "evaluate",
    "work",
    "out",
    "hey",
    "hi",
    "thanks",
    "thank",
    "for",
    "equals",
    "equal",
    "exactly",
    "much",
    "result",
    "answer",
    "value",
    "solve",
    "find",
    "do",
    "does",
    "convert",
    "i",
    "need",
    "now",
];

/// What puts a calculation in its place among others, where it begins with it. `3 + 4 then times 2` goes on with the sum.
const LEADS: [&str; 9] = [
    "and",
    "first",
    "then",
    "also",
    "next",
    "finally",
    "먼저",
    "그리고",
    "그다음",
];

/// The same of Korean, as a word begins.
const CARRIERS_KOREAN: [&str; 33] = [
    "얼마",
    "계산",
    "알려",
    "구해",
    "뭐",
    "값",
    "결과",
    "좀",
    "해줘",
    "해주",
    "해봐",
    "할래",
    "해줄",
    "부탁",
    "주세요",
    "줘",
    "바꿔",
    "바꾸",
    "변환",
    "환산",
    "인지",
    "다",
    "모두",
    "전부",
    "이지",
    "이야",
    "야",
    "예요",
    "이에요",
    "인가요",
    "입니",
    "일까",
    "궁금",
];

const FUNCTIONS: [&str; 13] = [
    "sqrt", "cbrt", "sin", "cos", "tan", "log10", "log2", "log", "ln", "exp", "abs", "round",
    "floor",
];

/// What English says in several words, or for more than one sign, longest first. `SIGNS` has the rest.
const SAID: [(&[&str], &str); 16] = [
    (&["to", "the", "power", "of"], "^"),
    (&["square", "root", "of"], "sqrt"),
    (&["cube", "root", "of"], "cbrt"),
    (&["multiplied", "by"], "*"),
    (&["divided", "by"], "/"),
    (&["how", "many"], "many"),
    (&["how", "much"], ""),
    (&["squared"], "^2"),
    (&["cubed"], "^3"),
    (&["vat"], "tax"),
    (&["tax"], "tax"),
    (&["tip"], "tax"),
    (&["in"], "to"),
    (&["into"], "to"),
    (&["as"], "to"),
    (&["discount"], "off"),
];

/// What Korean says, as a word begins; the longest of those that begin alike first.
const SAID_KOREAN: [(&str, &str); 38] = [
    ("평균", "평균"),
    ("나머지", "나머지"),
    ("제곱근", "제곱근"),
    ("제곱", "제곱"),
    ("루트", "루트"),
    ("더하", "더하"),
    ("더해", "더하"),
    ("더한", "더하"),
    ("합하", "더하"),
    ("합치", "합"),
    ("합은", "합"),
    ("합을", "합"),
    ("합이", "합"),
    ("합계", "합"),
    ("곱하", "곱하"),
    ("곱해", "곱하"),
    ("곱한", "곱하"),
    ("빼", "빼"),
    ("뺀", "빼"),
    ("나누", "나누"),
    ("나눠", "나누"),
    ("나눈", "나누"),
    ("할인", "할인"),
    ("인상", "인상"),
    ("시속", "시속"),
    ("몇", "몇"),
    ("에다가", "에"),
    ("에다", "에"),
    ("에서", "에서"),
    ("으로", "로"),
    ("이랑", "와"),
    ("하고", "와"),
    ("랑", "와"),
    ("와", "와"),
    ("과", "와"),
    ("의", "의"),
    ("에", "에"),
    ("로", "로"),
];

/// Endings that leave a number as it is.
const ENDINGS: [&str; 9] = ["이면", "면", "은", "는", "이", "가", "을", "를", "도"];

/// The pieces of a request; nothing where a word of it has no part in a calculation.
pub(super) fn tokens(request: &str) -> Option<Vec<Token>> {
    let small = request.to_lowercase().replace("**", "^");
    let words: Vec<&str> = small.split_whitespace().collect();
    if has_two_currencies(&words) {
        return None;
    }
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if found.iter().all(|it| *it == Token::Pause) && LEADS.contains(&plain(words[at])) {
            at += 1;
            continue;
        }
        let phrase = SAID.iter().find(|(said, _)| {
            let rest = words[at..].iter().map(|it| plain(it));
            words.len() - at >= said.len() && rest.zip(said.iter()).all(|(own, it)| own == *it)
        });
        if let Some((said, sign)) = phrase {
            push(sign, &mut found);
            at += said.len();
            pause(words[at - 1], &mut found);
            continue;
        }
        match SIGNS.iter().find(|(said, _)| plain(words[at]) == *said) {
            Some((_, sign)) => push(sign, &mut found),
            None => word(words[at], &mut found)?,
        }
        pause(words[at], &mut found);
        at += 1;
    }
    Some(found)
}

fn pause(word: &str, found: &mut Vec<Token>) {
    if word.ends_with(',') {
        found.push(Token::Pause);
    }
}

/// A word without the marks of a sentence.
fn plain(word: &str) -> &str {
    word.trim_matches(|c| matches!(c, '?' | '!' | ',' | '=' | '"' | '\'' | '~'))
        .trim_end_matches('.')
}

fn push(sign: &str, found: &mut Vec<Token>) {
    match sign {
        "" => {}
        "sqrt" => found.push(Token::Word("root".to_owned())),
        "cbrt" => found.push(Token::Word("cube root".to_owned())),
        "^2" | "^3" => {
            found.push(Token::Sign('^'));
            found.push(Token::Number(sign[1..].to_owned()));
        }
        _ => match sign.chars().next() {
            Some(c) if sign.len() == 1 && !c.is_alphabetic() => found.push(Token::Sign(c)),
            _ => found.push(Token::Word(sign.to_owned())),
        },
    }
}

fn word(word: &str, found: &mut Vec<Token>) -> Option<()> {
    let word = plain(word);
    let is_between = matches!(found.last(), Some(Token::Number(_)));
    if matches!(word, "x" | "×") && is_between {
        found.push(Token::Sign('*'));
        return Some(());
    }
    if CARRIERS.contains(&word) || word.is_empty() {
        return Some(());
    }
    let mut rest = word;
    while !rest.is_empty() {
        rest = piece(rest, found)?;
    }
    Some(())
}

/// Takes one piece from the beginning of a word; gives what is left of it.
fn piece<'w>(rest: &'w str, found: &mut Vec<Token>) -> Option<&'w str> {
    let c = rest.chars().next()?;
    if c.is_ascii_digit() || (c == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
        return number(rest, found);
    }
    let after = &rest[c.len_utf8()..];
    let sign = match c {
        '+' | '-' | '*' | '/' | '^' | '(' | ')' | '%' => Some(c),
        '×' | '·' => Some('*'),
        '÷' => Some('/'),
        '−' => Some('-'),
        '=' | '?' | '!' => return Some(after),
        ',' if after.is_empty() => return Some(after),
        _ => None,
    };
    if let Some(sign) = sign {
        found.push(Token::Sign(sign));
        return Some(after);
    }
    match is_hangul(c) {
        true => korean(rest, found),
        false => latin(rest, found),
    }
}

/// `48,900`, `1.5`, `35만`.
fn number<'w>(rest: &'w str, found: &mut Vec<Token>) -> Option<&'w str> {
    let end = rest
        .find(|c: char| !c.is_ascii_digit() && c != ',' && c != '.')
        .unwrap_or(rest.len());
    let text = rest[..end].trim_end_matches([',', '.']);
    let is_grouped = text.split('.').next().is_some_and(|whole| {
        let mut groups = whole.split(',');
        let first = groups.next().unwrap_or_default();
        !whole.contains(',') || (first.len() <= 3 && groups.all(|it| it.len() == 3))
    });
    // `1.000,5` is written so elsewhere, and would be read as another number.
    let fraction = text.split_once('.').map_or("", |it| it.1);
    if !is_grouped || fraction.contains(['.', ',']) {
        return None;
    }
    let mut number = text.replace(',', "");
    let mut after = &rest[text.len()..];
    for (word, zeros) in [("억", 8), ("만", 4), ("천", 3)] {
        if let Some(rest) = after.strip_prefix(word) {
            // `24만8천` would have to be added up, and `3.5만` moved.
            if number.contains('.') || rest.starts_with(|c: char| c.is_ascii_digit()) {
                return None;
            }
            number.push_str(&"0".repeat(zeros));
            after = rest;
            break;
        }
    }
    found.push(Token::Number(number));
    // A currency adds nothing to a sum in one currency.
    let money = leading_unit(after).filter(|it| it.0.measures == Measures::Money);
    Some(money.map_or(after, |it| it.1))
}

/// Whether a request has money of two sorts, which no sum can have.
fn has_two_currencies(words: &[&str]) -> bool {
    let number = |c: char| c.is_ascii_digit() || ",.억만천백".contains(c);
    let found = words.iter().filter_map(|it| {
        let (unit, _) = leading_unit(it.trim_start_matches(number))?;
        (unit.measures == Measures::Money).then_some(unit)
    });
    let all: Vec<_> = found.collect();
    all.windows(2).any(|it| it[0] != it[1])
}

fn latin<'w>(rest: &'w str, found: &mut Vec<Token>) -> Option<&'w str> {
    if let Some(name) = FUNCTIONS.iter().find(|it| rest.starts_with(**it)) {
        let after = &rest[name.len()..];
        if after.is_empty() || after.starts_with('(') {
            found.push(Token::Function(name));
            return Some(after);
        }
    }
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && c != '°' && c != '²' && c != '/')
        .unwrap_or(rest.len());
    let end = rest[..end].find(is_hangul).unwrap_or(end);
    let (own, after) = rest.split_at(end);
    if let Some(unit) = unit(own) {
        match unit.measures {
            Measures::Share => found.push(Token::Sign('%')),
            Measures::Count | Measures::Money => return None,
            _ => found.push(Token::Unit(unit)),
        }
        return Some(after);
    }
    match own {
        "pi" | "π" => found.push(Token::Constant("pi")),
        "mod" | "modulo" => found.push(Token::Word("mod".to_owned())),
        "average" | "mean" => found.push(Token::Word("average".to_owned())),
        "of" | "remainder" | "when" | "to" | "from" | "by" | "and" | "off" | "add" | "subtract"
        | "multiply" | "divide" | "sum" | "product" | "times" | "there" | "make" => {
            found.push(Token::Word(own.to_owned()));
        }
        _ => return None,
    }
    Some(after)
}

fn korean<'w>(rest: &'w str, found: &mut Vec<Token>) -> Option<&'w str> {
    let follows_number = matches!(
        found.last(),
        Some(Token::Number(_) | Token::Sign('%') | Token::Unit(_))
    );
    let follows_many = matches!(found.last(), Some(Token::Word(it)) if it == "몇");
    if let Some(after) = rest.strip_prefix('도')
        && (matches!(found.last(), Some(Token::Number(_))) || follows_many)
    {
        found.push(Token::Word("도".to_owned()));
        return Some(after);
    }
    if follows_number && let Some(ending) = ENDINGS.iter().find(|it| rest == **it) {
        return Some(&rest[ending.len()..]);
    }
    // `몇 분이야`: minutes, where a number before it would make people of 분이.
    if follows_many
        && let Some(after) = rest.strip_prefix('분')
        && let Some(minutes) = unit("분")
    {
        found.push(Token::Unit(minutes));
        return Some(after);
    }
    if let Some((unit, after)) = leading_unit(rest) {
        let is_said = match unit.measures {
            Measures::Share => {
                found.push(Token::Sign('%'));
                true
            }
            Measures::Money => matches!(found.last(), Some(Token::Number(_))),
            Measures::Count => false,
            _ => {
                found.push(Token::Unit(unit));
                true
            }
        };
        if is_said {
            return Some(after);
        }
    }
    // Only by itself: 합격 and 합류 begin with it.
    if rest == "합" {
        push(rest, found);
        return Some("");
    }
    // `더하기` before `더하`.
    let mut said = SIGNS.iter().chain(&SAID_KOREAN);
    if let Some((word, sign)) = said.find(|it| rest.starts_with(it.0)) {
        push(sign, found);
        // Verbs and what follows them only ask: `더하면`, `곱해줘`.
        let is_verb = matches!(
            *sign,
            "더하" | "합" | "곱하" | "빼" | "나누" | "나머지" | "할인" | "인상"
        );
        return Some(if is_verb { "" } else { &rest[word.len()..] });
    }
    if let Some(ending) = ENDINGS.iter().find(|it| rest == **it) {
        return Some(&rest[ending.len()..]);
    }
    CARRIERS_KOREAN
        .iter()
        .any(|it| rest.starts_with(it))
        .then_some("")
}
