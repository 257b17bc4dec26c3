//! The time of day, injectable: tests set it, everything else asks the system.

use crate::tool::Millis;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Where "now" comes from.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    #[default]
    System,
    /// A clock that stands still until a test moves it.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    pub fn manual(start: Millis) -> Self {
        Clock::Manual(Arc::new(AtomicI64::new(start)))
    }

    pub fn now(&self) -> Millis {
        match self {
            Clock::System => system_now(),
            Clock::Manual(now) => now.load(Ordering::SeqCst),
        }
    }

    /// Moves a manual clock; the system's clock is nobody's to move.
    pub fn advance(&self, by: Millis) {
        if let Clock::Manual(now) = self {
            now.fetch_add(by, Ordering::SeqCst);
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one place that reads the system's clock"
)]
fn system_now() -> Millis {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
