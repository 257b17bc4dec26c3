//! Confirmed requests in a real table: each once, the newest ones of each tool, and part of a backup.

use crate::{engines, holds};
use store::confirmed::{CONFIRMED_MAX, ConfirmedRow, ConfirmedWrite};
use store::users::ADMIN_USER;
use store::{Db, Error, Write};
use uuid::Uuid;

fn row(tool: u128, request: &str, at: i64) -> ConfirmedRow {
    ConfirmedRow {
        tool_id: Uuid::from_u128(tool),
        request: request.to_owned(),
        user_id: ADMIN_USER,
        at,
    }
}

#[tokio::test]
async fn the_newest_are_kept_each_once_and_part_of_a_backup() {
    for fresh in engines().await {
        let db = &fresh.db;
        let write = async |write| db.write(&[Write::Confirmed(write)]).await;
        let put = async |row| write(ConfirmedWrite::Put(row)).await.unwrap();
        // Longer than what an index of PostgreSQL takes, and nothing that could be packed.
        let long: String = (0..1_000)
            .filter_map(|i| char::from_u32(0xac00 + i * 7_919 % 11_172))
            .collect();
        put(row(2, &long, 1)).await;
        for at in 1..=CONFIRMED_MAX + 2 {
            put(row(1, &format!("request {at}"), at)).await;
        }
        put(row(1, "request 3", 100)).await;
        put(row(1, "one more", 101)).await;
        let of = async |tool: u128| {
            let all = db.confirmed_requests().await.unwrap().into_iter();
            let own = all.filter(|it| it.tool_id == Uuid::from_u128(tool));
            own.map(|it| it.request).collect::<Vec<_>>()
        };
        let kept = of(1).await;
        assert_eq!(kept.len(), 20);
        assert_eq!(kept[..3], ["one more", "request 3", "request 22"]);
        assert_eq!(kept[19], "request 5");
        assert_eq!(of(2).await, [long.as_str()]);

        let folder = tempfile::tempdir().unwrap();
        db.backup_to(folder.path()).await.unwrap();
        assert!(holds(folder.path(), "request 22"));
        let tool_id = Uuid::from_u128(1);
        let remove = |request: &str| ConfirmedWrite::Remove {
            tool_id,
            request: request.to_owned(),
        };
        write(remove("request 3")).await.unwrap();
        let late = write(remove("request 3")).await;
        assert!(matches!(late, Err(Error::Taken(_))), "{late:?}");
        assert_eq!(of(1).await.len(), 19);
        write(ConfirmedWrite::RemoveAll(tool_id)).await.unwrap();
        write(ConfirmedWrite::RemoveAll(tool_id)).await.unwrap();
        assert!(of(1).await.is_empty());
        assert_eq!(of(2).await.len(), 1);
        if matches!(db, Db::Postgres(..)) {
            db.restore_from(folder.path()).await.unwrap();
            assert_eq!(of(1).await, kept);
            // A backup of before there were any is whole.
            for table in ["confirmed_requests", "runs", "run_entries", "erasures"] {
                std::fs::remove_file(folder.path().join(format!("{table}.jsonl"))).unwrap();
            }
            db.restore_from(folder.path()).await.unwrap();
            assert!(of(1).await.is_empty());
        }
        fresh.end().await;
    }
}
