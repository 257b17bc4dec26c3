//! What is on its way to a server, and whether it has gone: what never went cannot have run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A message on its way out, and how far it is.
pub(super) struct Letter {
    pub(super) text: String,
    pub(super) posted: Option<Arc<Posted>>,
}

/// Whether a request has gone. What never went cannot have run.
#[derive(Default)]
pub(super) struct Posted(AtomicU8);

impl Posted {
    const WAITS: u8 = 0;
    const GONE: u8 = 1;
    const WITHDRAWN: u8 = 2;

    /// Now it goes, unless nobody wants it any more.
    pub(super) fn go(&self) -> bool {
        self.turn(Posted::GONE)
    }

    /// Whether it could be held back.
    pub(super) fn withdraw(&self) -> bool {
        self.turn(Posted::WITHDRAWN)
    }

    fn turn(&self, into: u8) -> bool {
        let (order, fail) = (Ordering::AcqRel, Ordering::Acquire);
        let turned = self.0.compare_exchange(Posted::WAITS, into, order, fail);
        turned.is_ok()
    }
}
