//! Do rules of trusted descriptions act where they should, and rest where they should not? Each row of `rules.jsonl` has two
//! tools, of which one says when the other is to be taken, and requests of both sorts.

use crate::ranking::share;
use crate::{Bench, gold, say};
use selection::Item;
use serde_json::Value;
use std::path::Path;

pub(crate) fn measure(bench: &mut Bench, folder: &Path) {
    let text = std::fs::read_to_string(folder.join("rules.jsonl")).unwrap_or_default();
    let beside = gold::items(folder).into_iter();
    let beside: Vec<Item> = beside
        .filter(|it| gold::BUILTIN.contains(&it.name.as_str()))
        .collect();
    let (mut acts, mut rests) = ((0, 0), (0, 0));
    let weights = bench.weights.clone();
    for row in text
        .lines()
        .filter_map(|it| serde_json::from_str::<Value>(it).ok())
    {
        let mut items = vec![Item::of_tool(&row["host"]), Item::of_tool(&row["other"])];
        items.extend_from_slice(&beside);
        let corpus = bench.corpus(&items, &weights);
        for (key, wanted, sum) in [("acts", 1, &mut acts), ("rests", 0, &mut rests)] {
            for request in row[key].as_array().into_iter().flatten() {
                let request = request.as_str().unwrap_or_default();
                let found = corpus.select(request, |_| true, 9).candidates;
                let own = found.iter().map(|it| it.at).find(|at| *at < 2);
                let first = own.unwrap_or(usize::MAX);
                *sum = (sum.0 + usize::from(first == wanted), sum.1 + 1);
                if first != wanted {
                    let shown = found.iter().take(4).map(|it| {
                        let rule = it.why.rule.as_deref().unwrap_or_default();
                        format!("{} {:.3} {rule}", items[it.at].name, it.score)
                    });
                    let shown: Vec<String> = shown.collect();
                    say(&format!("- {key} {request:?}: {}", shown.join(" | ")));
                }
            }
        }
    }
    for (name, (right, all)) in [("acts", acts), ("rests", rests)] {
        let (share, error) = share(right, all);
        say(&format!(
            "rules {name:<6} {right:>3} of {all:>3} {share:.1} ± {error:.1}"
        ));
    }
}
