//! What the two Hangul formats share: how their paragraphs are numbered, and the grid of their tables.

use std::collections::HashMap;

use crate::block::{Block, Cell, Marker, Table};

/// What stands before the paragraphs of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Head {
    #[default]
    None,
    /// A level of the outline (개요), from 0: a heading.
    Outline(usize),
    /// A heading by the name of its style alone: what numbers it, nothing says.
    Titled(usize),
    /// A level of a numbered list, from 0.
    Number {
        list: u32,
        level: usize,
    },
    Bullet {
        level: usize,
    },
}

/// One level of a numbering.
#[derive(Debug, Clone)]
pub(crate) struct Level {
    pub(crate) numeral: Numeral,
    /// Such as `^1.`: the caret and a digit stand for that level's number.
    pub(crate) pattern: String,
    pub(crate) start: u32,
}

/// How a number is written. The formats count them in the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numeral(pub(crate) usize);

/// The names in HWPX, at the places that they have in HWP.
const NUMERALS: [&str; 15] = [
    "DIGIT",
    "CIRCLED_DIGIT",
    "ROMAN_CAPITAL",
    "ROMAN_SMALL",
    "LATIN_CAPITAL",
    "LATIN_SMALL",
    "CIRCLED_LATIN_CAPITAL",
    "CIRCLED_LATIN_SMALL",
    "HANGUL_SYLLABLE",
    "CIRCLED_HANGUL_SYLLABLE",
    "HANGUL_JAMO",
    "CIRCLED_HANGUL_JAMO",
    "HANGUL_PHONETIC",
    "IDEOGRAPH",
    "CIRCLED_IDEOGRAPH",
];

impl Numeral {
    pub(crate) fn named(name: &str) -> Self {
        Self(
            NUMERALS
                .iter()
                .position(|known| *known == name)
                .unwrap_or(0),
        )
    }

    fn write(self, number: u32) -> String {
        let cycle = |from: &str| {
            from.chars()
                .nth((number.max(1) as usize - 1) % from.chars().count())
                .map(String::from)
                .unwrap_or_default()
        };
        match self.0 {
            1 => crate::numeral::write("decimalEnclosedCircle", number),
            2 => crate::numeral::write("upperRoman", number),
            3 => crate::numeral::write("lowerRoman", number),
            4 | 6 => crate::numeral::write("upperLetter", number),
            5 | 7 => crate::numeral::write("lowerLetter", number),
            8 | 9 => crate::numeral::write("ganada", number),
            10 | 11 => crate::numeral::write("chosung", number),
            12 => cycle("일이삼사오육칠팔구십"),
            13 | 14 => cycle("一二三四五六七八九十"),
            _ => number.to_string(),
        }
    }
}

/// The numberings of a document and how far they have been counted.
#[derive(Default)]
pub(crate) struct Numbering {
    lists: HashMap<u32, Vec<Level>>,
    counts: HashMap<u32, Vec<u32>>,
    /// The list that the outline is numbered with, as the section says.
    pub(crate) outline: Option<u32>,
    /// Set while a note is read: it is text and nothing else, whatever style its writer gave it.
    pub(crate) paused: bool,
}

impl Numbering {
    pub(crate) fn add(&mut self, list: u32, levels: Vec<Level>) {
        self.lists.insert(list, levels);
    }

    /// A paragraph of this text with what stands before it.
    pub(crate) fn block(&mut self, head: Head, text: String) -> Block {
        match head {
            _ if self.paused => Block::Paragraph(text),
            Head::None => Block::Paragraph(text),
            Head::Bullet { level } => Block::Item {
                depth: level,
                marker: Marker::Bullet,
                text,
            },
            Head::Outline(level) => {
                let label = self
                    .outline
                    .and_then(|list| self.count(list, level))
                    .map(|(label, _)| label)
                    .unwrap_or_default();
                let text = if label.is_empty() {
                    text
                } else {
                    format!("{label} {text}")
                };
                Block::Heading {
                    level: u8::try_from(level + 1).unwrap_or(6),
                    text,
                }
            }
            Head::Titled(level) => Block::Heading {
                level: u8::try_from(level + 1).unwrap_or(6),
                text,
            },
            Head::Number { list, level } => match self.count(list, level) {
                Some((_, Some(number))) => Block::Item {
                    depth: level,
                    marker: Marker::Number(number),
                    text,
                },
                Some((label, None)) => Block::Item {
                    depth: level,
                    marker: Marker::Bullet,
                    text: format!("{label} {text}"),
                },
                None => Block::Item {
                    depth: level,
                    marker: Marker::Bullet,
                    text,
                },
            },
        }
    }

    /// The label of the next paragraph, and its number if Markdown would write the same label.
    fn count(&mut self, list: u32, level: usize) -> Option<(String, Option<u32>)> {
        let levels = self.lists.get(&list)?;
        let own = levels.get(level)?;
        let counts = self.counts.entry(list).or_insert_with(|| {
            levels
                .iter()
                .map(|level| level.start.saturating_sub(1))
                .collect()
        });
        counts[level] = counts[level].saturating_add(1);
        for (count, level) in counts.iter_mut().zip(levels).skip(level + 1) {
            *count = level.start.saturating_sub(1);
        }
        let mut label = String::new();
        let mut rest = own.pattern.chars().peekable();
        while let Some(c) = rest.next() {
            let digit = rest
                .peek()
                .and_then(|digit| digit.to_digit(10))
                .filter(|digit| c == '^' && *digit > 0);
            match digit.map(|digit| digit as usize - 1) {
                Some(at) => {
                    rest.next();
                    label.push_str(
                        &levels
                            .get(at)
                            .zip(counts.get(at))
                            .map(|(level, count)| level.numeral.write((*count).max(1)))
                            .unwrap_or_default(),
                    );
                }
                None => label.push(c),
            }
        }
        let number = counts[level];
        let plain = own.numeral == Numeral(0)
            && (label == format!("{number}.") || label == format!("{number})"));
        Some((label, plain.then_some(number)))
    }
}

/// The heading level that a style's name gives, in files whose shapes do not say.
pub(crate) fn outline_of_style(name: &str) -> Option<usize> {
    let level: usize = name
        .strip_prefix("개요")
        .or_else(|| name.strip_prefix("Outline"))?
        .trim()
        .parse()
        .ok()?;
    (1..=10).contains(&level).then(|| level - 1)
}

/// The address in the command of a link: up to a semicolon, with its colons escaped (`https\\://…;1;0;0;`).
pub(crate) fn command_target(command: &str) -> String {
    let mut target = String::new();
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => target.extend(rest.next()),
            ';' => break,
            c => target.push(c),
        }
    }
    target
}

/// A cell with the place that the file gives it.
pub(crate) struct Placed {
    pub(crate) row: usize,
    pub(crate) column: usize,
    pub(crate) cell: Cell,
}

/// More rows than Hangul lets one make in a table; what lies beyond is a forged number.
const ROWS_MAX: usize = 32_767;

/// Cells into rows. They name their places, and merged ones leave gaps that no empty cell fills.
pub(crate) fn table(mut cells: Vec<Placed>) -> Table {
    cells.sort_by_key(|placed| (placed.row, placed.column));
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for placed in cells {
        // A row may have no cell of its own, when those above reach through it.
        let row = placed.row.min(ROWS_MAX);
        if rows.len() <= row {
            rows.resize_with(row + 1, Vec::new);
        }
        rows[row].push(placed.cell);
    }
    Table { rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_those_that_the_page_shows() {
        let level = |numeral: &str, pattern: &str| Level {
            numeral: Numeral::named(numeral),
            pattern: pattern.to_owned(),
            start: 1,
        };
        let mut numbering = Numbering {
            outline: Some(1),
            ..Numbering::default()
        };
        numbering.add(
            1,
            vec![
                level("DIGIT", "제^1장"),
                level("HANGUL_SYLLABLE", "^2."),
                level("DIGIT", "^3."),
            ],
        );
        let mut say = |head| match numbering.block(head, "글".to_owned()) {
            Block::Heading { text, .. } => text,
            Block::Item { marker, text, .. } => format!("{marker:?} {text}"),
            _ => String::new(),
        };
        assert_eq!(say(Head::Outline(0)), "제1장 글");
        assert_eq!(say(Head::Outline(1)), "가. 글");
        assert_eq!(say(Head::Outline(1)), "나. 글");
        assert_eq!(say(Head::Outline(0)), "제2장 글");
        assert_eq!(say(Head::Outline(1)), "가. 글");
        assert_eq!(say(Head::Number { list: 1, level: 2 }), "Number(1) 글");
        assert_eq!(say(Head::Number { list: 1, level: 1 }), "Bullet 나. 글");
    }
}
