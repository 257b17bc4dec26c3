//! A list of writes that only happens where no other server has changed the same since it was decided: for what has no
//! versions, or depends on more than the one thing that it changes.

use crate::db::Db;
use crate::feed::{Changed, Subject, Which};
use crate::{Error, Write};

/// What others must not have changed.
#[derive(Debug, Clone)]
pub struct Unless {
    /// The last change that whoever decided knew of.
    known: i64,
    what: Changed,
}

impl Unless {
    pub fn new(known: i64, subject: Subject, which: Which) -> Self {
        Unless {
            known,
            what: Changed::from([(subject, which)]),
        }
    }

    pub(crate) fn known(&self) -> i64 {
        self.known
    }

    /// Refuses where one of these changes concerns it.
    pub(crate) fn check(&self, changed: &Changed) -> Result<(), Error> {
        let meets = |(subject, which): (&Subject, &Which)| {
            changed.get(subject).is_some_and(|it| it.meets(which))
        };
        match self.what.iter().any(meets) {
            true => Err(Error::Behind),
            false => Ok(()),
        }
    }
}

impl Db {
    /// The conditions in a list of writes. None where nobody else can change anything.
    pub(crate) fn conditions<'w>(&self, writes: &'w [Write]) -> Vec<&'w Unless> {
        let of = |write: &'w Write| match write {
            Write::Unless(unless) => Some(unless),
            _ => None,
        };
        match self {
            Db::Sqlite(..) => Vec::new(),
            Db::Postgres(..) => writes.iter().filter_map(of).collect(),
        }
    }
}

pub(crate) const TOLD_SINCE: &str = "SELECT revision, subject, ids, \
    instance = current_setting('application_name') FROM changes WHERE revision > $1 ORDER BY revision";

/// Looks at what was told before this transaction, which holds the revision: nothing can come in between.
macro_rules! check_conditions {
    ($tx:ident, $revision:ident, $conditions:expr) => {
        for condition in $conditions {
            let told = sqlx::query_as($crate::unless::TOLD_SINCE).bind(condition.known());
            let told: Vec<$crate::feed::Told> = told
                .fetch_all(&mut *$tx)
                .await
                .map_err($crate::Error::from)?;
            let news = $crate::feed::news(condition.known(), $revision - 1, told);
            condition.check(&news.changed)?;
        }
    };
}
pub(crate) use check_conditions;
