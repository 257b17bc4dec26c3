//! What the configuration says about vectors.

use super::Config;
use catalog::secret::Secret;
use kinds::retrieval::VectorOptions;

impl Config {
    /// Where texts become vectors, and where those are kept.
    pub(crate) fn vectors(&self) -> VectorOptions {
        let text = |name: &str| self.text(name).to_owned();
        let secret = |name: &str| match self.text(name) {
            "" => None,
            value => Some(Secret::new(value.to_owned())),
        };
        VectorOptions {
            embeddings_url: text("vectors.embeddings_url"),
            embeddings_model: text("vectors.embeddings_model"),
            embeddings_key: secret("vectors.embeddings_key"),
            chromadb_host: text("vectors.chromadb_host"),
            chromadb_port: u16::try_from(self.count("vectors.chromadb_port")).unwrap_or(8000),
            chromadb_token: secret("vectors.chromadb_token"),
            collection: text("vectors.collection"),
        }
    }
}
