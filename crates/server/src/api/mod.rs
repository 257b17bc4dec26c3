//! The handlers, one file per resource: read the request, ask the app, write the answer.

pub(crate) mod admin;
pub(crate) mod agents;
pub(crate) mod audit;
pub(crate) mod calls;
pub(crate) mod confirmed;
pub(crate) mod executions;
pub(crate) mod health;
pub(crate) mod keys;
pub(crate) mod limits;
pub(crate) mod login;
pub(crate) mod metrics;
pub(crate) mod oidc;
pub(crate) mod openapi_tools;
pub(crate) mod pipeline;
pub(crate) mod policy;
pub(crate) mod runs;
pub(crate) mod secrets;
pub(crate) mod select;
pub(crate) mod servers;
pub(crate) mod sign_in;
pub(crate) mod sources;
pub(crate) mod tools;
pub(crate) mod toolsets;
pub(crate) mod users;
pub(crate) mod vectors;
pub(crate) mod versions;
