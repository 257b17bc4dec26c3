//! Who may use one of a source's few connections next, so that no tool takes them all.
//!
//! A tool holds at most half of the places. The last quarter is for tools that hold none. A place that comes free goes to
//! the waiting tool that holds the fewest, and among those to the one that has waited longest.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

#[derive(Debug)]
pub(crate) struct Shares {
    places: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    taken: usize,
    by_tool: HashMap<Arc<str>, usize>,
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    tool: Arc<str>,
    tell: oneshot::Sender<Share>,
}

/// A place, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    of: Arc<Shares>,
    tool: Arc<str>,
}

impl Shares {
    pub(crate) fn new(places: usize) -> Arc<Shares> {
        Arc::new(Shares {
            places: places.max(1),
            state: Mutex::default(),
        })
    }

    /// Waits for a place; whoever stops waiting simply drops the future.
    pub(crate) async fn take(self: &Arc<Self>, tool: &Arc<str>) -> Share {
        let told = {
            let mut state = self.lock();
            if self.is_free(&state, tool) {
                state.count(tool);
                return self.share(tool);
            }
            let (tell, told) = oneshot::channel();
            state.waiting.push_back(Waiting {
                tool: Arc::clone(tool),
                tell,
            });
            told
        };
        told.await
            .expect("those who wait are told or are gone: nothing else removes them")
    }

    /// Whether so many more than are taken would be more than there are.
    pub(crate) fn are_exceeded_by(&self, more: usize) -> bool {
        self.lock().taken.saturating_add(more) > self.places
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_free(&self, state: &State, tool: &str) -> bool {
        let held = state.held(tool);
        let free = self.places.saturating_sub(state.taken);
        free > 0 && held < self.places.div_ceil(2) && (held == 0 || free > self.places / 4)
    }

    fn share(self: &Arc<Self>, tool: &Arc<str>) -> Share {
        Share {
            of: Arc::clone(self),
            tool: Arc::clone(tool),
        }
    }

    /// Gives free places to those who wait. A share that nobody takes any more comes back by being dropped.
    fn hand_out(self: &Arc<Self>) {
        loop {
            let next = {
                let mut state = self.lock();
                state.waiting.retain(|waiting| !waiting.tell.is_closed());
                let candidates = state.waiting.iter().enumerate();
                let best = candidates
                    .filter(|(_, waiting)| self.is_free(&state, &waiting.tool))
                    .min_by_key(|(_, waiting)| state.held(&waiting.tool))
                    .map(|(index, _)| index);
                let Some(waiting) = best.and_then(|index| state.waiting.remove(index)) else {
                    return;
                };
                state.count(&waiting.tool);
                waiting
            };
            let share = self.share(&next.tool);
            // Sent outside of the lock: a share that comes back at once takes the lock itself.
            drop(next.tell.send(share));
        }
    }
}

impl State {
    fn held(&self, tool: &str) -> usize {
        self.by_tool.get(tool).copied().unwrap_or(0)
    }

    fn count(&mut self, tool: &Arc<str>) {
        self.taken += 1;
        *self.by_tool.entry(Arc::clone(tool)).or_default() += 1;
    }

    fn uncount(&mut self, tool: &str) {
        self.taken = self.taken.saturating_sub(1);
        if let Some(held) = self.by_tool.get_mut(tool) {
            *held -= 1;
            if *held == 0 {
                self.by_tool.remove(tool);
            }
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let anybody = {
            let mut state = self.of.lock();
            state.uncount(&self.tool);
            !state.waiting.is_empty()
        };
        if anybody {
            self.of.hand_out();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        match future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    #[test]
    fn one_tool_never_takes_all() {
        let shares = Shares::new(8);
        let (greedy, modest): (Arc<str>, Arc<str>) = ("greedy".into(), "modest".into());
        let held: Vec<Share> = (0..20).filter_map(|_| now(shares.take(&greedy))).collect();
        assert_eq!(held.len(), 4);
        let second: Vec<Share> = (0..20).filter_map(|_| now(shares.take(&modest))).collect();
        assert_eq!(
            second.len(),
            2,
            "the last quarter is for those who hold none"
        );
        let third = now(shares.take(&"third".into()));
        assert!(third.is_some());
        assert!(!shares.are_exceeded_by(1) && shares.are_exceeded_by(2));
        drop((held, second, third));
        assert_eq!(shares.lock().taken, 0);
        assert!(shares.lock().by_tool.is_empty());
    }

    #[test]
    fn a_free_place_goes_to_who_holds_the_fewest() {
        let shares = Shares::new(1);
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let first = now(shares.take(&a)).unwrap();
        let mut waits = Box::pin(shares.take(&a));
        let mut gone = Box::pin(shares.take(&b));
        let mut context = Context::from_waker(Waker::noop());
        assert!(waits.as_mut().poll(&mut context).is_pending());
        assert!(gone.as_mut().poll(&mut context).is_pending());
        drop(gone);
        drop(first);
        let Poll::Ready(share) = waits.as_mut().poll(&mut context) else {
            panic!("the place is free")
        };
        drop(share);
        assert_eq!(shares.lock().taken, 0);
    }
}
