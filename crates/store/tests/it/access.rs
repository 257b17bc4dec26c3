//! People, keys, sessions, agents, the policy, limits, secrets and the audit log.

use crate::engines;
use catalog::tool::SYSTEM_USER;
use serde_json::json;
use sqlx::types::Json;
use store::agents::AgentRow;
use store::audit::{Act, AuditFilter};
use store::detail::Detail;
use store::keys::KeyRow;
use store::limits::LimitRow;
use store::policies::PolicyRow;
use store::secrets::SecretRow;
use store::sessions::{LinkRow, SessionRow};
use store::toolsets::ToolsetRow;
use store::users::{ADMIN_USER, UserRow};
use store::{Db, Error, Write};
use uuid::Uuid;

const HOSTILE: &str = "ci'; DROP TABLE keys; -- \" \\ 한글 🦀";

fn key() -> KeyRow {
    KeyRow {
        id: Uuid::from_u128(1),
        name: HOSTILE.into(),
        user_id: ADMIN_USER,
        secret_hash: vec![0, 1, 255],
        scopes: "read,call".into(),
        created_at: 5,
        expires_at: Some(9),
        revoked_at: None,
        last_used_at: None,
    }
}

fn act(action: &str) -> Write {
    Write::Act(Act {
        at: 7,
        actor_id: ADMIN_USER,
        actor: "admin".into(),
        key: Some(HOSTILE.into()),
        transport: "rest".into(),
        action: action.into(),
        target: "user:kim".into(),
        before: None,
        after: Some(Detail::new(json!({"name": HOSTILE}))),
    })
}

#[tokio::test]
async fn users_and_keys_are_kept_as_they_are_written() {
    for fresh in engines().await {
        let db = &fresh.db;
        let mut kim = UserRow {
            id: Uuid::from_u128(3),
            name: HOSTILE.into(),
            role: "author".into(),
            password_hash: Some("$argon2id$…".into()),
            oidc_subject: Some("https://issuer|42".into()),
            created_at: 5,
            updated_at: 6,
            deleted_at: None,
        };
        let mut key = key();
        let writes = [Write::User(kim.clone()), Write::Key(key.clone())];
        db.write(&writes).await.unwrap();
        assert_eq!(db.keys().await.unwrap(), std::slice::from_ref(&key));
        assert!(db.users().await.unwrap().contains(&kim));

        key.revoked_at = Some(7);
        kim.deleted_at = Some(8);
        kim.role = "viewer".into();
        let writes = [Write::User(kim.clone()), Write::Key(key.clone())];
        db.write(&writes).await.unwrap();
        db.keys_used(&[(key.id, 9)]).await.unwrap();
        key.last_used_at = Some(9);
        assert_eq!(db.keys().await.unwrap(), [key]);
        let users = db.users().await.unwrap();
        let ids: Vec<Uuid> = users.iter().map(|u| u.id).collect();
        assert!(users.contains(&kim));
        assert!(ids.contains(&SYSTEM_USER) && ids.contains(&ADMIN_USER) && ids.len() == 3);

        let same_name = UserRow {
            id: Uuid::from_u128(4),
            oidc_subject: None,
            ..kim
        };
        let taken = db.write(&[Write::User(same_name)]).await;
        assert!(matches!(taken, Err(Error::Taken(_))), "{taken:?}");
        fresh.end().await;
    }
}

#[tokio::test]
async fn a_session_ends_and_a_link_opens_once() {
    for fresh in engines().await {
        let db = &fresh.db;
        let session = |n: u8, expires_at| SessionRow {
            hash: vec![n; 32],
            user_id: ADMIN_USER,
            created_at: 10,
            expires_at,
        };
        for row in [session(1, 5), session(2, 50), session(3, 60)] {
            db.write(&[Write::Session(row)]).await.unwrap();
        }
        let twice = db.write(&[Write::Session(session(3, 60))]).await;
        assert!(matches!(twice, Err(Error::Taken(_))), "{twice:?}");
        let live = |rows: Vec<SessionRow>| rows.iter().map(|r| r.hash[0]).collect::<Vec<_>>();
        assert_eq!(
            live(db.sessions(0).await.unwrap()),
            [2, 3],
            "the ended one is forgotten"
        );
        let end = Write::EndSession {
            hash: vec![2; 32],
            user: None,
        };
        db.write(std::slice::from_ref(&end)).await.unwrap();
        assert_eq!(live(db.sessions(20).await.unwrap()), [3]);
        // What is not there has ended: neither of these is a conflict, and what stands beside them happens.
        let nobody = Uuid::from_u128(99);
        let (none, no_keys) = (
            Write::EndSessions(nobody),
            Write::RevokeKeys {
                user: nobody,
                at: 1,
            },
        );
        db.write(&[end, none, no_keys, act("beside")])
            .await
            .unwrap();
        assert_eq!(db.audit_chain().await.unwrap().rows, 1);

        let link = |n: u8, created_at| {
            Write::Link(LinkRow {
                hash: vec![n; 32],
                user_id: ADMIN_USER,
                created_at,
                expires_at: created_at + 100,
            })
        };
        db.write(&[link(7, 0), link(8, 0)]).await.unwrap();
        let whose = Some((ADMIN_USER, 100));
        assert_eq!(db.use_login_link(&[7; 32]).await.unwrap(), whose);
        assert_eq!(db.use_login_link(&[7; 32]).await.unwrap(), None, "used");
        db.write(&[link(9, 100)]).await.unwrap();
        let old = db.use_login_link(&[8; 32]).await.unwrap();
        assert_eq!(old, None, "forgotten when the next is made");
        db.write(&[Write::EndSessions(ADMIN_USER)]).await.unwrap();
        assert!(db.sessions(20).await.unwrap().is_empty());
        assert_eq!(db.use_login_link(&[9; 32]).await.unwrap(), None);
        fresh.end().await;
    }
}

#[tokio::test]
async fn agents_policies_limits_and_secrets_come_back_as_written() {
    for fresh in engines().await {
        let db = &fresh.db;
        let mut agent = AgentRow {
            id: Uuid::from_u128(11),
            owner_id: ADMIN_USER,
            name: HOSTILE.into(),
            description: None,
            model_provider: "zhipuai".into(),
            model_name: "glm".into(),
            base_url: None,
            system_prompt: Some("한글".into()),
            config: Json(json!({"temperature": 0.7, "stop_sequences": ["Human:"]})),
            tools: Json(vec![Uuid::from_u128(21), Uuid::from_u128(22)]),
            memory_config: Some(Json(json!({"type": "sliding_window"}))),
            is_active: true,
            is_public: false,
            version: 1,
            created_at: 1,
            updated_at: 1,
            deleted_at: None,
        };
        db.write(&[Write::Agent(agent.clone())]).await.unwrap();
        agent.memory_config = None;
        agent.is_active = false;
        agent.version = 2;
        db.write(&[Write::Agent(agent.clone())]).await.unwrap();
        assert_eq!(db.agents().await.unwrap(), std::slice::from_ref(&agent));
        let stale = db.write(&[Write::Agent(agent.clone())]).await;
        assert!(matches!(stale, Err(Error::Taken(_))), "{stale:?}");

        let policy = |version| PolicyRow {
            version,
            document: json!({"rules": []}).to_string(),
            created_at: version,
        };
        assert_eq!(db.policy().await.unwrap(), None);
        db.write(&[Write::Policy(policy(1))]).await.unwrap();
        db.write(&[Write::Policy(policy(2))]).await.unwrap();
        assert_eq!(db.policy().await.unwrap(), Some(policy(2)));
        let twice = db.write(&[Write::Policy(policy(2))]).await;
        assert!(matches!(twice, Err(Error::Taken(_))), "{twice:?}");

        let limit = |max_count| LimitRow {
            target_type: "USER".into(),
            target_id: ADMIN_USER,
            target_name: Some("kim".into()),
            max_count,
            updated_at: 3,
        };
        db.write(&[Write::Limit(limit(50)), Write::Limit(limit(60))])
            .await
            .unwrap();
        assert_eq!(db.limits().await.unwrap(), [limit(60)]);
        let none = Write::NoLimit {
            target_type: "USER".into(),
            target_id: ADMIN_USER,
        };
        db.write(std::slice::from_ref(&none)).await.unwrap();
        assert!(db.limits().await.unwrap().is_empty());
        assert!(db.write(&[none]).await.is_err(), "there is none any more");

        let mut secret = SecretRow {
            id: Uuid::from_u128(31),
            owner_id: ADMIN_USER,
            name: Some("weather-api".into()),
            tool_id: None,
            sealed: "v1.k1.a.b.c".into(),
            key_id: "k1".into(),
            last4: Some("1234".into()),
            created_at: 1,
            updated_at: 1,
        };
        db.write(&[Write::Secret(secret.clone())]).await.unwrap();
        secret.key_id = "k2".into();
        db.write(&[Write::Secret(secret.clone())]).await.unwrap();
        assert_eq!(db.secrets().await.unwrap(), std::slice::from_ref(&secret));
        db.write(&[Write::NoSecret(secret.id)]).await.unwrap();
        assert!(db.secrets().await.unwrap().is_empty());
        fresh.end().await;
    }
}

#[tokio::test]
async fn the_audit_chain_holds_and_a_change_in_it_is_named() {
    for fresh in engines().await {
        let db = &fresh.db;
        assert_eq!(db.audit_chain().await.unwrap().rows, 0);
        db.write(&[act("a.one"), act("a.two")]).await.unwrap();
        // Many at once still make one chain.
        let many = (0..20).map(|i| {
            let db = db.clone();
            tokio::spawn(async move { db.write(&[act(&format!("b.{i}")), act("c")]).await })
        });
        for done in many.collect::<Vec<_>>() {
            done.await.unwrap().unwrap();
        }
        // What does not happen is not told either.
        let refused = db
            .write(&[act("never"), Write::NoSecret(Uuid::nil())])
            .await;
        assert!(refused.is_err());
        let chain = db.audit_chain().await.unwrap();
        assert_eq!((chain.rows, chain.broken), (42, None));
        let page = db.audit(&AuditFilter::default(), 3).await.unwrap();
        assert!(page.more);
        let rows = page.rows;
        assert_eq!(rows.iter().map(|r| r.seq).collect::<Vec<_>>(), [42, 41, 40]);
        assert_eq!(rows[0].hash, chain.head);
        let filter = AuditFilter {
            action: Some("a.two".into()),
            ..AuditFilter::default()
        };
        let found = db.audit(&filter, 10).await.unwrap();
        assert_eq!((found.rows.len(), found.more), (1, false));
        let after = found.rows[0].act.after.as_ref().unwrap();
        assert!(after.as_str().contains("한글"));

        tamper(db, "UPDATE audit SET actor = 'Admin' WHERE seq = 7").await;
        let broken = db.audit_chain().await.unwrap().broken;
        assert_eq!(broken, Some((7, "it was changed")));
        tamper(db, "UPDATE audit SET actor = 'admin' WHERE seq = 7").await;
        assert_eq!(db.audit_chain().await.unwrap().broken, None);
        tamper(db, "DELETE FROM audit WHERE seq = 9").await;
        let broken = db.audit_chain().await.unwrap().broken;
        assert_eq!(broken, Some((9, "it is missing")));
        fresh.end().await;
    }
}

#[tokio::test]
async fn a_page_of_the_audit_log_is_bounded_in_bytes_and_misses_nothing() {
    for fresh in engines().await {
        let db = &fresh.db;
        // Each of them is about as big as an act can be.
        let members = (0..8).map(|i| (format!("m{i}"), json!("x".repeat(1_900))));
        let big = Detail::new(serde_json::Value::Object(members.collect()));
        let acts: Vec<Write> = (0..120)
            .map(|i| match act(&format!("a.{i}")) {
                Write::Act(act) => Write::Act(Act {
                    before: Some(big.clone()),
                    after: Some(big.clone()),
                    ..act
                }),
                other => other,
            })
            .collect();
        db.write(&acts).await.unwrap();
        let mut filter = AuditFilter::default();
        let (mut seen, mut pages) = (Vec::new(), 0);
        loop {
            let page = db.audit(&filter, 500).await.unwrap();
            let bytes: usize = page.rows.len() * 2 * big.as_str().len();
            assert!(bytes < 2_000_000, "{bytes} bytes in one page");
            seen.extend(page.rows.iter().map(|row| row.seq));
            filter.before = seen.last().copied();
            pages += 1;
            if !page.more {
                break;
            }
        }
        assert!(seen.iter().copied().eq((1..=120).rev()), "{seen:?}");
        assert!(pages > 1);
        let chain = db.audit_chain().await.unwrap();
        assert_eq!((chain.rows, chain.broken), (120, None));
        fresh.end().await;
    }
}

#[tokio::test]
async fn all_keys_of_a_user_are_revoked_at_once() {
    for fresh in engines().await {
        let db = &fresh.db;
        let revoked_before = KeyRow {
            id: Uuid::from_u128(2),
            revoked_at: Some(3),
            ..key()
        };
        db.write(&[Write::Key(key()), Write::Key(revoked_before)])
            .await
            .unwrap();
        let user = ADMIN_USER;
        db.write(&[Write::RevokeKeys { user, at: 9 }])
            .await
            .unwrap();
        let keys = db.keys().await.unwrap();
        let ends: Vec<_> = keys.iter().map(|key| key.revoked_at).collect();
        assert_eq!(ends, [Some(9), Some(3)]);
        fresh.end().await;
    }
}

async fn tamper(db: &Db, sql: &'static str) {
    match db {
        Db::Sqlite(pool, ..) => sqlx::query(sql).execute(pool).await.map(|_| ()).unwrap(),
        Db::Postgres(pool, ..) => sqlx::query(sql).execute(pool).await.map(|_| ()).unwrap(),
    }
}

#[tokio::test]
async fn toolsets_come_back_as_written_and_a_live_name_is_given_once() {
    for fresh in engines().await {
        let db = &fresh.db;
        let mut toolset = ToolsetRow {
            id: Uuid::from_u128(12),
            owner_id: ADMIN_USER,
            name: HOSTILE.into(),
            // The order of members is the author's.
            definition: r#"{"tools":[{"tool":"b","arguments":{"z":1,"a":"한글"}},"a"]}"#.into(),
            version: 1,
            created_at: 1,
            updated_at: 1,
            deleted_at: None,
        };
        db.write(&[Write::Toolset(toolset.clone())]).await.unwrap();
        assert_eq!(db.toolsets().await.unwrap(), std::slice::from_ref(&toolset));
        let stale = db.write(&[Write::Toolset(toolset.clone())]).await;
        assert!(matches!(stale, Err(Error::Taken(_))), "{stale:?}");
        let other = ToolsetRow {
            id: Uuid::from_u128(13),
            ..toolset.clone()
        };
        let taken = db.write(&[Write::Toolset(other.clone())]).await;
        assert!(matches!(taken, Err(Error::Taken(_))), "{taken:?}");
        toolset.version = 2;
        toolset.deleted_at = Some(3);
        let writes = [Write::Toolset(toolset.clone()), Write::Toolset(other)];
        db.write(&writes).await.unwrap();
        assert_eq!(db.toolsets().await.unwrap().len(), 2);
        fresh.end().await;
    }
}
