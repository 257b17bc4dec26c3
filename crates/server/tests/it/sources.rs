//! Sources: kept, shown, changed, removed; who may; what is never shown; looked into and tested on both engines.

use crate::testapp::{
    ADMIN, Answer, Setup, TestApp, admin_sql, on_both, on_both_given, postgres_url,
};
use app::sources::{Given, Settings};
use axum::body::Body;
use axum::http::Request;
use catalog::policy::Policy;
use catalog::source::source_from_text;
use serde_json::{Value, json};

const PATH: &str = "/api/v1/sources";
const SECRET: &str = "s3cret-of-the-shop";

async fn change(app: &TestApp, method: &str, name: &str, body: Value) -> Answer {
    app.as_key(ADMIN, method, &format!("{PATH}/{name}"), body)
        .await
}

pub(crate) async fn tested(app: &TestApp, name: &str) -> Value {
    app.post(&format!("{PATH}/{name}/test"), Value::Null)
        .await
        .body
}

/// A SQLite file in the workspace.
async fn file(app: &TestApp, name: &str) {
    let path = app.folder.path().join(name);
    let url = format!("sqlite://{}?mode=rwc", path.display());
    let pool = sqlx::SqlitePool::connect(&url).await.unwrap();
    let setup = "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES users (id), total REAL);
        CREATE VIEW big AS SELECT * FROM orders WHERE total > 100";
    sqlx::raw_sql(setup).execute(&pool).await.unwrap();
    pool.close().await;
}

fn postgres(password: &str) -> Value {
    json!({"name": "shop", "kind": "postgres", "url": format!("postgres://reader:{password}@127.0.0.1:9/shop")})
}

#[tokio::test]
async fn a_source_is_kept_shown_changed_and_removed() {
    on_both(async |app: &TestApp| {
        let made = app.post(PATH, postgres(SECRET)).await;
        assert_eq!(made.status, 201, "{}", made.body);
        assert_eq!(made.headers["etag"], "\"1\"");
        let mask = json!({"set": true, "last4": "shop"});
        let expected = [
            ("origin", json!("database")),
            ("state", json!("untried")),
            ("url", json!("postgres://reader@127.0.0.1:9/shop")),
            ("password", mask.clone()),
            ("authors", json!("admins")),
            ("allow_write", json!(false)),
        ];
        for (name, value) in expected {
            assert_eq!(made.body[name], value, "{name}");
        }
        // What is fetched can be sent back: the mask keeps the password.
        let same = change(app, "PUT", "shop", made.body.clone()).await;
        assert_eq!(
            (same.status, &same.body["version"]),
            (200, &json!(2)),
            "{}",
            same.body
        );
        let patched = change(
            app,
            "PATCH",
            "shop",
            json!({"authors": "everyone", "connections_max": 3}),
        )
        .await;
        assert_eq!(
            (patched.status, &patched.body["password"]),
            (200, &mask),
            "{}",
            patched.body
        );
        assert_eq!(
            (&patched.body["authors"], &patched.body["connections_max"]),
            (&json!("everyone"), &json!(3))
        );
        let moved = moved(app).await;
        stale_and_second_are_refused(app).await;

        let app = app.restart().await;
        let kept = app.get(&format!("{PATH}/shop")).await.body;
        assert_eq!((&kept["version"], &kept["password"]), (&json!(4), &moved));
        nothing_in_the_clear(&app).await;
        let by_id = app
            .get(&format!("{PATH}/{}", kept["id"].as_str().unwrap()))
            .await;
        assert_eq!(by_id.body["name"], "shop");
        assert_eq!(
            change(&app, "DELETE", "shop", Value::Null).await.status,
            204
        );
        assert_eq!(app.get(&format!("{PATH}/shop")).await.status, 404);
        assert!(
            app.server.app.store.secrets().await.unwrap().is_empty(),
            "nothing of it is left"
        );
        let acts = app.get("/api/v1/audit?target=source:shop").await.body;
        let acts: Vec<&str> = acts["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|act| act["action"].as_str().unwrap())
            .collect();
        assert_eq!(
            acts,
            [
                "source.delete",
                "source.update",
                "source.update",
                "source.update",
                "source.create"
            ]
        );
        assert_eq!(app.get("/api/v1/audit/verify").await.body["valid"], true);
        app.stop().await;
    })
    .await;
}

/// A password does not follow to another server; the new one's mask comes back.
async fn moved(app: &TestApp) -> Value {
    let url = json!({"url": "postgres://reader@127.0.0.2:9/shop"});
    let moved = change(app, "PATCH", "shop", url).await;
    assert_eq!(moved.status, 422, "{}", moved.body);
    assert!(
        moved.message().contains("The address has changed"),
        "{}",
        moved.body
    );
    let url = json!({"url": "postgres://reader:another-s3cret-value@127.0.0.2:9/shop"});
    let moved = change(app, "PATCH", "shop", url).await;
    assert_eq!(
        (moved.status, &moved.body["password"]["last4"]),
        (200, &json!("alue")),
        "{}",
        moved.body
    );
    assert_eq!(
        app.server.app.store.secrets().await.unwrap().len(),
        1,
        "what is replaced is gone"
    );
    moved.body["password"].clone()
}

async fn stale_and_second_are_refused(app: &TestApp) {
    let stale = Request::put(format!("{PATH}/shop")).header("x-api-key", ADMIN);
    let stale = stale
        .header("if-match", "\"2\"")
        .header("content-type", "application/json");
    let stale = app
        .send(stale.body(Body::from(postgres("x").to_string())).unwrap())
        .await;
    assert_eq!(
        (stale.status, stale.code()),
        (409, "conflict"),
        "{}",
        stale.body
    );
    let twice = app.post(PATH, postgres("x")).await;
    assert_eq!(twice.status, 409, "{}", twice.body);
    let renamed = change(app, "PATCH", "shop", json!({"name": "other"})).await;
    assert_eq!(renamed.status, 422, "{}", renamed.body);
}

/// No answer and no row holds a password.
async fn nothing_in_the_clear(app: &TestApp) {
    let mut texts = Vec::new();
    for path in [
        PATH,
        "/api/v1/sources/shop",
        "/api/v1/audit",
        "/api/v1/secrets/verify",
    ] {
        texts.push(app.get(path).await.body.to_string());
    }
    texts.push(tested(app, "shop").await.to_string());
    texts.push(format!(
        "{:?}",
        app.server.app.store.sources().await.unwrap()
    ));
    texts.push(format!(
        "{:?}",
        app.server.app.store.secrets().await.unwrap()
    ));
    for text in texts {
        assert!(!text.contains("s3cret"), "{text}");
    }
}

#[tokio::test]
async fn a_source_that_tools_use_goes_only_by_force() {
    on_both(async |app: &TestApp| {
        file(app, "shop.db").await;
        let source = json!({"name": "shop", "kind": "sqlite", "path": "shop.db"});
        assert_eq!(app.post(PATH, source).await.status, 201);
        let tool = json!({"name": "user_of_shop", "description": "A user by their id", "kind": "sql",
            "config": {"source": "shop", "query": "SELECT name FROM users"}});
        let made = app.post("/api/v1/tools", tool).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let refused = change(app, "DELETE", "shop", Value::Null).await;
        assert_eq!((refused.status, refused.code()), (409, "conflict"));
        assert!(refused.message().contains("'user_of_shop'"), "{}", refused.body);
        assert_eq!(app.get(&format!("{PATH}/shop")).await.status, 200);
        let forced = change(app, "DELETE", "shop?force=true", Value::Null).await;
        assert_eq!(forced.status, 204, "{}", forced.body);
    })
    .await;
}

#[tokio::test]
async fn a_file_is_looked_into_and_tested() {
    on_both(async |app: &TestApp| {
        let body =
            json!({"name": "shop", "kind": "sqlite", "path": "shop.db", "description": "Orders"});
        let made = app.post(PATH, body).await;
        assert_eq!(
            (made.status, &made.body["state"]),
            (201, &json!("unusable")),
            "{}",
            made.body
        );
        assert!(
            made.body["cause"].as_str().unwrap().contains("shop.db"),
            "{}",
            made.body
        );
        let early = tested(app, "shop").await;
        assert_eq!(early["works"], false, "{early}");
        assert!(early["problem"].to_string().contains("shop.db: "));
        // The file comes later, and nobody has to start anything again.
        file(app, "shop.db").await;
        let found = tested(app, "shop").await;
        assert_eq!(
            (&found["works"], &found["problem"]),
            (&json!(true), &Value::Null),
            "{found}"
        );
        assert!(
            found["version"].as_str().unwrap().starts_with("SQLite"),
            "{found}"
        );
        assert!(!found["read_only"].as_str().unwrap().is_empty(), "{found}");
        let page = app.get(&format!("{PATH}/shop/schema?limit=2")).await;
        assert_eq!(
            (page.status, &page.body["total"]),
            (200, &json!(3)),
            "{}",
            page.body
        );
        let cursor = page.body["next_cursor"].as_str().unwrap();
        let rest = app
            .get(&format!("{PATH}/shop/schema?limit=2&cursor={cursor}"))
            .await
            .body;
        assert_eq!(
            (
                rest["items"].as_array().unwrap().len(),
                &rest["next_cursor"]
            ),
            (1, &Value::Null)
        );
        let orders = app
            .get(&format!("{PATH}/shop/schema?search=total&table=orders"))
            .await
            .body;
        assert_eq!(
            orders["items"][0]["foreign_keys"][0]["references"], "users",
            "{orders}"
        );
        let odd = app.get(&format!("{PATH}/shop/schema?cursor=x")).await;
        assert_eq!(odd.status, 422, "{}", odd.body);
        let script = app.get(&format!("{PATH}/shop/role-script")).await;
        assert_eq!(script.status, 422, "{}", script.body);
    })
    .await;
}

#[tokio::test]
async fn the_file_wins_over_the_database_and_both_over_the_environment() {
    let read = |name: &str, path: &str| {
        let text = json!({"name": name, "kind": "sqlite", "path": path}).to_string();
        source_from_text(&text, None).unwrap()
    };
    let setup = Setup {
        sources: Settings {
            file: vec![read("filed", "filed.db")],
            environment: Some(Given {
                definition: read("bga", "environment.db"),
                fault: Some("POSTGRESQL_DB_HOST is not set".into()),
            }),
        },
        ..Setup::default()
    };
    on_both_given(
        json!([]),
        Policy::default(),
        setup,
        async |app: &TestApp| {
            let taken = app
                .post(
                    PATH,
                    json!({"name": "filed", "kind": "sqlite", "path": "x.db"}),
                )
                .await;
            assert_eq!(taken.status, 409, "{}", taken.body);
            for (name, part) in [("filed", "toolcrib.toml"), ("bga", "POSTGRESQL_DB_")] {
                let fixed = change(app, "DELETE", name, Value::Null).await;
                assert_eq!(fixed.status, 409, "{}", fixed.body);
                assert!(fixed.message().contains(part), "{}", fixed.body);
            }
            let bga = app.get(&format!("{PATH}/bga")).await.body;
            assert_eq!(
                (&bga["origin"], &bga["state"]),
                (&json!("environment"), &json!("unusable"))
            );
            let cause = bga["cause"].as_str().unwrap();
            assert!(cause.ends_with("POSTGRESQL_DB_HOST is not set"), "{cause}");
            file(app, "own.db").await;
            let made = app
                .post(
                    PATH,
                    json!({"name": "bga", "kind": "sqlite", "path": "own.db"}),
                )
                .await;
            assert_eq!(made.status, 201, "{}", made.body);
            assert_eq!(tested(app, "bga").await["works"], true);
            let listed = app.get(PATH).await.body;
            let listed: Vec<[&str; 3]> = listed["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| ["name", "origin", "state"].map(|key| it[key].as_str().unwrap()))
                .collect();
            let expected = [
                ["bga", "database", "ready"],
                ["bga", "environment", "hidden"],
                ["filed", "file", "unusable"],
            ];
            assert_eq!(listed, expected);
            change(app, "DELETE", "bga", Value::Null).await;
            assert_eq!(
                app.get(&format!("{PATH}/bga")).await.body["origin"],
                "environment"
            );
            // Only admins change any.
            let person = app.person("kim", "author").await;
            let refused = app
                .as_key(
                    &person.key,
                    "POST",
                    PATH,
                    json!({"name": "a", "kind": "sqlite", "path": "own.db"}),
                )
                .await;
            assert_eq!(refused.status, 403, "{}", refused.body);
        },
    )
    .await;
}

#[tokio::test]
async fn variables_stand_for_addresses_and_passwords() {
    on_both(async |app: &TestApp| {
        let of = async |name: &str, url: &str| {
            app.post(PATH, json!({"name": name, "kind": "postgres", "url": url}))
                .await
                .body
        };
        let set = of("a", "postgres://u:${SERVER_TOKEN}@127.0.0.1:9/db").await;
        assert_eq!(
            (&set["state"], &set["password"]),
            (&json!("untried"), &json!("${SERVER_TOKEN}")),
            "{set}"
        );
        for (name, url) in [
            ("b", "postgres://u:${NOT_SET}@127.0.0.1:9/db"),
            ("c", "${NOT_SET}"),
        ] {
            let unset = of(name, url).await;
            assert_eq!(unset["state"], "unusable", "{unset}");
            assert!(
                unset["cause"].as_str().unwrap().contains("NOT_SET"),
                "{unset}"
            );
        }
        // Not an address at all, which is never repeated.
        let odd = of("d", "${SERVER_TOKEN}").await;
        assert_eq!(odd["state"], "unusable", "{odd}");
        assert!(!odd.to_string().contains("from-the-environment"), "{odd}");
        assert!(app.server.app.store.secrets().await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_postgres_is_tested_and_superusers_are_refused_unless_allowed() {
    let Some(url) = postgres_url() else { return };
    let database = format!("source_{}", uuid::Uuid::new_v4().simple());
    admin_sql(format!("CREATE DATABASE {database}")).await;
    let (server, _) = url.rsplit_once('/').unwrap();
    let own = format!("{server}/{database}");
    let role = format!("reader_{}", uuid::Uuid::new_v4().simple());
    on_both(async |app: &TestApp| {
        let made = app.post(PATH, json!({"name": "pg", "kind": "postgres", "url": own})).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let refused = tested(app, "pg").await;
        assert_eq!(refused["works"], false, "{refused}");
        assert!(refused["problem"].as_str().unwrap().contains("superuser"), "{refused}");
        let shown = app.get(&format!("{PATH}/pg")).await.body;
        assert_eq!((&shown["state"], &shown["cause"]), (&json!("unusable"), &refused["problem"]), "{shown}");
        assert_eq!(app.get(&format!("{PATH}/pg/schema")).await.status, 409);
        let allowed = change(app, "PATCH", "pg", json!({"allow_superuser": true})).await.body;
        assert!(allowed["warnings"][0].as_str().unwrap().contains("allow_superuser"), "{allowed}");
        let listed = app.get(PATH).await.body;
        assert!(listed["items"][0]["warnings"][0].as_str().unwrap().contains("superuser"), "{listed}");
        assert_eq!(allowed["state"], "untried", "{allowed}");
        let works = tested(app, "pg").await;
        assert_eq!((&works["works"], &works["is_bound"]), (&json!(true), &json!(false)), "{works}");
        let shown = app.get(&format!("{PATH}/pg")).await.body;
        assert_eq!((&shown["state"], &shown["cause"]), (&json!("ready"), &Value::Null), "{shown}");
        assert!(works["warnings"].to_string().contains("the role is a superuser"), "{works}");
        assert!(works["read_only"].as_str().unwrap().contains("read-only"), "{works}");

        // The script makes a role that works without any of it.
        let script = app.get(&format!("{PATH}/pg/role-script?role={role}")).await.body;
        let script = script["script"].as_str().unwrap().to_owned();
        assert!(script.contains(&database) && script.contains(&role), "{script}");
        let pool = sqlx::PgPool::connect(&own).await.unwrap();
        let table = "CREATE TABLE IF NOT EXISTS staff (id int PRIMARY KEY, name text); COMMENT ON TABLE staff IS 'People';";
        sqlx::raw_sql(table).execute(&pool).await.unwrap();
        sqlx::raw_sql(sqlx::AssertSqlSafe(script)).execute(&pool).await.unwrap();
        let set = format!("ALTER ROLE {role} PASSWORD 'r3ader-pass'");
        sqlx::raw_sql(sqlx::AssertSqlSafe(set)).execute(&pool).await.unwrap();
        let at = own.rsplit_once('@').map_or_else(|| own.split_once("://").unwrap().1, |(_, at)| at);
        let url = format!("postgres://{role}:r3ader-pass@{at}");
        let moved = change(app, "PUT", "pg", json!({"kind": "postgres", "url": url})).await;
        assert_eq!((moved.status, &moved.body["warnings"]), (200, &json!([])), "{}", moved.body);
        let works = tested(app, "pg").await;
        assert_eq!((&works["is_bound"], &works["role"], &works["warnings"]), (&json!(true), &json!(role), &json!([])), "{works}");
        let schema = app.get(&format!("{PATH}/pg/schema?search=people")).await.body;
        assert_eq!((&schema["items"][0]["name"], &schema["items"][0]["comment"]), (&json!("staff"), &json!("People")), "{schema}");
        let odd = app.get(&format!("{PATH}/pg/schema?search=%00")).await;
        assert_eq!(odd.status, 422, "{}", odd.body);
        assert_eq!((&works["may_write"], &works["allow_write"]), (&json!(false), &json!(false)), "{works}");
        // A tool that would write is let through where the source says so, and its author is told of the missing right.
        let writes = change(app, "PATCH", "pg", json!({"allow_write": true})).await;
        assert_eq!(writes.status, 200, "{}", writes.body);
        let tool = json!({"name": "hires", "description": "Adds a person", "kind": "sql",
            "config": {"source": "pg", "query": "INSERT INTO staff VALUES (:id, :name)", "write": true},
            "input_schema": {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}}});
        let added = app.post("/api/v1/tools", tool).await;
        assert_eq!(added.status, 201, "{}", added.body);
        assert!(added.body["trouble"].to_string().contains("permission denied for table staff"), "{}", added.body);
        let gone = app.as_key(ADMIN, "DELETE", "/api/v1/tools/hires", Value::Null).await;
        assert_eq!(gone.status, 204, "{}", gone.body);
        let nobody = change(app, "PATCH", "pg", json!({"url": "postgres://u@127.0.0.1:9/db", "password": null})).await;
        assert_eq!(nobody.status, 200, "{}", nobody.body);
        assert_eq!(app.get(&format!("{PATH}/pg/schema")).await.status, 503);
        let drop = format!("DROP OWNED BY {role}; DROP ROLE {role}");
        sqlx::raw_sql(sqlx::AssertSqlSafe(drop)).execute(&pool).await.unwrap();
        pool.close().await;
    })
    .await;
    admin_sql(format!("DROP DATABASE {database} WITH (FORCE)")).await;
}
