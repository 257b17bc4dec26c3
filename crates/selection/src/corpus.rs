//! The tools that are chosen from, made ready: never changed, shared by all who ask, and made anew when a tool changes,
//! of which only that tool costs much time.

use crate::background::REQUESTS;
use crate::bm25;
use crate::dense::{Rows, Vector};
use crate::grams;
use crate::item::Item;
use crate::nature::{Reader, read_from};
use crate::parts::{Key, Making, Part, Texts, key};
use crate::rank::Weights;
use crate::reach::{Reach, reach_from};
use crate::vectors::{Encode, Vectors};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

pub struct Corpus {
    pub(crate) encoder: Arc<dyn Encode>,
    pub(crate) weights: Weights,
    pub(crate) parts: Vec<Arc<Part>>,
    pub(crate) rows: Rows,
    pub(crate) words: bm25::Index,
    pub(crate) spellings: grams::Index,
    /// Those of the example prompts.
    pub(crate) spelt: grams::Index,
    background: Vec<Arc<Vector>>,
    /// Whether what all requests are read by has its vectors. Another corpus is to be made once they can be had.
    is_ready: bool,
    pub(crate) reader: Reader,
    reach: Reach,
    keys: Vec<Key>,
}

/// Texts that requests are read by, whatever tools there are.
fn common(encoder: &str) -> impl Iterator<Item = &'static str> + use<> {
    REQUESTS
        .into_iter()
        .chain(read_from(encoder))
        .chain(reach_from())
}

impl fmt::Debug for Corpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Corpus of {} tools", self.parts.len())
    }
}

impl Corpus {
    /// Vectors that are known are not made again, and those that are made are known from now on.
    #[must_use]
    pub fn new(items: &[Item], encoder: Arc<dyn Encode>, vectors: &mut Vectors) -> Self {
        Corpus::weighed(items, encoder, vectors, Weights::default())
    }

    /// As `new`, with other weights: to measure what each is worth.
    #[must_use]
    pub fn weighed(
        items: &[Item],
        encoder: Arc<dyn Encode>,
        vectors: &mut Vectors,
        weights: Weights,
    ) -> Self {
        vectors.learn(&*encoder, common(encoder.id()));
        let background: Vec<Arc<Vector>> =
            REQUESTS.iter().filter_map(|it| vectors.known(it)).collect();
        let empty = Corpus {
            is_ready: common(encoder.id())
                .all(|it| vectors.known(it).is_some() || encoder.refuses(it)),
            reader: Reader::new(encoder.id(), vectors),
            reach: Reach::new(vectors),
            background,
            encoder,
            weights,
            parts: Vec::new(),
            rows: Rows::default(),
            words: bm25::Index::default(),
            spellings: grams::Index::default(),
            spelt: grams::Index::default(),
            keys: Vec::new(),
        };
        empty.with(items, vectors)
    }

    /// The same for other items: those that it has already cost nothing.
    #[must_use]
    pub fn with(&self, items: &[Item], vectors: &mut Vectors) -> Self {
        let known = self.keys.iter().zip(&self.parts);
        let known: HashMap<&Key, &Arc<Part>> = known.filter(|(_, it)| it.is_whole).collect();
        let keys: Vec<Key> = items.iter().map(key).collect();
        let both = items.iter().zip(&keys);
        let new: Vec<Option<Texts>> = both
            .map(|(item, key)| (!known.contains_key(key)).then(|| Texts::new(item)))
            .collect();
        vectors.learn(
            &*self.encoder,
            new.iter().flatten().flat_map(Texts::encoded),
        );
        let making = Making {
            encoder: &*self.encoder,
            vectors,
            weights: &self.weights,
            background: &self.background,
            reader: &self.reader,
            reach: &self.reach,
        };
        let part = |((item, key), texts): ((&Item, &Key), Option<Texts>)| match texts {
            Some(texts) => Arc::new(Part::new(item, texts, &making)),
            None => Arc::clone(known[key]),
        };
        let parts = items.iter().zip(&keys).zip(new).map(part);
        let parts: Vec<Arc<Part>> = parts.collect();
        let vector = parts.iter().find_map(|it| it.blended.as_ref());
        Corpus {
            encoder: Arc::clone(&self.encoder),
            background: self.background.clone(),
            is_ready: self.is_ready,
            reader: self.reader.clone(),
            reach: self.reach.clone(),
            weights: self.weights.clone(),
            rows: Rows::new(
                vector.map_or(0, Vector::dimension),
                parts.iter().map(|it| it.blended.as_ref()),
            ),
            words: bm25::Index::new(parts.iter().map(|it| &it.bag)),
            spellings: grams::Index::new(parts.iter().map(|it| &it.spelling)),
            spelt: grams::Index::new(parts.iter().map(|it| &it.spelt)),
            parts,
            keys,
        }
    }

    /// Forgets the vectors that none of these items needs.
    pub fn tidy(items: &[Item], vectors: &mut Vectors) {
        let texts: Vec<Texts> = items.iter().map(Texts::new).collect();
        let encoder = vectors.encoder().to_owned();
        let common = common(&encoder).map(|it| -> &str { it });
        vectors.keep(texts.iter().flat_map(Texts::encoded).chain(common));
    }

    /// Whether what all requests are read by has its vectors. `with` does not make up for them.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Whether its vectors are as long as those that its encoder makes now.
    #[must_use]
    pub fn fits(&self) -> bool {
        let own = self.background.first().map(|it| it.dimension());
        own.zip(self.encoder.dimension())
            .is_none_or(|(own, now)| own == now)
    }

    /// Whether every tool has all its vectors, too.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.is_ready && self.parts.iter().all(|it| it.is_whole)
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::tests::{Changed, Words};

    fn items(count: usize) -> Vec<Item> {
        let item = |at: usize| Item {
            name: format!("tool_{at}"),
            description: format!("Does the thing of number {at}"),
            ..Item::default()
        };
        (0..count).map(item).collect()
    }

    #[test]
    fn to_change_one_tool_encodes_one_text() {
        let mut vectors = Vectors::default();
        let mut all = items(20);
        let corpus = Corpus::new(&all, Arc::new(Words("words")), &mut vectors);
        let before = vectors.made();
        all[7].description = "Something else".to_owned();
        let after = corpus.with(&all, &mut vectors);
        assert_eq!(vectors.made() - before, 1);
        assert_eq!(after.len(), 20);
        let kept = corpus.parts.iter().zip(&after.parts);
        assert_eq!(kept.filter(|(a, b)| Arc::ptr_eq(a, b)).count(), 19);
    }

    #[test]
    fn what_has_no_vectors_yet_is_made_whole_later() {
        let mut vectors = Vectors::default();
        vectors.allow(Some(0));
        let all = items(3);
        let none = Corpus::new(&all, Arc::new(Words("words")), &mut vectors);
        assert!(!none.is_ready() && !none.is_whole());
        vectors.allow(Some(common("words").count()));
        let ready = Corpus::new(&all, Arc::new(Words("words")), &mut vectors);
        assert!(ready.is_ready() && !ready.is_whole());
        vectors.allow(None);
        assert!(ready.with(&all, &mut vectors).is_whole());
    }

    #[test]
    fn nobody_waits_for_the_vector_of_a_text_that_is_not_taken() {
        let mut vectors = Vectors::default();
        let mut all = items(3);
        all[1].description = "Says the unspeakable".to_owned();
        let corpus = Corpus::new(&all, Arc::new(Changed(256)), &mut vectors);
        assert!(corpus.is_whole() && corpus.fits());
        let before = vectors.made();
        assert!(corpus.with(&all, &mut vectors).is_whole());
        assert_eq!(vectors.made(), before);
    }

    #[test]
    fn known_vectors_are_not_made_again() {
        let mut vectors = Vectors::default();
        let all = items(5);
        let _ = Corpus::new(&all, Arc::new(Words("words")), &mut vectors);
        let mut stored = Vectors::from_bytes(&vectors.to_bytes()).unwrap();
        let _ = Corpus::new(&all, Arc::new(Words("words")), &mut stored);
        assert_eq!(stored.made(), 0);
    }

    #[test]
    fn vectors_of_tools_that_are_gone_are_forgotten() {
        let mut vectors = Vectors::default();
        let all = items(5);
        let _ = Corpus::new(&all, Arc::new(Words("words")), &mut vectors);
        let before = vectors.len();
        Corpus::tidy(&all[..4], &mut vectors);
        assert_eq!(before - vectors.len(), 2);
    }
}
