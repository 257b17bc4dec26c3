//! What tools that anybody may have made do not gain beside trusted ones: copies come behind what they are copies of, and
//! example prompts count for nothing against a tool that fits better by what it says of itself. So nobody draws requests to a
//! tool of their own by saying what another says, or by writing down what is asked of it.

use crate::corpus::Corpus;
use crate::parts::Part;
use crate::rank::Asked;
use crate::ranking::{Ranked, is_meant};
use crate::words::spoken;

/// How alike the meanings of two tools are that say the same in nearly the same words.
const SAME: f32 = 0.9;

/// Behind what it is a copy of, by so little that nothing comes in between.
const BEHIND: f32 = 1e-4;

/// How well a trusted tool must fit by what it says of itself, so that the example prompts of others count for nothing beside it.
const FITS: f32 = 0.3;

/// Puts each copy behind the best trusted tool that it is a copy of, and but one of them: others would only crowd out what is
/// different. One that a request calls by its name is meant.
pub(crate) fn sink(corpus: &Corpus, asked: &Asked<'_>, ranked: &mut Vec<Ranked>) {
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
        let original = (!own.is_trusted && !is_meant(own, &asked.text)).then(|| {
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
        } else {
            let others = trusted.iter().map(|it| it.0);
            let better = yields_to(corpus, asked, it.at, others);
            if let Some((at, score, _)) = trusted.iter().find(|it| Some(it.0) == better) {
                it.copy_of = Some(*at);
                it.score = it.score.min(score - BEHIND);
            }
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

/// The first of some trusted tools that a request is nearer to, by what both say of themselves, than to one that anybody may
/// have made and has example prompts.
pub(crate) fn yields_to(
    corpus: &Corpus,
    asked: &Asked<'_>,
    at: usize,
    mut trusted: impl Iterator<Item = usize>,
) -> Option<usize> {
    let own = &*corpus.parts[at];
    if own.is_trusted || own.examples.is_empty() || is_meant(own, &asked.text) {
        return None;
    }
    let near = |part: &Part| {
        let said = [&part.about, &part.user].map(|it| asked.near(it.as_deref()));
        said[0].max(said[1])
    };
    let least = near(own).max(FITS);
    trusted.find(|it| near(&corpus.parts[*it]) > least)
}

fn says_the_same(own: &Part, other: &Part) -> bool {
    match (&own.about, &other.about) {
        (Some(a), Some(b)) => a.dot(b) >= SAME,
        // Without meaning, only what is spelt the same is known to be the same.
        _ => own.spelling == other.spelling,
    }
}
