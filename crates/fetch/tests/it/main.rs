//! The client against servers on this machine and a made-up network that counts every dial: nothing here, and nothing
//! that breaks here, sends a packet to anywhere else.

#![expect(clippy::unwrap_used, reason = "a test fails loudly")]

mod bodies;
mod limits;
mod redirects;
mod refused;
mod server;
mod streaming;
mod tls;
mod trust;
mod world;
