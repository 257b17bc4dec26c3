//! The command line as people and scripts meet it: the real program, in folders of its own.

mod commands;
mod configuration;
mod engines;
mod harness;
mod malformed;
mod serving;
