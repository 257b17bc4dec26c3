//! `tools.json`: reads the file shelf and reports everything that is wrong with it at once.
//! Changing the text without reformatting it is in `tools_file/edit.rs`.

mod edit;
mod layout;
mod splice;

pub use edit::{Edit, edit};

use crate::definition::{Fault, Origin, read_definition, report};
use crate::json::{Document, Member, Node, NodeKind, Reader, member};
use crate::problem::Problem;
use crate::tool::Definition;
use std::collections::HashMap;

const TOP_KEYS: [&str; 2] = ["version", "tools"];

/// The one version of the format there is.
const VERSION: u64 = 1;

/// What is on the file shelf.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolsFile {
    /// In the order of the file.
    pub definitions: Vec<Definition>,
}

/// Reads the text of `tools.json`; `file_name` is what its problems are reported under.
pub fn read_tools(file_name: &str, text: &str) -> Result<ToolsFile, Vec<Problem>> {
    read_checked_tools(file_name, text, |_| Vec::new())
}

/// Reads the text and asks `check` about each definition that can be read, also where others cannot: whoever mends
/// the file sees all there is to mend, in the order of its lines.
pub fn read_checked_tools(
    file_name: &str,
    text: &str,
    check: impl Fn(&Definition) -> Vec<Fault>,
) -> Result<ToolsFile, Vec<Problem>> {
    let doc = Document::new(file_name, text);
    let root = doc.parse()?;
    read_root(&doc, &root, check)
}

fn read_root(
    doc: &Document<'_>,
    root: &Node,
    check: impl Fn(&Definition) -> Vec<Fault>,
) -> Result<ToolsFile, Vec<Problem>> {
    let mut problems = Vec::new();
    let tools = top_level(doc, root, &mut problems);
    let mut definitions = Vec::with_capacity(tools.len());
    for (i, node) in tools.iter().enumerate() {
        let path = format!("$.tools[{i}]");
        let definition = read_definition(doc, node, &path, Origin::ToolsFile, &mut problems);
        if let Some(definition) = definition {
            report(doc, node, &path, check(&definition), &mut problems);
            definitions.push(definition);
        }
    }
    same_names(&mut Reader::new(doc, &mut problems), tools);
    problems.sort_by_key(|p| (p.line, p.column));
    if problems.is_empty() {
        Ok(ToolsFile { definitions })
    } else {
        Err(problems)
    }
}

/// Checks `{"version": 1, "tools": […]}` and gives the entries of `tools`.
fn top_level<'n>(doc: &Document<'_>, root: &'n Node, problems: &mut Vec<Problem>) -> &'n [Node] {
    let mut r = Reader::new(doc, problems);
    let shape = "The file is {\"version\": 1, \"tools\": [ … ]}.";
    let members = match &root.kind {
        NodeKind::Object(members) => members,
        NodeKind::Array(_) => {
            let remedy = format!("{shape} Put this array under \"tools\".");
            r.report(root.span.start, "$", "an object", "an array", remedy);
            return &[];
        }
        _ => {
            r.report(root.span.start, "$", "an object", root.describe(), shape);
            return &[];
        }
    };
    r.unknown_keys(members, "$", &TOP_KEYS);
    repeated_top_keys(&mut r, members);
    match member(members, "version") {
        None => r.report(
            root.span.start,
            "$.version",
            "\"version\": 1",
            "nothing",
            format!("Add \"version\": 1. {shape}"),
        ),
        Some(m) if !matches!(&m.value.kind, NodeKind::Number(n) if n.as_u64() == Some(VERSION)) => {
            r.wrong(
                m,
                "$",
                "1",
                "Write \"version\": 1; this program reads no other version of the format.",
            );
        }
        Some(_) => {}
    }
    match member(members, "tools") {
        None => {
            r.report(
                root.span.start,
                "$.tools",
                "\"tools\": [ … ]",
                "nothing",
                format!("Add \"tools\": []. {shape}"),
            );
            &[]
        }
        Some(m) => r.array(m, "$", "tools").unwrap_or_default(),
    }
}

/// Only the top: `read_definition` looks inside the tools.
fn repeated_top_keys(r: &mut Reader<'_>, members: &[Member]) {
    let known = |(_, m): &(usize, &Member)| TOP_KEYS.contains(&m.key.as_str());
    for (i, m) in members.iter().enumerate().filter(known) {
        if let Some(first) = members[..i].iter().find(|first| first.key == m.key) {
            let line = r.doc.line(first.key_span.start);
            let found = format!("\"{}\" again (first in line {line})", m.key);
            let remedy = "Merge the two: only the last would count.";
            r.report(
                m.key_span.start,
                format!("$.{}", m.key),
                "each key once",
                found,
                remedy,
            );
        }
    }
}

/// Two tools of one name, also when something else is wrong with them.
fn same_names(r: &mut Reader<'_>, tools: &[Node]) {
    let mut seen: HashMap<&str, u32> = HashMap::with_capacity(tools.len());
    for (i, node) in tools.iter().enumerate() {
        let name = node.as_object().and_then(|members| member(members, "name"));
        let Some((m, name)) = name.and_then(|m| Some((m, m.value.as_str()?))) else {
            continue;
        };
        let place = m.value.span.start;
        if let Some(line) = seen.get(name) {
            r.report(
                place,
                format!("$.tools[{i}].name"),
                "a name that no other tool has",
                format!(
                    "{}, the name of the tool in line {line}",
                    m.value.describe()
                ),
                "Rename or delete one of the two.",
            );
        } else {
            seen.insert(name, r.doc.line(place));
        }
    }
}
