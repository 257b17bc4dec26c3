//! The lines on which the keys of a configuration file stand.

use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

/// Line numbers from 1, by `section` and by `section.key`.
pub(super) struct Places(BTreeMap<String, usize>);

impl Places {
    /// Of a text that is valid TOML; any other has no places.
    pub(super) fn of(text: &str) -> Self {
        let mut lines = BTreeMap::new();
        let line = |offset: usize| text.get(..offset).unwrap_or("").matches('\n').count() + 1;
        let Ok(file) = DeTable::parse(text) else {
            return Places(lines);
        };
        for (section, value) in file.get_ref() {
            let name = section.get_ref();
            lines.insert(name.to_string(), line(section.span().start));
            if let DeValue::Table(members) = value.get_ref() {
                for member in members.keys() {
                    let name = format!("{name}.{}", member.get_ref());
                    lines.insert(name, line(member.span().start));
                }
            }
        }
        Places(lines)
    }

    pub(super) fn line(&self, name: &str) -> usize {
        self.0.get(name).copied().unwrap_or(1)
    }
}
