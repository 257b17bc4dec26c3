//! The table of pieces: 512 numbers for each, in as few bits as they need, unpacked when a piece is looked up.

use crate::error::Error;

/// Numbers of a row.
pub(crate) const WIDTH: usize = 512;
/// Bits of a code, of the rows that come first and so on.
pub(crate) const BITS: [usize; 5] = [2, 3, 4, 5, 6];

/// The rows of all pieces, used where they lie in the model.
#[derive(Debug)]
pub(crate) struct Table {
    grids: Vec<Grid>,
    row_grids: &'static [u8],
    row_bases: &'static [u8],
    /// Rows with codes of the same number of bits, in the order of `BITS`.
    shelves: [Shelf; BITS.len()],
}

/// Numbers at equal distances, of which a row's numbers are some.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    pub(crate) lowest: f32,
    pub(crate) step: f32,
}

#[derive(Debug, Clone, Copy)]
struct Shelf {
    bits: usize,
    /// The piece whose row is the first here.
    first: usize,
    codes: &'static [u8],
}

impl Table {
    /// `counts` are the rows of each shelf; `codes` takes so many bytes from the model.
    pub(crate) fn new(
        grids: Vec<Grid>,
        row_grids: &'static [u8],
        row_bases: &'static [u8],
        counts: [usize; BITS.len()],
        mut codes: impl FnMut(usize) -> Result<&'static [u8], Error>,
    ) -> Result<Self, Error> {
        let mut first = 0;
        let mut shelves = BITS.map(|bits| Shelf {
            bits,
            first: 0,
            codes: &[],
        });
        for (shelf, count) in shelves.iter_mut().zip(counts) {
            shelf.first = first;
            shelf.codes = codes(count * shelf.bits * WIDTH / 8)?;
            first += count;
        }
        let is_whole = first == row_grids.len()
            && first == row_bases.len()
            && row_grids
                .iter()
                .all(|grid| usize::from(*grid) < grids.len());
        let table = Self {
            grids,
            row_grids,
            row_bases,
            shelves,
        };
        is_whole
            .then_some(table)
            .ok_or(Error::Damaged("its table is not that of its pieces"))
    }

    /// Writes the row of a piece.
    pub(crate) fn read(&self, piece: u32, row: &mut [f32]) {
        let piece = piece as usize;
        let after = self.shelves.partition_point(|shelf| shelf.first <= piece);
        let shelf = self.shelves[after - 1];
        let row_bytes = shelf.bits * WIDTH / 8;
        let codes = &shelf.codes[(piece - shelf.first) * row_bytes..][..row_bytes];
        let grid = self.grids[usize::from(self.row_grids[piece])];
        let base = u32::from(self.row_bases[piece]);
        // Eight codes are as many bytes as one has bits.
        for (bytes, numbers) in codes
            .chunks_exact(shelf.bits)
            .zip(row.as_chunks_mut::<8>().0)
        {
            let mut eight = [0; 8];
            eight[..shelf.bits].copy_from_slice(bytes);
            let eight = u64::from_le_bytes(eight);
            for (index, number) in numbers.iter_mut().enumerate() {
                let code = (eight >> (index * shelf.bits)) as u32 & ((1 << shelf.bits) - 1);
                *number = (base + code) as f32 * grid.step + grid.lowest;
            }
        }
    }
}
