//! Where the values of a statement come from.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a call brings along, and what is known of the caller.
#[derive(Clone, Copy, Debug)]
pub struct Bindings<'a> {
    pub arguments: &'a Map<String, Value>,
    /// Wins over the arguments; a name that stands here is never looked up there, even if its value is null.
    pub caller: &'a BTreeMap<String, Value>,
}

impl<'a> Bindings<'a> {
    /// Nobody gave anything: every parameter is null.
    pub fn none() -> Bindings<'static> {
        static ARGUMENTS: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
        static CALLER: BTreeMap<String, Value> = BTreeMap::new();
        Bindings {
            arguments: &ARGUMENTS,
            caller: &CALLER,
        }
    }

    /// The value of a name; one that nobody gave is null.
    pub(crate) fn value(&self, name: &str) -> &'a Value {
        static NULL: Value = Value::Null;
        match self.caller.get(name) {
            Some(value) => value,
            None => self.arguments.get(name).unwrap_or(&NULL),
        }
    }
}
