//! How long it takes to find tools among many: `cargo run --release -p face --example find_speed [TOOLS]`.

#![expect(clippy::print_stdout, reason = "it is made to be read")]

use face::search::Index;
use std::time::Instant;

const VERBS: [&str; 8] = [
    "read", "write", "list", "create", "delete", "search", "convert", "send",
];
const THINGS: [&str; 10] = [
    "invoice",
    "customer",
    "file",
    "message",
    "ticket",
    "날씨",
    "table",
    "picture",
    "계약서",
    "order",
];
const QUERIES: [&str; 6] = [
    "send a message to a customer",
    "서울 날씨를 알려줘",
    "convert an invoice into a picture",
    "list the orders of the last week and the files that belong to them",
    "number 4711",
    "nothing of this kind",
];

fn main() {
    let count = std::env::args().nth(1).and_then(|it| it.parse().ok());
    let count: usize = count.unwrap_or(10_000);
    let tools: Vec<(String, String)> = (0..count)
        .map(|i| {
            let (verb, thing) = (VERBS[i % 8], THINGS[i / 8 % 10]);
            let name = format!("{verb}_{thing}_{i}");
            let about = format!(
                "Use this to {verb} the {thing} number {i} of the department of {}. It takes what to {verb} and where, \
                 answers with what was done, and asks nobody. Prefer it to the others when the {thing} is of this department.",
                THINGS[i % 7]
            );
            (name, about)
        })
        .collect();
    let began = Instant::now();
    let fields = tools
        .iter()
        .map(|(name, about)| vec![(name.as_str(), 3.0), (about.as_str(), 1.0)]);
    let index = Index::new(fields);
    println!("{count} tools: index made in {:?}", began.elapsed());
    for query in QUERIES {
        let mut times = Vec::new();
        let mut best = Vec::new();
        for _ in 0..50 {
            let began = Instant::now();
            best = index.best(query, 5);
            times.push(began.elapsed());
        }
        times.sort_unstable();
        let first = best.first().map_or("-", |at| tools[*at].0.as_str());
        println!(
            "median {:?}, worst {:?}: '{query}' finds {first}",
            times[25], times[49]
        );
    }
}
