//! How long one request takes, and how much of that is the encoder's.

use crate::data::{pool_of, rows};
use crate::encoder::Own;
use crate::{Bench, say};
use selection::{Encode, Item};
use std::sync::Arc;
use std::time::Instant;

const ROUNDS: usize = 3;

pub(crate) fn measure(bench: &mut Bench) {
    let Ok(plain) = Own::open() else { return };
    let plain: Arc<dyn Encode> = Arc::new(plain);
    bench.encoder = Arc::clone(&plain);
    let pool = pool_of(&bench.folder, "sealtools_tools.jsonl");
    let mut queries: Vec<String> = Vec::new();
    for file in [
        "metatool_single.dev.jsonl",
        "functionchat_singlecall.dev.jsonl",
        "bfcl_live_multiple.dev.jsonl",
    ] {
        queries.extend(
            rows(&bench.folder, file)
                .into_iter()
                .step_by(5)
                .map(|it| it.query),
        );
    }
    for count in [100, 1_000, 10_000] {
        let copies = pool.iter().cycle().take(count).enumerate();
        let items: Vec<Item> = copies
            .map(|(at, item)| Item {
                name: format!("{}{}", item.name, at / pool.len()),
                ..item.clone()
            })
            .collect();
        let weights = bench.weights.clone();
        let start = Instant::now();
        let corpus = bench.corpus(&items, &weights);
        let made = start.elapsed();
        let mut changed = items.clone();
        changed[count / 2].description = pool[count % pool.len()].description.clone();
        let start = Instant::now();
        let again = corpus.with(&changed, &mut bench.vectors);
        let remade = start.elapsed();
        let start = Instant::now();
        let shown = again.shown(|_| true);
        let told = start.elapsed();
        let (mut times, mut alone): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for query in (0..ROUNDS).flat_map(|_| &queries) {
            let start = Instant::now();
            let found = again.select_among(query, &shown, |_| true, 5);
            times.push(start.elapsed().as_secs_f64() * 1_000.0);
            let start = Instant::now();
            let _ = plain.encode(query);
            alone.push(start.elapsed().as_secs_f64() * 1_000.0);
            assert!(found.candidates.len() == 5);
        }
        times.sort_by(f64::total_cmp);
        alone.sort_by(f64::total_cmp);
        let at = |share: f64| times[(times.len() as f64 * share) as usize];
        say(&format!(
            "{count:>6} tools: made in {made:.1?}, one changed in {remade:.1?}, what is shown of them in {told:.1?}; a request {:.2} ms at the median, {:.2} at 90%, {:.2} at 99%; to encode it once {:.2}",
            at(0.5),
            at(0.9),
            at(0.99),
            alone[alone.len() / 2]
        ));
    }
}
