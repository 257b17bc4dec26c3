//! HWP 5: Hangul documents as a compound file of records.

mod body;
mod info;
mod record;

use flate2::read::DeflateDecoder;

use crate::cfb::{Compound, utf16};
use crate::error::{Error, Fault, Format};
use crate::metadata::Metadata;
use crate::text::with_plain_lines;
use crate::zip::{inflate, u16_at, u32_at};
use crate::{Document, Limits};

const SIGNATURE: &[u8] = b"HWP Document File";
const COMPRESSED: u32 = 1;
const PASSWORD: u32 = 1 << 1;
const DISTRIBUTION: u32 = 1 << 2;
const RIGHTS_MANAGED: u32 = 1 << 4;
const CERTIFICATE: u32 = 1 << 8;

pub(crate) fn parse(file: &Compound<'_>, limits: &Limits) -> Result<Document, Error> {
    let broken = |why| Error::Corrupt {
        format: Format::Hwp,
        why,
    };
    let head = file
        .read("FileHeader")
        .map_err(|fault| fault.of(Format::Hwp))?
        .unwrap_or_default();
    if !head.starts_with(SIGNATURE) {
        return Err(broken("its header is not that of an HWP document"));
    }
    let version = u32_at(&head, 32).ok_or(broken("its header is cut off"))?;
    let flags = u32_at(&head, 36).ok_or(broken("its header is cut off"))?;
    if flags & (PASSWORD | RIGHTS_MANAGED | CERTIFICATE) != 0 {
        return Err(Error::Encrypted(Format::Hwp));
    }
    let mut metadata = Metadata::new(Format::Hwp);
    metadata.text(
        "version",
        &format!(
            "{}.{}.{}.{}",
            version >> 24,
            version >> 16 & 255,
            version >> 8 & 255,
            version & 255
        ),
    );
    properties(file, &mut metadata);
    if flags & DISTRIBUTION != 0 {
        return preview(file, metadata, limits);
    }
    read(file, flags & COMPRESSED != 0, metadata, limits).map_err(|fault| fault.of(Format::Hwp))
}

fn read(
    file: &Compound<'_>,
    compressed: bool,
    mut metadata: Metadata,
    limits: &Limits,
) -> Result<Document, Fault> {
    let mut unpacked_left = limits.unpacked_bytes_max;
    let mut stream = |path: &str| -> Result<Vec<u8>, Fault> {
        let data = file
            .read(path)?
            .ok_or(Fault::Broken("a part of it is missing"))?;
        let data = if compressed {
            unpack(&data, unpacked_left.min(limits.part_bytes_max), limits)?
        } else {
            data
        };
        unpacked_left = unpacked_left.saturating_sub(data.len() as u64);
        Ok(data)
    };
    let info = info::read(&stream("DocInfo")?, limits)?;
    let mut sections: Vec<(u32, &str)> = file
        .names()
        .filter_map(|name| Some((name.strip_prefix("BodyText/Section")?.parse().ok()?, name)))
        .collect();
    sections.sort_unstable();
    if sections.is_empty() {
        return Err(Fault::Broken("it has no text"));
    }
    let mut reader = body::Reader::new(info);
    let mut blocks = Vec::new();
    for (_, name) in &sections {
        reader.section(&stream(name)?, limits, &mut blocks)?;
    }
    blocks.append(&mut reader.notes);
    metadata.number("sections", sections.len());
    Ok(crate::write(&blocks, metadata, reader.warnings, limits))
}

/// A stream of a compressed document. How large it will be, nothing says; so it is counted.
fn unpack(data: &[u8], bytes_max: u64, limits: &Limits) -> Result<Vec<u8>, Fault> {
    let ratio_bound = (data.len() as u64)
        .saturating_mul(limits.ratio_max)
        .max(Limits::RATIO_FREE_BYTES);
    let bound = ratio_bound.min(bytes_max);
    inflate(DeflateDecoder::new(data), bound).map_err(|fault| match fault {
        Fault::Broken("a part is larger than it says") => Fault::TooLarge {
            what: "bytes of one part when unpacked",
            limit: bound,
        },
        fault => fault,
    })
}

/// A document for distribution has its text locked. What the file manager shows of it is open: better than nothing.
fn preview(file: &Compound<'_>, metadata: Metadata, limits: &Limits) -> Result<Document, Error> {
    let preview = file
        .read("PrvText")
        .map_err(|fault| fault.of(Format::Hwp))?
        .unwrap_or_default();
    let text = with_plain_lines(&utf16(&preview));
    if text.trim().is_empty() {
        return Err(Error::DistributionDocument);
    }
    let warning = "this document is for distribution only (배포용 문서): its text is locked, so only the preview, its first page or so, is here";
    let mut writer = crate::Writer::new(limits.markdown_bytes_max);
    writer.raw(&text);
    Ok(crate::finish(
        writer,
        metadata,
        vec![warning.to_owned()],
        limits,
    ))
}

/// Title and author from the summary, a property set of OLE. Never worth an error.
fn properties(file: &Compound<'_>, metadata: &mut Metadata) {
    let Ok(Some(data)) = file.read("\u{5}HwpSummaryInformation") else {
        return;
    };
    let Some(set) = u32_at(&data, 44).and_then(|at| data.get(at as usize..)) else {
        return;
    };
    let count = u32_at(set, 4).unwrap_or(0).min(64) as usize;
    for entry in 0..count {
        let (Some(id), Some(at)) = (u32_at(set, 8 + entry * 8), u32_at(set, 12 + entry * 8)) else {
            return;
        };
        let key = match id {
            2 => "title",
            3 => "subject",
            4 => "author",
            _ => continue,
        };
        metadata.text(key, &property_text(set, at as usize).unwrap_or_default());
    }
}

fn property_text(set: &[u8], at: usize) -> Option<String> {
    const WIDE_TEXT: u16 = 0x1f;
    if u16_at(set, at)? != WIDE_TEXT {
        return None;
    }
    let length = u32_at(set, at.checked_add(4)?)? as usize;
    let from = at.checked_add(8)?;
    let bytes = set.get(from..from.checked_add(length.checked_mul(2)?)?)?;
    Some(utf16(bytes).trim_end_matches('\0').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Damage to a compressed stream is found when it is unpacked; so here it is done to the records themselves.
    #[test]
    fn damaged_records_end_in_a_result_or_a_fault() {
        let limits = Limits::default();
        let mut state = 0x2026_1114_u64;
        let mut chance = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 16) as usize
        };
        let mut read = 0;
        let files: [&[u8]; 2] = [
            include_bytes!("../../tests/fixtures/report.hwp"),
            include_bytes!("../../tests/fixtures/rhwp.hwp"),
        ];
        for bytes in files {
            let file = Compound::open(bytes, limits.parts_max).unwrap();
            let stream =
                |path: &str| unpack(&file.read(path).unwrap().unwrap(), 1 << 20, &limits).unwrap();
            let (info, section) = (stream("DocInfo"), stream("BodyText/Section0"));
            for _ in 0..2_000 {
                let (mut info, mut section) = (info.clone(), section.clone());
                for _ in 0..=chance() % 4 {
                    let (in_info, in_section) = (chance() % info.len(), chance() % section.len());
                    info[in_info] ^= 1 << (chance() % 8);
                    section[in_section] ^= 1 << (chance() % 8);
                }
                let Ok(info) = info::read(&info, &limits) else {
                    continue;
                };
                let mut blocks = Vec::new();
                read += usize::from(
                    body::Reader::new(info)
                        .section(&section, &limits, &mut blocks)
                        .is_ok(),
                );
            }
        }
        assert!(
            read > 100,
            "only {read} were read: the damage does not reach the reader"
        );
    }

    #[test]
    fn a_stream_that_unpacks_without_end_is_refused() {
        use std::io::Write;
        let mut packed =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&vec![0; 8 << 20]).unwrap();
        let packed = packed.finish().unwrap();
        assert!(matches!(
            unpack(&packed, 64 << 20, &Limits::default()),
            Err(Fault::TooLarge { .. })
        ));
    }
}
