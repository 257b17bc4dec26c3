//! Medians of an evaluation, as JSON: in this process, and through the pipes of `expression_worker`.
//!
//! usage: cargo run --release -p expression --example expression_speed

#![expect(clippy::print_stdout, reason = "it is what this program is for")]

use expression::{Evaluator, Limits, answer, check, question, read};
use serde_json::{Map, Value, json};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

const ROUNDS: usize = 20_000;

const SNIPPET: &str = "\
total = 0
counts = {}
for word in words:
    counts[word] = counts.get(word, 0) + 1
    total += len(word)
longest = max(words, key=len)
squares = {n: n * n for n in range(10)}
share = total / len(words)
text = f'{longest}: {share:.2f}'
result = {'text': text, 'counts': counts, 'squares': sum(squares.values())}
";

fn main() -> std::io::Result<()> {
    let numbers = json!({"num1": 5, "num2": 3});
    let words = json!({"words": ["pear", "fig", "apple", "fig", "plum", "cherry"]});
    let cases = [
        ("num1 * num2", "num1 * num2", numbers.clone()),
        ("division", "num1 / num2", numbers.clone()),
        ("round of a power", "round(num1 ** 0.5, 2)", numbers.clone()),
        ("sqrt and pi", "sqrt(num1) * pi", numbers.clone()),
        (
            "careful: a sum of booleans",
            "(num1 > 1) + (num2 > 1)",
            numbers,
        ),
        ("ten lines", SNIPPET, words),
        (
            "loop of 100000",
            "sum(i * i for i in range(100000))",
            json!({}),
        ),
    ];
    let mut report = Map::new();
    for (name, source, arguments) in cases {
        let Value::Object(arguments) = arguments else {
            continue;
        };
        let rounds = if name.starts_with("loop") { 50 } else { ROUNDS };
        let asked = question(source, &arguments, 1000);
        let mut evaluator = Evaluator::new();
        let evaluated = evaluator.evaluate(source, &arguments, &Limits::default());
        let evaluate_us = median(rounds, || {
            evaluator
                .evaluate(source, &arguments, &Limits::default())
                .is_ok()
        });
        let answer_us = median(rounds, || !answer(&mut evaluator, &asked).is_empty());
        let names: Vec<&str> = arguments.keys().map(String::as_str).collect();
        let compile_us = median(rounds / 20, || check(source, &names).is_ok());
        let pipes_us = through_pipes(&asked, rounds)?;
        let both_ends_us = median(rounds, || {
            let asked = question(source, &arguments, 1000);
            read(&answer(&mut evaluator, &asked)).is_ok()
        });
        report.insert(
            name.to_owned(),
            json!({
                "value": evaluated.map_or_else(|fault| json!(fault.message), |done| done.value),
                "evaluate_us": evaluate_us, "answer_us": answer_us, "question_answer_read_us": both_ends_us,
                "through_pipes_us": pipes_us, "compile_us": compile_us,
            }),
        );
    }
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}

/// Microseconds.
fn median(rounds: usize, mut round: impl FnMut() -> bool) -> f64 {
    let mut taken: Vec<u128> = (0..rounds.max(5))
        .map(|_| {
            let started = Instant::now();
            std::hint::black_box(round());
            started.elapsed().as_nanos()
        })
        .collect();
    taken.sort_unstable();
    let nanoseconds = u32::try_from(taken[taken.len() / 2]).unwrap_or(u32::MAX);
    f64::from(nanoseconds) / 1000.0
}

fn through_pipes(question: &[u8], rounds: usize) -> std::io::Result<f64> {
    let folder = std::env::current_exe()?;
    let mut child = Command::new(folder.with_file_name("expression_worker"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let (Some(mut input), Some(mut output)) = (input, output) else {
        return Ok(f64::NAN);
    };
    let mut framed = u32::try_from(question.len())
        .unwrap_or(u32::MAX)
        .to_le_bytes()
        .to_vec();
    framed.extend_from_slice(question);
    let (mut length, mut answer) = ([0; 4], Vec::new());
    let taken = median(rounds, || {
        let mut ask = || -> std::io::Result<()> {
            input.write_all(&framed)?;
            output.read_exact(&mut length)?;
            answer.resize(u32::from_le_bytes(length) as usize, 0);
            output.read_exact(&mut answer)
        };
        ask().is_ok()
    });
    drop(input);
    child.wait()?;
    Ok(taken)
}
