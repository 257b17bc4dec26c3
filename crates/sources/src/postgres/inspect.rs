//! What is asked of a database about itself: who we are there, and what its functions are like.

use super::Postgres;
use super::parameter::Parameter;
use crate::error::Error;
use crate::guard::{Found, HARMFUL, HARMLESS, Rules};
use crate::lexeme::truncate;
use crate::schema::TestReport;
use crate::source::Call;
use serde::Deserialize;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

/// How long what was learned counts. Within that time a new function is unknown, and an unknown name is not refused.
const FRESH: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(super) struct Known {
    role: Learned<Role>,
    rules: Learned<Rules>,
}

/// Something that was asked once and counts for a while.
#[derive(Debug)]
struct Learned<T> {
    last: std::sync::Mutex<Option<(Instant, Arc<T>)>>,
    /// Held by whoever asks, so that the others wait for them instead of asking as well.
    asking: Mutex<()>,
}

impl<T> Default for Learned<T> {
    fn default() -> Self {
        Learned {
            last: std::sync::Mutex::default(),
            asking: Mutex::default(),
        }
    }
}

impl<T> Learned<T> {
    fn fresh(&self) -> Option<Arc<T>> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = last.as_ref().filter(|(at, _)| at.elapsed() < FRESH);
        fresh.map(|(_, value)| Arc::clone(value))
    }

    async fn get<F: Future<Output = Result<T, Error>>>(
        &self,
        call: &Call,
        ask: impl FnOnce() -> F,
    ) -> Result<Arc<T>, Error> {
        match self.fresh() {
            Some(fresh) => Ok(fresh),
            // In a box: it is seldom asked, and its room would be part of every call.
            None => Box::pin(self.learn(call, ask())).await,
        }
    }

    async fn learn(
        &self,
        call: &Call,
        ask: impl Future<Output = Result<T, Error>>,
    ) -> Result<Arc<T>, Error> {
        let asking = timeout_at(call.deadline, self.asking.lock()).await;
        let _asking = asking.map_err(|_| Error::Deadline)?;
        if let Some(fresh) = self.fresh() {
            return Ok(fresh);
        }
        let value = Arc::new(ask.await?);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some((Instant::now(), Arc::clone(&value)));
        Ok(value)
    }
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
    AND pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')) AS writable
FROM pg_catalog.pg_roles r WHERE r.rolname = current_user";

/// An aggregate is never volatile by declaration; what it is made of may be. Of the argument types, 2275 is `cstring` and
/// 2281 `internal`.
const FUNCTIONS: &str = "\
SELECT n.nspname = 'pg_catalog' AS core, n.nspname AS schema, p.proname AS name,
  pg_catalog.bool_or(p.provolatile = 'v' OR p.prosecdef OR p.prokind = 'a' AND EXISTS (
    SELECT 1 FROM pg_catalog.pg_aggregate a JOIN pg_catalog.pg_proc f ON f.oid IN (a.aggtransfn, a.aggfinalfn,
      a.aggcombinefn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn)
    WHERE a.aggfnoid = p.oid AND f.provolatile = 'v')) AS volatile,
  pg_catalog.bool_or(2275 = ANY (p.proargtypes) OR 2281 = ANY (p.proargtypes)) AS internal,
  pg_catalog.bool_or(p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1) AS attribute,
  pg_catalog.bool_or(p.proname IN (SELECT a.attname FROM pg_catalog.pg_attribute a
    JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace
    WHERE a.attnum > 0 AND NOT a.attisdropped AND s.nspname NOT IN ('pg_catalog', 'information_schema'))) AS is_column
FROM pg_catalog.pg_proc p
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
GROUP BY 1, 2, 3";

/// Functions that somebody wrote in this database, and declared to be whatever they liked. Called by name none is open that
/// the source does not list ($2), and so it is behind an operator, a cast or the check of a domain. What is of an extension,
/// or written in C, counts as it is declared. A view is its owner's own query, for which the declaration is enough.
macro_rules! unproven {
    () => {
        "\
unproven AS (
  SELECT p.oid FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang
  WHERE p.oid >= 16384 AND l.lanname NOT IN ('c', 'internal') AND p.proname <> ALL ($2::text[])
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d
      WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'))"
    };
}

/// Operators with a function behind them that may have an effect, or that of the server which is open to nobody.
const OPERATORS: &str = concat!(
    "WITH ",
    unproven!(),
    "
SELECT DISTINCT o.oprname AS name
FROM pg_catalog.pg_operator o
JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode
WHERE p.provolatile = 'v' OR p.prosecdef OR p.proname = ANY ($1::text[]) OR p.oid IN (SELECT oid FROM unproven)"
);

/// Views that a volatile function is behind, at any depth; domains that check with one, and the types that hold such a
/// domain; types cast by one. Functions of the server are not among what a view depends on, so its stored tree is searched.
/// One that stands in the default of an argument is not even there, and neither is that of a domain which the view makes a
/// value of: there the types tell. Of an own function that gives rows with such a domain the rows were made before.
const RELATIONS: &str = concat!(
    "WITH RECURSIVE ",
    unproven!(),
    ", by_itself AS (
  SELECT p.oid, n.nspname NOT IN ('pg_catalog', 'information_schema') AS own
  FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  WHERE (p.provolatile = 'v' OR p.prosecdef OR EXISTS (
      SELECT 1 FROM pg_catalog.pg_aggregate a JOIN pg_catalog.pg_proc f ON f.oid IN (a.aggtransfn, a.aggfinalfn,
        a.aggcombinefn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn)
      WHERE a.aggfnoid = p.oid AND f.provolatile = 'v'))
    AND NOT (n.nspname = 'pg_catalog' AND p.proname = ANY ($1::text[]))
), by_default AS (
  SELECT p.oid FROM pg_catalog.pg_proc p
  WHERE p.proargdefaults::text ~ (
    SELECT ':(funcid|opfuncid) (' || pg_catalog.string_agg(oid::text, '|') || ') ' FROM by_itself)
  UNION
  SELECT p.oid FROM by_default JOIN pg_catalog.pg_proc p
    ON p.proargdefaults::text ~ (':(funcid|opfuncid) ' || by_default.oid || ' ')
), volatile AS (
  SELECT oid, own FROM by_itself UNION SELECT oid, true FROM by_default
), tree (pattern) AS (
  SELECT ':(funcid|opfuncid|winfnoid|aggfnoid) (' || pg_catalog.string_agg(oid::text, '|') || ') ' FROM volatile
), check_tree (pattern) AS (
  SELECT ':(funcid|opfuncid) (' || pg_catalog.string_agg(oid::text, '|') || ') '
  FROM (SELECT oid FROM volatile UNION SELECT oid FROM unproven) u
), holds (part, oid) AS (
  SELECT t.typbasetype, t.oid FROM pg_catalog.pg_type t WHERE t.typbasetype <> 0
  UNION ALL SELECT t.typelem, t.oid FROM pg_catalog.pg_type t WHERE t.typelem <> 0
  UNION ALL SELECT r.rngsubtype, r.rngtypid FROM pg_catalog.pg_range r
  UNION ALL SELECT r.rngtypid, r.rngmultitypid FROM pg_catalog.pg_range r
  UNION ALL SELECT a.atttypid, c.reltype FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
    WHERE a.attnum > 0 AND c.reltype <> 0
), checked (oid, volatile) AS (
  SELECT k.contypid, k.conbin::text ~ (SELECT pattern FROM tree) FROM pg_catalog.pg_constraint k
  WHERE k.contypid <> 0 AND k.conbin::text ~ (SELECT pattern FROM check_tree)
  UNION
  SELECT holds.oid, checked.volatile FROM checked JOIN holds ON holds.part = checked.oid
), type_tree (pattern) AS (
  SELECT ':(resulttype|typid) (' || oids || ') |:(funccoltypes|coltypes) [(]o[ 0-9]* (' || oids || ')[ )]'
    || '|:funcid (1[0-5][0-9]{3}|[0-9]{1,4}) :funcresulttype (' || oids || ') '
  FROM (SELECT pg_catalog.string_agg(oid::text, '|') AS oids FROM checked WHERE volatile) c
), behind AS (
  SELECT r.ev_class AS oid FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_class c ON c.oid = r.ev_class
  WHERE c.relkind = 'v' AND r.oid >= 16384 AND (r.ev_action::text ~ (SELECT pattern FROM tree)
    OR r.ev_action::text ~ (SELECT pattern FROM type_tree))
  UNION
  SELECT r.ev_class FROM behind
  JOIN pg_catalog.pg_depend d ON d.refobjid = behind.oid AND d.refclassid = 'pg_catalog.pg_class'::regclass
    AND d.classid = 'pg_catalog.pg_rewrite'::regclass
  JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid
)
SELECT c.relname AS name, false AS rows FROM behind JOIN pg_catalog.pg_class c ON c.oid = behind.oid WHERE c.relkind = 'v'
UNION
SELECT t.typname, coalesce(c.relkind <> 'c', false) FROM checked
JOIN pg_catalog.pg_type t ON t.oid = checked.oid LEFT JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
UNION
SELECT t.typname, coalesce(r.relkind <> 'c', false) FROM pg_catalog.pg_cast c
JOIN (SELECT oid FROM volatile WHERE own UNION SELECT oid FROM unproven) v ON v.oid = c.castfunc
JOIN pg_catalog.pg_type t ON t.oid IN (c.castsource, c.casttarget)
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
LEFT JOIN pg_catalog.pg_class r ON r.oid = t.typrelid
WHERE n.nspname <> 'pg_catalog'"
);

#[derive(Deserialize)]
struct Function {
    core: bool,
    schema: String,
    name: String,
    volatile: bool,
    internal: bool,
    attribute: bool,
    is_column: bool,
}

#[derive(Deserialize)]
struct Relation {
    name: String,
    /// Only the type of its rows is meant.
    rows: bool,
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

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
        self.known.rules.get(call, || self.ask_rules(call)).await
    }

    async fn ask_rules(self: &Arc<Self>, call: &Call) -> Result<Rules, Error> {
        let call = ours(call);
        let mut functions: Vec<Function> = self.look(FUNCTIONS, Vec::new(), &call).await?;
        let names = |names: &[&str]| Parameter::new("names", &serde_json::json!(names), false);
        let listed: Vec<&str> = self.config.functions.iter().map(String::as_str).collect();
        let asked = |core: &[&str]| Ok::<_, Error>(vec![names(core)?, names(&listed)?]);
        let operators: Vec<Name> = self.look(OPERATORS, asked(HARMFUL)?, &call).await?;
        let mut relations: Vec<Relation> = self.look(RELATIONS, asked(HARMLESS)?, &call).await?;
        let of_functions = functions.iter_mut().map(|function| &mut function.name);
        let of_relations = relations.iter_mut().map(|relation| &mut relation.name);
        of_functions.chain(of_relations).for_each(truncate);
        let functions: Vec<Found> = functions
            .into_iter()
            .map(|function| Found {
                core: function.core,
                schema: function.schema,
                name: function.name,
                volatile: function.volatile,
                internal: function.internal,
                attribute: function.attribute,
                is_column: function.is_column,
            })
            .collect();
        let (rows, relations): (Vec<Relation>, Vec<Relation>) = relations
            .into_iter()
            .filter(|relation| !self.config.functions.contains(&relation.name))
            .partition(|relation| relation.rows);
        let operators = operators
            .into_iter()
            .map(|operator| operator.name)
            .collect();
        Ok(Rules::new(
            &functions,
            operators,
            relations.into_iter().map(|relation| relation.name),
            rows.into_iter().map(|relation| relation.name).collect(),
            &self.config.functions,
        ))
    }

    pub(crate) async fn test(self: &Arc<Self>, call: &Call) -> Result<TestReport, Error> {
        self.check_role(call).await?;
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
            warnings: role.warnings(),
        })
    }
}

/// All tools wait for what is asked here, so it must not wait for the places of one of them.
fn ours(call: &Call) -> Call {
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
