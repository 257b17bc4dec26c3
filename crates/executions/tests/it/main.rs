//! The log through its public face, each test on SQLite and (when TOOLCRIB_TEST_POSTGRES is set) on PostgreSQL.

#![expect(
    clippy::unwrap_used,
    reason = "clippy takes only the test functions themselves for tests"
)]

mod days;
mod erasing;
mod journal;
mod owed;
mod place;
mod reading;
#[path = "../../../store/tests/it/skipping.rs"]
mod skipping;
mod trouble;
mod writing;
