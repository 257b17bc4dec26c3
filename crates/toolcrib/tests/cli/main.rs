//! The command line as people and scripts meet it: the real program, in folders of its own.

mod agents;
mod answering;
mod backup;
mod broken;
mod broken_database;
mod broken_files;
mod broken_network;
mod broken_replicas;
mod choosing;
mod commands;
mod configuration;
mod connecting;
mod definitions;
mod doctor;
mod engines;
mod harness;
mod json;
mod keeping;
mod leaving;
mod malformed;
mod moving;
mod moving_found;
mod moving_openapi;
mod moving_refused;
mod moving_shared;
mod moving_world;
mod newcomer;
mod pooler;
mod prompting;
mod runs;
mod saved_tests;
mod secrets;
mod servers;
mod serving;
mod session;
mod signing_in;
#[path = "../kinds/site.rs"]
#[expect(clippy::unwrap_used, reason = "a test may stop at once")]
mod site;
mod skills;
#[path = "../../../store/tests/it/skipping.rs"]
mod skipping;
mod sources;
mod standin;
mod terminal;
mod toolsets;
