//! The subschemas of one document and which of them is applied where, with every reference followed: what a check
//! costs and what is secret are both found by walking through it.

mod compiling;
mod pattern;
mod rules;
mod subschema;
mod texts;

use crate::pointer;
use crate::schema::Unusable;
use jsonschema::Uri;
pub(crate) use rules::{Rules, size};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use subschema::Subschema;
use texts::{Patterns, Texts};

/// Subschemas of one document; one that is reached with different bases counts once for each.
const SUBSCHEMAS_MAX: usize = 200_000;

/// What a schema of a dialect does at each place of a value.
const DIALECT_STEPS: u32 = 30;

/// The subschemas of a document, by number.
#[derive(Debug)]
pub(crate) struct Graph {
    /// The root first.
    pub rules: Vec<Rules>,
    pub has_references: bool,
    /// The pointer to each part with an `$id`, by its address.
    pub parts: HashMap<String, String>,
}

/// Why there is no graph of a document.
pub(crate) enum Failure {
    /// It is no schema; the validator can say what is wrong with it.
    NoSchema(referencing::Error),
    TooLarge(Unusable),
}

impl From<referencing::Error> for Failure {
    fn from(error: referencing::Error) -> Self {
        Failure::NoSchema(error)
    }
}

impl Graph {
    pub(crate) fn new(document: &Value) -> Result<Self, Failure> {
        let registry = subschema::registry(document)?;
        let root = Subschema::root(&registry, document)?;
        if !compiling::is_bounded(root.clone()) {
            return Err(too_large(
                "compiling it takes too long: parts with an $id refer to each other in too many ways; leave their $id \
                 out and refer to them as #/$defs/…",
            ));
        }
        let mut building = Building::of(document);
        building.number(root);
        while let Some((number, schema)) = building.waiting.pop() {
            building.fill(number, &schema);
            if let Some(why) = building.refused {
                return Err(Failure::TooLarge(why));
            }
            if building.rules.len() > SUBSCHEMAS_MAX {
                return Err(too_large(&format!(
                    "it has more than {SUBSCHEMAS_MAX} subschemas, where one that is reached through several $id counts \
                     for each"
                )));
            }
        }
        Ok(building.finish())
    }
}

fn too_large(reason: &str) -> Failure {
    Failure::TooLarge(Unusable {
        pointer: String::new(),
        reason: reason.to_owned(),
    })
}

/// The address of a value: what is the same place of the document has the same.
type Address = *const Value;

struct Building<'r> {
    /// The pointer to each object of the document.
    places: HashMap<Address, String>,
    numbers: HashMap<(Address, Arc<Uri<String>>), usize>,
    rules: Vec<Rules>,
    waiting: Vec<(usize, Subschema<'r>)>,
    parts: HashMap<String, String>,
    patterns: Patterns<'r>,
    /// The first subschema that cannot be used.
    refused: Option<Unusable>,
    /// All that a reference to that name may mean, depending on the way to it: the subschema that stands for them,
    /// and the subschemas with the name.
    dynamic: HashMap<&'r str, (usize, Vec<usize>)>,
    /// What stands for the dialects.
    dialects: Option<usize>,
}

impl<'r> Building<'r> {
    fn of(document: &Value) -> Self {
        let mut building = Building {
            places: HashMap::new(),
            numbers: HashMap::new(),
            rules: Vec::new(),
            waiting: Vec::new(),
            parts: HashMap::new(),
            patterns: Patterns::default(),
            refused: None,
            dynamic: HashMap::new(),
            dialects: None,
        };
        building.collect(document, &mut String::new());
        building
    }

    fn collect(&mut self, value: &Value, place: &mut String) {
        let length = place.len();
        match value {
            Value::Object(members) => {
                self.places.insert(value, place.clone());
                for (name, member) in members {
                    pointer::push(place, name);
                    self.collect(member, place);
                    place.truncate(length);
                }
            }
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    pointer::push(place, &i.to_string());
                    self.collect(item, place);
                    place.truncate(length);
                }
            }
            _ => {}
        }
    }

    fn push(&mut self, rules: Rules) -> usize {
        self.rules.push(rules);
        self.rules.len() - 1
    }

    /// The number of the subschema; none where it has no rules.
    fn number(&mut self, schema: Subschema<'r>) -> Option<usize> {
        let rules = schema.value.as_object()?;
        let address: Address = schema.value;
        let Some(place) = self.places.get(&address) else {
            return Some(self.dialects());
        };
        let key = (address, schema.base());
        if let Some(number) = self.numbers.get(&key) {
            return Some(*number);
        }
        if has_address(rules) {
            // The first is the outer one; draft-07 ignores the `$id` of another beside its reference.
            let address = schema.base().strip_fragment().to_string();
            self.parts.entry(address).or_insert_with(|| place.clone());
        }
        let texts = Texts::of(place, rules, &mut self.patterns);
        let mut numbered = Rules::new(place.clone(), rules);
        match texts {
            Ok(texts) => numbered.texts = texts,
            Err(why) => drop(self.refused.get_or_insert(why)),
        }
        let number = self.push(numbered);
        self.numbers.insert(key, number);
        if let Some(name) = dynamic_name(rules) {
            self.dynamic(name);
            self.dynamic
                .entry(name)
                .and_modify(|(_, with_name)| with_name.push(number));
        }
        self.waiting.push((number, schema));
        Some(number)
    }

    /// The number of what stands for all subschemas with that name.
    fn dynamic(&mut self, name: &'r str) -> usize {
        if let Some((number, _)) = self.dynamic.get(name) {
            return *number;
        }
        let number = self.push(Rules::default());
        self.dynamic.insert(name, (number, Vec::new()));
        number
    }

    /// The number of what stands for any schema of a dialect. Such a schema looks at each part of a value a few times.
    fn dialects(&mut self) -> usize {
        if let Some(number) = self.dialects {
            return number;
        }
        let number = self.push(Rules::default());
        self.dialects = Some(number);
        let extensions = ["meta", RECURSIVE].map(|name| self.dynamic(name));
        let rules = &mut self.rules[number];
        rules.steps = DIALECT_STEPS;
        rules.texts = Texts::of_dialects();
        rules.members = [number].into_iter().chain(extensions).collect();
        rules.items = rules.members.clone();
        number
    }

    fn fill(&mut self, number: usize, schema: &Subschema<'r>) {
        schema.each_part(|keyword, part, subschema| match subschema {
            Ok(subschema) => {
                // An array of `items` is draft-07's way of saying `prefixItems`.
                let is_tuple = keyword == "items" && !part.is_empty();
                let keyword = if is_tuple { "prefixItems" } else { keyword };
                if let Some(to) = self.number(subschema) {
                    self.rules[number].add(keyword, part, to);
                }
            }
            Err(_) => self.rules[number].is_lost = true,
        });
        for (keyword, reference) in schema.references() {
            let Ok(target) = schema.target(keyword, reference) else {
                self.rules[number].is_lost = true;
                continue;
            };
            let name = target.value.as_object().and_then(dynamic_name);
            let name = name.filter(|name| match keyword {
                "$recursiveRef" => *name == RECURSIVE,
                _ => reference.ends_with(&format!("#{name}")),
            });
            let to = self
                .number(target)
                .filter(|to| name.is_none() || self.dialects == Some(*to));
            let to = to.or_else(|| Some(self.dynamic(name?)));
            self.rules[number].references.extend(to);
        }
        let rules = &mut self.rules[number];
        // Beside a reference draft-07 ignores them, so nothing is known to end early there.
        if !rules.references.is_empty() {
            rules.types.clear();
            rules.required.clear();
        }
    }

    fn finish(mut self) -> Graph {
        for (number, with_name) in self.dynamic.into_values() {
            self.rules[number].references = with_name;
        }
        Graph {
            has_references: self.rules.iter().any(|rules| !rules.references.is_empty()),
            rules: self.rules,
            parts: self.parts,
        }
    }
}

/// What stands for `$recursiveAnchor`, which gives no name.
const RECURSIVE: &str = "#";

/// Whether it has an `$id` that is more than the anchor of older drafts.
fn has_address(schema: &Map<String, Value>) -> bool {
    let id = schema.get("$id").or_else(|| schema.get("id"));
    let id = id.and_then(Value::as_str);
    id.is_some_and(|id| !id.starts_with('#'))
}

fn dynamic_name(schema: &Map<String, Value>) -> Option<&str> {
    let is_recursive = schema.get("$recursiveAnchor") == Some(&Value::Bool(true));
    let name = schema.get("$dynamicAnchor").and_then(Value::as_str);
    name.or(is_recursive.then_some(RECURSIVE))
}
