//! The registry database, SQLite or PostgreSQL: the only crate (beside `executions`) that names our tables.
//! Each query is written once; `db.rs` runs it on whichever engine is open.

pub mod agents;
pub mod alone;
pub mod audit;
pub mod backup;
pub mod commit;
pub mod confirmed;
pub mod custom_tools;
pub mod db;
pub mod demo;
pub mod detail;
pub mod doubt;
pub mod erasure;
pub mod feed;
pub mod idempotency;
pub mod keys;
pub mod leases;
pub mod limits;
mod line;
pub mod look;
pub mod policies;
mod private;
mod reach;
pub mod replicas;
pub mod runs;
pub mod seal;
pub mod secrets;
pub mod server_tokens;
pub mod servers;
pub mod sessions;
pub mod sources;
pub mod tool_tests;
pub mod tools;
pub mod toolsets;
pub mod unless;
pub mod users;

pub use commit::Write;
pub use db::{Db, Error, Result, Why};
pub use unless::Unless;
