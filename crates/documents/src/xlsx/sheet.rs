//! One sheet: its cells, read one by one, and the table they make.

use std::collections::{BTreeMap, HashSet};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::values::Formats;
use crate::Limits;
use crate::error::Fault;
use crate::inline::{escape, link};
use crate::markdown::{Writer, one_line};
use crate::package::Relations;
use crate::xml;

/// What the sheets of a workbook share.
pub(super) struct Book {
    pub(super) strings: Vec<Box<str>>,
    pub(super) formats: Formats,
}

/// The cells of a sheet that hold something, by row and column.
#[derive(Default)]
pub(super) struct Sheet {
    rows: BTreeMap<u32, BTreeMap<u32, String>>,
    without_result: u64,
    was_cut: bool,
    merged: u64,
}

/// The cell being read.
#[derive(Default)]
struct Cell {
    row: u32,
    column: u32,
    kind: String,
    style: usize,
    value: String,
    formula: String,
    has_formula: bool,
}

/// Which text inside a cell the reader is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    Value,
    Formula,
}

struct SheetReader<'a> {
    book: &'a Book,
    links: &'a Relations,
    sheet: Sheet,
    cell: Cell,
    place: Place,
    in_reading: bool,
    next_row: u32,
    next_column: u32,
}

const BROKEN: Fault = Fault::Broken("one of its sheets cannot be read");
const ROWS_MAX: u32 = 1_048_576;
const COLUMNS_MAX: u32 = 16_384;

impl Sheet {
    pub(super) fn read(
        bytes: &[u8],
        book: &Book,
        links: &Relations,
        cells_left: &mut u64,
        limits: &Limits,
    ) -> Result<Self, Fault> {
        let source = xml::decode(bytes)?;
        let mut xml = Reader::from_str(&source);
        let mut reader = SheetReader {
            book,
            links,
            sheet: Sheet::default(),
            cell: Cell::default(),
            place: Place::Outside,
            in_reading: false,
            next_row: 0,
            next_column: 0,
        };
        let mut depth = 0_u64;
        loop {
            match xml.read_event().map_err(|_| BROKEN)? {
                Event::Start(start) => {
                    depth += 1;
                    if depth > limits.depth_max {
                        return Err(Fault::TooLarge {
                            what: "depth of nested elements",
                            limit: limits.depth_max,
                        });
                    }
                    reader.open(&start)?;
                }
                Event::Empty(start) => {
                    reader.open(&start)?;
                    reader.close(start.local_name().as_ref(), cells_left);
                }
                Event::End(end) => {
                    depth = depth.saturating_sub(1);
                    reader.close(end.local_name().as_ref(), cells_left);
                }
                Event::Text(text) => reader.text(&text.xml10_content()),
                Event::CData(text) => reader.text(&text.xml10_content()),
                Event::GeneralRef(reference) => {
                    let c = xml::resolve(&reference)?;
                    reader.text(c.encode_utf8(&mut [0; 4]));
                }
                Event::DocType(_) => {
                    return Err(Fault::Broken(
                        "it declares a document type, which no document of its kind does",
                    ));
                }
                Event::Eof if depth > 0 => return Err(BROKEN),
                Event::Eof => return Ok(reader.sheet),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            }
        }
    }

    /// The table, without the rows and columns that hold nothing: a cell far out must not cost a million empty ones.
    pub(super) fn write(&self, writer: &mut Writer) {
        let used: HashSet<u32> = self
            .rows
            .values()
            .flat_map(BTreeMap::keys)
            .copied()
            .collect();
        let mut columns: Vec<u32> = used.into_iter().collect();
        columns.sort_unstable();
        for (at, row) in self.rows.values().enumerate() {
            writer.row(columns.iter().map(|column| {
                row.get(column)
                    .map(|text| one_line(text))
                    .unwrap_or_default()
            }));
            if at == 0 {
                writer.row(std::iter::repeat_n("---".to_owned(), columns.len()));
            }
            if writer.is_full() {
                return;
            }
        }
        if !self.rows.is_empty() {
            writer.end_table();
        }
    }

    pub(super) fn warnings(&self, name: &str) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.without_result > 0 {
            warnings.push(format!(
                "{} formula(s) of the sheet '{name}' were saved without a result; the formula itself is shown (open and save the workbook to have results)",
                self.without_result
            ));
        }
        if self.merged > 0 {
            warnings.push(format!("the sheet '{name}' has {} merged range(s); the text stands in the first cell of each", self.merged));
        }
        if self.was_cut {
            warnings.push(format!(
                "the sheet '{name}' has more cells than are read; the rest is left out"
            ));
        }
        warnings
    }
}

impl SheetReader<'_> {
    fn open(&mut self, start: &BytesStart<'_>) -> Result<(), Fault> {
        match start.local_name().as_ref() {
            "row" => {
                let named = attribute(start, "r")?
                    .and_then(|row| row.parse::<u32>().ok())
                    .filter(|row| (1..=ROWS_MAX).contains(row));
                self.next_row = named.unwrap_or(self.next_row.saturating_add(1));
                self.next_column = 0;
            }
            "c" => self.open_cell(start)?,
            "v" | "t" if !self.in_reading => self.place = Place::Value,
            "f" => {
                self.cell.has_formula = true;
                self.place = Place::Formula;
            }
            "rPh" => self.in_reading = true,
            "mergeCell" => self.sheet.merged += 1,
            "hyperlink" => self.hyperlink(start)?,
            _ => {}
        }
        Ok(())
    }

    fn open_cell(&mut self, start: &BytesStart<'_>) -> Result<(), Fault> {
        let place = attribute(start, "r")?.and_then(|name| place(&name));
        let (row, column) = place.unwrap_or((self.next_row, self.next_column.saturating_add(1)));
        self.next_column = column;
        self.cell = Cell {
            row,
            column,
            kind: attribute(start, "t")?.unwrap_or_default(),
            style: attribute(start, "s")?
                .and_then(|style| style.parse().ok())
                .unwrap_or(0),
            ..Cell::default()
        };
        Ok(())
    }

    fn text(&mut self, text: &str) {
        match self.place {
            Place::Value => self.cell.value.push_str(text),
            Place::Formula => self.cell.formula.push_str(text),
            Place::Outside => {}
        }
    }

    fn close(&mut self, name: &str, cells_left: &mut u64) {
        match name {
            "v" | "t" | "f" => self.place = Place::Outside,
            "rPh" => self.in_reading = false,
            "c" => {
                let cell = std::mem::take(&mut self.cell);
                self.keep(&cell, cells_left);
            }
            _ => {}
        }
    }

    fn keep(&mut self, cell: &Cell, cells_left: &mut u64) {
        let text = self.shown(cell);
        if text.trim().is_empty() {
            return;
        }
        if *cells_left == 0 {
            self.sheet.was_cut = true;
            return;
        }
        *cells_left -= 1;
        self.sheet
            .rows
            .entry(cell.row)
            .or_default()
            .insert(cell.column, text);
    }

    fn shown(&mut self, cell: &Cell) -> String {
        if cell.value.is_empty() && cell.has_formula && cell.kind != "str" {
            self.sheet.without_result += 1;
            // Only the first cell of a shared formula has its text.
            return if cell.formula.is_empty() {
                "=…".to_owned()
            } else {
                format!("`={}`", cell.formula.replace('`', "'"))
            };
        }
        match cell.kind.as_str() {
            "s" => {
                let text = cell
                    .value
                    .trim()
                    .parse::<usize>()
                    .ok()
                    .and_then(|at| self.book.strings.get(at));
                escape(text.map_or("", |text| text))
            }
            "b" => (if cell.value.trim() == "1" {
                "TRUE"
            } else {
                "FALSE"
            })
            .to_owned(),
            "str" | "inlineStr" | "e" => escape(&cell.value),
            "d" => cell.value.clone(),
            _ => self.book.formats.show(&cell.value, cell.style),
        }
    }

    /// Links come after the cells, and name the cell they belong to.
    fn hyperlink(&mut self, start: &BytesStart<'_>) -> Result<(), Fault> {
        let target = attribute(start, "r:id")?;
        let Some(target) = target.as_deref().and_then(|id| self.links.address(id)) else {
            return Ok(());
        };
        let cell =
            attribute(start, "ref")?.and_then(|name| place(name.split(':').next().unwrap_or("")));
        if let Some(text) =
            cell.and_then(|(row, column)| self.sheet.rows.get_mut(&row)?.get_mut(&column))
        {
            *text = link(text, target);
        }
        Ok(())
    }
}

/// An attribute by its full name, or, for `r:id`, by that name under whatever prefix.
fn attribute(start: &BytesStart<'_>, name: &str) -> Result<Option<String>, Fault> {
    let local = name.split_once(':').map(|(_, local)| local);
    for attribute in start.attributes().with_checks(false) {
        let attribute = attribute.map_err(|_| BROKEN)?;
        let key = attribute.key.as_ref();
        if key == name || local.is_some() && key.split_once(':').map(|(_, local)| local) == local {
            return Ok(Some(xml::unescape(&attribute.value)?.into_owned()));
        }
    }
    Ok(None)
}

/// `B3` → (3, 2)
fn place(name: &str) -> Option<(u32, u32)> {
    let letters = name.bytes().take_while(u8::is_ascii_alphabetic).count();
    if letters == 0 || letters > 3 {
        return None;
    }
    let column = name[..letters].bytes().fold(0_u32, |column, letter| {
        column * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1
    });
    let row = name[letters..].parse().ok()?;
    ((1..=ROWS_MAX).contains(&row) && (1..=COLUMNS_MAX).contains(&column)).then_some((row, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_named_as_in_excel() {
        assert_eq!(place("A1"), Some((1, 1)));
        assert_eq!(place("XFD1048576"), Some((1_048_576, 16_384)));
        assert_eq!(place("XFE1"), None);
        assert_eq!(place("1A"), None);
    }
}
