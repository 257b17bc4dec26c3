//! What a request surely gives for the parameters of a tool, and what has to be asked for.

use serde_json::{Map, Value};

/// The arguments that a request gives, and the parameters that it does not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filled {
    pub arguments: Map<String, Value>,
    pub missing: Vec<Missing>,
}

/// A required parameter that nothing in the request is surely meant for.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    pub name: String,
    pub schema: Value,
    /// In the language of the request.
    pub question: String,
}
