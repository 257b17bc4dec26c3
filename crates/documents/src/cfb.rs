//! Compound files (the container of HWP 5 and of locked Office documents), read only. Every chain of sectors is
//! followed for as many steps as the file has sectors and no further.

use crate::error::Fault;
use crate::zip::{u16_at, u32_at};

pub(crate) const SIGNATURE: &[u8] = &[0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1];
const END_OF_CHAIN: u32 = 0xFFFF_FFFE;
const HEADER_TABLES: usize = 109;
const ENTRY_BYTES: usize = 128;
const BROKEN: Fault = Fault::Broken("the tables of the compound file do not hold together");

/// An opened compound file.
pub(crate) struct Compound<'b> {
    bytes: &'b [u8],
    sector_bytes: usize,
    small_sector_bytes: usize,
    small_below: u64,
    table: Vec<u32>,
    small_table: Vec<u32>,
    small_data: Vec<u8>,
    entries: Vec<Entry>,
}

struct Entry {
    path: String,
    start: u32,
    size: u64,
}

impl<'b> Compound<'b> {
    pub(crate) fn open(bytes: &'b [u8], parts_max: u64) -> Result<Self, Fault> {
        if !bytes.starts_with(SIGNATURE) {
            return Err(BROKEN);
        }
        let shift = |at| {
            u16_at(bytes, at)
                .filter(|shift| (6..=16).contains(shift))
                .ok_or(BROKEN)
        };
        let mut file = Self {
            bytes,
            sector_bytes: 1 << shift(30)?,
            small_sector_bytes: 1 << shift(32)?,
            small_below: u64::from(u32_at(bytes, 56).ok_or(BROKEN)?),
            table: Vec::new(),
            small_table: Vec::new(),
            small_data: Vec::new(),
            entries: Vec::new(),
        };
        file.table = file.read_table()?;
        let small_start = u32_at(bytes, 60).ok_or(BROKEN)?;
        file.small_table = words(&file.chain(small_start, u64::MAX)?);
        file.read_directory(u32_at(bytes, 48).ok_or(BROKEN)?, parts_max)?;
        Ok(file)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.path.as_str())
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.entries.iter().any(|entry| entry.path == path)
    }

    /// A stream by its path, such as `BodyText/Section0`.
    pub(crate) fn read(&self, path: &str) -> Result<Option<Vec<u8>>, Fault> {
        let Some(entry) = self.entries.iter().find(|entry| entry.path == path) else {
            return Ok(None);
        };
        let data = if entry.size < self.small_below {
            self.small_chain(entry)?
        } else {
            self.chain(entry.start, entry.size)?
        };
        if (data.len() as u64) < entry.size {
            return Err(Fault::Broken("a stream of the compound file is cut off"));
        }
        Ok(Some(data))
    }

    /// Where the sectors' successors stand: 109 sectors named in the head, further ones in a chain of their own.
    fn read_table(&self) -> Result<Vec<u32>, Fault> {
        let mut sectors: Vec<u32> = (0..HEADER_TABLES)
            .filter_map(|at| u32_at(self.bytes, 76 + at * 4))
            .collect();
        let mut next = u32_at(self.bytes, 68).ok_or(BROKEN)?;
        let mut steps = 0;
        while next < END_OF_CHAIN - 1 {
            steps += 1;
            if steps > self.sector_count() {
                return Err(BROKEN);
            }
            let mut more = words(self.sector(next).ok_or(BROKEN)?);
            next = more.pop().ok_or(BROKEN)?;
            sectors.extend(more);
        }
        sectors.retain(|sector| *sector < END_OF_CHAIN - 1);
        if sectors.len() > self.sector_count() {
            return Err(BROKEN);
        }
        let mut table = Vec::new();
        for sector in sectors {
            table.extend(words(self.sector(sector).ok_or(BROKEN)?));
        }
        Ok(table)
    }

    fn read_directory(&mut self, start: u32, parts_max: u64) -> Result<(), Fault> {
        let data = self.chain(start, u64::MAX)?;
        let raw: Vec<&[u8]> = data.chunks_exact(ENTRY_BYTES).collect();
        if raw.len() as u64 > parts_max {
            return Err(Fault::TooLarge {
                what: "number of streams in the file",
                limit: parts_max,
            });
        }
        let root = raw.first().ok_or(BROKEN)?;
        self.small_data = self.chain(u32_at(root, 116).ok_or(BROKEN)?, u64::MAX)?;
        // Each storage holds a binary tree of its children. Seen once is enough: a second way to an entry is a loop.
        let mut seen = vec![false; raw.len()];
        let mut waiting = vec![(u32_at(root, 76).unwrap_or(u32::MAX), String::new())];
        while let Some((id, parent)) = waiting.pop() {
            let Some(entry) = raw.get(id as usize) else {
                continue;
            };
            if std::mem::replace(&mut seen[id as usize], true) {
                continue;
            }
            let path = format!("{parent}{}", entry_name(entry));
            let link = |at| u32_at(entry, at).unwrap_or(u32::MAX);
            waiting.push((link(68), parent.clone()));
            waiting.push((link(72), parent));
            match entry[66] {
                1 => waiting.push((link(76), format!("{path}/"))),
                2 => self.entries.push(Entry {
                    path,
                    start: link(116),
                    size: u64::from(link(120)),
                }),
                _ => {}
            }
        }
        Ok(())
    }

    fn chain(&self, start: u32, size: u64) -> Result<Vec<u8>, Fault> {
        let wanted = usize::try_from(size).unwrap_or(usize::MAX);
        let mut data = Vec::new();
        let mut next = start;
        while next < END_OF_CHAIN - 1 && data.len() < wanted {
            if data.len() > self.bytes.len() {
                return Err(BROKEN);
            }
            data.extend_from_slice(self.sector(next).ok_or(BROKEN)?);
            next = *self.table.get(next as usize).ok_or(BROKEN)?;
        }
        data.truncate(wanted);
        Ok(data)
    }

    fn small_chain(&self, entry: &Entry) -> Result<Vec<u8>, Fault> {
        let wanted = usize::try_from(entry.size).map_err(|_| BROKEN)?;
        let mut data = Vec::new();
        let mut next = entry.start;
        while next < END_OF_CHAIN - 1 && data.len() < wanted {
            let from = (next as usize)
                .checked_mul(self.small_sector_bytes)
                .ok_or(BROKEN)?;
            let sector = self.small_data.get(from..).ok_or(BROKEN)?;
            data.extend_from_slice(&sector[..sector.len().min(self.small_sector_bytes)]);
            if data.len() > self.small_data.len() + self.small_sector_bytes {
                return Err(BROKEN);
            }
            next = *self.small_table.get(next as usize).ok_or(BROKEN)?;
        }
        data.truncate(wanted);
        Ok(data)
    }

    fn sector(&self, number: u32) -> Option<&'b [u8]> {
        let from = (number as usize)
            .checked_add(1)?
            .checked_mul(self.sector_bytes)?;
        let rest = self.bytes.get(from..)?;
        // The last sector of a file is often written short.
        Some(&rest[..rest.len().min(self.sector_bytes)]).filter(|sector| !sector.is_empty())
    }

    fn sector_count(&self) -> usize {
        self.bytes.len() / self.sector_bytes + 1
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .chunks_exact(4)
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

fn entry_name(entry: &[u8]) -> String {
    let length = usize::from(u16_at(entry, 64).unwrap_or(0))
        .saturating_sub(2)
        .min(64);
    utf16(&entry[..length])
}

/// Text of 16-bit units, little end first.
pub(crate) fn utf16(bytes: &[u8]) -> String {
    let units = bytes
        .chunks_exact(2)
        .map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
    char::decode_utf16(units)
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}
