//! A call under way, and that neither a hang-up nor a panic leaves it unlogged.

use crate::kind::{Failure, Output, RunFuture};
use crate::response::ToolResponse;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio_util::sync::CancellationToken;

/// A call under way, run by whoever awaits it. Dropping it cancels the call: what is left of it (stopping the
/// work, the log entry) goes on in a task of its own.
pub struct PendingCall {
    /// None once the call is answered.
    pub(crate) work: Option<Pin<Box<dyn Future<Output = ToolResponse> + Send>>>,
    pub(crate) cancel: CancellationToken,
}

impl Future for PendingCall {
    type Output = ToolResponse;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<ToolResponse> {
        // Taken out while it is polled: what panics is not polled again by `drop`.
        let Some(mut work) = self.work.take() else {
            return Poll::Pending;
        };
        let answer = work.as_mut().poll(context);
        if answer.is_pending() {
            self.work = Some(work);
        }
        answer
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            self.cancel.cancel();
            if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                runtime.spawn(work);
            }
        }
    }
}

/// A panic inside a kind becomes a failure of that call and of nothing else.
pub(crate) struct CatchPanic<'a>(pub(crate) RunFuture<'a>);

impl Future for CatchPanic<'_> {
    type Output = Result<Result<Output, Failure>, Failure>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = std::panic::catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(context)));
        match polled {
            Ok(poll) => poll.map(Ok),
            Err(_) => Poll::Ready(Err(Failure::execution("the tool broke down"))),
        }
    }
}
