//! What is known about a document beside its text.

use serde_json::{Map, Value};

use crate::error::Format;

/// Collects metadata; what is empty is left out.
pub(crate) struct Metadata(Map<String, Value>);

/// Longer than any honest title: what is beyond is cut.
const TEXT_CHARS_MAX: usize = 500;

impl Metadata {
    pub(crate) fn new(format: Format) -> Self {
        let mut map = Map::new();
        map.insert("format".to_owned(), format.name().into());
        Self(map)
    }

    pub(crate) fn text(&mut self, key: &str, value: &str) {
        let value: String = value
            .trim()
            .chars()
            .filter(|c| !c.is_control())
            .take(TEXT_CHARS_MAX)
            .collect();
        if !value.is_empty() {
            self.0.insert(key.to_owned(), value.into());
        }
    }

    pub(crate) fn number(&mut self, key: &str, value: usize) {
        self.0.insert(key.to_owned(), value.into());
    }

    pub(crate) fn list(&mut self, key: &str, values: Vec<String>) {
        if !values.is_empty() {
            self.0.insert(key.to_owned(), values.into());
        }
    }

    pub(crate) fn finish(self) -> Map<String, Value> {
        self.0
    }
}
