//! What the readers say about good and bad `tools.json` and `mcp.json`: file, line, path and a remedy that helps.

mod mcp;
mod tool;
mod tools;

use catalog::problem::Problem;
use catalog::tools_file::read_tools;

fn tools_problems(text: &str) -> Vec<Problem> {
    read_tools("tools.json", text).expect_err(text)
}

/// Exactly one problem: at that line and path, with that in the remedy.
fn check_one(problems: &[Problem], file: &str, line: u32, path: &str, remedy: &str) {
    let all: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let all = all.join("\n");
    assert_eq!(problems.len(), 1, "one problem, not:\n{all}");
    let p = &problems[0];
    assert_eq!(
        (p.file.as_str(), p.line, p.path.as_str()),
        (file, line, path),
        "{all}"
    );
    assert!(
        p.remedy.contains(remedy),
        "remedy with {remedy:?}, not:\n{all}"
    );
    assert!(!p.expected.is_empty() && !p.found.is_empty(), "{all}");
}
