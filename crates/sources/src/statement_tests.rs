//! The rewriter: what is a placeholder, what is not, and what the engine gets.

use super::*;
use serde_json::json;
use std::collections::BTreeMap;

fn plain(text: &str, engine: Engine) -> (String, Vec<String>) {
    let statement = Statement::read(text, engine).unwrap_or_else(|error| panic!("{text}: {error}"));
    (statement.plain, statement.names)
}

fn bound(text: &str, engine: Engine, arguments: Value) -> Result<(String, Vec<Value>), Error> {
    let statement = Statement::read(text, engine)?;
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object")
    };
    let caller = BTreeMap::new();
    let bindings = Bindings {
        arguments: &arguments,
        caller: &caller,
    };
    let bound = statement.bind(&bindings)?;
    let values = bound.values.into_iter().map(|(_, value, _)| value);
    Ok((bound.sql.into_owned(), values.collect()))
}

#[test]
fn placeholders_become_numbers() {
    let cases = [
        ("SELECT :a, :b, :a", "SELECT $1, $2, $1", 2),
        ("SELECT {{a}}, {{ b }}, :a", "SELECT $1, $2, $1", 2),
        ("SELECT :a::int, x::text", "SELECT $1::int, x::text", 1),
        ("SELECT :이름, :user_nm2", "SELECT $1, $2", 2),
        (
            "SELECT arr[1:2], arr[:a], ARRAY[:a, :b]",
            "SELECT arr[1:2], arr[$1], ARRAY[$1, $2]",
            2,
        ),
        (
            "SELECT arr[lo:hi], arr[f(:a):hi]",
            "SELECT arr[lo:hi], arr[f($1):hi]",
            1,
        ),
        (
            "SELECT j ? 'k', j->'a', j#>'{a}', j @> :a",
            "SELECT j ? 'k', j->'a', j#>'{a}', j @> $1",
            1,
        ),
        (
            "SELECT f(x := :a, y => :b)",
            "SELECT f(x := $1, y => $2)",
            2,
        ),
        (
            "SELECT :a -- :b\n, :c /* :d /* :e */ :f */",
            "SELECT $1 -- :b\n, $2",
            2,
        ),
        (
            "SELECT ':a', ':a''b', E'\\':a', \":a\", $$:a$$, $t$:a $$ :b$t$, :z",
            "SELECT ':a', ':a''b', E'\\':a', \":a\", $$:a$$, $t$:a $$ :b$t$, $1",
            1,
        ),
        ("SELECT E'a'\n '\\':b', :c", "SELECT E'a'\n '\\':b', $1", 1),
        (
            "SELECT U&'\\0041:a', U&\":b\", B'01', X'1F', :c",
            "SELECT U&'\\0041:a', U&\":b\", B'01', X'1F', $1",
            1,
        ),
        ("SELECT a$b:c, {{d}}2", "SELECT a$b $1, $2 2", 2),
        (
            "SELECT '{{1,2},{3,4}}'::int[], '{{a}}'",
            "SELECT '{{1,2},{3,4}}'::int[], '{{a}}'",
            0,
        ),
        ("SELECT 1 ; ;", "SELECT 1", 0),
    ];
    for (text, expected, count) in cases {
        let (sql, names) = plain(text, Engine::Postgres);
        assert_eq!(sql, expected, "{text}");
        assert_eq!(names.len(), count, "{text}");
    }
}

#[test]
fn sqlite_reads_its_own_way() {
    let cases = [
        (
            "SELECT :a, [:b], `:c`, \":d\", x'00'",
            "SELECT ?1, [:b], `:c`, \":d\", x'00'",
        ),
        ("SELECT /* /* */ :a", "SELECT /* /* */ ?1"),
        ("SELECT 'it\\', :a", "SELECT 'it\\', ?1"),
        ("SELECT j ->> '$.a', {{a}}", "SELECT j ->> '$.a', ?1"),
    ];
    for (text, expected) in cases {
        assert_eq!(plain(text, Engine::Sqlite).0, expected, "{text}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let cases = [
        ("SELECT 1;\n DROP TABLE t", "line 2, column 2"),
        ("SELECT $1", "line 1, column 8"),
        ("SELECT 'open", "line 1, column 8"),
        ("SELECT 1 /* open /* */", "line 1, column 10"),
        ("SELECT $x$ open $y$", "line 1, column 8"),
        ("SELECT {{a b}}", "line 1, column 8"),
        ("SELECT {{}}", "line 1, column 8"),
        (" -- nothing", "line 1, column 1"),
        ("SELECT 1\0", "line 1, column 9"),
    ];
    for (text, place) in cases {
        let error = Statement::read(text, Engine::Postgres)
            .unwrap_err()
            .to_string();
        assert!(error.contains(place), "{text}: {error}");
    }
    for text in ["SELECT ?", "SELECT ?1", "SELECT @a", "SELECT $a"] {
        assert!(Statement::read(text, Engine::Sqlite).is_err(), "{text}");
    }
    let statement = Statement::read("SELECT\n  :a", Engine::Postgres).unwrap();
    assert_eq!(
        statement.place("a").unwrap().to_string(),
        "line 2, column 3"
    );
}

#[test]
fn lists_spread_inside_in_only() {
    let ids = json!({"ids": [7, 8], "n": 1});
    let text = "SELECT * FROM t WHERE a IN (:ids) AND b = :n AND c = ANY(:ids) AND d IN (0, :ids)";
    let (sql, values) = bound(text, Engine::Postgres, ids).unwrap();
    assert_eq!(
        sql,
        "SELECT * FROM t WHERE a IN ($1,$2) AND b = $3 AND c = ANY($4) AND d IN (0, $1,$2)"
    );
    assert_eq!(values, [json!(7), json!(8), json!(1), json!([7, 8])]);
    let none = json!({"ids": []});
    let (sql, values) = bound("SELECT 1 WHERE 1 IN (:ids)", Engine::Sqlite, none.clone()).unwrap();
    assert_eq!((sql.as_str(), values.len()), ("SELECT 1 WHERE 1 IN ()", 0));
    let (sql, _) = bound("SELECT 1 WHERE 1 IN (:ids)", Engine::Postgres, none.clone()).unwrap();
    assert_eq!(sql, "SELECT 1 WHERE 1 IN (NULL)");
    let (sql, _) = bound(
        "SELECT 1 WHERE 1 IN (0, :ids)",
        Engine::Sqlite,
        none.clone(),
    )
    .unwrap();
    assert_eq!(sql, "SELECT 1 WHERE 1 IN (0, NULL)");
    let (sql, _) = bound(
        "SELECT 1 WHERE 1 NOT IN ( :ids )",
        Engine::Sqlite,
        none.clone(),
    )
    .unwrap();
    assert_eq!(sql, "SELECT 1 WHERE 1 NOT IN (  )");
    for (text, engine) in [
        ("SELECT 1 WHERE 1 NOT IN (:ids)", Engine::Postgres),
        ("SELECT 1 WHERE 1 NOT IN (0, :ids)", Engine::Sqlite),
    ] {
        let refused = bound(text, engine, none.clone());
        assert!(refused.unwrap_err().to_string().contains("`ids`"), "{text}");
    }
    let lists: String = (0..11).map(|n| format!(" OR 1 IN (:l{n})")).collect();
    let full: serde_json::Map<String, Value> = (0..11)
        .map(|n| (format!("l{n}"), json!(vec![1; 1000])))
        .collect();
    let refused = bound(
        &format!("SELECT 1 WHERE false{lists}"),
        Engine::Postgres,
        full.into(),
    );
    assert!(refused.unwrap_err().to_string().contains("11000 items"));
    let many = json!({"ids": vec![1; 1001]});
    assert!(bound("SELECT 1 WHERE 1 IN (:ids)", Engine::Postgres, many).is_err());
}

#[test]
fn the_caller_wins_and_absent_is_null() {
    let statement = Statement::read("SELECT :user, :claim, :other", Engine::Postgres).unwrap();
    let arguments = json!({"user": "root", "claim": "x"});
    let caller = BTreeMap::from([
        ("user".to_owned(), json!("kim")),
        ("claim".to_owned(), Value::Null),
    ]);
    let bindings = Bindings {
        arguments: arguments.as_object().unwrap(),
        caller: &caller,
    };
    let bound = statement.bind(&bindings).unwrap();
    let values: Vec<&Value> = bound.values.iter().map(|(_, value, _)| value).collect();
    assert_eq!(values, [&json!("kim"), &Value::Null, &Value::Null]);
}

#[test]
fn casts_to_json_are_seen() {
    let statement = Statement::read(
        "SELECT :a::jsonb, CAST(:b AS json), :c::text",
        Engine::Postgres,
    )
    .unwrap();
    assert_eq!(statement.json, [true, true, false]);
}

/// A mutator with a seed: whatever it makes of honest pieces, nothing panics, and no value ever stands in the text.
#[test]
fn mutations_never_panic_nor_leak_values() {
    const PIECES: &[&str] = &[
        "'", "''", "\"", "$$", "$a$", "--", "\n", "\r", "/*", "*/", ":a", ":b", "::", ":=",
        "{{a}}", "{{", "}}", "[", "]", "(", ")", "E'", "U&'", "U&\"", "\\", ";", "$1", "?", "@",
        "`", "1e-5", "0x", ".5", "한", "\u{a0}", "IN (", "NOT IN (", ",", " ", "SELECT", "x", "\0",
        "😀",
    ];
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut next = |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % bound as u64).unwrap()
    };
    let arguments = json!({"a": "SECRET\u{1}", "b": ["SECRET\u{1}", 2]});
    let caller = BTreeMap::new();
    let bindings = Bindings {
        arguments: arguments.as_object().unwrap(),
        caller: &caller,
    };
    for _ in 0..200_000 {
        let length = next(14);
        let text: String = (0..length).map(|_| PIECES[next(PIECES.len())]).collect();
        for engine in [Engine::Postgres, Engine::Sqlite] {
            let Ok(statement) = Statement::read(&text, engine) else {
                continue;
            };
            let Ok(bound) = statement.bind(&bindings) else {
                continue;
            };
            assert!(!bound.sql.contains("SECRET"), "{text}");
            // What was rewritten reads as the same pieces, with parameters where placeholders were.
            let again = lex(&bound.sql, engine, Placeholders::Unknown);
            assert!(again.is_ok(), "{text:?} became {:?}", bound.sql);
        }
    }
}

#[test]
fn being_null_says_nothing_of_a_type() {
    for (text, sent) in [
        (
            "SELECT 1 WHERE (:a IS NULL OR x = :a)",
            "SELECT 1 WHERE ($1::text IS NULL OR x = $2)",
        ),
        (
            "SELECT 1 WHERE x = :a AND NOT :a is not null",
            "SELECT 1 WHERE x = $1 AND NOT $2::text is not null",
        ),
        (
            "SELECT 1 WHERE :a IS NULL AND :b IS NULL OR :a IS NULL",
            "SELECT 1 WHERE $1::text IS NULL AND $2::text IS NULL OR $1::text IS NULL",
        ),
        // Something else is asked.
        (
            "SELECT 1 WHERE x + :a IS NULL",
            "SELECT 1 WHERE x + $1 IS NULL",
        ),
        (
            "SELECT 1 WHERE :a::int IS NULL",
            "SELECT 1 WHERE $1::int IS NULL",
        ),
        ("SELECT 1 WHERE :a IS TRUE", "SELECT 1 WHERE $1 IS TRUE"),
        (
            "SELECT 1 WHERE x BETWEEN 1 AND :a IS NULL",
            "SELECT 1 WHERE x BETWEEN 1 AND $1 IS NULL",
        ),
    ] {
        assert_eq!(plain(text, Engine::Postgres).0, sent);
    }
    let text = "SELECT 1 WHERE :a IS NULL OR x = :a";
    assert_eq!(
        plain(text, Engine::Sqlite).0,
        "SELECT 1 WHERE ?1 IS NULL OR x = ?1"
    );
    let lists = "SELECT 1 WHERE :a IS NULL OR x IN (:a)";
    assert_eq!(
        bound(lists, Engine::Postgres, json!({"a": [7, 8]})).unwrap(),
        (
            "SELECT 1 WHERE $1::text IS NULL OR x IN ($2,$3)".to_owned(),
            vec![json!([7, 8]), json!(7), json!(8)]
        )
    );
}
