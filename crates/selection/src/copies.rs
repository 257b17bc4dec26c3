//! Copies of trusted tools that anybody may have made: they come behind what they are copies of, so that nobody draws requests
//! to a tool of their own by saying what another says.

use crate::corpus::Corpus;
use crate::parts::Part;
use crate::ranking::{Ranked, is_meant};
use crate::words::spoken;

/// How alike the meanings of two tools are that say the same in nearly the same words.
const SAME: f32 = 0.9;

/// Behind what it is a copy of, by so little that nothing comes in between.
const BEHIND: f32 = 1e-4;

/// Puts each copy behind the best trusted tool that it is a copy of, and but one of them: others would only crowd out what is
/// different. One that a request calls by its name is meant.
pub(crate) fn sink(corpus: &Corpus, request: &str, ranked: &mut Vec<Ranked>) {
    let part = |it: &Ranked| &*corpus.parts[it.at];
    let trusted: Vec<(usize, f32, String)> = ranked
        .iter()
        .filter(|it| part(it).is_trusted)
        .map(|it| (it.at, it.score, spoken(&part(it).name)))
        .collect();
    if trusted.len() == ranked.len() {
        return;
    }
    let mut has_copy: Vec<usize> = Vec::new();
    let mut last: Vec<Ranked> = Vec::new();
    let mut kept: Vec<Ranked> = Vec::with_capacity(ranked.len());
    for mut it in ranked.drain(..) {
        let own = part(&it);
        let original = (!own.is_trusted && !is_meant(own, request)).then(|| {
            let name = spoken(&own.name);
            let is_same = |(at, _, other): &&(usize, f32, String)| {
                *other == name || says_the_same(own, &corpus.parts[*at])
            };
            trusted.iter().find(is_same)
        });
        if let Some((at, score, _)) = original.flatten() {
            it.copy_of = Some(*at);
            it.score = it.score.min(score - BEHIND);
            if has_copy.contains(at) {
                last.push(it);
                continue;
            }
            has_copy.push(*at);
        }
        kept.push(it);
    }
    kept.sort_by(|a, b| b.score.total_cmp(&a.score));
    let least = kept.last().map_or(0.0, |it| it.score);
    for it in &mut last {
        it.score = it.score.min(least);
    }
    kept.append(&mut last);
    *ranked = kept;
}

fn says_the_same(own: &Part, other: &Part) -> bool {
    match (&own.about, &other.about) {
        (Some(a), Some(b)) => a.dot(b) >= SAME,
        // Without meaning, only what is spelt the same is known to be the same.
        _ => own.spelling == other.spelling,
    }
}
