//! Upstream servers in a real table: kept, changed by one at a time, remembered and forgotten.

use crate::{engines, holds};
use store::servers::{ServerListsRow, ServerPinRow, ServerRow, ServerWrite};
use store::users::ADMIN_USER;
use store::{Db, Error, Write};
use uuid::Uuid;

fn row(version: i64) -> ServerRow {
    ServerRow {
        id: Uuid::from_u128(7),
        owner_id: ADMIN_USER,
        name: "search".into(),
        definition: r#"{"url":"https://a.example","headers":{"A":{"$sealed":"x"}}}"#.into(),
        is_trusted: version % 2 == 1,
        version,
        created_at: 1,
        updated_at: version,
    }
}

fn lists(server: &str, known: &str) -> ServerListsRow {
    ServerListsRow {
        server: server.into(),
        address: "place".into(),
        known: known.into(),
        updated_at: 5,
    }
}

fn pin(tool: &str, hash: &str, definition: Option<&str>) -> ServerPinRow {
    ServerPinRow {
        server: "search".into(),
        tool: tool.into(),
        hash: hash.into(),
        definition: definition.map(str::to_owned),
        pinned_at: 6,
    }
}

async fn write(db: &Db, writes: Vec<ServerWrite>) -> Result<(), Error> {
    let writes: Vec<Write> = writes.into_iter().map(Write::Server).collect();
    db.write(&writes).await
}

#[tokio::test]
async fn a_server_is_changed_by_one_at_a_time() {
    for fresh in engines().await {
        let db = &fresh.db;
        write(db, vec![ServerWrite::Put(row(1))]).await.unwrap();
        assert_eq!(db.servers().await.unwrap(), [row(1)]);
        write(db, vec![ServerWrite::Put(row(2))]).await.unwrap();
        let late = write(db, vec![ServerWrite::Put(row(2))]).await;
        assert!(matches!(late, Err(Error::Taken(_))), "{late:?}");
        assert_eq!(db.servers().await.unwrap(), [row(2)]);
        let other = ServerRow {
            id: Uuid::from_u128(8),
            ..row(1)
        };
        let taken = write(db, vec![ServerWrite::Put(other)]).await;
        assert!(matches!(taken, Err(Error::Taken(_))), "{taken:?}");
        let id = row(1).id;
        let late = write(db, vec![ServerWrite::Remove { id, version: 1 }]).await;
        assert!(matches!(late, Err(Error::Taken(_))), "{late:?}");
        let gone = ServerWrite::Remove { id, version: 2 };
        write(db, vec![gone]).await.unwrap();
        assert!(db.servers().await.unwrap().is_empty());
        fresh.end().await;
    }
}

#[tokio::test]
async fn what_is_known_is_replaced_forgotten_and_part_of_a_backup() {
    for fresh in engines().await {
        let db = &fresh.db;
        let first = vec![
            ServerWrite::Put(row(1)),
            ServerWrite::Lists(lists("search", "{}")),
            ServerWrite::Lists(lists("other", "{}")),
            ServerWrite::Pin(pin(
                "a",
                "h1",
                Some(r#"{"name":"a","description":"\u0000한"}"#),
            )),
            ServerWrite::Pin(pin("b", "h1", None)),
        ];
        write(db, first).await.unwrap();
        let again = vec![
            ServerWrite::Lists(lists("search", r#"{"way":"legacy"}"#)),
            ServerWrite::Pin(pin("a", "h2", Some("{}"))),
        ];
        write(db, again).await.unwrap();
        let known = [lists("other", "{}"), lists("search", r#"{"way":"legacy"}"#)];
        let pins = [pin("a", "h2", Some("{}")), pin("b", "h1", None)];
        assert_eq!(db.server_lists().await.unwrap(), known);
        assert_eq!(db.server_pins().await.unwrap(), pins);
        let folder = tempfile::tempdir().unwrap();
        db.backup_to(folder.path()).await.unwrap();
        assert!(holds(folder.path(), "a.example"));
        let forget = ["search", "none"].map(|name| ServerWrite::Forget(name.to_owned()));
        write(db, forget.to_vec()).await.unwrap();
        assert_eq!(db.server_lists().await.unwrap(), known[..1]);
        assert!(db.server_pins().await.unwrap().is_empty());
        let restored = match db {
            Db::Sqlite(..) => Db::open_sqlite(&folder.path().join("registry.db"))
                .await
                .unwrap(),
            Db::Postgres(..) => {
                db.restore_from(folder.path()).await.unwrap();
                db.clone()
            }
        };
        assert_eq!(restored.server_lists().await.unwrap(), known);
        assert_eq!(restored.server_pins().await.unwrap(), pins);
        assert_eq!(restored.servers().await.unwrap(), [row(1)]);
        if matches!(db, Db::Postgres(..)) {
            from_before_servers(&restored, folder.path()).await;
        }
        restored.close().await;
        fresh.end().await;
    }
}

/// A backup of before there were servers is whole; one that has lost a table is not.
async fn from_before_servers(db: &Db, folder: &std::path::Path) {
    let remove = |table: &str| std::fs::remove_file(folder.join(format!("{table}.jsonl")));
    remove("servers").unwrap();
    let lost = db.restore_from(folder).await.unwrap_err().to_string();
    assert!(lost.contains("servers.jsonl"), "{lost}");
    for table in [
        "server_lists",
        "server_pins",
        "server_tokens",
        "server_clients",
        "sources",
        "confirmed_requests",
        "runs",
        "run_entries",
        "erasures",
    ] {
        remove(table).unwrap();
    }
    db.restore_from(folder).await.unwrap();
    assert!(db.servers().await.unwrap().is_empty());
    remove("users").unwrap();
    let lost = db.restore_from(folder).await.unwrap_err().to_string();
    assert!(lost.contains("users.jsonl"), "{lost}");
}
