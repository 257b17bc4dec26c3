//! Measures selection on public sets that lie in a folder: `evaluate FOLDER VECTORS WHAT…`, where WHAT is of `top`,
//! `signals`, `clauses`, `examples`, `poison`, `outcome`, `features FILE GOLD`, `gold FOLDER dev|test`, `speed`.

mod data;
mod encoder;
mod gold;
mod outcomes;
mod poison;
mod ranking;
mod speed;

use selection::{Corpus, Encode, Item, Vectors, Weights};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What all measurements need.
pub(crate) struct Bench {
    pub(crate) folder: PathBuf,
    pub(crate) encoder: Arc<dyn Encode>,
    pub(crate) vectors: Vectors,
    pub(crate) weights: Weights,
}

impl Bench {
    pub(crate) fn corpus(&mut self, items: &[Item], weights: &Weights) -> Corpus {
        let encoder = Arc::clone(&self.encoder);
        Corpus::weighed(items, encoder, &mut self.vectors, weights.clone())
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, vectors, what @ ..] = arguments.as_slice() else {
        say("evaluate FOLDER VECTORS WHAT…");
        return;
    };
    let filed = Arc::new(encoder::Filed::new(Path::new(vectors)));
    let mut bench = Bench {
        folder: PathBuf::from(folder),
        vectors: Vectors::new(filed.id()),
        weights: Weights::default(),
        encoder: Arc::<encoder::Filed>::clone(&filed),
    };
    let mut what = what.iter().map(String::as_str);
    while let Some(one) = what.next() {
        let mut next = || what.next().unwrap_or_default();
        match one {
            "top" => ranking::top(&mut bench),
            "signals" => ranking::signals(&mut bench),
            "clauses" => ranking::clauses(&mut bench),
            "examples" => ranking::examples(&mut bench),
            "poison" => poison::measure(&mut bench),
            "outcome" => outcomes::measure(&mut bench),
            "features" => {
                let file = next();
                outcomes::dump(&mut bench, file, next());
            }
            "gold" => {
                let folder = next();
                gold::measure(&mut bench, Path::new(folder), next());
            }
            "weights" => bench.weights = weights(next()),
            "speed" => speed::measure(&mut bench),
            other => say(&format!("{other}: not known")),
        }
    }
    let missing = filed.missing();
    if !missing.is_empty() {
        let text = serde_json::to_string(&missing).unwrap_or_default();
        let path = Path::new(vectors).join("missing.json");
        let written = std::fs::write(path, text);
        say(&format!(
            "{} texts have no vector; written down: {written:?}",
            missing.len()
        ));
    }
}

/// Eight numbers: about, name, words, spelling, examples, nearest, usual, clauses.
fn weights(numbers: &str) -> Weights {
    let all: Vec<f32> = numbers
        .split(',')
        .filter_map(|it| it.parse().ok())
        .collect();
    let [
        about,
        name,
        words,
        spelling,
        examples,
        nearest,
        usual,
        clauses,
    ] = all[..]
    else {
        return Weights::default();
    };
    Weights {
        about,
        name,
        words,
        spelling,
        examples,
        nearest,
        usual,
        clauses,
    }
}

/// Output is what this program is for.
pub(crate) fn say(line: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}");
}
