//! What a model is shown before it is asked: the documents that are nearest to a request, as a turn of the user.

use crate::App;
use crate::error::Result;
use crate::vectors::{failed, unready};
use serde::Serialize;
use std::time::Instant;

/// The tool that finds the same documents.
pub(crate) const SAME: &str = "get_sim_search";

/// A turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Turn {
    pub role: &'static str,
    pub text: String,
}

impl App {
    /// The turn that goes before a model's answer to `request`: `Retrieved docs relevant to user query: […]`, with the
    /// 15 nearest documents of the usual collection, nearest first.
    pub async fn retrieve(&self, request: &str, deadline: Instant) -> Result<Turn> {
        let retrieval = self.vectors.retrieval(None).map_err(unready)?;
        let text = retrieval.references(request, deadline).await;
        Ok(Turn {
            role: "user",
            text: text.map_err(failed)?,
        })
    }
}
