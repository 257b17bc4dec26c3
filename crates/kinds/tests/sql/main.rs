//! The `sql` kind, called through the executor: on a SQLite file always, on PostgreSQL where TOOLCRIB_TEST_POSTGRES names one.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

mod answers;
mod checks;
mod crib;
mod faults;
mod postgres;
#[path = "../../../store/tests/it/skipping.rs"]
mod skipping;
