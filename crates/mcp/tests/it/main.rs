//! The client against servers that others wrote, and against one of ours that does everything wrong. The first are in
//! the folder that TOOLCRIB_TEST_MCP names, which scripts/mcp-programs makes.

#![expect(clippy::unwrap_used, reason = "a test fails loudly")]

mod asks;
mod credentials;
mod faults;
mod known;
mod real;
mod remote;
mod told;
mod world;
