//! The call path from the outside, with a kind of tool that does what each test tells it.

#![expect(
    clippy::unwrap_used,
    reason = "a test may fail loudly and say what it skips"
)]

mod limits;
mod limits_kept;
mod path;
mod running;
mod scripted;
