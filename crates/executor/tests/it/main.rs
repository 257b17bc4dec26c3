//! The call path from the outside, with a kind of tool that does what each test tells it.

mod path;
mod running;
mod scripted;
