//! Vectors that were made beforehand, from files; texts that have none are written down.

use selection::Encode;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Mutex;

pub(crate) struct Filed {
    known: HashMap<String, Vec<f32>>,
    missing: Mutex<BTreeSet<String>>,
}

impl Filed {
    /// `texts.json`, a list of texts, and `vectors.f32`, 512 numbers for each.
    pub(crate) fn new(folder: &Path) -> Self {
        let texts = std::fs::read_to_string(folder.join("texts.json")).unwrap_or_default();
        let texts: Vec<String> = serde_json::from_str(&texts).unwrap_or_default();
        let bytes = std::fs::read(folder.join("vectors.f32")).unwrap_or_default();
        let number = |it: &[u8]| f32::from_le_bytes([it[0], it[1], it[2], it[3]]);
        let vectors = bytes
            .chunks_exact(2048)
            .map(|it| it.chunks_exact(4).map(number).collect());
        Filed {
            known: texts.into_iter().zip(vectors).collect(),
            missing: Mutex::default(),
        }
    }

    pub(crate) fn missing(&self) -> Vec<String> {
        let missing = self
            .missing
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        missing.iter().cloned().collect()
    }
}

impl Encode for Filed {
    fn encode(&self, text: &str) -> Vec<f32> {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let mut missing = self
            .missing
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        missing.insert(text.to_owned());
        let mut vector = vec![0.0; 512];
        vector[0] = 1.0;
        vector
    }

    fn id(&self) -> &str {
        "use-multilingual-3"
    }
}
