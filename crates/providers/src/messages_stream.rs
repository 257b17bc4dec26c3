//! Anthropic's Messages as a stream: events put together to the message that would have come whole.

use crate::error::{Class, Error};
use crate::names::Names;
use crate::turn::Delta;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Default)]
pub(crate) struct Assembly {
    message: Value,
    blocks: Vec<Block>,
    is_whole: bool,
}

#[derive(Debug, Clone)]
struct Block {
    value: Value,
    /// Arguments, as far as they have come.
    json: String,
    /// Which of the calls it is.
    call: Option<usize>,
}

impl Assembly {
    pub(crate) fn take(
        &mut self,
        event: &Value,
        names: &Names,
        on: &mut dyn FnMut(Delta),
    ) -> Result<(), Error> {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => self.message = event["message"].clone(),
            "content_block_start" => self.start(event, names, on)?,
            "content_block_delta" => {
                let block = self.block(event)?;
                block.grow(&event["delta"], on);
            }
            "message_delta" => self.end(event),
            "message_stop" => {
                if self.message["stop_reason"].is_null() {
                    return Err(out_of_order());
                }
                self.is_whole = true;
            }
            // What is not known cannot be needed: the format is meant to grow.
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The message, as far as it has come.
    pub(crate) fn into_message(mut self) -> Value {
        let blocks = self.blocks.into_iter().map(Block::into_value);
        self.message["content"] = blocks.collect();
        self.message
    }

    fn start(
        &mut self,
        event: &Value,
        names: &Names,
        on: &mut dyn FnMut(Delta),
    ) -> Result<(), Error> {
        let value = event["content_block"].clone();
        let is_next = event["index"].as_u64() == Some(self.blocks.len() as u64);
        if !(is_next && value.is_object() && self.message.is_object()) {
            return Err(out_of_order());
        }
        let calls = self
            .blocks
            .iter()
            .filter(|block| block.call.is_some())
            .count();
        let call = Some(calls).filter(|_| value["type"] == "tool_use");
        let field = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        if let Some(index) = call {
            on(Delta::CallStarted {
                index,
                id: field("id"),
                name: names.meant(&field("name")).to_owned(),
            });
        }
        let text = field("text");
        if !text.is_empty() {
            on(Delta::Text(text));
        }
        // There are servers that say all of it at once.
        let has_input = value["input"].as_object().is_some_and(|it| !it.is_empty());
        if let Some(index) = call.filter(|_| has_input) {
            let text = value["input"].to_string();
            on(Delta::CallArguments { index, text });
        }
        self.blocks.push(Block {
            value,
            json: String::new(),
            call,
        });
        Ok(())
    }

    fn block(&mut self, event: &Value) -> Result<&mut Block, Error> {
        let index = event["index"]
            .as_u64()
            .and_then(|index| usize::try_from(index).ok());
        let block = index.and_then(|index| self.blocks.get_mut(index));
        block.ok_or_else(out_of_order)
    }

    /// The reason of the end, and counts that replace those of the beginning.
    fn end(&mut self, event: &Value) {
        let Some(message) = self.message.as_object_mut() else {
            return;
        };
        let fields = |value: &Value| value.as_object().cloned().unwrap_or_default();
        message.extend(fields(&event["delta"]));
        let usage = message.entry("usage").or_insert_with(|| json!({}));
        if let Value::Object(usage) = usage {
            let said: Map<String, Value> = fields(&event["usage"]);
            usage.extend(said.into_iter().filter(|(_, count)| !count.is_null()));
        }
    }
}

impl Block {
    fn grow(&mut self, delta: &Value, on: &mut dyn FnMut(Delta)) {
        let said = |field: &str| delta[field].as_str().unwrap_or_default();
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => {
                append(&mut self.value["text"], said("text"));
                on(Delta::Text(said("text").to_owned()));
            }
            "thinking_delta" => {
                append(&mut self.value["thinking"], said("thinking"));
                on(Delta::Thinking(said("thinking").to_owned()));
            }
            "signature_delta" => append(&mut self.value["signature"], said("signature")),
            "citations_delta" => {
                let citations = &mut self.value["citations"];
                if !citations.is_array() {
                    *citations = json!([]);
                }
                if let Some(citations) = citations.as_array_mut() {
                    citations.push(delta["citation"].clone());
                }
            }
            "input_json_delta" => {
                let piece = said("partial_json");
                self.json += piece;
                if let Some(index) = self.call.filter(|_| !piece.is_empty()) {
                    on(Delta::CallArguments {
                        index,
                        text: piece.to_owned(),
                    });
                }
            }
            _ => {}
        }
    }

    fn into_value(mut self) -> Value {
        if !self.json.is_empty() {
            self.value["input"] = match serde_json::from_str(&self.json) {
                Ok(input @ Value::Object(_)) => input,
                _ => Value::String(self.json),
            };
        }
        self.value
    }
}

fn append(place: &mut Value, piece: &str) {
    match place {
        Value::String(text) => text.push_str(piece),
        other => *other = Value::String(piece.to_owned()),
    }
}

fn out_of_order() -> Error {
    Error::new(
        Class::Protocol,
        "The provider's stream is out of order: an event came without the one that must come before",
    )
}
