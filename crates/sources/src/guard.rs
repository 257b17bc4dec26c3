//! What is looked at before text that a caller wrote reaches a database.
//!
//! There is no second grammar here. The text is cut as the engine cuts it, and names are held against what the database
//! itself says of its functions; that it is one query which reads is for the database to enforce (`DECLARE … CURSOR FOR` in a
//! READ ONLY transaction, or SQLite's authorizer), because only its own parser reads the text the way it will be run.

mod columns;
mod definition;
mod expansion;
mod froms;
mod gathered;
mod growth;
mod inner;
mod items;
mod lengths;
mod operators;
mod position;
mod rules;
mod treat;

pub(crate) use inner::{NOT_OPEN, inner_table};
pub(crate) use rules::{Behind, Catalog, Found, HARMFUL, HARMLESS, Rules};

use crate::error::{Error, Place};
use crate::lex::{Placeholders, lex};
use crate::lexeme::{Kind, Lexeme};
use crate::statement::{Engine, TEXT_BYTES_MAX};

const PIECES_MAX: usize = 20_000;
const DEPTH_MAX: usize = 100;
/// With what a query that reads may begin.
const READS: &[&str] = &["SELECT", "WITH", "VALUES", "TABLE"];
/// First words of statements that do something else, for a clear answer; what is in neither list the database names.
const OTHERS: &[&str] = &[
    "ABORT",
    "ALTER",
    "ANALYZE",
    "ATTACH",
    "BEGIN",
    "CALL",
    "CHECKPOINT",
    "CLOSE",
    "CLUSTER",
    "COMMENT",
    "COMMIT",
    "COPY",
    "CREATE",
    "DEALLOCATE",
    "DECLARE",
    "DELETE",
    "DETACH",
    "DISCARD",
    "DO",
    "DROP",
    "END",
    "EXECUTE",
    "EXPLAIN",
    "FETCH",
    "GRANT",
    "IMPORT",
    "INSERT",
    "LISTEN",
    "LOAD",
    "LOCK",
    "MERGE",
    "MOVE",
    "NOTIFY",
    "PRAGMA",
    "PREPARE",
    "REASSIGN",
    "REFRESH",
    "REINDEX",
    "RELEASE",
    "REPLACE",
    "RESET",
    "REVOKE",
    "ROLLBACK",
    "SAVEPOINT",
    "SECURITY",
    "SET",
    "SHOW",
    "START",
    "TRUNCATE",
    "UNLISTEN",
    "UPDATE",
    "VACUUM",
];

/// How far the text may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Run,
    /// We cannot tell what it is: the database may say what is wrong with it, but not run it.
    PrepareOnly,
}

/// Judges the text of a caller. `rules` are what PostgreSQL says of its functions; SQLite's authorizer needs none.
pub(crate) fn judge(text: &str, engine: Engine, rules: Option<&Rules>) -> Result<Verdict, Error> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Error::refused(format!(
            "the query has {} bytes, the most is {TEXT_BYTES_MAX}",
            text.len()
        )));
    }
    if text.contains('\0') {
        return Err(Error::refused(
            "the query holds the character NUL; remove it",
        ));
    }
    let Ok(pieces) = lex(text, engine, Placeholders::Unknown) else {
        return Ok(Verdict::PrepareOnly);
    };
    let pieces = shape(text, &pieces)?;
    names(text, engine, pieces)?;
    expansion::check(engine, pieces)?;
    columns::check(engine, pieces)?;
    if let Some(rules) = rules {
        treat::check(text, pieces)?;
        rules.check(text, pieces)?;
        lengths::check(text, pieces)?;
    }
    first_word(engine, pieces)
}

/// Whether an author's text, with its parameters numbered, names nothing that the rules keep from callers.
pub(crate) fn is_harmless(text: &str, rules: &Rules) -> bool {
    let Ok(pieces) = lex(text, Engine::Postgres, Placeholders::Unknown) else {
        return false;
    };
    let disguised = pieces.iter().any(|piece| piece.kind == Kind::Disguised);
    let treats = treat::check(text, &pieces).is_err();
    !disguised && !treats && rules.check(text, &pieces).is_ok()
}

/// Whether the body of an SQL function is a text that a caller could have sent as well.
pub(crate) fn is_harmless_body(text: &str, rules: &Rules) -> bool {
    let Ok(pieces) = lex(text, Engine::Postgres, Placeholders::Unknown) else {
        return false;
    };
    // What lengthens would do so once for each time that the function is used.
    let is_open = |piece: &Lexeme<'_>| {
        let name = piece.name(Engine::Postgres);
        let lengthens = name.is_some_and(|name| lengths::LENGTHENING.contains(&name.as_str()));
        piece.kind != Kind::Disguised && !lengthens
    };
    let Ok(pieces) = shape(text, &pieces) else {
        return false;
    };
    pieces.iter().all(is_open)
        && !rules.calls_by_dot(pieces)
        && treat::check(text, pieces).is_ok()
        && expansion::check(Engine::Postgres, pieces).is_ok()
        && columns::check(Engine::Postgres, pieces).is_ok()
        && rules.check(text, pieces).is_ok()
        && matches!(first_word(Engine::Postgres, pieces), Ok(Verdict::Run))
}

/// One statement, of bounded size and depth.
fn shape<'p, 't>(text: &str, pieces: &'p [Lexeme<'t>]) -> Result<&'p [Lexeme<'t>], Error> {
    if pieces.len() > PIECES_MAX {
        return Err(Error::refused(format!(
            "the query has {} words and signs, the most is {PIECES_MAX}",
            pieces.len()
        )));
    }
    let mut depth = 0usize;
    for piece in pieces {
        if piece.is_mark("(") || piece.is_mark("[") {
            depth += 1;
        } else if piece.is_mark(")") || piece.is_mark("]") {
            depth = depth.saturating_sub(1);
        }
        if depth > DEPTH_MAX {
            return Err(at(
                text,
                piece,
                format!("is nested deeper than {DEPTH_MAX} levels"),
            ));
        }
    }
    let Some(end) = pieces.iter().position(|piece| piece.is_mark(";")) else {
        return Ok(pieces);
    };
    match pieces[end..].iter().find(|piece| !piece.is_mark(";")) {
        Some(second) => Err(at(
            text,
            second,
            "begins a second statement; expected exactly one query",
        )),
        None => Ok(&pieces[..end]),
    }
}

/// Names that hide what they are, and parameters that nobody would bind.
fn names(text: &str, engine: Engine, pieces: &[Lexeme<'_>]) -> Result<(), Error> {
    if let Some(table) = inner_table(engine, pieces) {
        return Err(at(text, table, NOT_OPEN));
    }
    for piece in pieces {
        match piece.kind {
            Kind::Disguised => {
                return Err(at(
                    text,
                    piece,
                    "is a name with letters spelled as numbers; write it in plain quotes",
                ));
            }
            Kind::Native => {
                return Err(at(
                    text,
                    piece,
                    "is a parameter, and nothing is bound to it; write the value",
                ));
            }
            // A quoted name may hold letters that look like nothing; the engines take them, people do not see them.
            Kind::Quoted if engine == Engine::Postgres && piece.text.len() > 300 => {
                return Err(at(text, piece, "is too long for a name"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn first_word(engine: Engine, pieces: &[Lexeme<'_>]) -> Result<Verdict, Error> {
    let Some(first) = pieces.iter().find(|piece| !piece.is_mark("(")) else {
        return Ok(Verdict::PrepareOnly);
    };
    let is = |list: &[&str]| list.iter().any(|word| first.is_word(word));
    if is(READS) {
        return Ok(Verdict::Run);
    }
    if is(OTHERS) {
        return Err(Error::refused(format!(
            "only queries that read are run here; expected {}, not {}",
            engine.words_that_read(),
            first.text.to_ascii_uppercase()
        )));
    }
    Ok(Verdict::PrepareOnly)
}

pub(crate) fn at(text: &str, piece: &Lexeme<'_>, message: impl AsRef<str>) -> Error {
    let shown: String = piece.text.chars().take(40).collect();
    let place = Place::of(text, piece.start);
    Error::refused(format!("`{shown}` at {place} {}", message.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An own `length` that nobody has proven, and an own `round` that was.
    const LENGTH: i64 = 20_000;
    const ROUND: i64 = 20_001;

    fn rules() -> Rules {
        let function = |core: bool, name: &str, volatile: bool| Found {
            core,
            schema: if core { "pg_catalog" } else { "public" }.to_owned(),
            name: name.to_owned(),
            volatile,
            internal: name == "domain_in",
            attribute: matches!(name, "wipe_user" | "pg_sleep" | "total" | "length"),
            is_column: matches!(name, "total" | "length"),
            unproven: match name {
                "length" if !core => vec![LENGTH],
                "round" if !core => vec![ROUND],
                _ => Vec::new(),
            },
        };
        let functions = vec![
            function(true, "lower", false),
            function(true, "count", false),
            function(true, "max", false),
            function(true, "pg_sleep", true),
            function(true, "random", true),
            function(true, "current_setting", false),
            function(true, "numeric", false),
            function(true, "domain_in", false),
            function(true, "jsonb_populate_record", false),
            function(true, "length", false),
            function(true, "round", false),
            function(true, "repeat", false),
            function(false, "wipe_user", true),
            function(false, "max", false),
            function(false, "lower", true),
            function(false, "listed", true),
            function(false, "total", true),
            function(false, "length", false),
            function(false, "round", false),
        ];
        let behind = |operator: &str, oid: i64| Behind {
            operator: operator.to_owned(),
            function: "public.f".to_owned(),
            oid,
        };
        let operators = [("<#>", LENGTH), ("~~", LENGTH), ("*", LENGTH), ("=", ROUND)];
        let catalog = Catalog {
            functions,
            operators: operators.map(|(name, oid)| behind(name, oid)).into(),
            views: ["v_evil".to_owned()].into(),
            types: ["email".to_owned()].into(),
            rows: ["checked".to_owned()].into(),
        };
        Rules::new(&catalog, &["listed".to_owned()], &[ROUND].into())
    }

    fn verdict(text: &str) -> Result<Verdict, String> {
        judge(text, Engine::Postgres, Some(&rules())).map_err(|error| error.to_string())
    }

    #[test]
    fn queries_that_read_run() {
        for text in [
            "SELECT 1",
            "  /* a */ select count(*), max(a)::numeric(10,2) from t",
            "((SELECT 1))",
            "WITH x(a) AS (VALUES (1)) TABLE x;",
            "SELECT random(), listed(1), a.b, 'pg_sleep(1)' FROM t a -- pg_sleep(1)",
            "SELECT pg_catalog.count(*) FROM t",
            "SELECT repeat('x', 3), repeat('y', 3)",
            "SELECT t.total, t.\"total\" FROM t",
            "SELECT checked.a, public.checked.b FROM checked, public.checked JOIN checked ON true",
            "SELECT checked FROM t AS checked",
            "SELECT *, count(*), t.* FROM t",
            "SELECT a <#>> b, a <# b, a ~~* b FROM t",
            "SELECT email, u.email, 1 AS email FROM u WHERE email = 'a'",
            "SELECT round(1.5), t.length FROM t",
        ] {
            assert_eq!(verdict(text), Ok(Verdict::Run), "{text}");
        }
    }

    #[test]
    fn what_else_is_asked_for_is_refused() {
        for text in [
            "SELECT 1; SELECT 2",
            "DROP TABLE t",
            "COMMIT; DROP TABLE t",
            "SELECT pg_sleep(1)",
            "SELECT \"pg_sleep\" /* */ (1)",
            "SELECT PG_SLEEP\n(1)",
            "SELECT pg_catalog.pg_sleep(1)",
            "SELECT TREAT(1 AS pg_sleep)",
            "SELECT pg_catalog . \"pg_sleep\" (1)",
            "SELECT a[:pg_sleep(1)] FROM t",
            "SELECT U&\"pg_sl\\0065ep\"(1)",
            "SELECT wipe_user(u) FROM people u",
            "SELECT u.wipe_user FROM people u",
            "SELECT (u).wipe_user FROM people u",
            "SELECT (60::float8).pg_sleep",
            "SELECT g.pg_sleep FROM generate_series(1, 2) g",
            "SELECT (1).total",
            "SELECT length(repeat(\"repeat\"('x', 1000), 1000))",
            "SELECT repeat(lower(lpad('x', 1000)), 1000)",
            "SELECT (ARRAY[1])[1].total",
            "SELECT lower('a')",
            "SELECT other.f(1)",
            "SELECT current_setting('x')",
            "SELECT 1 <#> 2",
            "SELECT 1 OPERATOR(public.<#>) 2",
            "SELECT a LIKE b FROM t",
            "SELECT a * b FROM t",
            "SELECT a*-b FROM t",
            "SELECT a OPERATOR(public.*) b FROM t",
            "SELECT 'a'::email",
            "SELECT ('a').email",
            "SELECT g.total FROM generate_series(1, 2) g",
            "SELECT length(u) FROM people u",
            "SELECT (u).length FROM people u",
            "SELECT domain_in('a', 1, -1)",
            "SELECT '(1)'::checked",
            "SELECT '(1)'::public.checked",
            "SELECT CAST('(1)' AS checked)",
            "SELECT checked '(1)'",
            "SELECT checked('(1)')",
            "SELECT * FROM t AS x(a checked)",
            "SELECT jsonb_populate_record(c, '{}') FROM checked c",
            "SELECT * FROM v_evil",
            "SELECT * FROM public.\"v_evil\"",
            "SELECT * FROM pg_authid",
            "SELECT $1",
            "SELECT 1\0",
        ] {
            assert!(verdict(text).is_err(), "{text}");
        }
        assert!(verdict(&"(".repeat(101)).is_err());
        assert!(verdict(&"x".repeat(70_000)).is_err());
    }

    #[test]
    fn each_engine_is_told_of_its_own_words() {
        for (engine, expected) in [
            (
                Engine::Postgres,
                "expected SELECT, WITH, VALUES or TABLE, not SHOW",
            ),
            (Engine::Sqlite, "expected SELECT, WITH or VALUES, not SHOW"),
        ] {
            let told = judge("SHOW TABLES", engine, None).unwrap_err().to_string();
            assert!(told.contains(expected), "{told}");
        }
    }

    #[test]
    fn texts_of_authors_are_harmless_or_not() {
        let rules = rules();
        assert!(is_harmless("SELECT max(a) FROM t WHERE id = $1", &rules));
        for text in [
            "SELECT pg_sleep($1)",
            "SELECT * FROM v_evil WHERE a = $1",
            "SELECT U&\"pg_sl\\0065ep\"(1)",
            "SELECT TREAT($1 AS pg_sleep)",
            "SELECT 'open",
        ] {
            assert!(!is_harmless(text, &rules), "{text}");
        }
    }

    #[test]
    fn bodies_of_functions_are_read_as_texts_of_callers() {
        let rules = rules();
        for text in ["SELECT $1 ~ '@'", "SELECT round($1::numeric, $2);"] {
            assert!(is_harmless_body(text, &rules), "{text}");
        }
        for text in [
            "SELECT pg_sleep(1) IS NULL",
            "SELECT ($1).wipe_user",
            "SELECT x.total",
            "SELECT x.email",
            "SELECT $1 * 2",
            "SELECT length($1)",
            "SELECT $1::email",
            "SELECT repeat($1, 1000)",
            "SELECT 1; SELECT 2",
            "DELETE FROM people",
            "SELECT U&\"pg_sl\\0065ep\"(1)",
            "",
            "SELECT 'open",
        ] {
            assert!(!is_harmless_body(text, &rules), "{text}");
        }
    }

    #[test]
    fn who_is_refused_is_told_what_would_help() {
        let told = verdict("SELECT a * b FROM t").unwrap_err();
        assert!(told.contains("list public.f under `functions`"), "{told}");
        let told = verdict("SELECT 'a'::email").unwrap_err();
        assert!(told.contains("under `functions`"), "{told}");
    }

    #[test]
    fn what_cannot_be_read_is_only_prepared() {
        for text in ["SELEC 1", "SELECT 'open", "", "한글", "SELECT /* open"] {
            assert_eq!(verdict(text), Ok(Verdict::PrepareOnly), "{text}");
        }
    }
}
