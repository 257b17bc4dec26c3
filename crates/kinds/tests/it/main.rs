//! Builtins that need databases of others, called through the executor.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail loudly and say what it skips"
)]

mod bga;
