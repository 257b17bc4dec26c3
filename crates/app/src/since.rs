//! What has changed of a thing since somebody saw it. Only tools keep their versions; of the others the audit log has one entry
//! for each version, with what was there before and after.

use crate::App;
use crate::error::{Error, Result};
use crate::versions::{FieldChange, differences};
use serde_json::Value;
use store::audit::AuditFilter;
use store::detail::Detail;

/// The acts that make a version.
const MAKE_VERSIONS: [&str; 4] = [".create", ".update", ".delete", ".restore"];

/// Whoever saw something older than so many acts ago fetches it again without being told what has changed.
const ACTS_MAX: usize = 200;

/// The same refusal of an older version with what `changed` finds between the one that was expected and the one that is there.
pub(crate) async fn told<T>(
    done: Result<T>,
    expected: Option<i64>,
    changed: impl AsyncFnOnce(i64, i64) -> Result<Vec<FieldChange>>,
) -> Result<T> {
    match (done, expected) {
        (
            Err(Error::Stale {
                message, version, ..
            }),
            Some(expected),
        ) => Err(Error::Stale {
            message,
            version,
            changes: changed(expected, version).await?,
        }),
        (done, _) => done,
    }
}

impl App {
    /// The same refusal with what has changed since, as far as the audit log knows it.
    pub(crate) async fn since<T>(
        &self,
        target: &str,
        expected: Option<i64>,
        done: Result<T>,
    ) -> Result<T> {
        told(done, expected, |expected, version| {
            self.changed_by_last(target, version - expected)
        })
        .await
    }

    /// What the last so many changes came to.
    async fn changed_by_last(&self, target: &str, count: i64) -> Result<Vec<FieldChange>> {
        let mut changes = Vec::new();
        let count = usize::try_from(count).unwrap_or_default();
        let filter = AuditFilter {
            target: Some(target.to_owned()),
            ..AuditFilter::default()
        };
        let rows = self.store.audit(&filter, ACTS_MAX).await?.rows;
        let makes = |action: &str| MAKE_VERSIONS.iter().any(|end| action.ends_with(end));
        let acts = rows.into_iter().map(|row| row.act);
        let acts = acts.filter(|act| makes(&act.action));
        let acts: Vec<_> = acts.take(count).collect();
        if acts.len() < count {
            return Ok(changes);
        }
        let read = |detail: &Option<Detail>| -> Option<Value> {
            serde_json::from_str(detail.as_ref()?.as_str()).ok()
        };
        let before = acts.last().and_then(|act| read(&act.before));
        let after = acts.first().and_then(|act| read(&act.after));
        if let (Some(before), Some(after)) = (before, after) {
            differences("$", &before, &after, &mut changes);
        }
        Ok(changes)
    }
}
