//! The crate through its public face: the same as the package that the model is from, and unmoved by odd input.

#![expect(clippy::unwrap_used, reason = "a test fails loudly")]

mod hostile;
mod known;
mod reference;
mod sentences;

use encoder::{DIMENSION, Encoder};

fn encoder() -> Encoder {
    Encoder::open().unwrap()
}

fn cosine(a: &[f32; DIMENSION], b: &[f32; DIMENSION]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
