//! Clients of language models. A `Request` says the same to all of them and a `Turn` is what any of them says back; how
//! each writes and reads that is in one file for each wire format (ADR 28).

mod api;
mod chat;
mod chat_stream;
mod client;
mod draft;
mod error;
mod messages;
mod messages_stream;
mod names;
mod profile;
mod refusal;
mod request;
mod responses;
mod responses_stream;
mod retry;
mod schema;
mod target;
mod turn;
pub mod wire;

pub use api::Api;
pub use client::Client;
pub use error::{Class, Error};
pub use request::{Choice, Request, Said, Tool, ToolResult};
pub use target::Target;
pub use turn::{Arguments, Call, Delta, Echo, Stop, Turn, Usage};
