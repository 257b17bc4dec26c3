//! The Model Context Protocol: the words both sides share (`wire`), and the upstream servers that we are a client of.
//! What our own server says is in `face`.

pub mod wire;
