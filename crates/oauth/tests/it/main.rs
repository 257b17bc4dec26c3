//! Finding out who gives tokens, signing in, and keeping a token fresh, against an authorization server that does what
//! a test wants; and which addresses are never called.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

mod guard;
mod renewal;
mod sign_in;
mod site;
