//! What a run is made of, as pure functions: what a request gives a tool without any model, and what a skill says.
//!
//! Calls nothing, reads no file, asks no clock: whoever runs something gives it in.

pub mod answered;
pub mod contrary;
pub mod entry;
pub mod fill;
pub mod limits;
pub mod parts;
pub mod planner;
pub mod result;
pub mod skill;
pub mod state;
pub mod window;
pub mod words;
