//! The audit log: every administrative act, before and after, in one chain.

use crate::App;
use crate::error::{Error, Result};
use crate::{page, time};
use catalog::caller::Caller;
use catalog::hex::hex;
use catalog::tool::Millis;
use serde::Serialize;
use serde_json::Value;
use store::audit::{Act, AuditFilter, AuditRow};
use store::detail::Detail;
use utoipa::ToSchema;
use uuid::Uuid;

/// One administrative act.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditView {
    pub seq: i64,
    pub at: String,
    pub actor: String,
    pub actor_id: Uuid,
    pub key: Option<String>,
    pub transport: String,
    /// Such as `user.create`.
    pub action: String,
    /// Such as `user:kim`.
    pub target: String,
    /// Instead of a long member stand its `beginning`, `bytes` and `sha256`.
    #[schema(value_type = Option<Object>)]
    pub before: Option<Value>,
    /// In the same way.
    #[schema(value_type = Option<Object>)]
    pub after: Option<Value>,
    pub hash: String,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct AuditPage {
    pub items: Vec<AuditView>,
    pub next_cursor: Option<String>,
}

/// What `audit verify` found.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditCheck {
    pub valid: bool,
    pub entries: i64,
    /// The hash of the last entry. Kept elsewhere, it also shows whether entries were cut off at the end.
    pub head: String,
    /// The first entry that does not fit.
    pub broken_at: Option<i64>,
    pub problem: Option<String>,
}

/// Which acts to list.
#[derive(Debug, Default)]
pub struct AuditQuery {
    pub actor: Option<String>,
    pub action: Option<String>,
    pub target: Option<String>,
    pub since: Option<String>,
    pub until: Option<String>,
    pub limit: Option<i64>,
    pub cursor: Option<String>,
}

/// An act of this caller, to be stored together with what it changes. `before` and `after` never hold a secret.
pub(crate) fn act(
    at: Millis,
    caller: &Caller,
    action: &str,
    target: impl Into<String>,
    before: Option<Value>,
    after: Option<Value>,
) -> store::Write {
    store::Write::Act(Act {
        at,
        actor_id: caller.user,
        actor: caller.user_name.to_string(),
        key: caller.key.as_deref().map(str::to_owned),
        transport: caller.transport.as_str().to_owned(),
        action: action.to_owned(),
        target: target.into(),
        before: before.map(Detail::new),
        after: after.map(Detail::new),
    })
}

impl App {
    pub async fn list_audit(&self, query: &AuditQuery) -> Result<AuditPage> {
        let limit = page::limit(query.limit)?;
        let filter = asked(query, self.clock.now())?;
        let limit = usize::try_from(limit).unwrap_or_default();
        let page = self.store.audit(&filter, limit).await?;
        let last = page.rows.last().filter(|_| page.more);
        let next_cursor = last.map(|row| row.seq.to_string());
        Ok(AuditPage {
            items: page.rows.into_iter().map(view).collect(),
            next_cursor,
        })
    }

    /// Looks at every entry from the first to the last.
    pub async fn verify_audit(&self) -> Result<AuditCheck> {
        let chain = self.store.audit_chain().await?;
        Ok(AuditCheck {
            valid: chain.broken.is_none(),
            entries: chain.rows,
            head: hex(&chain.head),
            broken_at: chain.broken.map(|(seq, _)| seq),
            problem: chain.broken.map(|(seq, why)| format!("entry {seq}: {why}")),
        })
    }
}

/// A question as the store takes it.
pub(crate) fn asked(query: &AuditQuery, now: Millis) -> Result<AuditFilter> {
    let at = |name, text: &Option<String>| {
        let parsed = text.as_deref().map(|text| time::parse(name, text, now));
        parsed.transpose()
    };
    let before = query.cursor.as_deref().map(|cursor| {
        let number = cursor.parse::<i64>().ok().filter(|n| *n > 0);
        number.ok_or_else(|| Error::invalid("cursor: expected the next_cursor of a page"))
    });
    // No row holds U+0000, and PostgreSQL does not even take it as a question.
    let text = |text: &Option<String>| text.clone().map(|text| text.replace('\0', "\u{fffd}"));
    Ok(AuditFilter {
        actor: text(&query.actor),
        action: text(&query.action),
        target: text(&query.target),
        since: at("since", &query.since)?,
        until: at("until", &query.until)?,
        before: before.transpose()?,
    })
}

pub(crate) fn view(row: AuditRow) -> AuditView {
    let value = |detail: Option<Detail>| serde_json::from_str(detail?.as_str()).ok();
    let act = row.act;
    AuditView {
        seq: row.seq,
        at: time::rfc3339(act.at),
        actor: act.actor,
        actor_id: act.actor_id,
        key: act.key,
        transport: act.transport,
        action: act.action,
        target: act.target,
        before: value(act.before),
        after: value(act.after),
        hash: hex(&row.hash),
    }
}
