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

/// What is said where hardly anything could be meant.
const BARELY: [&str; 16] = [
    "do it please",
    "please do that",
    "do that for me",
    "go ahead and do it",
    "just do it now",
    "take care of that for me",
    "could you handle this one",
    "run it again please",
    "그거 해줘",
    "그거 좀 해 주세요",
    "이거 처리해줘",
    "그냥 해줘 부탁이야",
    "아까 그거 다시 해줘",
    "이것 좀 부탁드립니다",
    "저거 실행해 주세요",
    "얼른 해줘",
];

/// Whoever begins a run may name its tools: plain requests among their own tool and one or two others, without examples.
fn among_few(folder: &Path, own: &Arc<Vec<Item>>) -> Vec<Case> {
    let bare = bare(own);
    let one = |at: usize| bare[at % bare.len().max(1)].clone();
    let mut cases = Vec::new();
    for (at, row) in lines(folder, "direct.jsonl").iter().enumerate() {
        let named = row["gold"].as_array().into_iter().flatten();
        let named = named.chain(row.get("about"));
        let gold: Vec<String> = named
            .filter_map(|it| it.as_str().map(str::to_owned))
            .collect();
        let mut tools: Vec<Item> = (0..=at % 2).map(|it| one(7 * at + 11 * it)).collect();
        tools.retain(|it| !gold.contains(&it.name));
        tools.extend(bare.iter().filter(|it| gold.contains(&it.name)).cloned());
        let query = row["query"].as_str().unwrap_or_default().to_owned();
        cases.push(Case {
            set: "direct few",
            outcome: outcome(row["outcome"].as_str().unwrap_or_default()),
            group: Some(gold.first().unwrap_or(&query).clone()),
            query,
            gold,
            tools: Arc::new(tools),
        });
    }
    cases.extend(several(folder, &bare));
    for (at, query) in BARELY.iter().cycle().take(4 * BARELY.len()).enumerate() {
        cases.push(Case {
            set: "direct few",
            outcome: "ask",
            group: Some((*query).to_owned()),
            query: (*query).to_owned(),
            gold: Vec::new(),
            tools: Arc::new((0..=at % 2).map(|it| one(5 * at + 13 * it)).collect()),
        });
    }
    cases
}

/// Two plain requests as one, among the tools of both.
pub(crate) fn several(folder: &Path, bare: &[Item]) -> Vec<Case> {
    let rows = lines(folder, "direct.jsonl");
    let calls = |lang: &'static str| {
        let is_call = move |row: &&Value| row["lang"] == lang && row["outcome"] == "call";
        rows.iter().filter(is_call).collect::<Vec<_>>()
    };
    let mut cases = Vec::new();
    for (rows, between) in [(calls("en"), ", and then "), (calls("ko"), ", 그리고 ")] {
        for (first, second) in rows.iter().step_by(3).zip(rows.iter().skip(97).step_by(3)) {
            let gold = [first, second].map(|it| it["gold"][0].as_str().unwrap_or_default());
            let [before, after] =
                [first, second].map(|it| it["query"].as_str().unwrap_or_default());
            if gold[0] == gold[1] {
                continue;
            }
            let begin = before.trim_end_matches(['.', '?', '!']);
            let mut tools: Vec<Item> = bare.to_vec();
            tools.retain(|it| gold.contains(&it.name.as_str()));
            cases.push(Case {
                set: "direct few",
                query: format!("{begin}{between}{}", after.to_lowercase()),
                outcome: "call",
                group: Some(gold[0].to_owned()),
                gold: gold.map(str::to_owned).to_vec(),
                tools: Arc::new(tools),
            });
        }
    }
    cases
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
    let (office, parts) = ("office.jsonl", "parts.jsonl");
    let mut cases = among_few(folder, own);
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
        ("office en", office, own),
        ("office ko", office, own),
        ("parts en", parts, own),
        ("parts ko", parts, own),
    ] {
        for row in lines(folder, file) {
            let word = |key: &str| row[key].as_str().map(str::to_owned);
            // Of these files, the languages are two sets.
            let is_one = [pool, style, direct, office, parts].contains(&file);
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
