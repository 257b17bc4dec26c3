//! Vectors in bytes, and one against many: a quarter of the memory of floats, and whole numbers add up faster.

use fearless_simd::{Level, dispatch};

/// Longer vectors no encoder has.
const DIMENSION_MAX: usize = 8192;

/// A vector of length 1, each number as a multiple of `step`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Vector {
    numbers: Box<[i8]>,
    step: f32,
}

impl Vector {
    /// Nothing, for a vector that has no length or is no vector.
    pub(crate) fn new(numbers: &[f32]) -> Option<Self> {
        let square: f32 = numbers.iter().map(|it| it * it).sum();
        let is_vector = square.is_finite() && square > 1e-12 && numbers.len() <= DIMENSION_MAX;
        is_vector.then(|| Vector::scaled(numbers, 1.0 / square.sqrt()))
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the step is made so that all fit"
    )]
    fn scaled(numbers: &[f32], factor: f32) -> Self {
        let largest = numbers.iter().fold(0.0_f32, |most, it| most.max(it.abs()));
        let step = (largest * factor / 127.0).max(1e-12);
        let byte = |it: &f32| (it * factor / step).round().clamp(-127.0, 127.0) as i8;
        Vector {
            numbers: numbers.iter().map(byte).collect(),
            step,
        }
    }

    /// The weighted sum of some vectors of the same length: to be near to it is to be near to each, by its weight.
    pub(crate) fn sum<'a>(vectors: impl Iterator<Item = (&'a Vector, f32)>) -> Option<Self> {
        let mut sum: Vec<f32> = Vec::new();
        for (vector, weight) in vectors {
            sum.resize(vector.numbers.len(), 0.0);
            for (total, number) in sum.iter_mut().zip(&vector.numbers) {
                *total += weight * vector.step * f32::from(*number);
            }
        }
        (!sum.is_empty()).then(|| Vector::scaled(&sum, 1.0))
    }

    pub(crate) fn dot(&self, other: &Vector) -> f32 {
        if self.numbers.len() != other.numbers.len() {
            return 0.0;
        }
        let sum = dispatch!(Level::new(), _simd => dot(&self.numbers, &other.numbers));
        product(sum, self.step, other.step)
    }

    pub(crate) fn dimension(&self) -> usize {
        self.numbers.len()
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.step.to_le_bytes());
        let length = u16::try_from(self.numbers.len()).unwrap_or(u16::MAX);
        bytes.extend(length.to_le_bytes());
        bytes.extend(self.numbers.iter().map(|it| it.to_le_bytes()[0]));
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (step, rest) = bytes.split_first_chunk::<4>()?;
        let (length, rest) = rest.split_first_chunk::<2>()?;
        let length = usize::from(u16::from_le_bytes(*length));
        let (numbers, rest) = rest.split_at_checked(length)?;
        let step = f32::from_le_bytes(*step);
        let numbers = numbers.iter().map(|it| i8::from_le_bytes([*it])).collect();
        let is_vector = step.is_finite() && length <= DIMENSION_MAX;
        is_vector.then_some((Vector { numbers, step }, rest))
    }
}

/// Many vectors of one length, one after another.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    numbers: Vec<i8>,
    steps: Vec<f32>,
    dimension: usize,
}

impl Rows {
    /// What has no vector, or one of another length, is near to nothing.
    pub(crate) fn new<'a>(
        dimension: usize,
        vectors: impl Iterator<Item = Option<&'a Vector>>,
    ) -> Self {
        let mut rows = Rows {
            dimension,
            ..Rows::default()
        };
        for vector in vectors {
            match vector.filter(|it| it.dimension() == dimension) {
                Some(vector) => {
                    rows.numbers.extend_from_slice(&vector.numbers);
                    rows.steps.push(vector.step);
                }
                None => {
                    let length = rows.numbers.len() + dimension;
                    rows.numbers.resize(length, 0);
                    rows.steps.push(0.0);
                }
            }
        }
        rows.numbers.shrink_to_fit();
        rows
    }

    /// Adds how near a vector is to each row to the scores.
    pub(crate) fn add(&self, from: &Vector, scores: &mut [f32]) {
        if self.dimension == 0 || from.dimension() != self.dimension {
            return;
        }
        dispatch!(Level::new(), _simd => each(from, self, scores));
    }
}

#[inline(always)]
fn each(from: &Vector, rows: &Rows, scores: &mut [f32]) {
    let steps = rows
        .steps
        .iter()
        .zip(rows.numbers.chunks_exact(rows.dimension));
    for (score, (step, row)) in scores.iter_mut().zip(steps) {
        *score += product(dot(&from.numbers, row), from.step, *step);
    }
}

/// A plain loop: compiled once for each kind of processor by `dispatch`, it becomes the widest one there is.
#[inline(always)]
fn dot(a: &[i8], b: &[i8]) -> i32 {
    let mut sum = 0;
    for (a, b) in a.iter().zip(b) {
        sum += i32::from(i16::from(*a) * i16::from(*b));
    }
    sum
}

#[expect(
    clippy::cast_precision_loss,
    reason = "sums of so few bytes are exact in a float, nearly"
)]
#[inline(always)]
fn product(sum: i32, a: f32, b: f32) -> f32 {
    sum as f32 * a * b
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look like chance and are the same every time.
    fn numbers(count: usize, mut seed: u64) -> Vec<f32> {
        let mut next = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    fn slowly(a: &[f32], b: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
    }

    #[test]
    fn cosines_are_nearly_those_of_floats_at_every_length() {
        for dimension in [1, 3, 16, 33, 384, 512, 1024] {
            let from = numbers(dimension, 7);
            let all: Vec<Vec<f32>> = (0..5).map(|it| numbers(dimension, it + 20)).collect();
            let rows = {
                let vectors: Vec<Option<Vector>> = all.iter().map(|it| Vector::new(it)).collect();
                Rows::new(dimension, vectors.iter().map(Option::as_ref))
            };
            let mut scores = vec![0.0; 5];
            rows.add(&Vector::new(&from).unwrap(), &mut scores);
            for (score, row) in scores.iter().zip(&all) {
                let expected = slowly(&from, row);
                assert!((score - expected).abs() < 0.01, "{score} and {expected}");
            }
        }
    }

    #[test]
    fn a_sum_is_near_to_each_by_its_weight() {
        let (a, b, q) = (numbers(512, 1), numbers(512, 2), numbers(512, 3));
        let [a, b, q] = [a, b, q].map(|it| Vector::new(&it).unwrap());
        let sum = Vector::sum([(&a, 1.0), (&b, 0.3)].into_iter()).unwrap();
        let expected = q.dot(&a) + 0.3 * q.dot(&b);
        assert!((q.dot(&sum) - expected).abs() < 0.01);
        assert!(Vector::sum(std::iter::empty()).is_none());
    }

    #[test]
    fn what_is_no_vector_is_near_to_nothing() {
        assert!(Vector::new(&[]).is_none());
        assert!(Vector::new(&[0.0, 0.0]).is_none());
        assert!(Vector::new(&[f32::NAN, 1.0]).is_none());
        let other = Vector::new(&[1.0, 1.0, 1.0]);
        let last = Vector::new(&[0.0, 2.0]);
        let rows = Rows::new(2, [None, other.as_ref(), last.as_ref()].into_iter());
        let mut scores = vec![0.0; 3];
        rows.add(&Vector::new(&[0.0, 5.0]).unwrap(), &mut scores);
        assert_eq!(scores[..2], [0.0, 0.0]);
        assert!((scores[2] - 1.0).abs() < 1e-4);
    }
}
