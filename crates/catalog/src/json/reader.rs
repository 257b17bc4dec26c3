//! Typed access to the members of an object that reports every fault and reads on.

use super::{Document, Member, Node, NodeKind, path_of_key, quote_short};
use crate::problem::Problem;
use std::collections::{HashMap, HashSet};

/// Longest deadline anyone may ask for: a day.
pub(crate) const SECONDS_MAX: f64 = 86_400.0;

/// "Every problem at once" ends here: a hostile body must not be answered by one a hundred times its size.
const PROBLEMS_MAX: usize = 1000;

/// Collects the problems of one document.
pub(crate) struct Reader<'a> {
    pub(crate) doc: &'a Document<'a>,
    problems: &'a mut Vec<Problem>,
    /// Problems met, those past the limit too.
    pub(crate) met: usize,
}

/// What the server adds when it shows something that an author wrote; ignored in a body, so that it can be fetched, edited
/// and sent back.
const SERVER_FIELDS: [&str; 6] = [
    "id",
    "owner",
    "version",
    "created_at",
    "updated_at",
    "deleted_at",
];

/// Reads what an author wrote as one object with these members, with everything that is wrong with it. `told` are those
/// that the server adds besides those it always does. `read` is given the place where the object begins.
pub(crate) fn read_body<T>(
    text: &str,
    fields: &[&str],
    told: &[&str],
    read: impl FnOnce(&mut Reader<'_>, usize, &[Member]) -> Option<T>,
) -> Result<T, Vec<Problem>> {
    let doc = Document::new("body", text);
    let node = doc.parse()?;
    let mut problems = Vec::new();
    let mut reader = Reader::new(&doc, &mut problems);
    let thing = reader.members(&node, "$").and_then(|members| {
        reader.duplicate_keys(&node, "$");
        let known = [fields, &SERVER_FIELDS, told].concat();
        reader.unknown_keys(members, "$", &known);
        read(&mut reader, node.span.start, members)
    });
    thing.filter(|_| problems.is_empty()).ok_or(problems)
}

impl<'a> Reader<'a> {
    pub(crate) fn new(doc: &'a Document<'a>, problems: &'a mut Vec<Problem>) -> Self {
        Self {
            doc,
            problems,
            met: 0,
        }
    }

    pub(crate) fn report(
        &mut self,
        offset: usize,
        path: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.push(|doc| doc.problem(offset, path, expected, found, remedy));
    }

    pub(crate) fn push(&mut self, problem: impl FnOnce(&Document<'_>) -> Problem) {
        self.met += 1;
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem(self.doc));
        }
    }

    /// A member whose value has the wrong type or range.
    pub(crate) fn wrong(&mut self, m: &Member, path: &str, expected: &str, remedy: &str) {
        let found = m.value.describe();
        let path = path_of_key(path, &m.key);
        self.report(m.value.span.start, path, expected, found, remedy);
    }

    pub(crate) fn members<'n>(&mut self, node: &'n Node, path: &str) -> Option<&'n [Member]> {
        let members = node.as_object();
        if members.is_none() {
            let remedy = "Write an object: { \"key\": value, … }.";
            self.report(node.span.start, path, "an object", node.describe(), remedy);
        }
        members
    }

    pub(crate) fn object<'n>(&mut self, m: &'n Member, path: &str) -> Option<&'n [Member]> {
        self.members(&m.value, &path_of_key(path, &m.key))
    }

    pub(crate) fn array<'n>(&mut self, m: &'n Member, path: &str, of: &str) -> Option<&'n [Node]> {
        let items = m.value.as_array();
        if items.is_none() {
            let remedy = format!("Put the {of} in an array: [ … ].");
            self.wrong(m, path, &format!("an array of {of}"), &remedy);
        }
        items
    }

    pub(crate) fn unknown_keys(&mut self, members: &[Member], path: &str, known: &[&str]) {
        for m in members.iter().filter(|m| !known.contains(&m.key.as_str())) {
            self.push(|doc| unknown_key(doc, m, path, known));
        }
    }

    /// Reports keys that are written twice, at any depth.
    pub(crate) fn duplicate_keys(&mut self, node: &Node, path: &str) {
        // Almost no document has any: look first, put paths together only then.
        if has_duplicate_keys(node) {
            self.report_duplicate_keys(node, path);
        }
    }

    fn report_duplicate_keys(&mut self, node: &Node, path: &str) {
        match &node.kind {
            NodeKind::Array(items) => {
                for (i, item) in items.iter().enumerate().filter(|(_, n)| is_container(n)) {
                    self.report_duplicate_keys(item, &format!("{path}[{i}]"));
                }
            }
            NodeKind::Object(members) => {
                let mut seen: HashMap<&str, usize> = HashMap::with_capacity(members.len());
                for m in members {
                    if let Some(first) = seen.insert(&m.key, m.key_span.start) {
                        let line = self.doc.line(first);
                        let key = quote_short(&m.key);
                        self.report(
                            m.key_span.start,
                            path_of_key(path, &m.key),
                            "each key once",
                            format!("{key} again (first in line {line})"),
                            "Delete one of the two: only the last would count.",
                        );
                    }
                    if is_container(&m.value) {
                        self.report_duplicate_keys(&m.value, &path_of_key(path, &m.key));
                    }
                }
            }
            _ => {}
        }
    }

    /// Any string.
    pub(crate) fn string<'n>(&mut self, m: &'n Member, path: &str) -> Option<&'n str> {
        let text = m.value.as_str();
        if text.is_none() {
            self.wrong(m, path, "a string", "Put the text in double quotes.");
        }
        text
    }

    /// A string that says something.
    pub(crate) fn text<'n>(&mut self, m: &'n Member, path: &str) -> Option<&'n str> {
        let text = self.string(m, path)?;
        if text.trim().is_empty() {
            let remedy = format!("Write something in \"{}\".", m.key);
            self.wrong(m, path, "a string that is not empty", &remedy);
            return None;
        }
        Some(text)
    }

    pub(crate) fn boolean(&mut self, m: &Member, path: &str) -> Option<bool> {
        if let NodeKind::Bool(value) = m.value.kind {
            return Some(value);
        }
        let remedy = "Write true or false, without quotes.";
        self.wrong(m, path, "true or false", remedy);
        None
    }

    pub(crate) fn seconds(&mut self, m: &Member, path: &str) -> Option<f64> {
        if let NodeKind::Number(number) = &m.value.kind
            && let Some(seconds) = number.as_f64()
            && seconds > 0.0
            && seconds <= SECONDS_MAX
        {
            return Some(seconds);
        }
        let remedy = "Write seconds as a number, such as 30 or 0.5; a day (86400) is the most.";
        self.wrong(m, path, "seconds above 0 and up to 86400", remedy);
        None
    }

    pub(crate) fn positive(&mut self, m: &Member, path: &str) -> Option<u32> {
        if let NodeKind::Number(number) = &m.value.kind
            && let Some(count) = number.as_u64().and_then(|n| u32::try_from(n).ok())
            && count > 0
        {
            return Some(count);
        }
        let remedy = format!(
            "Write a whole number of 1 or more, or leave \"{}\" out.",
            m.key
        );
        self.wrong(m, path, "a positive whole number", &remedy);
        None
    }

    pub(crate) fn one_of<'n>(
        &mut self,
        m: &'n Member,
        path: &str,
        allowed: &[&str],
    ) -> Option<&'n str> {
        if let Some(text) = m.value.as_str()
            && allowed.contains(&text)
        {
            return Some(text);
        }
        let near = m.value.as_str().and_then(|t| did_you_mean(t, allowed));
        let remedy = match near {
            Some(near) => format!("Did you mean \"{near}\"?"),
            None => format!("Write one of {}.", quoted_list(allowed)),
        };
        let expected = format!("one of {}", quoted_list(allowed));
        self.wrong(m, path, &expected, &remedy);
        None
    }
}

/// What to say about a key that has no meaning here.
pub(crate) fn unknown_key(doc: &Document<'_>, m: &Member, path: &str, known: &[&str]) -> Problem {
    let remedy = match did_you_mean(&m.key, known) {
        Some(near) => format!("Did you mean \"{near}\"?"),
        None => "Delete it, or correct its name.".to_owned(),
    };
    doc.problem(
        m.key_span.start,
        path_of_key(path, &m.key),
        format!("one of {}", quoted_list(known)),
        format!("the unknown key {}", quote_short(&m.key)),
        remedy,
    )
}

fn has_duplicate_keys(node: &Node) -> bool {
    /// Up to here comparing each with each is cheaper than a set.
    const FEW: usize = 16;
    match &node.kind {
        NodeKind::Array(items) => items.iter().any(has_duplicate_keys),
        NodeKind::Object(members) => {
            let keys = || members.iter().map(|m| m.key.as_str());
            let twice = if members.len() <= FEW {
                keys()
                    .enumerate()
                    .any(|(i, key)| keys().take(i).any(|k| k == key))
            } else {
                keys().collect::<HashSet<_>>().len() < members.len()
            };
            twice || members.iter().any(|m| has_duplicate_keys(&m.value))
        }
        _ => false,
    }
}

fn is_container(node: &Node) -> bool {
    matches!(node.kind, NodeKind::Array(_) | NodeKind::Object(_))
}

/// The member of that name; of duplicates the last, as in `Node::to_value`.
pub(crate) fn member<'n>(members: &'n [Member], key: &str) -> Option<&'n Member> {
    members.iter().rev().find(|m| m.key == key)
}

/// Like `member`, but null counts as absent.
pub(crate) fn present<'n>(members: &'n [Member], key: &str) -> Option<&'n Member> {
    member(members, key).filter(|m| !m.value.is_null())
}

pub(crate) fn quoted_list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|w| format!("\"{w}\"")).collect();
    quoted.join(", ")
}

/// The known word nearest to what was written, if it is near enough to be a slip.
pub fn did_you_mean<'w>(written: &str, known: &[&'w str]) -> Option<&'w str> {
    const LONGEST_WORD: usize = 64;
    if written.len() > LONGEST_WORD {
        return None;
    }
    let folded = |word: &str| word.to_lowercase().replace('-', "_");
    let written = folded(written);
    known
        .iter()
        .map(|word| (edit_distance(&written, &folded(word)), *word))
        .filter(|(distance, word)| *distance <= (word.len() / 3).clamp(1, 3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// Levenshtein's distance, a swap of neighbours counted as one slip.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                if swapped {
                    best.min(rows[i - 2][j - 2] + 1)
                } else {
                    best
                }
            };
        }
    }
    rows[a.len()][b.len()]
}
