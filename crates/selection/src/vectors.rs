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

    /// The vector of a text, made where it is not known. A text that the encoder cannot take is left out, and asked for
    /// again next time.
    pub(crate) fn of(&mut self, encoder: &dyn Encode, text: &str) -> Option<Arc<Vector>> {
        if text.trim().is_empty() {
            return None;
        }
        if self.encoder != encoder.id() {
            *self = Vectors::new(encoder.id());
        }
        let key = key(text);
        if let Some(known) = self.known.get(&key) {
            return Some(Arc::clone(known));
        }
        let vector = Arc::new(Vector::new(&encoder.encode(text))?);
        self.made += 1;
        self.known.insert(key, Arc::clone(&vector));
        Some(vector)
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

    impl Encode for Words {
        fn encode(&self, text: &str) -> Vec<f32> {
            let mut vector = vec![0.0_f32; 64];
            for word in words(text) {
                let weight = if word.is_common { 0.1 } else { 1.0 };
                vector[word.key as usize % 64] += weight;
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

    #[test]
    fn a_text_is_encoded_once() {
        let mut vectors = Vectors::new("a");
        let first = vectors.of(&Words("a"), "one text").unwrap();
        let again = vectors.of(&Words("a"), "one text").unwrap();
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!((vectors.len(), vectors.made()), (1, 1));
        assert!(vectors.of(&Words("a"), "  ").is_none());
    }

    #[test]
    fn vectors_of_another_encoder_are_forgotten() {
        let mut vectors = Vectors::new("a");
        vectors.of(&Words("a"), "one text");
        vectors.of(&Words("b"), "another text");
        assert_eq!((vectors.len(), vectors.made()), (1, 1));
    }

    #[test]
    fn they_come_back_from_bytes() {
        let mut vectors = Vectors::new("a");
        for text in ["one", "two", "셋"] {
            vectors.of(&Words("a"), text);
        }
        let bytes = vectors.to_bytes();
        let mut back = Vectors::from_bytes(&bytes).unwrap();
        assert_eq!(back.to_bytes(), bytes);
        back.of(&Words("a"), "two");
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
        for text in ["one", "two"] {
            vectors.of(&Words("a"), text);
        }
        vectors.keep(["two", "three"].into_iter());
        assert_eq!(vectors.len(), 1);
    }
}
