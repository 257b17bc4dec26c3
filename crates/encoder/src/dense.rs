//! Layers: rows of activations in 16 bits times weights in 8 bits. Nearly all the time of the encoder is spent here.
//!
//! The sums are whole numbers, so every processor comes to the same ones. Instructions are chosen as in the vector
//! store: `fearless_simd` compiles the loops for each level and picks one while running, without `unsafe`.

use fearless_simd::{f32x8, i16x16, i32x8, prelude::*, u8x32};

/// Outputs that are summed up side by side; in the file their weights lie together.
const BLOCK: usize = 16;
/// Weights of one step: two inputs of each output of a block.
const STEP_BYTES: usize = 2 * BLOCK;
/// Rows that share what was loaded of the weights. With twelve sums, two of weights and two to work with, the sixteen
/// registers of AVX2 are full.
const ROWS_MAX: usize = 6;
/// The largest activation. Times 127, the largest weight, and 1280, the most inputs that a layer has, it stays within
/// 32 bits.
const ACTIVATION_MAX: f32 = 8_191.0;
/// Inputs that are quantised at once.
const LANES: usize = 16;

/// Activations as whole numbers, two in each `i32`, because the weights of two inputs are multiplied at once.
#[derive(Debug, Default)]
pub(crate) struct Activations {
    pairs: Vec<i32>,
    /// What one step of the whole numbers stands for, for each row of the layer's output.
    scales: Vec<f32>,
}

/// A layer without its bias; `weights` is a part of the model's file, used in place.
#[derive(Debug)]
pub(crate) struct Dense {
    weights: &'static [[u8; STEP_BYTES]],
    /// What a weight of 1 stands for, for each output.
    scales: Vec<f32>,
    inputs: usize,
}

impl Activations {
    /// Room for `count` inputs, all zero.
    pub(crate) fn clear(&mut self, count: usize) {
        self.pairs.clear();
        self.pairs.resize(count / 2, 0);
        self.scales.clear();
    }

    /// Takes numbers over, from the position `start` on, with one scale for the next `rows` that will be read from
    /// them.
    #[inline(always)]
    pub(crate) fn quantise<S: Simd>(&mut self, simd: S, start: usize, values: &[f32], rows: usize) {
        let largest = largest(values);
        // Finite even for zeros, which are zeros at any scale.
        let scale = (ACTIVATION_MAX / largest).min(f32::MAX);
        let (values, _) = values.as_chunks::<LANES>();
        let pairs = &mut self.pairs[start / 2..][..values.len() * LANES / 2];
        for (values, pairs) in values.iter().zip(pairs.as_chunks_mut::<{ LANES / 2 }>().0) {
            let whole = |half: &[f32]| -> i32x8<S> {
                let scaled = f32x8::from_slice(simd, half) * scale;
                scaled.round_ties_even().to_int()
            };
            let narrow = simd.saturating_narrow_i32x8(whole(&values[..8]), whole(&values[8..]));
            let pairs_of: i32x8<S> = narrow.bitcast();
            pairs_of.store_slice(pairs);
        }
        let scale = largest / ACTIVATION_MAX;
        self.scales.extend(std::iter::repeat_n(scale, rows));
    }
}

impl Dense {
    /// `weights` holds, block by block of outputs, the weights of the first two inputs for each output, then those of
    /// the next two. `None` where the sizes do not fit together.
    pub(crate) fn new(weights: &'static [u8], scales: Vec<f32>, inputs: usize) -> Option<Self> {
        let fits = weights.len() == inputs * scales.len()
            && inputs.is_multiple_of(LANES)
            && scales.len().is_multiple_of(BLOCK);
        let (weights, _) = weights.as_chunks();
        fits.then_some(Self {
            weights,
            scales,
            inputs,
        })
    }

    pub(crate) fn outputs(&self) -> usize {
        self.scales.len()
    }

    /// Writes one row of outputs for each scale of the input. Rows begin `stride` inputs after one another: fewer
    /// than the layer has, where it looks at several neighbours at once.
    pub(crate) fn apply<S: Simd>(
        &self,
        simd: S,
        input: &Activations,
        stride: usize,
        output: &mut [f32],
    ) {
        // Compiled once for each level, instead of once for each caller.
        simd.vectorize(
            #[inline(always)]
            || self.blocks(simd, input, stride / 2, output),
        );
    }

    #[inline(always)]
    fn blocks<S: Simd>(&self, simd: S, input: &Activations, stride: usize, output: &mut [f32]) {
        let steps = self.inputs / 2;
        let rows = input.scales.len();
        for (index, weights) in self.weights.chunks_exact(steps).enumerate() {
            let first = index * BLOCK;
            let tile = Tile {
                weights,
                scales: &self.scales[first..first + BLOCK],
                first,
                outputs: self.outputs(),
                stride,
            };
            // Tiles as even as can be: a last one of a single row would use the weights that it loads only once.
            let tiles = rows.div_ceil(ROWS_MAX);
            for number in 0..tiles {
                let from = number * rows / tiles;
                let to = (number + 1) * rows / tiles;
                match to - from {
                    1 => tile.sum::<S, 1>(simd, input, from, output),
                    2 => tile.sum::<S, 2>(simd, input, from, output),
                    3 => tile.sum::<S, 3>(simd, input, from, output),
                    4 => tile.sum::<S, 4>(simd, input, from, output),
                    5 => tile.sum::<S, 5>(simd, input, from, output),
                    _ => tile.sum::<S, ROWS_MAX>(simd, input, from, output),
                }
            }
        }
    }
}

/// One block of outputs.
struct Tile<'a> {
    weights: &'a [[u8; STEP_BYTES]],
    scales: &'a [f32],
    first: usize,
    outputs: usize,
    stride: usize,
}

impl Tile<'_> {
    /// The block's outputs for `ROWS` rows.
    #[inline(always)]
    fn sum<S: Simd, const ROWS: usize>(
        &self,
        simd: S,
        input: &Activations,
        from: usize,
        output: &mut [f32],
    ) {
        let steps = self.weights.len();
        // Said once, so that it need not be asked at every step.
        let mut rows: [&[i32]; ROWS] = [&[]; ROWS];
        for (index, row) in rows.iter_mut().enumerate() {
            *row = &input.pairs[(from + index) * self.stride..][..steps];
        }
        let mut sums = [[i32x8::splat(simd, 0); 2]; ROWS];
        for (step, weights) in self.weights.iter().enumerate() {
            let weights = u8x32::load_array_ref(simd, weights);
            let (low, high) = simd.widen_i8x32(weights.bitcast());
            for index in 0..ROWS {
                let pair: i16x16<S> = i32x8::splat(simd, rows[index][step]).bitcast();
                sums[index][0] += simd.pairwise_dot_product_i16x16(pair, low);
                sums[index][1] += simd.pairwise_dot_product_i16x16(pair, high);
            }
        }
        for index in 0..ROWS {
            let scale = input.scales[from + index];
            let output = &mut output[(from + index) * self.outputs + self.first..][..BLOCK];
            for (half, sums) in sums[index].iter().enumerate() {
                let sums: f32x8<S> = sums.to_float();
                let scales = &self.scales[half * 8..half * 8 + 8];
                let scaled = sums * f32x8::from_slice(simd, scales) * scale;
                scaled.store_slice(&mut output[half * 8..half * 8 + 8]);
            }
        }
    }
}

/// The largest number of all, whatever its sign. Compared in lanes, which the compiler turns into registers.
#[inline(always)]
fn largest(values: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    for chunk in values.as_chunks::<LANES>().0 {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = lane.max(value.abs());
        }
    }
    lanes.into_iter().fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fearless_simd::{Level, dispatch};

    const INPUTS: usize = 48;
    const OUTPUTS: usize = 32;

    /// Numbers from -1 to 1 that look like chance and are the same every time.
    fn numbers(count: usize, mut seed: u64) -> Vec<f32> {
        let mut next = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..count).map(|_| next()).collect()
    }

    fn layer() -> (Dense, Vec<f32>) {
        let whole: Vec<i8> = numbers(INPUTS * OUTPUTS, 3)
            .iter()
            .map(|x| (x * 127.0) as i8)
            .collect();
        let scales = numbers(OUTPUTS, 5);
        let mut packed = Vec::new();
        for block in 0..OUTPUTS / BLOCK {
            for pair in 0..INPUTS / 2 {
                for output in block * BLOCK..(block + 1) * BLOCK {
                    packed
                        .extend([0, 1].map(|odd| whole[(2 * pair + odd) * OUTPUTS + output] as u8));
                }
            }
        }
        let mut plain = Vec::new();
        for input in whole.chunks(OUTPUTS) {
            plain.extend(
                input
                    .iter()
                    .zip(&scales)
                    .map(|(weight, scale)| f32::from(*weight) * scale),
            );
        }
        (Dense::new(packed.leak(), scales, INPUTS).unwrap(), plain)
    }

    #[test]
    fn a_layer_is_the_product_of_its_weights_and_the_rows_for_any_number_of_rows() {
        let (layer, plain) = layer();
        for level in [Level::new(), Level::baseline()] {
            for (rows, stride) in (1..20).flat_map(|rows| [(rows, INPUTS), (rows, 16)]) {
                let values = numbers((rows - 1) * stride + INPUTS, rows as u64);
                let mut input = Activations::default();
                input.clear(values.len());
                let mut output = vec![0.0; rows * OUTPUTS];
                dispatch!(level, simd => {
                    input.quantise(simd, 0, &values, rows);
                    layer.apply(simd, &input, stride, &mut output);
                });
                for (index, found) in output.iter().enumerate() {
                    let (row, column) = (index / OUTPUTS, index % OUTPUTS);
                    let terms =
                        (0..INPUTS).map(|k| values[row * stride + k] * plain[k * OUTPUTS + column]);
                    let expected: f32 = terms.sum();
                    assert!(
                        (found - expected).abs() < 0.1,
                        "{rows} rows: {found} and {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn zeros_stay_zeros_and_the_largest_number_fits() {
        let mut input = Activations::default();
        input.clear(LANES);
        dispatch!(Level::new(), simd => input.quantise(simd, 0, &[0.0; LANES], 1));
        assert_eq!(input.pairs, [0; LANES / 2]);
        input.clear(LANES);
        dispatch!(Level::new(), simd => input.quantise(simd, 0, &[1e-42; LANES], 1));
        assert!(input.pairs.iter().all(|pair| *pair == input.pairs[0]));
        input.clear(LANES);
        let mut values = [0.25; LANES];
        values[1] = -3e30;
        dispatch!(Level::new(), simd => input.quantise(simd, 0, &values, 1));
        assert_eq!(input.pairs[0] >> 16, -8_191);
    }

    #[test]
    fn sizes_that_do_not_fit_are_refused() {
        assert!(Dense::new(&[0; 16 * 16], vec![1.0; 16], 16).is_some());
        assert!(Dense::new(&[0; 16 * 16 - 1], vec![1.0; 16], 16).is_none());
        assert!(Dense::new(&[0; 15 * 16], vec![1.0; 15], 16).is_none());
        assert!(Dense::new(&[0; 8 * 16], vec![1.0; 16], 8).is_none());
    }
}
