//! A request as it goes out and an answer as it comes in, without any network: what `Client` does in between is only to
//! send the one and to wait for the other.

use crate::api::Api;
use crate::draft::Draft;
use crate::error::{Class, Error};
use crate::names::Names;
use crate::profile::Profile;
use crate::request::Request;
use crate::turn::{Delta, Turn};
use crate::{chat, chat_stream, messages, messages_stream, refusal, responses, responses_stream};
use fetch::HeaderMap;
use fetch::events::{Event, Events};
use serde_json::Value;

/// What is sent for a request, and how its answer is to be read.
#[derive(Debug)]
pub struct Written {
    api: Api,
    /// After the base URL.
    pub path: &'static str,
    pub body: Value,
    /// What was asked for and is not in it.
    pub notes: Vec<String>,
    names: Names,
}

impl Written {
    pub fn new(api: Api, request: &Request) -> Self {
        let names = Names::of(request);
        let draft = Draft::new(request, Profile::of(api, request), &names);
        let (body, notes) = match api {
            Api::Messages => messages::write(draft),
            Api::Chat | Api::Zhipu => chat::write(draft, api),
            Api::Responses => responses::write(draft),
        };
        Written {
            api,
            path: match api {
                Api::Messages => "/v1/messages",
                Api::Chat | Api::Zhipu => "/chat/completions",
                Api::Responses => "/responses",
            },
            body,
            notes,
            names,
        }
    }

    /// An answer that came whole.
    pub fn read(&self, body: &[u8]) -> Result<Turn, Error> {
        let value: Value = serde_json::from_slice(body).map_err(|_| {
            Error::new(
                Class::Protocol,
                "The provider's answer is no JSON; check the base URL",
            )
        })?;
        self.read_value(value)
    }

    /// An answer that comes in pieces. An event longer than `event_bytes_max` is an error.
    pub fn incoming(&self, event_bytes_max: usize) -> Incoming<'_> {
        Incoming {
            written: self,
            events: Events::new(event_bytes_max),
            assembly: match self.api {
                Api::Messages => Assembly::Messages(Default::default()),
                Api::Chat | Api::Zhipu => Assembly::Chat(Default::default()),
                Api::Responses => Assembly::Responses(Default::default()),
            },
        }
    }

    fn read_value(&self, value: Value) -> Result<Turn, Error> {
        // `{"type": "error"}` and `{"error": …}` come with good statuses, too.
        let is_error =
            value["type"] == "error" || value.get("error").is_some_and(|it| !it.is_null());
        if is_error {
            return Err(refusal::inside(&value));
        }
        let mut turn = match self.api {
            Api::Messages => messages::read(value, &self.names),
            Api::Chat | Api::Zhipu => chat::read(value, &self.names, self.api),
            Api::Responses => responses::read(value, &self.names),
        }?;
        turn.notes.clone_from(&self.notes);
        Ok(turn)
    }
}

/// The error that a status other than success stands for.
pub fn refused(status: u16, headers: &HeaderMap, body: &[u8]) -> Error {
    refusal::answered(status, headers, body)
}

/// A stream, as far as it has come.
#[derive(Debug, Clone)]
pub struct Incoming<'a> {
    written: &'a Written,
    events: Events,
    assembly: Assembly,
}

#[derive(Debug, Clone)]
enum Assembly {
    Messages(messages_stream::Assembly),
    Chat(chat_stream::Assembly),
    Responses(responses_stream::Assembly),
}

impl Incoming<'_> {
    /// Takes in a piece, cut anywhere, and tells what is new in it.
    pub fn take(&mut self, piece: &[u8], on: &mut dyn FnMut(Delta)) -> Result<(), Error> {
        let events = self.events.take(piece).map_err(|_| {
            Error::new(
                Class::Protocol,
                "An event of the provider's stream is longer than may be",
            )
        })?;
        events
            .iter()
            .try_for_each(|event| self.take_event(event, on))
    }

    /// Whether nothing more is needed.
    pub fn is_whole(&self) -> bool {
        match &self.assembly {
            Assembly::Messages(assembly) => assembly.is_whole(),
            Assembly::Chat(assembly) => assembly.is_whole(),
            Assembly::Responses(assembly) => assembly.is_whole(),
        }
    }

    /// What was said, if all of it has come. The last event may lack the empty line that ends it, but nothing else.
    pub fn finish(mut self, on: &mut dyn FnMut(Delta)) -> Result<Turn, Error> {
        if let Some(event) = self.events.unended()
            && (event.data.trim() == "[DONE]" || serde_json::from_str::<Value>(&event.data).is_ok())
        {
            self.take_event(&event, on)?;
        }
        if !self.is_whole() {
            return Err(Error::new(
                Class::Network,
                "The provider's stream broke off before its end",
            ));
        }
        self.written.read_value(match self.assembly {
            Assembly::Messages(assembly) => assembly.into_message(),
            Assembly::Chat(assembly) => assembly.into_completion(),
            Assembly::Responses(assembly) => assembly.into_response(),
        })
    }

    fn take_event(&mut self, event: &Event, on: &mut dyn FnMut(Delta)) -> Result<(), Error> {
        let data = event.data.trim();
        // After the end comes nothing that could count.
        if data.is_empty() || (self.is_whole() && !matches!(self.assembly, Assembly::Chat(_))) {
            return Ok(());
        }
        if data == "[DONE]" {
            if let Assembly::Chat(assembly) = &mut self.assembly {
                assembly.done();
            }
            return Ok(());
        }
        let value = match serde_json::from_str(data) {
            Ok(value @ Value::Object(_)) => value,
            _ if event.name == "error" => Value::String(data.to_owned()),
            _ => {
                let why = "An event of the provider's stream is no JSON object";
                return Err(Error::new(Class::Protocol, why));
            }
        };
        if event.name == "error" || value["type"] == "error" {
            return Err(refusal::inside(&value));
        }
        let names = &self.written.names;
        match &mut self.assembly {
            Assembly::Messages(assembly) => assembly.take(&value, names, on),
            Assembly::Chat(assembly) => assembly.take(value, names, on),
            Assembly::Responses(assembly) => assembly.take(value, names, on),
        }
    }
}
