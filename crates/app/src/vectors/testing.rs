//! Whether what searching by meaning needs works: the embeddings endpoint, and the collection that is searched.

use crate::App;
use ::vectors::{Collection, Error};
use serde::Serialize;
use std::time::{Duration, Instant};
use utoipa::ToSchema;

/// Whoever tests waits for an answer, and both are asked at once.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a test has found.
#[derive(Debug, Serialize, ToSchema)]
pub struct VectorsTest {
    pub embeddings: EndpointTest,
    pub collection: CollectionTest,
    /// Where collections are: `chromadb` or `embedded`, in the data folder.
    pub store: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct EndpointTest {
    /// unset: none is configured; ready: it answers; unusable: it does not, and `cause` says why.
    #[schema(example = "ready")]
    pub state: &'static str,
    /// How long its vectors are.
    pub dimension: Option<usize>,
    pub cause: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct CollectionTest {
    pub name: String,
    /// ready; missing: there is none of that name; unfit: its vectors are not as long as the endpoint's; unusable: it
    /// cannot be read, and `cause` says why.
    #[schema(example = "ready")]
    pub state: &'static str,
    pub documents: Option<usize>,
    pub dimension: Option<usize>,
    pub cause: Option<String>,
}

impl App {
    /// Has the endpoint make a vector, and looks at the usual collection.
    pub async fn test_vectors(&self) -> VectorsTest {
        let deadline = Instant::now() + PATIENCE;
        let (embeddings, found) = tokio::join!(
            self.test_endpoint(deadline),
            self.usual_collection(deadline)
        );
        let name = self.vectors.collection.clone();
        let collection = match found {
            Err(Some(cause)) => CollectionTest::none(name, "unusable", Some(cause)),
            Err(None) => CollectionTest::none(name, "missing", None),
            Ok((found, documents)) => {
                let both = found.dimension.zip(embeddings.dimension);
                let unfit = both.filter(|(theirs, ours)| theirs != ours);
                CollectionTest {
                    name,
                    state: if unfit.is_some() { "unfit" } else { "ready" },
                    documents: Some(documents),
                    dimension: found.dimension,
                    cause: unfit.map(|(theirs, ours)| {
                        format!("its vectors have {theirs} dimensions, those of the embeddings endpoint {ours}")
                    }),
                }
            }
        };
        VectorsTest {
            embeddings,
            collection,
            store: self.store_name(),
        }
    }

    async fn test_endpoint(&self, deadline: Instant) -> EndpointTest {
        let told = |state, dimension, cause| EndpointTest {
            state,
            dimension,
            cause,
        };
        if !self.vectors.names_endpoint() {
            return told("unset", None, None);
        }
        let endpoint = match self.vectors.embeddings() {
            Ok(endpoint) => endpoint,
            Err(failure) => return told("unusable", None, Some(failure.message)),
        };
        match endpoint.embed(&["test".to_owned()], deadline).await {
            Ok(made) => told("ready", made.first().map(|it| it.vector.len()), None),
            Err(error) => told("unusable", None, Some(error.to_string())),
        }
    }

    /// The collection with how many documents it holds, or why not; nothing where it is not there.
    async fn usual_collection(
        &self,
        deadline: Instant,
    ) -> Result<(Collection, usize), Option<String>> {
        let told = |error: Error| match error {
            Error::NoCollection { .. } => None,
            error => Some(super::failed(error).to_string()),
        };
        let store = self.vectors.store();
        let store = store.map_err(|failure| Some(failure.message))?;
        let name = &self.vectors.collection;
        let found = store.collection(name, deadline).await.map_err(told)?;
        let count = store.count(name, deadline).await.map_err(told)?;
        Ok((found, count))
    }
}

impl CollectionTest {
    fn none(name: String, state: &'static str, cause: Option<String>) -> Self {
        CollectionTest {
            name,
            state,
            documents: None,
            dimension: None,
            cause,
        }
    }
}
