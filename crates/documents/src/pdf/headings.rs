//! Heading levels of a PDF. The reader tells them from the sizes on one page, so that "2. 전망", alone on its page, is a
//! title to it though "1. 요약" on the page before was not. Headings that are numbered alike get the same level here.

use std::collections::HashMap;

use unpdf::{Block, Document, Paragraph};

/// A deeper level than this is more often a slip of the reader than the truth.
const TRUSTED_MAX: u8 = 3;

pub(super) fn level(document: &mut Document) {
    let mut deepest: HashMap<Label, u8> = HashMap::new();
    for (label, level) in headings(document)
        .filter_map(|heading| Some((label(heading)?, heading.style.heading_level?)))
    {
        let known = deepest.entry(label).or_insert(level);
        if level <= TRUSTED_MAX {
            *known = level.max(*known);
        }
    }
    for block in document
        .pages
        .iter_mut()
        .flat_map(|page| &mut page.elements)
    {
        if let Block::Paragraph(paragraph) = block
            && paragraph.style.heading_level.is_some()
            && let Some(level) = label(paragraph).and_then(|label| deepest.get(&label))
        {
            paragraph.style.heading_level = Some(*level);
        }
    }
}

/// How a heading is numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Label {
    /// `1.`, `1.2`: how many numbers.
    Digits(usize),
    /// `제1장`, `제2절`: the unit.
    Unit(char),
    /// `가.`
    Syllable,
    /// `Ⅰ.`
    Roman,
}

fn headings(document: &Document) -> impl Iterator<Item = &Paragraph> {
    document
        .pages
        .iter()
        .flat_map(|page| &page.elements)
        .filter_map(|block| match block {
            Block::Paragraph(paragraph) if paragraph.style.heading_level.is_some() => {
                Some(paragraph)
            }
            _ => None,
        })
}

fn label(heading: &Paragraph) -> Option<Label> {
    label_of(&heading.plain_text())
}

fn label_of(text: &str) -> Option<Label> {
    let word = text.split_whitespace().next()?;
    let mut letters = word.chars();
    match letters.next()? {
        '제' => {
            let unit = letters
                .find(|c| !c.is_ascii_digit())
                .filter(|unit| "장절편부관항".contains(*unit))?;
            Some(Label::Unit(unit))
        }
        'Ⅰ'..='Ⅻ' => Some(Label::Roman),
        '가'..='힣' if word.ends_with('.') && word.chars().count() == 2 => Some(Label::Syllable),
        '0'..='9' => {
            let numbers = word.trim_end_matches(['.', ')']);
            let plain = numbers.split('.').all(|number| {
                (1..=2).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
            });
            let marked = numbers.len() < word.len() || numbers.contains('.');
            (plain && marked).then(|| Label::Digits(numbers.split('.').count()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_told_from_text() {
        assert_eq!(label_of("1. 요약"), Some(Label::Digits(1)));
        assert_eq!(label_of("2.3.1 세부"), Some(Label::Digits(3)));
        assert_eq!(label_of("제12장 총칙"), Some(Label::Unit('장')));
        assert_eq!(label_of("가. 목적"), Some(Label::Syllable));
        assert_eq!(label_of("2026년 보고서"), None);
        assert_eq!(label_of("2026. 1. 1."), None);
        assert_eq!(label_of("제목"), None);
    }
}
