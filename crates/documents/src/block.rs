//! What a document is made of, whatever its format. Readers build blocks; `markdown` writes them.
//! Texts in here are inline Markdown already: `inline` makes them.

/// One block of a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block {
    Heading {
        level: u8,
        text: String,
    },
    Paragraph(String),
    Item {
        depth: usize,
        marker: Marker,
        text: String,
    },
    Table(Table),
    /// Text as it stands, with the language if it is known.
    Code {
        language: String,
        text: String,
    },
    Quote(Vec<Block>),
    Rule,
    /// `[^name]: text`
    Note {
        name: String,
        text: String,
    },
}

/// How an item of a list begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Marker {
    Bullet,
    Number(u32),
    /// A further paragraph of the item above.
    Continued,
}

/// A table. Its first row is taken for its head, as Markdown knows no table without one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) rows: Vec<Vec<Cell>>,
}

/// A cell, which covers one place or more. What it covers beyond the first stays empty.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cell {
    pub(crate) blocks: Vec<Block>,
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// More columns than any program lets one make; what lies beyond is a forged number.
pub(crate) const COLUMNS_MAX: usize = 1_024;
const ROWS_MAX: usize = 65_536;

impl Cell {
    pub(crate) fn new(blocks: Vec<Block>) -> Self {
        Self {
            blocks,
            columns: 1,
            rows: 1,
        }
    }

    pub(crate) fn text(text: String) -> Self {
        Self::new(if text.is_empty() {
            Vec::new()
        } else {
            vec![Block::Paragraph(text)]
        })
    }

    pub(crate) fn spanning(mut self, columns: usize, rows: usize) -> Self {
        self.columns = columns.clamp(1, COLUMNS_MAX);
        self.rows = rows.clamp(1, ROWS_MAX);
        self
    }
}

impl Table {
    /// The cells laid out on a grid, `None` where a merged cell reaches, every row as wide as the widest.
    pub(crate) fn grid(&self) -> Vec<Vec<Option<&Cell>>> {
        let mut grid: Vec<Vec<Option<&Cell>>> = Vec::with_capacity(self.rows.len());
        // For each column: in how many further rows a cell from above still covers it.
        let mut covered: Vec<usize> = Vec::new();
        for row in &self.rows {
            let mut line: Vec<Option<&Cell>> = Vec::with_capacity(row.len());
            for cell in row {
                pass_covered(&mut covered, &mut line);
                for offset in 0..cell.columns {
                    if line.len() >= COLUMNS_MAX {
                        break;
                    }
                    let column = line.len();
                    line.push((offset == 0).then_some(cell));
                    if covered.len() <= column {
                        covered.resize(column + 1, 0);
                    }
                    covered[column] = cell.rows - 1;
                }
            }
            pass_covered(&mut covered, &mut line);
            // A row that ends early leaves cells from above further right as they are: one row less to cover.
            for left in covered.iter_mut().skip(line.len()) {
                *left = left.saturating_sub(1);
            }
            grid.push(line);
        }
        let width = grid.iter().map(Vec::len).max().unwrap_or(0);
        for line in &mut grid {
            line.resize(width, None);
        }
        grid
    }

    /// A frame around text rather than a table: Korean forms are full of them.
    pub(crate) fn as_frame(&self) -> Option<&[Block]> {
        match self.rows.as_slice() {
            [row] => match row.as_slice() {
                [cell] => Some(&cell.blocks),
                _ => None,
            },
            _ => None,
        }
    }
}

fn pass_covered(covered: &mut [usize], line: &mut Vec<Option<&Cell>>) {
    while line.len() < COLUMNS_MAX && covered.get(line.len()).is_some_and(|left| *left > 0) {
        covered[line.len()] -= 1;
        line.push(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(table: &Table) -> Vec<String> {
        table
            .grid()
            .iter()
            .map(|row| {
                row.iter()
                    .map(|cell| if cell.is_some() { 'x' } else { '.' })
                    .collect()
            })
            .collect()
    }

    #[test]
    fn merged_cells_keep_the_others_in_their_columns() {
        let one = || Cell::text("a".into());
        let table = Table {
            rows: vec![
                vec![one().spanning(1, 2), one().spanning(2, 1)],
                vec![one(), one()],
                vec![one(), one(), one()],
            ],
        };
        assert_eq!(shape(&table), ["xx.", ".xx", "xxx"]);
    }

    #[test]
    fn forged_spans_are_cut() {
        let table = Table {
            rows: vec![
                vec![Cell::text("a".into()).spanning(usize::MAX, usize::MAX)],
                vec![],
            ],
        };
        let grid = table.grid();
        assert_eq!((grid.len(), grid[0].len()), (2, COLUMNS_MAX));
    }
}
