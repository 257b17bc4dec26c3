//! What trusted descriptions say about when to take which tool, applied to a ranking.

use crate::corpus::Corpus;
use crate::parts::Part;
use crate::preference::{Kind, Rule};
use crate::rank::Asked;
use crate::ranking::Ranked;
use crate::words::spoken;

/// A rule moves only what is near the top anyway: it decides between tools that fit, and brings in no stranger.
const REACH: usize = 5;

/// What a tool loses where it says that it is not for this, or only for something else: so little that it decides between
/// tools that fit alike. Requests are often near to neither, most of all in another language.
const NOT_FOR: f32 = 0.04;
const ONLY_FOR: f32 = 0.01;

/// How near a request must at least be to a condition.
const NEAR: f32 = 0.25;

/// How much nearer it must be to a condition than to the tool that names another: what a tool is for is said in its
/// description, and often in another language than the request.
const CLEARLY: f32 = 0.08;

/// So near to a condition that it holds where the request is nearly as near to the tool: it asks for what the tool does, in that
/// case.
const SURELY: f32 = 0.36;
const CLOSELY: f32 = 0.06;

/// How far it must at least be from the only thing that a tool is for.
const FAR: f32 = 0.05;

pub(crate) fn apply(corpus: &Corpus, asked: &Asked<'_>, ranked: &mut [Ranked]) {
    let reach = ranked.len().min(REACH);
    let near = &mut ranked[..reach];
    for it in near.iter_mut() {
        lose(corpus, asked, it);
    }
    near.sort_by(|a, b| b.score.total_cmp(&a.score));
    let hosts: Vec<usize> = near.iter().map(|it| it.at).collect();
    for host in hosts {
        let part = &corpus.parts[host];
        for (rule, when) in &part.rules {
            let own = own(part, asked);
            let holds = rule.condition.is_empty() || {
                let distance = asked.near(when.as_deref());
                let clearly = distance >= NEAR && distance >= own + CLEARLY;
                clearly || (distance >= SURELY && distance >= own - CLOSELY)
            };
            if holds {
                prefer(corpus, rule, host, near);
            }
        }
    }
}

/// How near a request is to what a tool says of itself, or to what it is asked for.
fn own(part: &Part, asked: &Asked<'_>) -> f32 {
    let examples = part.examples.iter().map(|it| asked.near(Some(it)));
    let said = [&part.about, &part.user].map(|it| asked.near(it.as_deref()));
    examples.chain(said).fold(0.0, f32::max)
}

/// `not for W` where the request is nearer to W than to the tool; `only for X` where it is near to neither.
fn lose(corpus: &Corpus, asked: &Asked<'_>, it: &mut Ranked) {
    let part = &corpus.parts[it.at];
    let own = own(part, asked);
    for (rule, when) in &part.rules {
        let distance = asked.near(when.as_deref());
        let (loses, loss, said) = match rule.kind {
            Kind::Not => (distance >= NEAR && distance >= own, NOT_FOR, "not for"),
            // What it is only for stands in its description, too; here is but a nudge.
            Kind::Only => (distance < FAR && distance < own, ONLY_FOR, "only for"),
            Kind::Own | Kind::Prefer(_) => (false, 0.0, ""),
        };
        if loses {
            it.score -= loss;
            it.rule = Some(format!("says it is {said} {}", rule.condition));
        }
    }
}

/// Puts the tool that a rule names before the one that names it.
fn prefer(corpus: &Corpus, rule: &Rule, host: usize, near: &mut [Ranked]) {
    let place = |at: usize, near: &[Ranked]| near.iter().position(|it| it.at == at);
    let (target, before) = match &rule.kind {
        Kind::Prefer(name) => (named(corpus, name, near), place(host, near)),
        Kind::Own => (Some(host), Some(0)),
        Kind::Only | Kind::Not => return,
    };
    let from = target.and_then(|target| place(target, near));
    let (Some(from), Some(to)) = (from, before) else {
        return;
    };
    if from > to {
        let (displaced, score) = (near[to].at, near[to].score);
        near[to..=from].rotate_right(1);
        near[to].score = score + 1e-4;
        near[to].instead_of = Some(displaced);
        let name = &corpus.parts[host].name;
        let when = match rule.condition.as_str() {
            "" => "always".to_owned(),
            condition => format!("if {condition}"),
        };
        near[to].rule = Some(format!("preferred by {name} {when}"));
    }
}

/// The tool that a rule calls so, if it is near: by its very name, or else the only trusted one whose name is spoken so. Anybody
/// may give a tool a name that is spoken like another's.
fn named(corpus: &Corpus, name: &str, near: &[Ranked]) -> Option<usize> {
    let part = |it: &&Ranked| &*corpus.parts[it.at];
    let exact = near.iter().find(|it| part(it).name == name);
    if let Some(exact) = exact {
        return Some(exact.at);
    }
    let name = spoken(name);
    let is_called = |it: &&Ranked| part(it).is_trusted && spoken(&part(it).name) == name;
    let mut found = near.iter().filter(is_called);
    let only = found.next()?;
    found.next().is_none().then_some(only.at)
}
