//! What is learned of texts that come again, in bounded room: where it is full all is forgotten, and learned anew.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

const TEXTS_MAX: usize = 1000;

#[derive(Debug)]
pub(crate) struct Texts<T>(Mutex<HashMap<String, T>>);

impl<T> Default for Texts<T> {
    fn default() -> Texts<T> {
        Texts(Mutex::default())
    }
}

impl<T: Copy> Texts<T> {
    pub(crate) fn of(&self, sql: &str) -> Option<T> {
        self.lock().get(sql).copied()
    }

    pub(crate) fn note(&self, sql: &str, learned: T) {
        let mut texts = self.lock();
        if let Some(known) = texts.get_mut(sql) {
            *known = learned;
            return;
        }
        if texts.len() >= TEXTS_MAX {
            texts.clear();
        }
        texts.insert(sql.to_owned(), learned);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
