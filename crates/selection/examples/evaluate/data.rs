//! The public sets, as they lie in a folder.

use selection::{Item, Parameter};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// One request and what is right for it.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) query: String,
    pub(crate) gold: Vec<String>,
    pub(crate) outcome: Option<String>,
    pub(crate) category: String,
    pub(crate) is_later_turn: bool,
    pub(crate) tools: Arc<Vec<Item>>,
}

pub(crate) fn rows(folder: &Path, name: &str) -> Vec<Row> {
    let text = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let mut pools: HashMap<String, Arc<Vec<Item>>> = HashMap::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).unwrap_or_default();
        let tools = match row["tools_ref"].as_str() {
            Some(file) => {
                let pool = pools.entry(file.to_owned());
                Arc::clone(pool.or_insert_with(|| Arc::new(pool_of(folder, file))))
            }
            None => Arc::new(
                row["tools"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(item)
                    .collect(),
            ),
        };
        let word = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let gold = row["gold"].as_array().into_iter().flatten();
        found.push(Row {
            query: word("query"),
            gold: gold
                .filter_map(|it| it.as_str().map(str::to_owned))
                .collect(),
            outcome: row["outcome"].as_str().map(|it| it.replace("human", "ask")),
            category: word("category") + &word("kind"),
            is_later_turn: row["history"].as_array().is_some_and(|it| !it.is_empty()),
            tools,
        });
    }
    found
}

pub(crate) fn pool_of(folder: &Path, file: &str) -> Vec<Item> {
    let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    lines.map(|tool: Value| item(&tool)).collect()
}

fn item(tool: &Value) -> Item {
    let word = |key: &str| tool[key].as_str().unwrap_or_default().to_owned();
    let required = tool["required"].as_array().map(Vec::as_slice);
    Item {
        name: word("name"),
        description: word("description"),
        parameters: Parameter::of_text(&word("params"), required),
        ..Item::default()
    }
}
