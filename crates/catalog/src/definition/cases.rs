//! What shows how a tool is meant: prompts that should pick it, and saved calls with what they should answer.

use super::{Fields, is_misspelt};
use crate::json::{Reader, member, path_of_key};
use crate::test_case::{CALL_ERRORS, Expected, TestCase};

const KEYS: [&str; 5] = ["name", "arguments", EXPECTS[0], EXPECTS[1], EXPECTS[2]];
const EXPECTS: [&str; 3] = ["expect", "expect_contains", "expect_error"];
const A_TEST: &str = "A test is {\"arguments\": {…}, \"expect\": …}, {\"arguments\": {…}, \"expect_contains\": …} or {\"arguments\": {…}, \"expect_error\": \"invalid_input\"}.";

impl Fields<'_> {
    pub(super) fn examples(&self, r: &mut Reader<'_>) -> Vec<String> {
        let Some(m) = self.get("examples") else {
            return Vec::new();
        };
        let items = r.array(m, self.path, "strings").unwrap_or_default();
        let mut examples = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            match item.as_str() {
                Some(text) => examples.push(text.to_owned()),
                None => r.report(
                    item.span.start,
                    format!("{}.examples[{i}]", self.path),
                    "a string",
                    item.describe(),
                    "Write a prompt that should pick this tool, in double quotes.",
                ),
            }
        }
        examples
    }

    pub(super) fn tests(&self, r: &mut Reader<'_>) -> Vec<TestCase> {
        let Some(m) = self.get("tests") else {
            return Vec::new();
        };
        let items = r.array(m, self.path, "objects").unwrap_or_default();
        let cases = items.iter().enumerate().filter_map(|(i, item)| {
            let path = format!("{}.tests[{i}]", self.path);
            let members = r.members(item, &path)?;
            r.unknown_keys(members, &path, &KEYS);
            let lacks = |r: &mut Reader<'_>, key: &str, expected: &str, found: &str| {
                let path = path_of_key(&path, key);
                r.report(item.span.start, path, expected, found, A_TEST);
            };
            let arguments = member(members, "arguments");
            if arguments.is_none() && !is_misspelt(members, "arguments", &KEYS) {
                lacks(r, "arguments", "\"arguments\"", "nothing");
            }
            let given = EXPECTS.map(|key| member(members, key));
            let expect = match given {
                [Some(data), None, None] => Some(Expected::Data(data.value.to_value())),
                [None, Some(part), None] => Some(Expected::Part(part.value.to_value())),
                [None, None, Some(code)] => {
                    let code = r.one_of(code, &path, &CALL_ERRORS);
                    code.map(|code| Expected::Error(code.to_owned()))
                }
                [None, None, None] => {
                    if !EXPECTS.iter().any(|key| is_misspelt(members, key, &KEYS)) {
                        let expected = "\"expect\", \"expect_contains\" or \"expect_error\"";
                        lacks(r, "expect", expected, "nothing");
                    }
                    None
                }
                _ => {
                    let keys = EXPECTS.iter().zip(given).rev();
                    let last = keys
                        .into_iter()
                        .find_map(|(key, given)| given.map(|_| *key));
                    let expected = "one of \"expect\", \"expect_contains\" and \"expect_error\"";
                    lacks(r, last.unwrap_or("expect"), expected, "several");
                    None
                }
            };
            let name = member(members, "name").and_then(|m| r.string(m, &path));
            let arguments = arguments.filter(|m| r.object(m, &path).is_some())?;
            Some(TestCase {
                name: name.map(str::to_owned),
                arguments: arguments.value.to_value(),
                expect: expect?,
            })
        });
        cases.collect()
    }
}
