//! `calculator`: exact arithmetic, percentages and units through fend, which runs in a process of its own.

use super::decimal::is_decimal;
use super::fend::{APPROXIMATE, Answer, context, evaluate};
use super::question::{CALCULATOR, Outcome, Stopped, outcome};
use super::{About, Builtin, pure};
use crate::Evaluation;
use executor::kind::RunFuture;
use executor::{Code, Failure, Output, Run};
use process::{Pool, Spawner};
use serde_json::{Value, json};
use std::sync::Arc;

const EXPRESSION_CHARS_MAX: usize = 500;
/// fend calls itself for every level of nesting. What nobody writes by hand is refused with a reason.
const NESTING_MAX: usize = 40;

pub(super) enum Calculator {
    Here(Box<fend_core::Context>),
    Aside(Pool),
}

impl Calculator {
    pub(super) fn new(evaluation: Evaluation, spawner: &Arc<Spawner>) -> Self {
        match evaluation {
            Evaluation::Here => Calculator::Here(Box::new(context())),
            Evaluation::Aside => Calculator::Aside(Pool::new(Arc::clone(spawner), CALCULATOR)),
        }
    }
}

impl Builtin for Calculator {
    fn about(&self) -> About {
        About {
            name: "calculator",
            description: "Evaluates an arithmetic expression exactly: + - * / ^ %, parentheses, functions such as sqrt, sin, log, round, percentages ('12.5% of 340') and unit conversion ('5 km to miles'). Use it for any calculation with numbers instead of doing it in your head.",
            description_user: "Calculates: arithmetic, percentages, functions and units. The answer is a number, or text where it carries a unit.",
            input_schema: json!({
                "type": "object",
                "properties": {"expression": {
                    "type": "string", "minLength": 1, "maxLength": EXPRESSION_CHARS_MAX,
                    "description": "What to calculate, for example '(17 + 4) * 2', '12.5% of 340' or '5 km to miles'"
                }},
                "required": ["expression"],
                "additionalProperties": false
            }),
            output_schema: Some(json!({"type": ["number", "string", "boolean"]})),
            annotations: pure(),
            parallel_capable: true,
            examples: &[
                "12.5% of 340",
                "340의 12.5%는 얼마야",
                "what's (1284 + 976) / 8 - 35",
                "Add 10% VAT to 48,900 for me",
                "square root of 7921?",
                "we split 186,400 won between 7 people, how much each",
                "2의 20제곱 계산해줘",
                "35만원에서 15% 할인하면 얼마예요?",
                "3,500 더하기 12,800 더하기 960 다 합치면?",
                "log10(5000) 소수 셋째 자리까지 반올림해 주세요",
                "1200과 350을 더해줘",
                "average of 12, 30 and 45",
            ],
        }
    }

    fn run<'a>(&'a self, run: &'a Run) -> RunFuture<'a> {
        let given = run
            .arguments
            .get("expression")
            .and_then(Value::as_str)
            .unwrap_or_default();
        Box::pin(async move {
            let expression = acceptable(given).map_err(Failure::execution)?;
            finished(match self {
                Calculator::Here(context) => evaluate(context, &expression).map_err(Stopped::Wrong),
                Calculator::Aside(pool) => outcome(pool.ask(expression.as_bytes()).await),
            })
        })
    }
}

/// The expression as fend reads it, within our limits.
fn acceptable(given: &str) -> Result<String, String> {
    // A tool that runs this builtin under another name brings its own schema.
    if given.chars().count() > EXPRESSION_CHARS_MAX {
        return Err(format!(
            "the expression is longer than {EXPRESSION_CHARS_MAX} characters"
        ));
    }
    if given.trim().is_empty() {
        return Err("the argument 'expression' is missing or empty".to_owned());
    }
    if let Some(list) = unclear_comma(given) {
        return Err(format!(
            "the comma in '{list}' could part decimals or a list: write 3.5 for three and a half, (3 + 5) / 2 for an average; commas may only group thousands, as in 1,234,567"
        ));
    }
    let expression = readable(given);
    if nesting(&expression) > NESTING_MAX {
        return Err(format!(
            "the expression is nested deeper than {NESTING_MAX} levels"
        ));
    }
    Ok(expression)
}

/// The numbers around a comma that does not group thousands. fend leaves out every comma between digits: it makes 35 of
/// `3,5`, and 123 of `average(1,2,3)`.
fn unclear_comma(expression: &str) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_digit() || c == ',' || c == '.';
    let mut numbers = expression.split(|c: char| !is_part(c));
    let unclear = numbers.find(|it| {
        let (whole, fraction) = it.split_once('.').unwrap_or((it, ""));
        let mut groups = whole.split(',');
        let first = groups.next().unwrap_or_default().len();
        let is_grouped = (1..=3).contains(&first) && groups.all(|group| group.len() == 3);
        (whole.contains(',') && !is_grouped) || fraction.contains(',')
    });
    // Of `average(100,200,300)` nobody wants the average of one number.
    let list = || {
        let (_, after) = ["average(", "mean("]
            .iter()
            .find_map(|it| expression.split_once(it))?;
        after.split(')').next().filter(|it| it.contains(','))
    };
    unclear.or_else(list)
}

/// People and models write Python's power and typographic signs.
fn readable(expression: &str) -> String {
    let plain = expression
        .replace("**", "^")
        .replace('−', "-")
        .replace('·', "*");
    in_brackets(&plain)
}

/// `15% of -80` as `15% of (-80)`: fend takes no sign behind `of`.
fn in_brackets(expression: &str) -> String {
    let Some((before, after)) = expression.split_once(" of -") else {
        return expression.to_owned();
    };
    let end = after
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',')
        .unwrap_or(after.len());
    let (number, rest) = after.split_at(end);
    match number {
        "" => format!("{before} of -{}", in_brackets(rest)),
        _ => format!("{before} of (-{number}){}", in_brackets(rest)),
    }
}

/// Deepest nesting of brackets and of operators that bind to the right or stand before a number.
fn nesting(expression: &str) -> usize {
    let (mut depth, mut deepest, mut run_of_prefixes) = (0_usize, 0, 0_usize);
    for c in expression.chars().filter(|c| !c.is_whitespace()) {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        run_of_prefixes = match c {
            '-' | '+' | '!' | '^' | '/' | '~' | '\\' | '=' | ':' => run_of_prefixes + 1,
            _ => 0,
        };
        deepest = deepest.max(depth).max(run_of_prefixes);
    }
    deepest
        .max(expression.matches('^').count())
        .max(expression.matches([':', '\\']).count())
}

fn finished(done: Outcome) -> Result<Output, Failure> {
    match done {
        Ok(answer) => Ok(as_value(answer).into()),
        Err(Stopped::Wrong(message)) => Err(Failure::execution(message)),
        Err(Stopped::TooMuch) => Err(Failure::execution(
            "the calculation needs more than is allowed",
        )),
        Err(Stopped::NoWorker(why)) => Err(Failure {
            log_text: Some(why),
            ..Failure::new(
                Code::ServiceUnavailable,
                "The calculator could not be started",
            )
        }),
    }
}

/// A plain number becomes a JSON number, everything else (units, fractions of pi) stays text.
fn as_value(answer: Answer) -> Value {
    let text = match answer {
        Answer::Plain(text) => text,
        Answer::Text(text) => return Value::String(text),
    };
    if matches!(&*text, "true" | "false") {
        return Value::Bool(text == "true");
    }
    // What was rounded must not look exact.
    let approximate = text.strip_prefix(APPROXIMATE);
    if let (None, Ok(integer)) = (approximate, text.parse::<i64>()) {
        return integer.into();
    }
    let number = approximate.unwrap_or(&text);
    // An integer beyond 64 bits would lose digits as a float; its text keeps them.
    let is_float = is_decimal(number) && (approximate.is_some() || number.contains('.'));
    match number.parse::<f64>() {
        Ok(number) if is_float && number.is_finite() => number.into(),
        _ => Value::String(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calculate(expression: &str) -> Result<Value, String> {
        evaluate(&context(), &acceptable(expression)?).map(as_value)
    }

    #[test]
    fn answers_are_exact_and_integers_stay_integers() {
        for (expression, expected) in [
            ("2+2", json!(4)),
            ("0.1+0.2", json!(0.3)),
            ("12.5% of 340", json!(42.5)),
            ("2**10", json!(1024)),
            ("10/4", json!(2.5)),
            ("2^100", json!("1267650600228229401496703205376")),
            ("5 km to m", json!("5000 m")),
            ("5 × 3", json!(15)),
            ("1/3", json!(0.333_333_333_333_333)),
            ("1/70000000000", json!(1.428_571_428_571_43e-11)),
            ("1/7 to 3 dp", json!(0.143)),
            (
                "pi to fraction",
                json!("approx. 2646693125139304345/842468587426513207"),
            ),
            (
                "sqrt(2) to mixed_fraction",
                json!("approx. 1 932726022577639/2251799813685248"),
            ),
            ("5 km to miles", json!("approx. 3.10685596118667 miles")),
            ("a = 7; 1/a", json!(0.142_857_142_857_143)),
            ("15% of -80", json!(-12)),
            ("15% of -1,080 + 2", json!(-160)),
            ("1,234,567.5 + 1", json!(1_234_568.5)),
            ("sqrt(1,024)", json!(32)),
        ] {
            assert_eq!(calculate(expression), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn no_digit_before_the_point_is_cut_off() {
        for (expression, expected) in [
            ("12345678901234567/3 + 1/7", json!(4_115_226_300_411_522.5)),
            ("10^18/7", json!(142_857_142_857_142_857.142_9)),
            ("-10^18/7", json!(-142_857_142_857_142_857.142_9)),
            ("2^62/3", json!(1_537_228_672_809_129_301.333)),
            ("1e20/7", json!(14_285_714_285_714_285_714.285_7)),
            ("10^15/7", json!(142_857_142_857_142.84)),
            ("10^14/7", json!(14_285_714_285_714.3)),
            ("10^15 + 1/(1.5*10^10)", json!(1e15)),
            (
                "10^18/7 m",
                json!("approx. 142857142857142857.1428571429 m"),
            ),
        ] {
            assert_eq!(calculate(expression), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn what_is_rounded_does_not_look_exact() {
        for (expression, expected) in [
            ("sqrt(2) * sqrt(8)", json!(4.0)),
            ("sqrt(10^18 + 1)", json!(1e9)),
            ("log10(1000)", json!(3.0)),
            ("sqrt(16)", json!(4)),
        ] {
            assert_eq!(calculate(expression), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn what_floating_point_leaves_over_is_not_shown() {
        for (expression, expected) in [
            ("sqrt(2)*sqrt(2)-2", json!(0.0)),
            ("(sqrt(2)*sqrt(2) - 2) m", json!("approx. 0 m")),
            ("sqrt(2)*sqrt(2) - 1.9", json!(0.1)),
            ("sqrt(-4)", json!("approx. 0 + 2i")),
            ("sqrt(2)-1.4", json!(0.014_213_562_373_1)),
            // Small, but nothing was taken away from anything.
            ("sqrt(2)*1e-12", json!(1.414_213_562_373_1e-12)),
            ("-sqrt(2) * 10^-20", json!(-1.414_213_562_373_1e-20)),
            ("1e-15/3 - 1e-16/7", json!(3.190_476_190_476_19e-16)),
        ] {
            assert_eq!(calculate(expression), Ok(expected), "{expression}");
        }
    }

    /// fend alone says 6 for the first two, 0.2 for a tenth and a little, and 15000.
    #[test]
    fn zeros_are_not_forgotten_when_rounding_up() {
        for (expression, expected) in [
            ("5.0006 to 3 dp", json!(5.001)),
            ("5 + 1/(1.5*10^10)", json!(5.000_000_000_066_67)),
            ("5 + 2/(3*10^14)", json!(5.000_000_000_000_01)),
            ("5 + 2/(3*10^26)", json!(5.0)),
            ("5 + 2/(3*10^27)", json!(5.0)),
            ("1/10 + 1/(1.5*10^10)", json!(0.100_000_000_066_667)),
            ("(10.006%) to 2 dp", json!("approx. 10.01%")),
            ("15678 to 2 sf", json!(16_000.0)),
            ("5.0004 to 3 dp", json!(5.0)),
            ("2/3 m to 4sf", json!("approx. 0.6667 m")),
            ("n = 3; 1/7 to n dp", json!(0.143)),
        ] {
            assert_eq!(calculate(expression), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn digits_of_another_base_are_no_decimal_number() {
        for (expression, expected) in [
            ("16 to hex", json!("10")),
            ("5 to hex", json!("5")),
            ("1/3 to hex", json!("approx. 0.5555555555")),
            ("10/4 to binary", json!("10.1")),
            ("8 in octal", json!("10")),
            ("9 to base 3", json!("100")),
            ("0x10", json!("0x10")),
            ("(16 to hex) to decimal", json!(16)),
            ("16 to base 10", json!(16)),
            ("base = 5; base * 3", json!(15)),
            ("base = 3; 1/base", json!(0.333_333_333_333_333)),
        ] {
            assert_eq!(calculate(expression), Ok(expected), "{expression}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(calculate("1/0"), Err("division by zero".into()));
        assert!(calculate("foo + 1").unwrap_err().contains("foo"));
        assert!(calculate("roll d20").is_err(), "no randomness");
    }

    /// fend alone says 37, 123, 100200300 and 1.0005.
    #[test]
    fn a_comma_that_groups_no_thousands_is_refused() {
        for (expression, shown) in [
            ("3,5 + 2", "'3,5'"),
            ("average(1,2,3)", "'1,2,3'"),
            ("average(100,200,300)", "'100,200,300'"),
            ("average(1, 2)", "'1,'"),
            ("1.000,5", "'1.000,5'"),
            ("1,0000", "'1,0000'"),
        ] {
            let refused = calculate(expression).unwrap_err();
            assert!(refused.contains(shown), "{expression}: {refused}");
        }
    }

    #[test]
    fn what_is_too_long_or_too_deep_is_refused() {
        let long = "1+".repeat(EXPRESSION_CHARS_MAX / 2) + "1";
        assert!(calculate(&long).unwrap_err().contains("500 characters"));
        let deep = "(".repeat(NESTING_MAX + 1) + "1";
        assert!(calculate(&deep).unwrap_err().contains("40 levels"));
    }
}
