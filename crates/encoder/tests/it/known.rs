//! Vectors that the package made once, kept in known.txt as half floats in hexadecimal, each before its text;
//! `reference.py --known` writes them. They hold the encoder to the package where there is no Python.

use encoder::DIMENSION;

use crate::{cosine, encoder};

#[test]
fn known_texts_have_their_known_vectors() {
    let encoder = encoder();
    let mut count = 0;
    for line in include_str!("known.txt").lines() {
        let (numbers, text) = line.split_once('\t').unwrap();
        let near = cosine(&encoder.encode(text), &vector(numbers));
        assert!(near > 0.9999, "{near} for {text:?}");
        count += 1;
    }
    assert_eq!(count, 4);
}

#[test]
fn what_means_the_same_is_near_in_either_language() {
    let encoder = encoder();
    let asked = encoder.encode("서울 날씨 어때?");
    let near = cosine(&asked, &encoder.encode("What is the weather in Seoul?"));
    let far = cosine(&asked, &encoder.encode("Create a pull request"));
    assert!(near > 0.8 && far < 0.3, "{near} and {far}");
}

fn vector(numbers: &str) -> [f32; DIMENSION] {
    let mut vector = [0.0; DIMENSION];
    for (index, number) in vector.iter_mut().enumerate() {
        let digits = |at: usize| u16::from_str_radix(&numbers[at..at + 2], 16).unwrap();
        *number = half(digits(index * 4) | digits(index * 4 + 2) << 8);
    }
    vector
}

/// A half float has a sign, five bits of exponent and ten of fraction.
fn half(bits: u16) -> f32 {
    let fraction = f32::from(bits & 0x3ff) / 1024.0;
    let exponent = i32::from(bits >> 10 & 0x1f);
    let size = match exponent {
        0 => fraction * 2.0_f32.powi(-14),
        _ => (1.0 + fraction) * 2.0_f32.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -size } else { size }
}
