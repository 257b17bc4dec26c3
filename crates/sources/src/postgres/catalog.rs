//! What the catalog of a database says of its functions, operators, views and types, and which of them do nothing that a
//! caller may not.

use super::Postgres;
use super::inspect::ours;
use super::parameter::Parameter;
use super::run::{Reading, Work};
use crate::error::Error;
use crate::guard::{Behind, Catalog, Found, HARMFUL, HARMLESS, Rules, is_harmless_body};
use crate::lexeme::truncate;
use crate::source::Call;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

/// So many times bodies of functions are read again because others turned out to be harmful.
const ROUNDS_MAX: usize = 8;
/// So many times they are read again because types that they take turned out to be harmless.
const LAYERS_MAX: usize = 3;

/// Functions that somebody wrote in this database, and declared to be whatever they liked. Called by name none is open that
/// the source does not list ($1), and so it is behind an operator, a cast or the check of a domain, unless we have read it
/// ($2). What is of an extension, or written in C, counts as it is declared. A view is its owner's own query, for which the
/// declaration is enough.
macro_rules! unproven {
    () => {
        "\
listed AS (
  SELECT p.oid FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  WHERE p.proname = ANY ($1::text[]) OR n.nspname || '.' || p.proname = ANY ($1::text[])
), unproven AS (
  SELECT p.oid FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang
  WHERE p.oid >= 16384 AND l.lanname NOT IN ('c', 'internal') AND p.oid <> ALL ($2::oid[])
    AND NOT EXISTS (SELECT 1 FROM listed WHERE listed.oid = p.oid)
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d
      WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'))"
    };
}

/// An aggregate is never volatile by declaration; what it is made of may be, and runs with its owner's rights. Of the
/// argument types, 2275 is `cstring` and 2281 `internal`. What somebody put into `pg_catalog` is not the server's own: an
/// extension that runs text may lie there, and calls itself stable. The path of the role is given ($3): what a name without
/// a schema means is what stands first on it.
const FUNCTIONS: &str = concat!(
    "WITH ",
    unproven!(),
    ", hidden AS (
  SELECT oid FROM unproven
  UNION SELECT a.aggfnoid::oid FROM pg_catalog.pg_aggregate a, LATERAL (VALUES (a.aggtransfn::oid), (a.aggfinalfn::oid),
    (a.aggcombinefn::oid), (a.aggmtransfn::oid), (a.aggminvtransfn::oid), (a.aggmfinalfn::oid)) f (oid)
    JOIN unproven ON unproven.oid = f.oid
    WHERE a.aggfnoid::oid NOT IN (SELECT oid FROM listed)
)
SELECT n.nspname = 'pg_catalog' AND p.oid < 16384 AS core, n.nspname AS schema, p.proname AS name,
  pg_catalog.bool_or(p.provolatile = 'v' OR p.prosecdef OR p.prokind = 'a' AND EXISTS (
    SELECT 1 FROM pg_catalog.pg_aggregate a JOIN pg_catalog.pg_proc f ON f.oid IN (a.aggtransfn, a.aggfinalfn,
      a.aggcombinefn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn)
    WHERE a.aggfnoid = p.oid AND f.provolatile = 'v')) AS volatile,
  pg_catalog.bool_or(2275 = ANY (p.proargtypes) OR 2281 = ANY (p.proargtypes)) AS internal,
  pg_catalog.bool_or(p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1) AS attribute,
  pg_catalog.bool_or(p.proname IN (SELECT a.attname FROM pg_catalog.pg_attribute a
    JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace s ON s.oid = c.relnamespace
    WHERE a.attnum > 0 AND NOT a.attisdropped AND s.nspname NOT IN ('pg_catalog', 'information_schema'))) AS is_column,
  coalesce(pg_catalog.array_agg(p.oid::int8) FILTER (WHERE hidden.oid IS NOT NULL
    AND n.nspname = ANY ($3::text[]) AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_proc q JOIN pg_catalog.pg_namespace m ON m.oid = q.pronamespace
      WHERE q.proname = p.proname AND q.proargtypes = p.proargtypes
      AND pg_catalog.array_position($3::text[], m.nspname::text) < pg_catalog.array_position($3::text[], n.nspname::text))
  ), '{}') AS unproven
FROM pg_catalog.pg_proc p
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
LEFT JOIN hidden ON hidden.oid = p.oid
GROUP BY 1, 2, 3"
);

/// The only question that is asked with the path of the role. Nothing in it can be anybody's but the server's.
const PATH: &str = "SELECT pg_catalog.current_schemas(true)::pg_catalog.text[] AS path";

/// Functions that can be read: in SQL, of one's own rights and settings, not volatile. Only those matter that something
/// else than their name calls, or whose name is one of the server's too.
const BODIES: &str = concat!(
    "WITH ",
    unproven!(),
    "
SELECT p.oid::int8 AS oid, p.prosrc AS body, ARRAY(SELECT t.typname::text FROM pg_catalog.pg_type t WHERE t.oid >= 16384
  AND (t.oid = p.prorettype OR t.oid = ANY (p.proargtypes) OR t.oid = ANY (p.proallargtypes))) AS types
FROM unproven JOIN pg_catalog.pg_proc p ON p.oid = unproven.oid JOIN pg_catalog.pg_language l ON l.oid = p.prolang
WHERE l.lanname = 'sql' AND p.prokind = 'f' AND p.provolatile <> 'v' AND NOT p.prosecdef AND p.proconfig IS NULL
  AND pg_catalog.octet_length(p.prosrc) < 4096
  AND (EXISTS (SELECT 1 FROM pg_catalog.pg_operator o WHERE o.oprcode = p.oid)
    OR EXISTS (SELECT 1 FROM pg_catalog.pg_cast c WHERE c.castfunc = p.oid)
    OR EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_constraint'::regclass
      AND d.refclassid = 'pg_catalog.pg_proc'::regclass AND d.refobjid = p.oid)
    OR EXISTS (SELECT 1 FROM pg_catalog.pg_proc s WHERE s.proname = p.proname AND s.oid < 16384))"
);

/// Operators with a function behind them that may have an effect, or that of the server which is open to nobody. One that
/// the role may not execute PostgreSQL refuses by itself.
const OPERATORS: &str = concat!(
    "WITH ",
    unproven!(),
    "
SELECT DISTINCT o.oprname AS operator, n.nspname || '.' || p.proname AS function, p.oid::int8 AS oid
FROM pg_catalog.pg_operator o
JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode
JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE (p.provolatile = 'v' OR p.prosecdef OR p.proname = ANY ($3::text[]) OR p.oid IN (SELECT oid FROM unproven))
  AND p.oid NOT IN (SELECT oid FROM listed) AND pg_catalog.has_function_privilege(p.oid, 'EXECUTE')"
);

/// Views that a volatile function is behind, at any depth; domains that check with one, and the types that hold such a
/// domain; types cast by one. Functions of the server are not among what a view depends on, so its stored tree is searched.
/// One that stands in the default of an argument is not even there, and neither is that of a domain which the view makes a
/// value of: there the types tell. Of an own function that gives rows with such a domain the rows were made before.
const RELATIONS: &str = concat!(
    "WITH RECURSIVE ",
    unproven!(),
    ", run AS (
  SELECT oid FROM unproven WHERE pg_catalog.has_function_privilege(oid, 'EXECUTE')
), by_itself AS (
  SELECT p.oid, n.nspname NOT IN ('pg_catalog', 'information_schema') AS own
  FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  WHERE (p.provolatile = 'v' OR p.prosecdef OR EXISTS (
      SELECT 1 FROM pg_catalog.pg_aggregate a JOIN pg_catalog.pg_proc f ON f.oid IN (a.aggtransfn, a.aggfinalfn,
        a.aggcombinefn, a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn)
      WHERE a.aggfnoid = p.oid AND f.provolatile = 'v'))
    AND NOT (n.nspname = 'pg_catalog' AND p.proname = ANY ($3::text[]))
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
  FROM (SELECT oid FROM volatile UNION SELECT oid FROM run) u WHERE oid NOT IN (SELECT oid FROM listed)
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
SELECT c.relname AS name, 'view' AS kind FROM behind JOIN pg_catalog.pg_class c ON c.oid = behind.oid WHERE c.relkind = 'v'
UNION
SELECT t.typname, CASE WHEN c.relkind <> 'c' THEN 'row' ELSE 'type' END FROM checked
JOIN pg_catalog.pg_type t ON t.oid = checked.oid LEFT JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
UNION
SELECT t.typname, CASE WHEN r.relkind <> 'c' THEN 'row' ELSE 'type' END FROM pg_catalog.pg_cast c
JOIN (SELECT oid FROM volatile WHERE own UNION SELECT oid FROM run) v ON v.oid = c.castfunc
  AND v.oid NOT IN (SELECT oid FROM listed)
JOIN pg_catalog.pg_type t ON t.oid IN (c.castsource, c.casttarget)
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
LEFT JOIN pg_catalog.pg_class r ON r.oid = t.typrelid
WHERE n.nspname <> 'pg_catalog'"
);

#[derive(Deserialize)]
struct Path {
    path: Vec<String>,
}

#[derive(Deserialize)]
struct Function {
    core: bool,
    schema: String,
    name: String,
    volatile: bool,
    internal: bool,
    attribute: bool,
    is_column: bool,
    unproven: Vec<i64>,
}

#[derive(Deserialize)]
struct Body {
    oid: i64,
    body: String,
    /// The types of what it takes and gives that are not the server's own. A value of each is made for it.
    types: Vec<String>,
}

#[derive(Deserialize)]
struct Operator {
    operator: String,
    function: String,
    oid: i64,
}

#[derive(Deserialize)]
struct Relation {
    name: String,
    kind: Kind,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    View,
    Type,
    /// A table, of which only the type of its rows is meant.
    Row,
}

impl Postgres {
    pub(super) async fn ask_rules(self: &Arc<Self>, call: &Call) -> Result<Rules, Error> {
        let call = ours(call);
        let listed = &self.config.functions;
        let none = HashSet::new();
        let mut catalog = Catalog {
            functions: self.ask_functions(&call).await?,
            operators: self.ask_operators(&call).await?,
            ..Catalog::default()
        };
        self.ask_relations(&mut catalog, &none, &call).await?;
        let bodies: Vec<Body> = self.look(BODIES, self.asked(&none, None)?, &call).await?;
        let mut known = none;
        for _ in 0..LAYERS_MAX {
            let proven = proven(&catalog, listed, &bodies);
            if proven.len() == known.len() {
                break;
            }
            // Types hold each other, so which of them are left is for the database to say.
            self.ask_relations(&mut catalog, &proven, &call).await?;
            known = proven;
        }
        Ok(Rules::new(&catalog, listed, &known))
    }

    /// What the queries above ask for: what is listed, what is proven, and a list of names of their own.
    fn asked(
        &self,
        proven: &HashSet<i64>,
        names: Option<&[&str]>,
    ) -> Result<Vec<Parameter<'static>>, Error> {
        let lists: [Option<Value>; 3] = [
            Some(json!(self.config.functions)),
            Some(json!(proven)),
            names.map(|names| json!(names)),
        ];
        let lists = lists.iter().flatten();
        lists
            .map(|list| Parameter::new("names", list, false))
            .collect()
    }

    async fn ask_functions(self: &Arc<Self>, call: &Call) -> Result<Vec<Found>, Error> {
        let path = Work::Read(Reading::Once);
        let path: Vec<Path> = self.look_by(path, PATH, Vec::new(), call).await?;
        let path = path.into_iter().flat_map(|it| it.path);
        // No function there is found by its name alone.
        let path: Vec<String> = path.filter(|it| !it.starts_with("pg_temp")).collect();
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let asked = self.asked(&HashSet::new(), Some(&path))?;
        let functions: Vec<Function> = self.look(FUNCTIONS, asked, call).await?;
        let found = functions.into_iter().map(|mut function| {
            truncate(&mut function.name);
            Found {
                core: function.core,
                schema: function.schema,
                name: function.name,
                volatile: function.volatile,
                internal: function.internal,
                attribute: function.attribute,
                is_column: function.is_column,
                unproven: function.unproven,
            }
        });
        Ok(found.collect())
    }

    async fn ask_operators(self: &Arc<Self>, call: &Call) -> Result<Vec<Behind>, Error> {
        let asked = self.asked(&HashSet::new(), Some(HARMFUL))?;
        let operators: Vec<Operator> = self.look(OPERATORS, asked, call).await?;
        let behind = operators.into_iter().map(|it| Behind {
            operator: it.operator,
            function: it.function,
            oid: it.oid,
        });
        Ok(behind.collect())
    }

    async fn ask_relations(
        self: &Arc<Self>,
        catalog: &mut Catalog,
        proven: &HashSet<i64>,
        call: &Call,
    ) -> Result<(), Error> {
        let asked = self.asked(proven, Some(HARMLESS))?;
        let relations: Vec<Relation> = self.look(RELATIONS, asked, call).await?;
        let is_listed = |name: &String| self.config.functions.contains(name);
        catalog.views.clear();
        catalog.types.clear();
        catalog.rows.clear();
        for mut relation in relations {
            truncate(&mut relation.name);
            let names = match relation.kind {
                Kind::View => &mut catalog.views,
                Kind::Type => &mut catalog.types,
                Kind::Row => &mut catalog.rows,
            };
            if !is_listed(&relation.name) {
                names.insert(relation.name);
            }
        }
        Ok(())
    }
}

/// Which functions do nothing but what a caller could have written in their place. All are taken for such until one of them
/// is found to need something else; nothing that only they need can be harmful then.
fn proven(catalog: &Catalog, listed: &[String], bodies: &[Body]) -> HashSet<i64> {
    let is_checked = |name: &String| {
        let mut name = name.clone();
        truncate(&mut name);
        catalog.types.contains(&name) || catalog.rows.contains(&name)
    };
    let may_be = |body: &&Body| !body.types.iter().any(is_checked);
    let may_be = bodies.iter().filter(may_be);
    let mut proven: HashSet<i64> = may_be.map(|body| body.oid).collect();
    for _ in 0..ROUNDS_MAX {
        let rules = Rules::new(catalog, listed, &proven);
        let fails =
            |body: &&Body| proven.contains(&body.oid) && !is_harmless_body(&body.body, &rules);
        let failed: Vec<i64> = bodies.iter().filter(fails).map(|body| body.oid).collect();
        if failed.is_empty() {
            return proven;
        }
        for oid in failed {
            proven.remove(&oid);
        }
    }
    HashSet::new()
}
