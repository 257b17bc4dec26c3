//! How much of a document is read. Every number is finite, and each is checked before the memory is taken.

use serde::{Deserialize, Serialize};

const MIB: u64 = 1024 * 1024;

/// Bounds on one document. The defaults keep a reader under some 700 MiB of memory, whatever the document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Bytes of the document as sent.
    pub input_bytes_max: u64,
    /// Bytes that all parts of an archive may have when unpacked, by their own word and as counted.
    pub unpacked_bytes_max: u64,
    /// Bytes that one part, or one stream of a PDF, may have when unpacked.
    pub part_bytes_max: u64,
    /// How many times larger than packed a part may be, once it is over [`Limits::RATIO_FREE_BYTES`].
    pub ratio_max: u64,
    /// Parts in an archive, or streams in a compound file.
    pub parts_max: u64,
    /// Depth of nested elements.
    pub depth_max: u64,
    /// Elements and texts of one XML or HTML part.
    pub nodes_max: u64,
    /// Pages of a PDF or slides of a presentation; the rest is left out with a warning.
    pub pages_max: u64,
    /// Cells of all sheets or rows of a CSV file together; the rest is left out with a warning.
    pub cells_max: u64,
    /// Bytes of Markdown; the rest is left out with a warning.
    pub markdown_bytes_max: u64,
}

impl Limits {
    /// Parts smaller than this may be packed as tightly as they like: they cannot hurt.
    pub const RATIO_FREE_BYTES: u64 = 4 * MIB;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            input_bytes_max: 32 * MIB,
            unpacked_bytes_max: 256 * MIB,
            part_bytes_max: 64 * MIB,
            ratio_max: 200,
            parts_max: 10_000,
            depth_max: 200,
            nodes_max: 3_000_000,
            pages_max: 2_000,
            cells_max: 500_000,
            markdown_bytes_max: 4 * MIB,
        }
    }
}
