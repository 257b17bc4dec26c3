//! The lines on which the keys of a configuration file stand.

use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

/// Line numbers from 1, by `section`, by `section.key` and by `section.section.key`.
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
                for (member, value) in members {
                    let name = format!("{name}.{}", member.get_ref());
                    lines.insert(name.clone(), line(member.span().start));
                    let DeValue::Table(inner) = value.get_ref() else {
                        continue;
                    };
                    for key in inner.keys() {
                        let name = format!("{name}.{}", key.get_ref());
                        lines.insert(name, line(key.span().start));
                    }
                }
            }
        }
        Places(lines)
    }

    /// Of what is not there, the line of what it would stand in.
    pub(super) fn line(&self, name: &str) -> usize {
        let found = self.0.get(name).copied();
        let outer = || name.rsplit_once('.').map(|(outer, _)| self.line(outer));
        found.or_else(outer).unwrap_or(1)
    }
}
