//! What kind of request something is, whatever tools there are: a linear reading of its vector, worked out from written
//! requests of each kind, so that it fits every encoder.

use crate::dense::Vector;
use crate::kinds::{HANDS, KNOWLEDGE, TALK, THOUGHT, WORK, WORLD};
use crate::vectors::Vectors;
use std::sync::Arc;

pub(crate) const KINDS: usize = 6;
/// The kinds that need a tool.
const WORKS: usize = 4;
const WORLDLY: usize = 5;

/// How smooth the reading is: the higher, the less a single written request matters.
const RIDGE: f64 = 0.6;

/// All written requests, and of which kind each is.
pub(crate) fn written() -> impl Iterator<Item = (&'static str, usize)> {
    let lists: [&[&str]; KINDS] = [&TALK, &KNOWLEDGE, &THOUGHT, &HANDS, &WORK, &WORLD];
    let each =
        |(kind, list): (usize, &'static [&'static str])| list.iter().map(move |it| (*it, kind));
    lists.into_iter().enumerate().flat_map(each)
}

/// Requests about all sorts of things, as people make them: what their vectors have in common says nothing.
pub fn usual_requests() -> impl Iterator<Item = &'static str> {
    written().map(|it| it.0)
}

/// How much a request is of each kind, about 0 to 1: talk, knowledge, thought, hands, work, world.
pub(crate) type Nature = [f32; KINDS];

/// Reads the nature of a request from its vector.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reader {
    directions: Vec<Vector>,
    /// Written requests that need no tool.
    idle: Vec<Arc<Vector>>,
    bias: Nature,
}

impl Reader {
    pub(crate) fn new(vectors: &Vectors) -> Self {
        let texts = written().filter_map(|(text, kind)| Some((vectors.known(text)?, kind)));
        let texts: Vec<(Arc<Vector>, usize)> = texts.collect();
        if texts.is_empty() {
            return Reader::default();
        }
        let near: Vec<Vec<f64>> = texts
            .iter()
            .map(|a| texts.iter().map(|b| f64::from(a.0.dot(&b.0))).collect())
            .collect();
        let Some(factor) = cholesky(near) else {
            return Reader::default();
        };
        let idle = texts
            .iter()
            .filter(|it| it.1 < WORKS)
            .map(|it| Arc::clone(&it.0));
        let mut reader = Reader {
            idle: idle.collect(),
            ..Reader::default()
        };
        for kind in 0..KINDS {
            let share = share(&texts, kind);
            let wanted = texts
                .iter()
                .map(|it| f64::from(u8::from(it.1 == kind)) - share);
            let weights = solve(&factor, wanted.collect());
            let sum = texts
                .iter()
                .zip(&weights)
                .map(|(it, weight)| (&*it.0, narrow(*weight)));
            let Some(direction) = Vector::sum(sum) else {
                return Reader::default();
            };
            reader.directions.push(direction);
            reader.bias[kind] = narrow(share);
        }
        reader
    }

    /// How much a request is about the world as it is just now, from 0.
    pub(crate) fn world(&self, vector: Option<&Vector>) -> f32 {
        self.read(vector)[WORLDLY].max(0.0)
    }

    pub(crate) fn read(&self, vector: Option<&Vector>) -> Nature {
        let mut nature = self.bias;
        let Some(vector) = vector else { return nature };
        for (value, direction) in nature.iter_mut().zip(&self.directions) {
            *value += direction.dot(vector);
        }
        nature
    }

    /// How near the nearest written request is that needs no tool.
    pub(crate) fn idle(&self, vector: Option<&Vector>) -> f32 {
        let near = vector
            .into_iter()
            .flat_map(|it| self.idle.iter().map(|own| own.dot(it)));
        near.fold(0.0, f32::max)
    }
}

#[expect(clippy::cast_precision_loss, reason = "the lists are short")]
fn share(texts: &[(Arc<Vector>, usize)], kind: usize) -> f64 {
    texts.iter().filter(|it| it.1 == kind).count() as f64 / texts.len() as f64
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a weight need not be exact"
)]
fn narrow(number: f64) -> f32 {
    number as f32
}

/// The lower triangle whose square is the matrix with the ridge on it.
fn cholesky(mut rows: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    for at in 0..rows.len() {
        rows[at][at] += RIDGE;
        for other in 0..=at {
            let known: f64 = (0..other).map(|it| rows[at][it] * rows[other][it]).sum();
            let rest = rows[at][other] - known;
            rows[at][other] = match other == at {
                true if rest <= 0.0 => return None,
                true => rest.sqrt(),
                false => rest / rows[other][other],
            };
        }
    }
    Some(rows)
}

fn solve(factor: &[Vec<f64>], mut values: Vec<f64>) -> Vec<f64> {
    for at in 0..values.len() {
        let known: f64 = (0..at).map(|it| factor[at][it] * values[it]).sum();
        values[at] = (values[at] - known) / factor[at][at];
    }
    for at in (0..values.len()).rev() {
        let known: f64 = (at + 1..values.len())
            .map(|it| factor[it][at] * values[it])
            .sum();
        values[at] = (values[at] - known) / factor[at][at];
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::Encode as _;
    use crate::vectors::tests::Words;

    #[test]
    fn a_matrix_is_solved() {
        let matrix = vec![vec![3.0, 1.0], vec![1.0, 2.0]];
        let factor = cholesky(matrix).unwrap();
        let found = solve(&factor, vec![4.0, 5.0]);
        let (a, b) = (found[0], found[1]);
        assert!(((3.0 + RIDGE) * a + b - 4.0).abs() < 1e-9);
        assert!((a + (2.0 + RIDGE) * b - 5.0).abs() < 1e-9);
        assert!(cholesky(vec![vec![-9.0]]).is_none());
    }

    #[test]
    fn a_request_is_of_the_kind_that_it_is_like() {
        let encoder = Words("words");
        let mut vectors = Vectors::default();
        vectors.learn(&encoder, usual_requests());
        let reader = Reader::new(&vectors);
        let read = |request: &str| reader.read(Vector::new(&encoder.encode(request)).as_ref());
        let (hands, work) = (
            read("Wash the dishes, please"),
            read("Find flights from Boston on Friday"),
        );
        assert!(
            hands[3] > work[3] && work[WORKS] > hands[WORKS],
            "{hands:?} {work:?}"
        );
        let knowledge = read("Who wrote Romeo and Juliet?");
        assert!(knowledge[1] > hands[1].max(work[1]), "{knowledge:?}");
        let vector = |request: &str| Vector::new(&encoder.encode(request));
        let world = |request: &str| reader.world(vector(request).as_ref());
        assert!(world("latest news of the election today") > world("Wash the dishes, please"));
        assert!(reader.idle(Vector::new(&encoder.encode("Tell me a joke.")).as_ref()) > 0.99);
    }
}
