//! From questions to the documents that are near to them: embedded by the endpoint, searched for in the store.

use crate::Result;
use crate::embeddings::Embeddings;
use crate::record::{Hit, Include, Query};
use crate::store::Store;
use crate::{Error, Filter, QUERIES_MAX};
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;

/// Documents for each question where nothing is said.
pub const RESULTS_DEFAULT: usize = 3;
/// Documents that are shown to a model before it is asked.
pub const REFERENCES: usize = 15;

/// A collection of documents, and the model whose vectors it holds.
#[derive(Clone)]
pub struct Retrieval {
    pub store: Arc<Store>,
    pub embeddings: Arc<Embeddings>,
    pub collection: String,
}

impl Retrieval {
    /// The documents that are nearest to each question, nearest first: what `get_sim_search` answers. A record without
    /// a document is a null.
    pub async fn documents(
        &self,
        questions: &[String],
        n_results: usize,
        deadline: Instant,
    ) -> Result<Vec<Vec<Option<String>>>> {
        let include = Include {
            documents: true,
            metadatas: false,
            embeddings: false,
        };
        let found = self
            .search(questions, n_results, None, include, deadline)
            .await?;
        let document = |hit: Hit| hit.found.document;
        let documents = |hits: Vec<Hit>| hits.into_iter().map(document).collect();
        Ok(found.into_iter().map(documents).collect())
    }

    /// What is shown to a model before it answers a request, as a turn of the user: the nearest documents.
    pub async fn references(&self, request: &str, deadline: Instant) -> Result<String> {
        let found = self
            .documents(&[request.to_owned()], REFERENCES, deadline)
            .await?;
        Ok(turn(&found.into_iter().next().unwrap_or_default()))
    }

    pub async fn search(
        &self,
        questions: &[String],
        n_results: usize,
        filter: Option<Filter>,
        include: Include,
        deadline: Instant,
    ) -> Result<Vec<Vec<Hit>>> {
        if questions.len() > QUERIES_MAX {
            return Err(Error::TooMuch(format!(
                "{} searches at once are too many; {QUERIES_MAX} are allowed, so ask in parts",
                questions.len()
            )));
        }
        let mut query = Query::new(Vec::new(), n_results);
        query.check()?;
        // Before the endpoint is paid for vectors that nobody can use.
        self.store.collection(&self.collection, deadline).await?;
        let made = self.embeddings.embed(questions, deadline).await?;
        query.embeddings = made.into_iter().map(|made| made.vector).collect();
        query.filter = filter;
        query.include = include;
        self.store.query(&self.collection, query, deadline).await
    }
}

/// The turn as the agents of old wrote it, to the space after a comma, so that a model sees what it is used to.
pub fn turn(documents: &[Option<String>]) -> String {
    let json = |document: &Option<String>| Value::from(document.as_deref()).to_string();
    let documents: Vec<String> = documents.iter().map(json).collect();
    format!(
        "Retrieved docs relevant to user query: [{}]",
        documents.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_written_as_python_writes_it() {
        let documents = [
            Some("users.email VARCHAR(255) 사용자 \"이메일\" 주소".to_owned()),
            None,
            Some("a\nb".to_owned()),
        ];
        assert_eq!(
            turn(&documents),
            "Retrieved docs relevant to user query: [\"users.email VARCHAR(255) 사용자 \\\"이메일\\\" 주소\", null, \"a\\nb\"]"
        );
        assert_eq!(turn(&[]), "Retrieved docs relevant to user query: []");
    }
}
