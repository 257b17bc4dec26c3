//! What was asked of a database once and counts for a while.

use crate::error::Error;
use crate::source::Call;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

/// How long what was learned counts. Within that time a new function is unknown, and an unknown name is not refused.
const FRESH: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Learned<T> {
    last: std::sync::Mutex<Option<(Instant, Arc<T>)>>,
    /// Held by whoever asks, so that the others wait for them instead of asking as well.
    asking: Mutex<()>,
}

impl<T> Default for Learned<T> {
    fn default() -> Self {
        Learned {
            last: std::sync::Mutex::default(),
            asking: Mutex::default(),
        }
    }
}

impl<T> Learned<T> {
    fn fresh(&self) -> Option<Arc<T>> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = last.as_ref().filter(|(at, _)| at.elapsed() < FRESH);
        fresh.map(|(_, value)| Arc::clone(value))
    }

    pub(super) async fn get<F: Future<Output = Result<T, Error>>>(
        &self,
        call: &Call,
        ask: impl FnOnce() -> F,
    ) -> Result<Arc<T>, Error> {
        match self.fresh() {
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
        if let Some(fresh) = self.fresh() {
            return Ok(fresh);
        }
        let value = Arc::new(ask.await?);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some((Instant::now(), Arc::clone(&value)));
        Ok(value)
    }
}
