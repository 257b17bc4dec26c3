//! Requests of which somebody confirmed that a certain tool was right: they count like example prompts of that tool, where
//! `selection.confirmed` is on.

use crate::App;
use crate::audit::act;
use crate::error::{Error, Result};
use crate::time;
use crate::tools::is_mine;
use arc_swap::ArcSwap;
use catalog::caller::{Caller, Scope};
use catalog::catalogue::Entry;
use catalog::tool::Shelf;
use serde::Serialize;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use store::confirmed::{ConfirmedRow, ConfirmedWrite};
use store::{Db, Write};
use utoipa::ToSchema;
use uuid::Uuid;

/// In characters.
pub const CONFIRMED_CHARS_MAX: usize = 1_000;

/// What is confirmed of each tool, the newest first. Tools that were removed are in it, too.
pub(crate) type Requests = HashMap<Uuid, Vec<ConfirmedRow>>;

/// What is confirmed right now. Each change makes another one: who has worked something out from it sees that it is old.
pub(crate) struct Confirmed {
    is_on: bool,
    known: ArcSwap<Requests>,
    /// What counts while it is off.
    none: Arc<Requests>,
    /// One change after the other: a slow reading of the rows must not undo a later one.
    changes: tokio::sync::Mutex<()>,
}

/// A request of which somebody confirmed that the tool was right.
#[derive(Debug, Serialize, ToSchema)]
pub struct ConfirmedView {
    pub query: String,
    /// Who confirmed it last.
    pub user: String,
    pub at: String,
}

/// What is confirmed of one tool.
#[derive(Debug, Serialize, ToSchema)]
pub struct ConfirmedPage {
    /// The newest first, at most 20.
    pub items: Vec<ConfirmedView>,
    pub next_cursor: Option<String>,
    /// Whether they count when tools are chosen (`selection.confirmed`).
    pub counts: bool,
}

impl Confirmed {
    pub(crate) async fn load(store: &Db, is_on: bool) -> Result<Self, store::Error> {
        Ok(Confirmed {
            is_on,
            known: ArcSwap::from_pointee(read(store).await?),
            none: Arc::default(),
            changes: tokio::sync::Mutex::default(),
        })
    }

    /// Another server has changed some of it.
    pub(crate) async fn read_again(&self, store: &Db) -> Result<(), store::Error> {
        let _one_at_a_time = self.changes.lock().await;
        self.known.store(Arc::new(read(store).await?));
        Ok(())
    }

    /// Those that count.
    pub(super) fn counted(&self) -> Arc<Requests> {
        match self.is_on {
            true => self.known.load_full(),
            false => Arc::clone(&self.none),
        }
    }
}

async fn read(store: &Db) -> Result<Requests, store::Error> {
    let mut known = Requests::new();
    for row in store.confirmed_requests().await? {
        known.entry(row.tool_id).or_default().push(row);
    }
    Ok(known)
}

impl App {
    /// The requests that are confirmed of a tool which the caller may see.
    pub async fn confirmed(&self, caller: &Caller, target: &str) -> Result<ConfirmedPage> {
        let entry = self.visible_now(caller, target).await?;
        let known = self.chooser.confirmed.known.load();
        let own = known.get(&entry.tool.id).into_iter().flatten();
        Ok(ConfirmedPage {
            items: own.map(|row| self.confirmed_view(row)).collect(),
            next_cursor: None,
            counts: self.chooser.confirmed.is_on,
        })
    }

    /// From now on the tool is right for this request. Also says whether that is new.
    pub async fn confirm(
        &self,
        caller: &Caller,
        target: &str,
        query: &str,
    ) -> Result<(ConfirmedView, bool)> {
        let entry = self.visible_now(caller, target).await?;
        only_who_may(caller, &entry)?;
        if !self.chooser.confirmed.is_on {
            return Err(Error::conflict(
                "Confirmed requests are switched off on this server. To let them count, set confirmed = true under [selection] in toolcrib.toml (selection.confirmed, or TOOLCRIB_SELECTION_CONFIRMED) and start it again",
            ));
        }
        let query = checked(query)?;
        let _one_at_a_time = self.chooser.confirmed.changes.lock().await;
        let known = self.chooser.confirmed.known.load_full();
        let own = known.get(&entry.tool.id).map_or(&[][..], Vec::as_slice);
        let is_new = !own.iter().any(|it| it.request == query);
        let now = self.clock.now();
        let row = ConfirmedRow {
            tool_id: entry.tool.id,
            request: query.to_owned(),
            user_id: caller.user,
            // Behind all others even within one millisecond, or where the clock was set back.
            at: own.first().map_or(now, |newest| now.max(newest.at + 1)),
        };
        let shown = self.confirmed_view(&row);
        let told = Some(json!({"query": query}));
        let done = act(now, caller, "tool.confirm", target_of(&entry), None, told);
        self.change_confirmed(ConfirmedWrite::Put(row), done)
            .await?;
        Ok((shown, is_new))
    }

    /// Takes back that the tool is right for this request or, without one, for any of them. Also where they do not count:
    /// what is kept can always be removed.
    pub async fn unconfirm(
        &self,
        caller: &Caller,
        target: &str,
        query: Option<&str>,
    ) -> Result<()> {
        let entry = self.visible_now(caller, target).await?;
        only_who_may(caller, &entry)?;
        let query = query.map(checked).transpose()?;
        let _one_at_a_time = self.chooser.confirmed.changes.lock().await;
        let known = self.chooser.confirmed.known.load_full();
        let own = known.get(&entry.tool.id).map_or(&[][..], Vec::as_slice);
        let is_meant = |row: &&ConfirmedRow| query.is_none_or(|query| row.request == query);
        let gone: Vec<&str> = own.iter().filter(is_meant).map(|it| &*it.request).collect();
        let tool_id = entry.tool.id;
        let write = match query {
            None if gone.is_empty() => return Ok(()),
            None => ConfirmedWrite::RemoveAll(tool_id),
            Some(query) if gone.is_empty() => {
                return Err(Error::NotFound {
                    what: "Confirmed request",
                    name: query.to_owned(),
                });
            }
            Some(query) => ConfirmedWrite::Remove {
                tool_id,
                request: query.to_owned(),
            },
        };
        let told = Some(json!({"queries": gone}));
        let now = self.clock.now();
        let done = act(now, caller, "tool.unconfirm", target_of(&entry), told, None);
        self.change_confirmed(write, done).await
    }

    /// Stores a change and lets it count. Whoever calls holds `changes`.
    async fn change_confirmed(&self, write: ConfirmedWrite, done: Write) -> Result<()> {
        let stored = self.store.write(&[Write::Confirmed(write), done]).await;
        // Also after a failure: a connection that was lost while it committed does not tell whether it did.
        match read(&self.store).await {
            Ok(known) => self.chooser.confirmed.known.store(Arc::new(known)),
            Err(error) => {
                tracing::error!(%error, "confirmed requests count as they were until the next change or start");
            }
        }
        Ok(stored?)
    }

    fn confirmed_view(&self, row: &ConfirmedRow) -> ConfirmedView {
        ConfirmedView {
            query: row.request.clone(),
            user: self.user_name(row.user_id),
            at: time::rfc3339(row.at),
        }
    }
}

/// It changes which tool others are given, so it is for those who may change the tool itself. What is built in, stands in
/// the workspace's file or comes from a server has no owner among the users.
fn only_who_may(caller: &Caller, entry: &Entry) -> Result<()> {
    let (tool, name) = (&entry.tool, &entry.name);
    if caller.scopes.allow(Scope::Admin) {
        return Ok(());
    }
    match tool.shelf {
        Shelf::Database if is_mine(caller, tool) => Ok(()),
        Shelf::Database => Err(Error::Forbidden(format!(
            "Only its owner or an admin may say which requests '{name}' is right for"
        ))),
        Shelf::Builtin | Shelf::File | Shelf::Server => Err(Error::Forbidden(format!(
            "Only an admin may say which requests '{name}' is right for: it is not a tool of the database shelf"
        ))),
    }
}

fn checked(query: &str) -> Result<&str> {
    let query = query.trim();
    let length = query.chars().take(CONFIRMED_CHARS_MAX + 1).count();
    // PostgreSQL's text cannot hold U+0000, so neither engine takes it.
    if length == 0 || length > CONFIRMED_CHARS_MAX || query.contains('\0') {
        let why = format!(
            "query: expected a text of 1 to {CONFIRMED_CHARS_MAX} characters without U+0000"
        );
        return Err(Error::invalid(why));
    }
    Ok(query)
}

fn target_of(entry: &Entry) -> String {
    format!("tool:{}", entry.name)
}
