//! Endings of calls that could not be written. The callers were told so, but their tools have run: without these rows
//! the log would say `started` for ever, or nothing.

use crate::queue::{BATCH_BYTES_MAX, BATCH_ROWS_MAX, Entry, Mode};
use crate::record::Execution;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use uuid::Uuid;

/// More calls than this do not run at once. Beyond it the oldest is forgotten, which costs its ending no more than the
/// first place.
const BEGUN_MAX: usize = 65_536;

#[derive(Debug, Default)]
pub(crate) struct Owed {
    debts: Mutex<Debts>,
    /// The journal has rows that could not be written.
    journal_waits: AtomicBool,
}

#[derive(Debug, Default)]
pub(crate) struct Debts {
    /// Calls that have a `started` row and no ending yet, neither written nor owed; in the order of their beginning,
    /// as their ids are.
    running: BTreeSet<Uuid>,
    /// Endings of calls that have a `started` row. They come first, because that row says something wrong by now.
    begun: Vec<Execution>,
    /// Refusals and calls without effects: of these the log says nothing.
    others: Vec<Execution>,
}

impl Owed {
    pub(crate) fn does_journal_wait(&self) -> bool {
        self.journal_waits.load(Ordering::Relaxed)
    }

    pub(crate) fn set_journal_waits(&self, waits: bool) {
        self.journal_waits.store(waits, Ordering::Relaxed);
    }

    pub(crate) fn is_empty(&self) -> bool {
        let debts = self.lock();
        debts.begun.is_empty() && debts.others.is_empty() && !self.does_journal_wait()
    }

    /// What is owed, as entries that nobody waits for.
    pub(crate) fn take(&self) -> Vec<Entry> {
        let mut debts = self.lock();
        let (begun, others) = (
            std::mem::take(&mut debts.begun),
            std::mem::take(&mut debts.others),
        );
        // They may come back, and must not come back as something else.
        begun.iter().for_each(|row| debts.begun(row.id));
        let entry = |row| Entry {
            row: Box::new(row),
            mode: Mode::Finish,
            answer: oneshot::channel().0,
        };
        begun.into_iter().chain(others).map(entry).collect()
    }

    /// The log closes: what is still owed can never be written.
    pub(crate) fn give_up(&self) {
        for entry in self.take() {
            lost(
                &entry.row,
                "the execution log could not be written to the end",
            );
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Debts> {
        self.debts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Debts {
    /// A `started` row is written.
    pub(crate) fn begun(&mut self, id: Uuid) {
        self.running.insert(id);
        if self.running.len() > BEGUN_MAX {
            self.running.pop_first();
        }
    }

    /// An ending is written, or can never be.
    pub(crate) fn settled(&mut self, id: Uuid) {
        self.running.remove(&id);
    }

    /// An ending could not be written for now.
    pub(crate) fn keep(&mut self, row: Execution) {
        let begun = self.running.remove(&row.id);
        while begun && !self.has_room_for(&row) {
            let Some(other) = self.others.pop() else {
                break;
            };
            lost(&other, TOO_MANY);
        }
        if !self.has_room_for(&row) {
            lost(&row, TOO_MANY);
        } else if begun {
            self.begun.push(row);
        } else {
            self.others.push(row);
        }
    }

    fn has_room_for(&self, row: &Execution) -> bool {
        let kept = || self.begun.iter().chain(&self.others);
        let bytes: usize = kept().map(Execution::weight).sum();
        kept().count() < BATCH_ROWS_MAX && bytes + row.weight() <= BATCH_BYTES_MAX
    }
}

const TOO_MANY: &str = "too many calls ended while the execution log could not be written";

fn lost(row: &Execution, why: &str) {
    tracing::error!(id = %row.id, tool = %row.tool_name, "{why}: this ending is lost");
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::record::{Status, new_id};
    use std::borrow::Cow;

    pub(crate) fn ending() -> Execution {
        Execution {
            id: new_id(0),
            started_at: 0,
            status: Status::Success,
            tool_name: "t".into(),
            tool_version: 1,
            tool_hash: "h".into(),
            caller: "c".into(),
            key: None,
            agent: None,
            run: None,
            toolset: None,
            transport: Cow::Borrowed("rest"),
            error_code: None,
            elapsed_us: 0,
            node: "n".into(),
            arguments: "{}".into(),
            output: None,
            error: None,
            log_text: None,
            behind: None,
        }
    }

    fn ids(rows: &[Entry]) -> Vec<Uuid> {
        rows.iter().map(|entry| entry.row.id).collect()
    }

    #[test]
    fn who_has_begun_evicts_the_others_and_stays_first_when_it_comes_back() {
        let owed = Owed::default();
        for _ in 0..BATCH_ROWS_MAX + 1 {
            owed.lock().keep(ending());
        }
        let effect = ending();
        owed.lock().begun(effect.id);
        owed.lock().keep(effect.clone());
        let taken = owed.take();
        assert_eq!((taken.len(), taken[0].row.id), (BATCH_ROWS_MAX, effect.id));
        assert!(owed.is_empty());
        for entry in taken.into_iter().rev() {
            owed.lock().keep(*entry.row);
        }
        assert_eq!(ids(&owed.take())[0], effect.id);
    }

    #[test]
    fn among_those_who_have_begun_the_first_comes_first() {
        let owed = Owed::default();
        let endings: Vec<Execution> = (0..BATCH_ROWS_MAX + 1).map(|_| ending()).collect();
        for row in &endings {
            owed.lock().begun(row.id);
            owed.lock().keep(row.clone());
        }
        let expected: Vec<Uuid> = endings.iter().map(|row| row.id).collect();
        assert_eq!(ids(&owed.take()), expected[..BATCH_ROWS_MAX]);
    }
}
