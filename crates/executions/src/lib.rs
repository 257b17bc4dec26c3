//! The execution log: one row for every call, durable before the caller gets its answer.
//! SQLite day files for one node, PostgreSQL day partitions for many; both are named only in this crate.

mod backup;
mod cap;
mod counting;
mod day;
mod erase;
mod error;
mod log;
mod owed;
mod postgres;
mod query;
mod queue;
mod record;
mod room;
mod sqlite;
mod stats;

pub use counting::Calls;
pub use erase::Erased;
pub use error::LogError;
pub use log::{Durability, ExecutionLog, Options};
pub use query::{Filter, Page};
pub use record::{Execution, Status, id_time, new_id};
pub use room::Room;
pub use stats::{CallerStats, Series, Span, Stats, ToolStats};
