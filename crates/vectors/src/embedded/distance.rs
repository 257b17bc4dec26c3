//! Distances of one vector from many, with the widest instructions that this machine's processor has.
//!
//! The program is built for every x86-64, whose common ground (SSE2) is several times slower at this. `fearless_simd`
//! compiles the loops once for each level and picks one while running; it has no dependencies, and all of it is safe
//! to call. `multiversion` would write `unsafe` into this crate, `wide` decides at build time, and `pulp` brings seven
//! crates along.

use crate::record::Space;
use fearless_simd::{Level, dispatch, prelude::*};

/// Vectors of one length, one after another.
pub(crate) struct Rows<'a> {
    pub(crate) numbers: &'a [f32],
    pub(crate) dimension: usize,
}

impl<'a> Rows<'a> {
    pub(crate) fn row(&self, position: usize) -> &'a [f32] {
        let start = position * self.dimension;
        &self.numbers[start..start + self.dimension]
    }
}

/// What a vector is divided by to be of length 1. The little that is added keeps a vector of zeros what it is; it is
/// what ChromaDB adds.
pub(crate) fn inverse_length(vector: &[f32]) -> f32 {
    let [square] = dispatch!(Level::new(), simd => dots(simd, vector, [vector]));
    1.0 / (square.sqrt() + 1e-30)
}

/// The distance of a vector from each of the rows at some positions, in their order. For the cosine the rows come with
/// the inverses of their lengths.
pub(crate) fn distances(
    space: Space,
    from: &[f32],
    rows: &Rows<'_>,
    inverses: &[f32],
    positions: impl Iterator<Item = usize> + Clone,
) -> Vec<f32> {
    let level = Level::new();
    let mut found = Vec::with_capacity(positions.size_hint().0);
    match space {
        Space::L2 => dispatch!(level, simd => each(positions.clone(), rows, &mut found,
            #[inline(always)] |rows| squares_of_differences(simd, from, rows),
            #[inline(always)] |row| squares_of_differences(simd, from, [row]))),
        Space::Ip | Space::Cosine => {
            dispatch!(level, simd => each(positions.clone(), rows, &mut found,
            #[inline(always)] |rows| dots(simd, from, rows),
            #[inline(always)] |row| dots(simd, from, [row])))
        }
    }
    match space {
        Space::L2 => {}
        Space::Ip => found.iter_mut().for_each(|it| *it = 1.0 - *it),
        Space::Cosine => {
            let own = inverse_length(from);
            for (it, position) in found.iter_mut().zip(positions) {
                *it = 1.0 - *it * own * inverses[position];
            }
        }
    }
    found
}

/// Rows that are gone through side by side: while one waits for memory, the others are calculated.
const SIDE_BY_SIDE: usize = 8;

/// A loop and no chain of iterators: what these are made of might be compiled apart, and for the slowest processor.
#[inline(always)]
fn each<'a>(
    mut positions: impl Iterator<Item = usize>,
    rows: &Rows<'a>,
    found: &mut Vec<f32>,
    several: impl Fn([&'a [f32]; SIDE_BY_SIDE]) -> [f32; SIDE_BY_SIDE],
    single: impl Fn(&'a [f32]) -> [f32; 1],
) {
    loop {
        let mut block: [&[f32]; SIDE_BY_SIDE] = [&[]; SIDE_BY_SIDE];
        let mut count = 0;
        while count < SIDE_BY_SIDE
            && let Some(position) = positions.next()
        {
            block[count] = rows.row(position);
            count += 1;
        }
        if count < SIDE_BY_SIDE {
            for row in &block[..count] {
                found.extend(single(row));
            }
            return;
        }
        found.extend(several(block));
    }
}

#[inline(always)]
fn dots<S: Simd, const N: usize>(simd: S, from: &[f32], rows: [&[f32]; N]) -> [f32; N] {
    sums(
        simd,
        from,
        rows,
        #[inline(always)]
        |a, b, sum| a.mul_add(b, sum),
        #[inline(always)]
        |a, b| a * b,
    )
}

#[inline(always)]
fn squares_of_differences<S: Simd, const N: usize>(
    simd: S,
    from: &[f32],
    rows: [&[f32]; N],
) -> [f32; N] {
    sums(
        simd,
        from,
        rows,
        #[inline(always)]
        |a, b, sum| {
            let difference = a - b;
            difference.mul_add(difference, sum)
        },
        #[inline(always)]
        |a, b| (a - b) * (a - b),
    )
}

/// Adds up, for each row, what `step` and, for the numbers that fill no register, `single` make of it and a vector of
/// the same length.
#[inline(always)]
fn sums<S: Simd, const N: usize>(
    simd: S,
    from: &[f32],
    rows: [&[f32]; N],
    step: impl Fn(S::f32s, S::f32s, S::f32s) -> S::f32s,
    single: impl Fn(f32, f32) -> f32,
) -> [f32; N] {
    let width = S::f32s::LEN;
    let mut sums = [S::f32s::simd_from(simd, 0.0_f32); N];
    let length = from.len();
    let whole = length - length % width;
    // Said once, so that it need not be asked at every step.
    let rows = rows.map(
        #[inline(always)]
        |row| &row[..length],
    );
    let mut start = 0;
    while start < whole {
        let part = S::f32s::from_slice(simd, &from[start..start + width]);
        for index in 0..N {
            let row = S::f32s::from_slice(simd, &rows[index][start..start + width]);
            sums[index] = step(part, row, sums[index]);
        }
        start += width;
    }
    let mut totals = [0.0; N];
    for index in 0..N {
        totals[index] = sums[index].reduce_sum();
        for (a, b) in from[whole..].iter().zip(&rows[index][whole..]) {
            totals[index] += single(*a, *b);
        }
    }
    totals
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

    fn slowly(space: Space, a: &[f32], b: &[f32]) -> f64 {
        let pairs = || a.iter().zip(b).map(|(a, b)| (f64::from(*a), f64::from(*b)));
        let dot: f64 = pairs().map(|(a, b)| a * b).sum();
        let length = |v: &[f32]| v.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
        match space {
            Space::L2 => pairs().map(|(a, b)| (a - b).powi(2)).sum(),
            Space::Ip => 1.0 - dot,
            Space::Cosine => 1.0 - dot / (length(a) * length(b)),
        }
    }

    #[test]
    fn distances_are_those_of_the_definition_at_every_length() {
        for dimension in [
            1, 3, 4, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 100, 384, 1024, 1025,
        ] {
            let from = numbers(dimension, 7);
            let all = numbers(dimension * 5, 11);
            let rows = Rows {
                numbers: &all,
                dimension,
            };
            let inverses: Vec<f32> = (0..5)
                .map(|position| inverse_length(rows.row(position)))
                .collect();
            for space in [Space::L2, Space::Cosine, Space::Ip] {
                let found = distances(space, &from, &rows, &inverses, [4, 0, 2].into_iter());
                for (distance, position) in found.iter().zip([4, 0, 2]) {
                    let expected = slowly(space, &from, rows.row(position));
                    let error = (f64::from(*distance) - expected).abs() / expected.abs().max(1.0);
                    assert!(
                        error < 1e-5,
                        "{space} at {dimension}: {distance} and {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_vector_of_zeros_is_as_far_as_chroma_says() {
        let rows = Rows {
            numbers: &[0.0, 0.0, 3.0, 4.0],
            dimension: 2,
        };
        let inverses = [inverse_length(rows.row(0)), inverse_length(rows.row(1))];
        let found = |from: &[f32]| distances(Space::Cosine, from, &rows, &inverses, 0..2);
        assert_eq!(found(&[0.0, 0.0]), [1.0, 1.0]);
        assert_eq!(found(&[3.0, 4.0])[0], 1.0);
    }
}
