//! `DocInfo`: what paragraphs and characters can look like.

use super::record::{self, records};
use crate::Limits;
use crate::cfb::utf16;
use crate::error::Fault;
use crate::hangul::{self, Head, Level, Numbering, Numeral};
use crate::inline::Look;
use crate::zip::{u16_at, u32_at};

/// What the body refers to by number.
#[derive(Default)]
pub(super) struct Info {
    pub(super) heads: Vec<Head>,
    pub(super) styled: Vec<Head>,
    pub(super) looks: Vec<Look>,
    pub(super) numbering: Numbering,
}

const LEVELS: usize = 7;

pub(super) fn read(data: &[u8], limits: &Limits) -> Result<Info, Fault> {
    let mut info = Info::default();
    let mut numberings = 0;
    for record in records(data, limits)? {
        match record.tag {
            record::PARA_SHAPE => info.heads.push(head(record.data)),
            record::CHAR_SHAPE => info.looks.push(look(record.data)),
            record::STYLE => info.styled.push(style(record.data)),
            record::NUMBERING => {
                numberings += 1;
                info.numbering.add(numberings, numbering(record.data));
            }
            _ => {}
        }
    }
    Ok(info)
}

/// The kind of heading stands in two bits of a shape's first word, its level in the next three.
fn head(data: &[u8]) -> Head {
    let word = u32_at(data, 0).unwrap_or(0);
    let level = (word >> 25 & 7) as usize;
    match word >> 23 & 3 {
        1 => Head::Outline(level),
        2 => Head::Number {
            list: u32::from(u16_at(data, 30).unwrap_or(0)),
            level,
        },
        3 => Head::Bullet { level },
        _ => Head::None,
    }
}

/// Seven fonts in seven ways come before the word that says bold or italic.
fn look(data: &[u8]) -> Look {
    let word = u32_at(data, 46).unwrap_or(0);
    Look {
        italic: word & 1 != 0,
        bold: word & 2 != 0,
        struck: word >> 18 & 7 == 1,
    }
}

fn style(data: &[u8]) -> Head {
    let (name, rest) = text(data);
    let (english, _) = text(rest);
    let level = hangul::outline_of_style(&name).or_else(|| hangul::outline_of_style(&english));
    level.map_or(Head::None, Head::Titled)
}

fn numbering(data: &[u8]) -> Vec<Level> {
    let mut levels = Vec::new();
    let mut rest = data;
    for _ in 0..LEVELS {
        let Some(word) = u32_at(rest, 0) else { break };
        let (pattern, after) = text(rest.get(12..).unwrap_or(&[]));
        rest = after;
        levels.push(Level {
            numeral: Numeral((word >> 5 & 15) as usize),
            pattern,
            start: 1,
        });
    }
    // One start for the whole list; later versions add one for each level.
    let first = u16_at(rest, 0).map(u32::from);
    for (at, level) in levels.iter_mut().enumerate() {
        let own = u32_at(rest, 2 + at * 4).filter(|start| (1..10_000).contains(start));
        level.start = own
            .or(first.filter(|start| at == 0 && *start > 0))
            .unwrap_or(1);
    }
    levels
}

/// A length of two bytes and as many characters; also what comes after it.
pub(super) fn text(data: &[u8]) -> (String, &[u8]) {
    let length = usize::from(u16_at(data, 0).unwrap_or(0)) * 2;
    let Some(rest) = data.get(2..) else {
        return (String::new(), &[]);
    };
    let length = length.min(rest.len());
    (utf16(&rest[..length]), &rest[length..])
}
