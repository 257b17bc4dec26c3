//! From a request to the tools it needs: ranked among those that may be seen, moved by rules, and judged whether to call
//! one at all.

use crate::bringing::Seen;
use crate::clauses::clauses;
use crate::corpus::Corpus;
use crate::features::Features;
use crate::outcome::{Outcome, Verdict, judge};
use crate::rank::Asked;
use crate::ranking::{Ranked, Ranking, Texts};
use crate::shown::Shown;
use crate::signs::spaced;
use crate::values::Given;
use crate::why::Why;
use crate::words::cut;
use std::borrow::Cow;

/// Of a longer request only the beginning and the end are read, so much of both together: what is to be done stands there, and
/// what it is to be done with in between.
const REQUEST_BYTES_MAX: usize = 2_000;
/// And so much of both is compared with tools: in more of a pasted text what is to be done would be lost.
const COMPARED_BYTES_MAX: usize = 600;

/// What a request needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Selection {
    pub outcome: Outcome,
    /// How sure that is, from 0 to 1.
    pub certainty: f32,
    /// What spoke for the outcome.
    pub because: String,
    /// The tools to call, in the order in which the request asks for them. Empty unless something is to be called or
    /// asked for.
    pub tools: Vec<usize>,
    /// The best first.
    pub candidates: Vec<Candidate>,
    pub features: Features,
    /// Whether the meaning of the request counted: it does not where the encoder gave no vector for it.
    pub has_meaning: bool,
    /// Whether only the beginning and the end of the request were read, since it is long.
    pub is_cut: bool,
}

/// A tool that may be right.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its place among the items of the corpus.
    pub at: usize,
    pub score: f32,
    pub why: Why,
}

impl Corpus {
    /// What a request needs among the tools that may be seen. Who asks often keeps what `shown` makes of them.
    #[must_use]
    pub fn select(
        &self,
        request: &str,
        visible: impl Fn(usize) -> bool,
        limit: usize,
    ) -> Selection {
        self.select_among(request, &self.shown(visible), |_| true, limit)
    }

    /// The same among some of the tools that are shown: those that whoever asks names.
    #[must_use]
    pub fn select_among(
        &self,
        request: &str,
        shown: &Shown,
        named: impl Fn(usize) -> bool,
        limit: usize,
    ) -> Selection {
        self.chosen(request, shown, &named, limit, false)
    }

    fn chosen(
        &self,
        request: &str,
        shown: &Shown,
        named: &dyn Fn(usize) -> bool,
        limit: usize,
        is_part: bool,
    ) -> Selection {
        let read = Read::new(request);
        let texts = self.texts(&read.compared);
        let is_cut = read.is_cut;
        let request = &*read.whole;
        let given = Given::new(request);
        let whole = Ranking::new(self, &texts, shown, named);
        let mut ranked = whole.ranked(&given);
        let needed = whole.needed(&ranked);
        let top = whole.top(&given, &ranked, &needed);
        let features = Features::new(request, &given, &top);
        let verdict = match ranked.is_empty() {
            true => Verdict::nothing(),
            false => judge(&features),
        };
        let verdict = match verdict.outcome {
            // A part is not taken apart again: a long request would cost ever more.
            Outcome::None if needed.len() > 1 && !is_part => {
                self.in_parts(&texts, shown, named).unwrap_or(verdict)
            }
            _ => verdict,
        };
        let tools = match verdict.outcome {
            Outcome::None => Vec::new(),
            Outcome::Ask => ranked.first().map(|it| it.at).into_iter().collect(),
            Outcome::Call => needed,
        };
        ranked.truncate(limit);
        let explain = |it: Ranked| Candidate {
            at: it.at,
            score: it.score,
            why: whole.why(it),
        };
        Selection {
            outcome: verdict.outcome,
            certainty: verdict.certainty,
            because: verdict.because,
            tools,
            candidates: ranked.into_iter().map(explain).collect(),
            features,
            has_meaning: texts.asked[0].vector.is_some(),
            is_cut,
        }
    }

    /// A request of several parts may fit no tool as a whole: where each of them is to be called by itself, all are.
    fn in_parts(
        &self,
        texts: &Texts<'_>,
        shown: &Shown,
        named: &dyn Fn(usize) -> bool,
    ) -> Option<Verdict> {
        let mut certainty: f32 = 1.0;
        for clause in &texts.asked[1..] {
            let part = self.chosen(&clause.text, shown, named, 1, true);
            if part.outcome != Outcome::Call {
                return None;
            }
            certainty = certainty.min(part.certainty);
        }
        let because = "each part of the request has a tool of its own".to_owned();
        Some(Verdict {
            outcome: Outcome::Call,
            certainty,
            because,
        })
    }

    /// The tools that a request needs, were it certain that it needs any.
    #[must_use]
    pub fn needed(&self, request: &str, visible: impl Fn(usize) -> bool) -> Vec<usize> {
        let read = Read::new(request);
        let shown = self.shown(visible);
        let texts = self.texts(&read.compared);
        let whole = Ranking::new(self, &texts, &shown, |_| true);
        whole.needed(&whole.ranked(&Given::new(&read.whole)))
    }

    /// The tool that fits each clause of a request best, and what is seen of both: what `scripts/train-clauses` learns from.
    #[must_use]
    pub fn of_clauses(&self, request: &str, visible: impl Fn(usize) -> bool) -> Vec<(usize, Seen)> {
        let read = Read::new(request);
        let shown = self.shown(visible);
        let texts = self.texts(&read.compared);
        let whole = Ranking::new(self, &texts, &shown, |_| true);
        whole.of_clauses(&whole.ranked(&Given::new(&read.whole)))
    }

    fn texts<'a>(&self, request: &'a str) -> Texts<'a> {
        let clauses = match self.weights.clauses > 0.0 {
            true => clauses(request),
            false => Vec::new(),
        };
        let all = std::iter::once(request).chain(clauses.iter().copied());
        Texts {
            asked: Asked::all(all, self),
            clauses,
        }
    }
}

/// What is read of a request.
struct Read<'a> {
    whole: Cow<'a, str>,
    compared: Cow<'a, str>,
    is_cut: bool,
}

impl<'a> Read<'a> {
    fn new(request: &'a str) -> Self {
        let request = request.trim();
        let read = |most: usize| match request.len() > most {
            true => Cow::Owned(spaced(&ends(request, most)).into_owned()),
            false => spaced(request),
        };
        Read {
            whole: read(REQUEST_BYTES_MAX),
            compared: read(COMPARED_BYTES_MAX),
            is_cut: request.len() > REQUEST_BYTES_MAX,
        }
    }
}

/// The beginning and the end of a text that is longer.
fn ends(text: &str, bytes_max: usize) -> String {
    let end = text.ceil_char_boundary(text.len() - bytes_max / 2);
    format!("{}\n{}", cut(text, bytes_max / 2), &text[end..])
}

#[cfg(test)]
mod tests;
