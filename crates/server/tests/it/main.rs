//! The API from the outside, request by request, on both engines.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test may fail loudly and say what it skips"
)]

mod audit;
#[path = "../../../store/tests/it/between.rs"]
mod between;
mod calls;
mod confirmed;
mod dialect;
mod dry_runs;
mod encoders;
mod erasing;
mod executions;
mod guarded;
mod hostile;
mod keys;
mod leases;
mod leases_lost;
mod leaving;
mod limits;
mod limits_followed;
mod lines;
mod logins;
mod matrix;
mod metrics;
mod model;
mod names;
mod openapi;
mod others;
mod overtaken;
mod page;
mod paging;
mod people;
mod pipeline;
mod policies;
mod reassign;
mod refusals;
mod replay;
mod replicas;
mod replicas_around;
mod replicas_unread;
mod resources;
mod runs;
mod runs_bounds;
mod runs_broken;
mod runs_guard;
mod runs_lost;
mod runs_mcp;
mod runs_meant;
mod runs_odd;
mod runs_people;
mod runs_planner;
mod runs_read;
mod runs_secrets;
mod runs_skills;
mod scripted;
mod secrets;
mod secrets_kept;
mod seed_001;
mod seed_002;
mod seed_002_constraints;
mod select;
mod servers;
mod servers_down;
mod servers_fit;
mod servers_held;
mod sessions;
mod sharing;
mod shelf;
mod sign_in;
mod sign_in_elsewhere;
mod skills;
#[path = "../../../store/tests/it/skipping.rs"]
mod skipping;
mod sources;
mod sources_refused;
mod stale;
mod testapp;
mod tools;
mod tools_listed;
mod toolsets;
mod toolsets_mcp;
mod vectors;
mod versions;
