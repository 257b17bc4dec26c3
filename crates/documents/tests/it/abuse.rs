//! Documents that are cut off, damaged or forged: each ends soon, with a result or an error, and without a panic.

use std::time::{Duration, Instant};

use crate::archive::{Part, archive};
use crate::fixtures::{fixture, fixtures, unpack};
use documents::{Error, Limits};

/// What reading may take, on a machine that does other things too.
const TIME_MAX: Duration = Duration::from_secs(10);
const SIXTEENTHS: usize = 16;
const FLIPPED_COPIES: usize = 40;

fn read(bytes: &[u8], name: &str) -> Result<documents::Document, Error> {
    let begun = Instant::now();
    let result = documents::parse(bytes, Some(name), &Limits::default());
    assert!(
        begun.elapsed() < TIME_MAX,
        "{name} took {:?}",
        begun.elapsed()
    );
    if let Err(error) = &result {
        let told = error.to_string();
        assert!(
            !told.contains("Error") && !told.contains('{') && told.len() < 300,
            "{name}: {told}"
        );
    }
    result
}

#[test]
fn documents_that_are_cut_off() {
    for name in fixtures() {
        let bytes = fixture(&name);
        for sixteenth in 1..SIXTEENTHS {
            let cut = &bytes[..bytes.len() * sixteenth / SIXTEENTHS];
            let result = read(cut, &name);
            let is_text = name.ends_with(".txt") || name.ends_with(".csv");
            // A PDF is repaired as far as it goes; an archive without its directory is nothing.
            if name.ends_with("x") {
                assert!(
                    matches!(result, Err(Error::Corrupt { .. } | Error::Encrypted(_))),
                    "{name} {sixteenth}: {result:?}"
                );
            } else if is_text {
                assert!(result.is_ok(), "{name} {sixteenth}: {result:?}");
            }
        }
    }
}

#[test]
fn documents_with_flipped_bits() {
    let mut chance = Chance(0x2026_1114);
    for name in fixtures() {
        let bytes = fixture(&name);
        for _ in 0..FLIPPED_COPIES {
            let mut copy = bytes.clone();
            chance.flip(&mut copy);
            let _either = read(&copy, &name);
        }
    }
}

/// In an archive a flipped bit is found by the checksum; so here the parts are damaged and packed anew.
#[test]
fn archives_with_damaged_parts() {
    let mut chance = Chance(0x5eed);
    let mut read_at_all = 0;
    for name in [
        "report.docx",
        "book.xlsx",
        "slides.pptx",
        "report.hwpx",
        "rhwp.hwpx",
    ] {
        let parts = unpack(&fixture(name));
        for (at, (part, content)) in parts.iter().enumerate() {
            if content.is_empty()
                || !(part.ends_with(".xml") || part.ends_with(".rels") || part.ends_with(".hpf"))
            {
                continue;
            }
            for _ in 0..8 {
                let mut content = content.clone();
                chance.flip(&mut content);
                let whole = parts.iter().enumerate().map(|(other, (name, own))| {
                    Part::new(name, if other == at { &content } else { own })
                });
                let whole: Vec<Part> = whole.collect();
                read_at_all += usize::from(read(&archive(&whole), name).is_ok());
            }
        }
    }
    assert!(
        read_at_all > 50,
        "only {read_at_all} were read: the damage does not reach the readers"
    );
}

#[test]
fn archives_without_a_part() {
    for name in ["report.docx", "book.xlsx", "slides.pptx", "report.hwpx"] {
        let parts = unpack(&fixture(name));
        for missing in 0..parts.len() {
            let rest = parts
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != missing)
                .map(|(_, (name, content))| Part::new(name, content));
            let _either = read(&archive(&rest.collect::<Vec<_>>()), name);
        }
    }
}

/// Lowers one of the limits.
type Lower = fn(&mut Limits);

#[test]
fn limits_refuse() {
    let cases: [(&str, Lower); 9] = [
        ("report.pdf", |limits| limits.input_bytes_max = 100),
        ("report.docx", |limits| limits.parts_max = 3),
        ("report.hwp", |limits| limits.parts_max = 3),
        ("report.hwpx", |limits| limits.part_bytes_max = 1_000),
        ("report.hwp", |limits| limits.part_bytes_max = 1_000),
        ("report.pdf", |limits| limits.part_bytes_max = 1_000),
        ("slides.pptx", |limits| limits.unpacked_bytes_max = 10_000),
        ("report.docx", |limits| limits.depth_max = 4),
        ("slides.pptx", |limits| limits.nodes_max = 50),
    ];
    for (name, lower) in cases {
        let mut limits = Limits::default();
        lower(&mut limits);
        let result = documents::parse(&fixture(name), Some(name), &limits);
        assert!(
            matches!(result, Err(Error::TooLarge { .. })),
            "{name} {limits:?}: {result:?}"
        );
    }
}

#[test]
fn limits_cut_with_a_warning() {
    let cases: [(&str, &str, Lower); 4] = [
        ("slides.pptx", "only the first 1 of 3 slides", |limits| {
            limits.pages_max = 1
        }),
        ("report.pdf", "only the first 1 of 2 pages", |limits| {
            limits.pages_max = 1
        }),
        ("book.xlsx", "has more cells than are read", |limits| {
            limits.cells_max = 4
        }),
        ("table.csv", "only the first 1 rows", |limits| {
            limits.cells_max = 4
        }),
    ];
    for (name, warning, lower) in cases {
        let mut limits = Limits::default();
        lower(&mut limits);
        let document = documents::parse(&fixture(name), Some(name), &limits).unwrap();
        assert!(
            document.warnings.join("\n").contains(warning),
            "{name}: {:?}",
            document.warnings
        );
    }
}

/// A small generator with a fixed beginning, so that every run damages the same bits.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize
    }

    /// Flips one to eight bits.
    fn flip(&mut self, bytes: &mut [u8]) {
        for _ in 0..=self.next() % 8 {
            let at = self.next() % bytes.len();
            bytes[at] ^= 1 << (self.next() % 8);
        }
    }
}
