//! Limits: how many calls a day a user may make or a tool may take, and how much of every limit is used up.

use crate::App;
use crate::audit::act;
use crate::decided::Known;
use crate::error::{Error, Result};
use crate::page::{self, Part};
use crate::time;
use catalog::caller::{Caller, Scope};
use catalog::catalogue::Entry;
use catalog::policy::Verdict;
use executor::{PaceUse, Quota, Target};
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;
use store::Write;
use store::feed::Subject;
use store::limits::LimitRow;
use utoipa::ToSchema;
use uuid::Uuid;

/// A daily quota as it is shown.
#[derive(Debug, Serialize, ToSchema)]
pub struct LimitView {
    /// USER or TOOL.
    pub target_type: &'static str,
    pub target_id: Uuid,
    /// Of a tool that is gone the name it had, for admins: the limit holds for whoever makes a tool of that name.
    pub target_name: Option<String>,
    /// Calls within a day, which begins at midnight UTC. 0 refuses every call.
    pub max_count: i64,
    pub updated_at: String,
}

/// How much of the limits of one user or tool is used up.
#[derive(Debug, Serialize, ToSchema)]
pub struct UsageView {
    /// USER or TOOL.
    pub target_type: &'static str,
    pub target_id: Uuid,
    pub target_name: String,
    /// Today in UTC.
    pub day: String,
    /// Calls of this day, where there is a daily quota.
    pub count: Option<u64>,
    pub max_count: Option<u64>,
    pub remaining: Option<u64>,
    /// The last 60 seconds of a tool whose calls in a span of time are limited.
    pub minute: Option<Used>,
    /// The last 3,600 seconds.
    pub hour: Option<Used>,
    /// Calls that run now, of a tool with a rate_limit.
    pub running: Option<Used>,
}

/// One count, and what it may come to.
#[derive(Debug, Serialize, ToSchema)]
pub struct Used {
    pub count: u64,
    /// None where nothing limits this count.
    pub max_count: Option<u64>,
    pub remaining: Option<u64>,
}

impl Used {
    fn new(count: u64, max_count: Option<u64>) -> Self {
        Used {
            count,
            max_count,
            remaining: max_count.map(|max| max.saturating_sub(count)),
        }
    }
}

/// What a limit can be for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TargetType {
    User,
    Tool,
}

impl TargetType {
    fn as_str(self) -> &'static str {
        match self {
            TargetType::User => "USER",
            TargetType::Tool => "TOOL",
        }
    }

    fn read(name: &str) -> Result<Self> {
        let known = [TargetType::User, TargetType::Tool];
        let found = known.into_iter().find(|kind| kind.as_str() == name);
        found.ok_or_else(|| {
            Error::invalid(format!("target_type: expected USER or TOOL, got '{name}'"))
        })
    }

    fn target(self, id: Uuid) -> Target {
        match self {
            TargetType::User => Target::User(id),
            TargetType::Tool => Target::Tool(id),
        }
    }
}

/// Where a limit stands among others: users first, then tools, by name.
fn place(target_type: &str, name: &str, id: Uuid) -> String {
    let rank = u8::from(target_type != TargetType::User.as_str());
    format!("{rank} {name} {id}")
}

impl App {
    /// Every daily quota; who may not set them sees their own.
    pub async fn list_limits(
        &self,
        caller: &Caller,
        part: &Part,
    ) -> Result<(Vec<LimitView>, Option<String>)> {
        let mut views = Vec::new();
        for row in self.store.limits().await? {
            let kind = TargetType::read(&row.target_type)?;
            if self.sees_limit(caller, kind, &row) {
                views.push(self.limit_view(caller, kind, &row));
            }
        }
        page::cut(views, part, |it| {
            let name = it.target_name.as_deref().unwrap_or_default();
            place(it.target_type, name, it.target_id)
        })
    }

    /// Sets the quota of a user or tool, named or by id. Also says whether it is a new one.
    pub async fn set_limit(
        &self,
        caller: &Caller,
        target_type: &str,
        target: &str,
        max_count: i64,
    ) -> Result<(LimitView, bool)> {
        let kind = TargetType::read(target_type)?;
        if max_count < 0 {
            return Err(Error::invalid(format!(
                "max_count: expected a whole number of calls a day, 0 or more, got {max_count}"
            )));
        }
        let (target_id, name) = self.limit_target(caller, kind, target).await?;
        let row = LimitRow {
            target_type: kind.as_str().to_owned(),
            target_id,
            target_name: Some(name),
            max_count,
            updated_at: self.clock.now(),
        };
        self.decided(&self.access_changes, Some(caller), |known| {
            self.put_limit(caller, kind, &row, known)
        })
        .await
    }

    async fn put_limit(
        &self,
        caller: &Caller,
        kind: TargetType,
        row: &LimitRow,
        known: Known,
    ) -> Result<(LimitView, bool)> {
        let rows = self.store.limits().await?;
        let (now, max_count) = (row.updated_at, row.max_count);
        let name = row.target_name.clone().unwrap_or_default();
        let before = limit_of(&rows, kind, row.target_id, &name);
        let was = before.map(|row| json!({"max_count": row.max_count}));
        let is = Some(json!({"max_count": max_count}));
        let done = act(now, caller, "limit.set", audit_target(kind, &name), was, is);
        let shown = self.limit_view(caller, kind, row);
        let mut writes = self.free_name(&rows, row);
        writes.extend([
            known.unless(Subject::Limits),
            Write::Limit(row.clone()),
            done,
        ]);
        self.store_access(&writes).await?;
        self.count_limits().await?;
        Ok((shown, before.is_none()))
    }

    /// A name belongs to one limit. That of a tool which is gone ends; that of one which is called otherwise by now
    /// goes on under its new name.
    fn free_name(&self, rows: &[LimitRow], taken_by: &LimitRow) -> Vec<Write> {
        let catalogue = self.executor.catalogue.load();
        let others = rows.iter().filter(|row| {
            row.target_type == taken_by.target_type
                && row.target_id != taken_by.target_id
                && row.target_name == taken_by.target_name
        });
        let freed = others.map(|row| match catalogue.by_id(row.target_id) {
            Some(entry) => Write::Limit(LimitRow {
                target_name: Some(entry.name.to_string()),
                ..row.clone()
            }),
            None => Write::NoLimit {
                target_type: row.target_type.clone(),
                target_id: row.target_id,
            },
        });
        freed.collect()
    }

    /// Lifts a quota; by id also where its user or tool is gone.
    pub async fn delete_limit(
        &self,
        caller: &Caller,
        target_type: &str,
        target: &str,
    ) -> Result<()> {
        let kind = TargetType::read(target_type)?;
        let not_found = || no_limit(kind, target);
        let named = self.limit_target(caller, kind, target).await.ok();
        let gone = || {
            // By a name that no tool has any more only for those who are told it.
            let name = caller.scopes.allow(Scope::Admin).then_some(target);
            let id = Uuid::parse_str(target).ok();
            (id.is_some() || name.is_some()).then(|| (id.unwrap_or_default(), target.to_owned()))
        };
        let meant = named.or_else(gone).ok_or_else(not_found)?;
        self.decided(&self.access_changes, Some(caller), |known| {
            self.remove_limit(caller, kind, &meant, known)
        })
        .await
        .map_err(|error| match error {
            Error::NotFound { .. } => not_found(),
            other => other,
        })
    }

    async fn remove_limit(
        &self,
        caller: &Caller,
        kind: TargetType,
        (target_id, name): &(Uuid, String),
        known: Known,
    ) -> Result<()> {
        let rows = self.store.limits().await?;
        let row = limit_of(&rows, kind, *target_id, name);
        let row = row.filter(|row| self.sees_limit(caller, kind, row));
        let row = row.ok_or_else(|| no_limit(kind, name))?;
        let was = Some(json!({"max_count": row.max_count}));
        let now = self.clock.now();
        let done = act(
            now,
            caller,
            "limit.remove",
            audit_target(kind, name),
            was,
            None,
        );
        let gone = Write::NoLimit {
            target_type: row.target_type.clone(),
            target_id: row.target_id,
        };
        let writes = [known.unless(Subject::Limits), gone, done];
        self.store_access(&writes).await?;
        self.count_limits().await
    }

    /// How much of each limit is used up; who may not set limits sees their own.
    pub async fn usage(
        &self,
        caller: &Caller,
        part: &Part,
    ) -> Result<(Vec<UsageView>, Option<String>)> {
        let access = self.access.load_full();
        let catalogue = self.executor.catalogue.load_full();
        let quotas = self.executor.quotas.load_full();
        let mut views = Vec::new();
        for row in self.store.limits().await? {
            let (kind, id) = (TargetType::read(&row.target_type)?, row.target_id);
            let user = access.user(id).filter(|_| kind == TargetType::User);
            let user = user.filter(|_| self.sees_limit(caller, kind, &row));
            if let (Some(user), Some(quota)) = (user, quotas.get(kind.target(id))) {
                let view = self.unused(kind, id, &user.name);
                views.push((view, Some(quota), None));
            }
        }
        let policy = self.executor.policy.load_full();
        let sees = |entry: &Entry| {
            caller.scopes.allow(Scope::Operate)
                && policy.verdict(caller, &entry.tool) != Verdict::Hidden
        };
        for entry in catalogue.after(None).filter(|entry| sees(entry)) {
            let quota = quotas.of_tool(entry.tool.id, &entry.name);
            if quota.is_none() && entry.pace.is_none() {
                continue;
            }
            let view = self.unused(TargetType::Tool, entry.tool.id, &entry.name);
            views.push((view, quota, Some(entry)));
        }
        let (views, next) = page::cut(views, part, |(it, ..)| {
            place(it.target_type, &it.target_name, it.target_id)
        })?;
        // Counting asks the database, so only what is shown is counted.
        let mut counted = Vec::with_capacity(views.len());
        for (mut view, quota, entry) in views {
            if let Some(quota) = quota {
                self.add_quota(&mut view, quota).await?;
            }
            if let Some(entry) = entry
                && let Some(pace) = self.executor.pace_use(entry).await?
            {
                add_pace(&mut view, entry, pace);
            }
            counted.push(view);
        }
        Ok((counted, next))
    }

    /// After a change: where it cannot be read back now, it is later.
    async fn count_limits(&self) -> Result<()> {
        let counted = self.load_limits().await;
        if counted.is_err() {
            self.store.doubt();
        }
        counted
    }

    /// At start and after every change: what is stored counts.
    pub(crate) async fn load_limits(&self) -> Result<()> {
        let mut limits = Vec::new();
        let catalogue = self.executor.catalogue.load_full();
        for row in self.store.limits().await? {
            let kind = TargetType::read(&row.target_type)?;
            let max_count = u64::try_from(row.max_count).unwrap_or_default();
            let id = row.target_id;
            let name = match (kind, row.target_name) {
                (TargetType::User, _) => self.user_name(id).into(),
                (TargetType::Tool, Some(name)) => name.into(),
                (TargetType::Tool, None) => match catalogue.by_id(id) {
                    Some(entry) => Arc::clone(&entry.name),
                    None => id.to_string().into(),
                },
            };
            limits.push((kind.target(id), name, max_count));
        }
        let next = self.executor.quotas.load().with(limits);
        self.executor.quotas.store(Arc::new(next));
        Ok(())
    }

    async fn add_quota(&self, view: &mut UsageView, quota: &Quota) -> Result<()> {
        let count = self.executor.day_use(quota.target).await?;
        let used = Used::new(count.unwrap_or_default(), Some(quota.max_count));
        view.count = Some(used.count);
        view.max_count = used.max_count;
        view.remaining = used.remaining;
        Ok(())
    }

    fn unused(&self, kind: TargetType, target_id: Uuid, name: &str) -> UsageView {
        let day = time::rfc3339(self.clock.now());
        UsageView {
            target_type: kind.as_str(),
            target_id,
            target_name: name.to_owned(),
            day: day.split('T').next().unwrap_or_default().to_owned(),
            count: None,
            max_count: None,
            remaining: None,
            minute: None,
            hour: None,
            running: None,
        }
    }

    /// What is hidden from somebody has no limit for them either.
    fn sees_limit(&self, caller: &Caller, kind: TargetType, row: &LimitRow) -> bool {
        if !caller.scopes.allow(Scope::Operate) {
            return kind == TargetType::User && row.target_id == caller.user;
        }
        if kind == TargetType::User {
            return true;
        }
        let catalogue = self.executor.catalogue.load();
        let policy = self.executor.policy.load();
        let named = row
            .target_name
            .as_ref()
            .and_then(|name| catalogue.get(name));
        let mut concerned = catalogue.by_id(row.target_id).into_iter().chain(named);
        concerned.all(|entry| policy.verdict(caller, &entry.tool) != Verdict::Hidden)
    }

    /// The id and the name of whoever is meant, and is there.
    async fn limit_target(
        &self,
        caller: &Caller,
        kind: TargetType,
        target: &str,
    ) -> Result<(Uuid, String)> {
        let what = kind.as_str().to_lowercase();
        let unknown = || Error::invalid(format!("target_id: there is no {what} '{target}'"));
        match kind {
            TargetType::User => {
                let id = Uuid::parse_str(target).ok();
                let access = self.access.load();
                let mut people = access.people().filter(|user| user.deleted_at.is_none());
                let user = people.find(|user| user.name == target || Some(user.id) == id);
                let user = user.ok_or_else(unknown)?;
                Ok((user.id, user.name.clone()))
            }
            TargetType::Tool => match self.visible_now(caller, target).await {
                Ok(entry) => Ok((entry.tool.id, entry.name.to_string())),
                Err(Error::NotFound { .. }) => Err(unknown()),
                Err(other) => Err(other),
            },
        }
    }

    fn limit_view(&self, caller: &Caller, kind: TargetType, row: &LimitRow) -> LimitView {
        let id = row.target_id;
        let target_name = match kind {
            TargetType::User => self.access.load().user(id).map(|user| user.name.clone()),
            TargetType::Tool => {
                let catalogue = self.executor.catalogue.load();
                let now = catalogue.by_id(id).map(|entry| entry.name.to_string());
                let taken = |name: &String| {
                    caller.scopes.allow(Scope::Admin) || catalogue.get(name).is_some()
                };
                now.or_else(|| row.target_name.clone().filter(taken))
            }
        };
        LimitView {
            target_type: kind.as_str(),
            target_id: id,
            target_name,
            max_count: row.max_count,
            updated_at: time::rfc3339(row.updated_at),
        }
    }
}

/// The limit of this id or, where it has none of its own, the one that was set for the name.
fn limit_of<'r>(
    rows: &'r [LimitRow],
    kind: TargetType,
    id: Uuid,
    name: &str,
) -> Option<&'r LimitRow> {
    let mut of_kind = rows.iter().filter(|row| row.target_type == kind.as_str());
    let named = |row: &&LimitRow| row.target_name.as_deref() == Some(name);
    let own = of_kind.clone().find(|row| row.target_id == id);
    own.or_else(|| of_kind.find(named))
}

fn add_pace(view: &mut UsageView, entry: &Entry, pace: PaceUse) {
    let Some(rate) = &entry.tool.definition.rate_limit else {
        return;
    };
    let (per_minute, per_hour) = (rate.requests_per_minute, rate.requests_per_hour);
    if per_minute.is_some() || per_hour.is_some() {
        view.minute = Some(Used::new(pace.minute, per_minute.map(u64::from)));
        view.hour = Some(Used::new(pace.hour, per_hour.map(u64::from)));
    }
    let at_once = rate.concurrent_requests.map(u64::from);
    view.running = Some(Used::new(u64::from(pace.running), at_once));
}

fn no_limit(kind: TargetType, target: &str) -> Error {
    Error::NotFound {
        what: "Limit",
        name: format!("{} {target}", kind.as_str()),
    }
}

fn audit_target(kind: TargetType, name: &str) -> String {
    format!("{}:{name}", kind.as_str().to_lowercase())
}
