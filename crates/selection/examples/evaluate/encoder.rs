//! The encoder of this program, as selection wants it. Requests are asked again with every run, so what it made of them
//! is kept in a file too.

use encoder::{DIMENSION, Encoder};
use selection::Encode;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

pub(crate) struct Own {
    encoder: Encoder,
    /// Nothing, where the time that it takes is to be measured.
    known: Option<Mutex<HashMap<String, Vec<f32>>>>,
}

impl Own {
    pub(crate) fn open() -> Result<Self, encoder::Error> {
        Ok(Own {
            encoder: Encoder::open()?,
            known: None,
        })
    }

    /// With what an earlier run has kept.
    pub(crate) fn knowing(file: &Path) -> Result<Self, encoder::Error> {
        let texts = std::fs::read_to_string(texts_of(file)).unwrap_or_default();
        let texts: Vec<String> = serde_json::from_str(&texts).unwrap_or_default();
        let bytes = std::fs::read(file).unwrap_or_default();
        let number = |it: &[u8]| f32::from_le_bytes([it[0], it[1], it[2], it[3]]);
        let vectors = bytes
            .chunks_exact(4 * DIMENSION)
            .map(|it| it.chunks_exact(4).map(number).collect());
        let known = texts.into_iter().zip(vectors).collect();
        Ok(Own {
            encoder: Encoder::open()?,
            known: Some(Mutex::new(known)),
        })
    }

    pub(crate) fn keep(&self, file: &Path) -> std::io::Result<()> {
        let Some(known) = &self.known else {
            return Ok(());
        };
        let known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let texts: Vec<&String> = known.keys().collect();
        let bytes = known.values().flatten().flat_map(|it| it.to_le_bytes());
        std::fs::write(file, bytes.collect::<Vec<u8>>())?;
        std::fs::write(
            texts_of(file),
            serde_json::to_string(&texts).unwrap_or_default(),
        )
    }
}

fn texts_of(file: &Path) -> PathBuf {
    file.with_extension("json")
}

impl Encode for Own {
    fn encode(&self, text: &str) -> Vec<f32> {
        let Some(known) = &self.known else {
            return self.encoder.encode(text).to_vec();
        };
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vector) = known.get(text) {
            return vector.clone();
        }
        let vector = self.encoder.encode(text).to_vec();
        known.insert(text.to_owned(), vector.clone());
        vector
    }

    fn id(&self) -> &str {
        selection::ENCODER
    }
}
