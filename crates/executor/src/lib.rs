//! The one path every call takes, whoever asks: find → verdict → validate → permit → run → validate →
//! cap → log → answer. Kinds of tool plug in through `Kind`; everything else is concrete.

pub mod call;
pub mod code;
pub mod kind;
pub mod response;

mod answer;
pub mod denial;
mod entry_log;
mod pending;
mod secrets;
mod unrun;

pub use call::{CallRequest, Executor, Settings};
pub use code::Code;
pub use kind::{Event, Failure, Kind, Kinds, Output, Run};
pub use pending::PendingCall;
pub use response::{CallError, ToolResponse};
