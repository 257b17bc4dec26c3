//! What shows how a tool is meant: prompts that should pick it, and saved calls with what they should answer.

use super::Fields;
use crate::json::{Reader, member, path_of_key};
use crate::tool::TestCase;

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
            r.unknown_keys(members, &path, &["arguments", "expect"]);
            let mut part = |key| {
                let found = member(members, key);
                if found.is_none() {
                    let remedy = "A test is {\"arguments\": {…}, \"expect\": …}.";
                    let path = path_of_key(&path, key);
                    r.report(
                        item.span.start,
                        path,
                        format!("\"{key}\""),
                        "nothing",
                        remedy,
                    );
                }
                found
            };
            let (arguments, expect) = (part("arguments"), part("expect"));
            let arguments = arguments.filter(|m| r.object(m, &path).is_some())?;
            Some(TestCase {
                arguments: arguments.value.to_value(),
                expect: expect?.value.to_value(),
            })
        });
        cases.collect()
    }
}
