//! The front matter of a skill: the part of YAML that people write there. Texts, plain, quoted or folded, and lists of
//! them; what else stands there is for others and is passed over.

use catalog::problem::Problem;
use serde_json::Value;

/// A value, and the line that it begins in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) text: String,
    pub(super) line: u32,
}

/// What a file says in front, and what follows it.
pub(super) struct Front<'a> {
    file: &'a str,
    keys: Vec<Key<'a>>,
    pub(super) body: &'a str,
    pub(super) body_line: u32,
    pub(super) problems: Vec<Problem>,
}

/// A key with what stands behind it and below it.
struct Key<'a> {
    name: &'a str,
    value: &'a str,
    line: u32,
    below: Vec<(u32, &'a str)>,
}

/// Splits a file. One without front matter has nothing that could be read.
pub(super) fn front<'a>(file: &'a str, text: &'a str) -> Result<Front<'a>, Vec<Problem>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut front = Front {
        file,
        keys: Vec::new(),
        body: "",
        body_line: 1,
        problems: Vec::new(),
    };
    let mut rest = text;
    let mut line = 0;
    let mut next = || {
        let (first, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let is_over = rest.is_empty();
        rest = after;
        line += 1;
        (!is_over).then_some((line, first.trim_end(), after))
    };
    let is_mark = |line: &str| line == "---";
    let remedy = "Begin the file with a line of ---, then `name:` and `description:`, then another line of ---";
    match next() {
        Some((_, first, _)) if is_mark(first) => {}
        other => {
            let found = other.map_or("nothing", |it| it.1);
            front.wrong(1, "front matter", "---", found, remedy);
            return Err(front.problems);
        }
    }
    let mut last = 1;
    while let Some((line, text, after)) = next() {
        if is_mark(text) {
            front.body = after;
            front.body_line = line + 1;
            return Ok(front);
        }
        front.line(line, text);
        last = line;
    }
    front.wrong(
        last,
        "front matter",
        "a second line of ---",
        "the end of the file",
        remedy,
    );
    Err(front.problems)
}

impl<'a> Front<'a> {
    fn line(&mut self, line: u32, text: &'a str) {
        let bare = text.trim_start();
        if bare.is_empty() || bare.starts_with('#') {
            return;
        }
        let is_below = text.starts_with([' ', '\t']) || bare.starts_with("- ") || bare == "-";
        if is_below && let Some(key) = self.keys.last_mut() {
            key.below.push((line, bare));
            return;
        }
        let pair = text.split_once(':').filter(|(name, value)| {
            let is_name = |c: char| c.is_alphanumeric() || "-_.".contains(c);
            !name.is_empty()
                && name.chars().all(is_name)
                && (value.is_empty() || value.starts_with(' '))
        });
        let Some((name, value)) = pair else {
            let remedy = "Move it below the second line of ---, or indent it below the key that it belongs to";
            self.wrong(line, "front matter", "`key: value`", text, remedy);
            return;
        };
        if self.keys.iter().any(|it| it.name == name) {
            self.wrong(
                line,
                name,
                "it once",
                "it again",
                "Remove one of the two lines",
            );
            return;
        }
        self.keys.push(Key {
            name,
            value: value.trim(),
            line,
            below: Vec::new(),
        });
    }

    pub(super) fn wrong(
        &mut self,
        line: u32,
        path: &str,
        expected: &str,
        found: &str,
        remedy: &str,
    ) {
        self.problems.push(Problem {
            file: self.file.to_owned(),
            line,
            column: 1,
            path: path.to_owned(),
            expected: expected.to_owned(),
            found: shortened(found),
            remedy: format!("{}.", remedy.trim_end_matches('.')),
        });
    }

    /// Keys that are all but ours: passed over like others', what they say would be lost unseen.
    pub(super) fn nearly(&mut self, ours: &[&str]) {
        let bare = |key: &str| key.to_lowercase().trim_end_matches('s').to_owned();
        let meant = |key: &str| ours.iter().find(|it| **it != key && bare(it) == bare(key));
        let found: Vec<(u32, &str, &str)> = self
            .keys
            .iter()
            .filter_map(|it| Some((it.line, it.name, *meant(it.name)?)))
            .collect();
        for (line, name, meant) in found {
            let expected = format!("the key `{meant}`");
            let remedy = format!("Write `{meant}:`");
            self.wrong(line, name, &expected, name, &remedy);
        }
    }

    /// A text that has to be there.
    pub(super) fn text(&mut self, name: &str, expected: &str, remedy: &str) -> Option<Given> {
        let Some(key) = self.keys.iter().find(|it| it.name == name) else {
            self.wrong(1, name, expected, "nothing", remedy);
            return None;
        };
        let line = key.line;
        let text = match key.value {
            ">" | ">-" | "|" | "|-" => folded(&key.below, key.value.starts_with('|')),
            value => {
                let mut text = match plain(value) {
                    Ok(text) => text,
                    Err(mark) => {
                        let expected = format!("a closing {mark}");
                        let found = value.to_owned();
                        self.wrong(
                            line,
                            name,
                            &expected,
                            &found,
                            "Close the quote at the end of the line",
                        );
                        return None;
                    }
                };
                if !key.below.is_empty() {
                    text = format!("{text} {}", folded(&key.below, false));
                }
                text
            }
        };
        let text = text.trim().to_owned();
        if text.is_empty() {
            self.wrong(line, name, expected, "nothing", remedy);
            return None;
        }
        Some(Given { text, line })
    }

    /// A list that may be missing: `[a, b]`, `a, b`, or a line for each.
    pub(super) fn list(&mut self, name: &str) -> Vec<Given> {
        let Some(key) = self.keys.iter().find(|it| it.name == name) else {
            return Vec::new();
        };
        let (line, value) = (key.line, key.value);
        if value.starts_with('[') && !value.ends_with(']') {
            let remedy =
                "Close the list at the end of the line, or write a line of `- NAME` for each";
            self.wrong(line, name, "a closing ]", value, remedy);
            return Vec::new();
        }
        let inside = value.trim_start_matches('[').trim_end_matches(']');
        let beside = inside.split(',').map(|it| (key.line, it));
        let below = key
            .below
            .iter()
            .map(|(line, it)| (*line, it.trim_start_matches('-')));
        let all = beside.chain(below);
        let given = all.map(|(line, text)| {
            let text = text.trim();
            let text = plain(text).unwrap_or_else(|_| text.to_owned());
            Given { text, line }
        });
        given.filter(|it| !it.text.is_empty()).collect()
    }
}

fn folded(lines: &[(u32, &str)], keeps_lines: bool) -> String {
    let texts: Vec<&str> = lines.iter().map(|it| it.1).collect();
    texts.join(if keeps_lines { "\n" } else { " " })
}

/// A text with or without quotes; the mark that is missing where it has only one.
fn plain(value: &str) -> Result<String, char> {
    let Some(mark) = value.chars().next().filter(|it| matches!(it, '"' | '\'')) else {
        let end = value.find(" #").unwrap_or(value.len());
        let is_remark = value.starts_with('#');
        return Ok(if is_remark {
            ""
        } else {
            value[..end].trim_end()
        }
        .to_owned());
    };
    let inside = &value[1..];
    if mark == '\'' {
        let end = inside.replace("''", "\u{0}\u{0}").find('\'').ok_or(mark)?;
        return Ok(inside[..end].replace("''", "'"));
    }
    let mut values = serde_json::Deserializer::from_str(value).into_iter::<Value>();
    match values.next() {
        Some(Ok(Value::String(text))) => Ok(text),
        _ => Err(mark),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
