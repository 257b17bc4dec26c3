//! The subschemas of one document and which of them is applied where, with every `$ref` followed.

use serde_json::Value;
use std::collections::HashMap;

/// More places with an `$id` than any hand-made schema has; each is a place a `$ref` may count from.
const IDS_MAX: usize = 100;

/// Keywords whose value is a map of schemas.
const MAPS: [&str; 6] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
    "$defs",
    "definitions",
];

/// Keywords whose value is one schema or a list of them.
const SCHEMAS: [&str; 15] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "propertyNames",
    "additionalProperties",
    "unevaluatedProperties",
    "prefixItems",
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
];

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// What one subschema applies, as numbers of other subschemas.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// A JSON pointer.
    pub place: String,
    /// The types it asks for; none asks for nothing.
    types: Vec<String>,
    required: Vec<String>,
    /// To the value itself.
    pub here: Vec<usize>,
    /// To the value itself, through a reference.
    pub references: Vec<usize>,
    properties: HashMap<String, usize>,
    /// To every member.
    members: Vec<usize>,
    /// To every member that `properties` does not name.
    other_members: Vec<usize>,
    first_items: HashMap<usize, usize>,
    /// To every item.
    items: Vec<usize>,
    /// It asks what the others have looked at, which makes them look a second time.
    pub looks_again: bool,
}

impl Rules {
    /// Whether the cheap rules, which are checked first, let the value pass to the others.
    pub(super) fn may_fit(&self, value: &Value) -> bool {
        let is = |name: &String| match value {
            Value::Null => name == "null",
            Value::Bool(_) => name == "boolean",
            Value::Number(_) => name == "number" || name == "integer",
            Value::String(_) => name == "string",
            Value::Array(_) => name == "array",
            Value::Object(_) => name == "object",
        };
        let has_required = match value {
            Value::Object(members) => self.required.iter().all(|name| members.contains_key(name)),
            _ => true,
        };
        has_required && (self.types.is_empty() || self.types.iter().any(is))
    }

    /// Calls `apply` for each pair of subschema and part of the value one step down.
    pub(super) fn below<'v>(&self, value: &'v Value, mut apply: impl FnMut(usize, &'v Value)) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    let own = self.properties.get(name);
                    let others = self.other_members.iter().filter(|_| own.is_none());
                    for rules in own.into_iter().chain(others).chain(&self.members) {
                        apply(*rules, member);
                    }
                }
            }
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    for rules in self.first_items.get(&i).into_iter().chain(&self.items) {
                        apply(*rules, item);
                    }
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, keyword: &str, part: &str, to: usize) {
        match keyword {
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependentSchemas"
            | "dependencies" => self.here.push(to),
            "properties" => {
                self.properties.insert(part.to_owned(), to);
            }
            "patternProperties" | "propertyNames" => self.members.push(to),
            "additionalProperties" | "unevaluatedProperties" => self.other_members.push(to),
            "prefixItems" => {
                self.first_items
                    .extend(part.parse().map(|at: usize| (at, to)));
            }
            "items" | "additionalItems" | "unevaluatedItems" | "contains" => self.items.push(to),
            _ => {}
        }
    }
}

#[derive(Debug)]
pub(super) struct Graph {
    /// The root first.
    pub rules: Vec<Rules>,
    pub has_references: bool,
}

impl Graph {
    pub(super) fn new(root: &Value) -> Result<Self, String> {
        let names = Names::of(root)?;
        let mut building = Building {
            root,
            numbers: HashMap::new(),
            places: Vec::new(),
        };
        building.number(String::new());
        let mut graph = Graph {
            rules: Vec::new(),
            has_references: false,
        };
        while let Some(place) = building.places.get(graph.rules.len()).cloned() {
            let rules = building.rules(&names, place);
            graph.has_references |= !rules.references.is_empty();
            graph.rules.push(rules);
        }
        Ok(graph)
    }
}

/// Where a reference can lead other than by a pointer from the root.
struct Names {
    /// Places with an `$id`.
    ids: Vec<String>,
    /// Name and place; of a name there may be several.
    anchors: Vec<(String, String)>,
}

impl Names {
    fn of(root: &Value) -> Result<Self, String> {
        let mut names = Names {
            ids: Vec::new(),
            anchors: Vec::new(),
        };
        names.collect(root, &mut String::new());
        let count = names.ids.len();
        if count > IDS_MAX {
            return Err(format!(
                "it has {count} parts with an $id; {IDS_MAX} is the most"
            ));
        }
        Ok(names)
    }

    fn collect(&mut self, value: &Value, place: &mut String) {
        if let Value::Object(members) = value {
            for key in ["$id", "$anchor", "$dynamicAnchor"] {
                let Some(name) = members.get(key).and_then(Value::as_str) else {
                    continue;
                };
                match name.strip_prefix('#').filter(|_| key == "$id") {
                    None if key == "$id" => self.ids.push(place.clone()),
                    anchor => {
                        let anchor = anchor.unwrap_or(name).to_owned();
                        self.anchors.push((anchor, place.clone()));
                    }
                }
            }
        }
        each_part(value, |part, inner| {
            let length = place.len();
            push_part(place, part);
            self.collect(inner, place);
            place.truncate(length);
        });
    }

    /// Every place the reference may mean: too many cost a schema nothing unless it sails close to the limit.
    fn places(&self, reference: &str) -> Vec<String> {
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let fragment = decoded(fragment);
        if fragment.is_empty() || fragment.starts_with('/') {
            let root = String::new();
            // Any other address is one of the known dialects, or does not compile.
            let counts_from_root = document.is_empty() && !self.ids.contains(&root);
            let bases = self.ids.iter().chain(counts_from_root.then_some(&root));
            return bases.map(|base| format!("{base}{fragment}")).collect();
        }
        let named = self.anchors.iter().filter(|(name, _)| *name == fragment);
        named.map(|(_, place)| place.clone()).collect()
    }
}

struct Building<'a> {
    root: &'a Value,
    numbers: HashMap<String, usize>,
    places: Vec<String>,
}

impl Building<'_> {
    /// The number of the subschema at that place; none where there is nothing that could be one.
    fn number(&mut self, place: String) -> Option<usize> {
        self.root
            .pointer(&place)
            .filter(|schema| schema.is_object())?;
        let next = self.places.len();
        let places = &mut self.places;
        Some(*self.numbers.entry(place).or_insert_with_key(|place| {
            places.push(place.clone());
            next
        }))
    }

    fn rules(&mut self, names: &Names, place: String) -> Rules {
        let schema = self.root.pointer(&place).and_then(Value::as_object);
        let mut rules = Rules::default();
        for (keyword, value) in schema.into_iter().flatten() {
            match keyword.as_str() {
                "type" => rules.types = strings(value),
                "required" => rules.required = strings(value),
                "unevaluatedProperties" | "unevaluatedItems" => rules.looks_again = true,
                _ => {}
            }
            let mut whole = place.clone();
            push_part(&mut whole, keyword);
            if REFERENCES.contains(&keyword.as_str()) {
                let reference = value.as_str().unwrap_or_default();
                for target in names.places(reference) {
                    rules.references.extend(self.number(target));
                }
                continue;
            }
            let is_map = MAPS.contains(&keyword.as_str());
            if is_map || (value.is_array() && SCHEMAS.contains(&keyword.as_str())) {
                // An array of `items` is draft-07's way of saying `prefixItems`.
                let keyword = if keyword == "items" {
                    "prefixItems"
                } else {
                    keyword
                };
                each_part(value, |part, _| {
                    let mut inner = whole.clone();
                    push_part(&mut inner, part);
                    if let Some(number) = self.number(inner) {
                        rules.add(keyword, part, number);
                    }
                });
            } else if SCHEMAS.contains(&keyword.as_str())
                && let Some(number) = self.number(whole)
            {
                rules.add(keyword, "", number);
            }
        }
        // Beside a reference draft-07 ignores them, so nothing is known to end early there.
        if !rules.references.is_empty() {
            rules.types.clear();
            rules.required.clear();
        }
        rules.place = place;
        rules
    }
}

fn each_part(value: &Value, mut visit: impl FnMut(&str, &Value)) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, inner)| visit(key, inner)),
        Value::Array(items) => {
            for (i, inner) in items.iter().enumerate() {
                visit(&i.to_string(), inner);
            }
        }
        _ => {}
    }
}

/// Appends one step to a JSON pointer.
fn push_part(place: &mut String, part: &str) {
    place.push('/');
    place.push_str(&part.replace('~', "~0").replace('/', "~1"));
}

fn strings(value: &Value) -> Vec<String> {
    let texts = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let texts = texts.iter().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

/// `%24defs` → `$defs`; what is no valid escape stays.
fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = code.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
