//! What becomes of every table when somebody is erased.

use crate::engines;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use store::audit::Act;
use store::detail::Detail;
use store::erasure::{ErasureRow, Fate, TABLES};
use store::{Db, Write};
use uuid::Uuid;

#[tokio::test]
async fn every_table_is_in_the_list() {
    for fresh in engines().await {
        is_whole(&fresh.db).await;
        fresh.end().await;
    }
}

async fn is_whole(db: &Db) {
    let tables: Vec<String> = match db {
        Db::Sqlite(pool, _) => {
            let sql =
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
            sqlx::query_scalar(sql).fetch_all(pool).await.unwrap()
        }
        Db::Postgres(pool, _) => {
            let sql = "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()";
            sqlx::query_scalar(sql).fetch_all(pool).await.unwrap()
        }
    };
    let listed: BTreeSet<&str> = TABLES.iter().map(|(table, _)| *table).collect();
    assert_eq!(listed.len(), TABLES.len(), "one of them is there twice");
    for table in tables.iter().filter(|table| *table != "_sqlx_migrations") {
        assert!(
            listed.contains(table.as_str()),
            "store/src/erasure.rs does not say what becomes of '{table}' when somebody is erased"
        );
    }
    for (table, fate) in TABLES {
        if let Fate::RemovedWith(other) = fate {
            let with = TABLES.iter().find(|(it, _)| it == other);
            assert!(matches!(with, Some((_, Fate::Removed(_)))), "{table}");
        }
    }
    if let Db::Postgres(..) = db {
        assert_eq!(listed.len() + 1, tables.len(), "{listed:?} {tables:?}");
    }
}

fn act(number: i64, actor: (Uuid, &str), target: &str, after: Value) -> Act {
    Act {
        at: number,
        actor_id: actor.0,
        actor: actor.1.to_owned(),
        key: Some(format!("key of {}", actor.1)),
        transport: "rest".to_owned(),
        action: "tool.update".to_owned(),
        target: target.to_owned(),
        before: None,
        after: Some(Detail::new(after)),
    }
}

/// The chain is whole before and after, only from the first entry that named them on it is another, and it says so.
#[tokio::test]
async fn the_audit_log_is_written_anew_without_them() {
    for fresh in engines().await {
        let db = &fresh.db;
        let (kim, lee) = ((Uuid::from_u128(7), "kim"), (Uuid::from_u128(8), "lee"));
        let acts = [
            act(1, lee, "tool:a", json!({"owner": "lee"})),
            act(2, kim, "tool:a", json!({"text": "kimono"})),
            act(3, lee, "user:kim", json!({"oidc_subject": "a-person"})),
            act(4, lee, "tool:b", json!({"owner": "kim"})),
        ];
        for act in &acts {
            db.write(&[Write::Act(act.clone())]).await.unwrap();
        }
        let before = db
            .audit_after(&Default::default(), 0, 50)
            .await
            .unwrap()
            .rows;
        let row = ErasureRow {
            user_id: kim.0,
            name: Some("kim".to_owned()),
            pseudonym: "erased-1".to_owned(),
            at: 5,
        };
        assert_eq!(db.erase_in_audit(&row, 6).await.unwrap(), 3);
        let chain = db.audit_chain().await.unwrap();
        assert_eq!((chain.rows, chain.broken), (5, None));
        let after = db
            .audit_after(&Default::default(), 0, 50)
            .await
            .unwrap()
            .rows;
        assert_eq!(after[0], before[0]);
        let seen: Vec<_> = after
            .iter()
            .map(|row| {
                let detail = row.act.after.as_ref().map(|it| it.as_str().to_owned());
                (row.act.actor.as_str(), row.act.target.as_str(), detail)
            })
            .collect();
        let text = |value: Value| Some(value.to_string());
        assert_eq!(
            seen[1],
            ("erased-1", "tool:a", text(json!({"text": "kimono"})))
        );
        assert_eq!(seen[2], ("lee", "user:erased-1", None));
        assert_eq!(
            seen[3],
            ("lee", "tool:b", text(json!({"owner": "erased-1"})))
        );
        assert_eq!((seen[4].0, seen[4].1), ("system", "user:erased-1"));
        let said = seen[4].2.as_deref().unwrap_or_default();
        let head = catalog::hex::hex(&before[3].hash);
        assert!(
            said.contains(&head) && said.contains("\"first\":2"),
            "{said}"
        );
        assert_eq!(
            db.erase_in_audit(&row, 7).await.unwrap(),
            0,
            "once is enough"
        );
        assert_eq!(db.audit_chain().await.unwrap().rows, 5);
        fresh.end().await;
    }
}

/// Somebody else may have the name by now, and keeps what is theirs.
#[tokio::test]
async fn who_takes_the_name_later_keeps_their_entries() {
    for fresh in engines().await {
        let db = &fresh.db;
        let (kim, other) = ((Uuid::from_u128(7), "kim"), (Uuid::from_u128(9), "kim"));
        let before = act(4, kim, "user:kim", json!({"owner": "kim"}));
        let since = act(6, other, "user:kim", json!({"owner": "kim"}));
        for act in [&before, &since] {
            db.write(&[Write::Act(act.clone())]).await.unwrap();
        }
        let row = ErasureRow {
            user_id: kim.0,
            name: Some("kim".to_owned()),
            pseudonym: "erased-1".to_owned(),
            at: 5,
        };
        assert_eq!(db.erase_in_audit(&row, 7).await.unwrap(), 1);
        let after = db.audit_after(&Default::default(), 0, 50).await.unwrap();
        assert_eq!(after.rows[1].act, since);
        assert_eq!(after.rows[0].act.target, "user:erased-1");
        assert_eq!(db.audit_chain().await.unwrap().broken, None);
        fresh.end().await;
    }
}

/// Many entries follow, of which only the hash is another.
#[tokio::test]
async fn a_long_audit_log_is_whole_afterwards() {
    for fresh in engines().await {
        let db = &fresh.db;
        let (kim, lee) = ((Uuid::from_u128(7), "kim"), (Uuid::from_u128(8), "lee"));
        let acts = (1..=450).map(|number| match number {
            3 | 204 | 440 => act(number, kim, "tool:a", json!({})),
            _ => act(number, lee, "tool:a", json!({"owner": "lee"})),
        });
        let acts: Vec<Write> = acts.map(Write::Act).collect();
        db.write(&acts).await.unwrap();
        let row = ErasureRow {
            user_id: kim.0,
            name: Some("kim".to_owned()),
            pseudonym: "erased-1".to_owned(),
            at: 500,
        };
        assert_eq!(db.erase_in_audit(&row, 501).await.unwrap(), 3);
        let chain = db.audit_chain().await.unwrap();
        assert_eq!((chain.rows, chain.broken), (451, None));
        fresh.end().await;
    }
}
