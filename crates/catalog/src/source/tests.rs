//! Sources as they are written: what is taken, what is refused and where, and that no password is told.

use super::*;
use crate::problem::Problem;

fn read(body: &Value) -> Result<SourceDefinition, Vec<Problem>> {
    source_from_text(&body.to_string(), None)
}

fn password(body: &Value) -> Option<Password> {
    read(body).unwrap().password
}

#[test]
fn the_password_leaves_the_address() {
    let body = json!({"name": "shop", "kind": "postgres", "url": "postgres://u:p%40ss@h:5433/db?sslmode=require"});
    let source = read(&body).unwrap();
    assert_eq!(
        source.url.as_deref(),
        Some("postgres://u@h:5433/db?sslmode=require")
    );
    let Some(Password::Given(secret)) = &source.password else {
        panic!("{source:?}")
    };
    assert_eq!(secret.expose(), "p@ss");
    assert!(!format!("{source:?}").contains("p@ss"));
    assert_eq!(source.written().get("password"), None);
    let with = |password: Value| json!({"name": "a", "kind": "postgres", "url": "postgres://u@h/db", "password": password});
    let id = Uuid::from_u128(7);
    let of = |value: Value| password(&with(value));
    assert!(matches!(of(json!({"$sealed": id})), Some(Password::Sealed(found)) if found == id));
    assert!(matches!(
        of(json!({"set": true, "last4": null})),
        Some(Password::Kept)
    ));
    assert!(matches!(of(json!("${PW}")), Some(Password::Variable(name)) if name == "PW"));
    assert!(matches!(of(json!("a${PW}")), Some(Password::Given(_))));
    let by_variable = json!({"name": "a", "kind": "postgres", "url": "postgres://u:${PW}@h/db"});
    assert!(matches!(
        password(&by_variable),
        Some(Password::Variable(_))
    ));
}

#[test]
fn what_is_wrong_is_told_at_its_place_and_never_the_password() {
    let secret = "s3cret";
    for (body, paths) in [
        (json!({}), vec!["$.name", "$.kind"]),
        (
            json!({"name": "a b", "kind": "sqlite", "path": "x"}),
            vec!["$.name"],
        ),
        (
            json!({"name": "a.b", "kind": "sqlite", "path": "x"}),
            vec!["$.name"],
        ),
        (json!({"name": "a", "kind": "mysql"}), vec!["$.kind"]),
        (json!({"name": "a", "kind": "sqlite"}), vec!["$.path"]),
        (json!({"name": "a", "kind": "postgres"}), vec!["$.url"]),
        (
            json!({"name": "a", "kind": "sqlite", "path": "x", "pgbouncer": true}),
            vec!["$.pgbouncer"],
        ),
        (
            json!({"name": "a", "kind": "postgres", "url": "postgres://u@h/d", "path": "x"}),
            vec!["$.path"],
        ),
        (
            json!({"name": "a", "kind": "postgres", "url": "mysql://u:s3cret@h/d"}),
            vec!["$.url"],
        ),
        (
            json!({"name": "a", "kind": "postgres", "url": "postgres://u@h/d?password=s3cret"}),
            vec!["$.url"],
        ),
        (
            json!({"name": "a", "kind": "postgres", "url": "postgres://u:s3cret%@h/d"}),
            vec!["$.url"],
        ),
        (
            json!({"name": "a", "kind": "postgres", "url": "postgres://u:a/s3cret@h/d"}),
            vec!["$.url"],
        ),
        (
            json!({"name": "a", "kind": "postgres", "url": "postgres://u:s3cret@h/d", "password": "s3cret"}),
            vec!["$.password"],
        ),
        (
            json!({"name": "a", "kind": "postgres", "url": "postgres://u@h/d", "password": ["s3cret"]}),
            vec!["$.password"],
        ),
        (
            json!({"name": "a", "kind": "postgres", "url": "postgres://u@h/d", "authors": "all"}),
            vec!["$.authors"],
        ),
        (
            json!({"name": "a", "kind": "postgres", "url": "postgres://u@h/d", "connections_min": 21}),
            vec!["$.connections_min"],
        ),
        (
            json!({"name": "a", "kind": "postgres", "url": "postgres://u@h/d", "connections_max": 0}),
            vec!["$.connections_max"],
        ),
        (
            json!({"name": "a", "kind": "postgres", "url": "postgres://u@h/d", "functions": ["f", 7]}),
            vec!["$.functions[1]"],
        ),
        (
            json!({"name": "a", "kind": "sqlite", "path": "x", "colour": 1}),
            vec!["$.colour"],
        ),
    ] {
        let problems = read(&body).unwrap_err();
        let found: Vec<&str> = problems.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(found, paths, "{body}");
        let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(!told.join("\n").contains(secret), "{told:?}");
    }
}

#[test]
fn what_is_stored_reads_back_the_same() {
    let body = json!({
        "name": "shop", "kind": "postgres", "url": "postgres://u@h/db", "password": {"$sealed": Uuid::from_u128(7)},
        "description": "Orders", "allow_write": true, "authors": "everyone", "pgbouncer": true, "allow_superuser": true,
        "functions": ["f"], "search_path": ["shop", "public"], "connections_min": 1, "connections_max": 4,
        "id": "x", "version": 3, "origin": "database", "state": "ready", "cause": null, "warnings": [],
    });
    let source = read(&body).unwrap();
    let written = Value::Object(source.written());
    let again = source_from_text(&written.to_string(), Some("shop")).unwrap();
    assert_eq!(Value::Object(again.written()), written);
    assert_eq!(
        (again.connections_min, again.authors),
        (Some(1), Authors::Everyone)
    );
    let short = read(&json!({"name": "a", "kind": "sqlite", "path": "x.db", "allow_write": false}))
        .unwrap();
    assert_eq!(
        Value::Object(short.written()),
        json!({"kind": "sqlite", "path": "x.db"})
    );
    let renamed = source_from_text(&body.to_string(), Some("other")).unwrap_err();
    assert_eq!(renamed[0].path, "$.name");
}
