//! The crate through its public face: bodies written by hand for each wire format, a provider on this machine, and
//! recordings of real providers where a folder of them is named (`scripts/replay`).

#![expect(clippy::unwrap_used, reason = "a test fails loudly")]

mod replay;
