//! What several kinds share: who starts programs, who calls out, who reads documents.

use crate::Options;
use crate::confined::Confinement;
use crate::http::unsent;
use crate::python::interpreter::Interpreter;
use crate::retrieval::Vectors;
use crate::sources::Sources;
use executor::{Code, Failure};
use fetch::Fetcher;
use process::{Pool, Seal, Spawner, Stopped};
use std::sync::Arc;

/// The program's second argument where it is to read documents.
pub const DOCUMENTS: &str = "documents";

/// Room for the largest document that is taken, and what becomes of it.
pub const DOCUMENTS_SEAL: Seal = Seal {
    address_bytes: 1 << 30,
    stack_bytes: 64 << 20,
};

pub(crate) struct Parts {
    pub(crate) spawner: Arc<Spawner>,
    pub(crate) fetcher: Fetcher,
    pub(crate) python: Interpreter,
    pub(crate) confinement: Confinement,
    pub(crate) sources: Arc<Sources>,
    pub(crate) vectors: Arc<Vectors>,
    documents: Pool,
}

impl Parts {
    pub(crate) fn new(options: &Options) -> Arc<Self> {
        let spawner = Arc::new(Spawner::of(&options.program));
        let fetcher = Fetcher::new(fetch::Options {
            allow: options.http_allow.clone(),
            // An upstream server may be asked by many at a time.
            idle_connections_max: 64,
            ..fetch::Options::default()
        });
        Arc::new(Parts {
            documents: Pool::new(Arc::clone(&spawner), DOCUMENTS),
            sources: Arc::default(),
            vectors: Vectors::new(options, &fetcher),
            fetcher,
            python: Interpreter::new(options, &spawner),
            confinement: Confinement::new(options),
            spawner,
        })
    }

    /// Reads a document in a sealed worker; `question` is one of `documents`' own.
    pub(crate) async fn read(&self, question: &[u8]) -> Result<documents::Document, Failure> {
        let answer = self
            .documents
            .ask(question)
            .await
            .map_err(|stopped| match stopped {
                Stopped::Died | Stopped::Late => {
                    Failure::execution("the document needs more memory or time than it may have")
                }
                Stopped::NoWorker(error) => {
                    let message = format!("No process can be started to read documents: {error}");
                    Failure::new(Code::ServiceUnavailable, message)
                }
            })?;
        documents::read(&answer).map_err(|refusal| {
            let details = serde_json::json!({"reason": refusal.code});
            Failure::execution(refusal.message).with_details(details)
        })
    }
}

/// Why there is no answer from an address that the caller has chosen.
pub(crate) fn not_fetched(error: &fetch::Error) -> Failure {
    let code = match error {
        fetch::Error::BadUrl { .. } => Code::InvalidInput,
        fetch::Error::Refused { .. } => Code::Forbidden,
        _ => return unsent(error),
    };
    Failure::new(code, error.to_string())
}
