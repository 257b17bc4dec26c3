//! `calculator`: exact arithmetic, percentages and units through fend. Short calculations run at once; one
//! that takes longer moves to a thread of its own, where the deadline interrupts it.

use super::{About, Builtin, pure};
use executor::kind::RunFuture;
use executor::{Failure, Output, Run};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use tokio_util::sync::CancellationToken;

/// fend calls itself for every level of nesting; a text this long cannot exhaust a thread's stack.
const EXPRESSION_CHARS_MAX: usize = 500;
const NESTING_MAX: usize = 40;

/// How often fend may ask "shall I stop?" before a calculation counts as long: some tens of microseconds.
const STEPS_AT_ONCE: u32 = 2_000;

pub(super) struct Calculator(fend_core::Context);

impl Default for Calculator {
    fn default() -> Self {
        let mut context = fend_core::Context::new();
        // The same expression must always give the same answer.
        context.disable_rng();
        Calculator(context)
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
        let expression = readable(given);
        if nesting(&expression) > NESTING_MAX {
            let why = format!("the expression is nested deeper than {NESTING_MAX} levels");
            return Box::pin(std::future::ready(Err(Failure::execution(why))));
        }
        let at_once = Steps {
            left: AtomicU32::new(STEPS_AT_ONCE),
        };
        match evaluate(&self.0, &expression, &at_once) {
            Err(Stopped::Interrupted) => Box::pin(evaluate_aside(self.0.clone(), expression, run)),
            done => Box::pin(std::future::ready(finished(done))),
        }
    }
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

async fn evaluate_aside(
    context: fend_core::Context,
    expression: String,
    run: &Run,
) -> Result<Output, Failure> {
    let cancel = run.cancel.clone();
    // The token stops the thread when this future is dropped at the deadline or by a hang-up.
    let until = Until(cancel.child_token());
    let _stop_with_me = until.0.clone().drop_guard();
    let work = tokio::task::spawn_blocking(move || evaluate(&context, &expression, &until));
    match work.await {
        Ok(done) => finished(done),
        Err(_) => Err(Failure::execution("the calculation broke down")),
    }
}

enum Stopped {
    Interrupted,
    Wrong(String),
}

fn evaluate(
    context: &fend_core::Context,
    expression: &str,
    interrupt: &impl fend_core::Interrupt,
) -> Result<String, Stopped> {
    let mut context = context.clone();
    match fend_core::evaluate_with_interrupt(expression, &mut context, interrupt) {
        Ok(result) => Ok(result.get_main_result().to_owned()),
        Err(message) if message == "interrupted" => Err(Stopped::Interrupted),
        Err(message) => Err(Stopped::Wrong(message)),
    }
}

fn finished(done: Result<String, Stopped>) -> Result<Output, Failure> {
    match done {
        Ok(text) => Ok(as_value(&text).into()),
        Err(Stopped::Interrupted) => Err(Failure::execution("the calculation was stopped")),
        Err(Stopped::Wrong(message)) => Err(Failure::execution(message)),
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

struct Steps {
    left: AtomicU32,
}

impl fend_core::Interrupt for Steps {
    fn should_interrupt(&self) -> bool {
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            })
            .is_err()
    }
}

struct Until(CancellationToken);

impl fend_core::Interrupt for Until {
    fn should_interrupt(&self) -> bool {
        self.0.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Never;
    impl fend_core::Interrupt for Never {
        fn should_interrupt(&self) -> bool {
            false
        }
    }

    fn calculate(expression: &str) -> Result<Value, String> {
        let calculator = Calculator::default();
        match evaluate(&calculator.0, &readable(expression), &Never) {
            Ok(text) => Ok(as_value(&text)),
            Err(Stopped::Wrong(message)) => Err(message),
            Err(Stopped::Interrupted) => Err("interrupted".into()),
        }
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

    /// The longest allowed texts of every awkward shape, on a stack as small as the server's threads have.
    #[test]
    fn no_text_exhausts_the_stack() {
        let shapes = [
            "(",
            "-",
            "!",
            "sqrt ",
            "1^",
            "1+",
            "2*",
            "a",
            "1 to ",
            "-(",
            "\\x.",
            "x:",
            "x=",
            "1;",
            "1 m ",
            "@",
            "#",
            "\"",
            "1/",
            "not ",
            "5 choose ",
            "1|",
            "0x",
        ];
        let run = move || {
            for shape in shapes {
                for close in ["", "1", ")"] {
                    let count = EXPRESSION_CHARS_MAX / shape.len() - usize::from(!close.is_empty());
                    let text = shape.repeat(count) + close;
                    if nesting(&text) <= NESTING_MAX {
                        let steps = Steps {
                            left: AtomicU32::new(50_000),
                        };
                        let _ = evaluate(&Calculator::default().0, &text, &steps);
                    }
                }
            }
        };
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run);
        assert!(thread.unwrap().join().is_ok());
    }

    #[test]
    fn a_long_calculation_stops_when_told() {
        let token = CancellationToken::new();
        token.cancel();
        let context = Calculator::default().0;
        assert!(matches!(
            evaluate(&context, "9^9^9", &Until(token)),
            Err(Stopped::Interrupted)
        ));
        let few = Steps {
            left: AtomicU32::new(STEPS_AT_ONCE),
        };
        assert!(matches!(
            evaluate(&context, "9^9^9", &few),
            Err(Stopped::Interrupted)
        ));
    }
}
