//! Texts that nobody would write, and many at once: no panic, bounded time, always a vector of length 1.

use std::time::{Duration, Instant};

use encoder::{PIECES_MAX, TEXT_BYTES_MAX};

use crate::{cosine, encoder, sentences};

/// Far more than any text takes, even unoptimised on a busy machine; far less than a text without bounds would.
const LONGEST: Duration = Duration::from_secs(10);

fn hostile() -> Vec<String> {
    vec![
        "a".repeat(1 << 20),
        "lorem ipsum dolor ".repeat(60_000),
        "가나다라 ".repeat(80_000),
        "\u{301}".repeat(200_000),
        format!("a{}", "\u{301}\u{323}".repeat(100_000)),
        "\0".repeat(1 << 20),
        "😀".repeat(100_000),
        "👨‍👩‍👧‍👦".repeat(40_000),
        "שלום עולם مرحبا بالعالم ".repeat(20_000),
        "\u{202e}\u{2066}right to left\u{2069}\u{202c}".repeat(10_000),
        "\u{fdfa}".repeat(100_000),
        "\u{1112}\u{1161}\u{11ab}".repeat(100_000),
        "\u{1112}".repeat(100_000),
        " ".repeat(1 << 20),
        "\u{200b}".repeat(300_000),
        "<s></s><unk>extra_token_id_1".repeat(10_000),
        "\u{10ffff}\u{e000}\u{fffe}\u{d7ff}".to_owned(),
    ]
}

#[test]
fn no_text_is_too_odd_or_too_long() {
    let encoder = encoder();
    for text in hostile() {
        let start: String = text.chars().take(8).collect();
        let began = Instant::now();
        let vector = encoder.encode(&text);
        let taken = began.elapsed();
        assert!(taken < LONGEST, "{taken:?} for {start:?}…");
        assert!(vector.iter().all(|number| number.is_finite()), "{start:?}…");
        let length = cosine(&vector, &vector);
        assert!((length - 1.0).abs() < 1e-4, "{length} for {start:?}…");
        assert!(encoder.pieces(&text).len() <= PIECES_MAX);
    }
}

#[test]
fn every_character_is_cut_into_something() {
    let encoder = encoder();
    let all: Vec<char> = ('\0'..=char::MAX).collect();
    for some in all.chunks(250) {
        let text: String = some.iter().collect();
        assert!(!encoder.pieces(&text).is_empty(), "{text:?}");
    }
}

#[test]
fn what_is_beyond_the_bounds_changes_nothing() {
    let encoder = encoder();
    let text = "one two three four five ".repeat(100);
    let longer = format!("{text}{}", "something else altogether ".repeat(1_000));
    assert_eq!(encoder.encode(&text), encoder.encode(&longer));
    let far = format!("{}{}", " ".repeat(TEXT_BYTES_MAX), "too late");
    assert_eq!(encoder.encode(&far), encoder.encode(""));
    // A bound in the middle of a character.
    let odd = format!("a{}", "가".repeat(TEXT_BYTES_MAX));
    assert_eq!(encoder.pieces(&odd).len(), PIECES_MAX);
}

#[test]
fn one_encoder_serves_many_threads() {
    let encoder = encoder();
    let texts = &sentences::ours()[..40];
    let alone: Vec<_> = texts.iter().map(|text| encoder.encode(text)).collect();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                // Longer and shorter ones in turn, so that a buffer's old content would show.
                for (text, expected) in texts.iter().zip(&alone).rev() {
                    assert!(encoder.encode(text) == *expected, "{text}");
                }
            });
        }
    });
}
