//! Choosing among tools that come with a row, as the public sets have them.

use super::{Chosen, Row};
use crate::select::own_encoder;
use selection::{Corpus, Encode, Item, Parameter, Vectors};
use serde_json::Value;
use std::sync::Arc;

/// What chooses among given tools. The corpus of the last row is kept: in many files every row has the same tools.
pub struct Given {
    encoder: Arc<dyn Encode>,
    vectors: Vectors,
    last: Option<(Arc<Vec<Item>>, Corpus)>,
}

impl Given {
    /// With the encoder of the program.
    pub fn new() -> Result<Self, encoder::Error> {
        let encoder = own_encoder()?;
        Ok(Given {
            vectors: Vectors::new(encoder.id()),
            encoder,
            last: None,
        })
    }

    pub fn choose(&mut self, row: &Row, tools: &Arc<Vec<Item>>) -> Chosen {
        let corpus = match self.last.take() {
            Some((known, corpus)) if Arc::ptr_eq(&known, tools) => corpus,
            _ => Corpus::new(tools, Arc::clone(&self.encoder), &mut self.vectors),
        };
        let found = corpus.select(&row.query, |_| true, 1);
        let name = |at: usize| tools[at].name.clone();
        let chosen = Chosen {
            outcome: found.outcome,
            tools: found.tools.iter().map(|at| name(*at)).collect(),
            best: found.candidates.first().map(|it| name(it.at)),
        };
        self.last = Some((Arc::clone(tools), corpus));
        chosen
    }
}

/// A tool with a JSON schema, or with `params`, one text: `name: description; …`.
pub(super) fn item(tool: &Value) -> Result<Item, String> {
    let mut item = Item::of_tool(tool);
    if item.name.is_empty() {
        return Err("a tool has no name".to_owned());
    }
    if let Some(text) = tool["params"].as_str() {
        let required = tool["required"].as_array();
        item.parameters = Parameter::of_text(text, required.map(Vec::as_slice));
    }
    Ok(item)
}
