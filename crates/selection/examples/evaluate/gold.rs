//! The project's own set: a request is right if its outcome is, and for a call its tools are. Of the test half only the
//! sums are ever shown.

use crate::ranking::share;
use crate::{Bench, say};
use selection::{Item, Selection};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

/// Tools that are there before anybody adds one, but for the one that asks.
pub(crate) const BUILTIN: [&str; 13] = [
    "calculator",
    "clean_text",
    "code_execution",
    "convert_units",
    "doc_parser",
    "get_sim_search",
    "get_text_embedding",
    "get_user_daily_limit",
    "multiply_numbers",
    "query_bga_database",
    "serialize_for_cell",
    "web_fetch",
    "web_search",
];

/// A set of which no half is kept back, since nothing is learned from it.
pub(crate) const FRESH: &str = "fresh";

pub(crate) fn items(folder: &Path) -> Vec<Item> {
    let text = std::fs::read_to_string(folder.join("pool.json")).unwrap_or_default();
    let pool: Value = serde_json::from_str(&text).unwrap_or_default();
    let tools = pool["items"].as_array().cloned().unwrap_or_default();
    tools.iter().map(Item::of_tool).collect()
}

pub(crate) fn is_dev(query: &str) -> bool {
    let hash: [u8; 32] = Sha256::digest(query.as_bytes()).into();
    hash[0].is_multiple_of(2)
}

/// The rows of one half.
pub(crate) fn rows(folder: &Path, file: &str, half: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    let all = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let query = |row: &Value| row["query"].as_str().unwrap_or_default().to_owned();
    all.filter(|row| half == FRESH || is_dev(&query(row)) == (half == "dev"))
        .collect()
}

/// The same tools without the example prompts of those that are not built in.
fn bare(mut items: Vec<Item>) -> Vec<Item> {
    for it in &mut items {
        if !BUILTIN.contains(&it.name.as_str()) {
            it.examples.clear();
        }
    }
    items
}

fn words(list: &Value) -> impl Iterator<Item = &str> {
    let all = list.as_array().into_iter().flatten();
    all.filter_map(Value::as_str)
}

pub(crate) fn measure(bench: &mut Bench, folder: &Path, file: &str, half: &str) {
    let items = match bench.is_bare {
        true => bare(items(folder)),
        false => items(folder),
    };
    let weights = bench.weights.clone();
    let corpus = bench.corpus(&items, &weights);
    let mut sums: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut add = |key: String, right: bool| {
        let sum = sums.entry(key).or_default();
        sum.0 += usize::from(right);
        sum.1 += 1;
    };
    for row in rows(folder, file, half) {
        let word = |key: &str| row[key].as_str().unwrap_or_default();
        // Some rows name the tools that may be seen.
        let own = row["tools"].as_array();
        let visible = |at: usize| {
            let name = items[at].name.as_str();
            let is_own = own.is_none_or(|own| own.iter().any(|it| it == name));
            is_own && name != "request_human_input"
        };
        let found = corpus.select(word("query"), visible, 5);
        let gold: Vec<&str> = words(&row["gold"]).collect();
        let name = |at: usize| items[at].name.as_str();
        let top = found.candidates.first().map_or("", |it| name(it.at));
        let outcome = found.outcome.to_string();
        let mut tools: Vec<&str> = found.tools.iter().map(|at| name(*at)).collect();
        // As `toolcrib eval` judges: what would be called first.
        let is_first = tools.first().is_some_and(|it| gold.contains(it));
        let mut wanted = gold.clone();
        wanted.sort_unstable();
        tools.sort_unstable();
        let is_outcome = outcome == word("outcome");
        let is_top = gold.contains(&top);
        let is_right = is_outcome && (word("outcome") != "call" || is_first);
        add("all".to_owned(), is_right);
        add(format!("language {}", word("lang")), is_right);
        add(
            format!("outcome {}, only that", word("outcome")),
            is_outcome,
        );
        add(format!("outcome {}", word("outcome")), is_right);
        if word("outcome") == "call" {
            add("top-1 of calls".to_owned(), is_top);
            add("all tools of calls, were they called".to_owned(), {
                let mut would: Vec<&str> = corpus
                    .needed(word("query"), visible)
                    .into_iter()
                    .map(name)
                    .collect();
                would.sort_unstable();
                would == wanted
            });
        }
        if word("outcome") == "ask" {
            add("top-1 of asks".to_owned(), top == word("about"));
        }
        for tag in words(&row["tags"]) {
            add(format!("tag {tag}"), is_right);
        }
        let is_wrong = !is_right || (word("outcome") == "call" && tools != wanted);
        if half != "test" && is_wrong {
            say(&format!(
                "- {} {gold:?} → {outcome} {tools:?} {top}",
                word("outcome")
            ));
            tell(&row, &found, &items);
        }
    }
    for (key, (right, all)) in sums {
        let (part, error) = share(right, all);
        say(&format!(
            "{half} {key:<38} {right:>3} of {all:>3} {part:5.1} ± {error:.1}"
        ));
    }
}

/// What was asked, and what was found for it.
fn tell(row: &Value, found: &Selection, items: &[Item]) {
    let because = &found.because;
    say(&format!(
        "    {} (about {}) | {because}",
        row["query"], row["about"]
    ));
    for it in found.candidates.iter().take(3) {
        let name = &items[it.at].name;
        say(&format!("      {:.3} {name}: {}", it.score, it.why));
    }
}
