//! Builtins that need databases of others, called through the executor.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

mod bga;
#[path = "../../../store/tests/it/skipping.rs"]
mod skipping;
