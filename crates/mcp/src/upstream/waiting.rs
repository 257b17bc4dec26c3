//! Waiting for a connection: however many need one, they wait for the same tries, and for all of them that there are.

use super::connection::Connection;
use super::error::UpstreamError;
use super::fault::Fault;
use super::server::{self, InUse, Tried, Upstream};
use super::talk::Talk;
use super::{Settings, locked};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long credentials that were refused are not tried again.
const REFUSED: Duration = Duration::from_secs(30);

impl Upstream {
    /// The next connection. One that was lost is waited for until it is there or given up; one that was given up
    /// before is tried once more.
    pub(super) async fn connection(&self, talk: &Talk) -> Result<Arc<Connection>, UpstreamError> {
        let settings = &self.options.settings;
        let mut tries = self.tries.subscribe();
        let mut before = tries.borrow_and_update().clone();
        self.check_worth(&before)?;
        let until = until(settings, talk);
        // One that is lost as soon as it is there is not waited for without end.
        for _ in 0..=settings.retries {
            // It may have come while we were asking.
            if let Some(connection) = self.usable() {
                return Ok(connection);
            }
            self.needed.notify_one();
            let waited = talk.bound(async {
                let gone = || Fault::NotSent("the server was removed".to_owned());
                let is_over = |tried: &Tried| tried.count > before.count && tried.is_settled;
                tokio::select! {
                    tried = tries.wait_for(is_over) => {
                        tried.map(|tried| tried.clone()).map_err(|_| gone())
                    }
                    () = self.end.cancelled() => Err(gone()),
                    () = tokio::time::sleep_until(until.into()) => Err(Fault::Late),
                }
            });
            let tried = waited.await.map_err(|fault| match fault {
                // It never left.
                Fault::Late => self.told(Fault::NotSent("it was not connected in time".to_owned())),
                fault => self.told(fault),
            })?;
            if tried.fault.is_some() {
                return Err(self.unavailable(&tried));
            }
            before = tried;
        }
        let connection = self.usable();
        connection.ok_or_else(|| self.unavailable(&before))
    }

    /// Connects if it is not connected, and waits for that, but not longer than this.
    pub(super) async fn wake(&self, within: Duration) {
        let _in_use = InUse::new(&self.use_);
        if self.usable().is_none() {
            let talk = Talk::until(Instant::now() + within);
            // Why it is not connected stands in its status.
            let _ = self.connection(&talk).await;
        }
    }

    /// Whether there is a point in trying.
    fn check_worth(&self, before: &Tried) -> Result<(), UpstreamError> {
        let config = self.config.load();
        if config.disabled {
            let cause = "it is switched off".to_owned();
            return Err(self.told(Fault::NotSent(cause)));
        }
        if let Some(cause) = config.fault() {
            return Err(self.told(Fault::NotSent(cause)));
        }
        let is_recent = before.at.is_some_and(|at| at.elapsed() < REFUSED);
        let refused = matches!(before.fault, Some(Fault::Auth(_) | Fault::Forbidden(_)));
        match refused && is_recent {
            true => Err(self.unavailable(before)),
            false => Ok(()),
        }
    }

    fn unavailable(&self, tried: &Tried) -> UpstreamError {
        match &tried.fault {
            Some(fault @ (Fault::Auth(_) | Fault::Forbidden(_))) => self.told(fault.clone()),
            fault => {
                let status = locked(&self.status);
                let cause = fault.clone();
                let cause = cause.map(|fault| server::cause(fault, &status.state));
                let cause = cause.map(|cause| self.secrets.out_of(cause));
                UpstreamError::Unavailable {
                    state: status.state.clone(),
                    cause: cause.unwrap_or_else(|| "the connection was lost again".to_owned()),
                    retry_after: Some(self.options.settings.backoff_base),
                }
            }
        }
    }
}

/// Until when a connection is waited for: long enough for all tries of a server that refuses them at once, and for one
/// of a server that hangs.
fn until(settings: &Settings, talk: &Talk) -> Instant {
    let longest = (1..=settings.retries).map(|n| settings.backoff(n));
    let bound = Instant::now() + settings.connect_timeout + longest.sum::<Duration>();
    talk.connect_by.map_or(bound, |by| by.min(bound))
}
