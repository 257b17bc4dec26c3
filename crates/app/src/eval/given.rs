//! Choosing among tools that come with a row, as the public sets have them.

use super::{Chosen, Row};
use crate::select::{item_of, own_encoder};
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
    let word = |key: &str| tool[key].as_str().unwrap_or_default().to_owned();
    let name = word("name");
    if name.is_empty() {
        return Err("a tool has no name".to_owned());
    }
    if tool["params"].is_null() {
        return Ok(item_of(tool));
    }
    Ok(Item {
        name,
        description: word("description"),
        parameters: parameters(&word("params"), tool["required"].as_array()),
        trusted: true,
        ..Item::default()
    })
}

/// Where nothing says what is required, all is that has no default.
fn parameters(text: &str, required: Option<&Vec<Value>>) -> Vec<Parameter> {
    let mut all: Vec<Parameter> = Vec::new();
    for piece in text.split("; ").filter(|it| !it.trim().is_empty()) {
        match piece.split_once(": ") {
            Some((name, description)) if !name.trim().contains(' ') => {
                let small = description.to_lowercase();
                let has_default = small.contains("optional") || small.contains("default");
                let said = required.map(|all| all.iter().any(|it| it == name));
                all.push(Parameter {
                    name: name.to_owned(),
                    description: description.to_owned(),
                    required: said.unwrap_or(!has_default),
                    ..Parameter::default()
                });
            }
            _ => match all.last_mut() {
                Some(last) => last.description = format!("{}; {piece}", last.description),
                None => all.push(Parameter {
                    name: piece.trim_end_matches(':').to_owned(),
                    ..Parameter::default()
                }),
            },
        }
    }
    all
}
