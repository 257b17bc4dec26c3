//! What other servers have stored and this one cannot read, such as what a later version keeps: what was known before counts
//! on, everything else is followed, and nothing of it is changed here.

use crate::error::Error;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use store::feed::Subject;

/// Subjects, and the last change of each that is known.
#[derive(Default)]
pub(crate) struct Unread(Mutex<BTreeMap<Subject, i64>>);

impl Unread {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Subject, i64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn subjects(&self) -> Vec<Subject> {
        self.lock().keys().copied().collect()
    }

    /// It is tried again with every look, and told once.
    pub(super) fn add(&self, subject: Subject, known: i64, error: &Error) {
        self.lock().entry(subject).or_insert_with(|| {
            tracing::error!(
                ?subject,
                ?error,
                "what another server stored cannot be read here; what was known of it counts on"
            );
            known
        });
    }

    pub(super) fn is_read(&self, subject: Subject) {
        if self.lock().remove(&subject).is_some() {
            tracing::info!(?subject, "what another server stored can be read again");
        }
    }

    /// The last change that is known of each, where `known` is of all others.
    pub(super) fn known_of_each(&self, known: i64) -> [i64; Subject::ALL.len()] {
        let all = self.lock();
        Subject::ALL.map(|it| all.get(&it).map_or(known, |since| known.min(*since)))
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        self.lock().keys().map(|it| it.as_str()).collect()
    }

    /// Refuses a change of what is there and cannot be read.
    pub(crate) fn check(&self, subject: Subject) -> Result<(), Error> {
        let is_unread = self.lock().contains_key(&subject);
        let refusal = self.refusal().filter(|_| is_unread);
        refusal.map_or(Ok(()), Err)
    }

    /// Why a change cannot be made, where that may be because of something unread.
    pub(crate) fn refusal(&self) -> Option<Error> {
        let names = self.names();
        let why = || {
            Error::conflict(format!(
                "Another server has stored what this one cannot read ({}); upgrade this server, or make the change on the other",
                names.join(", ")
            ))
        };
        (!names.is_empty()).then(why)
    }
}
