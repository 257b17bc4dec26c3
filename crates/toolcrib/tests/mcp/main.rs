//! MCP on both sides with programs of others: the official suite, real clients, real upstream servers, and every pair of
//! era and transport between them. Figures are printed (`-- --nocapture` shows them). They need
//! `TOOLCRIB_TEST_MCP=$(scripts/mcp-programs)`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may stop at once, and these print figures"
)]

mod bga;
mod chroma;
mod client;
mod clients;
mod conformance;
#[path = "../kinds/crib.rs"]
#[expect(dead_code, reason = "the tests of kinds use more of it")]
mod crib;
mod data_search;
#[path = "../../../server/tests/it/dialect.rs"]
#[expect(dead_code, reason = "the tests of runs ask it more")]
mod dialect;
mod fleet;
#[path = "../cli/harness.rs"]
#[expect(dead_code, reason = "the command line's tests use more of it")]
mod harness;
mod kept;
mod matrix;
#[path = "../kinds/model.rs"]
mod model;
mod odd;
mod plain;
mod programs;
mod proxy;
mod replicas;
mod replicas_clients;
mod replicas_lost;
mod restarts;
mod runs;
mod seed_001;
mod sessions;
mod sign_in;
#[path = "../kinds/site.rs"]
mod site;
#[path = "../../../store/tests/it/skipping.rs"]
mod skipping;
mod stdio;
mod streams;
mod tokens;
mod upstreams;
#[path = "../faults/wire.rs"]
#[expect(dead_code, reason = "the tests of faults use more of it")]
mod wire;
mod world;
