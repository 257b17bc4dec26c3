//! Names of tools and of arguments: what model APIs and addresses take, and each only once.

use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// The longest name of a tool.
const NAME_MAX: usize = 64;

/// What an operation is called: by its own id, or by method and path.
pub(crate) fn name_of(operation: &Value, method: &str, path: &str) -> String {
    let id = operation["operationId"].as_str().map(plain);
    if let Some(id) = id.filter(|id| !id.is_empty()) {
        return id;
    }
    let words = path.split('/').filter(|word| !word.is_empty());
    let words = words.map(|word| match word.strip_prefix('{') {
        Some(name) => format!("by_{}", plain(name)),
        None => plain(word),
    });
    let words: Vec<String> = std::iter::once(method.to_owned()).chain(words).collect();
    words.join("_")
}

/// Letters, digits, `_` and `-`, without a `_` at either end or two in a row.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let c = if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        };
        if c != '_' || !out.ends_with('_') {
            out.push(c);
        }
    }
    out.trim_matches('_').to_owned()
}

/// Names that are given away.
#[derive(Debug, Default)]
pub(crate) struct Names {
    prefix: String,
    taken: HashSet<String>,
    /// The number that the next one of a name may get: counting from the beginning each time would take for ever.
    numbers: HashMap<String, usize>,
}

impl Names {
    pub(crate) fn new(prefix: &str) -> Self {
        Names {
            prefix: prefix.to_owned(),
            taken: HashSet::new(),
            numbers: HashMap::new(),
        }
    }

    /// A name that nobody has yet, like this one.
    pub(crate) fn next(&mut self, wanted: &str) -> String {
        let wanted = match wanted {
            "" => "operation",
            wanted => wanted,
        };
        let full = format!("{}{wanted}", self.prefix);
        let mut name: String = full.chars().take(NAME_MAX).collect();
        if self.taken.insert(name.clone()) {
            return name;
        }
        let number = self.numbers.entry(name.clone()).or_insert(2);
        while !self.taken.insert(name.clone()) {
            let end = format!("_{number}");
            let beginning = full.chars().take(NAME_MAX - end.len());
            name = beginning.chain(end.chars()).collect();
            *number += 1;
        }
        name
    }

    /// One that was not used after all.
    pub(crate) fn free(&mut self, name: &str) {
        self.taken.remove(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_valid_and_unique() {
        assert_eq!(
            name_of(&json!({"operationId": "repos/list.for org"}), "get", "/"),
            "repos_list_for_org"
        );
        assert_eq!(
            name_of(&json!({"operationId": "목록"}), "get", "/pets/{petId}/toys"),
            "get_pets_by_petId_toys"
        );
        let mut names = Names::new("p_");
        let long = "x".repeat(100);
        let all = [
            names.next("a"),
            names.next("a"),
            names.next(&long),
            names.next(&long),
            names.next(""),
        ];
        assert_eq!(all[..2], ["p_a", "p_a_2"]);
        assert!(
            all[2] != all[3] && all.iter().all(|it| it.len() <= 64),
            "{all:?}"
        );
    }
}
