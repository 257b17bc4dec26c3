//! What is seen of each clause of the requests in a file, for the script that learns which of them bring a tool.

use crate::gold::{FRESH, items, rows};
use crate::{Bench, say, training};
use selection::{Corpus, Item, SEEN};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// Of the requests of a file that are to be called and have several clauses: among all tools, among all without example prompts,
/// and among few without: whoever begins a run may name them.
pub(crate) fn dump(bench: &mut Bench, folder: &Path, file: &str, into: &str) {
    let mut items = items(folder);
    items.retain(|it| it.name != "request_human_input");
    let bare: Vec<Item> = items.iter().cloned().map(without_examples).collect();
    let weights = bench.weights.clone();
    let all = bench.corpus(&items, &weights);
    let all_bare = bench.corpus(&bare, &weights);
    let half = match file {
        "gold.jsonl" => "dev",
        _ => FRESH,
    };
    let mut text = json!({"seen": SEEN.to_vec()}).to_string() + "\n";
    for (at, row) in rows(folder, file, half).into_iter().enumerate() {
        if row["outcome"] != "call" {
            continue;
        }
        let few = among_few(&bare, &row, at);
        let of_few = bench.corpus(&few, &weights);
        for (corpus, items) in [(&all, &items), (&all_bare, &bare), (&of_few, &few)] {
            if let Some(seen) = seen(corpus, items, &row) {
                let _ = writeln!(text, "{seen}");
            }
        }
    }
    // Of plain requests hardly any has several clauses: two of them make one that has.
    let joined = match file {
        "direct.jsonl" => training::several(folder, &bare),
        _ => Vec::new(),
    };
    for case in joined {
        let corpus = bench.corpus(&case.tools, &weights);
        let row = json!({"query": case.query, "gold": case.gold});
        if let Some(seen) = seen(&corpus, &case.tools, &row) {
            let _ = writeln!(text, "{seen}");
        }
    }
    say(&format!("{file}: {:?}", std::fs::write(into, text)));
}

fn without_examples(item: Item) -> Item {
    Item {
        examples: Vec::new(),
        ..item
    }
}

/// The tools of a row and two others.
fn among_few(items: &[Item], row: &Value, at: usize) -> Vec<Item> {
    let is_right = |it: &Item| {
        let gold = row["gold"].as_array().into_iter().flatten();
        gold.into_iter().any(|name| *name == it.name.as_str())
    };
    let mut few: Vec<Item> = items.iter().filter(|it| is_right(it)).cloned().collect();
    for step in [7, 18] {
        let other = &items[(step * at) % items.len()];
        if few.iter().all(|it| it.name != other.name) {
            few.push(other.clone());
        }
    }
    few
}

fn seen(corpus: &Corpus, items: &[Item], row: &Value) -> Option<Value> {
    let query = row["query"].as_str().unwrap_or_default();
    let clauses = corpus.of_clauses(query, |_| true);
    if clauses.is_empty() {
        return None;
    }
    let clauses: Vec<_> = clauses
        .into_iter()
        .map(|(at, seen)| json!({"tool": items[at].name, "seen": seen.0.to_vec()}))
        .collect();
    let found = corpus.select(query, |_| true, 1);
    let best = found.candidates.first().map(|it| &items[it.at].name);
    Some(json!({"query": query, "gold": row["gold"], "best": best, "clauses": clauses}))
}
