//! What the program does when things go wrong: killed processes, full disks, slow and rude clients. Real
//! processes throughout; each test prints one line of figures (`-- --nocapture` shows them).

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may stop at once, and its figures are for people to read"
)]

#[path = "../../../store/tests/it/between.rs"]
#[expect(dead_code, reason = "other tests use more of it")]
mod between;
mod calculations;
mod calls;
mod clients;
mod counted;
mod disk;
mod engine;
mod files;
#[path = "../cli/harness.rs"]
#[expect(dead_code, reason = "the command line's tests use more of it")]
mod harness;
mod kept;
mod killed;
mod limits;
mod load;
mod mutations;
mod oidc;
mod proxy;
mod registrations;
mod reload;
mod replicas;
mod runs;
mod secrets;
#[path = "../../../store/tests/it/skipping.rs"]
mod skipping;
mod wire;

/// The sizes of everything here: small for every run of the tests, full with `TOOLCRIB_SOAK=1`.
struct Sizes {
    registrations: usize,
    kills: usize,
    command_adds: usize,
    half_open: usize,
    slow: usize,
    mutations: usize,
    rotations: usize,
    /// Changes of tools through several servers.
    edits: usize,
    /// Kills of one of two servers that drive runs.
    run_kills: usize,
    /// Calls that are counted.
    counted: usize,
}

fn sizes() -> Sizes {
    let soak = std::env::var_os("TOOLCRIB_SOAK").is_some_and(|value| value == "1");
    if soak {
        Sizes {
            registrations: 500,
            kills: 100,
            command_adds: 100,
            half_open: 5_000,
            slow: 1_000,
            mutations: 20_000,
            rotations: 50,
            edits: 10_000,
            run_kills: 100,
            counted: 10_000,
        }
    } else {
        Sizes {
            registrations: 120,
            kills: 8,
            command_adds: 12,
            half_open: 500,
            slow: 20,
            mutations: 2_000,
            rotations: 10,
            edits: 300,
            run_kills: 2,
            counted: 600,
        }
    }
}
