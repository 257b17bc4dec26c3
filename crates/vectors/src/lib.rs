//! Vectors of texts: where they are kept and searched (`store`), where they come from (`embeddings`, `import`), and
//! the documents that are near to a question (`retrieval`). Knows nothing of tools or of who asks.

pub mod chroma;
pub mod embedded;
pub mod embeddings;
mod error;
mod filter;
pub mod import;
pub mod jsonl;
mod peer;
mod record;
pub mod retrieval;
mod store;

pub use chroma::Chroma;
pub use embedded::Embedded;
pub use embeddings::{Embedding, Embeddings};
pub use error::{Error, Peer, Problem};
pub use filter::Filter;
pub use record::{
    Collection, Counted, Found, Get, Hit, Include, Metadata, QUERIES_MAX, Query, RESULTS_MAX,
    Record, Space,
};
pub use retrieval::Retrieval;
pub use store::Store;

pub type Result<T> = std::result::Result<T, Error>;
