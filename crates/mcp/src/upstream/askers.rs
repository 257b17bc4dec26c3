//! Requests that ask while they run. Where a server has one pipe for everybody, it could once not be told whose question it
//! was: from then on those that may have asked go one at a time, for a while. All others go as before.

use super::locked;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long one that was under way at the time is held to have asked.
const SUSPECTED: Duration = Duration::from_secs(60);

/// The same for one that has asked since.
const CERTAIN: Duration = Duration::from_secs(600);

/// How many are remembered; of more, the others just go as before.
const ASKERS_MAX: usize = 256;

pub(super) struct Askers {
    /// Until when each goes alone.
    until: Mutex<HashMap<String, Instant>>,
    /// Questions that somebody has yet to answer.
    open: watch::Sender<usize>,
}

impl Askers {
    pub(super) fn new() -> Self {
        Askers {
            until: Mutex::default(),
            open: watch::Sender::new(0),
        }
    }

    /// One of these has asked, and it cannot be told which.
    pub(super) fn suspect(&self, all: Vec<String>, now: Instant) {
        let mut until = locked(&self.until);
        until.retain(|_, end| *end > now);
        for one in all {
            if until.len() < ASKERS_MAX || until.contains_key(&one) {
                let end = until.entry(one).or_insert(now);
                *end = (*end).max(now + SUSPECTED);
            }
        }
    }

    /// This one has asked, and rightly went alone if it did.
    pub(super) fn has_asked(&self, one: &str, now: Instant) {
        if let Some(end) = locked(&self.until).get_mut(one) {
            *end = now + CERTAIN;
        }
    }

    pub(super) fn goes_alone(&self, one: &str, now: Instant) -> bool {
        locked(&self.until).get(one).is_some_and(|end| *end > now)
    }

    /// That somebody is asked, for as long as this is there.
    pub(super) fn open(&self) -> Open {
        self.open.send_modify(|open| *open += 1);
        Open(self.open.clone())
    }

    /// Ends when a question has been open for so long: a person ponders it, or has left.
    pub(super) async fn somebody_ponders(&self, patience: Duration) {
        let mut open = self.open.subscribe();
        loop {
            if open.wait_for(|open| *open > 0).await.map(drop).is_err() {
                return std::future::pending().await;
            }
            let answered = async { open.wait_for(|open| *open == 0).await.map(drop) };
            if tokio::time::timeout(patience, answered).await.is_err() {
                return;
            }
        }
    }
}

pub(super) struct Open(watch::Sender<usize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_have_asked_goes_alone_for_a_while() {
        let (askers, now) = (Askers::new(), Instant::now());
        assert!(!askers.goes_alone("a", now));
        // Alone it may ask as it likes.
        askers.has_asked("a", now);
        assert!(!askers.goes_alone("a", now));
        askers.suspect(vec!["a".to_owned(), "b".to_owned()], now);
        askers.has_asked("a", now);
        let later = now + SUSPECTED;
        let alone = |at| ["a", "b", "c"].map(|one| askers.goes_alone(one, at));
        assert_eq!(alone(now), [true, true, false]);
        assert_eq!(alone(later), [true, false, false]);
        // What is certain is not taken back by a suspicion.
        askers.suspect(vec!["a".to_owned()], now);
        assert!(askers.goes_alone("a", later));
        assert!(!askers.goes_alone("a", now + CERTAIN));
    }

    #[test]
    fn so_many_are_remembered_and_no_more() {
        let (askers, now) = (Askers::new(), Instant::now());
        let all = |letter: &'static str| (0..ASKERS_MAX).map(move |n| format!("{letter}{n}"));
        askers.suspect(all("a").collect::<Vec<_>>(), now);
        askers.suspect(all("b").collect::<Vec<_>>(), now);
        assert!(!askers.goes_alone("b0", now));
        let later = now + SUSPECTED;
        askers.suspect(vec!["b0".to_owned()], later);
        assert!(askers.goes_alone("b0", later));
    }
}
