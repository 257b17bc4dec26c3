//! Sources: the databases that SQL tools use. Those of toolcrib.toml win over those kept over the API, and both over the
//! one that the variables POSTGRESQL_DB_… describe.

mod asking;
mod opening;
mod stored;

pub use asking::{SchemaQuery, SourceSchema, SourceTest};
pub(crate) use opening::Opening;

use crate::App;
use crate::error::{Error, Result};
use crate::page::{self, Part};
use crate::time;
use crate::vault::last4;
use arc_swap::ArcSwap;
use catalog::auth::mask;
use catalog::source::{Password, SourceDefinition};
use kinds::sources::{Named, Sources as Live};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use store::Db;
use stored::Stored;
use utoipa::ToSchema;
use uuid::Uuid;

/// Said wherever a source is shown that may use a role of that sort.
const SUPERUSER_ALLOWED: &str = "allow_superuser is set: no read-only transaction binds a superuser, so a query may change data and read files of the database's machine. Use a role that can only read (`toolcrib sources role-script` prints one)";

/// A source that the configuration describes.
#[derive(Debug, Clone)]
pub struct Given {
    pub definition: SourceDefinition,
    /// Why it cannot be used, where that is known already.
    pub fault: Option<String>,
}

/// What the configuration says about sources.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Those of toolcrib.toml.
    pub file: Vec<SourceDefinition>,
    /// The one that variables describe.
    pub environment: Option<Given>,
}

/// Where a source is defined. An earlier one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    File,
    Database,
    Environment,
}

impl Origin {
    fn as_str(self) -> &'static str {
        match self {
            Origin::File => "file",
            Origin::Database => "database",
            Origin::Environment => "environment",
        }
    }
}

/// One source of one origin.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    origin: Origin,
    definition: SourceDefinition,
    fault: Option<String>,
    stored: Option<Arc<Stored>>,
}

/// What is kept about sources.
pub(crate) struct Sources {
    settings: Settings,
    /// In the order of names.
    stored: ArcSwap<Vec<Arc<Stored>>>,
    /// One change after the other: what is stored and what is in use fit together.
    changes: tokio::sync::Mutex<()>,
    /// Those in use.
    live: Arc<Live>,
    opening: Opening,
}

impl Sources {
    /// Reads what is stored and lets all of it be used. Nobody is connected to.
    pub(crate) async fn load(
        store: &Db,
        settings: Settings,
        live: Arc<Live>,
        opening: Opening,
    ) -> store::Result<Arc<Self>> {
        let stored = store.sources().await?.into_iter().filter_map(Stored::read);
        let sources = Arc::new(Sources {
            settings,
            stored: ArcSwap::from_pointee(stored.map(Arc::new).collect()),
            changes: tokio::sync::Mutex::default(),
            live,
            opening,
        });
        let names: BTreeSet<String> = sources
            .all()
            .into_iter()
            .map(|it| it.definition.name)
            .collect();
        for name in names {
            sources.apply(&name);
        }
        let me: Weak<Self> = Arc::downgrade(&sources);
        sources.live.reopen_with(Box::new(move |name| {
            let sources = me.upgrade()?;
            let found = sources.effective(name)?;
            Some(sources.opening.named(&found))
        }));
        Ok(sources)
    }

    /// Every source of every origin, in the order of names; of one name the one that counts first.
    fn all(&self) -> Vec<Found> {
        let file = self.settings.file.iter().map(|definition| Found {
            origin: Origin::File,
            definition: definition.clone(),
            fault: None,
            stored: None,
        });
        let environment = self.settings.environment.iter().map(|given| Found {
            origin: Origin::Environment,
            definition: given.definition.clone(),
            fault: given.fault.clone(),
            stored: None,
        });
        let stored = self.stored.load_full();
        let stored = stored.iter().map(|stored| Found {
            origin: Origin::Database,
            definition: stored.definition.clone(),
            fault: None,
            stored: Some(Arc::clone(stored)),
        });
        let mut all: Vec<Found> = file.chain(stored).chain(environment).collect();
        all.sort_by(|a, b| (&a.definition.name, a.origin).cmp(&(&b.definition.name, b.origin)));
        all
    }

    /// The one of this name that counts.
    fn effective(&self, name: &str) -> Option<Found> {
        self.all().into_iter().find(|it| it.definition.name == name)
    }

    fn is_in_file(&self, name: &str) -> bool {
        self.settings.file.iter().any(|it| it.name == name)
    }

    /// Lets what counts under this name be used. Calls under way end with what they began with.
    fn apply(&self, name: &str) {
        let Some(found) = self.effective(name) else {
            return self.live.remove(name);
        };
        let named = self.opening.named(&found);
        if found.definition.allow_superuser {
            tracing::warn!(source = name, "{SUPERUSER_ALLOWED}");
        }
        if let Err(why) = &named.source {
            let why = with_path(found.definition.path.as_deref(), why.clone());
            tracing::warn!(source = name, why, "this source cannot be used");
        }
        self.live.put(named);
    }

    /// A stored source by id or name.
    pub(crate) fn stored(&self, name_or_id: &str) -> Option<Arc<Stored>> {
        let id = Uuid::parse_str(name_or_id).ok();
        let stored = self.stored.load();
        let by_id = stored.iter().find(|it| Some(it.row.id) == id);
        let found = by_id.or_else(|| stored.iter().find(|it| it.row.name == name_or_id));
        found.cloned()
    }
}

/// A source as it is shown.
#[derive(Debug, Serialize, ToSchema)]
pub struct SourceView {
    pub name: String,
    /// file (toolcrib.toml), database (kept here) or environment (POSTGRESQL_DB_…).
    pub origin: &'static str,
    /// sqlite or postgres.
    pub kind: &'static str,
    /// ready, untried (nobody is connected to before somebody asks: `test` does), unusable (also where it did not answer when
    /// it was last asked), or hidden (one of the same name from elsewhere is used instead).
    pub state: &'static str,
    /// Why it is not ready.
    pub cause: Option<String>,
    /// What should be mended although it works.
    pub warnings: Vec<String>,
    pub description: Option<String>,
    /// The file; a relative path begins in the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Without its password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// A mask, or the variable that holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub password: Option<Value>,
    /// Whether tools with `write` may use it.
    pub allow_write: bool,
    /// Who may store SQL tools on it: admins or everyone.
    pub authors: &'static str,
    pub pgbouncer: bool,
    pub allow_superuser: bool,
    pub functions: Vec<String>,
    pub search_path: Vec<String>,
    pub connections_min: Option<u32>,
    pub connections_max: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
}

impl App {
    pub fn list_sources(&self, part: &Part) -> Result<(Vec<SourceView>, Option<String>)> {
        let all = self.kept_sources.all();
        let mut seen = None;
        let all = all.iter().map(|found| {
            let name = found.definition.name.as_str();
            (found, seen.replace(name) == Some(name))
        });
        // Of one name the one that counts comes first.
        let (all, next) = page::cut(all.collect(), part, |(found, _)| {
            format!("{} {}", found.definition.name, found.origin as u8)
        })?;
        let view = |(found, is_hidden)| self.source_view(found, is_hidden);
        Ok((all.into_iter().map(view).collect(), next))
    }

    pub fn get_source(&self, name_or_id: &str) -> Result<SourceView> {
        let found = self.found_source(name_or_id)?;
        let name = &found.definition.name;
        let counts = self.kept_sources.effective(name);
        let is_hidden = counts.is_some_and(|it| it.origin != found.origin);
        Ok(self.source_view(&found, is_hidden))
    }

    /// The source that tools use under this name, whether it works or not.
    pub fn source_in_use(&self, name: &str) -> Option<Arc<Named>> {
        self.kept_sources.live.find(name)
    }

    /// By name the one that counts, by id one that is kept here.
    fn found_source(&self, name_or_id: &str) -> Result<Found> {
        let by_name = self.kept_sources.effective(name_or_id);
        let by_id = || {
            let stored = self.kept_sources.stored(name_or_id)?;
            let all = self.kept_sources.all().into_iter();
            let is_meant = |it: &Found| {
                it.stored
                    .as_ref()
                    .is_some_and(|it| it.row.id == stored.row.id)
            };
            all.into_iter().find(is_meant)
        };
        by_name.or_else(by_id).ok_or_else(|| not_found(name_or_id))
    }

    fn source_view(&self, found: &Found, is_hidden: bool) -> SourceView {
        let wanted = &found.definition;
        let row = found.stored.as_ref().map(|it| &it.row);
        let live = self.source_in_use(&wanted.name);
        let fault = live.as_ref().and_then(|live| match &live.source {
            Ok(source) => source.failure(),
            Err(why) => Some(why.clone()),
        });
        let is_untried = |live: &Arc<Named>| live.source.as_ref().is_ok_and(|it| it.is_untried());
        let (state, cause) = match (is_hidden, fault) {
            (true, _) => (
                "hidden",
                Some("another of this name is used instead: toolcrib.toml wins over what is kept here, and both over the environment".to_owned()),
            ),
            (false, Some(why)) => ("unusable", Some(with_path(wanted.path.as_deref(), why))),
            (false, None) if live.as_ref().is_some_and(is_untried) => ("untried", None),
            (false, None) => ("ready", None),
        };
        let warning = wanted.allow_superuser.then(|| SUPERUSER_ALLOWED.to_owned());
        SourceView {
            name: wanted.name.clone(),
            origin: found.origin.as_str(),
            kind: wanted.kind.as_str(),
            state,
            cause,
            warnings: warning.into_iter().collect(),
            description: wanted.description.clone(),
            path: wanted.path.clone(),
            url: wanted.url.clone(),
            password: wanted.password.as_ref().map(|it| self.masked(it)),
            allow_write: wanted.allow_write,
            authors: wanted.authors.as_str(),
            pgbouncer: wanted.pgbouncer,
            allow_superuser: wanted.allow_superuser,
            functions: wanted.functions.clone(),
            search_path: wanted.search_path.clone(),
            connections_min: wanted.connections_min,
            connections_max: wanted.connections_max,
            id: row.map(|row| row.id),
            version: row.map(|row| row.version),
            created_at: row.map(|row| time::rfc3339(row.created_at)),
            updated_at: row.map(|row| time::rfc3339(row.updated_at)),
        }
    }

    fn masked(&self, password: &Password) -> Value {
        match password {
            Password::Given(secret) => mask(last4(secret.expose()).as_deref()),
            Password::Variable(name) => format!("${{{name}}}").into(),
            Password::Sealed(id) => mask(self.vault.last4(*id).as_deref()),
            Password::Kept => mask(None),
        }
    }
}

/// Why a source does not work, with its path if it is a file: for those who keep sources. Callers are not told it.
fn with_path(path: Option<&str>, why: String) -> String {
    match path {
        Some(path) => format!("{path}: {why}"),
        None => why,
    }
}

fn not_found(name: &str) -> Error {
    Error::NotFound {
        what: "Source",
        name: name.to_owned(),
    }
}
