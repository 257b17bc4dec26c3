//! What a model says, the same for every provider, whole and as it comes. Journalled like `request`.

use crate::api::Api;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashSet;

/// A whole answer. There is none for half of one: a stream that breaks off is an error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Turn {
    pub text: String,
    pub calls: Vec<Call>,
    /// The answer as it was written, for who asks the same provider again.
    pub echo: Option<Echo>,
    /// Why it ended. Whether tools are to be called, `calls` tells and nothing else: providers disagree on the reason.
    pub stop: Stop,
    pub usage: Usage,
    /// The model that answered, which may be a version of the one that was asked.
    pub model: Option<String>,
    /// What the provider knows this exchange by.
    pub request_id: Option<String>,
    /// What was asked for and not sent, because this model refuses it.
    pub notes: Vec<String>,
}

/// One call that the model wants made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    pub id: String,
    /// Our name of the tool; what the model wrote where that is none of ours.
    pub name: String,
    pub arguments: Arguments,
}

/// What a tool is called with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    Json(Value),
    /// What the model wrote in the place of JSON: it is told so, and may try again.
    Bad(String),
}

/// A turn in the provider's own words: thinking, signatures and what else must come back unchanged. Sent as it is to the
/// same wire format; another is given the text and the calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Echo {
    pub api: Api,
    pub raw: Value,
}

/// Why an answer ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// All is said, or a stop sequence was met.
    #[default]
    End,
    /// Tools are to be called.
    Calls,
    /// `max_tokens` were used up.
    Length,
    /// The provider, or the model, would not say it.
    Filtered,
    /// The model's context is full.
    TooLong,
    /// A long turn of the provider's own tools: to be asked again with this turn as the last.
    Paused,
    Other(String),
}

/// Tokens of one exchange.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// With those that were read from a cache or written to one, whatever the provider counts them as.
    pub input_tokens: u64,
    /// With those of thinking.
    pub output_tokens: u64,
    /// Of the input, what was read from a cache.
    pub cache_read_tokens: u64,
    /// Of the input, what was written to a cache.
    pub cache_write_tokens: u64,
    /// Of the output, what was thinking, where the provider tells.
    pub reasoning_tokens: u64,
}

/// A piece of an answer that is still being written. Calls are numbered in the order of `Turn::calls`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delta {
    Text(String),
    Thinking(String),
    CallStarted {
        index: usize,
        id: String,
        name: String,
    },
    CallArguments {
        index: usize,
        text: String,
    },
    /// The stream broke and the model is asked once more: what was handed out of this answer counts no more, calls
    /// included. None of them is to be made before the turn is whole.
    Again,
}

/// The ids of one turn. Results lead back to their calls by these alone, so no two are the same and none is empty, whatever
/// the provider wrote.
#[derive(Debug, Default)]
pub(crate) struct Ids(HashSet<String>);

impl Ids {
    /// What a call is known by: what was written, unless another has it.
    pub(crate) fn own(&mut self, written: &str) -> String {
        let mut id = written.to_owned();
        let mut number = self.0.len();
        while id.is_empty() || self.0.contains(&id) {
            id = format!("call_{number}");
            number += 1;
        }
        self.0.insert(id.clone());
        id
    }
}

impl Arguments {
    /// What a model wrote. A tool takes an object; nothing at all is one without members.
    pub(crate) fn of(text: &str) -> Self {
        match serde_json::from_str(text) {
            _ if text.trim().is_empty() => Arguments::Json(json!({})),
            Ok(Value::Null) => Arguments::Json(json!({})),
            Ok(value @ Value::Object(_)) => Arguments::Json(value),
            Ok(_) | Err(_) => Arguments::Bad(text.to_owned()),
        }
    }

    /// As they are told to a model again, which takes nothing but an object.
    pub(crate) fn to_object(&self) -> Value {
        match self {
            Arguments::Json(value @ Value::Object(_)) => value.clone(),
            Arguments::Json(value) => json!({"INVALID_JSON": value.to_string()}),
            Arguments::Bad(text) => json!({"INVALID_JSON": text}),
        }
    }
}

impl Call {
    /// The arguments, where they are an object.
    pub fn object(&self) -> Option<&serde_json::Map<String, Value>> {
        match &self.arguments {
            Arguments::Json(value) => value.as_object(),
            Arguments::Bad(_) => None,
        }
    }
}
