//! Whoever waits for an answer drives the connection that it comes on. A task of its own for each would be woken for every
//! message, and wake the one that waits, often on another processor.

use std::fmt;
use std::pin::{Pin, pin};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

type Line = Pin<Box<dyn Future<Output = Result<(), tokio_postgres::Error>> + Send>>;

/// The half of a connection that writes and reads. None once it has ended.
pub(super) struct Driver(Mutex<Option<Line>>);

impl fmt::Debug for Driver {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("Driver")
    }
}

impl Driver {
    pub(super) fn new(
        line: impl Future<Output = Result<(), tokio_postgres::Error>> + Send + 'static,
    ) -> Driver {
        Driver(Mutex::new(Some(Box::pin(line))))
    }

    /// Drives the line for as long as the work takes. The work goes first: what it asks is sent at once.
    pub(super) async fn drive<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        std::future::poll_fn(|cx| {
            loop {
                if let Poll::Ready(done) = work.as_mut().poll(cx) {
                    return Poll::Ready(done);
                }
                if self.poll(cx).is_pending() {
                    return Poll::Pending;
                }
                // The line has ended: the work is told so by its client.
            }
        })
        .await
    }

    /// Drives the line to its end.
    pub(super) async fn end(self) {
        let line = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = line
            && let Err(error) = open.await
        {
            tracing::debug!(%error, "a connection to a source ended");
        }
    }

    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut line = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = line.as_mut() else {
            return Poll::Pending;
        };
        let ended = std::task::ready!(open.as_mut().poll(cx));
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection to a source ended");
        }
        *line = None;
        Poll::Ready(())
    }
}
