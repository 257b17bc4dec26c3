//! The tools that a request needs: that of each clause which brings one, or else the one that fits the whole best.

use crate::bringing::{Around, Best, Seen};
use crate::copies;
use crate::rank::{Asked, Signals};
use crate::ranking::{Closer, Ranked, Ranking, split_rest};
use crate::values::Given;

/// Of a clause so many: what it asks for is mostly the first of them.
const CLOSE_CLAUSE: usize = 8;

impl Ranking<'_> {
    /// The few that fit a clause best at first sight.
    fn nearest_places(&self, scores: &[f32]) -> Vec<usize> {
        let mut places = self.places.clone();
        split_rest(&mut places, CLOSE_CLAUSE, |a, b| {
            scores[*b].total_cmp(&scores[*a]).then(a.cmp(b))
        });
        places
    }

    /// The tools of all clauses; the best one, where the request is one.
    pub(crate) fn needed(&self, ranked: &[Ranked]) -> Vec<usize> {
        let first = ranked.first().map(|it| it.at);
        let mut tools: Vec<usize> = Vec::new();
        for (at, seen) in self.of_clauses(ranked) {
            if seen.brings() && !tools.contains(&at) {
                tools.push(at);
            }
        }
        match (tools.len(), first) {
            (0 | 1, Some(first)) => vec![first],
            _ => tools,
        }
    }

    /// The tool that fits each clause best, and what is seen of both.
    pub(crate) fn of_clauses(&self, ranked: &[Ranked]) -> Vec<(usize, Seen)> {
        let clauses = self.signals.iter().zip(&self.texts.asked).skip(1);
        let found = clauses.map(|(signals, asked)| self.of_clause(signals, asked, ranked));
        let found: Vec<Option<Best>> = found.collect();
        let scores = found.iter().flatten().map(|it| it.score);
        let most = scores.fold(0.0, f32::max);
        let whole = ranked.first().map_or(0.0, |it| it.score).max(1e-6);
        let seen = |(place, best): (usize, &Option<Best>)| {
            let best = best.as_ref()?;
            let others = found.iter().enumerate().filter(|it| it.0 != place);
            let around = Around {
                most,
                whole: ranked
                    .iter()
                    .find(|it| it.at == best.at)
                    .map_or(0.0, |it| it.score / whole),
                is_first_of_whole: ranked.first().is_some_and(|it| it.at == best.at),
                is_tool_of_another: others.flat_map(|it| it.1.iter()).any(|it| it.at == best.at),
                at: place,
                count: found.len(),
            };
            let clause = self.texts.clauses[place];
            Some((best.at, Seen::new(clause, best, &around)))
        };
        found.iter().enumerate().filter_map(seen).collect()
    }

    fn of_clause(&self, signals: &Signals, asked: &Asked<'_>, ranked: &[Ranked]) -> Option<Best> {
        let corpus = self.corpus;
        let original = |at: usize| {
            let found = ranked.iter().find(|it| it.at == at);
            found.and_then(|it| it.copy_of).unwrap_or(at)
        };
        let given = Given::new(&asked.text);
        let closer = Closer::new(corpus, asked, &given);
        let near = self.nearest_places(&signals.scores);
        let looked = near.into_iter().map(|at| {
            let at = original(at);
            let (score, example) = closer.look(at, signals.scores[at], asked);
            (at, score, example)
        });
        let mut looked: Vec<(usize, f32, Option<f32>)> = looked.collect();
        looked.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (at, score, example) = *looked.first()?;
        let second = looked.iter().find(|it| it.0 != at);
        let others = looked.iter().map(|it| it.0);
        let trusted = others.filter(|it| corpus.parts[*it].is_trusted);
        let at = copies::yields_to(corpus, asked, at, trusted).unwrap_or(at);
        let part = &corpus.parts[at];
        let about = [&part.about, &part.user].map(|it| asked.near(it.as_deref()));
        Some(Best {
            at,
            score,
            margin: second.map_or(0.0, |it| score - it.1),
            example: example.unwrap_or(0.0),
            meaning: about[0].max(about[1]),
            lacks: part.slots.fill(&given).loss(),
            takes: part.slots.takes(&given),
            deed: closer.agrees(part.deed),
            nature: corpus.reader.read(asked.vector.as_ref(), &asked.turns),
        })
    }
}
