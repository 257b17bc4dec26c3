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

impl App {
    /// The same refusal with what has changed since the version that was expected, as far as that is known.
    pub(crate) async fn since<T>(
        &self,
        target: &str,
        expected: Option<i64>,
        done: Result<T>,
    ) -> Result<T> {
        let (
            Err(Error::Stale {
                message, version, ..
            }),
            Some(expected),
        ) = (&done, expected)
        else {
            return done;
        };
        let (message, version) = (message.clone(), *version);
        let changes = self.changed_by_last(target, version - expected).await?;
        Err(Error::Stale {
            message,
            version,
            changes,
        })
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
