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
    read_root(&doc, &root)?;
    let Some((first, rest)) = edits.split_first() else {
        return Ok(text.to_owned());
    };
    let mut text = apply(&doc, &root, first)?;
    for edit in rest {
        let doc = Document::new(FILE, &text);
        text = apply(&doc, &doc.parse()?, edit)?;
    }
    read_tools(FILE, &text)?;
    Ok(text)
}

/// A parsed file on its way to being changed.
struct Surgery<'a> {
    text: &'a str,
    layout: Layout,
    splices: Splices,
}

fn apply(doc: &Document<'_>, root: &Node, edit: &Edit) -> Result<String, Vec<Problem>> {
    let text = doc.text;
    let members = root.as_object().unwrap_or_default();
    let Some(list) = member(members, "tools").filter(|m| m.value.as_array().is_some()) else {
        return Err(read_root(doc, root).err().unwrap_or_default());
    };
    let tools = list.value.as_array().unwrap_or_default();
    let mut surgery = Surgery {
        text,
        layout: Layout::of(text, root),
        splices: Splices::default(),
    };
    let (name, definition) = match edit {
        Edit::Put(definition) => (&definition.name, Some(definition)),
        Edit::Replace { name, definition } => (name, Some(definition)),
        Edit::Remove(name) => (name, None),
    };
    let position = tools.iter().position(|tool| name_of(tool) == Some(name));
    match (position, definition) {
        (Some(i), Some(definition)) => surgery.change(doc, &tools[i], definition),
        (Some(i), None) => surgery.remove(&list.value, tools, i),
        (None, Some(definition)) if matches!(edit, Edit::Put(_)) => {
            surgery.append(list, tools, definition);
        }
        (None, _) => {
            let problem = doc.problem(
                list.value.span.start,
                "$.tools",
                format!("a tool named \"{name}\""),
                "no tool of that name",
                "Read the list of tools again: it may have been renamed or removed meanwhile.",
            );
            return Err(vec![problem]);
        }
    }
    Ok(surgery.splices.apply(text))
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

    fn append(&mut self, list: &Member, tools: &[Node], definition: &Definition) {
        let value = Value::Object(canonical(definition));
        let Some(last) = tools.last() else {
            let indent = line_indent(self.text, list.key_span.start);
            let new = match indent {
                Some(indent) => {
                    let inner = format!("{indent}{}", self.layout.step());
                    let tool = self.layout.value(&value, Some(&inner));
                    self.layout.tall('[', std::iter::once(tool), ']', indent)
                }
                None => format!("[{}]", self.layout.value(&value, None)),
            };
            self.splices.replace(list.value.span.clone(), new);
            return;
        };
        // A tool of one line is followed by one of one line.
        let tall = self.text[last.span.clone()].contains('\n');
        let base = indent_at(self.text, last.span.start);
        let own_line = line_indent(self.text, last.span.start);
        let tool = self.layout.value(&value, tall.then_some(base));
        let new = format!("{}{tool}", self.layout.separator(own_line));
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
