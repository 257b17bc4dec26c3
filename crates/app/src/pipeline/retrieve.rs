//! The second step: documents that are near to the query, where vectors are configured.

use super::{Chunk, PipelineState};
use crate::App;
use crate::vectors::NearView;
use catalog::caller::Caller;
use std::time::Duration;

/// How many documents are taken.
const CHUNKS: usize = 5;
/// A pipeline without documents is better than one that waits for them.
const PATIENCE: Duration = Duration::from_secs(5);

impl App {
    pub(super) async fn retrieve_step(&self, caller: &Caller, state: &mut PipelineState) {
        // Whom the tool is kept from that finds the same documents gets none of them.
        let may = self
            .executor
            .policy
            .load()
            .may_use(caller, crate::retrieval::SAME);
        if !may || !self.vectors.has_embeddings() || !self.has_documents().await {
            return;
        }
        let search = self.search_vectors(&state.query, Some(CHUNKS), None);
        match tokio::time::timeout(PATIENCE, search).await {
            Ok(Ok(found)) => {
                state.retrieved_chunks = found.items.into_iter().filter_map(chunk).collect()
            }
            Ok(Err(error)) => state
                .notes
                .push(format!("no documents were retrieved: {error}")),
            Err(_) => {
                let seconds = PATIENCE.as_secs();
                let note =
                    format!("no documents were retrieved: nothing was found within {seconds} s");
                state.notes.push(note);
            }
        }
    }

    /// Whether the usual collection is there at all; where it is not, nobody expects documents.
    async fn has_documents(&self) -> bool {
        let Ok(store) = self.vectors.store() else {
            return false;
        };
        let deadline = std::time::Instant::now() + PATIENCE;
        let collection = store.collection(&self.vectors.collection, deadline).await;
        // What does not answer is told by the search.
        !matches!(collection, Err(vectors::Error::NoCollection { .. }))
    }
}

fn chunk(near: NearView) -> Option<Chunk> {
    Some(Chunk {
        id: near.id,
        text: near.document?,
        score: f64::from(1.0 / (1.0 + near.distance.max(0.0))),
        metadata: near.metadata,
    })
}
