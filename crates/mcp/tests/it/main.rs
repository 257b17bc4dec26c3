//! The client against servers that others wrote, and against one of ours that does everything wrong. The first are in
//! the folder that TOOLCRIB_TEST_MCP names, which scripts/mcp-programs makes.

#![expect(clippy::unwrap_used, reason = "a test fails loudly")]

mod asks;
mod changed;
mod credentials;
mod faults;
mod known;
mod lists;
mod lost;
mod real;
mod remote;
mod sessions;
mod streams;
mod told;
mod world;
