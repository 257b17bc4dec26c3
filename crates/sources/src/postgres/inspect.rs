//! What is asked of a database about itself: who we are there, and what its functions are like.

use super::Postgres;
use super::learned::Learned;
use crate::error::Error;
use crate::guard::Rules;
use crate::schema::TestReport;
use crate::source::Call;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long reading the catalog again may take.
const RENEW_MAX: Duration = Duration::from_secs(20);

#[derive(Debug, Default)]
pub(super) struct Known {
    role: Learned<Role>,
    rules: Learned<Rules>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Role {
    pub(super) name: String,
    version: String,
    superuser: bool,
    bypasses_row_security: bool,
    creates_roles: bool,
    /// Predefined roles it is in that reach beyond the data.
    powers: Vec<String>,
    /// Tables outside of the system's schemas that it may change.
    writable: i64,
    creates_temporary: bool,
    /// There is something that it may change: rows, or whatever a function of somebody else's rights does.
    may_write: bool,
}

const ROLE: &str = "\
SELECT r.rolname AS name, pg_catalog.version() AS version, r.rolsuper AS superuser,
  r.rolbypassrls AS bypasses_row_security, r.rolcreaterole AS creates_roles,
  pg_catalog.has_database_privilege(pg_catalog.current_database(), 'TEMP') AS creates_temporary,
  ARRAY(SELECT g.rolname::text FROM pg_catalog.pg_roles g
    WHERE g.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program', 'pg_signal_backend',
      'pg_checkpoint', 'pg_create_subscription', 'pg_maintain')
    AND pg_catalog.pg_has_role(current_user, g.oid, 'MEMBER')) AS powers,
  (SELECT pg_catalog.count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_'
    AND pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')) AS writable,
  r.rolsuper OR EXISTS (SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_'
    AND (pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE')
      OR pg_catalog.has_any_column_privilege(c.oid, 'INSERT, UPDATE')))
  OR EXISTS (SELECT 1 FROM pg_catalog.pg_proc p
    WHERE p.prosecdef AND p.oid >= 16384 AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')) AS may_write
FROM pg_catalog.pg_roles r WHERE r.rolname = current_user";

impl Postgres {
    /// Refuses roles that no promise about reading holds for, unless the operator wants them.
    pub(super) async fn check_role(self: &Arc<Self>, call: &Call) -> Result<(), Error> {
        let role = self.role(call).await?;
        match role.too_strong() {
            Some(why) if !self.config.allow_superuser => Err(Error::source(format!(
                "the role `{}` {why}. Use a role that may only read (`toolcrib sources role-script` prints how to make one), or say `allow_superuser` in the source",
                role.name
            ))),
            _ => Ok(()),
        }
    }

    async fn role(self: &Arc<Self>, call: &Call) -> Result<Arc<Role>, Error> {
        self.known.role.get(call, || self.ask_role(call)).await
    }

    async fn ask_role(self: &Arc<Self>, call: &Call) -> Result<Role, Error> {
        let role: Vec<Role> = self.look(ROLE, Vec::new(), &ours(call)).await?;
        let role = role
            .into_iter()
            .next()
            .ok_or_else(|| Error::source("the database does not know the role we are"))?;
        if self.config.allow_superuser
            && let Some(why) = role.too_strong()
        {
            tracing::warn!(role = %role.name, "a source uses a role that {why}");
        }
        Ok(role)
    }

    pub(super) async fn rules(self: &Arc<Self>, call: &Call) -> Result<Arc<Rules>, Error> {
        if self.known.rules.is_ripe(Instant::now()) {
            self.renew_rules(call);
        }
        self.known.rules.get(call, || self.ask_rules(call)).await
    }

    /// Reads the catalog again, in nobody's time.
    fn renew_rules(self: &Arc<Self>, call: &Call) {
        let source = Arc::clone(self);
        let call = Call {
            deadline: Instant::now() + RENEW_MAX,
            cancel: CancellationToken::new(),
            ..call.clone()
        };
        tokio::spawn(async move {
            let renewed = source.known.rules.renew(source.ask_rules(&call)).await;
            if let Err(error) = renewed {
                tracing::debug!(%error, "the catalog of a source was not read again");
            }
        });
    }

    pub(crate) async fn test(self: &Arc<Self>, call: &Call) -> Result<TestReport, Error> {
        self.enter(call).await?;
        let role = self.role(call).await?;
        // Locking a row counts as writing. The server looks at the transaction before it looks at the role's rights, so any
        // other refusal means that the transaction was not read-only.
        let probe = "SELECT 1 FROM pg_catalog.pg_class WHERE relname = 'pg_class' FOR UPDATE";
        let read_only = match self
            .look::<serde_json::Value>(probe, Vec::new(), call)
            .await
        {
            Err(Error::Database { message, code, .. }) if code == "25006" => message,
            Err(error) => return Err(error),
            Ok(_) => {
                return Err(Error::source(
                    "the database locked a row for writing although the transaction was to be read-only",
                ));
            }
        };
        Ok(TestReport {
            version: role.version.clone(),
            role: Some(role.name.clone()),
            read_only,
            is_bound: role.too_strong().is_none(),
            may_write: role.may_write,
            warnings: role.warnings(),
        })
    }
}

/// All tools wait for what is asked here, so it must not wait for the places of one of them.
pub(super) fn ours(call: &Call) -> Call {
    Call {
        tool: "".into(),
        ..call.clone()
    }
}

impl Role {
    fn too_strong(&self) -> Option<String> {
        if self.superuser {
            return Some("is a superuser, whom a read-only transaction does not bind".to_owned());
        }
        let beyond = |power: &&String| {
            [
                "pg_read_server_files",
                "pg_write_server_files",
                "pg_execute_server_program",
            ]
            .contains(&power.as_str())
        };
        let power = self.powers.iter().find(beyond)?;
        Some(format!(
            "is a member of `{power}` and so reaches beyond the database"
        ))
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        warnings.extend(self.too_strong().map(|why| format!("the role {why}")));
        if self.writable > 0 {
            warnings.push(format!(
                "the role may change {} tables; a role that can only read is the better wall",
                self.writable
            ));
        }
        if self.bypasses_row_security {
            warnings.push("row security does not apply to the role".to_owned());
        }
        if self.creates_roles {
            warnings.push("the role may create roles".to_owned());
        }
        if self.creates_temporary {
            warnings.push("the role may create temporary tables".to_owned());
        }
        warnings
    }
}
