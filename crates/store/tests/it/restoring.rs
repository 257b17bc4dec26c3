//! A backup brought back: not under servers that work on it, told to whoever missed it, and without those who were erased since.

use crate::engines;
use store::erasure::ErasureRow;
use store::replicas::ReplicaRow;
use store::users::UserRow;
use store::{Db, Write};
use uuid::Uuid;

const KIM: Uuid = Uuid::from_u128(7);

async fn with_kim(db: &Db) {
    let users = db.users().await.unwrap();
    let kim = UserRow {
        id: KIM,
        name: "kim".to_owned(),
        ..users[0].clone()
    };
    db.write(&[Write::User(kim)]).await.unwrap();
}

async fn name_of(db: &Db) -> String {
    let users = db.users().await.unwrap();
    let kim = users.into_iter().find(|user| user.id == KIM);
    kim.unwrap().name
}

fn erased() -> ErasureRow {
    ErasureRow {
        user_id: KIM,
        name: Some("kim".to_owned()),
        pseudonym: "erased-1".to_owned(),
        at: 5,
    }
}

#[tokio::test]
async fn who_was_erased_since_a_backup_is_erased_again() {
    for fresh in engines().await {
        let db = &fresh.db;
        with_kim(db).await;
        let folder = tempfile::tempdir().unwrap();
        db.backup_to(folder.path()).await.unwrap();
        db.write(&[Write::Erase(erased())]).await.unwrap();
        db.erasure_ended(KIM).await.unwrap();
        assert_eq!(name_of(db).await, "erased-1");
        let since = db.erasures().await.unwrap();
        let file = folder.path().join("registry.db");
        let restored = match db {
            Db::Sqlite(..) => {
                let restored = Db::open_sqlite(&file).await.unwrap();
                assert_eq!(name_of(&restored).await, "kim", "the backup knows them");
                assert_eq!(restored.erase_again(&since).await.unwrap(), 1);
                restored
            }
            Db::Postgres(..) => {
                assert_eq!(db.restore_from(folder.path()).await.unwrap(), 1);
                db.clone()
            }
        };
        assert_eq!(name_of(&restored).await, "erased-1");
        // By the name the logs are erased again, up to the moment at which it was theirs.
        assert_eq!(restored.erasures().await.unwrap(), [erased()]);
        let none = restored.erase_again(&since).await.unwrap();
        assert_eq!(none, 0, "once is enough");
        restored.close().await;
        if let Db::Sqlite(..) = db {
            assert_eq!(store::backup::erased_in(&file).await.unwrap(), [erased()]);
        }
        fresh.end().await;
    }
}

#[tokio::test]
async fn nothing_is_restored_under_servers_that_work_on_it() {
    for fresh in engines().await {
        let db = &fresh.db;
        if let Db::Sqlite(..) = db {
            fresh.end().await;
            continue;
        }
        with_kim(db).await;
        let folder = tempfile::tempdir().unwrap();
        db.backup_to(folder.path()).await.unwrap();
        db.write(&[Write::Erase(erased())]).await.unwrap();
        let member = ReplicaRow {
            instance: "toolcrib-1".to_owned(),
            node: "node-one".to_owned(),
            address: Some("http://10.0.0.5:8787".to_owned()),
            version: "0.1.0".to_owned(),
            shelf_hash: String::new(),
            proof: String::new(),
            started_ms_ago: 0,
            seen_ms_ago: 0,
        };
        db.replica_seen(&member).await.unwrap();
        let refused = db
            .restore_from(folder.path())
            .await
            .unwrap_err()
            .to_string();
        for part in ["node-one", "http://10.0.0.5:8787"] {
            assert!(refused.contains(part), "{refused}");
        }
        assert_eq!(name_of(db).await, "erased-1", "nothing was restored");
        db.replica_left(&member.instance).await.unwrap();
        // Somebody who was not seen hears that everything is another.
        let known = db.revision().await.unwrap();
        db.restore_from(folder.path()).await.unwrap();
        let news = db.news_since(known).await.unwrap();
        assert_eq!(news.changed.len(), store::feed::Subject::ALL.len());
        fresh.end().await;
    }
}
