//! OpenAI's Responses as a stream. The last event holds all that is said of the whole; items are taken as they end.

use crate::error::Error;
use crate::names::Names;
use crate::refusal;
use crate::turn::Delta;
use serde_json::{Value, json};

#[derive(Debug, Clone, Default)]
pub(crate) struct Assembly {
    response: Option<Value>,
    /// Items that have ended, by their places.
    items: Vec<(u64, Value)>,
    /// Places of the calls that have begun.
    calls: Vec<u64>,
    /// Places of which some text was told.
    told: Vec<u64>,
}

impl Assembly {
    pub(crate) fn is_whole(&self) -> bool {
        self.response.is_some()
    }

    pub(crate) fn take(
        &mut self,
        mut event: Value,
        names: &Names,
        on: &mut dyn FnMut(Delta),
    ) -> Result<(), Error> {
        let place = event["output_index"].as_u64().unwrap_or(0);
        let piece = |event: &Value| event["delta"].as_str().unwrap_or_default().to_owned();
        match event["type"].as_str().unwrap_or_default() {
            "error" | "response.failed" => {
                let said = event.get("response").unwrap_or(&event);
                return Err(refusal::inside(said));
            }
            "response.completed" | "response.incomplete" | "response.done"
                if event["response"].is_object() =>
            {
                self.response = Some(event["response"].take());
            }
            "response.output_item.added" => {
                self.begin(place, &event["item"], names, on);
            }
            "response.output_item.done" => {
                self.begin(place, &event["item"], names, on);
                self.tell_rest(place, &event["item"], on);
                self.items.push((place, event["item"].take()));
            }
            "response.function_call_arguments.delta" => {
                self.tell_arguments(place, &piece(&event), on);
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                self.note_told(place);
                on(Delta::Text(piece(&event)));
            }
            "response.reasoning_text.delta" | "response.reasoning_summary_text.delta" => {
                on(Delta::Thinking(piece(&event)));
            }
            _ => {}
        }
        Ok(())
    }

    /// A call is told once.
    fn begin(&mut self, place: u64, item: &Value, names: &Names, on: &mut dyn FnMut(Delta)) {
        if item["type"] != "function_call" || self.calls.contains(&place) {
            return;
        }
        let field = |name: &str| item[name].as_str().unwrap_or_default();
        on(Delta::CallStarted {
            index: self.calls.len(),
            id: field("call_id").to_owned(),
            name: names.meant(field("name")).to_owned(),
        });
        self.calls.push(place);
    }

    /// There are servers that say all of it at once.
    fn tell_rest(&mut self, place: u64, item: &Value, on: &mut dyn FnMut(Delta)) {
        if self.told.contains(&place) {
            return;
        }
        match item["type"].as_str() {
            Some("function_call") => {
                let arguments = item["arguments"].as_str().unwrap_or_default();
                self.tell_arguments(place, arguments, on);
            }
            Some("message") => {
                let parts = item["content"].as_array().into_iter().flatten();
                let texts =
                    parts.filter_map(|part| part["text"].as_str().or(part["refusal"].as_str()));
                let text: String = texts.collect();
                if !text.is_empty() {
                    on(Delta::Text(text));
                }
            }
            _ => {}
        }
    }

    fn note_told(&mut self, place: u64) {
        if !self.told.contains(&place) {
            self.told.push(place);
        }
    }

    fn tell_arguments(&mut self, place: u64, piece: &str, on: &mut dyn FnMut(Delta)) {
        let index = self.calls.iter().position(|begun| *begun == place);
        if let Some(index) = index.filter(|_| !piece.is_empty()) {
            self.note_told(place);
            let text = piece.to_owned();
            on(Delta::CallArguments { index, text });
        }
    }

    /// The response, where it has come, with its items as they were when they ended: the last event seals thoughts anew,
    /// and there are servers that leave the items out of it.
    pub(crate) fn into_response(mut self) -> Value {
        let mut response = self.response.unwrap_or_default();
        let told = response["output"].as_array().map_or(0, Vec::len);
        if self.items.len() >= told.max(1) {
            self.items.sort_by_key(|(place, _)| *place);
            let items: Vec<Value> = self.items.into_iter().map(|(_, item)| item).collect();
            response["output"] = json!(items);
        }
        response
    }
}
