//! The requests that were written to train with, each over the tools that it was written for, and over them without their
//! example prompts: most tools have none.

use crate::outcomes::{Case, outcome};
use selection::Item;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

fn lines(folder: &Path, file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    let lines = text.lines().map(serde_json::from_str);
    lines.filter_map(Result::ok).collect()
}

fn bare(items: &[Item]) -> Vec<Item> {
    let bare = |it: &Item| Item {
        examples: Vec::new(),
        ..it.clone()
    };
    items.iter().map(bare).collect()
}

/// `own` are the tools of the gold set, over which is asked what needs the web, and what needs any of them.
pub(crate) fn cases(folder: &Path, own: &Arc<Vec<Item>>, builtin: &[&str]) -> Vec<Case> {
    let items = |file| lines(folder, file).iter().map(Item::of_tool).collect();
    let with: Arc<Vec<Item>> = Arc::new(items("ask_tools.jsonl"));
    let plain: Vec<Item> = items("plain_tools.jsonl");
    let known = |it: &&Item| with.iter().all(|other| other.name != it.name);
    let more: Vec<Item> = plain.iter().filter(known).cloned().collect();
    let without: Arc<Vec<Item>> = Arc::new([bare(&with), more].concat());
    let few = |it: &&Item| builtin.contains(&it.name.as_str());
    let few: Arc<Vec<Item>> = Arc::new(own.iter().filter(few).cloned().collect());
    let (ask, plain) = ("ask.jsonl", "plain.jsonl");
    let (web, now) = ("web.jsonl", "now.jsonl");
    let (pool, style, direct) = ("pool.jsonl", "style.jsonl", "direct.jsonl");
    let mut cases = Vec::new();
    for (set, file, tools) in [
        ("ask", ask, &with),
        ("bare", ask, &without),
        ("plain", plain, &without),
        ("web more", web, own),
        ("web few", web, &few),
        ("web now", now, own),
        ("web now few", now, &few),
        ("pool en", pool, own),
        ("pool ko", pool, own),
        ("style en", style, own),
        ("style ko", style, own),
        ("direct en", direct, own),
        ("direct ko", direct, own),
    ] {
        for row in lines(folder, file) {
            let word = |key: &str| row[key].as_str().map(str::to_owned);
            // Of these files, the languages are two sets.
            let is_one = [pool, style, direct].contains(&file);
            if is_one && !word("lang").is_some_and(|it| set.ends_with(&it)) {
                continue;
            }
            let named = row["gold"].as_array().into_iter().flatten();
            let named = named.chain(row.get("about"));
            let gold: Vec<String> = named
                .filter_map(|it| it.as_str().map(str::to_owned))
                .collect();
            let query = word("query").unwrap_or_default();
            // What needs the web is about the same tool, but not about the same thing.
            let is_there = |name: &String| tools.iter().any(|it| it.name == *name);
            if set == "web now few" && !gold.iter().all(is_there) {
                continue;
            }
            let about = gold.first().filter(|_| ![web, now].contains(&file));
            cases.push(Case {
                set,
                outcome: outcome(&word("outcome").unwrap_or_default()),
                group: Some(about.unwrap_or(&query).clone()),
                query,
                gold,
                tools: Arc::clone(tools),
            });
        }
    }
    cases
}
