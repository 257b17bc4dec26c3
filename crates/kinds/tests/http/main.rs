//! The `http` kind, called through the executor, against a server on this machine.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

mod answers;
mod auth;
mod crib;
mod curl;
mod requests;
mod server;
