//! Sentences of Korean about when to take which tool.

use super::{Kind, Rule, is_tool_name, name};

/// In Korean the condition stands first, then the tool, then what to do with it.
pub(super) fn korean(text: &str) -> Option<Rule> {
    let condition = |text: &str| {
        text.trim_matches(|c: char| c.is_whitespace() || ",.".contains(c))
            .to_owned()
    };
    let rule = |kind: Kind, asked: &str| {
        Some(Rule {
            kind,
            condition: condition(asked),
        })
    };
    if let Some((asked, after)) = split(text, &NOT)
        && is_end(after)
    {
        let own = ["이 도구를", "이 도구는", "이 도구가", "이 도구"];
        let asked = asked.trim();
        let own = own.iter().find_map(|it| asked.strip_suffix(it));
        let asked = own.unwrap_or(asked).trim();
        return rule(Kind::Not, ending(asked)?);
    }
    if let Some((asked, after)) = split(text, &ONLY)
        && is_end(after)
    {
        return rule(Kind::Only, asked);
    }
    let (before, after) = split(text, &PREFER)?;
    if !is_end(after) {
        return None;
    }
    let is_said = ["우선", "대신", "선호", "먼저", "더 "]
        .iter()
        .any(|it| text.contains(it));
    let (asked, named) = WHEN_KOREAN.iter().find_map(|it| {
        let at = before.find(it)?;
        Some((&before[..at], &before[at + it.len()..]))
    })?;
    let named = named.trim();
    let named = named
        .strip_prefix("이 도구 대신")
        .or_else(|| named.strip_prefix("대신"))
        .unwrap_or(named)
        .trim();
    let named = named.trim_end_matches("대신").trim();
    if matches!(named, "이" | "이 도구" | "본 도구" | "이 도구가") {
        return rule(Kind::Own, asked);
    }
    let named = ["을", "를", "이", "가"]
        .iter()
        .find_map(|it| named.strip_suffix(it))
        .unwrap_or(named);
    let name = name(named);
    match name.as_str() {
        "" => None,
        "이 도구" | "본 도구" => rule(Kind::Own, asked),
        _ if is_said || is_tool_name(&name) => rule(Kind::Prefer(name), asked),
        _ => None,
    }
}

const NOT: [&str; 12] = [
    "사용하지",
    "쓰지 마",
    "쓰지 않",
    "호출하지",
    "이용하지",
    "적합하지 않",
    "적절하지 않",
    "맞지 않",
    "사용 금지",
    "쓸 수 없",
    "용도가 아니",
    "용도가 아닙",
];

const ONLY: [&str; 9] = [
    "에만 사용",
    "에만 쓰",
    "때만 사용",
    "때만 쓰",
    "경우에만",
    "경우에 한해",
    "용도로만",
    "에만 적합",
    " 전용",
];

const PREFER: [&str; 17] = [
    "우선 사용",
    "우선하",
    "우선적으로",
    "먼저 사용",
    "대신 사용",
    "선호",
    "더 적합",
    "더 낫",
    "더 좋",
    "사용하",
    "사용합",
    "사용한",
    "쓰세요",
    "쓰십시오",
    "써 주세요",
    "이용하",
    "호출하",
];

/// Whether a verb ends a sentence, or a part of one: `사용하지 않는 계정을` and `우선 사용하는 카드를` tell of something else.
fn is_end(after: &str) -> bool {
    let telling = [
        "는 ",
        "던 ",
        "하는",
        "하던",
        "할 수",
        "하지 않는 ",
        "한 ",
        "된",
        "되는",
        "되지 않는 ",
    ];
    let after = after.strip_prefix(" 않").unwrap_or(after);
    !telling.iter().any(|it| after.starts_with(it)) && !after.starts_with("은 ")
}

const WHEN_KOREAN: [&str; 14] = [
    "경우에는",
    "경우엔",
    "경우",
    "때에는",
    "때는",
    "때엔",
    "이라면",
    "라면",
    "이면",
    "하면",
    "에는",
    "으로는",
    "은 ",
    "는 ",
];

/// A condition without the ending that makes it one.
fn ending(asked: &str) -> Option<&str> {
    let found = WHEN_KOREAN
        .iter()
        .find_map(|it| asked.strip_suffix(it.trim_end()));
    let found = found
        .or_else(|| asked.strip_suffix("로"))
        .unwrap_or(asked)
        .trim();
    (!found.is_empty()).then_some(found)
}

fn split<'a>(text: &'a str, phrases: &[&str]) -> Option<(&'a str, &'a str)> {
    let found = phrases
        .iter()
        .filter_map(|it| Some((text.find(it)?, it.len())));
    let (at, length) = found.min()?;
    Some((&text[..at], &text[at + length..]))
}
