//! Ctrl-C, and what it means for a run: before there is one, while it is followed, and while this process stops it. It is heard
//! from the beginning on, also where nobody waits for it just then; the second one ends the program at once.

use crate::client::Client;
use crate::context::Context;
use crate::out::{Cause, Failure, Result};
use std::pin::pin;
use tokio::signal::unix::{Signal, SignalKind, signal};

pub(super) struct Leaving {
    interrupts: Option<Signal>,
    /// How often it was pressed.
    count: u32,
    /// Whether it was pressed while nobody could be left yet.
    is_kept: bool,
}

impl Leaving {
    fn new() -> Self {
        Leaving {
            interrupts: signal(SignalKind::interrupt()).ok(),
            count: 0,
            is_kept: false,
        }
    }

    /// Until somebody presses Ctrl-C.
    pub(super) async fn asked(&mut self) {
        if std::mem::take(&mut self.is_kept) {
            return;
        }
        match &mut self.interrupts {
            Some(interrupts) => {
                interrupts.recv().await;
                self.count += 1;
            }
            None => std::future::pending().await,
        }
    }

    /// The end of `work`, unless somebody presses Ctrl-C before: `left` says what that means.
    pub(super) async fn or<T>(
        &mut self,
        left: impl FnOnce() -> Failure,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        tokio::select! {
            biased;
            () = self.asked() => Err(left()),
            done = work => done,
        }
    }

    /// The same of what must not be left alone: the first Ctrl-C counts once it has ended well.
    pub(super) async fn or_second<T>(
        &mut self,
        left: impl FnOnce() -> Failure,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let mut work = pin!(work);
        tokio::select! {
            biased;
            () = self.asked() => {}
            done = &mut work => return done,
        }
        let done = self.or(left, work).await;
        self.is_kept = done.is_ok();
        done
    }
}

/// As `Client::with`, where Ctrl-C means more than the end of a request. `left` says what it means before anything is asked.
pub(super) async fn with<T>(
    context: &Context,
    left: impl FnOnce() -> Failure,
    work: impl AsyncFnOnce(&Client, &mut Leaving) -> Result<T>,
) -> Result<T> {
    let mut leaving = Leaving::new();
    let client = leaving.or(left, Client::open(context)).await?;
    let client = client.undisturbed();
    let mut done = work(&client, &mut leaving).await;
    if leaving.count > 1 {
        return done;
    }
    // What comes of the run stands: who does not wait for the end of the rest misses nothing.
    tokio::select! {
        biased;
        () = leaving.asked() => {}
        () = client.end(context, &mut done) => {}
    }
    done
}

/// Nothing was sent.
pub(super) fn none_begun() -> Failure {
    Failure::new(Cause::Interrupted, "interrupted: no run was begun")
}

/// The request is on its way, and nobody knows how far it came.
pub(super) fn perhaps_begun() -> Failure {
    let why = "interrupted: whether a run was begun is not known";
    Failure::new(Cause::Interrupted, why).hint(
        "`toolcrib runs list --limit 1` shows the newest, and `toolcrib runs cancel ID` stops it",
    )
}

/// The same of an answer to what a run asks.
pub(super) fn perhaps_answered(id: &str) -> Failure {
    let why = format!("interrupted: whether run {id} got the answer is not known");
    Failure::new(Cause::Interrupted, why)
        .hint(format!("`toolcrib runs show {id}` tells how it stands"))
}

/// Nothing was asked of a run that is there.
pub(super) fn as_it_was(id: &str) -> Failure {
    let why = format!("interrupted: run {id} is as it was");
    Failure::new(Cause::Interrupted, why)
}

/// Nobody follows the run any more.
pub(super) fn goes_on(client: &Client, id: &str) -> Failure {
    let stops = format!("`toolcrib runs cancel {id}` stops it");
    let (how, hint) = match client {
        Client::Local(_) => (" with the next server", stops),
        _ => {
            let shows = format!("`toolcrib runs follow {id}` shows what happens");
            ("", format!("{shows}, {stops}"))
        }
    };
    Failure::new(
        Cause::Interrupted,
        format!("interrupted: run {id} goes on{how}"),
    )
    .hint(hint)
}

/// Nobody waits until this process has cancelled the run.
pub(super) fn perhaps_cancelled(id: &str) -> Failure {
    let why = format!(
        "interrupted: whether run {id} is cancelled is not known; if it is not, it goes on with the next server"
    );
    Failure::new(Cause::Interrupted, why)
        .hint(format!("`toolcrib runs cancel {id}` makes sure of it"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{Signal, getpid, kill_process};
    use std::task::Poll;

    fn press() {
        kill_process(getpid(), Signal::INT).expect("this process is there");
    }

    /// One test: whatever is pressed, the whole process hears.
    #[tokio::test]
    async fn ctrl_c_ends_what_may_be_left_and_the_second_one_everything() {
        let mut leaving = Leaving::new();
        // Pressed each time that it is looked at: once by the time that the first is heard.
        let endless = || {
            std::future::poll_fn(|_| {
                press();
                Poll::<Result>::Pending
            })
        };
        let left = leaving.or(none_begun, endless()).await;
        let left = left.expect_err("it never ends");
        assert_eq!(left.errors, none_begun().errors);
        assert_eq!(left.cause.exit(), 130);
        leaving.count = 0;
        let left = leaving.or_second(perhaps_begun, endless()).await;
        assert_eq!(
            left.expect_err("it never ends").errors,
            perhaps_begun().errors
        );
        assert_eq!(leaving.count, 2);

        let mut leaving = Leaving::new();
        let mut looked = 0;
        let ends = std::future::poll_fn(|_| {
            looked += 1;
            match looked {
                1 => {
                    press();
                    Poll::Pending
                }
                _ => Poll::Ready(Ok("begun")),
            }
        });
        let done = leaving.or_second(perhaps_begun, ends).await;
        assert_eq!(done.ok(), Some("begun"));
        let left = leaving.or(none_begun, std::future::ready(Ok(()))).await;
        assert!(left.is_err(), "what was pressed meanwhile counts now");
        assert_eq!(leaving.count, 1);
    }
}
