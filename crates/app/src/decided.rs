//! Changes of what has no versions: decided on what is known here, and anew where another server has changed the same before
//! it was stored. So it is judged by what is there when it counts: who is the last admin, and who may.

use crate::access::role_of;
use crate::error::{Error, Result};
use crate::{App, keys};
use catalog::caller::Caller;
use std::collections::BTreeSet;
use store::feed::{Subject, Which};
use store::{Unless, Write};
use tokio::sync::Mutex;
use uuid::Uuid;

/// How often something is decided anew because another server was faster.
const DECIDED_MAX: usize = 20;

/// Up to which change of other servers a decision knows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known([i64; Subject::ALL.len()]);

impl Known {
    /// Nothing is stored where others have changed any of it since.
    pub(crate) fn unless(self, subject: Subject) -> Write {
        Write::Unless(Unless::new(self.0[subject as usize], subject, Which::All))
    }

    /// The same of one only.
    pub(crate) fn unless_this(self, subject: Subject, id: Uuid) -> Write {
        let this = Which::These(BTreeSet::from([id]));
        Write::Unless(Unless::new(self.0[subject as usize], subject, this))
    }
}

impl App {
    /// Decides and stores a change, one at a time behind `turn`, for a caller who still may or for nobody in particular.
    pub(crate) async fn decided<T, F>(
        &self,
        turn: &Mutex<()>,
        caller: Option<&Caller>,
        decide: impl Fn(Known) -> F,
    ) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        for _ in 0..DECIDED_MAX {
            {
                let _one_at_a_time = turn.lock().await;
                // Before anything is looked at: what is looked at may be newer than this, never older.
                let known = Known(self.replicas.known_of_each(&self.store));
                caller.map_or(Ok(()), |caller| self.still_may(caller))?;
                match decide(known).await {
                    Err(Error::Behind) => {}
                    done => return done,
                }
            }
            // Without the turn: what is taken over passes the same door.
            self.catch_up().await?;
        }
        Err(self.replicas.unread.refusal().unwrap_or(Error::Behind))
    }

    /// Refuses whoever has lost a right since they were let in.
    pub(crate) fn still_may(&self, caller: &Caller) -> Result<()> {
        if caller.key_id.is_none() && caller.until.is_none() {
            // Whoever holds the machine itself.
            return Ok(());
        }
        let access = self.access.load();
        let user = access.user(caller.user);
        let user = user.filter(|user| user.deleted_at.is_none());
        let has_key = caller.key_id.is_none_or(|id| access.key(id).is_some());
        let Some(user) = user.filter(|_| has_key) else {
            let why = "What let you in was taken away a moment ago";
            return Err(Error::Unauthenticated(why.to_owned()));
        };
        match keys::is_within(caller.scopes, role_of(user)) {
            true => Ok(()),
            false => Err(Error::Forbidden(
                "Your role was changed a moment ago and does not allow this any more".to_owned(),
            )),
        }
    }
}
