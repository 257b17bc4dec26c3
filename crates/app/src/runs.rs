//! Runs: an agent, or the built-in planner, answers a request by calling tools until it is done. A run is its journal;
//! whoever drives it, here or at another server, goes on from that.

mod acting;
mod asked;
mod counted;
mod driver;
mod events;
mod follow;
mod hidden;
mod journal;
mod keeping;
mod live;
mod model;
mod offered;
mod own;
mod planner;
mod result;
mod settings;
mod skilled;
mod thinking;
mod tries;
mod views;
mod warrant;

pub use asked::{Answer, RunRequest};
pub use events::{Position, RunEvent};
pub use follow::Follower;
pub use keeping::Runs;
pub(crate) use offered::Bounds;
pub use settings::{Price, ProviderSettings, Settings};
pub use views::{PendingView, RunFilter, RunPage, RunView};
