//! What the calculator and its sealed worker say to each other, both ends of it: an expression is asked, and `{"ok": …}`,
//! `{"text": …}` or `{"wrong": …}` is answered.

use super::fend::{Answer, context, evaluate};
use process::{Seal, pool};
use serde_json::{Value, json};

/// The program's second argument: which worker it is to be.
pub const CALCULATOR: &str = "calculator";

/// Above everything that a sensible calculation needs, and little enough to have four of them. fend calls itself; the
/// deepest expression that is let through needs a fraction of this stack.
pub const CALCULATOR_SEAL: Seal = Seal {
    address_bytes: 512 << 20,
    stack_bytes: 64 << 20,
};

/// Why there is no result.
#[derive(Debug, PartialEq)]
pub(super) enum Stopped {
    /// The expression is wrong; the message is for the caller.
    Wrong(String),
    /// The worker crashed, or answered nonsense.
    TooMuch,
    /// No worker could be started; the reason is for the operator.
    NoWorker(String),
}

pub(super) type Outcome = Result<Answer, Stopped>;

/// What a worker answered, or why it did not.
pub(super) fn outcome(answer: Result<Vec<u8>, pool::Stopped>) -> Outcome {
    match answer {
        Ok(bytes) => read(&bytes).unwrap_or(Err(Stopped::TooMuch)),
        Err(pool::Stopped::Died | pool::Stopped::Late) => Err(Stopped::TooMuch),
        Err(pool::Stopped::NoWorker(error)) => Err(Stopped::NoWorker(error.to_string())),
    }
}

/// None where the worker wrote what it should not.
fn read(answer: &[u8]) -> Option<Outcome> {
    let answer: Value = serde_json::from_slice(answer).ok()?;
    let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
    let wrong = || text("wrong").map(|message| Err(Stopped::Wrong(message)));
    let verbatim = || text("text").map(|text| Ok(Answer::Text(text)));
    let plain = text("ok").map(|text| Ok(Answer::Plain(text)));
    plain.or_else(verbatim).or_else(wrong)
}

/// The worker's end. Each expression stands alone: no variable outlives its question.
pub fn calculator_answers() -> impl FnMut(&[u8]) -> Vec<u8> + Send + 'static {
    let context = context();
    move |question| {
        let expression = String::from_utf8_lossy(question);
        let answer = match evaluate(&context, &expression) {
            Ok(Answer::Plain(text)) => json!({"ok": text}),
            Ok(Answer::Text(text)) => json!({"text": text}),
            Err(message) => json!({"wrong": message}),
        };
        answer.to_string().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_question_is_answered_alone() {
        let mut answer = calculator_answers();
        let mut ask = |question: &str| outcome(Ok(answer(question.as_bytes())));
        let plain = |text: &str| Ok(Answer::Plain(text.to_owned()));
        assert_eq!(ask("1+1"), plain("2"));
        assert_eq!(ask("a = 5; a"), plain("5"));
        assert_eq!(ask("\"x\ny\""), plain("x\ny"));
        let wrong = Err(Stopped::Wrong("division by zero".to_owned()));
        assert_eq!(ask("1/0"), wrong);
        assert_eq!(ask("price = 5"), plain("5"));
        assert!(
            matches!(ask("price"), Err(Stopped::Wrong(_))),
            "nobody sees what another defined"
        );
        assert_eq!(ask("16 to hex"), Ok(Answer::Text("10".to_owned())));
    }

    #[test]
    fn anything_but_an_answer_counts_as_a_crash() {
        for broken in ["", "{}", "thread panicked", "{\"ok\": 2}"] {
            let answer = Ok(broken.as_bytes().to_vec());
            assert_eq!(outcome(answer), Err(Stopped::TooMuch), "{broken:?}");
        }
        assert_eq!(outcome(Err(pool::Stopped::Died)), Err(Stopped::TooMuch));
    }
}
