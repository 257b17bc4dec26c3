//! What the connections of one upstream tell it, and what outlives each of them.

use super::askers::Askers;
use super::{Notice, locked};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, mpsc};

/// Updates of resources, and ends of questions, that are told on in a second.
const UPDATES_MAX: u32 = 100;

/// What a connection tells the upstream that it belongs to, and what outlives it.
pub(super) struct Hooks {
    pub(super) server: Arc<str>,
    pub(super) notices: mpsc::UnboundedSender<Notice>,
    /// Whether this is the connection of a single user: nobody else is told of its resources.
    is_personal: bool,
    pub(super) changed: Changed,
    pub(super) askers: Askers,
    updates: Mutex<(Option<Instant>, u32)>,
    pub(super) watched: Watched,
    /// The stream for a modern server's notifications is open, or there is none.
    pub(super) listens: Notify,
    /// The first line that was no message: it often says why there is no answer.
    pub(super) noise: Mutex<Option<String>>,
}

/// The resources of which changes are to be told.
#[derive(Default)]
pub(super) struct Watched {
    pub(super) uris: Mutex<BTreeSet<String>>,
    pub(super) told: Notify,
}

/// Which lists are no longer what they were.
#[derive(Default)]
pub(super) struct Changed {
    which: AtomicU8,
    pub(super) told: Notify,
}

impl Changed {
    pub(super) const TOOLS: u8 = 1;
    pub(super) const RESOURCES: u8 = 2;
    pub(super) const PROMPTS: u8 = 4;
    pub(super) const ALL: u8 = 7;

    pub(super) fn add(&self, which: u8) {
        self.which.fetch_or(which, Ordering::Relaxed);
        self.told.notify_one();
    }

    pub(super) fn take(&self) -> u8 {
        self.which.swap(0, Ordering::Relaxed)
    }
}

impl Hooks {
    pub(super) fn new(server: Arc<str>, notices: mpsc::UnboundedSender<Notice>) -> Self {
        Hooks {
            server,
            notices,
            is_personal: false,
            changed: Changed::default(),
            askers: Askers::new(),
            updates: Mutex::default(),
            watched: Watched::default(),
            listens: Notify::new(),
            noise: Mutex::default(),
        }
    }

    /// Those of the connection of a single user.
    pub(super) fn personal(server: Arc<str>, notices: mpsc::UnboundedSender<Notice>) -> Self {
        Hooks {
            is_personal: true,
            ..Hooks::new(server, notices)
        }
    }

    pub(super) fn updated(&self, uri: &str) {
        if self.is_personal {
            return;
        }
        let uri = uri.to_owned();
        self.tell(|server| Notice::ResourceUpdated { server, uri });
    }

    pub(super) fn completed(&self, id: &str) {
        let id = id.to_owned();
        self.tell(|server| Notice::ElicitationComplete { server, id });
    }

    /// Unless it tells too much.
    fn tell(&self, notice: impl FnOnce(Arc<str>) -> Notice) {
        {
            let mut updates = locked(&self.updates);
            let now = Instant::now();
            match updates.0 {
                Some(since) if now - since < Duration::from_secs(1) => updates.1 += 1,
                _ => *updates = (Some(now), 1),
            }
            if updates.1 > UPDATES_MAX {
                return;
            }
        }
        let _ = self.notices.send(notice(Arc::clone(&self.server)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_personal_connection_only_the_end_of_a_question_is_told() {
        let (sender, mut told) = mpsc::unbounded_channel();
        let hooks = Hooks::personal("s".into(), sender);
        hooks.updated("x://mine");
        hooks.completed("7");
        let server: Arc<str> = "s".into();
        let id = "7".to_owned();
        let notice = told.try_recv().ok();
        assert_eq!(notice, Some(Notice::ElicitationComplete { server, id }));
        assert!(told.try_recv().is_err());
    }
}
