//! Changes to the text of `tools.json` that leave every byte they do not concern as it was, so that git diffs
//! stay small.

use super::layout::{Layout, indent_at, line_indent};
use super::splice::Splices;
use super::{read_root, read_tools};
use crate::definition::{ALIASES, ANNOTATION_ALIASES, Origin, read_definition};
use crate::json::{Document, Member, Node, member};
use crate::problem::Problem;
use crate::tool::Definition;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The name problems are reported under: there is one file of this format in a workspace.
const FILE: &str = "tools.json";

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub enum Edit {
    /// Replaces the tool of that name where it stands, or appends it.
    Put(Definition),
    /// Replaces the named tool where it stands, by one that may have another name.
    Replace {
        name: String,
        definition: Definition,
    },
    Remove(String),
}

/// Makes the changes one after the other. The text must be valid before and is valid after, else nothing
/// is changed and all problems are told.
pub fn edit(text: &str, edits: &[Edit]) -> Result<String, Vec<Problem>> {
    let doc = Document::new(FILE, text);
    let root = doc.parse()?;
    read_root(&doc, &root, |_| Vec::new())?;
    if edits.is_empty() {
        return Ok(text.to_owned());
    }
    let (round, mut left) = edits.split_at(round(edits));
    let mut text = apply(&doc, &root, round)?;
    while !left.is_empty() {
        let doc = Document::new(FILE, &text);
        let (round, rest) = left.split_at(self::round(left));
        text = apply(&doc, &doc.parse()?, round)?;
        left = rest;
    }
    read_tools(FILE, &text)?;
    Ok(text)
}

/// How many of the first edits can be made on one reading of the text, because none concerns what another
/// leaves behind. A file of thousands of tools is not read once for each of hundreds of registrations.
fn round(edits: &[Edit]) -> usize {
    let mut names = HashSet::new();
    for (i, edit) in edits.iter().enumerate() {
        let free = match edit {
            Edit::Put(definition) => names.insert(&definition.name),
            Edit::Replace { name, definition } => {
                let same = *name == definition.name;
                names.insert(name) && (same || names.insert(&definition.name))
            }
            // It moves what its neighbours hold on to.
            Edit::Remove(_) => return i.max(1),
        };
        if !free {
            return i;
        }
    }
    edits.len()
}

/// A parsed file on its way to being changed.
struct Surgery<'a> {
    text: &'a str,
    layout: Layout,
    splices: Splices,
}

/// Makes the edits of one round.
fn apply(doc: &Document<'_>, root: &Node, edits: &[Edit]) -> Result<String, Vec<Problem>> {
    let text = doc.text;
    let members = root.as_object().unwrap_or_default();
    let Some(list) = member(members, "tools").filter(|m| m.value.as_array().is_some()) else {
        return Err(read_root(doc, root, |_| Vec::new())
            .err()
            .unwrap_or_default());
    };
    let tools = list.value.as_array().unwrap_or_default();
    let mut surgery = Surgery {
        text,
        layout: Layout::of(text, root),
        splices: Splices::default(),
    };
    let mut positions = HashMap::new();
    for (i, tool) in tools.iter().enumerate() {
        if let Some(name) = name_of(tool) {
            positions.entry(name).or_insert(i);
        }
    }
    let mut appended = Vec::new();
    for edit in edits {
        let (name, definition) = match edit {
            Edit::Put(definition) => (&definition.name, Some(definition)),
            Edit::Replace { name, definition } => (name, Some(definition)),
            Edit::Remove(name) => (name, None),
        };
        match (positions.get(name.as_str()), definition) {
            (Some(i), Some(definition)) => surgery.change(doc, &tools[*i], definition),
            (Some(i), None) => surgery.remove(&list.value, tools, *i),
            (None, Some(definition)) if matches!(edit, Edit::Put(_)) => appended.push(definition),
            (None, _) => return Err(vec![no_such_tool(doc, list, name)]),
        }
    }
    surgery.append(list, tools, &appended);
    Ok(surgery.splices.apply(text))
}

fn no_such_tool(doc: &Document<'_>, list: &Member, name: &str) -> Problem {
    doc.problem(
        list.value.span.start,
        "$.tools",
        format!("a tool named \"{name}\""),
        "no tool of that name",
        "Read the list of tools again: it may have been renamed or removed meanwhile.",
    )
}

fn name_of(tool: &Node) -> Option<&str> {
    member(tool.as_object()?, "name")?.value.as_str()
}

/// The definition as it is written: fields at their default are absent, whole seconds have no point.
fn canonical(definition: &Definition) -> Map<String, Value> {
    let Ok(Value::Object(mut map)) = serde_json::to_value(definition) else {
        return Map::new();
    };
    if let Some(seconds) = map.get_mut("timeout_seconds")
        && let Some(float) = seconds.as_f64()
        && float.fract() == 0.0
    {
        // At most a day, so the number fits.
        *seconds = Value::from(float as i64);
    }
    map
}

impl Surgery<'_> {
    fn remove(&mut self, list: &Node, tools: &[Node], i: usize) {
        if tools.len() == 1 {
            self.splices.replace(list.span.clone(), "[]");
        } else {
            let spans: Vec<_> = tools.iter().map(|tool| tool.span.clone()).collect();
            self.splices.delete(&spans, &[i]);
        }
    }

    fn append(&mut self, list: &Member, tools: &[Node], definitions: &[&Definition]) {
        if definitions.is_empty() {
            return;
        }
        let values = definitions.iter().map(|d| Value::Object(canonical(d)));
        let Some(last) = tools.last() else {
            let indent = line_indent(self.text, list.key_span.start);
            let new = match indent {
                Some(indent) => {
                    let inner = format!("{indent}{}", self.layout.step());
                    let tools = values.map(|value| self.layout.value(&value, Some(&inner)));
                    self.layout.tall('[', tools, ']', indent)
                }
                None => self.layout.value(&Value::Array(values.collect()), None),
            };
            self.splices.replace(list.value.span.clone(), new);
            return;
        };
        // A tool of one line is followed by one of one line.
        let tall = self.text[last.span.clone()].contains('\n');
        let base = indent_at(self.text, last.span.start);
        let own_line = line_indent(self.text, last.span.start);
        let separator = self.layout.separator(own_line);
        let new: String = values
            .map(|value| {
                let tool = self.layout.value(&value, tall.then_some(base));
                format!("{separator}{tool}")
            })
            .collect();
        self.splices.replace(last.span.end..last.span.end, new);
    }

    fn change(&mut self, doc: &Document<'_>, tool: &Node, definition: &Definition) {
        let mut problems = Vec::new();
        let old = read_definition(doc, tool, "$", Origin::ToolsFile, &mut problems);
        let new = canonical(definition);
        if let Some(old) = old {
            self.change_object(tool, &canonical(&old), &new, Level::Tool);
        } else {
            // An earlier edit of the same batch left it invalid: there is nothing to compare with.
            let tall = self.text[tool.span.clone()].contains('\n');
            let indent = tall.then(|| indent_at(self.text, tool.span.start));
            let value = self.layout.value(&Value::Object(new), indent);
            self.splices.replace(tool.span.clone(), value);
        }
    }

    /// Makes the object say `new` where it said `old`, touching only members that differ.
    fn change_object(
        &mut self,
        node: &Node,
        old: &Map<String, Value>,
        new: &Map<String, Value>,
        level: Level,
    ) {
        let members = node.as_object().unwrap_or_default();
        let mut doomed = Vec::new();
        for (i, m) in members.iter().enumerate() {
            let key = level.own_name(&m.key);
            let target = new.get(key).or_else(|| level.default_of(key));
            match target {
                _ if old.get(key) == new.get(key) => {}
                Some(value) => self.change_value(m, old.get(key), value, level.below(key)),
                None => doomed.push(i),
            }
        }
        let written = |key: &str| members.iter().any(|m| level.own_name(&m.key) == key);
        let added: Vec<_> = new
            .iter()
            .filter(|(key, value)| !written(key) && old.get(*key) != Some(value))
            .collect();
        if doomed.len() == members.len() {
            let tall = self.text[node.span.clone()].contains('\n') || members.is_empty();
            let indent = tall.then(|| indent_at(self.text, node.span.start));
            let only = added
                .into_iter()
                .map(|(k, v)| (k.clone(), v.clone()))
                .collect();
            let value = self.layout.value(&Value::Object(only), indent);
            self.splices.replace(node.span.clone(), value);
            return;
        }
        let spans: Vec<Range<usize>> = members.iter().map(Member::span).collect();
        self.splices.delete(&spans, &doomed);
        let last = (0..members.len()).rev().find(|i| !doomed.contains(i));
        if let Some(last) = last.map(|i| &members[i]) {
            self.add_after(last, &added);
        }
    }

    fn add_after(&mut self, last: &Member, added: &[(&String, &Value)]) {
        let indent = line_indent(self.text, last.key_span.start);
        let new: String = added
            .iter()
            .map(|(key, value)| {
                let member = self.layout.member(key, value, indent);
                format!("{}{member}", self.layout.separator(indent))
            })
            .collect();
        if !new.is_empty() {
            let end = last.value.span.end;
            self.splices.replace(end..end, new);
        }
    }

    fn change_value(&mut self, m: &Member, old: Option<&Value>, new: &Value, level: Level) {
        if let (Some(Value::Object(old)), Value::Object(new)) = (old, new)
            && m.value
                .as_object()
                .is_some_and(|members| !members.is_empty())
        {
            self.change_object(&m.value, old, new, level);
            return;
        }
        // An object or array that stood on one line stays on one line.
        let before = &self.text[m.value.span.clone()];
        let flat = before.len() > 2 && before.starts_with(['{', '[']) && !before.contains('\n');
        let indent = line_indent(self.text, m.key_span.start).filter(|_| !flat);
        let value = self.layout.value(new, indent);
        self.splices.replace(m.value.span.clone(), value);
    }
}

/// Which object of a definition is being changed: names and defaults differ.
#[derive(Clone, Copy, PartialEq)]
enum Level {
    Tool,
    Annotations,
    Inner,
}

impl Level {
    fn below(self, key: &str) -> Self {
        if self == Level::Tool && key == "annotations" {
            Level::Annotations
        } else {
            Level::Inner
        }
    }

    /// The field's own name for a name the author may have used instead.
    fn own_name(self, key: &str) -> &str {
        let aliases: &[(&str, &'static str)] = match self {
            Level::Tool => &ALIASES,
            Level::Annotations => &ANNOTATION_ALIASES,
            Level::Inner => &[],
        };
        let own = aliases.iter().find(|(alias, _)| *alias == key);
        own.map_or(key, |(_, own)| own)
    }

    /// What to write for a field that goes back to its default: a changed word is a smaller diff than a
    /// line that vanishes with its comma.
    fn default_of(self, key: &str) -> Option<&'static Value> {
        static TRUE: Value = Value::Bool(true);
        static FALSE: Value = Value::Bool(false);
        match (self, key) {
            (Level::Tool, "is_active") => Some(&TRUE),
            (Level::Tool, "is_public") => Some(&FALSE),
            _ => None,
        }
    }
}
