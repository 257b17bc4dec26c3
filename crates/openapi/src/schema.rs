//! Schemas of a document as JSON Schema: references written out where they are not circular, the words of OpenAPI 3.0 in
//! those of JSON Schema, and what only answers hold left out.

use crate::document::Document;
use catalog::schema::Schema;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Parts of one schema that are written out; what is larger is referred to.
const WRITTEN_OUT_MAX: usize = 1_500;
/// Parts of one schema altogether.
const PARTS_MAX: usize = 20_000;
const DEPTH_MAX: usize = 64;
/// How deep parts of parts are looked through for members that only answers hold.
const PARTS_DEPTH_MAX: usize = 8;
/// How deep it may lie in itself, references written out: each level takes some of the stack, here and wherever it is used.
const LEVELS_MAX: usize = 160;
/// Bytes of what is copied into one schema.
const BYTES_MAX: usize = 256 << 10;
/// Patterns that our engine does not take, of one schema.
const PATTERNS_MAX: usize = 50;

/// Words that say nothing about a value.
const SILENT: [&str; 8] = [
    "example",
    "examples",
    "xml",
    "externalDocs",
    "discriminator",
    "readOnly",
    "nullable",
    "$schema",
];

/// Words whose schemas hold for the same value.
const COMPOSED: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Turns schemas of one operation into JSON Schema.
pub(crate) struct Schemas<'a> {
    document: &'a Document<'a>,
    parts: usize,
    level: usize,
    bytes: usize,
    /// References that are being written out.
    open: Vec<String>,
    /// Members of the object at hand that only answers hold, wherever in its parts they are said to be so.
    unsent: BTreeSet<String>,
    /// What is referred to, under the name that it has there. None while it is being made.
    named: BTreeMap<String, Option<Value>>,
    names: BTreeMap<String, String>,
    pub(crate) lost: Vec<String>,
}

impl<'a> Schemas<'a> {
    pub(crate) fn new(document: &'a Document<'a>) -> Self {
        Schemas {
            document,
            parts: 0,
            level: 0,
            bytes: 0,
            open: Vec::new(),
            unsent: BTreeSet::new(),
            named: BTreeMap::new(),
            names: BTreeMap::new(),
            lost: Vec::new(),
        }
    }

    /// One schema, as arguments are held to.
    pub(crate) fn convert(&mut self, schema: &Value) -> Result<Value, String> {
        if self.level >= LEVELS_MAX {
            return Err(format!("its schema is more than {LEVELS_MAX} levels deep"));
        }
        self.level += 1;
        let made = self.convert_here(schema);
        self.level -= 1;
        made
    }

    fn convert_here(&mut self, schema: &Value) -> Result<Value, String> {
        self.parts += 1;
        if self.parts > PARTS_MAX {
            return Err(format!("its schema has more than {PARTS_MAX} parts"));
        }
        if self.open.len() > DEPTH_MAX {
            return Err(format!(
                "its schema is more than {DEPTH_MAX} references deep"
            ));
        }
        let Some(members) = schema.as_object() else {
            return Ok(if schema.is_boolean() {
                schema.clone()
            } else {
                json!({})
            });
        };
        let mut made = match members.get("$ref").and_then(Value::as_str) {
            Some(reference) => {
                let target = self.referred(reference)?;
                // Beside a reference, 3.0 means nothing and 3.1 something more.
                let beside = members.iter().filter(|(key, _)| *key != "$ref");
                let beside: Map<String, Value> =
                    beside.map(|(k, v)| (k.clone(), v.clone())).collect();
                return match self.document.is_3_0 || beside.is_empty() {
                    true => Ok(target),
                    false => {
                        let beside = self.convert(&Value::Object(beside))?;
                        Ok(both(target, &beside))
                    }
                };
            }
            None => self.members(members)?,
        };
        if self.document.is_3_0 {
            modernise(&mut made, members);
        }
        let made = flattened(made);
        Ok(
            match self.document.is_3_0 && is_nullable(members) && is_composed(members) {
                true => or_null(made),
                false => made,
            },
        )
    }

    fn members(&mut self, members: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        let before = self.unsent.clone();
        let (mut unsent, mut sent) = (BTreeSet::new(), BTreeSet::new());
        self.sort_members(members, &mut unsent, &mut sent, 0);
        self.unsent.extend(unsent.difference(&sent).cloned());
        let made = self.each_member(members);
        self.unsent = before;
        made
    }

    /// Which members of an object only answers hold and which can be sent, over all parts that it must fit.
    fn sort_members(
        &self,
        members: &Map<String, Value>,
        unsent: &mut BTreeSet<String>,
        sent: &mut BTreeSet<String>,
        depth: usize,
    ) {
        for (name, schema) in members
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let list = if self.is_read_only(schema) {
                &mut *unsent
            } else {
                &mut *sent
            };
            list.insert(name.clone());
        }
        let parts = members.get("allOf").and_then(Value::as_array);
        for part in parts
            .into_iter()
            .flatten()
            .filter(|_| depth < PARTS_DEPTH_MAX)
        {
            let target = part["$ref"]
                .as_str()
                .and_then(|it| self.document.target(it).ok());
            if let Some(part) = target.unwrap_or(part).as_object() {
                self.sort_members(part, unsent, sent, depth + 1);
            }
        }
    }

    fn each_member(&mut self, members: &Map<String, Value>) -> Result<Map<String, Value>, String> {
        let mut made = Map::new();
        for (key, value) in members {
            let value = match key.as_str() {
                key if SILENT.contains(&key) || key.starts_with("x-") => continue,
                // What is referred to there is written out, or named anew.
                "$defs" | "definitions" => continue,
                "properties" | "patternProperties" | "dependentSchemas" => {
                    self.of_another(|it| it.each(value))?
                }
                "items"
                | "additionalProperties"
                | "contains"
                | "propertyNames"
                | "unevaluatedProperties"
                | "unevaluatedItems" => self.of_another(|it| it.convert(value))?,
                "not" | "if" | "then" | "else" => self.convert(value)?,
                "allOf" | "anyOf" | "oneOf" => self.list(value)?,
                "prefixItems" => self.of_another(|it| it.list(value))?,
                _ => {
                    self.bytes += key.len() + weight(value, BYTES_MAX);
                    if self.bytes > BYTES_MAX {
                        return Err(format!("its schema is longer than {BYTES_MAX} bytes"));
                    }
                    value.clone()
                }
            };
            made.insert(key.clone(), value);
        }
        if let Some(Value::Array(required)) = made.get_mut("required") {
            required.retain(|name| !name.as_str().is_some_and(|it| self.unsent.contains(it)));
        }
        Ok(made)
    }

    /// Schemas of other values than the one at hand.
    fn of_another<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let unsent = std::mem::take(&mut self.unsent);
        let done = work(self);
        self.unsent = unsent;
        done
    }

    fn list(&mut self, schemas: &Value) -> Result<Value, String> {
        let items = schemas.as_array().into_iter().flatten();
        let items: Result<Vec<Value>, String> = items.map(|it| self.convert(it)).collect();
        Ok(Value::Array(items?))
    }

    /// Properties and their like. What only answers hold is nothing to send.
    fn each(&mut self, schemas: &Value) -> Result<Value, String> {
        let mut made = Map::new();
        for (name, schema) in schemas.as_object().into_iter().flatten() {
            if !self.is_read_only(schema) {
                made.insert(name.clone(), self.convert(schema)?);
            }
        }
        Ok(Value::Object(made))
    }

    fn is_read_only(&self, schema: &Value) -> bool {
        schema["readOnly"] == true
            || schema["$ref"].as_str().is_some_and(|it| {
                let target = self.document.target(it);
                target.is_ok_and(|target| target["readOnly"] == true)
            })
    }

    /// What a reference stands for, written out or named.
    fn referred(&mut self, reference: &str) -> Result<Value, String> {
        let target = match self.document.target(reference) {
            Ok(target) => target,
            Err(why) => {
                let told = format!("a part of its arguments is not described: {why}");
                if !self.lost.contains(&told) {
                    self.lost.push(told);
                }
                return Ok(json!({}));
            }
        };
        let is_circular = self.open.iter().any(|it| it == reference);
        let is_named = self.names.contains_key(reference);
        if !is_circular && !is_named && self.parts < WRITTEN_OUT_MAX {
            self.open.push(reference.to_owned());
            let made = self.convert(target);
            self.open.pop();
            return made;
        }
        let name = self.name(reference);
        if !self.named.contains_key(&name) {
            self.named.insert(name.clone(), None);
            self.open.push(reference.to_owned());
            let made = self.convert(target);
            self.open.pop();
            self.named.insert(name.clone(), Some(made?));
        }
        Ok(json!({"$ref": format!("#/$defs/{name}")}))
    }

    fn name(&mut self, reference: &str) -> String {
        if let Some(name) = self.names.get(reference) {
            return name.clone();
        }
        let last = crate::names::plain(reference.rsplit('/').next().unwrap_or_default());
        let mut name = last.clone();
        let mut number = 2;
        while self.names.values().any(|it| *it == name) {
            name = format!("{last}_{number}");
            number += 1;
        }
        self.names.insert(reference.to_owned(), name.clone());
        name
    }

    /// The schema of all arguments, with what its parts refer to. Patterns that cannot be checked are left out.
    pub(crate) fn finish(&mut self, mut whole: Map<String, Value>) -> Result<Value, String> {
        let named = std::mem::take(&mut self.named).into_iter();
        let named: Map<String, Value> = named.filter_map(|(name, it)| Some((name, it?))).collect();
        if !named.is_empty() {
            whole.insert("$defs".to_owned(), Value::Object(named));
        }
        let mut whole = Value::Object(whole);
        for _ in 0..PATTERNS_MAX {
            let Err(why) = Schema::compile(&whole) else {
                return Ok(whole);
            };
            let (place, word) = why.pointer.rsplit_once('/').unwrap_or_default();
            let part = whole.pointer_mut(place).and_then(Value::as_object_mut);
            match part.filter(|_| word == "pattern") {
                Some(part) => {
                    part.shift_remove("pattern");
                    self.lost
                        .push(format!("a pattern is not checked ({})", why.reason));
                }
                None => return Err(format!("its schema cannot be used: {why}")),
            }
        }
        Err("too many of its patterns cannot be checked".to_owned())
    }
}

/// About how long a value is when it is written, or something above `most`: who is over it need not know by how much.
pub(crate) fn weight(value: &Value, most: usize) -> usize {
    let mut total: usize = 8;
    match value {
        Value::String(text) => total += text.len(),
        Value::Array(items) => {
            for item in items {
                total += weight(item, most);
                if total > most {
                    break;
                }
            }
        }
        Value::Object(members) => {
            for (name, item) in members {
                total += name.len() + weight(item, most);
                if total > most {
                    break;
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    total
}

/// What two schemas say together.
fn both(one: Value, other: &Value) -> Value {
    let (Some(a), Some(b)) = (one.as_object(), other.as_object()) else {
        return one;
    };
    // A description beside a reference is the usual case, and stands for the one that is referred to.
    let only_told = b
        .keys()
        .all(|key| ["description", "title", "default", "deprecated"].contains(&key.as_str()));
    if only_told && !a.contains_key("$ref") {
        let mut all = a.clone();
        all.extend(b.clone());
        return Value::Object(all);
    }
    match b.is_empty() {
        true => one,
        false => json!({"allOf": [one, other]}),
    }
}

fn is_nullable(written: &Map<String, Value>) -> bool {
    written.get("nullable") == Some(&Value::Bool(true))
}

fn is_composed(written: &Map<String, Value>) -> bool {
    COMPOSED.iter().any(|key| written.contains_key(*key))
}

/// The same, or null.
fn or_null(made: Value) -> Value {
    let Value::Object(mut made) = made else {
        return made;
    };
    let is_simple = !is_composed(&made)
        && !["enum", "const", "$ref"]
            .iter()
            .any(|key| made.contains_key(*key));
    if let Some(kind) = made
        .get("type")
        .cloned()
        .filter(|kind| is_simple && kind.is_string())
    {
        made.insert("type".to_owned(), json!([kind, "null"]));
        return Value::Object(made);
    }
    let mut whole = Map::new();
    for key in ["title", "description", "default"] {
        if let Some(value) = made.shift_remove(key) {
            whole.insert(key.to_owned(), value);
        }
    }
    whole.insert("anyOf".to_owned(), json!([made, {"type": "null"}]));
    Value::Object(whole)
}

/// The words of 3.0 that JSON Schema does not have.
fn modernise(made: &mut Map<String, Value>, written: &Map<String, Value>) {
    for (flag, bound) in [
        ("exclusiveMinimum", "minimum"),
        ("exclusiveMaximum", "maximum"),
    ] {
        match made.get(flag) {
            Some(Value::Bool(true)) => {
                made.shift_remove(flag);
                if let Some(value) = made.shift_remove(bound) {
                    made.insert(flag.to_owned(), value);
                }
            }
            Some(Value::Bool(false)) => {
                made.shift_remove(flag);
            }
            _ => {}
        }
    }
    // What its parts say of the type would still refuse null: it is allowed beside all of them.
    if !is_nullable(written) || is_composed(written) {
        return;
    }
    if let Some(kind) = made.get("type").cloned().filter(Value::is_string) {
        made.insert("type".to_owned(), json!([kind, "null"]));
    }
    if let Some(Value::Array(values)) = made.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}

/// `allOf` of plain objects is one object, which models understand better.
fn flattened(mut made: Map<String, Value>) -> Value {
    const PLAIN: [&str; 6] = [
        "type",
        "properties",
        "required",
        "description",
        "title",
        "default",
    ];
    let parts = made.get("allOf").and_then(Value::as_array).cloned();
    let Some(parts) = parts.filter(|parts| !parts.is_empty()) else {
        return Value::Object(made);
    };
    let is_plain = |part: &Value| {
        let members = part.as_object();
        members.is_some_and(|it| {
            it.keys().all(|key| PLAIN.contains(&key.as_str()))
                && (it.contains_key("properties")
                    || it.keys().all(|key| key != "type" && key != "required"))
                && it.get("type").is_none_or(|kind| kind == "object")
        })
    };
    let own: Map<String, Value> = made
        .iter()
        .filter(|(key, _)| *key != "allOf")
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    if parts.len() == 1
        && own
            .keys()
            .all(|key| ["description", "title", "default", "deprecated"].contains(&key.as_str()))
    {
        return both(parts[0].clone(), &Value::Object(own));
    }
    if !parts.iter().all(is_plain) || !is_plain(&Value::Object(own.clone())) {
        return Value::Object(made);
    }
    let mut properties = Map::new();
    let mut required: Vec<Value> = Vec::new();
    let mut told = Map::new();
    for part in parts.iter().chain([&Value::Object(own)]) {
        for (name, property) in part["properties"].as_object().into_iter().flatten() {
            // Two that say something of the same member hold both.
            let merged = match properties.shift_remove(name) {
                Some(before) if before != *property => json!({"allOf": [before, property]}),
                _ => property.clone(),
            };
            properties.insert(name.clone(), merged);
        }
        for name in part["required"].as_array().into_iter().flatten() {
            if !required.contains(name) {
                required.push(name.clone());
            }
        }
        for key in ["description", "title", "default"] {
            if let Some(value) = part.get(key) {
                told.insert(key.to_owned(), value.clone());
            }
        }
    }
    made.shift_remove("allOf");
    made.extend(told);
    made.insert("type".to_owned(), "object".into());
    made.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        made.insert("required".to_owned(), Value::Array(required));
    }
    Value::Object(made)
}
