//! Every type that PostgreSQL brings along, alone and as an array, in one row: what we make of it beside what its own
//! `to_json` makes of it.

use crate::json;
use crate::server::Server;
use serde_json::{Value, json as value};
use sources::Shape;

/// Where we differ from `to_json`, and why. Everything else is the same.
fn differences() -> Vec<(&'static str, Value, &'static str)> {
    let digits = "readers of JSON would round it";
    let number = "an oid is a number";
    let text = "a row in a column is as PostgreSQL writes it: its fields may have names twice";
    vec![
        (
            "9223372036854775807::int8",
            value!("9223372036854775807"),
            digits,
        ),
        (
            "(-9007199254740993)::int8",
            value!("-9007199254740993"),
            digits,
        ),
        (
            "9223372036854775807::amount",
            value!("9223372036854775807"),
            digits,
        ),
        (
            "123456789012345678.125::numeric",
            value!("123456789012345678.125"),
            digits,
        ),
        (
            "1e-330::numeric",
            value!(format!("0.{}1", "0".repeat(329))),
            "readers of JSON would take it for nothing",
        ),
        ("12345::oid", value!(12345), number),
        ("ROW(1, 'x')", value!("(1,x)"), text),
        ("ROW(1, 'x')::pair", value!("(1,x)"), text),
    ]
}

/// What is the same, among it at least one value of each type.
const SAME: &[&str] = &[
    "true",
    "'\\x00ff'::bytea",
    "'x'::\"char\"",
    "'x'::name",
    "1::int2",
    "-5::int4",
    "9007199254740992::int8",
    "'now'::regproc",
    "'한글 🦀 \"\\'::text",
    "E'a\\tb\\n\\u0001'::text",
    "'(0,1)'::tid",
    "'7'::xid",
    "'7'::cid",
    "'{\"a\": [1, null]}'::json",
    "'<a>1</a>'::xml",
    "(SELECT conbin FROM pg_constraint WHERE conbin IS NOT NULL ORDER BY oid LIMIT 1)",
    "'(1,2)'::point",
    "'[(0,0),(1,1)]'::lseg",
    "'((0,0),(1,1))'::path",
    "'(1,1),(0,0)'::box",
    "'((0,0),(1,1),(1,0))'::polygon",
    "'{1,2,3}'::line",
    "'10.0.0.0/8'::cidr",
    "1.5::float4",
    "0.1::float4",
    "1e300::float8",
    "0.1::float8",
    "'NaN'::float8",
    "'-Infinity'::float4",
    "'<(0,0),2>'::circle",
    "'08:00:2b:01:02:03:04:05'::macaddr8",
    "'12.50'::money",
    "'08:00:2b:01:02:03'::macaddr",
    "'10.0.0.1/8'::inet",
    "makeaclitem(10, 10, 'SELECT', false)",
    "'x'::char(3)",
    "'x'::varchar",
    "'2024-01-02'::date",
    "'infinity'::date",
    "'0044-03-15 BC'::date",
    "'03:04:05.5'::time",
    "'2024-01-02 03:04:05.678901'::timestamp",
    "'-infinity'::timestamp",
    "'0044-03-15 01:02:03 BC'::timestamp",
    "'2024-01-02 03:04:05+09'::timestamptz",
    "'1883-01-01 00:00:00+00'::timestamptz",
    "'1 year 2 days 03:00'::interval",
    "'03:04:05+09'::timetz",
    "'101'::bit(3)",
    "'101'::varbit",
    "12.50::numeric(10,2)",
    "'NaN'::numeric",
    "0.000000000000000000001::numeric",
    "'c'::refcursor",
    "'lower(text)'::regprocedure",
    "'|/'::regoper",
    "'+(int4,int4)'::regoperator",
    "'people'::regclass",
    "'int4'::regtype",
    "'a1b2c3d4-0000-0000-0000-000000000001'::uuid",
    "'10:20:10,14'::txid_snapshot",
    "'0/16B3748'::pg_lsn",
    "NULL::pg_ndistinct",
    "NULL::pg_dependencies",
    "to_tsvector('simple', 'b a')",
    "to_tsquery('simple', 'a & b')",
    "NULL::gtsvector",
    "'simple'::regconfig",
    "'simple'::regdictionary",
    "'{\"a\": [1, null, 1.50]}'::jsonb",
    "'null'::jsonb",
    "'1e-400'::jsonb",
    "'{\"n\":0.12345678901234567890}'::json",
    "int4range(1, 5)",
    "numrange(1.5, NULL)",
    "tsrange('2024-01-01', '2024-01-02')",
    "tstzrange('2024-01-01 00:00:00+00', NULL)",
    "daterange('2024-01-01', NULL)",
    "int8range(1, 5)",
    "'$.a'::jsonpath",
    "'pg_catalog'::regnamespace",
    "'pg_monitor'::regrole",
    "'\"C\"'::regcollation",
    "'{[1,5)}'::int4multirange",
    "'{[1,5)}'::nummultirange",
    "'{[2024-01-01,2024-01-02)}'::tsmultirange",
    "'{[2024-01-01 00:00:00+00,)}'::tstzmultirange",
    "'{[2024-01-01,2024-01-05)}'::datemultirange",
    "'{[1,5)}'::int8multirange",
    "NULL::pg_brin_bloom_summary",
    "NULL::pg_brin_minmax_multi_summary",
    "NULL::pg_mcv_list",
    "'10:20:10,14'::pg_snapshot",
    "'7'::xid8",
    "'ok'::mood",
    "5::amount",
    "'x'::label",
    "'1 2'::int2vector",
    "'1 2'::oidvector::int8[]",
    "ARRAY[[1, 2], [3, 4]]",
    "ARRAY[1, NULL]",
    "'{}'::text[]",
    "'[0:1]={1,2}'::int[]",
    "ARRAY['a,b', 'c\"d', '', 'NULL', NULL]",
];
/// These can be in no array.
const ALONE: &[&str] = &[
    "pg_constraint",
    "pg_ndistinct",
    "pg_dependencies",
    "pg_brin",
    "pg_mcv_list",
    "ARRAY",
    "[]",
    "vector",
    "ROW(1, 'x')",
];
const TYPES: &str = "
SELECT coalesce(string_agg(t.typname, ', '), '') FROM pg_type t
WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype IN ('b', 'r', 'm') AND t.typcategory <> 'A' AND t.oid <> ALL (ARRAY[";

/// What the values need.
pub(crate) const SETUP: &str = "CREATE DOMAIN amount AS int8; CREATE DOMAIN label AS varchar(5)";

pub(crate) fn values() -> impl Iterator<Item = &'static str> {
    let differing = differences().into_iter().map(|(value, ..)| value);
    SAME.iter().copied().chain(differing)
}

#[tokio::test]
async fn every_type_is_what_to_json_makes_of_it_or_listed_here() {
    let Some(server) = Server::start().await else {
        return;
    };
    server.as_owner(SETUP).await;
    let source = server.source(&server.owner);
    let mut expressions: Vec<(String, Option<Value>)> = Vec::new();
    let differing = differences()
        .into_iter()
        .map(|(expression, ours, _)| (expression, Some(ours)));
    for (expression, ours) in SAME
        .iter()
        .map(|expression| (*expression, None))
        .chain(differing)
    {
        expressions.push((expression.to_owned(), ours.clone()));
        if !ALONE
            .iter()
            .any(|word| expression.contains(word) && !expression.ends_with("::pair"))
        {
            expressions.push((
                format!("ARRAY[{expression}, NULL]"),
                ours.map(|ours| value!([ours, null])),
            ));
        }
    }
    let columns: Vec<String> = expressions
        .iter()
        .enumerate()
        .map(|(index, (expression, _))| {
            format!("{expression} AS c{index}, to_json({expression}) AS t{index}")
        })
        .collect();
    let row = json(
        &source,
        &format!("SELECT {}", columns.join(", ")),
        Shape::Row,
    )
    .await;
    let mut wrong = Vec::new();
    for (index, (expression, expected)) in expressions.iter().enumerate() {
        let (ours, theirs) = (&row[format!("c{index}")], &row[format!("t{index}")]);
        let fine = match expected {
            None => ours == theirs,
            // A difference that is none any more is to be struck from the list.
            Some(expected) => ours == expected && ours != theirs,
        };
        if !fine {
            wrong.push(format!("{expression}: {ours}, to_json {theirs}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let oids: Vec<String> = expressions
        .iter()
        .map(|(expression, _)| format!("pg_typeof({expression})::oid"))
        .collect();
    let missing = json(
        &source,
        &format!("{TYPES}{}])", oids.join(", ")),
        Shape::Scalar,
    )
    .await;
    assert_eq!(missing, "", "types that nobody tried");
    server.end().await;
}
