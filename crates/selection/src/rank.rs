//! How well each tool fits one text: meaning, words and spelling, weighed and added up.

use crate::corpus::Corpus;
use crate::dense::Vector;
use crate::grams::Spelling;
use crate::parts::{Part, spread};
use crate::request::core;
use crate::shown::Shown;
use crate::turns::Turns;
use crate::words::{Word, words};
use std::borrow::Cow;

/// What each signal weighs. Found by measuring on public sets and on those in `training`, with `evaluate`'s `top` and `own`;
/// a weight of 0 turns a signal off.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// The meaning of name and description together.
    pub about: f32,
    /// The meaning of the name alone.
    pub name: f32,
    /// The words, rare ones first.
    pub words: f32,
    pub spelling: f32,
    /// How the example prompts are spelt.
    pub spelt: f32,
    /// The meaning of the example prompts on the whole, measured by that of the tool's own texts.
    pub examples: f32,
    /// That of the nearest of them.
    pub nearest: f32,
    /// What is taken off for being near to any request.
    pub usual: f32,
    /// What fitting a clause is worth, measured by fitting the whole.
    pub clauses: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Weights {
            about: 1.0,
            name: 0.3,
            words: 0.6,
            spelling: 0.4,
            spelt: 0.9,
            examples: 1.0,
            nearest: 0.7,
            usual: 1.0,
            clauses: 0.6,
        }
    }
}

impl Weights {
    /// What the tool's own texts weigh among all that has a meaning.
    pub(crate) fn own(&self, has_examples: bool) -> f32 {
        match has_examples {
            true => 1.0 / (1.0 + self.examples + self.nearest),
            false => 1.0,
        }
    }

    /// By which scores are divided, so that hardly any is above 1.
    fn all(&self) -> f32 {
        (self.about + self.name + self.words + self.spelling).max(1e-6)
    }
}

/// What a tool that can be asked about anything in the world gains for a request that surely is about it, and how likely
/// that must be at least.
const WORLD: f32 = 0.38;
const UNLIKELY: f32 = 0.08;

/// What the spelling of a tool's own texts says where it has no examples, and how many of them are enough.
const INSTEAD: f32 = 0.3;
const ENOUGH: f32 = 4.0;

/// A request or a clause of it, made ready to be compared.
pub(crate) struct Asked<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) words: Vec<Word>,
    spelling: Spelling,
    pub(crate) turns: Turns,
    pub(crate) vector: Option<Vector>,
}

impl<'a> Asked<'a> {
    /// Encoded together: where a model behind an endpoint does it, that is one request.
    pub(crate) fn all(texts: impl Iterator<Item = &'a str>, corpus: &Corpus) -> Vec<Self> {
        let (turns, texts): (Vec<Turns>, Vec<Cow<'a, str>>) =
            texts.map(|it| (Turns::new(it), core(it))).unzip();
        let mut turns = turns.into_iter();
        let plain: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let mut vectors = corpus.encoder.encode_request(&plain).into_iter();
        let asked = |text: Cow<'a, str>| Asked {
            words: words(&text),
            spelling: Spelling::new(&text),
            turns: turns.next().unwrap_or_default(),
            vector: vectors.next().and_then(|it| Vector::new(&it)),
            text,
        };
        texts.into_iter().map(asked).collect()
    }

    /// What the better of the two descriptions of a tool adds to a score that counts both alike: they may be in two
    /// languages, and the request is in one.
    pub(crate) fn better(&self, part: &Part, weights: &Weights) -> f32 {
        let (Some(about), Some(user)) = (part.about.as_deref(), part.user.as_deref()) else {
            return 0.0;
        };
        let apart = (self.near(Some(about)) - self.near(Some(user))).abs() / 2.0;
        let own = weights.own(!part.examples.is_empty());
        weights.about * own * (apart - weights.usual * part.usual_apart) / weights.all()
    }

    /// How near this is to a vector, from -1 to 1.
    pub(crate) fn near(&self, other: Option<&Vector>) -> f32 {
        match (&self.vector, other) {
            (Some(own), Some(other)) => own.dot(other),
            _ => 0.0,
        }
    }
}

/// What each signal says of each tool, and what comes of it.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    words: Vec<f32>,
    spelling: Vec<f32>,
    pub(crate) scores: Vec<f32>,
}

impl Signals {
    pub(crate) fn new(asked: &Asked<'_>, corpus: &Corpus, shown: &Shown) -> Self {
        let none = || vec![0.0; corpus.parts.len()];
        let (mut scores, mut by_words) = (none(), none());
        let (mut spelling, mut spelt) = (none(), none());
        if let Some(vector) = &asked.vector {
            corpus.rows.add(vector, &mut scores);
        }
        let weights = &corpus.weights;
        let mut mass = 0.0;
        if weights.words > 0.0 {
            mass = corpus.words.add(&shown.words, &asked.words, &mut by_words);
        }
        if weights.spelling > 0.0 {
            let seen = &shown.spellings;
            corpus.spellings.add(seen, &asked.spelling, &mut spelling);
        }
        if weights.spelt > 0.0 {
            corpus.spelt.add(&shown.spelt, &asked.spelling, &mut spelt);
            stand_in(&mut spelt, &spelling, corpus, shown);
        }
        let share = 1.0 / f32::max(mass, 1e-6);
        // Nothing was near, so nothing is nearer than usual.
        let usual = match asked.vector {
            Some(_) => weights.usual,
            None => 0.0,
        };
        let all = 1.0 / weights.all();
        let likely = corpus.reader.world(asked.vector.as_ref(), &asked.turns);
        let world = WORLD * ((likely - UNLIKELY) / (1.0 - UNLIKELY)).max(0.0);
        let others = by_words.iter_mut().zip(spelling.iter().zip(&spelt));
        let scored = scores.iter_mut().zip(others).zip(&corpus.parts);
        for ((score, (words, (spelling, spelt))), part) in scored {
            *words *= share;
            *score = (*score - usual * part.usual
                + weights.words * *words
                + weights.spelling * spelling
                + weights.spelt * spelt)
                * all
                + world * part.world;
        }
        Signals {
            words: by_words,
            spelling,
            scores,
        }
    }

    pub(crate) fn words(&self, at: usize) -> f32 {
        self.words[at]
    }

    pub(crate) fn spelling(&self, at: usize) -> f32 {
        self.spelling[at]
    }
}

/// Of a tool without examples nobody knows how it is asked for, and a few say little. It would lose to every tool that has
/// many, were that worth nothing, so it counts as much as one that is somewhat more alike than they are on the whole.
#[expect(clippy::cast_precision_loss, reason = "a mean need not be exact")]
fn stand_in(spelt: &mut [f32], spelling: &[f32], corpus: &Corpus, shown: &Shown) {
    let (mut count, mut sum, mut squares) = (0_usize, 0.0, 0.0);
    for at in &shown.places {
        let it = spelt[*at];
        if !corpus.parts[*at].examples.is_empty() {
            count += 1;
            sum += it;
            squares += it * it;
        }
    }
    let count = count.max(1) as f32;
    let mean = sum / count;
    let usual = mean + (squares / count - mean * mean).max(0.0).sqrt();
    for ((it, part), own) in spelt.iter_mut().zip(&corpus.parts).zip(spelling) {
        let known = (part.examples.len() as f32 / ENOUGH).min(1.0);
        *it = known * *it + (1.0 - known) * (usual + INSTEAD * own);
    }
}

/// What the nearest example prompt adds to a score that counts them on the whole. Worked out only for tools that are
/// near anyway: there may be many examples.
pub(crate) fn nearest(asked: &Asked<'_>, part: &Part, weights: &Weights) -> Option<(f32, f32)> {
    let near = part.examples.iter().map(|it| asked.near(Some(it)));
    let (nearest, more) = spread(near)?;
    let weight = (weights.about + weights.name) * weights.own(true) * weights.nearest;
    Some((
        nearest,
        weight * (more - weights.usual * part.usual_nearest) / weights.all(),
    ))
}
