//! The client side of MCP authorization: finding out who gives tokens for a server, signing in there, and keeping the
//! token fresh. Where tokens are stored, and who may sign in, is somebody else's business.

mod challenge;
mod client;
mod credential;
mod discovery;
mod error;
mod grant;
mod place;
mod registration;
mod sign_in;
mod token;

pub use challenge::Challenge;
pub use client::Client;
pub use credential::{Beginning, Credential, Keeper, Keeping, Spec, Turn};
pub use discovery::{Found, ServerMetadata};
pub use error::Error;
pub use grant::Grant;
pub use place::is_loopback;
pub use registration::{AuthMethod, Registered};
pub use sign_in::{Begun, Ours, Pending, Returned, Wish, place};

pub type Result<T, E = Error> = std::result::Result<T, E>;
