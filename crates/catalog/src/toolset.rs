//! What a toolset is: a named, ordered selection of tools, some of them under other names, with other descriptions or
//! with arguments that are set beforehand.

mod pinned;
mod read;

pub use read::{TOOLSET_FIELDS, checked_toolset_from_text, toolset_from_text};

use crate::catalogue::{Catalogue, Entry};
use crate::glob;
use crate::names::{Names, PlainName};
use crate::policy::Judged;
use crate::tool::Tool;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// The two tools that stand for all others where those are too many to list.
pub const FIND_TOOLS: &str = "find_tools";
pub const CALL_TOOL: &str = "call_tool";

/// What an author writes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ToolsetDefinition {
    pub name: String,
    pub description: Option<String>,
    /// In the order in which they are listed.
    pub tools: Vec<Pick>,
    /// Patterns; what fits comes behind the listed ones. None adds nothing, unless no tool is listed either: then every
    /// tool is in the set.
    pub allow: Option<Vec<String>>,
    /// Patterns; what fits is not in the set, listed or not.
    pub deny: Vec<String>,
    /// For the models that use the set.
    pub instructions: Option<String>,
    /// What the server is called at the set's own address; none leaves it to the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
    /// Whether clients are given two tools to find and call the others with, instead of all of them.
    pub find_tools: bool,
    /// How tools are named to clients; none leaves it to the server.
    pub names: Option<Names>,
    pub is_public: bool,
}

/// One listed tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pick {
    /// Its name or id.
    pub tool: String,
    /// What it is called here.
    pub name: Option<String>,
    pub description: Option<String>,
    /// Set beforehand: no caller sees or sends them.
    pub arguments: Map<String, Value>,
}

/// As short as an author would write it.
impl Serialize for Pick {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.name.is_none() && self.description.is_none() && self.arguments.is_empty() {
            return serializer.serialize_str(&self.tool);
        }
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("tool", &self.tool)?;
        if let Some(name) = &self.name {
            members.serialize_entry("name", name)?;
        }
        if let Some(description) = &self.description {
            members.serialize_entry("description", description)?;
        }
        if !self.arguments.is_empty() {
            members.serialize_entry("arguments", &self.arguments)?;
        }
        members.end()
    }
}

impl Pick {
    /// The tool that is meant. What looks like an id is one: nobody can take another tool's id as a name.
    pub fn entry<'a>(&self, catalogue: &'a Catalogue) -> Option<&'a Arc<Entry>> {
        match Uuid::parse_str(&self.tool) {
            Ok(id) => catalogue.by_id(id),
            Err(_) => catalogue.get(&self.tool),
        }
    }

    /// The tool's schema without what is set beforehand.
    pub fn input_schema(&self, schema: &Value) -> Value {
        crate::fixed::without(schema, &self.arguments)
    }

    /// Adds what is set beforehand to a caller's arguments. Refuses those that name any of it, and says which.
    pub fn fill(&self, arguments: &mut Value) -> Result<(), String> {
        if self.arguments.is_empty() {
            return Ok(());
        }
        if arguments.is_null() {
            *arguments = Value::Object(Map::new());
        }
        // What is no object is refused by the tool's schema.
        let Some(given) = arguments.as_object_mut() else {
            return Ok(());
        };
        if let Some(name) = self.arguments.keys().find(|name| given.contains_key(*name)) {
            return Err(name.clone());
        }
        given.extend(self.arguments.clone());
        Ok(())
    }
}

/// Whether a tool is in a set, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Membership<'a> {
    Listed,
    /// With the pattern that it fits.
    Fits(&'a str),
    /// The set holds every tool.
    Everything,
    /// With the pattern that takes it away.
    Denied(&'a str),
    /// Its name stands for another tool here.
    NameTaken,
    Outside,
}

impl Membership<'_> {
    pub fn is_in(self) -> bool {
        match self {
            Membership::Listed | Membership::Fits(_) | Membership::Everything => true,
            Membership::Denied(_) | Membership::NameTaken | Membership::Outside => false,
        }
    }
}

/// One tool of a set, as the set shows it.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    pub name: &'a str,
    pub entry: &'a Arc<Entry>,
    /// None where a pattern brought it in.
    pub pick: Option<&'a Pick>,
}

impl<'a> Shown<'a> {
    /// Whether both are the same tool, set up in the same way.
    pub fn is_same(&self, other: &Shown<'_>) -> bool {
        let pick = |it: Option<&Pick>| it.map(std::ptr::from_ref);
        Arc::ptr_eq(self.entry, other.entry) && pick(self.pick) == pick(other.pick)
    }

    /// Under its own name.
    pub fn plain(entry: &'a Arc<Entry>) -> Self {
        Shown {
            name: &entry.name,
            entry,
            pick: None,
        }
    }
}

/// A toolset in use.
#[derive(Debug, Clone, Default)]
pub struct Toolset {
    pub owner: Uuid,
    pub definition: ToolsetDefinition,
    /// Places in the list: of names that were given here, and of tools by what they are referred to by.
    renamed: HashMap<String, usize>,
    by_name: HashMap<String, Vec<usize>>,
    by_id: HashMap<Uuid, Vec<usize>>,
    /// The names without dots of names that were given here, and the places in the list that each leads to.
    plain: HashMap<String, PlainName>,
    by_plain: HashMap<Arc<str>, Vec<usize>>,
}

/// All of them, by name.
pub type Toolsets = HashMap<Arc<str>, Arc<Toolset>>;

impl Toolset {
    pub fn new(owner: Uuid, definition: ToolsetDefinition) -> Self {
        let mut toolset = Toolset {
            owner,
            ..Toolset::default()
        };
        for (at, pick) in definition.tools.iter().enumerate() {
            if let Some(name) = &pick.name {
                toolset.renamed.insert(name.clone(), at);
                toolset.add_plain(name, at);
            }
            match Uuid::parse_str(&pick.tool) {
                Ok(id) => toolset.by_id.entry(id).or_default().push(at),
                Err(_) => {
                    let places = toolset.by_name.entry(pick.tool.clone()).or_default();
                    places.push(at);
                }
            }
        }
        toolset.definition = definition;
        toolset
    }

    fn add_plain(&mut self, name: &str, at: usize) {
        let Some(plain) = PlainName::of(name) else {
            return;
        };
        let mut names = vec![&plain.hashed];
        names.extend(Some(&plain.short).filter(|it| **it != plain.hashed));
        for name in names {
            let places = self.by_plain.entry(Arc::clone(name)).or_default();
            places.push(at);
        }
        self.plain.insert(name.to_owned(), plain);
    }

    /// The names without dots of a tool of the set; none where its name here has none.
    pub fn plain_name<'a>(&'a self, shown: &Shown<'a>) -> Option<&'a PlainName> {
        match shown.pick.and_then(|pick| pick.name.as_ref()) {
            Some(name) => self.plain.get(name),
            None => shown.entry.plain.as_ref(),
        }
    }

    /// The names that were given to a tool here, where it has no other.
    pub fn given_names(&self, judged: Judged<'_>) -> Vec<&str> {
        let names: Option<Vec<&str>> = self.picks_of(judged).map(|it| it.name.as_deref()).collect();
        names.unwrap_or_default()
    }

    pub fn membership<'a>(&'a self, judged: Judged<'_>) -> Membership<'a> {
        let wanted = &self.definition;
        let takes_away = |p: &&String| judged.stands_for.names().any(|name| glob::fits(p, &name));
        if let Some(pattern) = wanted.deny.iter().find(takes_away) {
            return Membership::Denied(pattern);
        }
        if self.picks_of(judged).next().is_some() {
            return Membership::Listed;
        }
        let name = judged.stands_for.name;
        if self.renamed.contains_key(name) {
            return Membership::NameTaken;
        }
        match &wanted.allow {
            Some(allow) => {
                let pattern = allow.iter().find(|pattern| glob::fits(pattern, name));
                pattern.map_or(Membership::Outside, |p| Membership::Fits(p))
            }
            None if wanted.tools.is_empty() => Membership::Everything,
            None => Membership::Outside,
        }
    }

    /// The tool that a name stands for here. A tool that was given another name, or arguments, is found under no other:
    /// whoever could call it by its own would get around what was set for it.
    pub fn find<'a>(&'a self, catalogue: &'a Catalogue, name: &str) -> Option<Shown<'a>> {
        if let Some(at) = self.renamed.get(name) {
            return self.given(catalogue, *at);
        }
        if let Some(found) = self.own(catalogue.get(name)) {
            return Some(found);
        }
        // No tool of the set has exactly this name, but one may have it without dots.
        match self.by_plain.get(name).map(Vec::as_slice) {
            Some([at]) => self.given(catalogue, *at),
            Some(_) => None,
            None => self.own(catalogue.by_plain_name(name)),
        }
    }

    /// The tool at a place in the list that was given a name there.
    fn given<'a>(&'a self, catalogue: &'a Catalogue, at: usize) -> Option<Shown<'a>> {
        let pick = &self.definition.tools[at];
        let entry = pick.entry(catalogue)?;
        let is_in = self.membership(Judged::tool(&entry.tool)).is_in();
        is_in.then_some(Shown {
            name: pick.name.as_deref()?,
            entry,
            pick: Some(pick),
        })
    }

    /// A tool under its own name.
    fn own<'a>(&'a self, entry: Option<&'a Arc<Entry>>) -> Option<Shown<'a>> {
        // What was given its name here covers it.
        let entry = entry.filter(|it| !self.renamed.contains_key(&*it.name))?;
        let pick = match self.membership(Judged::tool(&entry.tool)) {
            Membership::Listed => {
                let mut picks = self.picks_of(Judged::tool(&entry.tool));
                Some(picks.find(|pick| pick.name.is_none())?)
            }
            Membership::Fits(_) | Membership::Everything => None,
            Membership::Denied(_) | Membership::NameTaken | Membership::Outside => return None,
        };
        Some(Shown {
            name: &entry.name,
            entry,
            pick,
        })
    }

    /// Every tool of the set: the listed ones in their order, then the others in the order of their names.
    pub fn members<'a>(&'a self, catalogue: &'a Catalogue) -> Vec<Shown<'a>> {
        let picks = self.definition.tools.iter();
        let listed = picks.filter_map(|pick| {
            let shown = match &pick.name {
                Some(name) => self.given(catalogue, *self.renamed.get(name)?),
                None => self.own(pick.entry(catalogue)),
            }?;
            let is_this = shown.pick.is_some_and(|found| std::ptr::eq(found, pick));
            is_this.then_some(shown)
        });
        let mut members: Vec<Shown<'a>> = listed.collect();
        if self.definition.allow.is_some() || self.definition.tools.is_empty() {
            let others = catalogue.after(None);
            let others = others.filter_map(|entry| self.own(Some(entry)));
            members.extend(others.filter(|shown| shown.pick.is_none()));
        }
        members
    }

    /// The patterns that fit none of these tools, each once.
    pub fn idle_patterns(&self, tools: &[&Tool]) -> Vec<&str> {
        let wanted = &self.definition;
        let allowed = |p: &str| {
            let mut tools = tools.iter();
            tools.any(|tool| glob::fits(p, tool.stands_for().name))
        };
        let denied = |p: &str| {
            let mut names = tools.iter().flat_map(|tool| tool.stands_for().names());
            names.any(|name| glob::fits(p, &name))
        };
        let allow = wanted.allow.iter().flatten().map(String::as_str);
        let deny = wanted.deny.iter().map(String::as_str);
        let mut idle: Vec<&str> = allow.filter(|p| !allowed(p)).collect();
        for pattern in deny.filter(|p| !denied(p)) {
            if !idle.contains(&pattern) {
                idle.push(pattern);
            }
        }
        idle
    }

    fn picks_of(&self, judged: Judged<'_>) -> impl Iterator<Item = &Pick> {
        let named = self.by_name.get(judged.stands_for.name);
        let by_id = self.by_id.get(&judged.id);
        let places = named.into_iter().chain(by_id).flatten();
        places.map(|at| &self.definition.tools[*at])
    }
}

#[cfg(test)]
mod tests;
