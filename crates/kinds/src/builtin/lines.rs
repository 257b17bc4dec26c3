//! What the calculator and its worker process say to each other, both ends of it: a JSON string on each line in,
//! `{"ok": …}`, `{"text": …}` or `{"wrong": …}` on each line out.

use super::fend::{Answer, context, evaluate};
use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};

/// An answer is a number or a short text; what is longer helps nobody and would fill the server's memory.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// Why there is no result.
#[derive(Debug, PartialEq)]
pub(super) enum Stopped {
    /// The expression is wrong; the message is for the caller.
    Wrong(String),
    /// The worker crashed, or answered more than is allowed.
    TooMuch,
    /// No worker could be started; the reason is for the operator.
    NoWorker(String),
}

pub(super) type Outcome = Result<Answer, Stopped>;

pub(super) fn question(expression: &str) -> String {
    Value::from(expression).to_string() + "\n"
}

/// None where the worker died, or wrote what it should not.
pub(super) fn read_answer(stdout: &mut impl BufRead) -> Option<Outcome> {
    let mut line = Vec::new();
    let mut bounded = stdout.take(ANSWER_BYTES_MAX);
    bounded.read_until(b'\n', &mut line).ok()?;
    if line.last() != Some(&b'\n') {
        return None;
    }
    let answer: Value = serde_json::from_slice(&line).ok()?;
    let text = |name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
    let wrong = || text("wrong").map(|message| Err(Stopped::Wrong(message)));
    let verbatim = || text("text").map(|text| Ok(Answer::Text(text)));
    let plain = text("ok").map(|text| Ok(Answer::Plain(text)));
    plain.or_else(verbatim).or_else(wrong)
}

/// The worker's end: answers until the input ends. Each expression stands alone: no variable outlives its line.
pub fn answer_lines(input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let context = context();
    for line in input.lines() {
        let expression: String = serde_json::from_str(&line?)?;
        let answer = match evaluate(&context, &expression) {
            Ok(Answer::Plain(text)) => json!({"ok": text}),
            Ok(Answer::Text(text)) => json!({"text": text}),
            Err(message) => json!({"wrong": message}),
        };
        output.write_all(format!("{answer}\n").as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(input: &str) -> (io::Result<()>, String) {
        let mut output = Vec::new();
        let ended = answer_lines(input.as_bytes(), &mut output);
        (ended, String::from_utf8(output).unwrap())
    }

    #[test]
    fn each_line_is_answered_with_one_line_until_the_input_ends() {
        let (ended, said) = answers("\"1+1\"\n\"1/0\"\n\"a = 5; a\"\n\"\\\"x\\ny\\\"\"\n");
        assert!(ended.is_ok());
        assert_eq!(
            said,
            "{\"ok\":\"2\"}\n{\"wrong\":\"division by zero\"}\n{\"ok\":\"5\"}\n{\"ok\":\"x\\ny\"}\n"
        );
    }

    #[test]
    fn no_expression_sees_what_another_defined() {
        let (_, said) = answers("\"price = 5\"\n\"price\"\n");
        let second = said.lines().nth(1).unwrap();
        assert!(second.starts_with("{\"wrong\":"), "{said}");
    }

    #[test]
    fn a_line_that_is_not_ours_ends_the_worker() {
        let (ended, said) = answers("1+1\n\"2\"\n");
        assert!(ended.is_err());
        assert_eq!(said, "");
    }

    #[test]
    fn answers_are_read_back_and_anything_else_counts_as_a_crash() {
        let read = |text: &str| read_answer(&mut text.as_bytes());
        let plain = Ok(Answer::Plain("2".into()));
        assert_eq!(read("{\"ok\":\"2\"}\n"), Some(plain));
        let text = Ok(Answer::Text("10".into()));
        assert_eq!(read("{\"text\":\"10\"}\n"), Some(text));
        let wrong = Err(Stopped::Wrong("no".into()));
        assert_eq!(read("{\"wrong\":\"no\"}\n"), Some(wrong));
        for broken in ["", "{\"ok\":\"2\"}", "{}\n", "thread panicked\n"] {
            assert_eq!(read(broken), None, "{broken:?}");
        }
        let long = format!("{{\"ok\":\"{}\"}}\n", "1".repeat(1 << 20));
        assert_eq!(read(&long), None);
    }
}
