//! Tests through the public face of the crate.

mod abuse;
mod archive;
mod fixtures;
mod formats;
mod page;
