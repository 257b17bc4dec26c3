//! Commits of which nobody knows whether they happened: the line was lost before the answer came, or whoever waited for it is
//! gone. They are counted, so that whoever keeps something in memory knows to read it anew.

use crate::db::Db;
use std::sync::Arc;
use tokio::sync::watch;

/// How many there were, for all who have the same database open.
#[derive(Debug, Clone, Default)]
pub struct Doubts(Arc<watch::Sender<u64>>);

/// A commit that is under way: in doubt unless it is said that it is not.
pub(crate) struct Doubt {
    doubts: Doubts,
    is_settled: bool,
}

impl Doubt {
    pub(crate) fn settled(mut self) {
        self.is_settled = true;
    }
}

impl Drop for Doubt {
    fn drop(&mut self) {
        if !self.is_settled {
            self.doubts.0.send_modify(|count| *count += 1);
        }
    }
}

/// Commits a transaction. Only here it may stay unknown whether it happened: before, what is lost is undone.
macro_rules! commit {
    ($db:expr, $tx:ident) => {{
        let doubt = $db.doubting();
        $tx.commit().await.map_err($crate::Error::from)?;
        doubt.settled();
        Ok(())
    }};
}
pub(crate) use commit;

impl Db {
    fn all_doubts(&self) -> &Doubts {
        match self {
            Db::Sqlite(_, doubts) | Db::Postgres(_, doubts) => doubts,
        }
    }

    /// From here on it is in doubt what is stored.
    pub(crate) fn doubting(&self) -> Doubt {
        Doubt {
            doubts: self.all_doubts().clone(),
            is_settled: false,
        }
    }

    /// What is in memory may differ from what is stored, as after a commit in doubt.
    pub fn doubt(&self) {
        drop(self.doubting());
    }

    /// How often it has been in doubt what is stored.
    pub fn doubts(&self) -> u64 {
        *self.all_doubts().0.borrow()
    }

    /// Told of each.
    pub fn follow_doubts(&self) -> watch::Receiver<u64> {
        self.all_doubts().0.subscribe()
    }
}
