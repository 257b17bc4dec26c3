//! Archives made by hand, honest and otherwise.

use std::io::Write;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

/// A part of an archive: its name, what it holds, and the size that the directory gives it.
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) packed: Vec<u8>,
    pub(crate) size: u32,
    pub(crate) checksum: u32,
}

impl Part {
    pub(crate) fn new(name: &str, content: &[u8]) -> Self {
        let mut sum = Crc::new();
        sum.update(content);
        Self {
            name: name.to_owned(),
            packed: deflate(content),
            size: content.len() as u32,
            checksum: sum.sum(),
        }
    }
}

/// An archive of these parts.
pub(crate) fn archive(parts: &[Part]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    for part in parts {
        let offset = bytes.len() as u32;
        bytes.extend(b"PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0");
        let sizes = [part.checksum, part.packed.len() as u32, part.size];
        let name = [part.name.len() as u16, 0];
        sizes
            .iter()
            .for_each(|word| bytes.extend(word.to_le_bytes()));
        name.iter()
            .for_each(|half| bytes.extend(half.to_le_bytes()));
        bytes.extend(part.name.as_bytes());
        bytes.extend(&part.packed);
        directory.extend(b"PK\x01\x02\x14\0\x14\0\0\0\x08\0\0\0\0\0");
        sizes
            .iter()
            .for_each(|word| directory.extend(word.to_le_bytes()));
        name.iter()
            .for_each(|half| directory.extend(half.to_le_bytes()));
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(part.name.as_bytes());
    }
    let start = bytes.len() as u32;
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend((parts.len() as u16).to_le_bytes());
    bytes.extend((parts.len() as u16).to_le_bytes());
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

pub(crate) fn deflate(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(content).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}
