//! The one path every call takes, whoever asks: find → verdict → validate → permit → run → validate →
//! cap → log → answer. Kinds of tool plug in through `Kind`; everything else is concrete.

pub mod call;
pub mod code;
pub mod kind;
pub mod response;

mod entry_log;

pub use call::{CallRequest, Executor, Settings};
pub use code::Code;
pub use kind::{Event, Failure, Kind, Kinds, Output, Run};
pub use response::{CallError, ToolResponse};
