//! What a tool is, the files it is kept in, the immutable catalogue, and who may use what.
//! Knows nothing of databases, networks or running a tool.

pub mod agent;
pub mod auth;
pub mod caller;
pub mod catalogue;
pub mod clock;
pub mod definition;
mod effort;
mod fixed;
pub mod glob;
mod graph;
pub mod hex;
pub mod http_auth;
pub mod json;
pub mod letters;
pub mod mcp_file;
pub mod names;
pub mod pace;
pub mod pinning;
mod pointer;
pub mod policy;
pub mod problem;
pub mod redaction;
pub mod schema;
pub mod secret;
pub mod source;
pub mod stands_for;
pub mod test_case;
pub mod tool;
pub mod tools_file;
pub mod toolset;
pub mod window;
