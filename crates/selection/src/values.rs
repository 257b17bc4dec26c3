//! What a request gives: dates, amounts, addresses, names and so on, each with what it could be given for.

use crate::apart::{sets_apart, told, unquoted};
use crate::asking::{ASKING, ASKING_KOREAN, PARTICLES, VERBS};
use crate::lexicon::{CURRENCIES, DAYS, FILES, HOURS, LANGUAGES, NUMBERS, PICTURES};
use crate::runs::{Run, runs};
use crate::words::{is_hangul, keys, words};

/// What something given is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Number,
    Day,
    Hour,
    Mail,
    Web,
    Picture,
    File,
    /// A number or a key of one particular thing: `A-10021`, `2.14.0`.
    Key,
    Quote,
    /// A proper name, or a word of another script.
    Name,
    Language,
    Currency,
    /// Some word that says something; whether it is a value depends on the tool.
    Word,
}

impl Sort {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Sort::Number => "number",
            Sort::Day => "day",
            Sort::Hour => "hour",
            Sort::Mail => "mail",
            Sort::Web => "web",
            Sort::Picture => "picture",
            Sort::File => "file",
            Sort::Key => "key",
            Sort::Quote => "quote",
            Sort::Name => "name",
            Sort::Language => "language",
            Sort::Currency => "currency",
            Sort::Word => "word",
        }
    }
}

/// Spans of time.
const SPANS: [&str; 5] = ["minute", "hour", "min", "분", "시간"];

/// `다음 주` is a day as `다음주` is.
const WEEKS_BEFORE: [&str; 5] = ["이번", "다음", "지난", "저번", "담"];
const WEEKS: [&str; 2] = ["주", "달"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) sort: Sort,
    pub(crate) text: String,
    /// Of its words, those that say something.
    pub(crate) keys: Vec<u32>,
    /// Which word of the request it is.
    pub(crate) place: usize,
    /// Where something comes from: `from Seoul`, `서울에서`.
    pub(crate) is_from: bool,
    /// Where it goes to, or until when.
    pub(crate) is_to: bool,
}

/// A request, read word by word.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) values: Vec<Value>,
    pub(crate) is_korean: bool,
    /// Words that say something.
    pub(crate) said: usize,
    /// Whether something is set apart, in quotes, behind a colon or on a line of its own: a text to work on.
    pub(crate) is_apart: bool,
}

impl Given {
    pub(crate) fn new(request: &str) -> Self {
        let mut given = Given {
            is_korean: request.chars().any(is_hangul),
            is_apart: sets_apart(request),
            ..Given::default()
        };
        let (plain, quotes) = unquoted(request);
        for text in quotes.into_iter().chain(told(&plain)) {
            given.said += 1;
            given.values.push(value(Sort::Quote, &text));
        }
        let mut begins = true;
        let mut lead = String::new();
        for (place, run) in runs(&plain).iter().enumerate() {
            given.token(run, place, begins, &lead);
            begins = run.text.ends_with(['.', '!', '?']);
            lead = bare(&run.text).to_lowercase();
        }
        given
    }

    fn token(&mut self, run: &Run<'_>, place: usize, begins: bool, lead: &str) {
        let token = &*run.text;
        let bare = bare(token);
        let small = bare.to_lowercase();
        let stem = particle(&small);
        if bare.is_empty() {
            return;
        }
        let mut sorts = sorts(token, &bare, &stem);
        let follows_number = lead.chars().next().is_some_and(|c| c.is_ascii_digit());
        if bare == "May" && follows_number {
            sorts.push(Sort::Day);
        }
        // `3 pm` is an hour as `3pm` is.
        let is_half = matches!(small.as_str(), "am" | "pm" | "a.m" | "p.m");
        if follows_number && is_half {
            sorts.push(Sort::Hour);
        }
        if WEEKS_BEFORE.contains(&lead) && WEEKS.iter().any(|it| small.starts_with(it)) {
            sorts.push(Sort::Day);
        }
        // `in 15 minutes` is a point in time as much as a number.
        if follows_number && SPANS.iter().any(|it| small.starts_with(it)) {
            sorts.push(Sort::Hour);
        }
        if run.is_day || (run.is_hour && run.is_sure) {
            sorts.clear();
        }
        if run.is_day {
            sorts.push(Sort::Day);
        }
        if run.is_hour && !sorts.contains(&Sort::Hour) {
            sorts.push(Sort::Hour);
        }
        let is_from = run.is_from
            || matches!(lead, "from" | "between" | "starting" | "since" | "leaving")
            || ["에서", "부터", "출발"]
                .iter()
                .any(|it| small.ends_with(it));
        let is_to = run.is_to
            || matches!(lead, "to" | "until" | "till" | "into" | "and" | "through")
            || small.ends_with("까지")
            || (small.ends_with('로') && small.chars().any(is_hangul));
        if sorts.is_empty() {
            let Some(sort) = self.word(&bare, &stem, begins) else {
                return;
            };
            // `to Gangnam station` goes to all of it.
            let last = self
                .values
                .last()
                .filter(|it| place > 0 && it.place + 1 == place);
            let last =
                last.filter(|it| stem.is_ascii() && matches!(it.sort, Sort::Name | Sort::Word));
            let (from, to) = last.map_or((false, false), |it| (it.is_from, it.is_to));
            self.values.push(Value {
                place,
                is_from: is_from || from,
                is_to: is_to || to,
                ..value(sort, &stem)
            });
        }
        self.said += 1;
        for sort in sorts {
            let text = if sort == Sort::Key { &bare } else { &stem };
            self.values.push(Value {
                place,
                is_from,
                is_to,
                ..value(sort, text)
            });
        }
    }

    /// A word that is nothing in particular: a name, something that may be given, or nothing.
    fn word(&self, bare: &str, stem: &str, begins: bool) -> Option<Sort> {
        let says = words(bare).iter().any(|it| !it.is_common);
        if !says || ASKING.binary_search(&stem).is_ok() {
            return None;
        }
        let is_latin = bare.chars().any(|c| c.is_ascii_alphabetic());
        if !is_latin && bare.chars().any(is_hangul) {
            let is_asking = ASKING_KOREAN
                .iter()
                .any(|it| stem.starts_with(it) && stem.chars().count() <= it.chars().count() + 2);
            let is_done = VERBS.iter().any(|it| bare.ends_with(it));
            let is_title = [
                "님",
                "씨",
                "역",
                "동",
                "구",
                "시",
                "팀",
                "은행",
                "대학교",
                "대리",
                "과장",
                "부장",
            ];
            let is_name = is_title.iter().any(|it| stem.ends_with(it)) && stem.chars().count() > 2;
            return match (is_asking || is_done, is_name) {
                (_, true) => Some(Sort::Name),
                (true, _) => None,
                _ => Some(Sort::Word),
            };
        }
        let first = bare.chars().find(|c| c.is_alphabetic());
        let is_capital = first.is_some_and(char::is_uppercase);
        let is_joined = bare.contains(['-', '_', '/', '.']) && !bare.contains('\'');
        match is_latin && (self.is_korean || is_joined || (is_capital && !begins)) {
            true => Some(Sort::Name),
            false => Some(Sort::Word),
        }
    }

    pub(crate) fn count(&self, sort: Sort) -> usize {
        self.values.iter().filter(|it| it.sort == sort).count()
    }
}

fn value(sort: Sort, text: &str) -> Value {
    Value {
        sort,
        text: text.to_owned(),
        keys: keys(text),
        place: 0,
        is_from: false,
        is_to: false,
    }
}

/// A word without what stands around it.
fn bare(token: &str) -> String {
    let text = token.trim_matches(|c: char| !c.is_alphanumeric() && !"#$€₩£%".contains(c));
    text.strip_suffix("'s").unwrap_or(text).to_owned()
}

/// A Korean word without its ending.
fn particle(small: &str) -> String {
    let is_korean = small.chars().next_back().is_some_and(is_hangul);
    let rest = PARTICLES.iter().filter(|_| is_korean).find_map(|it| {
        let rest = small.strip_suffix(it)?;
        (rest.chars().count() >= 2 || rest.chars().any(|c| c.is_ascii_alphanumeric()))
            .then_some(rest)
    });
    rest.unwrap_or(small).to_owned()
}

/// All that a word surely is; `24만8천원` is a number and a currency.
fn sorts(token: &str, bare: &str, stem: &str) -> Vec<Sort> {
    if token.contains("://") || bare.starts_with("www.") {
        return vec![Sort::Web];
    }
    if let Some((name, host)) = bare.split_once('@')
        && !name.is_empty()
        && host.contains('.')
    {
        return vec![Sort::Mail];
    }
    if let Some((name, ending)) = stem.rsplit_once('.')
        && !name.is_empty()
        && FILES.contains(&ending)
    {
        let is_picture = PICTURES.contains(&ending);
        return vec![if is_picture {
            Sort::Picture
        } else {
            Sort::File
        }];
    }
    let is_money = bare.contains(['$', '€', '₩', '£']);
    if bare.chars().any(|c| c.is_ascii_digit()) {
        return numbers(bare, stem, is_money);
    }
    let is_hour = HOURS.iter().any(|it| stem.starts_with(it));
    let is_day = DAYS.iter().any(|it| match it.is_ascii() {
        true => stem == *it || (it.len() > 4 && stem.trim_end_matches('s') == *it),
        false => stem.starts_with(it),
    });
    let mut found = Vec::new();
    for (is_so, sort) in [
        (is_hour, Sort::Hour),
        (is_day, Sort::Day),
        (LANGUAGES.contains(&stem), Sort::Language),
        (is_currency(stem) || is_money, Sort::Currency),
        (NUMBERS.contains(&stem), Sort::Number),
    ] {
        if is_so {
            found.push(sort);
        }
    }
    if token.trim_start_matches(['"', '(']).starts_with('#') && bare.len() > 1 {
        found.push(Sort::Name);
    }
    found
}

/// `엔을` has its ending still: nothing shorter than two syllables loses one.
fn is_currency(stem: &str) -> bool {
    CURRENCIES.iter().any(|it| {
        let rest = stem.strip_prefix(it);
        rest.is_some_and(|it| it.is_empty() || PARTICLES.contains(&it))
    })
}

/// What a word with digits is.
fn numbers(bare: &str, stem: &str, is_money: bool) -> Vec<Sort> {
    let digits = bare.chars().filter(char::is_ascii_digit).count();
    let hyphens = bare.matches('-').count();
    let is_date = hyphens == 2 && digits == 8 && bare.chars().take(4).all(|c| c.is_ascii_digit());
    let is_plain = bare.chars().all(|c| c.is_ascii_digit());
    let is_date =
        is_date || (digits == 8 && is_plain && (bare.starts_with("19") || bare.starts_with("20")));
    let after: String = stem.chars().skip_while(|c| !c.is_ascii_digit()).collect();
    let unit: String = after
        .chars()
        .filter(|c| !c.is_ascii_digit() && !".,:".contains(*c))
        .collect();
    let begins = |all: &[&str]| all.iter().any(|it| unit.starts_with(it));
    if is_date || begins(&["월", "일", "주", "년"]) {
        return vec![Sort::Day];
    }
    if matches!(unit.as_str(), "st" | "nd" | "rd" | "th") {
        return vec![Sort::Day, Sort::Number];
    }
    // `300x200` gives two, and so does `3+4`.
    let sides = bare.split_once(['x', '×', '/', '*', '+']);
    let is_digits = |it: &str| !it.is_empty() && it.chars().all(|c| c.is_ascii_digit());
    if sides.is_some_and(|(a, b)| is_digits(a) && b.starts_with(|c: char| c.is_ascii_digit())) {
        return vec![Sort::Number, Sort::Number];
    }
    if bare.contains(':')
        || matches!(unit.as_str(), "am" | "pm" | "a.m" | "p.m")
        || (begins(&["시"]) && !begins(&["시간"]))
    {
        return vec![Sort::Hour];
    }
    // `불` is fire where no number stands before it.
    let currency = CURRENCIES.iter().any(|it| unit.ends_with(it)) || unit == "불";
    if is_money || currency {
        return vec![Sort::Number, Sort::Currency];
    }
    let letters = bare.chars().any(|c| c.is_ascii_alphabetic());
    let is_key = (letters && (hyphens > 0 || bare.chars().next().is_some_and(char::is_alphabetic)))
        || hyphens >= 2
        || digits >= 8
        || bare.matches('.').count() >= 2;
    let is_code = is_plain && digits > 3 && bare.starts_with('0');
    match is_key || is_code {
        true => vec![Sort::Key],
        false => vec![Sort::Number],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(request: &str) -> Vec<(Sort, String)> {
        let given = Given::new(request);
        given
            .values
            .into_iter()
            .map(|it| (it.sort, it.text))
            .collect()
    }

    fn sorts_of(request: &str) -> Vec<Sort> {
        read(request).into_iter().map(|it| it.0).collect()
    }

    #[test]
    fn values_are_known_for_what_they_are() {
        for (word, sort) in [
            ("https://a.example/b", Sort::Web),
            ("kim@acme.example", Sort::Mail),
            ("logo.png", Sort::Picture),
            ("매출.xlsx", Sort::File),
            ("tomorrow", Sort::Day),
            ("3월", Sort::Day),
            ("2026-11-16", Sort::Day),
            ("9:30", Sort::Hour),
            ("3pm", Sort::Hour),
            ("네시반에", Sort::Hour),
            ("A-10021", Sort::Key),
            ("2.14.0", Sort::Key),
            ("512034498817", Sort::Key),
            ("12", Sort::Number),
            ("3.5", Sort::Number),
            ("영어로", Sort::Language),
            ("dollars", Sort::Currency),
            ("payment-api", Sort::Name),
            ("#general", Sort::Name),
            ("잠실역까지", Sort::Name),
        ] {
            assert_eq!(sorts_of(word), [sort], "{word}");
        }
        assert_eq!(sorts_of("24만8천원"), [Sort::Number, Sort::Currency]);
        assert_eq!(sorts_of("$89"), [Sort::Number, Sort::Currency]);
        assert_eq!(sorts_of("8,420불"), [Sort::Number, Sort::Currency]);
        assert_eq!(sorts_of("엔을"), [Sort::Currency]);
        assert_eq!(sorts_of("Tues 3 pm"), [Sort::Day, Sort::Number, Sort::Hour]);
        assert_eq!(sorts_of("담주 화욜"), [Sort::Day, Sort::Day]);
        assert_eq!(sorts_of("300x200"), [Sort::Number, Sort::Number]);
        assert_eq!(sorts_of("3+4"), [Sort::Number, Sort::Number]);
        assert_eq!(
            sorts_of("two hours with Anna"),
            [Sort::Number, Sort::Word, Sort::Name]
        );
    }

    #[test]
    fn what_only_asks_gives_nothing() {
        for request in [
            "Could you please check it again?",
            "지금 바로 알려줘",
            "don't",
            "",
        ] {
            assert_eq!(sorts_of(request), [], "{request}");
        }
    }

    #[test]
    fn quotes_are_taken_whole() {
        assert_eq!(
            read("\"the build is green\""),
            [(Sort::Quote, "the build is green".to_owned())]
        );
        assert_eq!(sorts_of("don't call it 'x y'"), [Sort::Quote]);
    }

    #[test]
    fn from_and_to_are_told_apart() {
        let given = Given::new("from Pangyo to Suwon");
        let ends: Vec<(bool, bool)> = given
            .values
            .iter()
            .map(|it| (it.is_from, it.is_to))
            .collect();
        assert_eq!(ends, [(true, false), (false, true)]);
        let given = Given::new("정자동에서 천안아산역까지");
        let ends: Vec<(bool, bool)> = given
            .values
            .iter()
            .map(|it| (it.is_from, it.is_to))
            .collect();
        assert_eq!(ends, [(true, false), (false, true)]);
    }
}
