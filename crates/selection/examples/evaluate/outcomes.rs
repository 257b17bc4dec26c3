//! Call, none or ask: what the features are for each row, and how often the outcome is right.

use crate::data::{Row, pool_of, rows};
use crate::idle::IDLE;
use crate::ranking::share;
use crate::{Bench, gold, say, training};
use selection::{Encode, FEATURES, Item, Selection, Turns, core, deed_of_tool};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// A request with what is right for it, and which rows it must not be parted from.
pub(crate) struct Case {
    pub(crate) set: &'static str,
    pub(crate) query: String,
    pub(crate) outcome: &'static str,
    pub(crate) group: Option<String>,
    /// Of a call, the tools that are right; empty where nobody says.
    pub(crate) gold: Vec<String>,
    pub(crate) tools: Arc<Vec<Item>>,
}

pub(crate) fn outcome(name: &str) -> &'static str {
    match name {
        "none" => "none",
        "ask" => "ask",
        _ => "call",
    }
}

/// The rows whose outcome somebody has written down.
fn written(folder: &Path) -> Vec<Case> {
    let decisions = rows(folder, "functionchat_calldecision.dev.jsonl");
    let called: HashMap<String, String> = decisions
        .iter()
        .filter_map(|row| Some((row.query.clone(), row.gold.first()?.clone())))
        .collect();
    let mut cases = Vec::new();
    for row in decisions {
        let set = match (row.category.as_str(), row.is_later_turn) {
            ("CALL" | "REJECT", _) => "FunctionChat",
            ("SLOT-all", _) => "FunctionChat",
            (_, false) => "FunctionChat some",
            (_, true) => "FunctionChat later",
        };
        cases.push(Case {
            set,
            outcome: outcome(row.outcome.as_deref().unwrap_or_default()),
            group: called.get(&row.query).cloned(),
            gold: row.gold,
            query: row.query,
            tools: row.tools,
        });
    }
    let plain = |set: &'static str, outcome: &'static str| {
        move |row: Row| Case {
            set,
            outcome,
            group: Some(row.gold.first().cloned().unwrap_or(row.query.clone())),
            gold: row.gold,
            query: row.query,
            tools: row.tools,
        }
    };
    let none = rows(folder, "bfcl_irrelevance.dev.jsonl").into_iter();
    cases.extend(none.map(plain("BFCL irrelevance", "none")));
    let call = rows(folder, "bfcl_multiple.dev.jsonl").into_iter();
    cases.extend(call.map(plain("BFCL multiple", "call")));
    let live = rows(folder, "bfcl_live_multiple.dev.jsonl").into_iter();
    cases.extend(live.step_by(3).map(plain("BFCL live", "call")));
    let chat = rows(folder, "metatool_single.dev.jsonl").into_iter();
    cases.extend(chat.step_by(3).map(plain("MetaTool", "call")));
    cases
}

/// Some of many tools: every so manyeth, from a place that the number tells.
fn some(pool: &[Item], count: usize, number: usize) -> Vec<Item> {
    let step = (pool.len() / count.max(1)).max(1);
    let start = number * 7919 % step;
    pool.iter()
        .skip(start)
        .step_by(step)
        .take(count)
        .cloned()
        .collect()
}

/// Rows that follow from others: a request among the tools of another set needs none of them, and one that only says
/// what a tool does gives it nothing to do it with.
fn made(folder: &Path) -> Vec<Case> {
    let seal = pool_of(folder, "sealtools_tools.jsonl");
    let meta = pool_of(folder, "metatool_tools.jsonl");
    let mut cases = Vec::new();
    let sizes = [5, 15, 50, 150];
    let chat = rows(folder, "metatool_single.dev.jsonl");
    for (number, row) in chat.iter().step_by(5).enumerate() {
        cases.push(Case {
            set: "made none",
            query: row.query.clone(),
            outcome: "none",
            group: Some(row.gold[0].clone()),
            gold: Vec::new(),
            tools: Arc::new(some(&seal, sizes[number % 4], number)),
        });
    }
    let single = rows(folder, "sealtools.dev.jsonl");
    for (number, row) in single.iter().filter(|it| it.gold.len() == 1).enumerate() {
        let group = Some(row.gold[0].clone());
        let query = row.query.clone();
        let others = some(&meta, sizes[number % 4], number);
        cases.push(Case {
            set: "made none",
            query: query.clone(),
            outcome: "none",
            group: group.clone(),
            gold: Vec::new(),
            tools: Arc::new(others),
        });
        let Some(own) = seal.iter().find(|it| it.name == row.gold[0]) else {
            continue;
        };
        let mut tools = some(&seal, sizes[number % 4], number);
        tools.push(own.clone());
        let tools = Arc::new(tools);
        let gives = query
            .chars()
            .skip(1)
            .any(|c| c.is_ascii_digit() || c.is_uppercase() || c == '"');
        if gives {
            cases.push(Case {
                set: "Seal-Tools",
                query,
                outcome: "call",
                group: group.clone(),
                gold: row.gold.clone(),
                tools: Arc::clone(&tools),
            });
        }
        if own.parameters.iter().any(|it| it.required) {
            let small = own.description.to_lowercase();
            let starts = ["Please ", "Can you ", "I want to ", ""];
            let query = format!("{}{}", starts[number % 4], small.trim_end_matches('.'));
            cases.push(Case {
                set: "made ask",
                query,
                outcome: "ask",
                group,
                gold: Vec::new(),
                tools,
            });
        }
    }
    cases
}

fn own(folder: &Path) -> Vec<Case> {
    let items = gold::items(folder);
    let tools: Vec<Item> = items
        .into_iter()
        .filter(|it| it.name != "request_human_input")
        .collect();
    let tools = Arc::new(tools);
    let case = |row: &serde_json::Value, [en, ko]: [&'static str; 2]| Case {
        set: if row["lang"] == "ko" { ko } else { en },
        query: row["query"].as_str().unwrap_or_default().to_owned(),
        outcome: outcome(row["outcome"].as_str().unwrap_or_default()),
        group: None,
        // Of a request that does not say enough, the tool that it is about.
        gold: row["gold"]
            .as_array()
            .into_iter()
            .flatten()
            .chain(row.get("about"))
            .filter_map(|it| it.as_str().map(str::to_owned))
            .collect(),
        tools: match row["tools"].as_array() {
            Some(own) => {
                let named = |it: &&Item| own.iter().any(|name| *name == it.name.as_str());
                Arc::new(tools.iter().filter(named).cloned().collect())
            }
            None => Arc::clone(&tools),
        },
    };
    let rows = gold::rows(folder, "gold.jsonl", "dev");
    let mut cases: Vec<Case> = rows
        .iter()
        .map(|row| case(row, ["gold en", "gold ko"]))
        .collect();
    let web = gold::rows(folder, "web_search.jsonl", "dev");
    cases.extend(web.iter().map(|row| case(row, ["web", "web"])));
    // Nothing is learned from these: they tell how what was learned does elsewhere.
    for (file, sets) in [
        ("fresh.jsonl", ["fresh en", "fresh ko"]),
        ("fresh_web.jsonl", ["fresh web", "fresh web"]),
        ("fresh_office.jsonl", ["fresh office", "fresh office"]),
    ] {
        let rows = gold::rows(folder, file, gold::FRESH);
        cases.extend(rows.iter().map(|row| case(row, sets)));
    }
    let builtin = gold::BUILTIN;
    cases.extend(training::cases(
        &folder.join("../training"),
        &tools,
        &builtin,
    ));
    cases.extend(IDLE.iter().map(|query| Case {
        set: "written none",
        query: (*query).to_owned(),
        outcome: "none",
        group: Some((*query).to_owned()),
        gold: Vec::new(),
        tools: Arc::clone(&tools),
    }));
    cases
}

fn each(bench: &mut Bench, cases: &[Case], mut with: impl FnMut(&Case, &Selection, &str)) {
    let mut last: Option<(usize, selection::Corpus)> = None;
    for case in cases {
        let pool = Arc::as_ptr(&case.tools) as usize;
        if last.as_ref().is_none_or(|it| it.0 != pool) {
            let weights = bench.weights.clone();
            last = Some((pool, bench.corpus(&case.tools, &weights)));
        }
        let Some((_, corpus)) = &last else { continue };
        let found = corpus.select(&case.query, |_| true, 1);
        let top = found
            .candidates
            .first()
            .map_or("", |it| &case.tools[it.at].name);
        with(case, &found, top);
    }
}

/// How often the right tool comes first, of each set that was written for this.
pub(crate) fn top(bench: &mut Bench, gold: &str) {
    let mut cases = own(Path::new(gold));
    // One that asks a person is left out of the tools above.
    cases.retain(|it| !it.gold.is_empty() && it.gold[0] != "request_human_input");
    let mut sums: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    each(bench, &cases, |case, _, top| {
        let sum = sums.entry(case.set).or_default();
        sum.0 += usize::from(case.gold.iter().any(|it| it == top));
        sum.1 += 1;
    });
    for (set, (right, all)) in sums {
        let (part, error) = share(right, all);
        say(&format!("{set:<12} {all:>4} top-1 {part:5.1} ± {error:.1}"));
    }
}

/// The examples in the language of a request, as the crate takes them.
fn alike<'a>(examples: &'a [String], request: &str) -> Vec<&'a str> {
    let is_korean = |text: &str| text.chars().any(|c| ('가'..='힣').contains(&c));
    let all = || examples.iter().map(String::as_str);
    let same: Vec<&str> = all()
        .filter(|it| is_korean(it) == is_korean(request))
        .collect();
    if same.len() < 3 {
        all().collect()
    } else {
        same
    }
}

/// The mean of the vectors of some texts, each of the length 1; empty where there are none.
fn mean(encoder: &dyn Encode, texts: &[&str]) -> Vec<f32> {
    let mut mean: Vec<f32> = Vec::new();
    for text in texts {
        let vector = encoder.encode(text);
        let length = vector.iter().map(|it| it * it).sum::<f32>().sqrt();
        mean.resize(vector.len(), 0.0);
        for (sum, value) in mean.iter_mut().zip(vector) {
            *sum += value / length.max(1e-9) / texts.len() as f32;
        }
    }
    mean
}

/// Whether the tools of a request look something up, 1, or do something, -1. 0 where they differ or do not say.
fn deed(tools: &[String]) -> f32 {
    let mut deeds = tools.iter().map(|it| deed_of_tool(it));
    let first = deeds.next().unwrap_or_default();
    match deeds.all(|it| it * first > 0.0) {
        true => first,
        false => 0.0,
    }
}

/// The features of all rows, for the script that trains the weights.
pub(crate) fn dump(bench: &mut Bench, file: &str, gold: &str) {
    let mut cases = written(&bench.folder);
    cases.extend(made(&bench.folder));
    if !gold.is_empty() {
        cases.extend(own(Path::new(gold)));
    }
    let mut text = json!({"features": FEATURES.to_vec()}).to_string() + "\n";
    let encoder = Arc::clone(&bench.encoder);
    for (query, kind) in selection::written() {
        let vector = encoder.encode(&core(query));
        let turns = Turns::new(query);
        let row = json!({"set": "kinds", "query": query, "group": query, "kind": kind, "vector": vector, "turns": turns.slots()});
        let _ = writeln!(text, "{row}");
    }
    each(bench, &cases, |case, found, top| {
        let group = case.group.as_deref().unwrap_or(top);
        let first = case.tools.iter().find(|it| it.name == top);
        let same = first.map(|it| alike(&it.examples, &case.query));
        let examples = same.as_deref().map(|it| mean(&*encoder, it));
        let usual = same
            .iter()
            .flatten()
            .map(|it| Turns::new(it).slots().to_vec());
        let usual: Vec<Vec<u16>> = usual.collect();
        let turns = Turns::new(&case.query);
        let row = json!({"gold": case.gold, "deed": deed(&case.gold), "examples": examples, "vector": encoder.encode(&core(&case.query)), "turns": turns.slots(), "usual": usual, "set": case.set, "outcome": case.outcome, "group": group, "features": found.features.0.to_vec(), "query": case.query, "top": top, "right": case.gold.is_empty() || case.gold.iter().any(|it| it == top)});
        let _ = writeln!(text, "{row}");
    });
    say(&format!(
        "features of {} rows: {:?}",
        cases.len(),
        std::fs::write(file, text)
    ));
}

/// How often the outcome is right, with the weights that are built in.
pub(crate) fn measure(bench: &mut Bench) {
    let mut cases = written(&bench.folder);
    cases.extend(made(&bench.folder));
    let mut sums: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    each(bench, &cases, |case, found, _| {
        let sum = sums.entry((case.set, case.outcome)).or_default();
        sum.0 += usize::from(found.outcome.to_string() == case.outcome);
        sum.1 += 1;
    });
    for ((set, outcome), (right, all)) in &sums {
        let (part, error) = share(*right, *all);
        say(&format!(
            "{set:<20} {outcome:<5} {right:>4} of {all:>4} {part:5.1} ± {error:.1}"
        ));
    }
    let three: Vec<f64> = sums
        .iter()
        .filter(|it| it.0.0 == "FunctionChat")
        .map(|it| share(it.1.0, it.1.1).0)
        .collect();
    let mean = three.iter().sum::<f64>() / 3.0;
    say(&format!(
        "FunctionChat balanced, seen in training: {mean:.1}"
    ));
}
