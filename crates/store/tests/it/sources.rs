//! Sources in a real table: kept, changed by one at a time, removed, and part of a backup.

use crate::{engines, holds};
use store::sources::SourceRow;
use store::{Db, Error, Write};
use uuid::Uuid;

fn row(version: i64) -> SourceRow {
    SourceRow {
        id: Uuid::from_u128(7),
        name: "shop".into(),
        definition: format!(r#"{{"kind":"sqlite","path":"shop-{version}.db"}}"#),
        version,
        created_at: 1,
        updated_at: version,
    }
}

#[tokio::test]
async fn a_source_is_changed_by_one_at_a_time_and_part_of_a_backup() {
    for fresh in engines().await {
        let db = &fresh.db;
        let put = async |row: SourceRow| db.write(&[Write::Source(row)]).await;
        put(row(1)).await.unwrap();
        put(row(2)).await.unwrap();
        let late = put(row(2)).await;
        assert!(matches!(late, Err(Error::Taken(_))), "{late:?}");
        assert_eq!(db.sources().await.unwrap(), [row(2)]);
        let other = SourceRow {
            id: Uuid::from_u128(8),
            ..row(1)
        };
        let taken = put(other).await;
        assert!(matches!(taken, Err(Error::Taken(_))), "{taken:?}");
        let folder = tempfile::tempdir().unwrap();
        db.backup_to(folder.path()).await.unwrap();
        assert!(holds(folder.path(), "shop-2.db"));
        let gone = async |version: i64| {
            let id = row(1).id;
            db.write(&[Write::NoSource { id, version }]).await
        };
        let late = gone(1).await;
        assert!(matches!(late, Err(Error::Taken(_))), "{late:?}");
        gone(2).await.unwrap();
        assert!(db.sources().await.unwrap().is_empty());
        if matches!(db, Db::Postgres(..)) {
            db.restore_from(folder.path()).await.unwrap();
            assert_eq!(db.sources().await.unwrap(), [row(2)]);
            // A backup of before there were sources is whole.
            for table in [
                "sources",
                "confirmed_requests",
                "runs",
                "run_entries",
                "erasures",
            ] {
                std::fs::remove_file(folder.path().join(format!("{table}.jsonl"))).unwrap();
            }
            db.restore_from(folder.path()).await.unwrap();
            assert!(db.sources().await.unwrap().is_empty());
        }
        fresh.end().await;
    }
}
