//! Tools: list, read, create, change, remove.

mod listing;
mod patched;
mod used_by;

pub use crate::dry_run::{EffectAsked, Terms};
pub use listing::{ToolCounts, ToolFilter, ToolPage};
pub use used_by::UsedBy;

use crate::App;
use crate::auth::AuthChange;
use crate::error::{Error, Result};
use crate::shelf::faults;
use crate::time;
use crate::tool_tests::Tested;
use crate::writer::{Job, Write};
use catalog::auth::mask_all;
use catalog::caller::{Caller, Scope};
use catalog::catalogue::Entry;
use catalog::definition::{Origin, checked_definition_from_text};
use catalog::policy::{Policy, Verdict};
use catalog::tool::{Definition, KindName, Millis, Shelf, Tool};
use executor::denial::not_found;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::{Arc, PoisonError};
use tokio::sync::oneshot;
use utoipa::ToSchema;
use uuid::Uuid;

/// A tool as it is shown: every field, defaults filled in.
#[derive(Debug, Serialize, ToSchema)]
pub struct ToolView {
    pub id: Uuid,
    pub name: String,
    pub description: String,
    pub description_user: Option<String>,
    #[schema(value_type = String, example = "builtin")]
    pub kind: KindName,
    #[schema(value_type = Object)]
    pub config: Map<String, Value>,
    #[schema(value_type = Object)]
    pub input_schema: Value,
    #[schema(value_type = Option<Object>)]
    pub output_schema: Option<Value>,
    #[schema(value_type = String, example = "json")]
    pub output_format: catalog::tool::OutputFormat,
    #[schema(value_type = Object)]
    pub annotations: catalog::tool::Annotations,
    #[schema(value_type = Option<Object>)]
    pub auth_config: Option<Value>,
    #[schema(value_type = Option<Object>)]
    pub rate_limit: Option<catalog::tool::RateLimit>,
    pub timeout_seconds: Option<f64>,
    pub parallel_capable: bool,
    pub is_active: bool,
    pub is_public: bool,
    pub examples: Vec<String>,
    #[schema(value_type = Vec<Object>)]
    pub tests: Vec<catalog::test_case::TestCase>,
    /// How they ended when they were last run.
    pub tested: Option<Tested>,
    /// What would keep it from working right now, such as a script that is not there. Told to who may change the tool,
    /// in answer to a change and in a list with `check=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// What its description was understood to say about when to take it. Told to who may change the tool, of one tool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// Who names it. Told to who may change the tool, of one tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_by: Option<UsedBy>,
    /// Of a tool of an MCP server: that its definition is another than before, or that letters hide in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// In answer to a change with `effect=true`: what it does to the requests of the gold set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<crate::select::Effect>,
    #[schema(value_type = Option<Object>)]
    pub approval: Option<Value>,
    pub owner: String,
    #[schema(value_type = String, example = "file")]
    pub shelf: Shelf,
    pub version: i64,
    pub hash: String,
    pub created_at: String,
    pub updated_at: String,
}

/// What is known of a tool that was somewhere else before; for admins to say.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Before {
    /// The owner's name.
    pub owner: Option<String>,
    pub created_at: Option<String>,
}

impl App {
    pub fn get_tool(&self, caller: &Caller, name_or_id: &str) -> Result<ToolView> {
        Ok(self.view_with_rules(&*self.visible(caller, name_or_id)?, caller))
    }

    fn view_with_rules(&self, entry: &Entry, caller: &Caller) -> ToolView {
        let view = self.view(entry, caller);
        match is_mine(caller, &entry.tool) {
            true => ToolView {
                rules: self.rules_said(entry, caller),
                used_by: Some(self.used_by(caller, &entry.tool)),
                ..view
            },
            false => view,
        }
    }

    /// Whether a tool exists for a caller.
    pub fn may_know(&self, caller: &Caller, entry: &Entry) -> bool {
        let policy = self.executor.policy.load();
        policy.verdict(caller, &entry.tool) != Verdict::Hidden
    }

    /// The entry a caller may see; a hidden one does not exist.
    pub(crate) fn visible(&self, caller: &Caller, name_or_id: &str) -> Result<Arc<Entry>> {
        let catalogue = self.executor.catalogue.load();
        let entry = catalogue.find(name_or_id);
        let policy = self.executor.policy.load();
        entry
            .filter(|entry| policy.verdict(caller, &entry.tool) != Verdict::Hidden)
            .cloned()
            .ok_or_else(|| {
                let (message, candidates) = not_found(&catalogue, &policy, caller, name_or_id);
                match candidates.is_empty() {
                    true => Error::tool_not_found(name_or_id),
                    false => Error::Ambiguous {
                        message,
                        candidates,
                    },
                }
            })
    }

    /// The entry as `visible` finds it, but a name that nobody knows may just have been written into the file.
    pub(crate) async fn visible_now(&self, caller: &Caller, target: &str) -> Result<Arc<Entry>> {
        // Also where it is only hidden: else an answer's time would tell the one from the other.
        if self.visible(caller, target).is_err() {
            self.reload().await?;
            self.may_have_missed().await;
        }
        self.visible(caller, target)
    }

    pub async fn create_tool(
        &self,
        caller: Arc<Caller>,
        body: &str,
        before: &Before,
        terms: Terms,
    ) -> Result<ToolView> {
        let shelf = asked_shelf(body)?;
        let (owner, created_at) = self.taken_over(&caller, shelf, before)?;
        let definition = read_body(body, shelf)?;
        self.check_references(&caller, shelf, owner, &definition)?;
        self.check_runs(&caller, shelf, owner, &definition).await?;
        let write = Write::Create {
            shelf,
            definition,
            owner,
            created_at,
        };
        self.done(caller, write, terms).await
    }

    /// Whose a new tool is, and since when it is there if not since now.
    fn taken_over(
        &self,
        caller: &Caller,
        shelf: Shelf,
        before: &Before,
    ) -> Result<(Uuid, Option<Millis>)> {
        if *before == Before::default() {
            return Ok((caller.user, None));
        }
        if !caller.scopes.allow(Scope::Admin) {
            let why = "Only an admin may say whose a new tool is and when it was made";
            return Err(Error::Forbidden(why.to_owned()));
        }
        if shelf != Shelf::Database {
            let why = "owner, created_at: only tools of the database shelf have them";
            return Err(Error::invalid(why));
        }
        let owner = match &before.owner {
            None => caller.user,
            Some(name) => self.owner_named(name)?,
        };
        let now = self.clock.now();
        let time = |text: &String| time::parse("created_at", text, now);
        let created_at = before.created_at.as_ref().map(time).transpose()?;
        Ok((owner, created_at.map(|at| at.min(now))))
    }

    /// Replaces a tool by the definition in `body`; `auth_config` only where the body says something about it.
    pub async fn update_tool(
        &self,
        caller: Arc<Caller>,
        target: &str,
        body: &str,
        terms: Terms,
    ) -> Result<ToolView> {
        let current = self.visible_now(&caller, target).await?;
        no_servers(&current.tool)?;
        only_owner(&caller, &current.tool)?;
        let definition = read_body(body, current.tool.shelf)?;
        let auth = asked_auth(body);
        let changed = (definition, auth);
        self.change(caller, &current.tool, changed, terms, "update")
            .await
    }

    pub(crate) async fn change(
        &self,
        caller: Arc<Caller>,
        current: &Tool,
        (mut definition, auth): (Definition, AuthChange),
        terms: Terms,
        action: &'static str,
    ) -> Result<ToolView> {
        if auth == AuthChange::Keep {
            definition.auth_config = None;
        }
        self.check_references(&caller, current.shelf, current.owner, &definition)?;
        self.check_runs(&caller, current.shelf, current.owner, &definition)
            .await?;
        let write = Write::Update {
            id: current.id,
            definition,
            auth,
            expected_version: terms.expected_version,
            action,
        };
        let (asker, expected) = (Arc::clone(&caller), terms.expected_version);
        let done = self.done(caller, write, terms).await;
        self.with_changes(&asker, current.id, expected, done).await
    }

    pub async fn delete_tool(
        &self,
        caller: Arc<Caller>,
        target: &str,
        expected_version: Option<i64>,
    ) -> Result<()> {
        let id = self.visible_now(&caller, target).await?.tool.id;
        let write = Write::Delete {
            id,
            expected_version,
        };
        let done = self.write(Arc::clone(&caller), write).await;
        let done = self.with_changes(&caller, id, expected_version, done);
        done.await.map(|_| ())
    }

    /// Puts a change into the queue and waits until it is stored and in force.
    pub(crate) async fn write(
        &self,
        caller: Arc<Caller>,
        write: Write,
    ) -> Result<Option<Arc<Entry>>> {
        self.queue(caller, write, false).await
    }

    pub(crate) async fn queue(
        &self,
        caller: Arc<Caller>,
        write: Write,
        dry_run: bool,
    ) -> Result<Option<Arc<Entry>>> {
        let jobs = {
            let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
            writer.as_ref().map(|writer| writer.jobs.clone())
        };
        let stopping = || Error::Unavailable("The server is stopping".to_owned());
        let jobs = jobs.ok_or_else(stopping)?;
        let (reply, answer) = oneshot::channel();
        jobs.send(Job {
            write,
            dry_run,
            caller,
            reply,
        })
        .await
        .map_err(|_| stopping())?;
        answer
            .await
            .map_err(|_| Error::Internal("the catalogue writer broke down".to_owned()))?
    }

    /// Looks at the files on disk now.
    pub async fn reload(&self) -> Result<()> {
        self.write(crate::watcher::file_caller(), Write::Reload)
            .await
            .map(|_| ())
    }

    pub(crate) fn written(&self, entry: Option<Arc<Entry>>, caller: &Caller) -> Result<ToolView> {
        let entry = entry
            .ok_or_else(|| Error::conflict("The tool was removed again right after the change"))?;
        Ok(self.view_with_rules(&entry, caller))
    }

    /// The same of a tool that was found right before it was stored, with what would keep it from working.
    pub(crate) fn checked(&self, entry: Option<Arc<Entry>>, caller: &Caller) -> Result<ToolView> {
        let trouble = entry
            .as_ref()
            .and_then(|it| self.missing_of(caller, &it.tool));
        let view = self.written(entry, caller)?;
        Ok(ToolView { trouble, ..view })
    }

    pub(crate) fn view(&self, entry: &Entry, caller: &Caller) -> ToolView {
        let tool = &entry.tool;
        let mut definition = tool.definition.clone();
        let mine = is_mine(caller, tool);
        if let Some(auth) = &mut definition.auth_config {
            mask_all(auth, &|id| self.vault.last4(id));
        }
        ToolView {
            id: tool.id,
            annotations: definition.hints(),
            parallel_capable: definition.runs_in_parallel(),
            name: definition.name,
            description: definition.description,
            description_user: definition.description_user,
            kind: definition.kind,
            config: definition.config,
            input_schema: definition.input_schema,
            output_schema: definition.output_schema,
            output_format: definition.output_format,
            auth_config: definition.auth_config.filter(|_| mine),
            rate_limit: definition.rate_limit,
            timeout_seconds: definition.timeout_seconds,
            is_active: is_in_use(entry, &self.executor.policy.load()),
            is_public: definition.is_public,
            examples: definition.examples,
            tests: definition.tests,
            tested: self.tested(entry),
            trouble: None,
            rules: Vec::new(),
            used_by: None,
            effect: None,
            flags: self.flags_of(tool),
            approval: definition.approval,
            owner: self.user_name(tool.owner),
            shelf: tool.shelf,
            version: tool.version,
            hash: entry.hash.to_string(),
            created_at: time::rfc3339(tool.created_at),
            updated_at: time::rfc3339(tool.updated_at),
        }
    }
}

/// Before a body is looked at: what is wrong with it may tell of what only its owner sees.
pub(crate) fn only_owner(caller: &Caller, tool: &Tool) -> Result<()> {
    let theirs = tool.shelf == Shelf::Database && tool.owner != caller.user;
    if theirs && !caller.scopes.allow(Scope::Admin) {
        let name = &tool.definition.name;
        let why = format!("Only its owner or an admin may change '{name}'");
        return Err(Error::Forbidden(why));
    }
    Ok(())
}

/// What an upstream server says of its tools is not ours to change; what can be done instead is told.
pub(crate) fn no_servers(tool: &Tool) -> Result<()> {
    if tool.shelf != Shelf::Server {
        return Ok(());
    }
    let name = &tool.definition.name;
    Err(Error::conflict(format!(
        "'{name}' is a tool of an MCP server and cannot be changed here. To keep it from being called, deny \"{name}\" in a rule of the policy (`toolcrib policy set`) or in a toolset; to have it otherwise, make a tool of kind mcp that stands for it, or put a tool of that name into tools.json to replace it"
    )))
}

/// Switched on, and not left behind by somebody who is gone.
fn is_in_use(entry: &Entry, policy: &Policy) -> bool {
    entry.tool.definition.is_active && !policy.left.contains(&entry.tool.owner)
}

fn asked_shelf(body: &str) -> Result<Shelf> {
    #[derive(serde::Deserialize)]
    struct Asked {
        shelf: Option<Value>,
    }
    // A body that is no JSON at all is reported in full by the reader of definitions.
    let asked: Option<Asked> = serde_json::from_str(body).ok();
    match asked.and_then(|asked| asked.shelf) {
        None | Some(Value::Null) => Ok(Shelf::Database),
        Some(Value::String(name)) if name == "file" => Ok(Shelf::File),
        Some(Value::String(name)) if name == "database" => Ok(Shelf::Database),
        Some(other) => Err(Error::invalid(format!(
            "shelf: expected \"file\" or \"database\", got {other}"
        ))),
    }
}

pub(crate) fn is_mine(caller: &Caller, tool: &Tool) -> bool {
    tool.owner == caller.user || caller.scopes.allow(Scope::Admin)
}

/// Whether a body says anything about `auth_config`; null is something, too.
fn asked_auth(body: &str) -> AuthChange {
    #[derive(serde::Deserialize)]
    struct Asked {
        #[serde(default, deserialize_with = "present")]
        auth_config: bool,
    }
    fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<bool, D::Error> {
        serde::de::IgnoredAny::deserialize(value).map(|_| true)
    }
    match serde_json::from_str::<Asked>(body) {
        Ok(asked) if asked.auth_config => AuthChange::Written,
        _ => AuthChange::Keep,
    }
}

/// Reads a definition for this shelf: only what goes into the database is sealed, the file holds references.
pub(crate) fn read_body(body: &str, shelf: Shelf) -> Result<Definition> {
    let origin = Origin::Body(shelf);
    checked_definition_from_text("body", body, origin, faults).map_err(Error::problems)
}
