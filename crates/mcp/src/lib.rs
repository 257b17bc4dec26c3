//! The Model Context Protocol: the words both sides share (`wire`), and the upstream servers that we are a client of
//! (`upstream`). What our own server says is in `face`.

pub mod upstream;
pub mod wire;
