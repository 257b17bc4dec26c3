//! Where texts become vectors and where those are kept, as the configuration says: an embeddings endpoint, and a
//! ChromaDB server or the store of our own. What is not configured is told to whoever needs it, with what to set.

use catalog::secret::Secret;
use executor::{Code, Failure};
use fetch::Fetcher;
use serde_json::json;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use vectors::{Chroma, Embedded, Embeddings, Error, Retrieval, Store};

/// What the configuration says of vectors. Empty texts are not set.
#[derive(Debug, Clone, Default)]
pub struct VectorOptions {
    /// The whole address of an endpoint that speaks OpenAI's wire format.
    pub embeddings_url: String,
    pub embeddings_model: String,
    pub embeddings_key: Option<Secret>,
    /// Empty keeps vectors in the data folder.
    pub chromadb_host: String,
    pub chromadb_port: u16,
    pub chromadb_token: Option<Secret>,
    /// What is searched where nobody names another.
    pub collection: String,
}

/// The store and the endpoint.
pub struct Vectors {
    pub collection: String,
    embeddings: Result<Arc<Embeddings>, String>,
    /// Where the vectors are, made ready when they are first wanted: most workspaces never have any.
    store: OnceLock<Result<Arc<Store>, String>>,
    options: VectorOptions,
    folder: PathBuf,
    fetcher: Fetcher,
}

/// The folder of our own store, in the data folder.
pub const FOLDER: &str = "vectors";

/// What has to be set for texts to become vectors.
const NO_ENDPOINT: &str = "No embeddings endpoint is configured. Set TEXT_EMBEDDING_MODEL_URL (such as http://localhost:8080/v1/embeddings) and TEXT_EMBEDDING_MODEL_NAME, or vectors.embeddings_url and vectors.embeddings_model in toolcrib.toml";

impl Vectors {
    pub(crate) fn new(options: &crate::Options, fetcher: &Fetcher) -> Arc<Self> {
        let folder = options.data.join(FOLDER);
        let options = options.vectors.clone();
        Arc::new(Vectors {
            collection: options.collection.clone(),
            embeddings: embeddings(&options, fetcher),
            store: OnceLock::new(),
            options,
            folder,
            fetcher: fetcher.clone(),
        })
    }

    pub fn embeddings(&self) -> Result<&Arc<Embeddings>, Failure> {
        self.embeddings.as_ref().map_err(|why| not_configured(why))
    }

    /// Whether texts can become vectors at all.
    pub fn has_embeddings(&self) -> bool {
        self.embeddings.is_ok()
    }

    /// Whether the configuration names an endpoint, usable or not.
    pub fn names_endpoint(&self) -> bool {
        !self.options.embeddings_url.is_empty()
    }

    pub fn store(&self) -> Result<&Arc<Store>, Failure> {
        let store = self.store.get_or_init(|| self.open());
        store.as_ref().map_err(|why| not_configured(why))
    }

    /// Whether vectors are kept by this server itself.
    pub fn is_embedded(&self) -> bool {
        self.options.chromadb_host.is_empty()
    }

    /// What finds documents in a collection; in the usual one where none is named.
    pub fn retrieval(&self, collection: Option<&str>) -> Result<Retrieval, Failure> {
        Ok(Retrieval {
            embeddings: Arc::clone(self.embeddings()?),
            store: Arc::clone(self.store()?),
            collection: collection.unwrap_or(&self.collection).to_owned(),
        })
    }

    fn open(&self) -> Result<Arc<Store>, String> {
        let options = &self.options;
        let store = match self.is_embedded() {
            true => {
                Embedded::open(&self.folder, vectors::embedded::Limits::default()).map(Store::from)
            }
            false => {
                let settings = vectors::chroma::Settings {
                    host: options.chromadb_host.clone(),
                    port: options.chromadb_port,
                    token: exposed(options.chromadb_token.as_ref()),
                    ..vectors::chroma::Settings::default()
                };
                Chroma::new(self.fetcher.clone(), &settings).map(Store::from)
            }
        };
        store.map(Arc::new).map_err(|error| {
            log_file(&error);
            error.to_string()
        })
    }
}

fn embeddings(options: &VectorOptions, fetcher: &Fetcher) -> Result<Arc<Embeddings>, String> {
    let (url, model) = (&options.embeddings_url, &options.embeddings_model);
    match (url.is_empty(), model.is_empty()) {
        (true, _) => return Err(NO_ENDPOINT.to_owned()),
        (false, true) => {
            return Err(
                "The embeddings endpoint has to be told which model is meant. Set TEXT_EMBEDDING_MODEL_NAME (such as bge-m3-ko), or vectors.embeddings_model in toolcrib.toml".to_owned(),
            );
        }
        (false, false) => {}
    }
    let mut settings = vectors::embeddings::Settings::new(url, model);
    settings.key = exposed(options.embeddings_key.as_ref());
    let made = Embeddings::new(fetcher.clone(), settings);
    made.map(Arc::new).map_err(|error| error.to_string())
}

fn exposed(secret: Option<&Secret>) -> Option<String> {
    secret.map(|secret| secret.expose().to_owned())
}

fn not_configured(why: &str) -> Failure {
    Failure::new(Code::NotConfigured, why)
}

/// Callers are told of a collection. Where its file is, is for the log of whoever runs the server.
pub fn log_file(error: &Error) {
    if let Some(file) = error.path() {
        tracing::error!(file = %file.display(), %error, "vectors cannot be used");
    }
}

/// Why a search, or the making of vectors, failed.
pub fn failure(error: &Error) -> Failure {
    log_file(error);
    let code = match error {
        Error::Invalid(_) | Error::TooMuch(_) | Error::Lines { .. } => Code::InvalidInput,
        // The caller has named neither the collection nor the model.
        Error::NoCollection { .. } | Error::Dimension { .. } => Code::NotConfigured,
        Error::Away { source, .. } => match source {
            fetch::Error::Timeout { .. } => Code::Timeout,
            fetch::Error::BadUrl { .. } | fetch::Error::Refused { .. } => Code::NotConfigured,
            _ => Code::UpstreamError,
        },
        Error::Busy { .. } | Error::Refused { .. } | Error::Unusable { .. } => Code::UpstreamError,
        Error::Deadline(_) => Code::Timeout,
        Error::File { .. } | Error::Damaged { .. } => Code::ServiceUnavailable,
    };
    let failure = Failure::new(code, error.to_string());
    match error.retry_after() {
        Some(after) => failure.with_details(json!({"retry_after_seconds": after.as_secs().max(1)})),
        None => failure,
    }
}
