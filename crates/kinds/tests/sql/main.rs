//! The `sql` kind, called through the executor: on a SQLite file always, on PostgreSQL where TOOLCRIB_TEST_POSTGRES names one.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may stop at once and say what it skips"
)]

mod answers;
mod checks;
mod crib;
mod faults;
mod postgres;
