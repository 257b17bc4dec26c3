//! The one path every call takes, whoever asks: find → verdict → validate → permit → run → validate →
//! cap → log → answer. Kinds of tool plug in through `Kind`; everything else is concrete.

pub mod call;
pub mod code;
pub mod kind;
pub mod response;

mod admit;
mod answer;
mod attempt;
mod beside;
pub mod denial;
mod earlier;
mod entry_log;
mod leased;
pub mod leases;
mod lessee;
pub mod line;
pub mod metrics;
mod pending;
mod quota;
mod secrets;
pub mod talk;
mod traced;
mod unrun;
mod usage;

pub use beside::Beside;
pub use call::{CallRequest, Executor, Settings};
pub use code::Code;
pub use kind::{Data, Failure, Keyring, Kind, Kinds, Output, Run};
pub use pending::PendingCall;
pub use quota::{Quota, Quotas, Target};
pub use response::{CallError, StepView, ToolResponse, python_float};
pub use talk::{Asker, Event, Question, Talk, Unanswered};
pub use traced::Step;
pub use usage::PaceUse;
