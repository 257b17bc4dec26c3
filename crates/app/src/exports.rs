//! The execution log and the audit log, written out from the oldest entry on, a piece at a time: however long they are, no more
//! than a piece is in memory.

use crate::App;
use crate::audit::{self, AuditQuery};
use crate::error::{Error, Result};
use crate::executions_view::{self, ExecutionFilter};
use catalog::caller::Caller;
use executions::Filter;
use serde::Serialize;
use std::sync::Arc;
use store::audit::AuditFilter;
use uuid::Uuid;

/// Entries of a piece, unless they are so long that it ends before.
const PIECE_ENTRIES: usize = 200;

/// Before every execution there can be.
const FIRST: Uuid = Uuid::from_u128(0x7000 << 64);

/// An export on its way: whose it is, and what comes next.
#[derive(Debug)]
pub struct Export {
    caller: Arc<Caller>,
    next: Next,
}

#[derive(Debug)]
enum Next {
    Executions(Filter),
    Audit { filter: AuditFilter, after: i64 },
}

impl App {
    /// Of what this caller may list, what the filter asks for, up to now.
    pub fn export_executions(
        &self,
        caller: Arc<Caller>,
        filter: ExecutionFilter,
    ) -> Result<Export> {
        let now = self.clock.now();
        let asked = executions_view::asked(&caller, filter, now)?;
        let filter = Filter {
            until: Some(asked.until.unwrap_or(i64::MAX).min(now + 1)),
            limit: Some(PIECE_ENTRIES),
            after: Some(FIRST),
            ..asked
        };
        let next = Next::Executions(filter);
        Ok(Export { caller, next })
    }

    pub fn export_audit(&self, caller: Arc<Caller>, query: &AuditQuery) -> Result<Export> {
        let filter = audit::asked(query, self.clock.now())?;
        let next = Next::Audit { filter, after: 0 };
        Ok(Export { caller, next })
    }

    /// The next piece, each entry a line of JSON; none at the end. Whoever is let in no longer gets no more.
    pub async fn go_on(&self, export: &mut Export) -> Result<Option<String>> {
        self.still_in(&export.caller)?;
        match &mut export.next {
            Next::Executions(filter) => {
                let rows = self.executor.log.list(filter.clone()).await?.items;
                let Some(last) = rows.last() else {
                    return Ok(None);
                };
                filter.after = Some(last.id);
                lines(rows.into_iter().map(executions_view::view))
            }
            Next::Audit { filter, after } => {
                let found = self.store.audit_after(filter, *after, PIECE_ENTRIES);
                let rows = found.await?.rows;
                let Some(last) = rows.last() else {
                    return Ok(None);
                };
                *after = last.seq;
                lines(rows.into_iter().map(audit::view))
            }
        }
    }

    /// What lasts is not let go on with a key that was revoked meanwhile, or for a user who was removed.
    fn still_in(&self, caller: &Caller) -> Result<()> {
        match caller.until.is_some_and(|end| end <= self.clock.now()) {
            true => Err(Error::Unauthenticated(
                "What let you in has ended".to_owned(),
            )),
            false => self.still_may(caller),
        }
    }
}

fn lines(views: impl Iterator<Item = impl Serialize>) -> Result<Option<String>> {
    let mut text = String::new();
    for view in views {
        let line = serde_json::to_string(&view);
        text.push_str(&line.map_err(|error| Error::Internal(error.to_string()))?);
        text.push('\n');
    }
    Ok(Some(text))
}
