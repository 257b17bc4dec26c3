//! Text as sentencepiece normalises it: compatibility forms made plain, spaces made single, each space written as
//! `▁`.
//!
//! What becomes of which characters stands in the model, as a double array of byte sequences in the form of
//! darts-clone: a unit holds the byte that led to it, whether a sequence ends here, and where to go on.

use crate::NORMAL_BYTES_MAX;

/// What stands for a space in pieces: U+2581.
const SPACE: &[u8] = "\u{2581}".as_bytes();

/// The bits of a unit.
const LABEL: u32 = 0x8000_00ff;
const ENDS_HERE: u32 = 0x100;
const VALUE: u32 = 0x7fff_ffff;

/// Which characters become which.
#[derive(Debug)]
pub(crate) struct Characters {
    units: &'static [[u8; 4]],
    /// Each with a zero at its end; a value in the array is where one begins.
    texts: &'static [u8],
}

impl Characters {
    pub(crate) fn new(units: &'static [[u8; 4]], texts: &'static [u8]) -> Self {
        Self { units, texts }
    }

    /// Writes the normalised text, up to its greatest length. It is empty or begins with the sign for a space.
    pub(crate) fn normalise(&self, text: &str, normal: &mut Vec<u8>) {
        normal.clear();
        normal.extend_from_slice(SPACE);
        let mut rest = text;
        let mut after_space = true;
        while !rest.is_empty() && normal.len() < NORMAL_BYTES_MAX {
            let (mut plain, length) = self.first(rest);
            rest = &rest[length..];
            while after_space && let [b' ', more @ ..] = plain {
                plain = more;
            }
            for byte in plain {
                match byte {
                    b' ' => normal.extend_from_slice(SPACE),
                    other => normal.push(*other),
                }
            }
            if let Some(last) = plain.last() {
                after_space = *last == b' ';
            }
        }
        while normal.ends_with(SPACE) {
            normal.truncate(normal.len() - SPACE.len());
        }
    }

    /// What the beginning of a text becomes, and how long that beginning is: the longest that the map knows, or else
    /// one character, which stays as it is.
    fn first<'a>(&self, text: &'a str) -> (&'a [u8], usize) {
        if let Some((plain, length)) = self.longest(text.as_bytes())
            && text.is_char_boundary(length)
        {
            return (plain, length);
        }
        let length = text.chars().next().map_or(0, char::len_utf8);
        (&text.as_bytes()[..length], length)
    }

    fn longest(&self, text: &[u8]) -> Option<(&'static [u8], usize)> {
        let mut found = None;
        let mut place = goes_on(self.unit(0)?);
        for (index, byte) in text.iter().enumerate() {
            place ^= u32::from(*byte);
            let Some(unit) = self.unit(place) else { break };
            if unit & LABEL != u32::from(*byte) {
                break;
            }
            place ^= goes_on(unit);
            if unit & ENDS_HERE != 0 {
                found = Some((self.unit(place)? & VALUE, index + 1));
            }
        }
        let (start, length) = found?;
        let plain = self.texts.get(start as usize..)?;
        let end = plain.iter().position(|byte| *byte == 0)?;
        Some((&plain[..end], length))
    }

    fn unit(&self, place: u32) -> Option<u32> {
        self.units
            .get(place as usize)
            .map(|bytes| u32::from_le_bytes(*bytes))
    }
}

/// Where the units after this one are, as darts-clone packs it into 22 bits.
fn goes_on(unit: u32) -> u32 {
    (unit >> 10) << ((unit & 0x200) >> 6)
}

#[cfg(test)]
mod tests {
    use crate::model::Model;
    use crate::{MODEL, NORMAL_BYTES_MAX};

    fn normal(text: &str) -> String {
        let model = Model::read(&MODEL.0).unwrap();
        let mut normal = Vec::new();
        model.characters.normalise(text, &mut normal);
        String::from_utf8(normal).unwrap()
    }

    #[test]
    fn spaces_are_single_and_visible() {
        assert_eq!(normal("  two \t\n words\u{3000}"), "▁two▁words");
        assert_eq!(normal(""), "");
        assert_eq!(normal(" \u{a0}\n"), "");
    }

    #[test]
    fn compatibility_forms_are_made_plain() {
        assert_eq!(normal("Ａ１ ﬁ ½ ㎏"), "▁A1▁fi▁1⁄2▁kg");
        // Letters of a syllable become the syllable; a space that nobody sees is one too.
        assert_eq!(normal("\u{1112}\u{1161}\u{11ab}글"), "▁한글");
        assert_eq!(normal("a\u{200b}b"), "▁a▁b");
        assert_eq!(normal("e\u{301}"), "▁é");
    }

    #[test]
    fn a_text_that_grows_stays_bounded() {
        // One character that becomes eighteen.
        let grown = normal(&"\u{fdfa}".repeat(5_000));
        assert!(grown.len() < NORMAL_BYTES_MAX + 64, "{} bytes", grown.len());
    }
}
