//! Which tool a request needs, whether it needs one at all, and whether it says enough to call it. Works without any
//! service: words, spelling and the meaning of whole sentences, weighed and added up.
//!
//! Knows nothing of who asks: what the asker may see is given with each request.

mod apart;
mod asking;
mod background;
mod bm25;
mod bringing;
mod bringing_weights;
mod clauses;
mod copies;
mod corpus;
mod deed;
mod dense;
mod features;
mod grams;
mod item;
mod kinds;
mod lexicon;
mod manner;
mod nature;
mod needed;
mod outcome;
mod outcome_weights;
mod own;
mod parts;
mod praise;
mod preference;
mod rank;
mod ranking;
mod reach;
mod reasons;
mod refusal;
mod request;
mod rules;
mod runs;
mod select;
mod shown;
mod signs;
mod slot;
mod slots;
mod sums;
mod turns;
mod understood;
mod values;
mod vectors;
mod wants;
mod why;
mod wording;
mod words;

pub use bringing::{SEEN, Seen};
pub use corpus::Corpus;
pub use deed::of_tool as deed_of_tool;
pub use features::{FEATURES, Features};
pub use item::{Item, Parameter};
pub use nature::{ENCODER, usual_requests, written};
pub use outcome::Outcome;
pub use rank::Weights;
pub use request::core;
pub use select::{Candidate, Selection};
pub use shown::Shown;
pub use turns::Turns;
pub use understood::{Understood, understood};
pub use vectors::{Encode, Vectors};
pub use why::Why;

/// How people say things, for whoever reads a request more closely than to choose a tool.
pub mod speech {
    pub use crate::asking::{ASKING, ASKING_KOREAN, PARTICLES, VERBS};
    pub use crate::clauses::{begins_a_wish, clauses};
    pub use crate::lexicon::{CURRENCIES, DAYS, FILES, LANGUAGES};
    pub use crate::own::own_words;
    pub use crate::refusal::refuses;
    pub use crate::sums::SIGNS;
    pub use crate::wants::{Want, want};
    pub use crate::words::{is_common, is_hangul, keys, spoken};
}
