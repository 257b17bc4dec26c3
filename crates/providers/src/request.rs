//! What a model is asked, the same for every provider. Runs keep these types in their journal: fields may be added with
//! a default, and what is written today must be readable for ever.

use crate::turn::Turn;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One question to a model, with all that was said before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    pub model: String,
    pub system: Option<String>,
    pub said: Vec<Said>,
    pub tools: Vec<Tool>,
    pub tool_choice: Choice,
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    /// Of the answer, thinking included.
    pub max_tokens: Option<u64>,
    pub stop_sequences: Vec<String>,
    /// Whether the model may call several tools at once; what the provider does by itself where it is not said.
    pub parallel: Option<bool>,
    /// The schema that the text of the answer must follow.
    pub output_schema: Option<Value>,
    /// Whether the provider is told what of this will be asked again, where it wants to be told.
    pub cache: bool,
    pub stream: bool,
    /// Fields of the provider's own that are sent as they are, such as `thinking`. They replace what we would send.
    pub extra: Map<String, Value>,
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Our name for it. On the wire it may be another, which is turned back in what the model calls.
    pub name: String,
    pub description: String,
    pub input_schema: Value,
}

/// Whether the model calls tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    #[default]
    Auto,
    /// It must not.
    None,
    /// It must, and chooses which.
    Required,
}

/// One thing that was said, by whom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", content = "said", rename_all = "snake_case")]
#[expect(
    clippy::large_enum_variant,
    reason = "half of all that is said are turns, and there are few of them"
)]
pub enum Said {
    User(String),
    Model(Turn),
    /// What became of all calls of the turn before, in their order.
    Results(Vec<ToolResult>),
}

/// What became of one call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    pub call_id: String,
    pub name: String,
    pub text: String,
    #[serde(default)]
    pub is_error: bool,
    /// Why it failed, in a word. The model is told the text alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}
