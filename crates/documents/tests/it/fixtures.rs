//! Documents that other programs made; see scripts/make-documents.

use std::io::Read;
use std::path::PathBuf;

use documents::{Document, Error, Limits};
use flate2::read::DeflateDecoder;

/// A document that another program made; see scripts/make-documents.
pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let path = folder().join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of all fixtures.
pub(crate) fn fixtures() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the fixtures are there");
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry
                .expect("a file")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

pub(crate) fn parse(name: &str) -> Result<Document, Error> {
    documents::parse(&fixture(name), Some(name), &Limits::default())
}

/// The parts of an honest archive, unpacked.
pub(crate) fn unpack(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let word =
        |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
    let half = |at: usize| {
        usize::from(u16::from_le_bytes(
            bytes[at..at + 2].try_into().expect("two bytes"),
        ))
    };
    let end = bytes
        .windows(4)
        .rposition(|window| window == b"PK\x05\x06")
        .expect("an archive");
    let mut at = word(end + 16);
    let mut parts = Vec::new();
    for _ in 0..half(end + 10) {
        let name = String::from_utf8_lossy(&bytes[at + 46..at + 46 + half(at + 28)]).into_owned();
        let local = word(at + 42);
        let data = local + 30 + half(local + 26) + half(local + 28);
        let packed = &bytes[data..data + word(at + 20)];
        let mut content = Vec::new();
        match half(at + 10) {
            0 => content.extend(packed),
            _ => drop(
                DeflateDecoder::new(packed)
                    .read_to_end(&mut content)
                    .expect("deflated"),
            ),
        }
        parts.push((name, content));
        at += 46 + half(at + 28) + half(at + 30) + half(at + 32);
    }
    parts
}
