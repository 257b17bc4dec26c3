//! The tools that somebody is shown, and what words and spellings are worth among them. What is hidden from them counts for
//! nothing: else the figures of an answer would tell which words stand in it.

use crate::bm25;
use crate::corpus::Corpus;
use crate::grams;

/// Some tools of one corpus, and only of that. Costs a look at all tools, so whoever asks often keeps it.
#[derive(Debug, Default)]
pub struct Shown {
    /// Their places, in order.
    pub(crate) places: Vec<usize>,
    pub(crate) words: bm25::Seen,
    pub(crate) spellings: grams::Seen,
    /// Those of the example prompts.
    pub(crate) spelt: grams::Seen,
}

impl Corpus {
    /// The tools that may be seen.
    #[must_use]
    pub fn shown(&self, visible: impl Fn(usize) -> bool) -> Shown {
        let is_shown: Vec<bool> = (0..self.parts.len()).map(visible).collect();
        let places = is_shown.iter().enumerate().filter(|it| *it.1);
        Shown {
            places: places.map(|(at, _)| at).collect(),
            words: self.words.seen(&is_shown),
            spellings: self.spellings.seen(&is_shown),
            spelt: self.spelt.seen(&is_shown),
        }
    }
}
