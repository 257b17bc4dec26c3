//! Every kind of tool, run for real: the program itself, its workers, and whatever the tool is made of. Each test prints
//! one line of figures (`-- --nocapture` shows them).

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

mod crib;
#[path = "../../../server/tests/it/dialect.rs"]
#[expect(dead_code, reason = "the tests of runs ask it more")]
mod dialect;
mod documents;
mod exchange;
mod expression;
mod guide;
#[path = "../cli/harness.rs"]
#[expect(dead_code, reason = "the command line's tests use more of it")]
mod harness;
mod model;
mod python;
mod python_abuse;
mod python_warm;
mod search;
mod seed_001;
mod shell;
mod site;
mod sql;
mod traces;
mod trying;
