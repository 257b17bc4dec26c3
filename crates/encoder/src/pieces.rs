//! Cuts normalised text into the pieces that are likeliest together, as sentencepiece's unigram model does.

use crate::PIECES_MAX;

const NO_PIECE: u32 = (1 << 24) - 1;

/// All pieces, as a tree of their bytes. It is read where it lies in the model; see scripts/encoder-model for its
/// form.
#[derive(Debug)]
pub(crate) struct Pieces {
    pub(crate) nodes: &'static [[u8; 8]],
    /// How likely each piece is, as a logarithm.
    pub(crate) scores: &'static [[u8; 4]],
    pub(crate) special: Special,
}

/// Pieces that stand for no text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Special {
    pub(crate) unknown: u32,
    pub(crate) begin: u32,
    pub(crate) end: u32,
}

/// The best way to each place of a text.
#[derive(Debug, Default)]
pub(crate) struct Lattice {
    steps: Vec<Step>,
}

/// The last step of the best way: its piece, and where it began.
#[derive(Debug, Clone, Copy)]
struct Step {
    score: f64,
    start: usize,
    piece: u32,
}

const NO_WAY: Step = Step {
    score: f64::NEG_INFINITY,
    start: 0,
    piece: 0,
};

struct Node {
    first_child: usize,
    children: usize,
    piece: u32,
}

impl Pieces {
    /// Writes the pieces of a text between the marks of its beginning and its end. A text of nothing has one piece,
    /// the unknown.
    pub(crate) fn cut(&self, text: &[u8], lattice: &mut Lattice, tokens: &mut Vec<u32>) {
        self.find_ways(text, lattice);
        tokens.clear();
        let mut place = text.len();
        while place > 0 {
            let step = lattice.steps[place];
            tokens.push(step.piece);
            place = step.start;
        }
        if tokens.is_empty() {
            tokens.push(self.special.unknown);
        }
        tokens.push(self.special.begin);
        tokens.reverse();
        tokens.truncate(PIECES_MAX + 1);
        tokens.push(self.special.end);
    }

    /// The same pieces, without the marks, as the texts that they are.
    pub(crate) fn texts(&self, text: &[u8], lattice: &Lattice) -> Vec<String> {
        let mut texts = Vec::new();
        let mut place = text.len();
        while place > 0 {
            let step = lattice.steps[place];
            texts.push(if step.piece == self.special.unknown {
                "<unk>".to_owned()
            } else {
                String::from_utf8_lossy(&text[step.start..place]).into_owned()
            });
            place = step.start;
        }
        texts.reverse();
        texts.truncate(PIECES_MAX);
        texts
    }

    fn find_ways(&self, text: &[u8], lattice: &mut Lattice) {
        let steps = &mut lattice.steps;
        steps.clear();
        steps.resize(text.len() + 1, NO_WAY);
        steps[0].score = 0.0;
        let mut start = 0;
        while start < text.len() {
            let next = start + character_length(&text[start..]);
            let score = steps[start].score;
            // Where two ways are as good, the one that was found first stays: that with the longer last piece.
            let mut offer = |end: usize, piece: u32, step_score: f32| {
                let score = score + f64::from(step_score);
                if score > steps[end].score {
                    steps[end] = Step {
                        score,
                        start,
                        piece,
                    };
                }
            };
            let mut is_known = false;
            self.each_at(&text[start..], |length, piece| {
                is_known |= start + length == next;
                offer(start + length, piece, self.score(piece));
            });
            if !is_known {
                // No piece holds such a character, so all ways go through here, and its score decides nothing.
                offer(next, self.special.unknown, 0.0);
            }
            start = next;
        }
    }

    /// Gives the length and the number of each piece that a text begins with.
    fn each_at(&self, text: &[u8], mut give: impl FnMut(usize, u32)) {
        let Some(mut node) = self.nodes.first().map(Node::read) else {
            return;
        };
        for (index, byte) in text.iter().enumerate() {
            let end = node.first_child + node.children;
            let children = self.nodes.get(node.first_child..end).unwrap_or_default();
            let Ok(place) = children.binary_search_by_key(byte, |child| child[0]) else {
                return;
            };
            node = Node::read(&children[place]);
            if node.piece != NO_PIECE {
                give(index + 1, node.piece);
            }
        }
    }

    fn score(&self, piece: u32) -> f32 {
        f32::from_le_bytes(self.scores[piece as usize])
    }
}

impl Node {
    fn read(bytes: &[u8; 8]) -> Self {
        let both = u64::from_le_bytes(*bytes);
        Self {
            first_child: (both >> 8 & 0xff_ffff) as usize,
            children: (both >> 56) as usize,
            piece: (both >> 32) as u32 & 0xff_ffff,
        }
    }
}

/// Of the first character of a text in UTF-8.
fn character_length(text: &[u8]) -> usize {
    let follows = |byte: &&u8| **byte & 0xc0 == 0x80;
    1 + text[1..].iter().take_while(follows).count()
}

#[cfg(test)]
mod tests {
    use crate::{Encoder, PIECES_MAX};

    #[test]
    fn texts_are_cut_into_the_likeliest_pieces() {
        let encoder = Encoder::open().unwrap();
        assert_eq!(
            encoder.pieces("weather tomorrow?"),
            ["▁weather", "▁to", "morrow", "?"]
        );
        assert_eq!(encoder.pieces(""), Vec::<String>::new());
        // Marks of beginning and end are no pieces of a text.
        assert!(!encoder.pieces("<s></s>").contains(&"<s>".to_owned()));
    }

    #[test]
    fn a_letter_without_a_piece_is_unknown() {
        let encoder = Encoder::open().unwrap();
        assert_eq!(encoder.pieces("ok ქ"), ["▁ok", "▁", "<unk>"]);
    }

    #[test]
    fn no_more_pieces_are_taken_than_are_allowed() {
        let encoder = Encoder::open().unwrap();
        assert_eq!(
            encoder.pieces(&"ok ".repeat(PIECES_MAX + 50)).len(),
            PIECES_MAX
        );
        let (mut scratch, text) = (crate::Scratch::default(), "ok ".repeat(1000));
        encoder.tokenise(&text, &mut scratch);
        assert_eq!(scratch.tokens.len(), PIECES_MAX + 2);
        assert_eq!(
            scratch.tokens.last(),
            Some(&encoder.model.pieces.special.end)
        );
    }
}
