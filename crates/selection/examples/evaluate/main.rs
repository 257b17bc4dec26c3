//! Measures selection on public sets that lie in a folder: `evaluate FOLDER VECTORS WHAT…`, where VECTORS is a file that
//! keeps vectors for the next time, and WHAT is of `top`, `signals`, `clauses`, `examples`, `poison`, `outcome`,
//! `own GOLD`, `features FILE GOLD`, `gold FOLDER dev|test`, `web FOLDER dev|test`, `fresh FOLDER FILE`,
//! `seen FOLDER FILE INTO`, `rules FOLDER`, `speed`, `bare` (our own tools lose their example prompts in what follows).

mod clauses;
mod data;
mod encoder;
mod gold;
mod idle;
mod outcomes;
mod poison;
mod ranking;
mod rules;
mod speed;
mod training;

use selection::{Corpus, Encode, Item, Vectors, Weights};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What all measurements need.
pub(crate) struct Bench {
    pub(crate) folder: PathBuf,
    pub(crate) encoder: Arc<dyn Encode>,
    pub(crate) vectors: Vectors,
    pub(crate) weights: Weights,
    /// Whether our own tools lose their example prompts, but for those that are built in.
    pub(crate) is_bare: bool,
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
    let requests = Path::new(vectors).with_extension("requests");
    let own = match encoder::Own::knowing(&requests) {
        Ok(own) => Arc::new(own),
        Err(error) => return say(&format!("the encoder: {error:?}")),
    };
    let known = std::fs::read(vectors).ok();
    let known = known.and_then(|bytes| Vectors::from_bytes(&bytes));
    let mut bench = Bench {
        folder: PathBuf::from(folder),
        vectors: known.unwrap_or_else(|| Vectors::new(own.id())),
        weights: Weights::default(),
        is_bare: false,
        encoder: Arc::<encoder::Own>::clone(&own),
    };
    let mut what = what.iter().map(String::as_str);
    while let Some(one) = what.next() {
        let mut next = || what.next().unwrap_or_default();
        match one {
            "top" => ranking::top(&mut bench),
            "signals" => ranking::signals(&mut bench),
            "clauses" => ranking::clauses(&mut bench),
            "examples" => ranking::examples(&mut bench),
            "own" => outcomes::top(&mut bench, next()),
            "poison" => poison::measure(&mut bench),
            "outcome" => outcomes::measure(&mut bench),
            "features" => {
                let file = next();
                outcomes::dump(&mut bench, file, next());
            }
            "gold" => {
                let folder = next();
                gold::measure(&mut bench, Path::new(folder), "gold.jsonl", next());
            }
            "web" => {
                let folder = next();
                gold::measure(&mut bench, Path::new(folder), "web_search.jsonl", next());
            }
            "fresh" => {
                let folder = next();
                gold::measure(&mut bench, Path::new(folder), next(), gold::FRESH);
            }
            "bare" => bench.is_bare = true,
            "seen" => {
                let (folder, file) = (next(), next());
                clauses::dump(&mut bench, Path::new(folder), file, next());
            }
            "rules" => rules::measure(&mut bench, Path::new(next())),
            "weights" => bench.weights = weights(next()),
            "speed" => speed::measure(&mut bench),
            other => say(&format!("{other}: not known")),
        }
    }
    if bench.vectors.made() > 0 {
        let kept = std::fs::write(vectors, bench.vectors.to_bytes());
        let kept = kept.and_then(|()| own.keep(&requests));
        say(&format!("{} vectors made: {kept:?}", bench.vectors.made()));
    }
}

/// Nine numbers: about, name, words, spelling, spelt, examples, nearest, usual, clauses.
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
        spelt,
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
        spelt,
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
