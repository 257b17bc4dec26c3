//! Servers that were never seen before: whoever lists tools right after the start waits a moment for them. What is known
//! from before is listed at once, so nobody waits for it.

use crate::App;
use mcp::upstream::{State, Upstream};
use std::collections::HashMap;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

/// How long after its start a server is waited for.
const WITHIN: Duration = Duration::from_secs(5);

/// Which they are, and until when each is waited for.
#[derive(Debug, Default)]
pub(crate) struct Awaited(watch::Sender<HashMap<String, Instant>>);

impl Awaited {
    pub(crate) fn add(&self, server: &str) {
        self.add_until(server, Instant::now() + WITHIN);
    }

    fn add_until(&self, server: &str, until: Instant) {
        self.0.send_modify(|all| {
            all.insert(server.to_owned(), until);
        });
    }

    pub(crate) fn forget(&self, server: &str) {
        self.0.send_if_modified(|all| all.remove(server).is_some());
    }

    /// A server has told something. `is_shown`: its tools are in the catalogue now.
    pub(crate) fn heard(&self, server: &Upstream, is_shown: bool) {
        if !self.0.borrow().contains_key(server.name()) {
            return;
        }
        let is_over = is_shown
            || match server.status().state {
                State::Starting => false,
                // What it has is told before it counts as connected, but may not have been taken in yet.
                State::Connected | State::Degraded => server.lists().tools.is_empty(),
                _ => true,
            };
        if is_over {
            self.forget(server.name());
        }
    }

    /// Until each has come, or has failed to, or took too long.
    async fn over(&self) {
        if self.0.borrow().is_empty() {
            return;
        }
        let mut changes = self.0.subscribe();
        loop {
            let until = changes.borrow_and_update().values().max().copied();
            let Some(until) = until.filter(|until| *until > Instant::now()) else {
                return;
            };
            if !matches!(timeout_at(until, changes.changed()).await, Ok(Ok(()))) {
                return;
            }
        }
    }
}

impl App {
    /// Waits for the tools of servers that were never seen before, but not for long.
    pub async fn servers_awaited(&self) {
        self.kept_servers.awaited.over().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    #[tokio::test]
    async fn who_lists_waits_until_all_have_come_but_not_for_long() {
        let mut context = Context::from_waker(Waker::noop());
        let awaited = Awaited::default();
        let nobody = pin!(awaited.over()).poll(&mut context);
        assert_eq!(nobody, Poll::Ready(()), "there is nobody to wait for");
        awaited.add("a");
        awaited.add("b");
        let mut over = pin!(awaited.over());
        assert_eq!(over.as_mut().poll(&mut context), Poll::Pending);
        awaited.forget("a");
        assert_eq!(over.as_mut().poll(&mut context), Poll::Pending);
        awaited.forget("b");
        assert_eq!(over.as_mut().poll(&mut context), Poll::Ready(()));
        awaited.add_until("late", Instant::now());
        let late = pin!(awaited.over()).poll(&mut context);
        assert_eq!(late, Poll::Ready(()), "it took too long");
    }
}
