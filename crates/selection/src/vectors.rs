//! Vectors of texts, made once: each is kept under the hash of its text, in bytes, with the model it came from.

use crate::dense::Vector;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::Arc;

/// What turns a sentence into a vector: the encoder in this program, or a model behind an endpoint.
pub trait Encode: Send + Sync {
    /// Always of the same length for the same encoder. Of no length where the text could not be encoded.
    fn encode(&self, text: &str) -> Vec<f32>;

    /// Of many texts, in their order: some encoders take less time for them together.
    fn encode_all(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        texts.iter().map(|it| self.encode(it)).collect()
    }

    /// Of a request and its clauses, for whoever waits for the answer.
    fn encode_request(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        texts.iter().map(|it| self.encode(it)).collect()
    }

    /// Whether it answers at all. Asked before much is encoded while somebody waits.
    fn is_there(&self) -> bool {
        true
    }

    /// Finds out what has to be known before a request can be encoded, where that takes long. False: not now.
    fn prepare(&self) -> bool {
        true
    }

    /// How long its vectors are, where that may change: behind an endpoint another model may stand from one day to the next.
    fn dimension(&self) -> Option<usize> {
        None
    }

    /// Whether it said of a text that it does not take it. Then nobody waits for its vector, nor is it asked again.
    fn refuses(&self, _text: &str) -> bool {
        false
    }

    /// Vectors of another encoder mean something else.
    fn id(&self) -> &str;
}

type Key = [u8; 16];

/// The vectors that are known, of one encoder.
#[derive(Clone, Debug, Default)]
pub struct Vectors {
    encoder: String,
    known: HashMap<Key, Arc<Vector>>,
    /// How many were made rather than found.
    made: usize,
    /// How many more may be made; all that are wanted, where it is not said.
    allowance: Option<usize>,
}

impl Vectors {
    /// None are known yet.
    #[must_use]
    pub fn new(encoder: &str) -> Self {
        Vectors {
            encoder: encoder.to_owned(),
            ..Vectors::default()
        }
    }

    pub(crate) fn encoder(&self) -> &str {
        &self.encoder
    }

    /// How many vectors are made from now on, before texts are left without. None: as many as are wanted.
    pub fn allow(&mut self, allowance: Option<usize>) {
        self.allowance = allowance;
    }

    /// Makes the vectors of those texts that have none, as many as are allowed.
    pub(crate) fn learn<'a>(&mut self, encoder: &dyn Encode, texts: impl Iterator<Item = &'a str>) {
        self.take(encoder);
        let mut seen = HashSet::new();
        let is_new = |it: &&str| !it.trim().is_empty() && seen.insert(key(it));
        let texts = texts
            .filter(is_new)
            .filter(|it| !self.known.contains_key(&key(it)) && !encoder.refuses(it));
        let mut wanted: Vec<&str> = texts.collect();
        if let Some(allowance) = &mut self.allowance {
            wanted.truncate(*allowance);
            *allowance -= wanted.len();
        }
        if wanted.is_empty() {
            return;
        }
        let made = encoder.encode_all(&wanted);
        for (text, numbers) in wanted.iter().zip(&made) {
            if let Some(vector) = Vector::new(numbers) {
                self.made += 1;
                self.known.insert(key(text), Arc::new(vector));
            }
        }
    }

    /// The vector of a text, where it is known.
    pub(crate) fn known(&self, text: &str) -> Option<Arc<Vector>> {
        self.known.get(&key(text)).cloned()
    }

    /// Vectors of another encoder are of no use.
    fn take(&mut self, encoder: &dyn Encode) {
        let is_long =
            |it: &Arc<Vector>| encoder.dimension().is_none_or(|now| it.dimension() == now);
        if self.encoder != encoder.id() || !self.known.values().take(1).all(is_long) {
            *self = Vectors {
                allowance: self.allowance,
                made: self.made,
                ..Vectors::new(encoder.id())
            };
        }
    }

    /// Forgets all texts but these.
    pub(crate) fn keep<'a>(&mut self, texts: impl Iterator<Item = &'a str>) {
        let wanted: HashSet<Key> = texts.map(key).collect();
        self.known.retain(|key, _| wanted.contains(key));
    }

    /// How many vectors have been made since the start.
    #[must_use]
    pub fn made(&self) -> usize {
        self.made
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// To be stored; the keys in order, so that the same vectors are the same bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let id = self.encoder.as_bytes();
        let mut bytes = Vec::with_capacity(self.known.len() * 540 + id.len() + 4);
        bytes.extend(u32::try_from(id.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend(id);
        let mut all: Vec<(&Key, &Arc<Vector>)> = self.known.iter().collect();
        all.sort_unstable_by_key(|(key, _)| **key);
        for (key, vector) in all {
            bytes.extend(key);
            vector.write(&mut bytes);
        }
        bytes
    }

    /// Nothing, where the bytes are not what `to_bytes` has made.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (id, mut rest) = rest.split_at_checked(length)?;
        let mut vectors = Vectors::new(std::str::from_utf8(id).ok()?);
        while let Some((key, after)) = rest.split_first_chunk::<16>() {
            let (vector, after) = Vector::read(after)?;
            vectors.known.insert(*key, Arc::new(vector));
            rest = after;
        }
        rest.is_empty().then_some(vectors)
    }
}

fn key(text: &str) -> Key {
    let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    let mut key = Key::default();
    key.copy_from_slice(&hash[..16]);
    key
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::words::words;

    /// Knows no meaning: texts with the same words get near vectors.
    pub(crate) struct Words(pub(crate) &'static str);

    /// The same, but another model stands there now, and one word it does not take.
    pub(crate) struct Changed(pub(crate) usize);

    impl Encode for Changed {
        fn encode(&self, text: &str) -> Vec<f32> {
            match self.refuses(text) {
                true => Vec::new(),
                false => Words("words").encode(text)[..self.0].to_vec(),
            }
        }

        fn dimension(&self) -> Option<usize> {
            Some(self.0)
        }

        fn refuses(&self, text: &str) -> bool {
            text.contains("unspeakable")
        }

        fn id(&self) -> &str {
            "words"
        }
    }

    impl Encode for Words {
        fn encode(&self, text: &str) -> Vec<f32> {
            let mut vector = vec![0.0_f32; 256];
            for word in words(text) {
                let weight = if word.is_common { 0.1 } else { 1.0 };
                vector[word.key as usize % 256] += weight;
            }
            let length = vector
                .iter()
                .map(|it| it * it)
                .sum::<f32>()
                .sqrt()
                .max(1e-6);
            vector.iter().map(|it| it / length).collect()
        }

        fn id(&self) -> &str {
            self.0
        }
    }

    fn learn(vectors: &mut Vectors, encoder: &'static str, texts: &[&str]) {
        vectors.learn(&Words(encoder), texts.iter().copied());
    }

    #[test]
    fn a_text_is_encoded_once() {
        let mut vectors = Vectors::new("a");
        learn(&mut vectors, "a", &["one text", "one text", "  "]);
        let first = vectors.known("one text").unwrap();
        learn(&mut vectors, "a", &["one text"]);
        assert!(Arc::ptr_eq(&first, &vectors.known("one text").unwrap()));
        assert_eq!((vectors.len(), vectors.made()), (1, 1));
        assert!(vectors.known("  ").is_none());
    }

    #[test]
    fn no_more_are_made_than_are_allowed() {
        let mut vectors = Vectors::new("a");
        vectors.allow(Some(2));
        learn(&mut vectors, "a", &["one", "two", "three"]);
        assert_eq!(
            (vectors.made(), vectors.known("three").is_some()),
            (2, false)
        );
        learn(&mut vectors, "a", &["one", "three"]);
        assert_eq!(vectors.made(), 2);
        vectors.allow(None);
        learn(&mut vectors, "a", &["three"]);
        assert_eq!(vectors.made(), 3);
    }

    #[test]
    fn vectors_of_another_encoder_are_forgotten() {
        let mut vectors = Vectors::new("a");
        learn(&mut vectors, "a", &["one text"]);
        learn(&mut vectors, "b", &["another text"]);
        assert_eq!((vectors.len(), vectors.made()), (1, 2));
    }

    #[test]
    fn vectors_of_another_length_are_forgotten() {
        let mut vectors = Vectors::new("words");
        learn(&mut vectors, "words", &["one text"]);
        vectors.learn(&Changed(200), ["another text"].into_iter());
        assert_eq!(vectors.len(), 1);
        vectors.learn(&Changed(200), ["one text"].into_iter());
        assert_eq!(vectors.len(), 2);
    }

    #[test]
    fn they_come_back_from_bytes() {
        let mut vectors = Vectors::new("a");
        learn(&mut vectors, "a", &["one", "two", "셋"]);
        let bytes = vectors.to_bytes();
        let mut back = Vectors::from_bytes(&bytes).unwrap();
        assert_eq!(back.to_bytes(), bytes);
        learn(&mut back, "a", &["two"]);
        assert_eq!((back.len(), back.made()), (3, 0));
        for wrong in [&bytes[..2], &bytes[..bytes.len() - 1], &bytes[..7]] {
            assert!(Vectors::from_bytes(wrong).is_none());
        }
        let empty = Vectors::new("a").to_bytes();
        assert!(Vectors::from_bytes(&empty).unwrap().is_empty());
    }

    #[test]
    fn what_is_no_longer_wanted_goes() {
        let mut vectors = Vectors::new("a");
        learn(&mut vectors, "a", &["one", "two"]);
        vectors.keep(["two", "three"].into_iter());
        assert_eq!(vectors.len(), 1);
    }
}
