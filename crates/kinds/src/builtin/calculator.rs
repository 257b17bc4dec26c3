//! `calculator`: exact arithmetic, percentages and units through fend, which runs in a process of its own.

use super::lines::{Outcome, Stopped};
use super::worker::Pool;
use super::{About, Builtin, Evaluation, pure};
use executor::kind::RunFuture;
use executor::{Code, Failure, Output, Run};
use serde_json::{Value, json};

const EXPRESSION_CHARS_MAX: usize = 500;
/// fend calls itself for every level of nesting. What nobody writes by hand is refused with a reason.
const NESTING_MAX: usize = 40;

/// As many as a JSON number can hold in every case.
const FIGURES: usize = 15;

pub(super) enum Calculator {
    Here(Box<fend_core::Context>),
    Aside(Pool),
}

impl Calculator {
    pub(super) fn new(evaluation: &Evaluation) -> Self {
        match evaluation {
            Evaluation::Here => Calculator::Here(Box::new(context())),
            Evaluation::Aside(program) => Calculator::Aside(Pool::new(program.clone())),
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
                "what is 17 times 23",
                "12.5% of 340",
                "convert 5 km to miles",
                "340의 12.5%는 얼마야",
                "17 곱하기 23 계산해줘",
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
                Calculator::Aside(pool) => pool.evaluate(&expression).await,
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
    let expression = readable(given);
    if nesting(&expression) > NESTING_MAX {
        return Err(format!(
            "the expression is nested deeper than {NESTING_MAX} levels"
        ));
    }
    Ok(expression)
}

/// People and models write Python's power and typographic signs.
fn readable(expression: &str) -> String {
    expression
        .replace("**", "^")
        .replace('−', "-")
        .replace('·', "*")
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

/// What every evaluation begins with.
pub(super) fn context() -> fend_core::Context {
    let mut context = fend_core::Context::new();
    // The same expression must always give the same answer.
    context.disable_rng();
    context
}

pub(super) fn evaluate(context: &fend_core::Context, expression: &str) -> Result<String, String> {
    let main = |expression: &str| {
        let result = fend_core::evaluate(expression, &mut context.clone())?;
        Ok::<_, String>(result.get_main_result().to_owned())
    };
    let text = main(expression)?;
    // Left to itself fend rounds to ten decimal places, which makes 0 of a small number. Who asked for places or
    // figures gets what was asked for; what cannot stand in brackets stays as it is.
    let chosen = ["dp", "sf"].iter().any(|word| expression.contains(word));
    if chosen || !is_rounded_decimal(&text) {
        return Ok(text);
    }
    let finer = main(&format!("({expression}) to {FIGURES} sf"));
    Ok(finer.unwrap_or(text))
}

/// `approx. 0.1429 m`, but no fraction, which somebody has asked for.
fn is_rounded_decimal(text: &str) -> bool {
    let Some(number) = text.strip_prefix("approx. ") else {
        return false;
    };
    let mut words = number.split(' ');
    let is_decimal = |word: &str| {
        word.bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'))
    };
    let goes_on = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    words.next().is_some_and(is_decimal) && !words.next().is_some_and(goes_on)
}

fn finished(done: Outcome) -> Result<Output, Failure> {
    match done {
        Ok(text) => Ok(as_value(&text).into()),
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
fn as_value(text: &str) -> Value {
    let exact = text.strip_prefix("approx. ").unwrap_or(text);
    if matches!(exact, "true" | "false") {
        return Value::Bool(exact == "true");
    }
    if let Ok(integer) = exact.parse::<i64>() {
        return integer.into();
    }
    let plain = exact
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'));
    match exact.parse::<f64>() {
        // An integer beyond 64 bits would lose digits as a float; its text keeps them.
        Ok(number) if plain && exact.contains('.') && number.is_finite() => number.into(),
        _ => Value::String(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calculate(expression: &str) -> Result<Value, String> {
        evaluate(&context(), &acceptable(expression)?).map(|text| as_value(&text))
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

    #[test]
    fn what_is_too_long_or_too_deep_is_refused() {
        let long = "1+".repeat(EXPRESSION_CHARS_MAX / 2) + "1";
        assert!(calculate(&long).unwrap_err().contains("500 characters"));
        let deep = "(".repeat(NESTING_MAX + 1) + "1";
        assert!(calculate(&deep).unwrap_err().contains("40 levels"));
    }
}
