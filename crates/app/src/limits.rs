//! Limits: how many calls a day a user may make or a tool may take, and how much of every limit is used up.

use crate::App;
use crate::audit::act;
use crate::error::{Error, Result};
use crate::time;
use catalog::caller::{Caller, Scope};
use catalog::catalogue::Entry;
use catalog::policy::Verdict;
use executor::{PaceUse, Target};
use serde::Serialize;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;
use store::Write;
use store::limits::LimitRow;
use utoipa::ToSchema;
use uuid::Uuid;

/// A daily quota as it is shown.
#[derive(Debug, Serialize, ToSchema)]
pub struct LimitView {
    /// USER or TOOL.
    pub target_type: &'static str,
    pub target_id: Uuid,
    /// None where the tool is gone; then the limit does nothing.
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

impl App {
    /// Every daily quota; who may not set them sees their own.
    pub async fn list_limits(&self, caller: &Caller) -> Result<Vec<LimitView>> {
        let mut views = Vec::new();
        for row in self.store.limits().await? {
            let kind = TargetType::read(&row.target_type)?;
            if self.sees_limit(caller, kind, row.target_id) {
                views.push(self.limit_view(kind, &row));
            }
        }
        views.sort_by(|a, b| (b.target_type, &a.target_name).cmp(&(a.target_type, &b.target_name)));
        Ok(views)
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
        let _one_at_a_time = self.access_changes.lock().await;
        let before = self.limit_row(kind, target_id).await?;
        let now = self.clock.now();
        let row = LimitRow {
            target_type: kind.as_str().to_owned(),
            target_id,
            max_count,
            updated_at: now,
        };
        let was = before
            .as_ref()
            .map(|row| json!({"max_count": row.max_count}));
        let is = Some(json!({"max_count": max_count}));
        let done = act(now, caller, "limit.set", audit_target(kind, &name), was, is);
        let shown = self.limit_view(kind, &row);
        self.store.write(&[Write::Limit(row), done]).await?;
        self.load_limits().await?;
        Ok((shown, before.is_none()))
    }

    /// Lifts a quota; by id also where its user or tool is gone.
    pub async fn delete_limit(
        &self,
        caller: &Caller,
        target_type: &str,
        target: &str,
    ) -> Result<()> {
        let kind = TargetType::read(target_type)?;
        let not_found = || Error::NotFound {
            what: "Limit",
            name: format!("{target_type} {target}"),
        };
        let named = self.limit_target(caller, kind, target).await.ok();
        let by_id = || Some((Uuid::parse_str(target).ok()?, target.to_owned()));
        let (target_id, name) = named.or_else(by_id).ok_or_else(not_found)?;
        let _one_at_a_time = self.access_changes.lock().await;
        let row = self.limit_row(kind, target_id).await?;
        let row = row.filter(|_| self.sees_limit(caller, kind, target_id));
        let row = row.ok_or_else(not_found)?;
        let was = Some(json!({"max_count": row.max_count}));
        let now = self.clock.now();
        let done = act(
            now,
            caller,
            "limit.remove",
            audit_target(kind, &name),
            was,
            None,
        );
        let gone = Write::NoLimit {
            target_type: row.target_type,
            target_id,
        };
        self.store.write(&[gone, done]).await?;
        self.load_limits().await
    }

    /// How much of each limit is used up; who may not set limits sees their own.
    pub async fn usage(&self, caller: &Caller) -> Result<Vec<UsageView>> {
        let access = self.access.load_full();
        let catalogue = self.executor.catalogue.load_full();
        let mut views = Vec::new();
        let mut tool_quotas = HashMap::new();
        for row in self.store.limits().await? {
            let (kind, id) = (TargetType::read(&row.target_type)?, row.target_id);
            if kind == TargetType::Tool {
                tool_quotas.insert(id, row.max_count);
                continue;
            }
            let user = access.user(id);
            let user = user.filter(|_| self.sees_limit(caller, kind, id));
            if let Some(user) = user {
                let mut view = self.unused(kind, id, &user.name);
                self.add_quota(&mut view, kind.target(id), row.max_count)
                    .await?;
                views.push(view);
            }
        }
        views.sort_by(|a, b| a.target_name.cmp(&b.target_name));
        for entry in catalogue.after(None) {
            let (kind, id) = (TargetType::Tool, entry.tool.id);
            let quota = tool_quotas.get(&id);
            let is_limited = quota.is_some() || entry.pace.is_some();
            if !is_limited || !self.sees_limit(caller, kind, id) {
                continue;
            }
            let mut view = self.unused(kind, id, &entry.name);
            if let Some(max_count) = quota {
                self.add_quota(&mut view, kind.target(id), *max_count)
                    .await?;
            }
            if let Some(pace) = self.executor.pace_use(entry).await? {
                add_pace(&mut view, entry, pace);
            }
            views.push(view);
        }
        Ok(views)
    }

    /// At start and after every change: what is stored counts.
    pub(crate) async fn load_limits(&self) -> Result<()> {
        let mut limits = Vec::new();
        for row in self.store.limits().await? {
            let kind = TargetType::read(&row.target_type)?;
            let max_count = u64::try_from(row.max_count).unwrap_or_default();
            limits.push((kind.target(row.target_id), max_count));
        }
        let next = self.executor.quotas.load().with(limits);
        self.executor.quotas.store(Arc::new(next));
        Ok(())
    }

    async fn add_quota(&self, view: &mut UsageView, target: Target, max_count: i64) -> Result<()> {
        let count = self.executor.day_use(target, &view.target_name).await?;
        let max_count = u64::try_from(max_count).unwrap_or_default();
        let used = Used::new(count.unwrap_or_default(), Some(max_count));
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
    fn sees_limit(&self, caller: &Caller, kind: TargetType, id: Uuid) -> bool {
        if !caller.scopes.allow(Scope::Operate) {
            return kind == TargetType::User && id == caller.user;
        }
        let catalogue = self.executor.catalogue.load();
        let entry = catalogue.by_id(id).filter(|_| kind == TargetType::Tool);
        let policy = self.executor.policy.load();
        entry.is_none_or(|entry| policy.verdict(caller, &entry.tool) != Verdict::Hidden)
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

    async fn limit_row(&self, kind: TargetType, target_id: Uuid) -> Result<Option<LimitRow>> {
        let rows = self.store.limits().await?;
        let same = |row: &LimitRow| row.target_type == kind.as_str() && row.target_id == target_id;
        Ok(rows.into_iter().find(same))
    }

    fn limit_view(&self, kind: TargetType, row: &LimitRow) -> LimitView {
        let id = row.target_id;
        let target_name = match kind {
            TargetType::User => self.access.load().user(id).map(|user| user.name.clone()),
            TargetType::Tool => {
                let catalogue = self.executor.catalogue.load();
                catalogue.by_id(id).map(|entry| entry.name.to_string())
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

fn audit_target(kind: TargetType, name: &str) -> String {
    format!("{}:{name}", kind.as_str().to_lowercase())
}
