//! A look at the packed streams of a PDF before anything is read from it.
//!
//! The reader unpacks a stream whole, up to a gigabyte of it. So every packed stream is unpacked once beforehand, and one
//! that grows past the limit refuses the document. What is encrypted cannot be looked at; there the reader's own bounds
//! and the memory limit of the process are what is left.

use std::io::Read;

use flate2::read::{DeflateDecoder, ZlibDecoder};

use crate::Limits;
use crate::error::Error;

/// More streams than any document has.
const STREAMS_MAX: u64 = 100_000;
/// How far before its data the dictionary of a stream may begin.
const DICTIONARY_BYTES_MAX: usize = 4 * 1024;
const FILTERS_MAX: usize = 4;
/// More than a page needs. The reader takes up to a hundred times as much memory for them.
const ORDERS_BYTES_MAX: u64 = 8 * 1024 * 1024;

enum Stop {
    TooLarge,
    /// Not of this filter, or not packed at all: nothing that could grow.
    Unreadable,
}

pub(super) fn refuse_bombs(bytes: &[u8], limits: &Limits) -> Result<(), Error> {
    let (mut total, mut streams, mut at) = (0_u64, 0_u64, 0);
    while let Some(found) = find(&bytes[at..], b"stream") {
        let end = at + found + b"stream".len();
        let dictionary = &bytes[(at + found).saturating_sub(DICTIONARY_BYTES_MAX)..at + found];
        at = end;
        if dictionary.ends_with(b"end") {
            continue;
        }
        let own = own_dictionary(dictionary);
        let filters = filters(own);
        let Some(bytes_max) = stream_bytes_max(own, limits) else {
            continue;
        };
        let data = &bytes[end..];
        let data = data
            .strip_prefix(b"\r\n")
            .or_else(|| data.strip_prefix(b"\n"))
            .or_else(|| data.strip_prefix(b"\r"))
            .unwrap_or(data);
        if filters.is_empty() {
            continue;
        }
        streams += 1;
        if streams > STREAMS_MAX {
            return Err(Error::TooLarge {
                what: "number of streams",
                limit: STREAMS_MAX,
            });
        }
        let size = unpack(data, &filters, bytes_max).map_err(|()| Error::TooLarge {
            what: "bytes of one stream when unpacked",
            limit: bytes_max,
        })?;
        total += size;
        if total > limits.unpacked_bytes_max {
            return Err(Error::TooLarge {
                what: "bytes when unpacked",
                limit: limits.unpacked_bytes_max,
            });
        }
    }
    Ok(())
}

/// The size after all filters; an error if any of them makes more than `bytes_max`.
fn unpack(data: &[u8], filters: &[&[u8]], bytes_max: u64) -> Result<u64, ()> {
    let mut stage = run(filters[0], data, bytes_max);
    for filter in &filters[1..] {
        stage = stage.and_then(|data| run(filter, &data, bytes_max));
    }
    match stage {
        Ok(data) => Ok(data.len() as u64),
        Err(Stop::Unreadable) => Ok(0),
        Err(Stop::TooLarge) => Err(()),
    }
}

fn run(filter: &[u8], data: &[u8], bytes_max: u64) -> Result<Vec<u8>, Stop> {
    match filter {
        b"FlateDecode" | b"Fl" => flate(data, bytes_max),
        b"LZWDecode" | b"LZW" => lzw(until_end(data), bytes_max),
        b"RunLengthDecode" | b"RL" => run_length(until_end(data), bytes_max),
        b"ASCII85Decode" | b"A85" => Ok(ascii85(until_end(data))),
        b"ASCIIHexDecode" | b"AHx" => Ok(hexadecimal(until_end(data))),
        _ => Err(Stop::Unreadable),
    }
}

/// The part of what stands before a stream that belongs to it.
fn own_dictionary(before: &[u8]) -> &[u8] {
    before
        .windows(4)
        .rposition(|window| window == b" obj")
        .map_or(before, |at| &before[at..])
}

/// How large a stream may become. Pictures are not unpacked by the reader, whatever their size; a page's drawing orders
/// take many times their length in memory, and they are what has no type.
fn stream_bytes_max(dictionary: &[u8], limits: &Limits) -> Option<u64> {
    let has = |name: &[u8]| find(dictionary, name).is_some();
    if has(b"/Subtype /Image") || has(b"/Subtype/Image") {
        None
    } else if has(b"/Type") || has(b"/Subtype") || has(b"/Length1") {
        Some(limits.part_bytes_max)
    } else {
        Some(limits.part_bytes_max.min(ORDERS_BYTES_MAX))
    }
}

/// The names after `/Filter` in a dictionary.
fn filters(own: &[u8]) -> Vec<&[u8]> {
    let Some(at) = find(own, b"/Filter") else {
        return Vec::new();
    };
    let rest = own[at + b"/Filter".len()..].trim_ascii_start();
    let list = match rest.strip_prefix(b"[") {
        Some(list) => {
            &list[..list
                .iter()
                .position(|byte| *byte == b']')
                .unwrap_or(list.len())]
        }
        None => {
            let end = rest
                .iter()
                .skip(1)
                .position(|byte| !byte.is_ascii_alphanumeric())
                .map_or(rest.len(), |end| end + 1);
            &rest[..end]
        }
    };
    list.split(|byte| *byte == b'/')
        .map(<[u8]>::trim_ascii)
        .filter(|name| !name.is_empty())
        .take(FILTERS_MAX)
        .collect()
}

/// Filters that do not know their own end stop where the stream is said to.
fn until_end(data: &[u8]) -> &[u8] {
    find(data, b"endstream").map_or(data, |end| &data[..end])
}

fn flate(data: &[u8], bytes_max: u64) -> Result<Vec<u8>, Stop> {
    let unpacked = bounded(ZlibDecoder::new(data), bytes_max)?;
    // Some writers leave the head away, and the reader forgives them.
    if unpacked.is_empty() {
        bounded(DeflateDecoder::new(data), bytes_max)
    } else {
        Ok(unpacked)
    }
}

/// Everything up to the limit. Data that breaks off counts as far as it goes.
fn bounded(mut reader: impl Read, bytes_max: u64) -> Result<Vec<u8>, Stop> {
    let mut out = Vec::new();
    let mut buffer = [0; 16 * 1024];
    while let Ok(read @ 1..) = reader.read(&mut buffer) {
        out.extend_from_slice(&buffer[..read]);
        within(&out, bytes_max)?;
    }
    Ok(out)
}

fn lzw(data: &[u8], bytes_max: u64) -> Result<Vec<u8>, Stop> {
    const CLEAR: usize = 256;
    const END: usize = 257;
    const CODES_MAX: usize = 4096;
    let mut out: Vec<u8> = Vec::new();
    // Each code beyond the first 258 is a stretch of what was written already.
    let mut table: Vec<(usize, usize)> = Vec::new();
    let mut previous: Option<(usize, usize)> = None;
    let (mut bits, mut held, mut width) = (0_u32, 0_u32, 9_u32);
    for byte in data {
        bits = bits << 8 | u32::from(*byte);
        held += 8;
        if held < width {
            continue;
        }
        held -= width;
        let code = (bits >> held) as usize & ((1 << width) - 1);
        bits &= (1 << held) - 1;
        match code {
            CLEAR => {
                table.clear();
                previous = None;
                width = 9;
                continue;
            }
            END => break,
            _ => {}
        }
        let start = out.len();
        if code < CLEAR {
            out.push(code as u8);
        } else {
            // A code that is about to be made is the previous one and its first byte again.
            let (from, length) = table
                .get(code - END - 1)
                .copied()
                .or(previous.map(|(from, length)| (from, length + 1)))
                .ok_or(Stop::Unreadable)?;
            for offset in 0..length {
                out.push(out[from + offset]);
            }
        }
        within(&out, bytes_max)?;
        if let Some((from, length)) = previous.filter(|_| table.len() + END + 1 < CODES_MAX) {
            table.push((from, length + 1));
        }
        previous = Some((start, out.len() - start));
        width = match table.len() + END + 2 {
            2048.. => 12,
            1024.. => 11,
            512.. => 10,
            _ => 9,
        };
    }
    Ok(out)
}

fn run_length(data: &[u8], bytes_max: u64) -> Result<Vec<u8>, Stop> {
    let mut out = Vec::new();
    let mut rest = data;
    while let Some((&length, after)) = rest.split_first() {
        match length {
            128 => break,
            0..=127 => {
                let (copied, left) = after.split_at(after.len().min(usize::from(length) + 1));
                out.extend_from_slice(copied);
                rest = left;
            }
            _ => {
                let Some((&byte, left)) = after.split_first() else {
                    break;
                };
                out.extend(std::iter::repeat_n(byte, 257 - usize::from(length)));
                rest = left;
            }
        }
        within(&out, bytes_max)?;
    }
    Ok(out)
}

fn ascii85(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len() / 5 * 4);
    let (mut group, mut filled) = (0_u32, 0);
    for byte in data
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
    {
        match byte {
            b'z' if filled == 0 => out.extend_from_slice(&[0; 4]),
            b'!'..=b'u' => {
                group = group.wrapping_mul(85).wrapping_add(u32::from(byte - b'!'));
                filled += 1;
                if filled == 5 {
                    out.extend_from_slice(&group.to_be_bytes());
                    (group, filled) = (0, 0);
                }
            }
            _ => break,
        }
    }
    if filled > 1 {
        for _ in filled..5 {
            group = group.wrapping_mul(85).wrapping_add(84);
        }
        out.extend_from_slice(&group.to_be_bytes()[..filled - 1]);
    }
    out
}

fn hexadecimal(data: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> = data
        .iter()
        .take_while(|byte| **byte != b'>')
        .filter_map(|byte| char::from(*byte).to_digit(16))
        .map(|digit| digit as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0))
        .collect()
}

fn within(out: &[u8], bytes_max: u64) -> Result<(), Stop> {
    if out.len() as u64 > bytes_max {
        Err(Stop::TooLarge)
    } else {
        Ok(())
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_read_from_the_dictionary_of_the_stream() {
        let two = b"9 0 obj << /Filter /LZWDecode >> endobj 1 0 obj\n<< /Filter [ /ASCII85Decode /FlateDecode ] /Length 9 >>\n";
        assert_eq!(
            filters(own_dictionary(two)),
            [b"ASCII85Decode".as_slice(), b"FlateDecode"]
        );
        assert_eq!(
            filters(b"1 0 obj <</Filter/FlateDecode/Length 9>>"),
            [b"FlateDecode".as_slice()]
        );
        assert!(filters(b"1 0 obj <</Length 9>>").is_empty());
    }

    #[test]
    fn the_example_of_the_specification_unpacks() {
        // PDF 32000-1, 7.4.4.2: the encoding of 45 45 45 45 45 65 45 45 45 66.
        let packed = [0x80, 0x0B, 0x60, 0x50, 0x22, 0x0C, 0x0C, 0x85, 0x01];
        assert!(
            matches!(lzw(&packed, 100), Ok(data) if data == [45, 45, 45, 45, 45, 65, 45, 45, 45, 66])
        );
        assert_eq!(ascii85(b"87cURD]i,\"Ebo80~>"), b"Hello World!");
        assert!(
            matches!(run_length(&[254, b'a', 1, b'b', b'c', 128], 100), Ok(data) if data == b"aaabc")
        );
        assert_eq!(hexadecimal(b"48 65 6C6C6F>"), b"Hello");
    }
}
