//! How a PostgreSQL source is reached and used.

use super::pool::{Pool, SESSION};
use super::socket::{Dialer, Tls};
use crate::error::Error;
use std::path::PathBuf;
use std::str::FromStr;
use tokio::sync::OnceCell;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

const PORT: u16 = 5432;
const CONNECTIONS_MIN: usize = 5;
const CONNECTIONS_MAX: usize = 20;
const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

#[derive(Clone)]
pub struct PostgresConfig {
    /// `postgres://user:password@host:port/database`; `sslmode` is `disable`, `prefer`, `require` or `verify-full`, and
    /// `sslrootcert` names a file of certificates to trust besides the system's.
    pub url: String,
    /// How many connections stay open when nobody uses them.
    pub connections_min: usize,
    pub connections_max: usize,
    /// Sessions are shared by a pooler such as PgBouncer: nothing is left in one between two transactions.
    pub pgbouncer: bool,
    /// Use a role that can do more than a source should: a superuser, or one that may read files or start programs.
    pub allow_superuser: bool,
    /// Functions and views that callers' queries may name although the catalog calls them volatile.
    pub functions: Vec<String>,
    /// Schemas that names without one are looked for in; the role's own setting if none are given.
    pub search_path: Vec<String>,
}

impl std::fmt::Debug for PostgresConfig {
    /// The URL may hold a password.
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("PostgresConfig")
            .field("connections_max", &self.connections_max)
            .field("pgbouncer", &self.pgbouncer)
            .finish_non_exhaustive()
    }
}

/// No call has more time than a day.
pub(super) const TIME_MS_MAX: u64 = 86_400_000;

impl PostgresConfig {
    pub fn new(url: impl Into<String>) -> PostgresConfig {
        PostgresConfig {
            url: url.into(),
            connections_min: CONNECTIONS_MIN,
            connections_max: CONNECTIONS_MAX,
            pgbouncer: false,
            allow_superuser: false,
            functions: Vec::new(),
            search_path: Vec::new(),
        }
    }

    pub(super) fn pool(&self) -> Result<Pool, Error> {
        if self.connections_max == 0 || self.connections_min > self.connections_max {
            return Err(Error::source(format!(
                "a source keeps {} to {} connections; expected at least one, and no more kept than allowed",
                self.connections_min, self.connections_max
            )));
        }
        let (url, tls, roots) = split(&self.url)?;
        let mut config = Config::from_str(&url).map_err(|error| {
            Error::source(format!(
                "the URL of the source is not usable: {error}; expected postgres://user:password@host:port/database"
            ))
        })?;
        let tls = match tls {
            Some(tls) => tls,
            None => mode(config.get_ssl_mode()),
        };
        if config.get_user().is_none() {
            return Err(Error::source("the URL of the source names no user"));
        }
        let dialer = Dialer {
            hosts: hosts(&config)?,
            tls,
            roots,
            message_bytes_max: MESSAGE_BYTES_MAX,
            connector: OnceCell::new(),
        };
        // TLS is agreed on before the driver gets the line.
        config.ssl_mode(SslMode::Disable);
        if config.get_application_name().is_none() {
            config.application_name("toolcrib");
        }
        let session = (!self.pgbouncer).then(|| self.session("SET"));
        let sizes = (self.connections_min, self.connections_max);
        Ok(Pool::new(config, dialer, sizes, session))
    }

    /// The settings of a session, or with `SET LOCAL` of a transaction.
    fn session(&self, set: &str) -> String {
        let mut sql: String = SESSION
            .iter()
            .filter(|(name, _)| set == "SET" || *name != "default_transaction_read_only")
            .map(|(name, value)| format!("{set} {name} = {value}; "))
            .collect();
        if !self.search_path.is_empty() {
            let quoted = self.search_path.iter().map(|name| quote(name));
            let path = quoted.collect::<Vec<_>>().join(", ");
            sql.push_str(&format!("{set} search_path = {path}; "));
        }
        sql
    }

    /// How each transaction begins.
    pub(super) fn begin(&self, mode: &str, left_ms: u128) -> String {
        let left_ms = left_ms.clamp(1, TIME_MS_MAX.into());
        // Waiting for a lock counts as running, so this bounds both.
        let mut sql = format!("BEGIN {mode}; SET LOCAL statement_timeout = {left_ms}; ");
        if self.pgbouncer {
            sql.push_str(&self.session("SET LOCAL"));
        }
        sql
    }
}

pub(super) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn mode(mode: SslMode) -> Tls {
    match mode {
        SslMode::Disable => Tls::Never,
        SslMode::Require => Tls::Always,
        _ => Tls::Prefer,
    }
}

fn hosts(config: &Config) -> Result<Vec<(Host, u16)>, Error> {
    let ports = config.get_ports();
    let port = |index: usize| match ports {
        [] => PORT,
        [one] => *one,
        many => many.get(index).copied().unwrap_or(PORT),
    };
    let named = config.get_hosts().iter().cloned();
    let addresses = config.get_hostaddrs().iter();
    let addresses = addresses.map(|address| Host::Tcp(address.to_string()));
    let hosts: Vec<Host> = if config.get_hosts().is_empty() {
        addresses.collect()
    } else {
        named.collect()
    };
    if hosts.is_empty() {
        return Err(Error::source("the URL of the source names no host"));
    }
    Ok(hosts
        .into_iter()
        .enumerate()
        .map(|(index, host)| (host, port(index)))
        .collect())
}

/// Takes out of the URL what the driver does not know.
fn split(url: &str) -> Result<(String, Option<Tls>, Option<PathBuf>), Error> {
    let Some((base, query)) = url.split_once('?') else {
        return Ok((url.to_owned(), None, None));
    };
    let (mut tls, mut roots, mut rest) = (None, None, Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = url::form_urlencoded::parse(pair.as_bytes())
            .next()
            .unwrap_or_default();
        match key.as_ref() {
            "sslrootcert" => roots = Some(PathBuf::from(value.into_owned())),
            "sslmode" => {
                tls = Some(match value.as_ref() {
                    "disable" => Tls::Never,
                    "allow" | "prefer" => Tls::Prefer,
                    "require" | "verify-ca" | "verify-full" => Tls::Always,
                    other => {
                        return Err(Error::source(format!(
                            "sslmode is `{other}`; expected disable, prefer, require or verify-full"
                        )));
                    }
                });
            }
            _ => rest.push(pair),
        }
    }
    let base = if rest.is_empty() {
        base.to_owned()
    } else {
        format!("{base}?{}", rest.join("&"))
    };
    Ok((base, tls, roots))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let (url, tls, roots) =
            split("postgres://u:p@h/db?sslmode=verify-full&connect_timeout=3&sslrootcert=%2Fa%20b")
                .unwrap();
        assert_eq!(url, "postgres://u:p@h/db?connect_timeout=3");
        assert_eq!(tls, Some(Tls::Always));
        assert_eq!(roots.unwrap().to_str(), Some("/a b"));
        assert!(split("postgres://h/db?sslmode=maybe").is_err());
    }

    #[test]
    fn what_cannot_work_is_told_at_once() {
        for url in [
            "",
            "mysql://u@h/db",
            "postgres://h/db",
            "postgres://u@h:port/db",
        ] {
            assert!(PostgresConfig::new(url).pool().is_err(), "{url}");
        }
        let mut config = PostgresConfig::new("postgres://u@h/db");
        assert!(config.pool().is_ok());
        config.connections_max = 0;
        assert!(config.pool().is_err());
    }

    #[test]
    fn passwords_are_not_shown() {
        let config = PostgresConfig::new("postgres://u:hunter2@h/db");
        let pool = config.pool().unwrap();
        assert!(!format!("{config:?} {pool:?}").contains("hunter2"));
    }
}
