//! Every store operation on both engines: SQLite always, PostgreSQL where TOOLCRIB_TEST_POSTGRES names one.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

use skipping::postgres_url;
use sqlx::AssertSqlSafe;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use store::Write;
use store::idempotency::IdempotentCall;
use store::tools::{ToolRow, VersionRow};
use store::users::ADMIN_USER;
use store::{Db, Error};
use uuid::Uuid;

mod access;
mod cluster;
mod confirmed;
mod encrypted;
mod erasing;
mod leases;
mod restoring;
mod secrets;
mod server_tokens;
mod servers;
mod skipping;
mod sources;
mod upgrades;

/// A database of its own for one test; gone with it.
struct Fresh {
    db: Db,
    _folder: Option<tempfile::TempDir>,
    drop: Option<(String, String)>,
}

async fn engines() -> Vec<Fresh> {
    let folder = tempfile::tempdir().unwrap();
    let db = Db::open_sqlite(&folder.path().join("registry.db"))
        .await
        .unwrap();
    let mut all = vec![Fresh {
        db,
        _folder: Some(folder),
        drop: None,
    }];
    if let Some(url) = postgres_url() {
        let name = format!("store_{}", Uuid::new_v4().simple());
        admin(&url, &format!("CREATE DATABASE {name}")).await;
        let own = format!("{}/{name}", url.rsplit_once('/').unwrap().0);
        let db = Db::open_postgres(&own).await.unwrap();
        all.push(Fresh {
            db,
            _folder: None,
            drop: Some((url, name)),
        });
    }
    for fresh in &all {
        fresh.db.ensure_first_users(1).await.unwrap();
    }
    all
}

async fn admin(url: &str, sql: &str) {
    let pool = sqlx::PgPool::connect(url).await.unwrap();
    sqlx::query(AssertSqlSafe(sql.to_owned()))
        .execute(&pool)
        .await
        .unwrap();
    pool.close().await;
}

impl Fresh {
    async fn end(self) {
        self.db.close().await;
        if let Some((url, name)) = self.drop {
            admin(&url, &format!("DROP DATABASE {name} WITH (FORCE)")).await;
        }
    }
}

fn tool(name: &str, version: i64) -> ToolRow {
    ToolRow {
        id: catalog::tool::id_from_name(name),
        name: name.into(),
        owner_id: ADMIN_USER,
        definition: r#"{"name":"x","zebra":1,"ant":[true,null,1.5,"한국어"]}"#.into(),
        version,
        created_at: 10,
        updated_at: 10 + version,
        deleted_at: None,
    }
}

fn version(name: &str, version: i64, action: &str) -> VersionRow {
    VersionRow {
        tool_id: catalog::tool::id_from_name(name),
        version,
        name: name.into(),
        shelf: "database".into(),
        action: action.into(),
        definition: format!(r#"{{"v":{version}}}"#),
        hash: format!("h{version}"),
        changed_by: "kim".into(),
        changed_at: 100 + version,
    }
}

async fn write(db: &Db, writes: &[Write]) -> Result<(), Error> {
    db.commit(writes, || Ok::<(), Error>(())).await
}

#[tokio::test]
async fn tools_round_trip_with_the_text_as_it_was_written() {
    for fresh in engines().await {
        let db = &fresh.db;
        write(db, &[Write::Tool(tool("a", 1)), Write::Tool(tool("b", 1))])
            .await
            .unwrap();
        assert_eq!(db.live_tools().await.unwrap(), [tool("a", 1), tool("b", 1)]);
        let mut gone = tool("a", 2);
        gone.deleted_at = Some(99);
        write(db, &[Write::Tool(gone.clone())]).await.unwrap();
        assert_eq!(db.live_tools().await.unwrap(), [tool("b", 1)]);
        assert_eq!(db.tool(gone.id).await.unwrap(), Some(gone));
        fresh.end().await;
    }
}

#[tokio::test]
async fn an_older_version_never_overwrites_a_newer_one() {
    for fresh in engines().await {
        let db = &fresh.db;
        write(db, &[Write::Tool(tool("a", 2))]).await.unwrap();
        for stale in [1, 2] {
            let refused = write(
                db,
                &[Write::Tool(tool("b", 1)), Write::Tool(tool("a", stale))],
            )
            .await;
            assert!(matches!(refused, Err(Error::Taken(_))), "{refused:?}");
        }
        assert_eq!(
            db.live_tools().await.unwrap(),
            [tool("a", 2)],
            "all or nothing"
        );
        let mut same_name = tool("a", 1);
        same_name.id = Uuid::from_u128(5);
        assert!(matches!(
            write(db, &[Write::Tool(same_name)]).await,
            Err(Error::Taken(_))
        ));
        fresh.end().await;
    }
}

#[tokio::test]
async fn what_fails_before_the_commit_undoes_everything() {
    for fresh in engines().await {
        let db = &fresh.db;
        let failed = db
            .commit(&[Write::Tool(tool("a", 1))], || {
                Err(Error::Corrupt("disk".into()))
            })
            .await;
        assert!(matches!(failed, Err(Error::Corrupt(_))));
        assert!(db.live_tools().await.unwrap().is_empty());
        write(db, &[Write::Tool(tool("a", 1))]).await.unwrap();
        fresh.end().await;
    }
}

#[tokio::test]
async fn history_is_kept_in_order() {
    for fresh in engines().await {
        let db = &fresh.db;
        let rows = [
            version("a", 1, "create"),
            version("a", 2, "update"),
            version("a", 3, "delete"),
        ];
        let writes: Vec<_> = rows.iter().cloned().map(Write::Version).collect();
        write(db, &writes).await.unwrap();
        write(db, &[Write::Version(version("b", 1, "create"))])
            .await
            .unwrap();
        let id = rows[0].tool_id;
        let newest: Vec<i64> = db
            .versions(id, None, 2)
            .await
            .unwrap()
            .iter()
            .map(|r| r.version)
            .collect();
        assert_eq!(newest, [3, 2]);
        assert_eq!(
            db.versions(id, Some(2), 9).await.unwrap(),
            [rows[0].clone()]
        );
        assert_eq!(db.version(id, 2).await.unwrap(), Some(rows[1].clone()));
        assert_eq!(db.version(id, 9).await.unwrap(), None);
        let head = db.head(id).await.unwrap().unwrap();
        assert_eq!(
            (
                head.version,
                head.action.as_str(),
                head.created_at,
                head.changed_at
            ),
            (3, "delete", 101, 103)
        );
        assert_eq!(db.heads().await.unwrap().len(), 2);
        assert_eq!(db.last_id_of_name("a").await.unwrap(), Some(id));
        assert_eq!(db.last_id_of_name("c").await.unwrap(), None);
        let twice = write(db, &[Write::Version(version("a", 3, "update"))]).await;
        assert!(matches!(twice, Err(Error::Taken(_))));
        fresh.end().await;
    }
}

#[tokio::test]
async fn one_of_many_takes_an_idempotency_key() {
    for fresh in engines().await {
        let db = &fresh.db;
        let call = IdempotentCall {
            tool_name: "t".into(),
            arguments_hash: "h".into(),
            node: "n".into(),
            response: None,
            created_at: 50,
        };
        let tries: Vec<_> = (0..20)
            .map(|_| {
                let (db, call) = (db.clone(), call.clone());
                tokio::spawn(
                    async move { db.reserve_call("kim", "k", &call).await.unwrap().is_none() },
                )
            })
            .collect();
        let mut won = 0;
        for taken in tries {
            won += usize::from(taken.await.unwrap());
        }
        assert_eq!(won, 1);
        assert_eq!(
            db.unanswered_calls("n").await.unwrap(),
            [("kim".to_owned(), "k".to_owned(), call.tool_name.clone())]
        );
        db.answer_call("kim", "k", "{}").await.unwrap();
        assert_eq!(
            db.idempotent_call("kim", "k")
                .await
                .unwrap()
                .unwrap()
                .response
                .as_deref(),
            Some("{}")
        );
        assert!(db.unanswered_calls("n").await.unwrap().is_empty());
        assert_eq!(db.forget_calls(50).await.unwrap(), 0);
        assert_eq!(db.forget_calls(51).await.unwrap(), 1);
        assert!(db.reserve_call("kim", "k", &call).await.unwrap().is_none());
        db.release_call("kim", "k", 50).await.unwrap();
        assert_eq!(db.idempotent_call("kim", "k").await.unwrap(), None);
        fresh.end().await;
    }
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() {
    for fresh in engines().await {
        let sql = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
            VALUES (9999, 'later', TRUE, $1, 0)";
        let reopened = match &fresh.db {
            Db::Sqlite(pool, ..) => {
                sqlx::query(sql)
                    .bind(vec![0_u8])
                    .execute(pool)
                    .await
                    .unwrap();
                let file = fresh._folder.as_ref().unwrap().path().join("registry.db");
                Db::open_sqlite(&file).await
            }
            Db::Postgres(pool, ..) => {
                sqlx::query(sql)
                    .bind(vec![0_u8])
                    .execute(pool)
                    .await
                    .unwrap();
                let (url, name) = fresh.drop.as_ref().unwrap();
                Db::open_postgres(&format!("{}/{name}", url.rsplit_once('/').unwrap().0)).await
            }
        };
        let error = reopened.err().unwrap();
        assert!(matches!(error, Error::Newer(9999)), "{error}");
        assert!(error.to_string().contains("upgrade toolcrib"));
        fresh.end().await;
    }
}

#[tokio::test]
async fn a_backup_holds_everything_and_restores() {
    for fresh in engines().await {
        let db = &fresh.db;
        write(
            db,
            &[
                Write::Tool(tool("a", 1)),
                Write::Version(version("a", 1, "create")),
            ],
        )
        .await
        .unwrap();
        let folder = tempfile::tempdir().unwrap();
        db.backup_to(folder.path()).await.unwrap();
        write(db, &[Write::Tool(tool("b", 1))]).await.unwrap();
        match db {
            Db::Sqlite(..) => {
                let copy = Db::open_sqlite(&folder.path().join("registry.db"))
                    .await
                    .unwrap();
                assert_eq!(copy.live_tools().await.unwrap(), [tool("a", 1)]);
                assert_eq!(copy.heads().await.unwrap().len(), 1);
            }
            Db::Postgres(..) => {
                db.restore_from(folder.path()).await.unwrap();
                assert_eq!(db.live_tools().await.unwrap(), [tool("a", 1)]);
                assert_eq!(db.heads().await.unwrap().len(), 1);
                assert_eq!(db.users().await.unwrap().len(), 2);
            }
        }
        fresh.end().await;
    }
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

/// Whether any file of the folder holds these bytes.
fn holds(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    })
}

#[tokio::test]
async fn a_backup_is_private_and_has_keys_without_their_answers() {
    for fresh in engines().await {
        let db = &fresh.db;
        let call = IdempotentCall {
            tool_name: "pay".into(),
            arguments_hash: "h".into(),
            node: "elsewhere".into(),
            response: None,
            created_at: 5,
        };
        assert_eq!(db.reserve_call("kim", "k", &call).await.unwrap(), None);
        let answer = "hunter2".repeat(2000);
        db.answer_call("kim", "k", &answer).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        db.backup_to(folder.path()).await.unwrap();
        assert!(!holds(folder.path(), "hunter2"), "{}", db.engine());
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
        let kept = db.idempotent_call("kim", "k").await.unwrap().unwrap();
        assert_eq!(kept.response, Some(answer), "a copy changes nothing");
        let restored = match db {
            Db::Sqlite(..) => Db::open_sqlite(&folder.path().join("registry.db"))
                .await
                .unwrap(),
            Db::Postgres(..) => {
                db.restore_from(folder.path()).await.unwrap();
                db.clone()
            }
        };
        let found = restored.reserve_call("kim", "k", &call).await.unwrap();
        assert_eq!(found, Some(call), "it is not run again");
        restored.adopt_calls("here").await.unwrap();
        let unanswered = restored.unanswered_calls("here").await.unwrap();
        assert_eq!(unanswered, [("kim".into(), "k".into(), "pay".into())]);
        restored.close().await;
        fresh.end().await;
    }
}

#[tokio::test]
async fn only_the_owner_reads_the_registry() {
    let folder = tempfile::tempdir().unwrap();
    let files =
        ["registry.db", "registry.db-wal", "registry.db-shm"].map(|f| folder.path().join(f));
    let db = Db::open_sqlite(&files[0]).await.unwrap();
    db.ensure_first_users(1).await.unwrap();
    assert_eq!(files.each_ref().map(|f| mode(f)), [0o600; 3]);
    for file in &files {
        std::fs::set_permissions(file, Permissions::from_mode(0o644)).unwrap();
    }
    let again = Db::open_sqlite(&files[0]).await.unwrap();
    assert_eq!(files.each_ref().map(|f| mode(f)), [0o600; 3]);
    again.close().await;
    db.close().await;
}
