//! The network that makes one vector of the rows of a text's pieces: what stands beside each piece is looked at by
//! three branches, all is summed up, and four layers turn the sum into the vector.

use fearless_simd::prelude::*;

use crate::dense::{Activations, Dense};
use crate::table::{self, Table};

/// Numbers of a vector.
pub const DIMENSION: usize = 512;
/// Numbers that a branch has for each piece.
const CHANNELS: usize = 256;
/// How many pieces a branch looks at for each piece, and how many of them stand before it.
pub(crate) const BRANCHES: [(usize, usize); 3] = [(2, 0), (3, 1), (5, 2)];
const PROJECTED: usize = BRANCHES.len() * CHANNELS;
/// Numbers of a piece before they are summed up: its row and those of the branches.
pub(crate) const FEATURES: usize = table::WIDTH + PROJECTED;
/// Sums are made in so many lanes, which the compiler turns into registers.
const LANES: usize = 16;
const EPSILON: f32 = 1e-12;

/// The layers, in the order in which they are applied; `…_around` are those that go around the one before.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) projection: Dense,
    pub(crate) projection_bias: Vec<f32>,
    pub(crate) projection_norm: Norm,
    pub(crate) branches: Vec<Branch>,
    pub(crate) norm: Norm,
    pub(crate) pooled: Dense,
    pub(crate) pooled_bias: Vec<f32>,
    pub(crate) first: Dense,
    pub(crate) first_around: Dense,
    pub(crate) second: Dense,
    pub(crate) third: Dense,
    pub(crate) third_around: Dense,
    pub(crate) fourth: Dense,
}

/// Two convolutions, each with its bias, over the neighbours of each piece.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) neighbours: usize,
    pub(crate) before: usize,
    pub(crate) steps: Vec<(Dense, Vec<f32>)>,
}

/// Takes rows to the mean and the spread that was learnt.
#[derive(Debug)]
pub(crate) struct Norm {
    pub(crate) gain: Vec<f32>,
    pub(crate) shift: Vec<f32>,
}

/// Buffers, kept from text to text.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    activations: Activations,
    features: Vec<f32>,
    projected: Vec<f32>,
    current: Vec<f32>,
    convolved: Vec<f32>,
}

impl Network {
    /// The vector of a text that was cut into pieces.
    #[inline(always)]
    pub(crate) fn forward<S: Simd>(
        &self,
        simd: S,
        table: &Table,
        tokens: &[u32],
        scratch: &mut Scratch,
    ) -> [f32; DIMENSION] {
        scratch.features.resize(tokens.len() * FEATURES, 0.0);
        for (token, features) in tokens
            .iter()
            .zip(rows_mut::<FEATURES>(&mut scratch.features))
        {
            table.read(*token, &mut features[..table::WIDTH]);
        }
        self.project(simd, tokens.len(), scratch);
        for (index, branch) in self.branches.iter().enumerate() {
            branch.look_around(simd, index, tokens.len(), scratch);
        }
        let mut sums = [0.0; FEATURES];
        for features in rows_mut::<FEATURES>(&mut scratch.features) {
            self.norm.apply(features);
            for (sum, feature) in sums.iter_mut().zip(features) {
                *sum += *feature;
            }
        }
        self.finish(simd, &sums, tokens.len() as f32, &mut scratch.activations)
    }

    /// The inputs of the branches.
    #[inline(always)]
    fn project<S: Simd>(&self, simd: S, count: usize, scratch: &mut Scratch) {
        let activations = &mut scratch.activations;
        activations.clear(count * table::WIDTH);
        for (index, features) in rows_mut::<FEATURES>(&mut scratch.features)
            .iter()
            .enumerate()
        {
            let row = &features[..table::WIDTH];
            activations.quantise(simd, index * table::WIDTH, row, 1);
        }
        scratch.projected.resize(count * PROJECTED, 0.0);
        self.projection
            .apply(simd, activations, table::WIDTH, &mut scratch.projected);
        for row in rows_mut::<PROJECTED>(&mut scratch.projected) {
            for (value, bias) in row.iter_mut().zip(&self.projection_bias) {
                *value += *bias;
            }
            self.projection_norm.apply(row);
        }
    }

    /// From the sums of all pieces to the vector.
    #[inline(always)]
    fn finish<S: Simd>(
        &self,
        simd: S,
        sums: &[f32],
        count: f32,
        activations: &mut Activations,
    ) -> [f32; DIMENSION] {
        let mut mean = [0.0; 512];
        single(simd, &self.pooled, sums, activations, &mut mean);
        for (value, bias) in mean.iter_mut().zip(&self.pooled_bias) {
            *value = (*value + count * *bias) / count.sqrt();
        }
        let mut first = [0.0; 320];
        single(simd, &self.first, &mean, activations, &mut first);
        keep_positive(&mut first);
        let mut second = [0.0; 320];
        let mut around = [0.0; 320];
        single(simd, &self.first_around, &mean, activations, &mut around);
        single(simd, &self.second, &first, activations, &mut second);
        add(&mut second, &around);
        keep_positive(&mut second);
        let mut third = [0.0; 512];
        single(simd, &self.third, &second, activations, &mut third);
        keep_positive(&mut third);
        let mut vector = [0.0; DIMENSION];
        let mut around = [0.0; DIMENSION];
        single(simd, &self.third_around, &second, activations, &mut around);
        single(simd, &self.fourth, &third, activations, &mut vector);
        add(&mut vector, &around);
        for value in &mut vector {
            *value = value.tanh();
        }
        let length = sum(&vector, |value| value * value).max(EPSILON).sqrt();
        vector.map(|value| value / length)
    }
}

impl Branch {
    /// Fills the branch's part of the features.
    #[inline(always)]
    fn look_around<S: Simd>(&self, simd: S, index: usize, count: usize, scratch: &mut Scratch) {
        let from = index * CHANNELS;
        scratch.current.clear();
        for row in rows_mut::<PROJECTED>(&mut scratch.projected) {
            scratch
                .current
                .extend_from_slice(&row[from..from + CHANNELS]);
        }
        scratch.convolved.resize(count * CHANNELS, 0.0);
        for (layer, bias) in &self.steps {
            // Zeros stand where a neighbour would be outside of the text.
            let activations = &mut scratch.activations;
            activations.clear((count + self.neighbours - 1) * CHANNELS);
            activations.quantise(simd, self.before * CHANNELS, &scratch.current, count);
            layer.apply(simd, activations, CHANNELS, &mut scratch.convolved);
            let rows = rows_mut::<CHANNELS>(&mut scratch.current).iter_mut();
            for (row, convolved) in rows.zip(rows_mut::<CHANNELS>(&mut scratch.convolved)) {
                for ((value, added), bias) in row.iter_mut().zip(convolved).zip(bias) {
                    *value += (*added + *bias).max(0.0);
                }
            }
        }
        let from = table::WIDTH + from;
        let features = rows_mut::<FEATURES>(&mut scratch.features).iter_mut();
        for (features, row) in features.zip(rows_mut::<CHANNELS>(&mut scratch.current)) {
            features[from..from + CHANNELS].copy_from_slice(row);
        }
    }
}

impl Norm {
    #[inline(always)]
    fn apply(&self, row: &mut [f32]) {
        let width = row.len() as f32;
        let mean = sum(row, |value| value) / width;
        for value in row.iter_mut() {
            *value -= mean;
        }
        let inverse = 1.0 / (sum(row, |value| value * value) / width + EPSILON).sqrt();
        for ((value, gain), shift) in row.iter_mut().zip(&self.gain).zip(&self.shift) {
            *value = *value * inverse * *gain + *shift;
        }
    }
}

/// Applies a layer to one row.
#[inline(always)]
fn single<S: Simd>(
    simd: S,
    layer: &Dense,
    input: &[f32],
    activations: &mut Activations,
    output: &mut [f32],
) {
    activations.clear(input.len());
    activations.quantise(simd, 0, input, 1);
    layer.apply(simd, activations, input.len(), output);
}

#[inline(always)]
fn rows_mut<const WIDTH: usize>(numbers: &mut [f32]) -> &mut [[f32; WIDTH]] {
    numbers.as_chunks_mut().0
}

#[inline(always)]
fn keep_positive(values: &mut [f32]) {
    for value in values {
        *value = value.max(0.0);
    }
}

#[inline(always)]
fn add(values: &mut [f32], others: &[f32]) {
    for (value, other) in values.iter_mut().zip(others) {
        *value += *other;
    }
}

#[inline(always)]
fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    for chunk in values.as_chunks::<LANES>().0 {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += of(*value);
        }
    }
    lanes.into_iter().sum()
}
