//! Seeded random edits against a plain list of definitions.

use super::FILE;
use catalog::definition::{Origin, definition_from_text};
use catalog::test_case::{Expected, TestCase};
use catalog::tool::{Annotations, Definition, KindName, OutputFormat, RateLimit};
use catalog::tools_file::{Edit, edit, read_tools};
use serde_json::{Value, json};

/// xorshift64*: small, seeded, the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % n
    }

    fn maybe<T>(&mut self, value: T) -> Option<T> {
        (self.below(2) == 0).then_some(value)
    }

    fn text(&mut self) -> String {
        let parts = [
            "a", "é", "\"", "\\", "\n", "}", "],", "😀", "{", " ", ":", "\u{1}",
        ];
        let length = self.below(6);
        std::iter::once("x")
            .chain((0..length).map(|_| parts[self.below(parts.len())]))
            .collect()
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 4 } else { 6 }) {
            0 => json!(self.text()),
            1 => json!(self.below(5)),
            2 => json!(0.25),
            3 => Value::Null,
            4 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => Value::Object(
                (0..self.below(4))
                    .map(|i| (format!("k{i}"), self.value(depth - 1)))
                    .collect(),
            ),
        }
    }

    fn definition(&mut self, name: String) -> Definition {
        let config = match self.below(2) {
            0 => json!({"base_url": "http://h", "method": "GET", "body": self.value(3)}),
            _ => json!({"method": "PUT", "query": {"q": self.text()}, "base_url": "http://h"}),
        };
        let rate_limit = RateLimit {
            requests_per_hour: self.maybe(3),
            concurrent_requests: self.maybe(1),
            ..RateLimit::default()
        };
        Definition {
            name,
            description: self.text(),
            description_user: Some(self.text()).filter(|_| self.below(2) == 0),
            kind: KindName::Http,
            config: config.as_object().unwrap().clone(),
            input_schema: json!({"type": "object", "properties": {"k0": self.value(2), "k1": self.value(1)}}),
            output_schema: self.maybe(json!({"type": "string"})),
            output_format: if self.below(2) == 0 {
                OutputFormat::Json
            } else {
                OutputFormat::Text
            },
            timeout_seconds: self.maybe(1.5).or(self.maybe(4.0)),
            parallel_capable: self.maybe(true),
            rate_limit: Some(rate_limit).filter(|_| self.below(2) == 0),
            is_active: self.below(2) == 0,
            is_public: self.below(2) == 0,
            auth_config: self.maybe(json!({"type": "bearer", "token": {"$env": "A"}})),
            annotations: Annotations {
                read_only: self.maybe(true),
                title: self.maybe("t".to_owned()),
                ..Annotations::default()
            },
            examples: (0..self.below(3)).map(|_| self.text()).collect(),
            tests: (0..self.below(2))
                .map(|_| TestCase {
                    name: self.maybe("t".to_owned()),
                    arguments: json!({}),
                    expect: Expected::Data(self.value(1)),
                })
                .collect(),
            approval: self.maybe(json!("always")),
        }
    }

    /// One edit, made to the model too.
    fn edit(&mut self, model: &mut Vec<Definition>) -> Edit {
        let i = self.below(model.len() + 1);
        let name = format!("t{}", self.below(6));
        let taken = model.iter().position(|d| d.name == name);
        match self.below(4) {
            0 if i < model.len() => Edit::Remove(model.remove(i).name),
            1 if i < model.len() && taken.is_none_or(|t| t == i) => {
                let definition = self.definition(name);
                let old = std::mem::replace(&mut model[i], definition.clone());
                Edit::Replace {
                    name: old.name,
                    definition,
                }
            }
            2 if i < model.len() => {
                model[i].is_active = !model[i].is_active;
                Edit::Put(model[i].clone())
            }
            _ => {
                let definition = self.definition(name);
                match taken {
                    Some(t) => model[t] = definition.clone(),
                    None => model.push(definition.clone()),
                }
                Edit::Put(definition)
            }
        }
    }
}

#[test]
fn random_edits_agree_with_a_model() {
    let starts = [
        FILE.to_owned(),
        FILE.replace("  ", "\t").replace('\n', "\r\n"),
        FILE.replace(['\n'], " "),
        "{\"tools\":[],\"version\":1}".to_owned(),
        "\u{feff}{\n    \"version\": 1,\n    \"tools\": [\n    ]\n}".to_owned(),
        FILE.replace("      ", "    ").replace(",\n", "\n    , "),
    ];
    for (seed, start) in (1..=40).flat_map(|seed| starts.iter().map(move |s| (seed, s))) {
        let mut random = Random(seed * 0x9e37_79b9);
        let mut text = start.clone();
        let mut model = read_tools("tools.json", &text).unwrap().definitions;
        for _ in 0..25 {
            let before = text.clone();
            let kept: Vec<String> = model.iter().map(|d| d.name.clone()).collect();
            let change = random.edit(&mut model);
            text = edit(&text, std::slice::from_ref(&change))
                .unwrap_or_else(|p| panic!("{change:?} on {before}: {}", p[0]));
            let read = read_tools("tools.json", &text).unwrap();
            assert_eq!(
                read.definitions, model,
                "{change:?} on {before} gave {text}"
            );
            assert_tidy(&before, &text);
            assert_others_untouched(&before, &text, &kept, &change);
        }
    }
}

#[test]
fn a_group_of_edits_gives_the_same_file_as_one_after_the_other() {
    for seed in 1..=200 {
        let mut random = Random(seed * 0x9e37_79b9);
        let start = if seed % 2 == 0 {
            FILE
        } else {
            "{\n  \"version\": 1,\n  \"tools\": []\n}\n"
        };
        let mut model = read_tools("tools.json", start).unwrap().definitions;
        let edits: Vec<Edit> = (0..12).map(|_| random.edit(&mut model)).collect();
        let together = edit(start, &edits).unwrap();
        let mut apart = start.to_owned();
        for change in &edits {
            apart = edit(&apart, std::slice::from_ref(change)).unwrap();
        }
        assert_eq!(together, apart, "seed {seed}: {edits:?}");
        assert_eq!(
            read_tools("tools.json", &together).unwrap().definitions,
            model
        );
    }
}

/// Start and end as before, line ends of one sort, no line left blank.
fn assert_tidy(before: &str, after: &str) {
    assert_eq!(before.ends_with('\n'), after.ends_with('\n'));
    assert_eq!(
        before.starts_with('\u{feff}'),
        after.starts_with('\u{feff}')
    );
    if before.contains("\r\n") {
        assert_eq!(
            after.matches('\n').count(),
            after.matches("\r\n").count(),
            "{after}"
        );
    }
    let blank = |text: &str| {
        text.trim_end()
            .lines()
            .filter(|l| l.trim().is_empty())
            .count()
    };
    assert!(blank(after) <= blank(before), "{after}");
}

/// The text of every tool the edit does not name is what it was.
fn assert_others_untouched(before: &str, after: &str, kept: &[String], change: &Edit) {
    let touched = match change {
        Edit::Put(d) => &d.name,
        Edit::Replace { name, .. } | Edit::Remove(name) => name,
    };
    let (old, new) = (tool_texts(before), tool_texts(after));
    for name in kept.iter().filter(|name| *name != touched) {
        let find = |texts: &[(String, String)]| {
            texts
                .iter()
                .find(|(n, _)| n == name)
                .map(|(_, t)| t.clone())
        };
        assert_eq!(find(&old), find(&new), "{name} after {change:?}");
    }
}

fn tool_texts(text: &str) -> Vec<(String, String)> {
    let root = catalog::json::parse(text).unwrap();
    let members = root.as_object().unwrap();
    let tools = &members.iter().find(|m| m.key == "tools").unwrap().value;
    let tools = tools.as_array().unwrap().iter().map(|node| {
        let text = text[node.span.clone()].to_owned();
        let definition = definition_from_text("tool", &text, Origin::ToolsFile).unwrap();
        (definition.name, text)
    });
    tools.collect()
}
