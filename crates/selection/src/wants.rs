//! What kind of thing a parameter of a tool wants, by its type and by what it is called.

use crate::item::Parameter;

/// What is to be given for a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    Number,
    Day,
    Hour,
    /// A point in time: a day, an hour or both.
    Moment,
    Mail,
    Web,
    Picture,
    File,
    Key,
    Language,
    Currency,
    Choice,
    Place,
    Name,
    /// Words of one's own: a message, a title.
    Text,
    /// Words to look for: what is asked says them.
    Query,
    Any,
}

/// What tells that a parameter wants something: a word of its name, or what its description says; unless that says
/// something else.
struct Sign {
    want: Want,
    names: &'static str,
    said: &'static [&'static str],
    unless: &'static [&'static str],
}

const fn sign(want: Want, names: &'static str, said: &'static [&'static str]) -> Sign {
    Sign {
        want,
        names,
        said,
        unless: &[],
    }
}

/// Looked through in this order, before days and hours.
const FIRST: [Sign; 6] = [
    sign(
        Want::Mail,
        "email mail",
        &["e-mail address", "email address", "이메일 주소"],
    ),
    Sign {
        unless: &["text"],
        ..sign(Want::Web, "url uri link website", &["http", "web address"])
    },
    sign(Want::Picture, "image photo picture", &[]),
    sign(
        Want::File,
        "file path filename document",
        &["파일 경로", "file path"],
    ),
    Sign {
        unless: &["programming"],
        ..sign(Want::Language, "language lang", &[])
    },
    sign(Want::Currency, "currency", &["통화 코드", "currency code"]),
];

/// And after them.
const LAST: [Sign; 7] = [
    sign(
        Want::Number,
        "amount price weight height age count quantity width duration minutes num rate percentage radius limit",
        &[
            "금액",
            "몸무게",
            "나이",
            "인원",
            "수량",
            "개수",
            "how many",
            "how much",
        ],
    ),
    Sign {
        unless: &["번호", "number"],
        ..sign(Want::Name, "bank", &[])
    },
    Sign {
        unless: &["program"],
        ..sign(
            Want::Key,
            "id key sku version code tracking account phone serial number",
            &["번호", "order number"],
        )
    },
    sign(
        Want::Query,
        "query keyword keywords search expression question sql prompt formula q",
        &["검색어", "what to look for", "찾을 문구"],
    ),
    sign(
        Want::Text,
        "text message body content title subject description reason purpose comment note memo code data review topic",
        &["내용", "제목", "본문", "메시지", "사유", "문구", "텍스트"],
    ),
    sign(
        Want::Place,
        "city location place address origin destination region country near area departure arrival station",
        &["도시", "지역", "장소", "위치", "출발지", "목적지", "도착지"],
    ),
    sign(
        Want::Name,
        "name user customer person to recipient assignee company symbol artist attendees participants",
        &[],
    ),
];

/// What a parameter wants, by its type and by what it is called; both in small letters.
#[must_use]
pub fn want(it: &Parameter, name: &str, about: &str) -> Want {
    match it.format.as_str() {
        "date" => return Want::Day,
        "date-time" => return Want::Moment,
        "time" => return Want::Hour,
        "email" => return Want::Mail,
        "uri" | "url" => return Want::Web,
        _ => {}
    }
    if !it.choices.is_empty() {
        return Want::Choice;
    }
    if it.kind == "number" || it.kind == "integer" {
        return Want::Number;
    }
    let said = |all: &[&str]| all.iter().any(|word| about.contains(word));
    let first = |signs: &[Sign]| {
        let found = signs
            .iter()
            .find(|it| (is_named(name, it.names) || said(it.said)) && !said(it.unless));
        found.map(|it| it.want)
    };
    first(&FIRST)
        .or_else(|| moment(name, about))
        .or_else(|| first(&LAST))
        .unwrap_or(Want::Any)
}

/// Whether a name has one of some words.
fn is_named(name: &str, words: &str) -> bool {
    words
        .split(' ')
        .any(|word| name.split(' ').any(|own| own == word))
}

/// A day, an hour, or both.
fn moment(name: &str, about: &str) -> Option<Want> {
    let said = |all: &[&str]| all.iter().any(|word| about.contains(word));
    let is_day = is_named(
        name,
        "date day birthday birthdate due checkin checkout month",
    ) || said(&["날짜", "생년월일", "yyyy"]);
    let is_hour = is_named(name, "time hour")
        || said(&["시각", "hh:mm"])
        || (said(&["시간"]) && is_named(name, "start end datetime"));
    let is_both = said(&["date and time", "날짜 및 시간", "날짜와 시간"])
        || (is_named(name, "start end when") && said(&["date", "day", "time"]));
    match (is_day, is_hour) {
        (true, true) => Some(Want::Moment),
        (true, false) => Some(Want::Day),
        (false, true) if !said(&["minutes", "분)"]) => Some(Want::Hour),
        _ => is_both.then_some(Want::Moment),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_known_by_type_and_name() {
        for (kind, name, about, expected) in [
            (
                "string",
                "to",
                "e-mail address of the recipient",
                Want::Mail,
            ),
            (
                "string",
                "image",
                "이미지 파일 경로 또는 주소",
                Want::Picture,
            ),
            ("string", "order id", "order number", Want::Key),
            ("string", "start time", "when it begins", Want::Hour),
            ("string", "start", "date and time it begins", Want::Moment),
            ("string", "days off", "날짜", Want::Day),
            ("integer", "date", "", Want::Number),
            ("", "amount", "", Want::Number),
            ("string", "city", "", Want::Place),
            ("string", "query", "", Want::Query),
            ("string", "body", "what it says", Want::Text),
            ("string", "other", "", Want::Any),
        ] {
            let parameter = Parameter {
                kind: kind.to_owned(),
                ..Parameter::default()
            };
            assert_eq!(want(&parameter, name, about), expected, "{name}");
        }
        let format = Parameter {
            format: "uri".to_owned(),
            ..Parameter::default()
        };
        assert_eq!(want(&format, "where", ""), Want::Web);
    }
}
