//! The meaning of a sentence as a vector, English and Korean, from a model that is part of the program.
//!
//! The model is Google's universal-sentence-encoder-multilingual 3, without the pieces of other languages (NOTICE
//! says whose it is, scripts/encoder-model how it came here). A text is normalised (`normal`), cut into pieces
//! (`pieces`), each piece is looked up in a table (`table`), and a small network makes one vector of them (`network`,
//! `dense`). Texts that mean the same, in either language, have a high cosine. Nothing is read from disk or from a
//! network, and one encoder serves all threads.

mod dense;
mod error;
mod model;
mod network;
mod normal;
mod pieces;
mod table;

use std::sync::{Mutex, PoisonError};

use fearless_simd::{Level, dispatch};

pub use error::Error;
use model::Model;
pub use network::DIMENSION;

/// The model, as scripts/encoder-model made it. Its weights lie at multiples of 64 bytes of the file, so it must
/// begin at one.
static MODEL: &Aligned<[u8]> = &Aligned(*include_bytes!("../model.bin"));

#[repr(C, align(64))]
struct Aligned<Bytes: ?Sized>(Bytes);

/// More of a text is not looked at, in bytes: much of it could be what normalises to nothing.
pub const TEXT_BYTES_MAX: usize = 16_384;
/// Nor is more of a text once it is normalised, in bytes.
pub const NORMAL_BYTES_MAX: usize = 4_096;
/// Nor are more of the pieces that it is cut into: nearly all of the time goes into them.
pub const PIECES_MAX: usize = 256;

/// Buffers that are kept for the next texts. More are made where more threads encode at once.
const KEPT_MAX: usize = 4;

/// Makes vectors of texts.
#[derive(Debug)]
pub struct Encoder {
    model: Model,
    level: Level,
    kept: Mutex<Vec<Scratch>>,
}

/// What is worked with while a text is encoded.
#[derive(Debug, Default)]
struct Scratch {
    normal: Vec<u8>,
    lattice: pieces::Lattice,
    tokens: Vec<u32>,
    network: network::Scratch,
}

impl Encoder {
    /// Looks the model over. It is used where it lies in the program, so this takes well under a millisecond, and
    /// memory is taken page by page as texts need it.
    pub fn open() -> Result<Self, Error> {
        Self::at_level(Level::new())
    }

    fn at_level(level: Level) -> Result<Self, Error> {
        Ok(Self {
            model: Model::read(&MODEL.0)?,
            level,
            kept: Mutex::default(),
        })
    }

    /// The vector of a text, of length 1; the dot product of two is their cosine. Of a long text the beginning
    /// counts, as [`PIECES_MAX`] and the other bounds say. A text of nothing has a vector too, always the same.
    pub fn encode(&self, text: &str) -> [f32; DIMENSION] {
        let mut scratch = self.take();
        self.tokenise(text, &mut scratch);
        let network = &self.model.network;
        let Scratch {
            tokens,
            network: buffers,
            ..
        } = &mut scratch;
        let vector = dispatch!(self.level, simd => network.forward(simd, &self.model.table, tokens, buffers));
        self.put_back(scratch);
        vector
    }

    /// What a text is cut into, for whoever wants to know why its vector is what it is. `▁` stands for a space,
    /// `<unk>` for a character that the model does not know.
    pub fn pieces(&self, text: &str) -> Vec<String> {
        let mut scratch = self.take();
        self.tokenise(text, &mut scratch);
        let pieces = self.model.pieces.texts(&scratch.normal, &scratch.lattice);
        self.put_back(scratch);
        pieces
    }

    fn tokenise(&self, text: &str, scratch: &mut Scratch) {
        let start = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
        self.model.characters.normalise(start, &mut scratch.normal);
        let pieces = &self.model.pieces;
        pieces.cut(&scratch.normal, &mut scratch.lattice, &mut scratch.tokens);
    }

    fn take(&self) -> Scratch {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.pop().unwrap_or_default()
    }

    fn put_back(&self, scratch: Scratch) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < KEPT_MAX {
            kept.push(scratch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The best that this machine has, and what every machine of its kind has.
    #[test]
    fn all_processors_come_to_the_same_vector() {
        let best = Encoder::open().unwrap();
        let least = Encoder::at_level(Level::baseline()).unwrap();
        for text in [
            "",
            "a",
            "서울 날씨 어때?",
            "What is the weather like in Seoul?",
            &"long ".repeat(300),
        ] {
            assert!(best.encode(text) == least.encode(text), "{text}");
        }
    }

    #[test]
    fn no_more_buffers_are_kept_than_are_allowed() {
        let encoder = Encoder::open().unwrap();
        let taken: Vec<Scratch> = (0..KEPT_MAX + 3).map(|_| encoder.take()).collect();
        taken
            .into_iter()
            .for_each(|scratch| encoder.put_back(scratch));
        assert_eq!(encoder.kept.lock().unwrap().len(), KEPT_MAX);
    }

    #[test]
    fn a_damaged_model_is_refused() {
        let whole: &'static [u8] = &MODEL.0;
        for length in [0, 7, 20, 60, 1_000_000, whole.len() - 1] {
            let refused = Model::read(&whole[..length]).err();
            assert!(matches!(refused, Some(Error::Damaged(_))), "{length} bytes");
        }
        let mut other = whole.to_vec();
        other[0] ^= 1;
        let refused = Model::read(other.leak()).err();
        assert_eq!(refused, Some(Error::Damaged("it does not begin like one")));
        let longer = [whole, &[0]].concat();
        let refused = Model::read(longer.leak()).err();
        assert_eq!(refused, Some(Error::Damaged("it goes on after its end")));
        assert!(Model::read(whole).is_ok());
    }
}
