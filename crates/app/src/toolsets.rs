//! Toolsets: named, ordered selections of tools. Those in use are part of the policy's snapshot, so that one verdict
//! decides what is in a set; a tool that a set names may come later, or be gone since.

mod builtin;
mod fitting;

use crate::App;
use crate::audit::act;
use crate::error::{Error, Result};
use crate::kept::{Head, Kept, Thing, Wanted};
use crate::time;
use catalog::caller::{Caller, Transport};
use catalog::catalogue::{Catalogue, Entry};
use catalog::names::Names;
use catalog::policy::{Policy, Verdict};
use catalog::tool::Millis;
use catalog::toolset::{
    Pick, Toolset, ToolsetDefinition, Toolsets, checked_toolset_from_text, toolset_from_text,
};
use executor::{CallRequest, Code, Failure};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;
use store::Write;
use store::toolsets::ToolsetRow;
use utoipa::ToSchema;
use uuid::Uuid;

/// A toolset as it is shown.
#[derive(Debug, Serialize, ToSchema)]
pub struct ToolsetView {
    pub id: Uuid,
    pub owner: String,
    pub name: String,
    pub description: Option<String>,
    /// Names or ids of tools, or objects with `tool`, `name`, `description` and `arguments`.
    #[schema(value_type = Vec<Value>)]
    pub tools: Vec<Pick>,
    /// Those of them that are not there, or that the set's owner may not see.
    pub missing: Vec<String>,
    /// Set arguments that their tool does not take, in a list with `check=true`: the tool may have come, or changed, since
    /// they were stored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<String>,
    /// Patterns; what fits comes behind the listed tools.
    pub allow: Option<Vec<String>>,
    /// Patterns; what fits is left out.
    pub deny: Vec<String>,
    /// The tools that `allow` brings in now, or every tool where the set holds them all; not in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fitting: Option<Vec<String>>,
    /// Patterns that fit no tool that you may see; not in lists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fits_nothing: Vec<String>,
    /// Told to the models that use the set.
    pub instructions: Option<String>,
    /// What the server is called at the set's own address; null leaves it to the server.
    pub server_name: Option<String>,
    /// Whether clients get `find_tools` and `call_tool` instead of all tools.
    pub find_tools: bool,
    /// How tools are named to clients: dotted or plain; null leaves it to the server.
    #[schema(value_type = Option<String>, example = "plain")]
    pub names: Option<Names>,
    pub is_public: bool,
    pub version: i64,
    pub created_at: String,
    pub updated_at: String,
    pub deleted_at: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct ToolsetPage {
    pub items: Vec<ToolsetView>,
    pub next_cursor: Option<String>,
}

/// Which toolsets to list.
#[derive(Debug, Default)]
pub struct ToolsetFilter {
    pub q: Option<String>,
    pub owner: Option<String>,
    /// Whether to say what is wrong with set arguments.
    pub check: bool,
    pub limit: Option<usize>,
    pub cursor: Option<String>,
}

/// A stored toolset and what it says.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    row: ToolsetRow,
    toolset: Arc<Toolset>,
}

impl Stored {
    /// What it names, by name or id.
    pub(crate) fn picks(&self) -> impl Iterator<Item = &str> {
        let picks = self.toolset.definition.tools.iter();
        picks.map(|pick| pick.tool.as_str())
    }

    /// None, and a line in the server's log, where what is stored cannot be read.
    fn read(row: ToolsetRow) -> Option<Self> {
        match toolset_from_text(&row.definition) {
            Ok(definition) => Some(Self::new(row, definition)),
            Err(problems) => {
                let why = crate::error::summary(&problems);
                let name = &row.name;
                tracing::error!(name, why, "a stored toolset cannot be read and is left out");
                None
            }
        }
    }

    fn new(row: ToolsetRow, definition: ToolsetDefinition) -> Self {
        let toolset = Arc::new(Toolset::new(row.owner_id, definition));
        Stored { row, toolset }
    }

    fn definition(&self) -> &ToolsetDefinition {
        &self.toolset.definition
    }

    /// Handed to somebody else.
    pub(crate) fn handed(&self, to: Uuid, now: Millis) -> ToolsetRow {
        ToolsetRow {
            owner_id: to,
            version: self.row.version + 1,
            updated_at: now,
            ..self.row.clone()
        }
    }
}

impl Thing for Stored {
    const WHAT: &'static str = "Toolset";

    fn head(&self) -> Head<'_> {
        let (row, definition) = (&self.row, self.definition());
        Head {
            id: row.id,
            owner: row.owner_id,
            name: &row.name,
            description: definition.description.as_deref(),
            is_public: definition.is_public,
            version: row.version,
            updated_at: row.updated_at,
            deleted_at: row.deleted_at,
        }
    }

    fn shape(&self) -> Value {
        serde_json::to_value(self.definition()).unwrap_or_default()
    }
}

/// The same toolsets with these rows instead of what they were before.
pub(crate) fn with_rows(kept: &Kept<Stored>, rows: Vec<ToolsetRow>) -> Kept<Stored> {
    kept.with(rows.into_iter().filter_map(Stored::read))
}

impl App {
    pub fn list_toolsets(&self, caller: &Caller, filter: &ToolsetFilter) -> Result<ToolsetPage> {
        let kept = self.toolsets.load_full();
        let wanted = Wanted {
            q: filter.q.as_deref(),
            limit: filter.limit,
            cursor: filter.cursor.as_deref(),
        };
        let owner = filter.owner.as_ref();
        let (found, next_cursor) = kept.page(caller, &wanted, |it| {
            owner.is_none_or(|owner| *owner == self.user_name(it.row.owner_id))
        })?;
        Ok(ToolsetPage {
            items: found
                .into_iter()
                .map(|it| ToolsetView {
                    troubles: match filter.check {
                        true => self.misfits(it),
                        false => Vec::new(),
                    },
                    ..self.toolset_view(it)
                })
                .collect(),
            next_cursor,
        })
    }

    pub fn get_toolset(&self, caller: &Caller, name_or_id: &str) -> Result<ToolsetView> {
        let found = self.toolsets.load().visible(caller, name_or_id, false)?;
        Ok(self.toolset_in_full(caller, &found))
    }

    pub async fn create_toolset(
        &self,
        caller: &Caller,
        owner: Option<&str>,
        body: &str,
    ) -> Result<ToolsetView> {
        let owner_id = self.owner_of_new(caller, owner)?;
        let asked = self.read_toolset(caller, body)?;
        let now = self.clock.now();
        let row = ToolsetRow {
            id: Uuid::now_v7(),
            owner_id,
            version: 1,
            created_at: now,
            updated_at: now,
            ..row_of(&asked)?
        };
        let made = Stored::new(row, asked);
        self.put_toolset(caller, made, None, "toolset.create").await
    }

    /// Replaces a toolset by the definition in `body`.
    pub async fn update_toolset(
        &self,
        caller: &Caller,
        name_or_id: &str,
        body: &str,
        expected_version: Option<i64>,
    ) -> Result<ToolsetView> {
        let old = self.own_toolset(caller, name_or_id)?;
        self.replace_toolset(caller, &old, body, expected_version)
            .await
    }

    /// Changes only the members of a JSON merge patch.
    pub async fn patch_toolset(
        &self,
        caller: &Caller,
        name_or_id: &str,
        patch: &str,
        expected_version: Option<i64>,
    ) -> Result<ToolsetView> {
        let old = self.own_toolset(caller, name_or_id)?;
        let body = old.patched(patch)?;
        let expected = expected_version.or(Some(old.row.version));
        self.replace_toolset(caller, &old, &body, expected).await
    }

    fn own_toolset(&self, caller: &Caller, name_or_id: &str) -> Result<Arc<Stored>> {
        let own = self.toolsets.load().own(caller, name_or_id, false)?;
        builtin::check_changeable(&own)?;
        Ok(own)
    }

    /// What is set for a tool that is there must be what it takes; one that comes later is looked at by `doctor`.
    fn read_toolset(&self, caller: &Caller, body: &str) -> Result<ToolsetDefinition> {
        let (policy, catalogue) = (self.executor.policy.load(), self.executor.catalogue.load());
        let check = |pick: &Pick| {
            let entry = seen(&policy, &catalogue, Some(caller), pick);
            entry.map_or_else(Vec::new, |it| {
                pick.misfits(&it.tool.definition.input_schema)
            })
        };
        checked_toolset_from_text(body, check).map_err(Error::problems)
    }

    async fn replace_toolset(
        &self,
        caller: &Caller,
        old: &Stored,
        body: &str,
        expected_version: Option<i64>,
    ) -> Result<ToolsetView> {
        let asked = self.read_toolset(caller, body)?;
        let seen = old.head().expect(Stored::WHAT, expected_version);
        let target = format!("toolset:{}", old.row.name);
        self.since(&target, expected_version, seen).await?;
        let row = ToolsetRow {
            id: old.row.id,
            owner_id: old.row.owner_id,
            version: old.row.version + 1,
            created_at: old.row.created_at,
            updated_at: self.clock.now(),
            ..row_of(&asked)?
        };
        let new = Stored::new(row, asked);
        self.put_toolset(caller, new, Some(old), "toolset.update")
            .await
    }

    pub async fn delete_toolset(
        &self,
        caller: &Caller,
        name_or_id: &str,
        expected_version: Option<i64>,
    ) -> Result<()> {
        let old = self.own_toolset(caller, name_or_id)?;
        let seen = old.head().expect(Stored::WHAT, expected_version);
        let target = format!("toolset:{}", old.row.name);
        self.since(&target, expected_version, seen).await?;
        let gone = self.moved(&old, Some(self.clock.now()));
        self.put_toolset(caller, gone, Some(&old), "toolset.delete")
            .await?;
        Ok(())
    }

    /// Brings a removed toolset back.
    pub async fn restore_toolset(&self, caller: &Caller, name_or_id: &str) -> Result<ToolsetView> {
        let old = self.toolsets.load().own(caller, name_or_id, true)?;
        let back = self.moved(&old, None);
        self.put_toolset(caller, back, Some(&old), "toolset.restore")
            .await
    }

    /// The same, removed or not.
    fn moved(&self, old: &Stored, deleted_at: Option<Millis>) -> Stored {
        let row = ToolsetRow {
            version: old.row.version + 1,
            updated_at: self.clock.now(),
            deleted_at,
            ..old.row.clone()
        };
        Stored {
            row,
            toolset: Arc::clone(&old.toolset),
        }
    }

    async fn put_toolset(
        &self,
        caller: &Caller,
        new: Stored,
        old: Option<&Stored>,
        action: &str,
    ) -> Result<ToolsetView> {
        // The policy holds the toolsets, and whoever changes it holds this.
        let _one_at_a_time = self.access_changes.lock().await;
        let kept = self.toolsets.load_full();
        let row = &new.row;
        kept.check_name(&new)?;
        let target = format!("toolset:{}", row.name);
        let (before, after) = (old.map(Thing::shape), Some(new.shape()));
        let done = act(row.updated_at, caller, action, target, before, after);
        self.store_access(&[Write::Toolset(row.clone()), done])
            .await?;
        self.show_toolsets(kept.with([new.clone()]));
        Ok(self.toolset_in_full(caller, &new))
    }

    /// At start, and where it is in doubt: what is stored.
    pub(crate) async fn load_toolsets(&self) -> Result<()> {
        let rows = self.store.toolsets().await?;
        let stored = with_rows(&Kept::default(), rows);
        self.show_toolsets(builtin::with_builtin(&stored)?);
        Ok(())
    }

    /// Lets these count. The caller holds `access_changes`.
    pub(crate) fn show_toolsets(&self, kept: Kept<Stored>) {
        let live = kept.live();
        let live = live.map(|it| (it.row.name.as_str().into(), Arc::clone(&it.toolset)));
        let toolsets: Toolsets = live.collect();
        self.toolsets.store(Arc::new(kept));
        let mut policy = (**self.executor.policy.load()).clone();
        policy.toolsets = Arc::new(toolsets);
        self.executor.set_policy(policy);
    }

    /// The same caller, coming through this toolset.
    pub fn through_toolset(&self, caller: &Caller, name_or_id: &str) -> Result<Caller> {
        let found = self.toolsets.load().visible(caller, name_or_id, false)?;
        let through = Caller {
            toolset: Some(found.row.name.as_str().into()),
            ..caller.clone()
        };
        let is_open = self.executor.policy.load().toolset(&through).is_some();
        is_open.then_some(through).ok_or_else(|| Error::NotFound {
            what: Stored::WHAT,
            name: name_or_id.to_owned(),
        })
    }

    /// A call as the toolset means it that the caller came through: the tool by its own name, with what is set for it.
    /// The refusal of one that names what is not there, or an argument that is set already.
    pub(crate) fn within_toolset(
        &self,
        caller: &Caller,
        mut request: CallRequest,
    ) -> Result<CallRequest, (CallRequest, Box<Failure>)> {
        if caller.toolset.is_none() {
            return Ok(request);
        }
        let (policy, catalogue) = (self.executor.policy.load(), self.executor.catalogue.load());
        let Some(found) = policy.find(&catalogue, caller, &request.tool) else {
            let refusal = self.down_server(caller, &request.tool).unwrap_or_else(|| {
                let why = format!("Tool '{}' not found", request.tool);
                Failure::new(Code::ToolNotFound, why)
            });
            return Err((request, Box::new(refusal)));
        };
        request.tool = found.entry.name.to_string();
        let filled = found.pick.map(|pick| pick.fill(&mut request.arguments));
        if let Some(Err(argument)) = filled {
            let why = format!(
                "The argument '{argument}' of '{}' is set by the toolset; leave it out",
                found.name
            );
            let refusal =
                Failure::new(Code::InvalidInput, why).with_details(json!({"argument": argument}));
            return Err((request, Box::new(refusal)));
        }
        Ok(request)
    }

    fn toolset_view(&self, stored: &Stored) -> ToolsetView {
        let (row, wanted) = (&stored.row, stored.definition());
        ToolsetView {
            id: row.id,
            owner: self.user_name(row.owner_id),
            name: row.name.clone(),
            description: wanted.description.clone(),
            tools: wanted.tools.clone(),
            missing: self.missing(stored),
            troubles: Vec::new(),
            allow: wanted.allow.clone(),
            deny: wanted.deny.clone(),
            fitting: None,
            fits_nothing: Vec::new(),
            instructions: wanted.instructions.clone(),
            server_name: wanted.server_name.clone(),
            find_tools: wanted.find_tools,
            names: wanted.names,
            is_public: wanted.is_public,
            version: row.version,
            created_at: time::rfc3339(row.created_at),
            updated_at: time::rfc3339(row.updated_at),
            deleted_at: row.deleted_at.map(time::rfc3339),
        }
    }

    fn missing(&self, stored: &Stored) -> Vec<String> {
        let owner = self.owner_of(stored);
        let (policy, catalogue) = (self.executor.policy.load(), self.executor.catalogue.load());
        let picks = stored.definition().tools.iter();
        let missing = picks.filter(|it| seen(&policy, &catalogue, owner.as_ref(), it).is_none());
        missing.map(|pick| pick.tool.clone()).collect()
    }

    /// What is set for a tool that its owner sees, and does not fit it.
    fn misfits(&self, stored: &Stored) -> Vec<String> {
        let owner = self.owner_of(stored);
        let (policy, catalogue) = (self.executor.policy.load(), self.executor.catalogue.load());
        let mut misfits = Vec::new();
        for pick in &stored.definition().tools {
            let Some(entry) = seen(&policy, &catalogue, owner.as_ref(), pick) else {
                continue;
            };
            for found in pick.misfits(&entry.tool.definition.input_schema) {
                misfits.push(format!("the arguments set for '{}', {found}", entry.name));
            }
        }
        misfits
    }

    fn owner_of(&self, stored: &Stored) -> Option<Caller> {
        let access = self.access.load();
        let owner = access.user(stored.row.owner_id)?;
        let role = crate::access::role_of(owner);
        Some(Caller::of_user(owner.id, &owner.name, role, Transport::Mcp))
    }
}

/// The tool of a set that somebody sees.
fn seen<'a>(
    policy: &Policy,
    catalogue: &'a Catalogue,
    who: Option<&Caller>,
    pick: &Pick,
) -> Option<&'a Arc<Entry>> {
    let (entry, who) = (pick.entry(catalogue)?, who?);
    (policy.verdict(who, &entry.tool) != Verdict::Hidden).then_some(entry)
}

/// What the author wrote, as a row that nobody owns yet.
fn row_of(asked: &ToolsetDefinition) -> Result<ToolsetRow> {
    let definition = serde_json::to_string(asked).map_err(|e| Error::Internal(e.to_string()))?;
    Ok(ToolsetRow {
        id: Uuid::nil(),
        owner_id: Uuid::nil(),
        name: asked.name.clone(),
        definition,
        version: 0,
        created_at: 0,
        updated_at: 0,
        deleted_at: None,
    })
}
