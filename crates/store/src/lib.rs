//! The registry database, SQLite or PostgreSQL: the only crate (beside `executions`) that names our tables.
//! Each query is written once; `db.rs` runs it on whichever engine is open.

pub mod backup;
pub mod db;
pub mod idempotency;
pub mod keys;
mod private;
mod reach;
pub mod tools;
pub mod users;

pub use db::{Db, Error, Result};
