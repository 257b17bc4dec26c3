//! A person taken out of the log: that calls happened stays, under a pseudonym, and not what was said in them. Day by day, and
//! within a day span by span, so that nobody who writes waits for long; what was cut off is done again.

use crate::day::Day;
use crate::error::LogError;
use crate::log::{Engine, ExecutionLog, blocking};
use crate::queue::Job;
use crate::record::Execution;
use catalog::tool::Millis;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

/// What stands in place of the arguments.
pub(crate) const ERASED: &str = r#"{"erased":true}"#;

/// Of a day's rows so much is changed in one go.
const SPAN_MS: Millis = 600_000;

pub(crate) const COUNT: &str =
    "SELECT COUNT(*) FROM executions WHERE caller = $1 AND started_at >= $2 AND started_at < $3";

/// What an error says may repeat the arguments; its code does not.
pub(crate) const ERASE: &str = "UPDATE executions SET caller = $1, key = NULL, arguments = $2, output = NULL, log_text = NULL, \
    error = CASE WHEN error IS NULL THEN NULL ELSE '{\"code\":\"' || COALESCE(error_code, '') || '\",\"message\":\"Erased\",\"details\":null}' END \
    WHERE caller = $3 AND started_at >= $4 AND started_at < $5";

/// Who is erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erased {
    pub name: Arc<str>,
    pub pseudonym: Arc<str>,
    /// Calls that began later are of somebody else with the same name.
    pub until: Millis,
}

/// Everybody who was erased since the start: their last calls may end later.
#[derive(Debug, Default)]
pub(crate) struct Erasing {
    is_any: AtomicBool,
    all: RwLock<Vec<Erased>>,
}

impl Erasing {
    fn add(&self, who: &Erased) {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| known.name != who.name);
        all.push(who.clone());
        self.is_any.store(true, Ordering::SeqCst);
    }

    /// Takes whoever is erased out of a row that is about to be written.
    pub(crate) fn apply(&self, row: &mut Execution) {
        if !self.is_any.load(Ordering::SeqCst) {
            return;
        }
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(who) = all.iter().find(|who| who.is_of(row)) {
            who.take_out(row);
        }
    }
}

impl Erased {
    fn is_of(&self, row: &Execution) -> bool {
        row.caller == self.name && row.started_at <= self.until
    }

    /// As `ERASE` does it. Whether they were in it.
    pub(crate) fn take_out(&self, row: &mut Execution) -> bool {
        let is_theirs = self.is_of(row);
        if is_theirs {
            row.caller = Arc::clone(&self.pseudonym);
            row.key = None;
            ERASED.clone_into(&mut row.arguments);
            (row.output, row.log_text) = (None, None);
            let code = row.error_code.as_deref().unwrap_or_default();
            row.error = row
                .error
                .is_some()
                .then(|| format!(r#"{{"code":"{code}","message":"Erased","details":null}}"#));
        }
        is_theirs
    }

    /// The spans of a day that may hold rows of theirs.
    pub(crate) fn spans(&self, day: Day) -> impl Iterator<Item = (Millis, Millis)> {
        let end = day.end().min(self.until.saturating_add(1));
        let from = (day.start()..end).step_by(usize::try_from(SPAN_MS).unwrap_or(1));
        from.map(move |from| (from, end.min(from + SPAN_MS)))
    }
}

impl ExecutionLog {
    /// How many rows are of them.
    pub async fn calls_of(&self, name: &str, until: Millis) -> Result<u64, LogError> {
        let name = name.to_owned();
        let until = until.saturating_add(1);
        match &self.engine {
            Engine::Sqlite(folder, _) => {
                let folder = self.complete(folder).await?;
                blocking(move || folder.calls_of(&name, until)).await
            }
            Engine::Postgres(postgres) => postgres.calls_of(&name, 0, until).await,
        }
    }

    /// Takes somebody out of every row, also of those that are written later by calls that run now. How many rows there were.
    /// Where it fails it may be done in part; doing it again does the rest.
    pub async fn erase(&self, who: &Erased) -> Result<u64, LogError> {
        self.erasing.add(who);
        self.flush().await?;
        let mut count = self.erase_since(who, Day::of(0)).await?;
        // A row that was about to be written when this began is in one of the last days by now.
        self.flush().await?;
        count += self.erase_since(who, Day::of(who.until).back(1)).await?;
        Ok(count)
    }

    async fn erase_since(&self, who: &Erased, first: Day) -> Result<u64, LogError> {
        match &self.engine {
            Engine::Sqlite(folder, journal) => {
                let (folder, who, today) = (Arc::clone(folder), who.clone(), journal.today());
                let (count, rest) = blocking(move || folder.erase(&who, first, today)).await?;
                if !rest.is_empty() {
                    self.ask(|answer| Job::Compact(rest, answer)).await?;
                }
                Ok(count)
            }
            Engine::Postgres(postgres) => postgres.erase(who, first).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::day::DAY_MS;

    #[test]
    fn spans_cover_a_day_up_to_the_moment_and_no_more() {
        let who = |until| Erased {
            name: "kim".into(),
            pseudonym: "erased-1".into(),
            until,
        };
        let day = Day::of(DAY_MS);
        let all: Vec<_> = who(i64::MAX).spans(day).collect();
        assert_eq!(all.first(), Some(&(DAY_MS, DAY_MS + SPAN_MS)));
        assert_eq!(all.last(), Some(&(2 * DAY_MS - SPAN_MS, 2 * DAY_MS)));
        assert!(all.windows(2).all(|two| two[0].1 == two[1].0));
        let part: Vec<_> = who(DAY_MS + SPAN_MS).spans(day).collect();
        assert_eq!(part.last(), Some(&(DAY_MS + SPAN_MS, DAY_MS + SPAN_MS + 1)));
        assert_eq!(who(DAY_MS - 1).spans(day).count(), 0);
    }
}
