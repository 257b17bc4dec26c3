//! A recorded request body, turned back into what would have had to be asked of us. Turns that came as answers earlier in the
//! same recording are not read from it: there we say what we have read ourselves.

#[path = "recall/chat.rs"]
mod chat;
#[path = "recall/messages.rs"]
pub(super) mod messages;
#[path = "recall/responses.rs"]
mod responses;

use providers::{Api, Arguments, Call, Request, Said, Tool, ToolResult, Turn};
use serde_json::{Map, Value};

pub(super) struct Recalled {
    pub(super) request: Request,
    /// Turns of the model that are ours, and such as had to be put together.
    pub(super) echoed: usize,
    pub(super) rebuilt: usize,
    /// Of the latter, those that were answered otherwise than they are told here: whoever recorded it changed them.
    /// Each with what we have read.
    pub(super) changed: Vec<(Turn, Turn)>,
}

/// An answer that does not come with the request.
pub(super) const LATER: &str = "an answer that is to be asked for later";

/// Why a request cannot be asked of us.
type NotOurs = String;

pub(super) fn request(api: Api, body: &Value, turns: &[Turn]) -> Result<Recalled, NotOurs> {
    let mut recalled = Recalling {
        fields: body.as_object().cloned().unwrap_or_default(),
        request: Request::default(),
        turns,
        echoed: 0,
        rebuilt: 0,
        changed: Vec::new(),
    };
    recalled.request.model = recalled.text("model").unwrap_or_default();
    recalled.request.temperature = recalled.take("temperature").and_then(|it| it.as_f64());
    recalled.request.top_p = recalled.take("top_p").and_then(|it| it.as_f64());
    recalled.request.stream = recalled.take("stream") == Some(Value::Bool(true));
    match api {
        Api::Messages => messages::recall(&mut recalled)?,
        Api::Chat | Api::Zhipu => chat::recall(&mut recalled)?,
        Api::Responses => responses::recall(&mut recalled)?,
    }
    recalled.request.extra = recalled.fields;
    Ok(Recalled {
        request: recalled.request,
        echoed: recalled.echoed,
        rebuilt: recalled.rebuilt,
        changed: recalled.changed,
    })
}

struct Recalling<'a> {
    /// What has not been understood yet. What is left is sent as it is.
    fields: Map<String, Value>,
    request: Request,
    turns: &'a [Turn],
    echoed: usize,
    rebuilt: usize,
    changed: Vec<(Turn, Turn)>,
}

impl Recalling<'_> {
    fn take(&mut self, field: &str) -> Option<Value> {
        self.fields.shift_remove(field)
    }

    fn text(&mut self, field: &str) -> Option<String> {
        match self.take(field) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    fn list(&mut self, field: &str) -> Vec<Value> {
        match self.take(field) {
            Some(Value::Array(list)) => list,
            Some(Value::String(one)) => vec![Value::String(one)],
            _ => Vec::new(),
        }
    }

    fn strings(&mut self, field: &str) -> Vec<String> {
        let list = self.list(field).into_iter();
        list.filter_map(|it| it.as_str().map(str::to_owned))
            .collect()
    }

    /// A turn of the model: the one that we have read, if there is one that says the same.
    fn say_model(&mut self, text: String, calls: Vec<Call>, is_plain: bool) -> Result<(), NotOurs> {
        let said = |calls: &[Call]| {
            let call = |call: &Call| (call.id.clone(), call.name.clone(), call.arguments.clone());
            calls.iter().map(call).collect::<Vec<_>>()
        };
        let wanted = said(&calls);
        let is_known = |turn: &&Turn| {
            let mut ids = turn.calls.iter().map(|call| &call.id);
            !calls.is_empty() && ids.any(|id| *id == calls[0].id)
        };
        let is_same = |turn: &&Turn| turn.text == text && said(&turn.calls) == wanted;
        let turn = match self.turns.iter().find(is_same) {
            Some(turn) => {
                self.echoed += 1;
                turn.clone()
            }
            None if is_plain => {
                let read = self.turns.iter().find(is_known);
                self.rebuilt += 1;
                let turn = Turn {
                    text,
                    calls,
                    ..Turn::default()
                };
                let changed = read.map(|read| (turn.clone(), read.clone()));
                self.changed.extend(changed);
                turn
            }
            None => {
                return Err("thoughts or blocks of a turn that is not in the recording".to_owned());
            }
        };
        self.request.said.push(Said::Model(turn));
        Ok(())
    }

    /// Results in a row are those of one turn.
    fn say_result(&mut self, call_id: &Value, text: String, is_error: bool) {
        let call_id = call_id.as_str().unwrap_or_default().to_owned();
        let result = ToolResult {
            name: self.called(&call_id),
            call_id,
            text,
            is_error,
            code: None,
        };
        match self.request.said.last_mut() {
            Some(Said::Results(results)) => results.push(result),
            _ => self.request.said.push(Said::Results(vec![result])),
        }
    }

    /// The name of a tool that was called, for its result.
    fn called(&self, id: &str) -> String {
        let turns = self.request.said.iter().filter_map(|said| match said {
            Said::Model(turn) => Some(&turn.calls),
            _ => None,
        });
        let call = turns.flatten().find(|call| call.id == id);
        call.map(|call| call.name.clone()).unwrap_or_default()
    }
}

/// The texts of a content that is one, or a list of such parts; what is no text is not ours.
fn texts(content: &Value, kinds: &[&str]) -> Result<Vec<String>, NotOurs> {
    match content {
        Value::Null => Ok(Vec::new()),
        Value::String(text) => Ok(vec![text.clone()]),
        Value::Array(parts) => parts
            .iter()
            .map(
                |part| match (part["type"].as_str(), part["text"].as_str()) {
                    (Some(kind), Some(text)) if kinds.contains(&kind) => Ok(text.to_owned()),
                    (Some(kind), _) => Err(format!("a content of type {kind}")),
                    _ => Err("a content without a type".to_owned()),
                },
            )
            .collect(),
        _ => Err("a content that is neither text nor parts".to_owned()),
    }
}

/// A tool of which all members are known.
fn tool(tool: &Value, schema: &str, ignored: &[&str]) -> Result<Tool, NotOurs> {
    let object = tool.as_object().ok_or("a tool that is no object")?;
    let known = |name: &&String| {
        let name = name.as_str();
        !(["name", "description", "type"].contains(&name)
            || name == schema
            || ignored.contains(&name))
    };
    if object
        .get("strict")
        .is_some_and(|strict| *strict == Value::Bool(true))
    {
        return Err("strict tools".to_owned());
    }
    if let Some(name) = object.keys().find(known) {
        return Err(format!("tools with '{name}'"));
    }
    let text = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default();
    Ok(Tool {
        name: text("name").to_owned(),
        description: text("description").to_owned(),
        input_schema: object.get(schema).cloned().unwrap_or_default(),
    })
}

fn call(id: &Value, name: &Value, arguments: Value) -> Call {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Call {
        id: text(id),
        name: text(name),
        arguments: match arguments {
            Value::String(text) => match serde_json::from_str(&text) {
                Ok(value) => Arguments::Json(value),
                Err(_) => Arguments::Bad(text),
            },
            value => Arguments::Json(value),
        },
    }
}
