//! A database that any earlier version made is brought up to date with everything in it.

use crate::skipping::postgres_url;
use crate::{Fresh, admin};
use sqlx::AssertSqlSafe;
use sqlx::migrate::Migrator;
use store::Db;
use uuid::Uuid;

static SQLITE: Migrator = sqlx::migrate!("./migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("./migrations/postgres");

const KIM: Uuid = Uuid::from_u128(0x11);
const THING: Uuid = Uuid::from_u128(0x22);

/// A value of a row.
#[derive(Clone, Copy)]
enum Of {
    Kim,
    Thing,
    Bytes,
}

/// Rows as they were written at first, each with the schema from which on there is a place for it.
const ROWS: &[(i64, &str, &[Of])] = &[
    (
        1,
        "INSERT INTO users (id, name, created_at) VALUES ($1, 'kim', 1)",
        &[Of::Kim],
    ),
    (
        1,
        "INSERT INTO keys (id, name, user_id, secret_hash, scopes, created_at) VALUES ($1, 'k', $2, $3, 'read,call', 1)",
        &[Of::Thing, Of::Kim, Of::Bytes],
    ),
    (
        1,
        "INSERT INTO tools (id, name, owner_id, definition, version, created_at, updated_at) VALUES ($1, 'adder', $2, '{\"name\":\"adder\"}', 1, 1, 1)",
        &[Of::Thing, Of::Kim],
    ),
    (
        1,
        "INSERT INTO tool_versions (tool_id, version, name, shelf, action, definition, hash, changed_by, changed_at) VALUES ($1, 1, 'adder', 'database', 'create', '{\"name\":\"adder\"}', 'h', 'kim', 1)",
        &[Of::Thing],
    ),
    (
        2,
        "INSERT INTO agents (id, owner_id, name, model_provider, model_name, version, created_at, updated_at) VALUES ($1, $2, 'clerk', 'anthropic', 'm', 1, 1, 1)",
        &[Of::Thing, Of::Kim],
    ),
    (
        2,
        "INSERT INTO limits (target_type, target_id, max_count, updated_at) VALUES ('TOOL', $1, 7, 1)",
        &[Of::Thing],
    ),
    (
        2,
        "INSERT INTO secrets (id, owner_id, name, sealed, key_id, created_at, updated_at) VALUES ($1, $2, 'token', 'v1.k1.a.b.c', 'k1', 1, 1)",
        &[Of::Thing, Of::Kim],
    ),
    (
        4,
        "INSERT INTO tool_tests (tool_id, hash, passed, failed, ran_at) VALUES ($1, 'h', 2, 0, 1)",
        &[Of::Thing],
    ),
    (
        5,
        "INSERT INTO toolsets (id, owner_id, name, definition, version, created_at, updated_at) VALUES ($1, $2, 'set', '{}', 1, 1, 1)",
        &[Of::Thing, Of::Kim],
    ),
    (
        6,
        "INSERT INTO servers (id, owner_id, name, definition, is_trusted, version, created_at, updated_at) VALUES ($1, $2, 'up', '{}', TRUE, 1, 1, 1)",
        &[Of::Thing, Of::Kim],
    ),
    (
        6,
        "INSERT INTO server_pins (server, tool, hash, pinned_at) VALUES ('up', 'echo', 'h', 1)",
        &[],
    ),
    (
        8,
        "INSERT INTO sources (id, name, definition, version, created_at, updated_at) VALUES ($1, 'shop', '{}', 1, 1, 1)",
        &[Of::Thing],
    ),
    (
        9,
        "INSERT INTO confirmed_requests (tool_id, hash, request, user_id, at) VALUES ($1, 'h', 'how much?', $2, 1)",
        &[Of::Thing, Of::Kim],
    ),
];

/// The same where the engines count differently: from which schema on SQLite and PostgreSQL have a place for it.
const LATER: &[((i64, i64), &str, &[Of])] = &[
    (
        (NEVER, 10),
        "INSERT INTO replicas (instance, node, version, shelf_hash, proof, started_at, seen_at) VALUES ('i', 'n', '0.1.0', 'h', 'p', 1, 1)",
        &[],
    ),
    ((NEVER, 10), "UPDATE revision SET number = 7", &[]),
    (
        (NEVER, 11),
        "INSERT INTO lease_days (key, day, used) VALUES ('user', 1, 5)",
        &[],
    ),
    (
        (10, 13),
        "INSERT INTO runs (id, owner_id, warrant, request, status, epoch, last_seq, created_at, updated_at) VALUES ($1, $2, '{}', 'how much?', 'done', 1, 1, 1, 1)",
        &[Of::Thing, Of::Kim],
    ),
    (
        (10, 13),
        "INSERT INTO run_entries (run_id, seq, at, body) VALUES ($1, 1, 1, '{}')",
        &[Of::Thing],
    ),
    (
        (14, 14),
        "INSERT INTO erasures (user_id, name, pseudonym, at) VALUES ($1, 'kim', 'erased-1', 1)",
        &[Of::Kim],
    ),
];

const NEVER: i64 = i64::MAX;

/// Of every migration that has landed: the engine, its number and the beginning of its hash. Whoever has run one keeps what it
/// made, so none is ever edited; what is wrong with it is mended by another.
const LANDED: &[(&str, i64, &str)] = &[
    ("sqlite", 1, "114a89fa5f4aea1d"),
    ("sqlite", 2, "f93547bd040c34da"),
    ("sqlite", 3, "0ada6072b6b119e5"),
    ("sqlite", 4, "d8c490a86e2c33e7"),
    ("sqlite", 5, "a67dccf4d5f56891"),
    ("sqlite", 6, "1f1a77a4e5f2da0a"),
    ("sqlite", 7, "a4c5d1df509ae671"),
    ("sqlite", 8, "7afdb630d0de6dbf"),
    ("sqlite", 9, "a265b4e7b012ef0d"),
    ("sqlite", 10, "0ad967b864a1ce3b"),
    ("sqlite", 14, "2876c3531b88c2eb"),
    ("postgres", 1, "679b047704500f8f"),
    ("postgres", 2, "a57fe52398fd6f22"),
    ("postgres", 3, "0ada6072b6b119e5"),
    ("postgres", 4, "8fdfb8c461146c74"),
    ("postgres", 5, "eeae427c504e82ff"),
    ("postgres", 6, "cf79b0e4fe9f0298"),
    ("postgres", 7, "3539d02dc5c69599"),
    ("postgres", 8, "f1b88cc706314029"),
    ("postgres", 9, "1b6dc633c7dd4702"),
    ("postgres", 10, "50141838791714c1"),
    ("postgres", 11, "7c23e21d895a3222"),
    ("postgres", 12, "b84fff43dffa6a58"),
    ("postgres", 13, "b9f9c604ebdc0380"),
    ("postgres", 14, "6cd4f5af7519a1a8"),
];

#[test]
fn no_migration_that_has_landed_was_edited() {
    for (engine, migrator) in [("sqlite", &SQLITE), ("postgres", &POSTGRES)] {
        for migration in migrator.iter() {
            let hash = &catalog::hex::hex(&migration.checksum)[..16];
            let here = (engine, migration.version, hash);
            assert!(
                LANDED.contains(&here),
                "{here:?} is not in the list: a new migration is added to it, one that has landed is never edited"
            );
        }
        let landed = LANDED.iter().filter(|it| it.0 == engine).count();
        assert_eq!(landed, migrator.iter().count(), "one of {engine} is gone");
    }
}

/// Writes all rows that a schema has a place for.
macro_rules! fill {
    ($pool:expr, $schema:expr, $engine:tt) => {
        let first = ROWS
            .iter()
            .map(|(since, sql, values)| (*since, sql, values));
        let later = LATER
            .iter()
            .map(|(since, sql, values)| (since.$engine, sql, values));
        for (since, sql, values) in first.chain(later) {
            if since > $schema {
                continue;
            }
            let mut query = sqlx::query(AssertSqlSafe(*sql));
            for value in *values {
                query = match value {
                    Of::Kim => query.bind(KIM),
                    Of::Thing => query.bind(THING),
                    Of::Bytes => query.bind(vec![1_u8, 2]),
                };
            }
            query.execute($pool).await.unwrap();
        }
    };
}

/// Everything that was written is read, with what later schemas added as they add it.
async fn check(db: &Db, schema: i64) {
    let users = db.users().await.unwrap();
    let kim = users.iter().find(|user| user.id == KIM).unwrap();
    assert_eq!(
        (kim.name.as_str(), kim.deleted_at),
        ("kim", None),
        "{schema}"
    );
    let keys = db.keys().await.unwrap();
    assert_eq!(
        (keys[0].user_id, &keys[0].secret_hash[..]),
        (KIM, &[1, 2][..]),
        "{schema}"
    );
    let tools = db.live_tools().await.unwrap();
    assert_eq!((tools[0].id, tools[0].version), (THING, 1), "{schema}");
    assert_eq!(db.heads().await.unwrap().len(), 1, "{schema}");
    // How many of each there are, by the schema that brought a place for them.
    let found = [
        (2, db.agents().await.unwrap().len()),
        (2, db.limits().await.unwrap().len()),
        (2, db.secrets().await.unwrap().len()),
        (4, db.tool_tests().await.unwrap().len()),
        (5, db.toolsets().await.unwrap().len()),
        (6, db.servers().await.unwrap().len()),
        (6, db.server_pins().await.unwrap().len()),
        (8, db.sources().await.unwrap().len()),
        (9, db.confirmed_requests().await.unwrap().len()),
    ];
    for (number, (since, count)) in found.into_iter().enumerate() {
        let expected = usize::from(since <= schema);
        assert_eq!(count, expected, "the {number}th of schema {schema}");
    }
    let is_later = |(sqlite, postgres): (i64, i64)| match db.engine() {
        "sqlite" => sqlite <= schema,
        _ => postgres <= schema,
    };
    let has_runs = is_later((10, 13));
    let runs = usize::from(db.run(THING).await.unwrap().is_some());
    let entries = db.run_entries(THING, 0).await.unwrap().len();
    assert_eq!(
        (runs, entries),
        (usize::from(has_runs), usize::from(has_runs)),
        "{schema}"
    );
    let erased = db.erasures().await.unwrap().len();
    assert_eq!(erased, usize::from(is_later((14, 14))), "{schema}");
    let has_others = is_later((NEVER, 10));
    let others = db.replicas().await.unwrap().len();
    let revision = db.revision().await.unwrap();
    assert_eq!(
        (others, revision),
        (usize::from(has_others), 7 * i64::from(has_others)),
        "{schema}"
    );
    if let Db::Postgres(pool, ..) = db {
        let used: Option<i64> = sqlx::query_scalar("SELECT used FROM lease_days")
            .fetch_optional(pool)
            .await
            .unwrap();
        assert_eq!(used, is_later((NEVER, 11)).then_some(5), "{schema}");
    }
    // And it can be written.
    db.ensure_first_users(2).await.unwrap();
    assert_eq!(db.users().await.unwrap().len(), 3, "{schema}");
}

#[tokio::test]
async fn every_earlier_schema_is_brought_up_to_date_with_its_data() {
    for migration in SQLITE.iter() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("registry.db");
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&file);
        let pool = sqlx::SqlitePool::connect_with(options.create_if_missing(true))
            .await
            .unwrap();
        SQLITE.run_to(migration.version, &pool).await.unwrap();
        fill!(&pool, migration.version, 0);
        pool.close().await;
        let db = Db::open_sqlite(&file).await.unwrap();
        check(&db, migration.version).await;
        db.close().await;
    }
    let Some(url) = postgres_url() else {
        return;
    };
    for migration in POSTGRES.iter() {
        let name = format!("upgrade_{}", Uuid::new_v4().simple());
        admin(&url, &format!("CREATE DATABASE {name}")).await;
        let own = format!("{}/{name}", url.rsplit_once('/').unwrap().0);
        let pool = sqlx::PgPool::connect(&own).await.unwrap();
        POSTGRES.run_to(migration.version, &pool).await.unwrap();
        fill!(&pool, migration.version, 1);
        pool.close().await;
        let db = Db::open_postgres(&own).await.unwrap();
        check(&db, migration.version).await;
        let fresh = Fresh {
            db,
            _folder: None,
            drop: Some((url.clone(), name)),
        };
        fresh.end().await;
    }
}
