//! The network face: REST over HTTP, on a TCP port and on the owner's Unix socket. The only crate that
//! knows axum and status codes.

pub mod listen;
pub mod local;
pub mod openapi;
mod page;
pub mod router;
mod shared;
mod traced;
pub mod unlisted;

mod api;
mod auth;
mod body;
mod document;
mod doorway;
mod edge;
mod error;
mod forward;
mod lines;
mod mcp;
mod request;
mod resource;

pub use edge::{Edge, LOOPBACK};
pub use listen::{Listeners, serve};
pub use request::Api;
pub use router::{Limits, Server};
