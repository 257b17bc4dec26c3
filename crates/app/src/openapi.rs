//! OpenAPI documents: operations of one taken over as `http` tools, and the tools that somebody may call as another.

use crate::App;
use crate::error::{Error, Result};
use crate::tools::{Before, Terms};
use catalog::caller::Caller;
use catalog::catalogue::Entry;
use catalog::policy::Verdict;
use futures_util::{StreamExt as _, stream};
use openapi::sharing::{Uses, objections};
use openapi::{Made, Needed, Offer, Options};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::ToSchema;

/// Operations that are taken over at a time: changes of tools that wait together are written together.
const AT_A_TIME: usize = 64;

/// A document, and what of it is wanted.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenApiImport {
    /// OpenAPI 3.0 or 3.1, as JSON.
    #[schema(value_type = Object)]
    pub document: Value,
    /// Where the API is, instead of what the document says.
    pub base_url: Option<String>,
    /// Patterns of which one must fit a name, `METHOD /path` or a tag; every operation where there are none.
    #[serde(default)]
    pub pick: Vec<String>,
    /// Stands before every name.
    #[serde(default)]
    pub prefix: String,
    /// The name of the secret for each security scheme, instead of one that is made up.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub secrets: BTreeMap<String, String>,
    /// Whether the tools show nothing to be let in.
    #[serde(default)]
    pub no_auth: bool,
    /// Whether secrets whose names are made up may be shown to others than they are for by now, and on several sites.
    #[serde(default)]
    pub share_secrets: bool,
    /// Whether tools of yours that have such a name are replaced.
    #[serde(default)]
    pub force: bool,
    /// Whether to only say what would become of each operation.
    #[serde(default)]
    pub dry_run: bool,
}

/// What became of a document's operations.
#[derive(Debug, Serialize, ToSchema)]
pub struct OpenApiImported {
    pub title: String,
    pub tools: Vec<ImportedTool>,
    /// Operations that no tool can be made of.
    pub left_out: Vec<LeftOutOperation>,
    /// The secrets that the tools refer to.
    pub secrets: Vec<NeededSecret>,
}

/// An operation as a tool.
#[derive(Debug, Serialize, ToSchema)]
pub struct ImportedTool {
    pub name: String,
    pub method: String,
    pub path: String,
    /// What the operation can and the tool cannot.
    pub lost: Vec<String>,
    /// added, replaced, unchanged or failed; in a dry run what would be.
    pub outcome: &'static str,
    /// Why it failed.
    pub error: Option<String>,
    /// How it is defined.
    #[schema(value_type = Object)]
    pub definition: Value,
}

/// An operation that no tool can be made of.
#[derive(Debug, Serialize, ToSchema)]
pub struct LeftOutOperation {
    pub method: String,
    pub path: String,
    pub why: String,
}

/// A secret that a tool refers to.
#[derive(Debug, Serialize, ToSchema)]
pub struct NeededSecret {
    pub name: String,
    pub what: String,
    /// Whether you have one of that name; without it the tools that refer to it are refused.
    pub is_set: bool,
    /// The addresses that see it, or a token that is given for it.
    pub shown_to: Vec<String>,
}

impl App {
    /// Takes over the operations of a document, each by itself: what is wrong with one keeps no other out.
    pub async fn import_openapi(
        &self,
        caller: Arc<Caller>,
        asked: OpenApiImport,
    ) -> Result<OpenApiImported> {
        let options = Options {
            base_url: asked.base_url,
            pick: asked.pick,
            prefix: asked.prefix,
            secrets: asked.secrets,
            no_auth: asked.no_auth,
        };
        // A large document takes longer than a thread that answers requests may be held up.
        let work = move || openapi::read(&asked.document, &options);
        let read = tokio::task::spawn_blocking(work).await;
        let read = read.map_err(|e| Error::Internal(format!("a document was lost: {e}")))?;
        let read = read.map_err(|why| Error::invalid(format!("document: {why}")))?;
        let own = self.named_secrets(&caller).await?;
        let uses = self.uses_of_secrets(&caller, &own);
        if !asked.share_secrets {
            check_sharing(&read.secrets, &uses)?;
        }
        let secrets = read.secrets.into_iter().map(|needed| NeededSecret {
            is_set: uses.contains_key(&needed.name),
            name: needed.name,
            what: needed.what,
            shown_to: needed.shown_to.into_iter().collect(),
        });
        let mut imported = OpenApiImported {
            title: read.title,
            tools: Vec::with_capacity(read.tools.len()),
            left_out: Vec::new(),
            secrets: secrets.collect(),
        };
        let caller = &caller;
        let (force, dry_run) = (asked.force, asked.dry_run);
        let taken = stream::iter(read.tools).map(|made| async move {
            let done = self.take_operation(caller, &made, force, dry_run).await;
            (made, done)
        });
        let mut taken = taken.buffered(AT_A_TIME);
        while let Some((made, done)) = taken.next().await {
            let (outcome, error) = match done {
                Ok(outcome) => (outcome, None),
                Err(error @ (Error::Internal(_) | Error::Unavailable(_))) => return Err(error),
                Err(error) => ("failed", Some(error.to_string())),
            };
            imported.tools.push(ImportedTool {
                name: made.name,
                method: made.method,
                path: made.path,
                lost: made.lost,
                outcome,
                error,
                definition: made.definition,
            });
        }
        imported.left_out = read
            .left_out
            .into_iter()
            .map(|it| LeftOutOperation {
                method: it.method,
                path: it.path,
                why: it.why,
            })
            .collect();
        Ok(imported)
    }

    async fn take_operation(
        &self,
        caller: &Arc<Caller>,
        made: &Made,
        force: bool,
        dry_run: bool,
    ) -> Result<&'static str> {
        let body = made.definition.to_string();
        let terms = |dry_run: bool| Terms {
            dry_run,
            ..Terms::default()
        };
        let name = &made.name;
        let Ok(there) = self.visible(caller, name) else {
            let none = Before::default();
            let made = self.create_tool(Arc::clone(caller), &body, &none, terms(dry_run));
            return made.await.map(|_| "added");
        };
        let mut replaced = made.definition.clone();
        // What a replacement leaves out would be kept.
        if replaced.get("auth_config").is_none() {
            replaced["auth_config"] = Value::Null;
        }
        let body = replaced.to_string();
        let update =
            |dry_run: bool| self.update_tool(Arc::clone(caller), name, &body, terms(dry_run));
        let tried = update(true).await?;
        if tried.hash == *there.hash {
            return Ok("unchanged");
        }
        match (force, dry_run) {
            (false, _) => Err(Error::conflict(format!(
                "There is another tool '{name}' already; take a prefix, or replace it"
            ))),
            (true, true) => Ok("replaced"),
            (true, false) => update(false).await.map(|_| "replaced"),
        }
    }

    /// The tools that a caller may call, of one toolset where it is named, as an OpenAPI document.
    pub fn tools_as_openapi(&self, caller: &Caller, toolset: Option<&str>) -> Result<Value> {
        let mut caller = caller.clone();
        if let Some(name) = toolset {
            let set = self.get_toolset(&caller, name)?;
            caller.toolset = Some(set.name.into());
        }
        let catalogue = self.executor.catalogue.load();
        let policy = self.executor.policy.load();
        let may_call = |entry: &&Arc<Entry>| {
            entry.tool.definition.is_active
                && policy.verdict(&caller, &entry.tool) == Verdict::Allowed
        };
        let entries: Vec<&Arc<Entry>> = catalogue.after(None).filter(may_call).collect();
        let hints: Vec<_> = entries
            .iter()
            .map(|it| it.tool.definition.hints())
            .collect();
        let schemas: Vec<_> = entries.iter().map(|it| it.offered_schema()).collect();
        let told = hints.iter().zip(&schemas);
        let offers = entries.iter().zip(told).map(|(entry, (hints, schema))| {
            let definition = &entry.tool.definition;
            Offer {
                name: &entry.name,
                description: &definition.description,
                title: hints.title.as_deref(),
                input_schema: schema,
                output_schema: definition.output_schema.as_ref(),
                read_only: hints.read_only == Some(true),
            }
        });
        let offers: Vec<Offer<'_>> = offers.collect();
        let title = toolset.map_or_else(
            || "Toolcrib tools".to_owned(),
            |name| format!("Toolcrib {name}"),
        );
        Ok(openapi::write(
            &offers,
            &title,
            env!("CARGO_PKG_VERSION"),
            "",
        ))
    }
}

/// A document that shows a secret to somebody else is not taken over by halves: nothing of it is to be trusted.
fn check_sharing(secrets: &[Needed], uses: &Uses) -> Result<()> {
    let objections = objections(secrets, uses);
    if objections.is_empty() {
        return Ok(());
    }
    Err(Error::conflict(format!(
        "Nothing was taken over, because the document itself chose these secrets: {}. Name the secret that is meant for each scheme (`secrets`), the same or one of its own; or agree to all of it (`share_secrets`)",
        objections.join("; ")
    )))
}
