//! How often the right tool comes first, and what each signal adds to that.

use crate::data::{Row, rows};
use crate::{Bench, say};
use selection::{Corpus, Weights};
use std::collections::HashMap;
use std::sync::Arc;

/// Name, file, which of its rows, and what is to be reached.
type Set = (&'static str, &'static str, fn(&Row) -> bool, f64);

const SETS: [Set; 7] = [
    ("BFCL multiple", "bfcl_multiple.dev.jsonl", |_| true, 99.0),
    ("BFCL live", "bfcl_live_multiple.dev.jsonl", |_| true, 90.6),
    (
        "FunctionChat random",
        "functionchat_singlecall.dev.jsonl",
        |it| it.category.contains("random"),
        87.5,
    ),
    (
        "FunctionChat close",
        "functionchat_singlecall.dev.jsonl",
        |it| it.category.contains("close"),
        66.0,
    ),
    (
        "Seal-Tools single",
        "sealtools.dev.jsonl",
        |it| it.gold.len() == 1,
        92.0,
    ),
    ("MetaTool", "metatool_single.dev.jsonl", |_| true, 53.0),
    (
        "Seal-Tools several",
        "sealtools.dev.jsonl",
        |it| it.gold.len() > 1,
        0.0,
    ),
];

/// The right ones in hundred, and one standard error.
pub(crate) fn share(right: usize, all: usize) -> (f64, f64) {
    let all = all.max(1) as f64;
    let share = right as f64 / all;
    (100.0 * share, 100.0 * (share * (1.0 - share) / all).sqrt())
}

/// The corpus of a row; the same for rows that share their tools.
#[derive(Default)]
pub(crate) struct Corpora(Option<(usize, Arc<Corpus>)>);

impl Corpora {
    pub(crate) fn of(&mut self, bench: &mut Bench, row: &Row, weights: &Weights) -> Arc<Corpus> {
        let pool = Arc::as_ptr(&row.tools) as usize;
        match &self.0 {
            Some((known, corpus)) if *known == pool => Arc::clone(corpus),
            _ => {
                let corpus = Arc::new(bench.corpus(&row.tools, weights));
                self.0 = Some((pool, Arc::clone(&corpus)));
                corpus
            }
        }
    }
}

/// Of each row, whether a right tool is first, and whether one is among the first five.
fn found(bench: &mut Bench, rows: &[Row], weights: &Weights) -> Vec<(bool, bool)> {
    let mut corpora = Corpora::default();
    let mut of = |row: &Row| {
        let corpus = corpora.of(bench, row, weights);
        let found = corpus.select(&row.query, |_| true, 5).candidates;
        let is_right = |at: usize| row.gold.contains(&row.tools[at].name);
        let is_first = found.first().is_some_and(|it| is_right(it.at));
        (is_first, found.iter().any(|it| is_right(it.at)))
    };
    rows.iter().map(&mut of).collect()
}

/// How many are first.
fn firsts(found: &[(bool, bool)]) -> usize {
    found.iter().filter(|it| it.0).count()
}

/// By how many points one way is better than another on the same rows, and one standard error of that.
fn gain(with: &[(bool, bool)], without: &[(bool, bool)]) -> (f64, f64) {
    let both = with.iter().zip(without);
    let each: Vec<f64> = both
        .map(|(a, b)| f64::from(u8::from(a.0)) - f64::from(u8::from(b.0)))
        .collect();
    let all = each.len().max(1) as f64;
    let mean = each.iter().sum::<f64>() / all;
    let square = each.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / all;
    (100.0 * mean, 100.0 * (square / all).sqrt())
}

fn of_set(bench: &Bench, set: &Set) -> Vec<Row> {
    let mut found = rows(&bench.folder, set.1);
    found.retain(|row| (set.2)(row));
    found
}

pub(crate) fn top(bench: &mut Bench) {
    for set in &SETS {
        let rows = of_set(bench, set);
        let weights = bench.weights.clone();
        let found = found(bench, &rows, &weights);
        let all = found.len();
        let (top, error) = share(firsts(&found), all);
        let (among, _) = share(found.iter().filter(|it| it.1).count(), all);
        let goal = set.3;
        let verdict = if top + error >= goal {
            "reached"
        } else {
            "MISSED"
        };
        say(&format!(
            "{:<20} {all:>4} top-1 {top:5.1} ± {error:.1} (goal {goal}, {verdict}), among five {among:5.1}",
            set.0
        ));
    }
}

pub(crate) fn signals(bench: &mut Bench) {
    let all = bench.weights.clone();
    let changed = |change: fn(&mut Weights)| {
        let mut weights = all.clone();
        change(&mut weights);
        weights
    };
    let alone = |change: fn(&mut Weights)| {
        let mut weights = all.clone();
        (weights.about, weights.name) = (0.0, 0.0);
        (weights.words, weights.spelling, weights.spelt) = (0.0, 0.0, 0.0);
        change(&mut weights);
        weights
    };
    let variants = [
        ("all", all.clone()),
        ("without meaning", changed(|it| it.about = 0.0)),
        ("without name", changed(|it| it.name = 0.0)),
        ("without words", changed(|it| it.words = 0.0)),
        ("without spelling", changed(|it| it.spelling = 0.0)),
        ("without spelt", changed(|it| it.spelt = 0.0)),
        ("without clauses", changed(|it| it.clauses = 0.0)),
        ("without usual", changed(|it| it.usual = 0.0)),
        ("meaning alone", alone(|it| it.about = 1.0)),
        ("name alone", alone(|it| it.name = 1.0)),
        ("words alone", alone(|it| it.words = 1.0)),
        ("spelling alone", alone(|it| it.spelling = 1.0)),
    ];
    let sets: Vec<Vec<Row>> = SETS.iter().map(|set| of_set(bench, set)).collect();
    say(
        "right in hundred, and in brackets how far that is from all signals, with one standard error of that on the same rows",
    );
    let mut whole: Vec<Vec<(bool, bool)>> = Vec::new();
    for (name, weights) in variants {
        let mut line = format!("{name:<18}");
        for (at, (set, rows)) in SETS.iter().zip(&sets).enumerate() {
            let found = found(bench, rows, &weights);
            line += &format!(" | {} {:.1}", set.0, share(firsts(&found), found.len()).0);
            match whole.get(at) {
                Some(whole) => {
                    let (apart, error) = gain(&found, whole);
                    line += &format!(" ({apart:+.1} ± {error:.1})");
                }
                None => whole.push(found),
            }
        }
        say(&line);
    }
}

/// Requests that need several tools, and those that need one: is the set of tools right?
pub(crate) fn clauses(bench: &mut Bench) {
    for set in &SETS {
        let rows = of_set(bench, set);
        let mut corpora = Corpora::default();
        let (mut found, mut right, mut wanted, mut exact, mut several) = (0, 0, 0, 0, 0);
        for row in &rows {
            let corpus = {
                let weights = bench.weights.clone();
                corpora.of(bench, row, &weights)
            };
            let tools = corpus.needed(&row.query, |_| true);
            let hits = tools
                .iter()
                .filter(|at| row.gold.contains(&row.tools[**at].name))
                .count();
            found += tools.len();
            right += hits;
            wanted += row.gold.len();
            exact += usize::from(hits == row.gold.len() && hits == tools.len());
            several += usize::from(tools.len() > 1);
        }
        let (precision, recall) = (share(right, found).0, share(right, wanted).0);
        let (exact, several) = (share(exact, rows.len()).0, share(several, rows.len()).0);
        say(&format!(
            "{:<20} tools found: precision {precision:.1}, recall {recall:.1}, exact {exact:.1}; several found {several:.1}",
            set.0
        ));
    }
}

/// What three example prompts for each tool must gain at least, in points.
const GAIN: f64 = 8.0;

/// With k example prompts for each tool, taken from the other rows: asked are those rows whose tool has as many.
pub(crate) fn examples(bench: &mut Bench) {
    let rows = rows(&bench.folder, "metatool_single.dev.jsonl");
    let mut by_tool: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, row) in rows.iter().enumerate() {
        by_tool.entry(&row.gold[0]).or_default().push(at);
    }
    const MOST: usize = 3;
    let asked: Vec<usize> = by_tool
        .values()
        .filter(|it| it.len() > MOST)
        .flatten()
        .copied()
        .collect();
    let weights = bench.weights.clone();
    let base = bench.corpus(&rows[0].tools, &weights);
    let mut without = 0.0;
    for k in [0, 1, MOST] {
        let mut first = 0;
        for fold in 0..=MOST {
            // Each tool leaves out another of its rows in each turn.
            let mut items = rows[0].tools.to_vec();
            for item in &mut items {
                let own = by_tool
                    .get(item.name.as_str())
                    .map_or(&[][..], Vec::as_slice);
                let others = own
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| at % (MOST + 1) != fold);
                item.examples = others
                    .take(k)
                    .map(|(_, at)| rows[*at].query.clone())
                    .collect();
            }
            let corpus = base.with(&items, &mut bench.vectors);
            for at in &asked {
                let own = &by_tool[rows[*at].gold[0].as_str()];
                let place = own.iter().position(|it| it == at).unwrap_or_default();
                if place % (MOST + 1) == fold {
                    let best = corpus.select(&rows[*at].query, |_| true, 1).candidates;
                    let is_right = best
                        .first()
                        .is_some_and(|it| items[it.at].name == rows[*at].gold[0]);
                    first += usize::from(is_right);
                }
            }
        }
        let (top, error) = share(first, asked.len());
        say(&format!(
            "      MetaTool, {} rows, {k} examples: top-1 {top:.1} ± {error:.1}",
            asked.len()
        ));
        if k == 0 {
            without = top;
        }
        if k == MOST {
            let gain = top - without;
            let verdict = if gain >= GAIN { "PASS" } else { "FAIL" };
            say(&format!(
                "{verdict}  {MOST} examples gain {gain:.1} points (goal >= {GAIN})"
            ));
        }
    }
}
