//! OpenAPI documents: the operations of one as definitions of `http` tools, and tools as the operations of another. Pure
//! functions; nothing is fetched, and what a document refers to outside itself stays outside.

mod body;
mod document;
mod names;
mod operation;
mod parameters;
mod schema;
mod security;
pub mod sharing;
#[cfg(test)]
mod tests;
mod write;

pub use document::{Error, Options, read};
pub use write::{Offer, write};

use serde_json::Value;
use std::collections::BTreeSet;

/// What became of the operations of a document.
#[derive(Debug, Default)]
pub struct Imported {
    /// What the document calls itself.
    pub title: String,
    pub tools: Vec<Made>,
    pub left_out: Vec<LeftOut>,
    /// The secrets that the tools refer to, by name.
    pub secrets: Vec<Needed>,
}

/// A secret that tools refer to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needed {
    pub name: String,
    /// What it is, for whoever has to set it.
    pub what: String,
    /// Whether its name comes from the document, and not from whoever imports it.
    pub is_made_up: bool,
    /// The origins that see it, or a token that is given for it.
    pub shown_to: BTreeSet<String>,
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
