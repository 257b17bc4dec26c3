//! What kind of request something is, whatever tools there are: a linear reading of its vector and of how it is worded. For
//! the encoder of this program it is trained by `scripts/train-outcome`; for any other it is worked out from the vectors of
//! written requests of each kind.

use crate::dense::Vector;
use crate::kinds::{HANDS, KNOWLEDGE, TALK, THOUGHT, UNSAID, WORK, WORLD};
use crate::turns::{SLOTS, Turns};
use crate::vectors::Vectors;
use std::sync::Arc;

/// Idle: it needs no tool. World: how the world is just now. Then work that says all, and work that does not.
pub(crate) const KINDS: usize = 4;
const WORLDLY: usize = 1;

/// For which encoder it was trained, and what came of it: of each kind, and last of looking and doing, what it has without any
/// vector, its vector, and what each turn of phrase says of it.
pub const ENCODER: &str = "use-multilingual-3";
const TRAINED: &[u8] = include_bytes!("nature.bin");

/// How smooth the reading is: the higher, the less a single written request matters.
const RIDGE: f64 = 0.6;

/// What is read of a request that is of a kind, and of one that is not: about as far apart as what is trained.
const IS: f64 = 4.0;
const IS_NOT: f64 = -1.0;

/// All written requests, and of which kind each is, by its place among them.
pub fn written() -> impl Iterator<Item = (&'static str, usize)> {
    let lists: [(usize, &[&str]); 7] = [
        (0, &TALK),
        (0, &KNOWLEDGE),
        (0, &THOUGHT),
        (0, &HANDS),
        (WORLDLY, &WORLD),
        (2, &WORK),
        (3, &UNSAID),
    ];
    let each =
        |(kind, list): (usize, &'static [&'static str])| list.iter().map(move |it| (*it, kind));
    lists.into_iter().flat_map(each)
}

/// Requests about all sorts of things, as people make them: what their vectors have in common says nothing.
pub fn usual_requests() -> impl Iterator<Item = &'static str> {
    written().map(|it| it.0)
}

/// Those that a reading for this encoder is worked out from: none, where it was trained.
pub(crate) fn read_from(encoder: &str) -> impl Iterator<Item = &'static str> + use<> {
    let is_trained = encoder == ENCODER;
    usual_requests().filter(move |_| !is_trained)
}

/// How much speaks for each kind; the more, the higher.
pub(crate) type Nature = [f32; KINDS];

/// What each turn of phrase says of a kind, used where it lies in the program.
#[derive(Clone, Debug)]
struct Said {
    step: f32,
    bytes: &'static [u8],
}

impl Said {
    fn read(bytes: &'static [u8]) -> Option<(Self, &'static [u8])> {
        let (step, rest) = bytes.split_first_chunk::<4>()?;
        let (bytes, rest) = rest.split_at_checked(SLOTS)?;
        let step = f32::from_le_bytes(*step);
        Some((Said { step, bytes }, rest))
    }

    fn of(&self, turns: &Turns) -> f32 {
        let byte = |slot: &u16| self.bytes.get(usize::from(*slot)).copied();
        let number = |it: u8| f32::from(i8::from_le_bytes([it]));
        let sum: f32 = turns.slots().iter().filter_map(byte).map(number).sum();
        turns.each() * self.step * sum
    }
}

/// What was trained for one thing that may be so of a request.
#[derive(Clone, Debug)]
struct Reading {
    bias: f32,
    direction: Vector,
    said: Said,
}

impl Reading {
    fn read(bytes: &'static [u8]) -> Option<(Self, &'static [u8])> {
        let (bias, rest) = bytes.split_first_chunk::<4>()?;
        let (direction, rest) = Vector::read(rest)?;
        let (said, rest) = Said::read(rest)?;
        let bias = f32::from_le_bytes(*bias);
        Some((
            Reading {
                bias,
                direction,
                said,
            },
            rest,
        ))
    }

    fn of(&self, vector: &Vector, turns: &Turns) -> f32 {
        self.bias + self.direction.dot(vector) + self.said.of(turns)
    }
}

/// Reads the nature of a request from its vector.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reader {
    directions: Vec<Vector>,
    /// Of the same kinds; none where nobody trained it.
    turns: Vec<Said>,
    bias: Nature,
    /// Whether something is to be looked up or to be done; none where nobody trained it.
    deed: Option<Reading>,
}

impl Reader {
    pub(crate) fn new(encoder: &str, vectors: &Vectors) -> Self {
        match encoder == ENCODER {
            true => Reader::trained(TRAINED),
            false => Reader::worked_out(vectors),
        }
        .unwrap_or_default()
    }

    /// Whether it is finer than what a few written requests tell.
    pub(crate) fn is_trained(&self) -> bool {
        self.deed.is_some()
    }

    fn trained(mut bytes: &'static [u8]) -> Option<Self> {
        let mut reader = Reader::default();
        for bias in &mut reader.bias {
            let (kind, rest) = Reading::read(bytes)?;
            *bias = kind.bias;
            reader.directions.push(kind.direction);
            reader.turns.push(kind.said);
            bytes = rest;
        }
        reader.deed = Some(Reading::read(bytes)?.0);
        Some(reader)
    }

    fn worked_out(vectors: &Vectors) -> Option<Self> {
        let texts = written().filter_map(|(text, kind)| Some((vectors.known(text)?, kind)));
        let texts: Vec<(Arc<Vector>, usize)> = texts.collect();
        // While vectors are still made, what is known may be all of one kind, and everything would be read as that.
        if !(0..KINDS).all(|kind| texts.iter().any(|it| it.1 == kind)) {
            return None;
        }
        let near = |a: &Vector| texts.iter().map(|b| f64::from(a.dot(&b.0))).collect();
        let near: Vec<Vec<f64>> = texts.iter().map(|it| near(&it.0)).collect();
        let factor = cholesky(near)?;
        let mut reader = Reader::default();
        for kind in 0..KINDS {
            let share = share(&texts, kind);
            let mean = IS_NOT + share * (IS - IS_NOT);
            let wanted = |it: &(Arc<Vector>, usize)| if it.1 == kind { IS } else { IS_NOT };
            let wanted = texts.iter().map(|it| wanted(it) - mean);
            let weights = solve(&factor, wanted.collect());
            let sum = texts
                .iter()
                .zip(&weights)
                .map(|(it, weight)| (&*it.0, narrow(*weight)));
            reader.directions.push(Vector::sum(sum)?);
            reader.bias[kind] = narrow(mean);
        }
        Some(reader)
    }

    /// How likely a request is about the world as it is just now, from 0 to 1.
    pub(crate) fn world(&self, vector: Option<&Vector>, turns: &Turns) -> f32 {
        match vector {
            Some(_) if !self.directions.is_empty() => worldly(&self.read(vector, turns)),
            _ => 0.0,
        }
    }

    /// How surely something is to be looked up, to 1, or to be done, to -1. None where nobody trained it.
    pub(crate) fn deed(&self, vector: Option<&Vector>, turns: &Turns) -> Option<f32> {
        let sum = self.deed.as_ref()?.of(vector?, turns);
        Some((sum / 2.0).tanh())
    }

    pub(crate) fn read(&self, vector: Option<&Vector>, turns: &Turns) -> Nature {
        let mut nature = self.bias;
        let Some(vector) = vector else { return nature };
        for (value, direction) in nature.iter_mut().zip(&self.directions) {
            *value += direction.dot(vector);
        }
        for (value, said) in nature.iter_mut().zip(&self.turns) {
            *value += said.of(turns);
        }
        nature
    }
}

/// What is read of several on the whole; nothing, where there are none.
pub(crate) fn mean(natures: &[Nature]) -> Option<Nature> {
    let count = u16::try_from(natures.len()).ok().filter(|it| *it > 0)?;
    let mut mean = [0.0; KINDS];
    for nature in natures {
        for (sum, value) in mean.iter_mut().zip(nature) {
            *sum += value / f32::from(count);
        }
    }
    Some(mean)
}

/// How likely something of this nature is about the world just now.
pub(crate) fn worldly(nature: &Nature) -> f32 {
    let powers = nature.map(f32::exp);
    powers[WORLDLY] / powers.iter().sum::<f32>()
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
    fn nothing_is_read_before_something_of_each_kind_is_known() {
        let encoder = Words("words");
        let mut vectors = Vectors::default();
        vectors.learn(&encoder, read_from("words").take(64));
        let reader = Reader::new("words", &vectors);
        let vector = Vector::new(&encoder.encode("thank you, bye"));
        let read = reader.read(vector.as_ref(), &Turns::default());
        assert!(read.iter().all(|it| it.abs() < 1e-6), "{read:?}");
    }

    #[test]
    fn a_request_is_of_the_kind_that_it_is_like() {
        let encoder = Words("words");
        let mut vectors = Vectors::default();
        vectors.learn(&encoder, read_from("words"));
        let reader = Reader::new("words", &vectors);
        let vector = |request: &str| Vector::new(&encoder.encode(request));
        let read = |request: &str| reader.read(vector(request).as_ref(), &Turns::new(request));
        let world = |request: &str| reader.world(vector(request).as_ref(), &Turns::default());
        let idle = read("Who wrote Romeo and Juliet?");
        let work = read("Find flights from Boston on Friday");
        assert!(idle[0] > work[0] && work[2] > idle[2], "{idle:?} {work:?}");
        assert!(world("latest news of the election today") > world("Wash the dishes, please"));
        let both = mean(&[idle, work]).unwrap();
        assert!(both[0] < idle[0] && both[0] > work[0] && mean(&[]).is_none());
        let (none, turns) = (Reader::default(), Turns::default());
        assert!(reader.world(None, &turns) < 1e-6);
        assert!(none.world(vector("a").as_ref(), &turns) < 1e-6);
    }

    #[test]
    fn what_was_trained_is_whole() {
        let reader = Reader::trained(TRAINED).unwrap();
        assert!(reader.directions.iter().all(|it| it.dimension() == 512));
        assert!(reader.turns.iter().all(|it| it.step > 0.0));
        let vector = Vector::new(&[0.0; 511].into_iter().chain([1.0]).collect::<Vec<_>>());
        let idle = |request: &str| reader.read(vector.as_ref(), &Turns::new(request))[0];
        assert!(idle("thank you so much, bye!") > idle("send it to kim@acme.example at 3"));
        let deed = |request: &str| reader.deed(vector.as_ref(), &Turns::new(request)).unwrap();
        assert!(deed("What became of the order?") > deed("Refund the order, please"));
        assert!(deed("주문이 어떻게 됐는지 궁금해요") > deed("주문을 환불해 주세요"));
        assert!(Reader::trained(&TRAINED[..9]).is_none());
        assert!(Reader::trained(&TRAINED[..TRAINED.len() - 9]).is_none());
        assert_eq!(read_from(ENCODER).count(), 0);
    }
}
