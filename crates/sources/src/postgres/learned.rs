//! What was asked of a database once and counts for a while.

use crate::error::Error;
use crate::source::Call;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

/// How long what was learned counts. Within that time a new function is unknown, and an unknown name is not refused.
const FRESH: Duration = Duration::from_secs(60);

/// From this age on it is asked again while what is known still counts, so that in a database that is used nobody waits.
const RIPE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Learned<T> {
    last: std::sync::Mutex<Option<(Instant, Arc<T>)>>,
    /// Held by whoever asks, so that the others wait for them instead of asking as well.
    asking: Mutex<()>,
    /// Somebody asks again before it is too old. If that fails it is left to whoever has to wait.
    renewing: AtomicBool,
}

impl<T> Default for Learned<T> {
    fn default() -> Self {
        Learned {
            last: std::sync::Mutex::default(),
            asking: Mutex::default(),
            renewing: AtomicBool::new(false),
        }
    }
}

impl<T> Learned<T> {
    fn fresh(&self, now: Instant) -> Option<Arc<T>> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = last
            .as_ref()
            .filter(|(at, _)| now.saturating_duration_since(*at) < FRESH);
        fresh.map(|(_, value)| Arc::clone(value))
    }

    fn keep(&self, value: Arc<T>, now: Instant) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some((now, value));
        self.renewing.store(false, Ordering::Relaxed);
    }

    pub(super) async fn get<F: Future<Output = Result<T, Error>>>(
        &self,
        call: &Call,
        ask: impl FnOnce() -> F,
    ) -> Result<Arc<T>, Error> {
        match self.fresh(Instant::now()) {
            Some(fresh) => Ok(fresh),
            // In a box: it is seldom asked, and its room would be part of every call.
            None => Box::pin(self.learn(call, ask())).await,
        }
    }

    async fn learn(
        &self,
        call: &Call,
        ask: impl Future<Output = Result<T, Error>>,
    ) -> Result<Arc<T>, Error> {
        let asking = timeout_at(call.deadline, self.asking.lock()).await;
        let _asking = asking.map_err(|_| Error::Deadline)?;
        if let Some(fresh) = self.fresh(Instant::now()) {
            return Ok(fresh);
        }
        let value = Arc::new(ask.await?);
        self.keep(Arc::clone(&value), Instant::now());
        Ok(value)
    }

    /// Whether it should be asked again although it still counts; told to one, who then calls `renew`.
    pub(super) fn is_ripe(&self, now: Instant) -> bool {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let age = last
            .as_ref()
            .map(|(at, _)| now.saturating_duration_since(*at));
        let is_ripe = age.is_some_and(|age| (RIPE..FRESH).contains(&age));
        is_ripe && !self.renewing.swap(true, Ordering::Relaxed)
    }

    pub(super) async fn renew(
        &self,
        ask: impl Future<Output = Result<T, Error>>,
    ) -> Result<(), Error> {
        // It is true of the time at which it was asked.
        let began = Instant::now();
        let value = Arc::new(ask.await?);
        self.keep(value, began);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Shape;
    use tokio_util::sync::CancellationToken;

    fn call() -> Call {
        Call {
            tool: "t".into(),
            deadline: Instant::now() + FRESH,
            cancel: CancellationToken::new(),
            shape: Shape::Records,
            rows_max: 1,
            bytes_max: 100,
        }
    }

    async fn known(learned: &Learned<u8>) -> u8 {
        let unasked = || async { Err(Error::unavailable("nobody should ask")) };
        *learned.get(&call(), unasked).await.unwrap()
    }

    #[tokio::test]
    async fn what_is_known_counts_while_it_is_asked_again() {
        let learned = Learned::default();
        assert!(!learned.is_ripe(Instant::now()), "nothing is known");
        learned.get(&call(), || async { Ok(1) }).await.unwrap();
        let now = Instant::now();
        assert!(!learned.is_ripe(now));
        let ripe = now + RIPE;
        assert!(learned.is_ripe(ripe));
        assert!(!learned.is_ripe(ripe), "one is enough");
        let (answers, answer) = tokio::sync::oneshot::channel();
        let ask = async { answer.await.map_err(|_| Error::Cancelled) };
        let renews = async {
            assert_eq!(known(&learned).await, 1, "nobody waits for it");
            answers.send(2).unwrap();
        };
        let (renewed, ()) = tokio::join!(learned.renew(ask), renews);
        renewed.unwrap();
        assert_eq!(known(&learned).await, 2);
        // The next time it may be asked again. If that fails nobody tries until somebody has to wait.
        let ripe = Instant::now() + RIPE;
        assert!(learned.is_ripe(ripe));
        let failed = learned.renew(async { Err(Error::Deadline) }).await;
        assert!(failed.is_err());
        assert!(!learned.is_ripe(ripe));
        assert_eq!(known(&learned).await, 2);
        assert!(learned.fresh(Instant::now() + FRESH).is_none());
    }
}
