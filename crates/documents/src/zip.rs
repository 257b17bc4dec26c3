//! Zip archives, as far as documents use them: a directory, and parts stored or deflated. What the directory says is
//! held to the limits before a byte is unpacked, and the unpacked bytes are counted all the same.

use std::cell::Cell;
use std::io::Read;

use flate2::read::DeflateDecoder;

use crate::Limits;
use crate::error::Fault;

const END: &[u8] = b"PK\x05\x06";
const ENTRY: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";
const END_BYTES: usize = 22;
const ENTRY_BYTES: usize = 46;
const LOCAL_BYTES: usize = 30;
const COMMENT_BYTES_MAX: usize = 65_535;

/// An archive whose directory was read and found reasonable.
pub(crate) struct Archive<'b> {
    bytes: &'b [u8],
    entries: Vec<Entry>,
    part_bytes_max: u64,
    unpacked_bytes_max: u64,
    unpacked: Cell<u64>,
}

struct Entry {
    name: String,
    method: u16,
    checksum: u32,
    packed: u64,
    size: u64,
    offset: usize,
}

impl<'b> Archive<'b> {
    pub(crate) fn open(bytes: &'b [u8], limits: &Limits) -> Result<Self, Fault> {
        let broken = Fault::Broken("the directory of the archive cannot be read");
        let end = find_end(bytes).ok_or(Fault::Broken("the end of the file is missing"))?;
        let count = u64::from(u16_at(bytes, end + 10).ok_or(broken)?);
        if count > limits.parts_max {
            return Err(Fault::TooLarge {
                what: "number of parts in the archive",
                limit: limits.parts_max,
            });
        }
        let size = u32_at(bytes, end + 12).ok_or(broken)? as usize;
        let start = u32_at(bytes, end + 16).ok_or(broken)? as usize;
        // Something may stand before the archive; offsets then count from where it begins.
        let directory = end.checked_sub(size).ok_or(broken)?;
        let shift = directory.checked_sub(start).ok_or(broken)?;

        let mut entries = Vec::new();
        let mut at = directory;
        for _ in 0..count {
            let (entry, next) = read_entry(bytes, at, shift)?;
            at = next;
            entries.push(entry);
        }
        check_sizes(&entries, limits)?;
        Ok(Self {
            bytes,
            entries,
            part_bytes_max: limits.part_bytes_max,
            unpacked_bytes_max: limits.unpacked_bytes_max,
            unpacked: Cell::new(0),
        })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// A part, unpacked; `None` if there is none of that name (letter case aside, as the Office formats have it).
    pub(crate) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, Fault> {
        self.find(name).map(|entry| self.unpack(entry)).transpose()
    }

    fn find(&self, name: &str) -> Option<&Entry> {
        let name = name.trim_start_matches('/');
        self.entries
            .iter()
            .find(|entry| entry.name.eq_ignore_ascii_case(name))
    }

    fn unpack(&self, entry: &Entry) -> Result<Vec<u8>, Fault> {
        let broken = Fault::Broken("a part of the archive is cut off");
        if self.bytes.get(entry.offset..entry.offset + 4) != Some(LOCAL) {
            return Err(Fault::Broken(
                "a part of the archive is not where the directory says",
            ));
        }
        let name = u16_at(self.bytes, entry.offset + 26).ok_or(broken)?;
        let extra = u16_at(self.bytes, entry.offset + 28).ok_or(broken)?;
        let start = entry.offset + LOCAL_BYTES + usize::from(name) + usize::from(extra);
        let packed = usize::try_from(entry.packed)
            .ok()
            .and_then(|packed| start.checked_add(packed));
        let packed = packed
            .and_then(|end| self.bytes.get(start..end))
            .ok_or(broken)?;
        let data = match entry.method {
            0 => packed.to_vec(),
            8 => inflate(DeflateDecoder::new(packed), entry.size)?,
            _ => {
                return Err(Fault::Broken(
                    "a part is packed in a way that documents do not use",
                ));
            }
        };
        if data.len() as u64 != entry.size || crc(&data) != entry.checksum {
            return Err(Fault::Broken(
                "a part of the archive does not match its checksum",
            ));
        }
        self.unpacked.set(self.unpacked.get() + data.len() as u64);
        if self.unpacked.get() > self.unpacked_bytes_max {
            return Err(Fault::TooLarge {
                what: "bytes when unpacked",
                limit: self.unpacked_bytes_max,
            });
        }
        debug_assert!(
            entry.size <= self.part_bytes_max,
            "the directory was held to the limit"
        );
        Ok(data)
    }
}

/// Unpacks at most `bytes_max` bytes and takes no more memory than that.
pub(crate) fn inflate(reader: impl Read, bytes_max: u64) -> Result<Vec<u8>, Fault> {
    let mut data = Vec::new();
    let broken = |_| Fault::Broken("packed data cannot be unpacked");
    reader
        .take(bytes_max + 1)
        .read_to_end(&mut data)
        .map_err(broken)?;
    if data.len() as u64 > bytes_max {
        return Err(Fault::Broken("a part is larger than it says"));
    }
    Ok(data)
}

fn find_end(bytes: &[u8]) -> Option<usize> {
    let last = bytes.len().checked_sub(END_BYTES)?;
    let first = last.saturating_sub(COMMENT_BYTES_MAX);
    (first..=last)
        .rev()
        .find(|at| bytes[*at..].starts_with(END))
}

fn read_entry(bytes: &[u8], at: usize, shift: usize) -> Result<(Entry, usize), Fault> {
    let broken = Fault::Broken("the directory of the archive cannot be read");
    let head = bytes
        .get(at..at + ENTRY_BYTES)
        .filter(|head| head.starts_with(ENTRY))
        .ok_or(broken)?;
    let half = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    if half(8) & 1 != 0 {
        return Err(Fault::Encrypted);
    }
    let name_start = at + ENTRY_BYTES;
    let name_end = name_start + usize::from(half(28));
    let next = name_end + usize::from(half(30)) + usize::from(half(32));
    let name = bytes.get(name_start..name_end).ok_or(broken)?;
    let entry = Entry {
        name: String::from_utf8_lossy(name)
            .replace('\\', "/")
            .trim_start_matches('/')
            .to_owned(),
        method: half(10),
        checksum: word(16),
        packed: u64::from(word(20)),
        size: u64::from(word(24)),
        offset: (word(42) as usize).checked_add(shift).ok_or(broken)?,
    };
    Ok((entry, next))
}

fn check_sizes(entries: &[Entry], limits: &Limits) -> Result<(), Fault> {
    let mut total = 0_u64;
    for entry in entries {
        total = total.saturating_add(entry.size);
        if entry.size > limits.part_bytes_max {
            return Err(Fault::TooLarge {
                what: "bytes of one part when unpacked",
                limit: limits.part_bytes_max,
            });
        }
        if entry.size > Limits::RATIO_FREE_BYTES
            && entry.size / entry.packed.max(1) > limits.ratio_max
        {
            return Err(Fault::TooLarge {
                what: "how many times a part grows when unpacked",
                limit: limits.ratio_max,
            });
        }
    }
    if total > limits.unpacked_bytes_max {
        return Err(Fault::TooLarge {
            what: "bytes when unpacked",
            limit: limits.unpacked_bytes_max,
        });
    }
    Ok(())
}

fn crc(data: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(data);
    sum.sum()
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes
        .get(at..at.checked_add(2)?)
        .and_then(|slice| slice.try_into().ok())
        .map(u16::from_le_bytes)
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..at.checked_add(4)?)
        .and_then(|slice| slice.try_into().ok())
        .map(u32::from_le_bytes)
}
