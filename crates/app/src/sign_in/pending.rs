//! Sign-ins that have begun: few, for a short time, each for whoever began it, and good for one answer.

use crate::error::{Error, Result};
use catalog::tool::Millis;
use oauth::Pending;
use std::sync::{Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// How long a person may take.
pub(crate) const LIFE_MS: Millis = 600_000;

const ALL_MAX: usize = 256;

/// Of one person; the oldest makes room.
const OWN_MAX: usize = 8;

/// A sign-in that waits for its answer.
pub(crate) struct Waiting {
    /// Who began it, and has to end it.
    pub(crate) user: Uuid,
    pub(crate) server: String,
    /// Whose token it will be.
    pub(crate) holder: Uuid,
    pub(crate) pending: Pending,
    pub(crate) is_new_client: bool,
    pub(crate) begun_at: Millis,
}

#[derive(Default)]
pub(crate) struct Begun {
    waiting: Mutex<Vec<Waiting>>,
}

impl Begun {
    pub(crate) fn add(&self, new: Waiting, now: Millis) -> Result<()> {
        let mut waiting = self.alive(now);
        let own = || waiting.iter().filter(|it| it.user == new.user);
        if own().count() >= OWN_MAX {
            let oldest = waiting.iter().position(|it| it.user == new.user);
            oldest.map(|at| waiting.remove(at));
        }
        if waiting.len() >= ALL_MAX {
            return Err(Error::Unavailable(
                "Too many people are signing in at the moment; try again in a few minutes"
                    .to_owned(),
            ));
        }
        waiting.push(new);
        Ok(())
    }

    /// The sign-in that an answer belongs to, if this person began it. It is not there any more afterwards.
    pub(crate) fn take(&self, state: &str, user: Uuid, now: Millis) -> Result<Waiting> {
        let mut waiting = self.alive(now);
        let found = waiting
            .iter()
            .position(|it| it.pending.state() == state && it.user == user);
        found.map(|at| waiting.remove(at)).ok_or_else(|| {
            Error::invalid(
                "There is no such sign-in: it was begun by somebody else, was finished, or took more than ten minutes. Begin again",
            )
        })
    }

    /// Ends what somebody has begun.
    pub(crate) fn forget(&self, user: Uuid) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|it| it.user != user);
    }

    fn alive(&self, now: Millis) -> MutexGuard<'_, Vec<Waiting>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|it| now - it.begun_at < LIFE_MS);
        waiting
    }
}
