//! Records: the tag, the depth and the bytes of everything in an HWP stream.

use crate::Limits;
use crate::error::Fault;
use crate::zip::u32_at;

/// One record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'d> {
    pub(super) tag: u16,
    pub(super) level: u16,
    pub(super) data: &'d [u8],
}

const TAG_BEGIN: u16 = 0x10;
pub(super) const CHAR_SHAPE: u16 = TAG_BEGIN + 5;
pub(super) const NUMBERING: u16 = TAG_BEGIN + 7;
pub(super) const PARA_SHAPE: u16 = TAG_BEGIN + 9;
pub(super) const STYLE: u16 = TAG_BEGIN + 10;
pub(super) const PARA_HEADER: u16 = TAG_BEGIN + 50;
pub(super) const PARA_TEXT: u16 = TAG_BEGIN + 51;
pub(super) const PARA_CHAR_SHAPE: u16 = TAG_BEGIN + 52;
pub(super) const CTRL_HEADER: u16 = TAG_BEGIN + 55;
pub(super) const LIST_HEADER: u16 = TAG_BEGIN + 56;
pub(super) const EQUATION: u16 = TAG_BEGIN + 72;

/// Sizes of 0xFFF mean that the true size follows.
const LONG: u32 = 0xfff;

/// All records of a stream.
pub(super) fn records<'d>(data: &'d [u8], limits: &Limits) -> Result<Vec<Record<'d>>, Fault> {
    let mut records = Vec::new();
    let mut at = 0;
    while at + 4 <= data.len() {
        let head = u32_at(data, at).unwrap_or(0);
        at += 4;
        let mut size = head >> 20;
        if size == LONG {
            size = u32_at(data, at).ok_or(Fault::Broken("its text is cut off"))?;
            at += 4;
        }
        let end = at.checked_add(size as usize);
        let bytes = end
            .and_then(|end| data.get(at..end))
            .ok_or(Fault::Broken("its text is cut off"))?;
        let level = (head >> 10 & 0x3ff) as u16;
        if u64::from(level) > limits.depth_max {
            return Err(Fault::TooLarge {
                what: "depth of nested parts",
                limit: limits.depth_max,
            });
        }
        if records.len() as u64 >= limits.nodes_max {
            return Err(Fault::TooLarge {
                what: "number of parts",
                limit: limits.nodes_max,
            });
        }
        records.push(Record {
            tag: (head & 0x3ff) as u16,
            level,
            data: bytes,
        });
        at += size as usize;
    }
    Ok(records)
}
