//! The Model Context Protocol: what both sides share (`wire`, `headers`, `form`), and the upstream servers that we are a
//! client of (`upstream`). What our own server says is in `face`.

pub mod form;
pub mod headers;
pub mod upstream;
pub mod wire;
