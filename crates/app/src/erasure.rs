//! Somebody's data is erased (ADR 27): first what the database keeps, in one commit that the other servers follow; then, on every
//! server, the audit log and the execution log. What was cut off is gone on with at the next start.

use crate::App;
use crate::audit::act;
use crate::error::{Error, Result};
use crate::reassign::recipient;
use crate::users::not_found;
use catalog::caller::Caller;
use executions::Erased;
use serde::Serialize;
use serde_json::json;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use store::erasure::{ErasureRow, Fate, TABLES};
use store::feed::{Subject, Which};
use store::replicas::GONE_AFTER_MS;
use store::users::{ADMIN_USER, UserRow};
use utoipa::ToSchema;
use uuid::Uuid;

/// What pseudonyms begin with; no name that somebody chooses does.
pub(crate) const PREFIX: &str = "erased-";

/// What an erasure did, or would do.
#[derive(Debug, Serialize, ToSchema)]
pub struct ErasureView {
    /// What they are called from now on, wherever something of them stays.
    pub pseudonym: String,
    /// Nothing was changed: this is what would be.
    pub dry_run: bool,
    /// Rows of the registry that are removed or changed, by table.
    pub rows: BTreeMap<&'static str, i64>,
    /// Entries of the execution log that are anybody's from now on.
    pub executions: u64,
    /// Other servers on the same PostgreSQL that still have to erase what they keep; they do it when they hear of it, within
    /// seconds. Until then the name stands in the database.
    pub servers_left: usize,
}

impl App {
    /// Erases somebody. What they own goes to `to` before; without it they may own nothing. Asked again it goes on where it was
    /// cut off.
    pub async fn erase_user(
        &self,
        caller: Arc<Caller>,
        name: &str,
        to: Option<&str>,
        dry_run: bool,
    ) -> Result<ErasureView> {
        let found = self.access.load().user_named(name).cloned();
        if let Some(to) = to {
            recipient(&self.access.load(), to)?;
        }
        let begun = self.store.erasures().await?;
        let is_meant =
            |row: &&ErasureRow| row.name.as_deref() == Some(name) || row.pseudonym == name;
        let Some(user) = found.filter(|user| !user.name.starts_with(PREFIX)) else {
            let row = begun.iter().find(is_meant).ok_or_else(|| not_found(name))?;
            return self.erased_before(row, dry_run).await;
        };
        self.may_be_erased(&caller, &user)?;
        let now = self.clock.now();
        let rows = self.store.rows_about(user.id, name).await?;
        let view = ErasureView {
            pseudonym: pseudonym(user.id),
            dry_run,
            rows: rows.into_iter().collect(),
            executions: self.executor.log.calls_of(name, now).await?,
            servers_left: self.servers_left(user.id).await?,
        };
        if to.is_none() {
            owns_nothing(name, &view.rows)?;
        }
        if dry_run {
            return Ok(view);
        }
        if let Some(to) = to {
            let given = self.reassign(Arc::clone(&caller), name, to, None);
            given.await?;
        }
        if user.deleted_at.is_none() {
            self.delete_user(&caller, name).await?;
        }
        let row = self.erase_rows(&caller, &user, &view).await?;
        self.finish_erasure(&row).await?;
        let servers_left = self.servers_left(user.id).await?;
        Ok(ErasureView {
            servers_left,
            ..view
        })
    }

    fn may_be_erased(&self, caller: &Caller, user: &UserRow) -> Result<()> {
        if user.id == ADMIN_USER {
            return Err(Error::conflict(
                "The first admin stands for whoever runs the server and cannot be erased",
            ));
        }
        if user.id == caller.user {
            return Err(Error::conflict(
                "Nobody erases themselves: another admin has to stand for it",
            ));
        }
        self.keep_an_admin(user)
    }

    async fn erased_before(&self, row: &ErasureRow, dry_run: bool) -> Result<ErasureView> {
        let executions = match &row.name {
            Some(name) => self.executor.log.calls_of(name, row.at).await?,
            None => 0,
        };
        if !dry_run {
            self.finish_erasure(row).await?;
        }
        Ok(ErasureView {
            pseudonym: row.pseudonym.clone(),
            dry_run,
            rows: BTreeMap::new(),
            executions,
            servers_left: match row.name {
                Some(_) => self.servers_left(row.user_id).await?,
                None => 0,
            },
        })
    }

    /// Everything but the two logs, in one commit.
    async fn erase_rows(
        &self,
        caller: &Caller,
        user: &UserRow,
        view: &ErasureView,
    ) -> Result<ErasureRow> {
        let row = ErasureRow {
            user_id: user.id,
            name: Some(user.name.clone()),
            pseudonym: view.pseudonym.clone(),
            at: self.clock.now(),
        };
        let after = json!({"rows": view.rows, "executions": view.executions});
        let target = format!("user:{}", row.pseudonym);
        let done = act(row.at, caller, "user.erase", target, None, Some(after));
        let writes = [store::Write::Erase(row.clone()), done];
        self.decided(&self.access_changes, Some(caller), |known| {
            self.commit_access(known, writes.to_vec())
        })
        .await?;
        for subject in Subject::OF_PEOPLE {
            if subject != Subject::Erasures {
                self.take_change(subject, Which::All).await?;
            }
        }
        self.forget_sign_ins(user.id);
        Ok(row)
    }

    /// What this server keeps of them beside the database, and the audit log, which another server may have written to
    /// meanwhile. Whoever is the last to be done ends it.
    async fn finish_erasure(&self, row: &ErasureRow) -> Result<()> {
        let Some(name) = &row.name else {
            return Ok(());
        };
        let _one_at_a_time = self.erasing.lock().await;
        self.store.erase_in_audit(row, self.clock.now()).await?;
        let who = Erased {
            name: name.as_str().into(),
            pseudonym: row.pseudonym.as_str().into(),
            until: row.at,
        };
        self.executor.log.erase(&who).await?;
        self.store.erasure_done(row.user_id, &self.node).await?;
        if self.servers_left(row.user_id).await? == 0 {
            self.store.erasure_ended(row.user_id).await?;
            self.store.erasure_vacuum().await?;
        }
        Ok(())
    }

    /// Goes on with what was cut off, here or where it was asked for.
    pub(crate) async fn finish_erasures(&self) -> Result<()> {
        let mut done = Ok(());
        for row in self.store.erasures().await? {
            if let Err(error) = self.finish_erasure(&row).await {
                tracing::warn!(
                    user = row.pseudonym,
                    ?error,
                    "somebody's data is not erased to the end yet; it is tried again"
                );
                done = Err(error);
            }
        }
        done
    }

    /// The same beside whatever else there is to do: a long log takes its time.
    pub(crate) fn finish_erasures_aside(&self) {
        let me = self.me.clone();
        tokio::spawn(async move {
            if let Some(app) = me.upgrade()
                && let Err(error) = app.finish_erasures().await
            {
                tracing::warn!(?error, "what is to be erased could not be looked for");
            }
        });
    }

    /// Of the other servers that live, those that are not done.
    async fn servers_left(&self, user: Uuid) -> Result<usize> {
        let done: HashSet<String> = self
            .store
            .erasure_servers(user)
            .await?
            .into_iter()
            .collect();
        let all = self.store.replicas().await?;
        let live = all.iter().filter(|it| it.seen_ms_ago < GONE_AFTER_MS);
        let nodes: HashSet<&String> = live.map(|it| &it.node).collect();
        let is_left = |node: &&&String| **node != &self.node && !done.contains(**node);
        Ok(nodes.iter().filter(is_left).count())
    }
}

/// The same each time: of an id the end is random.
fn pseudonym(user: Uuid) -> String {
    let text = user.simple().to_string();
    format!("{PREFIX}{}", &text[text.len() - 12..])
}

fn owns_nothing(name: &str, rows: &BTreeMap<&'static str, i64>) -> Result<()> {
    let is_owned = |table: &str| {
        let fate = TABLES.iter().find(|(it, _)| *it == table);
        fate.is_some_and(|(_, fate)| matches!(fate, Fate::HandedOver(_)))
    };
    let owned = rows.iter().filter(|(table, _)| is_owned(table));
    let owned: Vec<String> = owned
        .map(|(table, count)| format!("{count} {table}"))
        .collect();
    if owned.is_empty() {
        return Ok(());
    }
    Err(Error::conflict(format!(
        "'{name}' owns {} (removed ones among them); say who gets them with `to` (--to NAME), or reassign them before",
        owned.join(", ")
    )))
}
