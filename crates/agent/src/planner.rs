//! What is done with a request where no model thinks: the tools that were chosen for it are called with what it surely
//! gives, somebody is asked for the rest, and what comes back is the answer.

use crate::fill::{Missing, fill_for, is_foreign};
use crate::state::{REJECTED, why_rejected};
use jiff::civil::Date;
use providers::ToolResult;
use selection::speech::{is_hangul, keys, refuses};
use selection::{Item, Outcome};
use serde_json::{Map, Value};

/// A tool that was chosen, with the schema of what it takes and the part of the request that it was chosen for.
#[derive(Debug, Clone, Copy)]
pub struct Chosen<'a> {
    pub tool: &'a Item,
    pub input_schema: &'a Value,
    pub part: &'a str,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Plan {
    /// Calls, in the order in which the request asks for them. Those with something missing wait for an answer.
    Calls(Vec<Planned>),
    /// By its words the request wants something else than the only tool that was found does: whether it is meant is asked
    /// before what it needs.
    Doubt { call: Planned, question: String },
    /// It is not said what to do at all; the question, in the language of the request.
    Ask { tool: String, question: String },
    /// No tool is needed, or none fits; this is what there is to say.
    Nothing { text: String },
}

/// A call that is to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    pub tool: String,
    /// What of the request it is for.
    pub part: String,
    pub arguments: Map<String, Value>,
    pub missing: Vec<Missing>,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub tool: String,
    pub text: String,
    pub is_error: bool,
}

/// What to do with a request for which these tools were chosen, in its order.
#[must_use]
pub fn plan(request: &str, outcome: Outcome, chosen: &[Chosen<'_>], today: Date) -> Plan {
    if outcome == Outcome::None || chosen.is_empty() {
        return Plan::Nothing {
            text: nothing(request).to_owned(),
        };
    }
    if refuses(request) {
        return Plan::Nothing {
            text: refused(request).to_owned(),
        };
    }
    let planned: Vec<Planned> = chosen.iter().map(|it| planned(it, today)).collect();
    // A request of nothing but "do that" says of no tool that it is meant.
    let says_something = !keys(request).is_empty();
    match (outcome, &planned[..]) {
        (Outcome::Ask, [one])
            if one.arguments.is_empty() && (one.missing.is_empty() || !says_something) =>
        {
            Plan::Ask {
                tool: one.tool.clone(),
                question: unclear(request, Some(chosen[0].tool).filter(|_| says_something)),
            }
        }
        _ => Plan::Calls(planned),
    }
}

/// The question whether a tool is meant by a request that wants something else by its words.
#[must_use]
pub fn doubt(request: &str, tool: &Item, why: &str) -> String {
    let (name, about) = (&tool.name, about(tool));
    match is_korean(request) {
        true => format!("{why}. 그래도 `{name}`을(를) 호출할까요? (“{about}”)"),
        false => format!("{why}. Shall `{name}` be called all the same? (“{about}”)"),
    }
}

/// What a tool does, in the words for people where it has some.
fn about(tool: &Item) -> &str {
    tool.description_user
        .as_deref()
        .unwrap_or(&tool.description)
}

/// The call of a tool with what its part of the request surely gives.
#[must_use]
pub fn planned(chosen: &Chosen<'_>, today: Date) -> Planned {
    let filled = fill_for(chosen.part, chosen.tool, chosen.input_schema, today);
    Planned {
        tool: chosen.tool.name.clone(),
        part: chosen.part.to_owned(),
        arguments: filled.arguments,
        missing: filled.missing,
    }
}

/// Whether somebody who wrote this is answered in Korean.
#[must_use]
pub fn is_korean(request: &str) -> bool {
    request.chars().any(is_hangul)
}

/// What is said where there is nothing to call.
fn nothing(request: &str) -> &'static str {
    match is_korean(request) {
        true => {
            "이 요청에 맞는 도구가 없거나 도구가 필요하지 않습니다. 모델이 설정되어 있지 않아 직접 답할 수 없습니다."
        }
        false => {
            "No tool is needed for this, or none fits, and no model is configured that could answer by itself."
        }
    }
}

/// What is said to who wants nothing to be done, or does not say what.
#[must_use]
pub fn refused(request: &str) -> &'static str {
    match is_korean(request) {
        true => "요청하신 대로 아무것도 하지 않았습니다.",
        false => "Nothing was done, as you asked.",
    }
}

/// That nothing is missing says nothing of a tool that takes nothing: whether it is meant is asked with what it does.
fn unclear(request: &str, tool: Option<&Item>) -> String {
    let asked = match is_korean(request) {
        true => "무엇을 할지 더 자세히 알려 주세요.",
        false => "What exactly should be done?",
    };
    let Some(tool) = tool else {
        return asked.to_owned();
    };
    let about = about(tool);
    match is_foreign(about, is_korean(request)) {
        true => format!("{asked} (`{}`의 설명: “{about}”)", tool.name),
        false => format!("{asked} `{}`: {about}", tool.name),
    }
}

/// What is said where a call could not be made because nobody told what is missing: why, unless they did not want to.
#[must_use]
pub fn unanswered(request: &str, tool: &str, missing: &[Missing], why: Option<&str>) -> String {
    let names: Vec<&str> = missing.iter().map(|it| it.name.as_str()).collect();
    let names = names.join(", ");
    match (is_korean(request), why) {
        (true, None) => {
            format!("`{tool}`을(를) 호출하지 않았습니다. 답하지 않으신 값: {names}")
        }
        (true, Some(why)) => {
            format!("`{tool}`을(를) 호출하지 못했습니다. 빠진 값: {names} ({why})")
        }
        (false, None) => format!("`{tool}` was not called: you did not want to give {names}"),
        (false, Some(why)) => format!("`{tool}` was not called: {names} is missing ({why})"),
    }
}

/// What is said where no more calls are made, and why.
#[must_use]
pub fn not_called(request: &str, tool: &str, limit: &str, why: &str) -> String {
    match (is_korean(request), limit) {
        (true, "max_steps") => {
            format!("`{tool}`을(를) 호출하지 않았습니다: 단계 수의 한도에 이르렀습니다")
        }
        (true, _) => format!("`{tool}`을(를) 호출하지 않았습니다: 호출 수의 한도에 이르렀습니다"),
        (false, _) => format!("`{tool}` was not called: {why}"),
    }
}

/// What is said of a part of a request that nothing is called for.
#[must_use]
pub fn not_done_of(request: &str, part: &str) -> String {
    match is_korean(request) {
        true => format!("하지 않은 일: {part}"),
        false => format!("Not done: {part}"),
    }
}

/// What is said of a call that did not work, or that a person did not let run.
#[must_use]
pub fn failed(request: &str, result: &ToolResult) -> String {
    let (tool, text) = (&result.name, &result.text);
    let is_rejected = result.code.as_deref() == Some(REJECTED);
    match (is_rejected.then(|| why_rejected(text)), is_korean(request)) {
        (Some(why), true) => {
            format!(
                "`{tool}`을(를) 호출하지 않았습니다. 확인을 맡은 사람이 허락하지 않았습니다{why}"
            )
        }
        (Some(_), false) => format!("'{tool}' was not called: {text}"),
        (None, true) => format!("`{tool}` 호출이 실패했습니다: {text}"),
        (None, false) => format!("'{tool}' failed: {text}"),
    }
}

/// What is said where a person let none of the calls run.
#[must_use]
pub fn all_rejected(request: &str) -> &'static str {
    match is_korean(request) {
        true => "아무것도 호출하지 않았습니다: 확인을 맡은 사람이 허락하지 않았습니다",
        false => "Nothing was called: the person who was asked did not allow it",
    }
}

/// What is said where nothing was called since a person would not answer what it needs.
#[must_use]
pub fn all_declined(request: &str) -> &'static str {
    match is_korean(request) {
        true => "아무것도 호출하지 않았습니다: 물음에 답하지 않으셨습니다",
        false => "Nothing was called: the person who was asked did not want to answer",
    }
}

/// The answer to a request from what its calls gave: that itself where there was one, a line for each where there were more.
#[must_use]
pub fn answer(told: &[Told]) -> String {
    match told {
        [one] => one.text.clone(),
        all => {
            let lines: Vec<String> = all
                .iter()
                .map(|it| format!("{}: {}", it.tool, it.text))
                .collect();
            lines.join("\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::parts_of;
    use jiff::civil::date;
    use selection::Parameter;
    use serde_json::json;

    fn tool(name: &str, description: &str, schema: &Value) -> Item {
        Item {
            name: name.to_owned(),
            description: description.to_owned(),
            parameters: Parameter::of_schema(schema),
            ..Item::default()
        }
    }

    fn schemas() -> (Value, Value) {
        let number = json!({"type": "number"});
        (
            json!({"properties": {"expression": {"type": "string"}}, "required": ["expression"]}),
            json!({"properties": {"user_name": {"type": "string"}, "n": number}, "required": ["user_name"]}),
        )
    }

    #[test]
    fn each_part_of_a_request_goes_to_its_tool() {
        let (calculation, limit) = schemas();
        let calculator = tool("calculator", "Calculates.", &calculation);
        let user = tool("limit", "Looks up the daily limit of a user.", &limit);
        let today = date(2026, 11, 18);
        let request = "Calculate 12.5% of 340, and look up the daily limit of Kim";
        let parts = parts_of(request, 2);
        let chosen = [
            Chosen {
                tool: &calculator,
                input_schema: &calculation,
                part: parts[0],
            },
            Chosen {
                tool: &user,
                input_schema: &limit,
                part: parts[1],
            },
        ];
        let Plan::Calls(calls) = plan(request, Outcome::Call, &chosen, today) else {
            panic!("no calls");
        };
        assert_eq!(
            Value::from(calls[0].arguments.clone()),
            json!({"expression": "12.5% of 340"})
        );
        assert_eq!(
            Value::from(calls[1].arguments.clone()),
            json!({"user_name": "Kim"})
        );
        let unclear = [Chosen {
            part: "how much is it",
            ..chosen[0]
        }];
        let Plan::Calls(calls) = plan("how much is it", Outcome::Ask, &unclear, today) else {
            panic!("no calls");
        };
        assert_eq!(calls[0].missing[0].name, "expression");
    }

    #[test]
    fn who_says_nothing_is_asked() {
        let schema = json!({"properties": {}});
        let list = tool("list", "Lists all.", &schema);
        let chosen = [Chosen {
            tool: &list,
            input_schema: &schema,
            part: "",
        }];
        let today = date(2026, 11, 18);
        assert!(matches!(
            plan("do it", Outcome::Ask, &chosen, today),
            Plan::Ask { .. }
        ));
        let Plan::Ask { question, .. } = plan("주문 목록", Outcome::Ask, &chosen, today) else {
            panic!("no question");
        };
        assert!(
            question.ends_with("(`list`의 설명: “Lists all.”)"),
            "{question}"
        );
        assert!(matches!(
            plan("list all", Outcome::Call, &chosen, today),
            Plan::Calls(_)
        ));
        let Plan::Nothing { text } = plan("프랑스의 수도는?", Outcome::None, &chosen, today)
        else {
            panic!("something");
        };
        assert!(is_korean(&text));
    }

    #[test]
    fn one_result_is_the_answer() {
        let told = |tool: &str, text: &str| Told {
            tool: tool.to_owned(),
            text: text.to_owned(),
            is_error: false,
        };
        assert_eq!(answer(&[told("a", "42.5")]), "42.5");
        assert_eq!(answer(&[told("a", "1"), told("b", "2")]), "a: 1\nb: 2");
    }
}
