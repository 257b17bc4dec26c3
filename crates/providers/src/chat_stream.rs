//! Chat Completions as a stream: chunks put together to the completion that would have come whole.

use crate::error::Error;
use crate::names::Names;
use crate::refusal;
use crate::turn::Delta;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Default)]
pub(crate) struct Assembly {
    /// What the chunks say of the whole: its id, the model, the counts.
    head: Map<String, Value>,
    message: Map<String, Value>,
    calls: Vec<Part>,
    finish_reason: Value,
    /// Whether counts have come with the reason of the end or after it.
    is_counted: bool,
    is_done: bool,
}

/// A call, as far as it has come. Servers number them, and not all keep to one id.
#[derive(Debug, Clone)]
struct Part {
    number: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    is_told: bool,
}

impl Assembly {
    pub(crate) fn done(&mut self) {
        self.is_done = !self.finish_reason.is_null();
    }

    /// Whether nothing is missing. There are servers that end without the last word, but none that count twice.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_done || self.is_counted
    }

    pub(crate) fn take(
        &mut self,
        chunk: Value,
        names: &Names,
        on: &mut dyn FnMut(Delta),
    ) -> Result<(), Error> {
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(refusal::inside(&chunk));
        }
        let Value::Object(mut chunk) = chunk else {
            return Ok(());
        };
        let choices = chunk.shift_remove("choices").unwrap_or_default();
        let first = |choice: &&Value| choice["index"].as_u64().unwrap_or(0) == 0;
        let choice = choices.as_array().and_then(|all| all.iter().find(first));
        if let Some(choice) = choice {
            self.take_delta(&choice["delta"], names, on);
            if !choice["finish_reason"].is_null() {
                self.finish_reason = choice["finish_reason"].clone();
            }
        }
        let is_counted = chunk.get("usage").is_some_and(Value::is_object);
        self.is_counted |= is_counted && !self.finish_reason.is_null();
        self.head
            .extend(chunk.into_iter().filter(|(_, value)| !value.is_null()));
        Ok(())
    }

    /// The completion, as far as it has come.
    pub(crate) fn into_completion(mut self) -> Value {
        if !self.calls.is_empty() {
            let calls = self.calls.into_iter().map(|call| {
                json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}})
            });
            self.message
                .insert("tool_calls".to_owned(), calls.collect());
        }
        let choice =
            json!({"index": 0, "message": self.message, "finish_reason": self.finish_reason});
        self.head.insert("choices".to_owned(), json!([choice]));
        Value::Object(self.head)
    }

    fn take_delta(&mut self, delta: &Value, names: &Names, on: &mut dyn FnMut(Delta)) {
        for (field, value) in delta.as_object().into_iter().flatten() {
            match (field.as_str(), value) {
                ("tool_calls", Value::Array(pieces)) => {
                    pieces
                        .iter()
                        .for_each(|piece| self.take_call(piece, names, on));
                }
                ("role", _) => {
                    self.message.entry("role").or_insert_with(|| value.clone());
                }
                (_, Value::Null) => {
                    self.message.entry(field).or_insert(Value::Null);
                }
                (_, Value::String(piece)) => {
                    self.append(field, piece);
                    match field.as_str() {
                        _ if piece.is_empty() => {}
                        "content" => on(Delta::Text(piece.clone())),
                        "reasoning_content" | "reasoning" => on(Delta::Thinking(piece.clone())),
                        _ => {}
                    }
                }
                (_, Value::Array(pieces)) => {
                    let all = self.message.entry(field).or_insert_with(|| json!([]));
                    if let Some(all) = all.as_array_mut() {
                        all.extend(pieces.iter().cloned());
                    }
                }
                _ => {
                    self.message.insert(field.clone(), value.clone());
                }
            }
        }
    }

    fn append(&mut self, field: &str, piece: &str) {
        match self.message.get_mut(field) {
            Some(Value::String(text)) => text.push_str(piece),
            _ => {
                self.message.insert(field.to_owned(), json!(piece));
            }
        }
    }

    fn take_call(&mut self, piece: &Value, names: &Names, on: &mut dyn FnMut(Delta)) {
        let field = |place: &str| {
            let found = piece.pointer(place).and_then(Value::as_str);
            found.unwrap_or_default()
        };
        let index = self.call_of(
            piece["index"].as_u64(),
            field("/id"),
            field("/function/name"),
        );
        let call = &mut self.calls[index];
        if call.id.is_empty() {
            field("/id").clone_into(&mut call.id);
        }
        if call.name.is_empty() {
            field("/function/name").clone_into(&mut call.name);
        }
        let text = match piece.pointer("/function/arguments") {
            Some(whole @ Value::Object(_)) => whole.to_string(),
            _ => field("/function/arguments").to_owned(),
        };
        call.arguments += &text;
        // A call without a name is one when its arguments come: some servers lose the name.
        if !call.is_told && (!call.name.is_empty() || !text.is_empty()) {
            call.is_told = true;
            let id = match call.id.as_str() {
                "" => format!("call_{index}"),
                id => id.to_owned(),
            };
            let name = names.meant(&call.name).to_owned();
            on(Delta::CallStarted { index, id, name });
        }
        if !text.is_empty() {
            on(Delta::CallArguments { index, text });
        }
    }

    /// Which call a piece belongs to: by its number, else by its id, else to the last. There are servers that give every
    /// call the same number, and servers that give every piece another id; what has both a name and an id of its own begins
    /// a call.
    fn call_of(&mut self, number: Option<u64>, id: &str, name: &str) -> usize {
        let begins = |call: &Part| {
            !(id.is_empty() || call.id.is_empty() || call.id == id || name.is_empty())
        };
        let found = match number {
            Some(_) => {
                let last = self.calls.iter().rposition(|call| call.number == number);
                last.filter(|at| !begins(&self.calls[*at]))
            }
            None if id.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().position(|call| call.id == id),
        };
        found.unwrap_or_else(|| {
            self.calls.push(Part {
                number,
                id: String::new(),
                name: String::new(),
                arguments: String::new(),
                is_told: false,
            });
            self.calls.len() - 1
        })
    }
}
