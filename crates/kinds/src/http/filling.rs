//! A tool's config with the call's arguments in it. Each place has its own way to write them, and none of them reads
//! what it has written: an argument is never a template, a reference or an address.

use crate::template::{Template, given, knows, plain};
use catalog::auth::Reference;
use executor::{Code, Failure, Run};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// One call's arguments, and which of them have found their place.
pub(super) struct Filling<'a> {
    run: &'a Run,
    pub(super) arguments: &'a Map<String, Value>,
    used: RefCell<BTreeSet<String>>,
}

impl<'a> Filling<'a> {
    pub(super) fn new(run: &'a Run, arguments: &'a Map<String, Value>) -> Self {
        Filling {
            run,
            arguments,
            used: RefCell::default(),
        }
    }

    /// The template, and the arguments that it names.
    fn read(&self, text: &str) -> (Template, BTreeSet<String>) {
        let knows = knows(&self.run.entry.tool.definition.input_schema);
        let named = RefCell::new(BTreeSet::new());
        let template = Template::new(text, &|name: &str| {
            let is_known = knows(name);
            if is_known {
                named.borrow_mut().insert(name.to_owned());
            }
            is_known
        });
        let named = named.into_inner();
        self.used.borrow_mut().extend(named.iter().cloned());
        (template, named)
    }

    /// Whether a text names any argument.
    pub(super) fn is_template(&self, text: &str) -> bool {
        !self.read(text).1.is_empty()
    }

    /// The argument that a text is, where it is nothing else.
    pub(super) fn whole(&self, text: &str) -> Option<String> {
        self.read(text).0.whole().map(str::to_owned)
    }

    /// A text with its arguments; `None` where it names some and none was given.
    pub(super) fn text(&self, text: &str, write: impl Fn(&str) -> String) -> Option<String> {
        let (template, named) = self.read(text);
        let is_given = |name: &String| given(self.arguments, name).is_some();
        if !named.is_empty() && !named.iter().any(is_given) {
            return None;
        }
        Some(template.fill(self.arguments, write))
    }

    /// A text all of whose arguments must be there and say something; else the name of the one that does not.
    pub(super) fn whole_text(
        &self,
        text: &str,
        write: impl Fn(&str) -> String,
    ) -> Result<String, String> {
        let (template, named) = self.read(text);
        let is_missing = |name: &&String| {
            given(self.arguments, name)
                .is_none_or(|value| value == "" || *value == Value::Array(Vec::new()))
        };
        match named.iter().find(is_missing) {
            Some(name) => Err(name.clone()),
            None => Ok(template.fill(&joined(self.arguments, &named), write)),
        }
    }

    /// A value with its arguments, each in its own type, and its references opened; `None` where it is an argument that
    /// was not given.
    pub(super) fn value(&self, value: &Value) -> Result<Option<Value>, Failure> {
        if Reference::of(value).is_some() {
            let secret = self.run.open(value)?;
            return Ok(Some(Value::String(secret.expose().to_owned())));
        }
        Ok(match value {
            Value::String(text) => match self.read(text).0.whole() {
                Some(name) => given(self.arguments, name).cloned(),
                None => self.text(text, str::to_owned).map(Value::String),
            },
            Value::Array(items) => {
                let filled = items.iter().map(|item| self.value(item));
                let filled: Result<Vec<_>, _> = filled.collect();
                Some(Value::Array(filled?.into_iter().flatten().collect()))
            }
            Value::Object(members) => {
                let mut filled = Map::new();
                for (name, item) in members {
                    if let Some(item) = self.value(item)? {
                        filled.insert(name.clone(), item);
                    }
                }
                Some(Value::Object(filled))
            }
            other => Some(other.clone()),
        })
    }

    /// The arguments that no part of the config has named.
    pub(super) fn unused(&self) -> Map<String, Value> {
        let used = self.used.borrow();
        let unused = self
            .arguments
            .iter()
            .filter(|(name, value)| !used.contains(*name) && !value.is_null());
        unused
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    pub(super) fn has_used_any(&self) -> bool {
        !self.used.borrow().is_empty()
    }
}

/// The arguments with lists of plain values as they stand in a path: 1,2,3.
fn joined(arguments: &Map<String, Value>, named: &BTreeSet<String>) -> Map<String, Value> {
    let written = |value: &Value| match value {
        Value::Array(items) => Value::String(items.iter().map(plain).collect::<Vec<_>>().join(",")),
        other => other.clone(),
    };
    let named = arguments.iter().filter(|(name, _)| named.contains(*name));
    named
        .map(|(name, value)| (name.clone(), written(value)))
        .collect()
}

/// A call whose arguments do not fit into a request.
pub(super) fn invalid(why: impl std::fmt::Display) -> Failure {
    Failure::new(
        Code::InvalidInput,
        format!("Input validation failed: {why}"),
    )
}

/// A definition that cannot work.
pub(super) fn misconfigured(why: impl std::fmt::Display) -> Failure {
    Failure::new(
        Code::NotConfigured,
        format!("This tool's definition cannot work: {why}"),
    )
}
