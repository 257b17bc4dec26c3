//! The encoder beside the Python package that its model is from, which TOOLCRIB_TEST_PYTHON holds.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{cosine, encoder, sentences};

/// Weights and table are the package's own; only activations are rounded.
const COSINE_MIN: f32 = 0.9999;

fn answers(python: PathBuf, texts: &[String]) -> Vec<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/reference.py");
    let mut program = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = program.stdin.take().unwrap();
    let texts = serde_json::to_string(texts).unwrap();
    // Its answer comes when all was read, so neither waits for the other.
    input.write_all(texts.as_bytes()).unwrap();
    drop(input);
    let output = program.wait_with_output().unwrap();
    assert!(output.status.success(), "the package did not answer");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn texts_are_cut_and_encoded_as_the_package_does_it() {
    let Some(folder) = std::env::var_os("TOOLCRIB_TEST_PYTHON") else {
        println!("encoder: skipped, TOOLCRIB_TEST_PYTHON is not set");
        return;
    };
    let texts = sentences::ours();
    assert!(texts.len() >= 200, "only {} texts", texts.len());
    let answers = answers(PathBuf::from(folder).join("python3"), &texts);
    assert_eq!(answers.len(), texts.len());

    let encoder = encoder();
    let mut problems = Vec::new();
    for (text, answer) in texts.iter().zip(&answers) {
        let pieces: Vec<String> = serde_json::from_value(answer["pieces"].clone()).unwrap();
        let own = encoder.pieces(text);
        // The package shows the piece that stands for nothing.
        if own != pieces && !(own.is_empty() && pieces == ["<unk>"]) {
            problems.push(format!("{text:?} is cut into {own:?}, not {pieces:?}"));
        }
        let vector: Vec<f32> = serde_json::from_value(answer["vector"].clone()).unwrap();
        let near = cosine(&encoder.encode(text), &vector.try_into().unwrap());
        if near < COSINE_MIN {
            problems.push(format!("{text:?}: cosine {near}"));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
