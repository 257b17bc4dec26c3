//! The text of an HWP document: paragraphs, and the tables, boxes and notes that hang in them.

use super::info::Info;
use super::record::{self, Record, records};
use crate::Limits;
use crate::block::{Block, Cell};
use crate::error::Fault;
use crate::hangul::{self, Head, Placed};
use crate::inline::{Look, Runs, link};
use crate::zip::{u16_at, u32_at};

pub(super) struct Reader {
    info: Info,
    pub(super) notes: Vec<Block>,
    pub(super) warnings: Vec<String>,
}

/// The letters of a control's name, last one first as the file has them.
const fn name(letters: &[u8; 4]) -> u32 {
    u32::from_be_bytes(*letters)
}

const SECTION: u32 = name(b"secd");
const TABLE: u32 = name(b"tbl ");
const DRAWING: u32 = name(b"gso ");
const EQUATION: u32 = name(b"eqed");
const FOOTNOTE: u32 = name(b"fn  ");
const ENDNOTE: u32 = name(b"en  ");
const LINK: u32 = name(b"%hlk");
const AUTO_NUMBER: u32 = name(b"atno");

/// A control of a paragraph: its own record and those beneath it.
struct Control<'a, 'd> {
    id: u32,
    data: &'d [u8],
    inside: &'a [Record<'d>],
}

/// What a control leaves in the text where it stands.
enum Mark {
    Nothing,
    Markdown(String),
    Text(String),
    Link(String),
}

impl Reader {
    pub(super) fn new(info: Info) -> Self {
        Self {
            info,
            notes: Vec::new(),
            warnings: Vec::new(),
        }
    }

    pub(super) fn section(
        &mut self,
        data: &[u8],
        limits: &Limits,
        blocks: &mut Vec<Block>,
    ) -> Result<(), Fault> {
        let records = records(data, limits)?;
        self.paragraphs(&records, blocks);
        Ok(())
    }

    /// The paragraphs of a list of records: each begins with its header and has deeper records beneath it.
    fn paragraphs(&mut self, records: &[Record<'_>], blocks: &mut Vec<Block>) {
        let mut rest = records;
        while let Some((first, _)) = rest.split_first() {
            let length = 1 + rest[1..]
                .iter()
                .take_while(|record| record.level > first.level)
                .count();
            let (own, after) = rest.split_at(length);
            rest = after;
            if first.tag == record::PARA_HEADER {
                self.paragraph(own, blocks);
            }
        }
    }

    fn paragraph(&mut self, records: &[Record<'_>], blocks: &mut Vec<Block>) {
        let head = records[0];
        let level = head.level + 1;
        let own = |tag: u16| {
            records
                .iter()
                .find(|record| record.tag == tag && record.level == level)
                .map(|record| record.data)
        };
        let mut after = Vec::new();
        let marks: Vec<Mark> = controls(records, level)
            .iter()
            .map(|control| self.control(control, &mut after))
            .collect();
        let looks = own(record::PARA_CHAR_SHAPE).unwrap_or(&[]);
        let text = self.text(own(record::PARA_TEXT).unwrap_or(&[]), looks, marks);
        if !text.trim().is_empty() {
            let shape = u16_at(head.data, 8)
                .map(usize::from)
                .and_then(|id| self.info.heads.get(id))
                .copied()
                .unwrap_or_default();
            let styled = || {
                head.data
                    .get(10)
                    .and_then(|id| self.info.styled.get(usize::from(*id)))
                    .copied()
                    .unwrap_or_default()
            };
            let shape = if shape == Head::None { styled() } else { shape };
            blocks.push(self.info.numbering.block(shape, text));
        }
        blocks.append(&mut after);
    }

    /// The characters of a paragraph. Those below 32 are marks: of one unit, or of eight with a control or a tab inside.
    fn text(&self, data: &[u8], looks: &[u8], marks: Vec<Mark>) -> String {
        let units: Vec<u16> = data
            .chunks_exact(2)
            .map(|unit| u16::from_le_bytes([unit[0], unit[1]]))
            .collect();
        let mut marks = marks.into_iter();
        let mut line = Line::default();
        let mut looks = Looks {
            pairs: looks,
            known: &self.info.looks,
            now: Look::default(),
        };
        let mut plain: Vec<u16> = Vec::new();
        let mut at = 0;
        while let Some(&unit) = units.get(at) {
            let look = looks.now;
            let turned = looks.at(at) != look;
            if unit < 32 || turned {
                line.push(&String::from_utf16_lossy(&plain), look);
                plain.clear();
            }
            at += 1;
            match unit {
                10 => line.push("\n", looks.now),
                24 => line.push("-", looks.now),
                30 | 31 => line.push(" ", looks.now),
                0 | 13 | 25..=29 => {}
                9 => {
                    line.push(" ", looks.now);
                    at += 7;
                }
                4 => {
                    line.end_link();
                    at += 7;
                }
                5..=8 | 19 | 20 => at += 7,
                1..=31 => {
                    at += 7;
                    line.mark(marks.next().unwrap_or(Mark::Nothing));
                }
                unit => plain.push(unit),
            }
        }
        line.push(&String::from_utf16_lossy(&plain), looks.now);
        line.finish()
    }

    fn control(&mut self, control: &Control<'_, '_>, after: &mut Vec<Block>) -> Mark {
        match control.id {
            SECTION => {
                // The numbering of the outline, as the section has it.
                self.info.numbering.outline = u16_at(control.data, 18)
                    .map(u32::from)
                    .filter(|list| *list > 0)
                    .or(self.info.numbering.outline);
            }
            TABLE => {
                let table = self.table(control, after);
                after.push(table);
            }
            DRAWING => self.lists(control.inside, after),
            EQUATION => {
                let script = control
                    .inside
                    .iter()
                    .find(|record| record.tag == record::EQUATION);
                let script = script
                    .map(|record| super::info::text(record.data.get(4..).unwrap_or(&[])).0)
                    .unwrap_or_default();
                return Mark::Markdown(format!(
                    "`{}`",
                    script.trim().replace('`', "'").replace(['\n', '\r'], " ")
                ));
            }
            FOOTNOTE | ENDNOTE => return self.note(control),
            LINK => {
                // Four bytes of properties and one more come before the command.
                let command = super::info::text(control.data.get(9..).unwrap_or(&[])).0;
                return Mark::Link(hangul::command_target(&command));
            }
            AUTO_NUMBER => {
                let (kind, number) = (
                    u32_at(control.data, 4).unwrap_or(0) & 15,
                    u16_at(control.data, 8).unwrap_or(0),
                );
                // Numbers of figures, tables and formulas; those of pages and notes are no text.
                if (3..=5).contains(&kind) {
                    return Mark::Text(number.to_string());
                }
            }
            _ => {}
        }
        Mark::Nothing
    }

    fn note(&mut self, control: &Control<'_, '_>) -> Mark {
        let place = self.notes.len();
        let name = (place + 1).to_string();
        self.notes.push(Block::Note {
            name: name.clone(),
            text: String::new(),
        });
        let mut inside = Vec::new();
        let outer = std::mem::replace(&mut self.info.numbering.paused, true);
        self.lists(control.inside, &mut inside);
        self.info.numbering.paused = outer;
        let texts = inside.into_iter().filter_map(|block| match block {
            Block::Paragraph(text) | Block::Heading { text, .. } | Block::Item { text, .. } => {
                Some(text)
            }
            _ => None,
        });
        self.notes[place] = Block::Note {
            name: name.clone(),
            text: texts.collect::<Vec<_>>().join(" "),
        };
        Mark::Markdown(format!("[^{name}]"))
    }

    /// The paragraphs of every list within: a list's header, and its paragraphs after it on the same level.
    fn lists(&mut self, records: &[Record<'_>], blocks: &mut Vec<Block>) {
        let mut at = 0;
        while at < records.len() {
            if records[at].tag != record::LIST_HEADER {
                at += 1;
                continue;
            }
            let end = list_end(records, at);
            self.paragraphs(&records[at + 1..end], blocks);
            at = end;
        }
    }

    fn table(&mut self, control: &Control<'_, '_>, after: &mut Vec<Block>) -> Block {
        let records = control.inside;
        let mut cells = Vec::new();
        let mut at = 0;
        while at < records.len() {
            if records[at].tag != record::LIST_HEADER {
                at += 1;
                continue;
            }
            let end = list_end(records, at);
            let mut blocks = Vec::new();
            self.paragraphs(&records[at + 1..end], &mut blocks);
            match place(records[at].data) {
                Some((row, column, rows, columns)) => cells.push(Placed {
                    row,
                    column,
                    cell: Cell::new(blocks).spanning(columns, rows),
                }),
                // A list without a place is the caption.
                None => after.append(&mut blocks),
            }
            at = end;
        }
        Block::Table(hangul::table(cells))
    }
}

/// The controls of a paragraph, in the order of the marks in its text.
fn controls<'a, 'd>(records: &'a [Record<'d>], level: u16) -> Vec<Control<'a, 'd>> {
    let mut controls = Vec::new();
    for (at, record) in records.iter().enumerate() {
        if record.tag != record::CTRL_HEADER || record.level != level {
            continue;
        }
        let length = records[at + 1..]
            .iter()
            .take_while(|inner| inner.level > level)
            .count();
        controls.push(Control {
            id: u32_at(record.data, 0).unwrap_or(0),
            data: record.data,
            inside: &records[at + 1..at + 1 + length],
        });
    }
    controls
}

/// Where a list ends: at the next list of its level, or where the level falls.
fn list_end(records: &[Record<'_>], at: usize) -> usize {
    let level = records[at].level;
    let rest = records[at + 1..].iter();
    at + 1
        + rest
            .take_while(|record| {
                record.level > level || record.level == level && record.tag == record::PARA_HEADER
            })
            .count()
}

/// Where a cell stands and how far it reaches: row, column, rows, columns.
fn place(data: &[u8]) -> Option<(usize, usize, usize, usize)> {
    // A caption's header is shorter than a cell's.
    const CELL_BYTES: usize = 34;
    if data.len() < CELL_BYTES {
        return None;
    }
    let number = |at: usize| u16_at(data, at).map(usize::from);
    Some((number(10)?, number(8)?, number(14)?, number(12)?))
}

/// How the characters look from which place on: pairs of a position and the number of a shape.
struct Looks<'d> {
    pairs: &'d [u8],
    known: &'d [Look],
    now: Look,
}

impl Looks<'_> {
    fn at(&mut self, place: usize) -> Look {
        while u32_at(self.pairs, 0).is_some_and(|from| from as usize <= place) {
            let id = u32_at(self.pairs, 4).unwrap_or(0) as usize;
            self.now = self.known.get(id).copied().unwrap_or_default();
            self.pairs = self.pairs.get(8..).unwrap_or(&[]);
        }
        self.now
    }
}

/// The inline Markdown of a paragraph as it grows.
#[derive(Default)]
struct Line {
    runs: Runs,
    link: Option<(String, Runs)>,
}

impl Line {
    fn push(&mut self, text: &str, look: Look) {
        self.link
            .as_mut()
            .map_or(&mut self.runs, |(_, runs)| runs)
            .push(text, look);
    }

    fn mark(&mut self, mark: Mark) {
        match mark {
            Mark::Nothing => {}
            Mark::Text(text) => self.push(&text, Look::default()),
            Mark::Markdown(markdown) => self
                .link
                .as_mut()
                .map_or(&mut self.runs, |(_, runs)| runs)
                .push_markdown(&markdown),
            Mark::Link(target) => {
                self.end_link();
                self.link = Some((target, Runs::default()));
            }
        }
    }

    fn end_link(&mut self) {
        if let Some((target, runs)) = self.link.take() {
            self.runs.push_markdown(&link(&runs.finish(), &target));
        }
    }

    fn finish(mut self) -> String {
        self.end_link();
        self.runs.finish()
    }
}
