//! What is seen of each clause of the requests in a file, for the script that learns which of them bring a tool.

use crate::gold::{FRESH, items, rows};
use crate::{Bench, say};
use selection::SEEN;
use serde_json::json;
use std::fmt::Write;
use std::path::Path;

/// Of the requests of a file that are to be called and have several clauses.
pub(crate) fn dump(bench: &mut Bench, folder: &Path, file: &str, into: &str) {
    let items = items(folder);
    let weights = bench.weights.clone();
    let corpus = bench.corpus(&items, &weights);
    let half = match file {
        "gold.jsonl" => "dev",
        _ => FRESH,
    };
    let mut text = json!({"seen": SEEN.to_vec()}).to_string() + "\n";
    for row in rows(folder, file, half) {
        if row["outcome"] != "call" {
            continue;
        }
        let query = row["query"].as_str().unwrap_or_default();
        let visible = |at: usize| items[at].name != "request_human_input";
        let clauses = corpus.of_clauses(query, visible);
        if clauses.is_empty() {
            continue;
        }
        let clauses: Vec<_> = clauses
            .into_iter()
            .map(|(at, seen)| json!({"tool": items[at].name, "seen": seen.0.to_vec()}))
            .collect();
        let found = corpus.select(query, visible, 1);
        let best = found.candidates.first().map_or("", |it| &items[it.at].name);
        let row = json!({"query": query, "lang": row["lang"], "gold": row["gold"], "best": best, "clauses": clauses});
        let _ = writeln!(text, "{row}");
    }
    say(&format!("{file}: {:?}", std::fs::write(into, text)));
}
