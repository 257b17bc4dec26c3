//! How often a tool was called lately and how many of its calls run now: what its `rate_limit` is measured by.

use crate::tool::{Millis, RateLimit};
use crate::window::Window;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub const MINUTE_MS: Millis = 60_000;
pub const HOUR_MS: Millis = 3_600_000;

/// The pace of one tool; handed on to its next version.
#[derive(Debug, Default)]
pub struct Pace {
    state: Mutex<PaceState>,
    /// Held by the one who asks the log for earlier calls; the others wait for what it says.
    pub learning: tokio::sync::Mutex<()>,
    /// Which windows have been counted together with other servers ever since the log was read for them, as bits.
    told: AtomicU8,
}

/// The windows that a `rate_limit` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spans {
    pub minute: bool,
    pub hour: bool,
}

impl Spans {
    pub fn of(rate: &RateLimit) -> Self {
        Spans {
            minute: rate.requests_per_minute.is_some(),
            hour: rate.requests_per_hour.is_some(),
        }
    }

    fn bits(self) -> u8 {
        u8::from(self.minute) | u8::from(self.hour) << 1
    }
}

#[derive(Debug)]
pub struct PaceState {
    pub minute: Window,
    pub hour: Window,
    pub running: u32,
}

impl Default for PaceState {
    fn default() -> Self {
        PaceState {
            minute: Window::new(MINUTE_MS),
            hour: Window::new(HOUR_MS),
            running: 0,
        }
    }
}

impl Pace {
    pub fn lock(&self) -> MutexGuard<'_, PaceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all of these were told to the counts that servers share.
    pub fn is_told(&self, spans: Spans) -> bool {
        self.told.load(Ordering::SeqCst) & spans.bits() == spans.bits()
    }

    pub fn tell(&self, spans: Spans) {
        self.told.fetch_or(spans.bits(), Ordering::SeqCst);
    }

    /// The tool is limited so from now on: a window that is not among these is not counted any more.
    pub fn keep(&self, spans: Spans) {
        self.told.fetch_and(spans.bits(), Ordering::SeqCst);
    }
}

impl PaceState {
    pub fn knows(&mut self, at: Millis) -> bool {
        let minute = self.minute.knows(at);
        self.hour.knows(at) && minute
    }

    /// Takes over what the log says of calls from `since` on.
    pub fn learn(&mut self, since: Millis, at: Millis, calls: &[(Millis, u32)]) {
        self.minute.learn(since, at, calls);
        self.hour.learn(since, at, calls);
    }

    pub fn add(&mut self, at: Millis) {
        self.minute.add(at);
        self.hour.add(at);
    }

    pub fn take_back(&mut self, at: Millis) {
        self.minute.take_back(at);
        self.hour.take_back(at);
    }

    /// Calls go on that nobody writes down here.
    pub fn lose_track(&mut self) {
        self.minute = Window::new(MINUTE_MS);
        self.hour = Window::new(HOUR_MS);
    }
}
