//! OpenAPI documents: the operations of one as definitions of `http` tools, and tools as the operations of another. Pure
//! functions; nothing is fetched, and what a document refers to outside itself stays outside.

mod body;
mod document;
mod names;
mod operation;
mod parameters;
mod schema;
mod security;
#[cfg(test)]
mod tests;
mod write;

pub use document::{Error, Options, read};
pub use write::{Offer, write};

use serde_json::Value;

/// What became of the operations of a document.
#[derive(Debug, Default)]
pub struct Imported {
    /// What the document calls itself.
    pub title: String,
    pub tools: Vec<Made>,
    pub left_out: Vec<LeftOut>,
    /// The names of the secrets that the tools refer to, each with what it is for.
    pub secrets: Vec<(String, String)>,
}

/// An operation that has become a tool.
#[derive(Debug)]
pub struct Made {
    pub name: String,
    pub method: String,
    pub path: String,
    /// What an author would have written.
    pub definition: Value,
    /// What the operation can and the tool cannot.
    pub lost: Vec<String>,
}

/// An operation that has not.
#[derive(Debug)]
pub struct LeftOut {
    pub method: String,
    pub path: String,
    pub why: String,
}
