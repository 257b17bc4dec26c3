//! From what an admin wrote to a source that can be asked. Nobody is connected to here.

use super::Found;
use crate::vault::Vault;
use crate::writer::EnvLookup;
use ::sources::{Postgres, PostgresConfig, Source, Sqlite, SqliteConfig};
use catalog::secret::Secret;
use catalog::source::{Authors, Password, SourceDefinition, SourceKind, UrlParts, expanded};
use kinds::http::percent;
use kinds::sources::Named;
use std::path::PathBuf;
use std::sync::Arc;

const PORT: &str = "5432";

/// What a source is opened with.
pub(crate) struct Opening {
    pub(crate) workspace: PathBuf,
    pub(crate) data: PathBuf,
    /// The address of our own registry, where that is a PostgreSQL.
    pub(crate) registry: Option<String>,
    pub(crate) env: EnvLookup,
    pub(crate) vault: Arc<Vault>,
}

impl Opening {
    /// The source under its name, or why it cannot be used.
    pub(super) fn named(&self, found: &Found) -> Named {
        let definition = &found.definition;
        Named {
            name: definition.name.clone(),
            source: match &found.fault {
                Some(fault) => Err(fault.clone()),
                None => self.open(definition),
            },
            allow_write: definition.allow_write,
            authors_everyone: definition.authors == Authors::Everyone,
        }
    }

    fn open(&self, definition: &SourceDefinition) -> Result<Source, String> {
        match definition.kind {
            SourceKind::Sqlite => self.sqlite(definition),
            SourceKind::Postgres => self.postgres(definition),
        }
    }

    /// Why it cannot work whatever comes later. A file or a variable that is not there yet may.
    pub(super) fn never_works(&self, definition: &SourceDefinition) -> Option<String> {
        match definition.kind {
            SourceKind::Sqlite => {
                let config = self.sqlite_config(definition).ok()?;
                config.closed().map(|why| format!("path: {why}"))
            }
            SourceKind::Postgres => {
                let definition = SourceDefinition {
                    password: None,
                    ..definition.clone()
                };
                let parts = self.address(&definition).ok()?;
                let opened = self.postgres_at(&definition, &parts);
                opened.err().map(|why| format!("url: {why}"))
            }
        }
    }

    fn sqlite(&self, definition: &SourceDefinition) -> Result<Source, String> {
        let config = self.sqlite_config(definition)?;
        let opened = Sqlite::open(config).map_err(|error| error.to_string())?;
        Ok(Source::Sqlite(opened))
    }

    fn sqlite_config(&self, definition: &SourceDefinition) -> Result<SqliteConfig, String> {
        let path = self.filled(definition.path.as_deref().unwrap_or_default())?;
        let mut config = SqliteConfig::new(self.workspace.join(path));
        if let Some(most) = definition.connections_max {
            config.connections_max = most as usize;
        }
        // The folder is closed to sources; the registry also by any other name that its file has.
        config.forbidden = vec![self.data.clone(), self.data.join("registry.db")];
        Ok(config)
    }

    fn postgres(&self, definition: &SourceDefinition) -> Result<Source, String> {
        self.postgres_at(definition, &self.address(definition)?)
    }

    fn postgres_at(
        &self,
        definition: &SourceDefinition,
        parts: &UrlParts,
    ) -> Result<Source, String> {
        if self.is_registry(parts) {
            return Err("it is our own registry, and the role is the one that owns it. Use a role that may read what tools need and nothing of the registry".to_owned());
        }
        let mut config = PostgresConfig::new(parts.text());
        if let Some(least) = definition.connections_min {
            config.connections_min = least as usize;
        }
        if let Some(most) = definition.connections_max {
            config.connections_max = most as usize;
            // What is kept unless said otherwise may be more than is allowed here.
            config.connections_min = config.connections_min.min(config.connections_max);
        }
        config.pgbouncer = definition.pgbouncer;
        config.allow_superuser = definition.allow_superuser;
        config.functions.clone_from(&definition.functions);
        config.search_path.clone_from(&definition.search_path);
        let opened = Postgres::open(config).map_err(|error| error.to_string())?;
        Ok(Source::Postgres(opened))
    }

    /// The whole address, with its password.
    pub(super) fn address(&self, definition: &SourceDefinition) -> Result<UrlParts, String> {
        let url = self.filled(definition.url.as_deref().unwrap_or_default())?;
        let mut parts = UrlParts::of(&url).ok_or(
            "its address does not begin with postgres://; expected postgres://user@host:port/database",
        )?;
        if let Some(password) = &definition.password {
            parts.password = Some(percent(self.password(password)?.expose()));
        }
        Ok(parts)
    }

    fn password(&self, password: &Password) -> Result<Secret, String> {
        match password {
            Password::Given(secret) => Ok(secret.clone()),
            Password::Variable(name) => {
                let value = (self.env)(name).ok_or_else(|| unset(name))?;
                Ok(Secret::new(value))
            }
            Password::Sealed(id) => {
                let row = self
                    .vault
                    .row(*id)
                    .ok_or("its password is gone; set it again")?;
                let opened = self.vault.open(&row);
                opened.map_err(|error| format!("its password cannot be opened: {error}"))
            }
            Password::Kept => Err("its password is not known; set it".to_owned()),
        }
    }

    fn filled(&self, text: &str) -> Result<String, String> {
        expanded(text, &*self.env).map_err(|name| unset(&name))
    }

    /// Whether queries would come as the very role that owns our own tables.
    fn is_registry(&self, parts: &UrlParts) -> bool {
        let place = |parts: &UrlParts| {
            let user = parts.user.clone().unwrap_or_default();
            let database = parts.database().unwrap_or_else(|| user.clone());
            let (host, port) = match parts.hosts.rsplit_once(':') {
                Some((host, port)) if !port.ends_with(']') => (host, port),
                _ => (parts.hosts.as_str(), PORT),
            };
            let host = match host {
                "localhost" | "[::1]" => "127.0.0.1",
                other => other,
            };
            (host.to_lowercase(), port.to_owned(), database, user)
        };
        let registry = self.registry.as_deref().and_then(UrlParts::of);
        registry.is_some_and(|registry| place(&registry) == place(parts))
    }
}

fn unset(name: &str) -> String {
    format!("the environment variable {name} is not set where the server runs")
}
