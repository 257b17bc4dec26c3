//! All sessions there are: how many there may be, in all and of one user, and which has to go.

use super::Session;
use catalog::caller::Caller;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// All of them.
pub struct Sessions {
    idle: Duration,
    max: usize,
    /// Of one user: nobody keeps the others out.
    of_user_max: usize,
    by_id: Mutex<HashMap<String, Arc<Session>>>,
}

/// Why there is no session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoSession {
    /// It never was, or has expired, or is somebody else's.
    Unknown,
    TooMany,
}

impl Sessions {
    pub(crate) fn new(idle: Duration, max: usize, of_user_max: usize) -> Self {
        Sessions {
            idle,
            max,
            of_user_max,
            by_id: Mutex::default(),
        }
    }

    /// How many there are now.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn all(&self) -> Vec<Arc<Session>> {
        self.lock().values().cloned().collect()
    }

    pub fn len(&self) -> usize {
        self.lock().len()
    }

    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// The session of this id, if it is this caller's.
    pub fn get(&self, id: &str, caller: &Caller) -> Result<Arc<Session>, NoSession> {
        let session = self.lock().get(id).cloned().ok_or(NoSession::Unknown)?;
        if !session.caller.is_same(caller) {
            return Err(NoSession::Unknown);
        }
        // Nobody may have swept since its time was over.
        if !session.is_used(self.idle) {
            self.end(&session);
            return Err(NoSession::Unknown);
        }
        session.lock().used = Some(Instant::now());
        Ok(session)
    }

    pub fn end(&self, session: &Session) {
        self.lock().remove(&session.id);
        let mut state = session.lock();
        for token in state.running.values() {
            token.cancel();
        }
        state.followed.clear();
        // Whoever reads it reads no further.
        state.stream = None;
    }

    /// Makes room for it first, where its user has as many as one may have: their own oldest that is idle ends.
    pub(super) fn add(&self, session: &Arc<Session>) -> Result<(), NoSession> {
        if self.len() >= self.max {
            self.sweep();
        }
        let ended = {
            let mut all = self.lock();
            let user = session.caller.user;
            let own = all.values().filter(|it| it.caller.user == user);
            let ended = match own.clone().count() < self.of_user_max {
                true => None,
                false => {
                    let idle = own.filter_map(|it| Some((it.idle_since()?, it)));
                    let oldest = idle.min_by_key(|(since, _)| *since);
                    let (_, oldest) = oldest.ok_or(NoSession::TooMany)?;
                    Some(Arc::clone(oldest))
                }
            };
            if let Some(ended) = &ended {
                all.remove(&ended.id);
            }
            if all.len() >= self.max {
                return Err(NoSession::TooMany);
            }
            all.insert(session.id.clone(), Arc::clone(session));
            ended
        };
        if let Some(ended) = ended {
            self.end(&ended);
        }
        Ok(())
    }

    /// Lets go of those that have expired.
    pub(crate) fn sweep(&self) {
        let mut all = self.lock();
        all.retain(|_, session| session.is_used(self.idle));
        if all.len() < all.capacity() / 4 {
            all.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{State, random};
    use super::*;
    use catalog::caller::{Role, Transport};
    use serde_json::value::RawValue;
    use std::sync::OnceLock;
    use std::sync::atomic::AtomicU64;
    use uuid::Uuid;

    fn session(user: u128) -> Arc<Session> {
        let user = Uuid::from_u128(user);
        let caller = Caller::of_user(user, "somebody", Role::Viewer, Transport::Mcp);
        Arc::new(Session {
            id: random(),
            caller: Arc::new(caller),
            client: OnceLock::new(),
            seen: AtomicU64::new(0),
            state: Mutex::new(State {
                used: Some(Instant::now()),
                ..State::default()
            }),
        })
    }

    #[test]
    fn nobody_keeps_the_others_out() {
        let all = Sessions::new(Duration::from_secs(3600), 4, 2);
        let is_there = |it: &Arc<Session>| all.get(&it.id, &it.caller).is_ok();
        let other = session(1);
        all.add(&other).unwrap();
        let own: Vec<Arc<Session>> = (0..5).map(|_| session(2)).collect();
        all.add(&own[0]).unwrap();
        all.add(&own[1]).unwrap();
        // Somebody reads from the oldest, so the next one goes.
        let stream = own[0].stream();
        all.add(&own[2]).unwrap();
        assert!(is_there(&own[0]) && !is_there(&own[1]) && is_there(&own[2]));
        // And one that runs a request stays as well.
        let id = RawValue::from_string("1".to_owned()).unwrap();
        let running = own[2].run(&id).unwrap();
        assert_eq!(all.add(&own[3]), Err(NoSession::TooMany));
        drop(running);
        all.add(&own[4]).unwrap();
        assert!(is_there(&own[0]) && !is_there(&own[2]) && is_there(&own[4]));
        assert!(is_there(&other), "it is somebody else's");
        assert_eq!(all.len(), 3);
        drop(stream);
    }
}
