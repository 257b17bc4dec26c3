//! The tools that may be seen, in the order in which they fit a request, and what is known of the first of them.

use crate::copies;
use crate::corpus::Corpus;
use crate::deed;
use crate::features::Top;
use crate::parts::Part;
use crate::preference::is_identifier;
use crate::rank::{Asked, Signals, nearest};
use crate::rules;
use crate::shown::Shown;
use crate::sums::Sum;
use crate::values::Given;
use crate::why::Why;
use std::cmp::Ordering;

/// So many are looked at closely.
const CLOSE: usize = 48;
/// And so many more of trusted tools, where others might have crowded them out.
const CLOSE_TRUSTED: usize = 8;

/// What a request gains for a tool that it calls by its name.
const CALLED: f32 = 0.5;

/// What a tool gains that takes all that the request gives and only some tools take: an address, a file, a number of
/// an order. One that takes nothing of it loses as much.
const TAKES: f32 = 0.04;

/// What a tool loses of which nothing that it needs is given. One that needs nothing loses half of it: that nothing is
/// missing says little there.
const LACKS: f32 = 0.055;

/// What a tool gains that looks something up where the request surely asks for that, or does something where it asks for
/// that. The other way round it loses as much. Less where only lists of words tell.
const DEED: f32 = 0.05;
const DEED_BY_WORDS: f32 = 0.02;

/// A tool while it is looked at closely.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    pub(crate) at: usize,
    pub(crate) score: f32,
    /// Of the texts that were asked, the one that it fits best.
    text: usize,
    example: Option<f32>,
    pub(crate) rule: Option<String>,
    /// The trusted tool that this one is nearly the same as.
    pub(crate) copy_of: Option<usize>,
    /// The tool that a rule has put this one before.
    pub(crate) instead_of: Option<usize>,
}

/// The request, and its clauses if it has several.
pub(crate) struct Texts<'a> {
    pub(crate) asked: Vec<Asked<'a>>,
    /// The clauses as they stand there, with what joins them.
    pub(crate) clauses: Vec<&'a str>,
}

pub(crate) struct Ranking<'a> {
    pub(crate) corpus: &'a Corpus,
    pub(crate) texts: &'a Texts<'a>,
    /// The places of the tools that are ranked.
    pub(crate) places: Vec<usize>,
    pub(crate) signals: Vec<Signals>,
}

impl<'a> Ranking<'a> {
    pub(crate) fn new(
        corpus: &'a Corpus,
        texts: &'a Texts<'a>,
        shown: &Shown,
        named: impl Fn(usize) -> bool,
    ) -> Self {
        let signals = texts.asked.iter();
        let places = shown.places.iter().copied();
        Ranking {
            corpus,
            texts,
            places: places.filter(|at| named(*at)).collect(),
            signals: signals.map(|it| Signals::new(it, corpus, shown)).collect(),
        }
    }

    /// The best in order, as rules would have it.
    pub(crate) fn ranked(&self, given: &Given) -> Vec<Ranked> {
        let mut ranked = self.close(given);
        copies::sink(self.corpus, &self.texts.asked[0], &mut ranked);
        rules::apply(self.corpus, &self.texts.asked[0], &mut ranked);
        ranked
    }

    /// How well a tool fits the text that it fits best, and which that is.
    fn best(&self, at: usize, clause: f32) -> (usize, f32) {
        let weight = |text: usize| if text == 0 { 1.0 } else { clause };
        let scores = self.signals.iter().enumerate();
        let scores = scores.map(|(text, it)| (text, weight(text) * it.scores[at]));
        scores
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or((0, 0.0))
    }

    /// The places and scores of the best. Of all tools no more is kept than that: there may be many.
    fn best_of_all(&self) -> Vec<(usize, f32)> {
        let clause = self.corpus.weights.clauses;
        let is_trusted = |at: usize| self.corpus.parts[at].is_trusted;
        let first = |a: &(usize, f32), b: &(usize, f32)| {
            let by_trust = || is_trusted(b.0).cmp(&is_trusted(a.0));
            b.1.total_cmp(&a.1).then_with(by_trust).then(a.0.cmp(&b.0))
        };
        let places = self.places.iter();
        let mut best: Vec<(usize, f32)> =
            places.map(|at| (*at, self.best(*at, clause).1)).collect();
        let mut rest = split_rest(&mut best, CLOSE, first);
        // However many copies of a tool anybody makes, it is looked at itself.
        rest.retain(|it| is_trusted(it.0));
        split_rest(&mut rest, CLOSE_TRUSTED, first);
        if best.iter().any(|it| !is_trusted(it.0)) {
            best.append(&mut rest);
        }
        best
    }

    fn close(&self, given: &Given) -> Vec<Ranked> {
        let corpus = self.corpus;
        let clause = corpus.weights.clauses;
        let whole = Closer::new(corpus, &self.texts.asked[0], given);
        let rank = |(at, score): (usize, f32)| {
            let text = self.best(at, clause).0;
            let (score, example) = whole.look(at, score, &self.texts.asked[text]);
            Ranked {
                at,
                score,
                text,
                example,
                rule: None,
                copy_of: None,
                instead_of: None,
            }
        };
        let mut ranked: Vec<Ranked> = self.best_of_all().into_iter().map(rank).collect();
        ranked.sort_unstable_by(|a, b| {
            let is_trusted = |it: &Ranked| corpus.parts[it.at].is_trusted;
            let by_trust = is_trusted(b).cmp(&is_trusted(a));
            b.score
                .total_cmp(&a.score)
                .then(by_trust)
                .then(a.at.cmp(&b.at))
        });
        ranked
    }

    /// What is known of the best one, against all others that may be seen. One that a rule has put there fits as well as
    /// the one that it was put before: what the rule is about is asked for in that one's words. A tool that another clause needs
    /// takes nothing from it: that both fit is no doubt about either.
    pub(crate) fn top(&self, given: &Given, ranked: &[Ranked], needed: &[usize]) -> Top {
        let Some(first) = ranked.first() else {
            return Top::default();
        };
        let is_beside = |at: usize| at != first.at && needed.contains(&at);
        let (mean, spread) = self.spread(|at| !is_beside(at));
        let host = first
            .instead_of
            .and_then(|host| ranked.iter().find(|it| it.at == host));
        let own = self.fit(first);
        let fit = host.map_or(own, |host| own.or_better(self.fit(host)));
        let is_other = |it: &&Ranked| {
            let is_same = it.copy_of == Some(first.at) || Some(it.at) == first.instead_of;
            !is_same && !is_beside(it.at)
        };
        let second = ranked[1..].iter().find(is_other);
        let part = &self.corpus.parts[first.at];
        let asked = &self.texts.asked[0];
        let sum = Sum::new(&asked.text);
        Top {
            is_sum: sum.is_whole(),
            does_sum: sum.is_done_by(part.operations),
            about: fit.about,
            name: fit.name,
            example: fit.example,
            words: fit.words,
            spelling: fit.spelling,
            score: fit.score,
            above: (fit.score - mean) / spread,
            margin: first.score - second.map_or(mean, |it| it.score),
            shown: self.places.len(),
            filled: part.slots.fill(given),
            usual: part.slots.usual[usize::from(given.is_korean)],
            lacks: part.slots.lacks(given),
            world: part.world,
            asked_deed: deed::of_request(&asked.text),
            deed: part.deed,
            nature: self.corpus.reader.read(asked.vector.as_ref(), &asked.turns),
            usual_nature: part.natures[usize::from(given.is_korean)],
        }
    }

    fn fit(&self, it: &Ranked) -> Fit {
        let (part, asked) = (&self.corpus.parts[it.at], &self.texts.asked[0]);
        let whole = &self.signals[0];
        Fit {
            about: asked
                .near(part.about.as_deref())
                .max(asked.near(part.user.as_deref())),
            name: asked.near(part.named.as_deref()),
            example: it.example,
            words: whole.words(it.at),
            spelling: whole.spelling(it.at),
            score: whole.scores[it.at],
        }
    }

    /// The mean and the spread of the scores of some.
    #[expect(clippy::cast_precision_loss, reason = "a mean need not be exact")]
    fn spread(&self, counts: impl Fn(usize) -> bool) -> (f32, f32) {
        let places = self.places.iter().filter(|at| counts(**at));
        let scores = places.map(|at| self.signals[0].scores[*at]);
        let count = scores.clone().count().max(1) as f32;
        let mean = scores.clone().sum::<f32>() / count;
        let square = scores.map(|it| (it - mean).powi(2)).sum::<f32>() / count;
        (mean, square.sqrt().max(0.02))
    }

    pub(crate) fn why(&self, ranked: Ranked) -> Why {
        let part = &self.corpus.parts[ranked.at];
        let asked = &self.texts.asked[ranked.text];
        let signals = &self.signals[ranked.text];
        let mut matched: Vec<String> = Vec::new();
        for word in &asked.words {
            if !word.is_common && part.bag.has(word.key) && !matched.contains(&word.text) {
                matched.push(word.text.clone());
            }
        }
        Why {
            meaning: asked.near(part.about.as_deref()).max(0.0),
            words: signals.words(ranked.at),
            matched,
            spelling: signals.spelling(ranked.at),
            example: ranked.example,
            clause: (ranked.text > 0).then(|| asked.text.clone().into_owned()),
            rule: ranked.rule,
        }
    }
}

/// Leaves the first few, in no order, and gives back the rest.
pub(crate) fn split_rest<T>(
    all: &mut Vec<T>,
    few: usize,
    first: impl Fn(&T, &T) -> Ordering,
) -> Vec<T> {
    if all.len() <= few {
        return Vec::new();
    }
    all.select_nth_unstable_by(few, first);
    all.split_off(few)
}

/// What a request asks to be done and gives for it, beside what each tool does and takes.
pub(crate) struct Closer<'a> {
    corpus: &'a Corpus,
    asked: &'a Asked<'a>,
    given: &'a Given,
    deed: f32,
    sum: Sum,
}

impl<'a> Closer<'a> {
    pub(crate) fn new(corpus: &'a Corpus, asked: &'a Asked<'a>, given: &'a Given) -> Self {
        Closer {
            corpus,
            asked,
            given,
            deed: match corpus.reader.deed(asked.vector.as_ref(), &asked.turns) {
                Some(read) => DEED * read,
                None => DEED_BY_WORDS * deed::of_request(&asked.text),
            },
            sum: Sum::new(&asked.text),
        }
    }

    /// Whether a tool does what is asked for, looking something up or doing it, as surely as that can be told.
    pub(crate) fn agrees(&self, deed: f32) -> f32 {
        (self.deed * deed / DEED).clamp(-1.0, 1.0)
    }

    /// The score with what a close look adds, and how near the nearest example is to a text of the request.
    pub(crate) fn look(&self, at: usize, mut score: f32, text: &Asked<'_>) -> (f32, Option<f32>) {
        let part = &self.corpus.parts[at];
        let weights = &self.corpus.weights;
        let found = nearest(text, part, weights);
        score += found.map_or(0.0, |it| it.1);
        score += text.better(part, weights);
        score += TAKES * part.slots.takes(self.given);
        score += self.deed * part.deed;
        score -= LACKS * part.slots.fill(self.given).loss();
        score += self.sum.gain(part.operations);
        if part.slots.counts() {
            score -= self.sum.loss(part.operations);
        }
        if is_meant(part, &self.asked.text) {
            score += CALLED;
        }
        (score, found.map(|it| it.0))
    }
}

/// How well a tool fits a request.
#[derive(Clone, Copy)]
struct Fit {
    about: f32,
    name: f32,
    example: Option<f32>,
    words: f32,
    spelling: f32,
    score: f32,
}

impl Fit {
    /// Each the better of both.
    fn or_better(self, other: Fit) -> Fit {
        Fit {
            about: self.about.max(other.about),
            name: self.name.max(other.name),
            example: match (self.example, other.example) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (a, b) => a.or(b),
            },
            words: self.words.max(other.words),
            spelling: self.spelling.max(other.spelling),
            score: self.score.max(other.score),
        }
    }
}

/// Whether a request calls a tool by its name. One that anybody may have made must be called as a tool, by a name that nobody
/// writes by chance: `gmail.com` or `order_id` would have every request that speaks of it.
pub(crate) fn is_meant(part: &Part, request: &str) -> bool {
    match part.is_trusted {
        true => is_identifier(&part.name) && called(request, &part.name).next().is_some(),
        false => {
            part.name.contains('_')
                && called(request, &part.name).any(|(before, after)| is_used(before, after))
        }
    }
}

/// Whether what stands around a name says that it is to be used: `use send_mail to`, `send_mail 도구로`.
fn is_used(before: &str, after: &str) -> bool {
    let marks = |c: char| c.is_whitespace() || "`'\"".contains(c);
    let before = before.trim_end_matches(marks).to_ascii_lowercase();
    let last = before
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or_default();
    let is_told = matches!(
        last,
        "use" | "call" | "run" | "invoke" | "execute" | "try" | "tool"
    );
    let after = after.trim_start_matches(marks);
    let particle = ["으로", "로", "을", "를"];
    let object = particle.iter().find_map(|it| after.strip_prefix(it));
    let verb = object.map(str::trim_start);
    let verbs = ["써", "쓰", "사용", "호출", "실행", "이용", "돌려"];
    is_told
        || ["tool", "function", "도구"]
            .iter()
            .any(|it| after.starts_with(it))
        || verb.is_some_and(|verb| verbs.iter().any(|it| verb.starts_with(it)))
}

/// What stands around a name, wherever a text has it as a word of its own and not in an address.
fn called<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '@' | '/' | '-');
    let found = text.match_indices(name);
    let around = found.map(move |(at, _)| (&text[..at], &text[at + name.len()..]));
    around.filter(move |(before, after)| !before.ends_with(is_part) && !after.starts_with(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_called_where_it_stands_by_itself() {
        for (text, name, expected) in [
            ("use get_order for A-1", "get_order", true),
            ("get_order를 써줘", "get_order", true),
            ("get_orders for A-1", "get_order", false),
            ("mail to kim@gmail.com", "gmail.com", false),
            ("open https://a.example/get_order", "get_order", false),
        ] {
            assert_eq!(called(text, name).next().is_some(), expected, "{text}");
        }
    }

    #[test]
    fn a_tool_is_used_where_somebody_says_so() {
        for (text, name, expected) in [
            ("Use send_mail for this", "send_mail", true),
            ("please run `send_mail`", "send_mail", true),
            ("with the send_mail tool", "send_mail", true),
            ("send_mail을 써줘", "send_mail", true),
            ("send_mail로 보내고 싶어", "send_mail", false),
            ("find the order with order_id 5", "order_id", false),
            ("order_id로 조회해줘", "order_id", false),
        ] {
            let found = called(text, name).any(|(before, after)| is_used(before, after));
            assert_eq!(found, expected, "{text}");
        }
    }
}
