//! Who has signed in to which server, on both engines: stored with its sealed token, renewed only while it is there,
//! and part of a backup.

use crate::engines;
use store::secrets::SecretRow;
use store::server_tokens::{ServerClientRow, ServerTokenRow};
use store::users::ADMIN_USER;
use store::{Error, Write};
use uuid::Uuid;

fn secret(number: u128) -> SecretRow {
    SecretRow {
        id: Uuid::from_u128(number),
        owner_id: ADMIN_USER,
        name: None,
        tool_id: None,
        sealed: format!("sealed {number}"),
        key_id: "k1".to_owned(),
        last4: None,
        created_at: 1,
        updated_at: 1,
    }
}

fn token(server: &str, number: u128) -> ServerTokenRow {
    ServerTokenRow {
        server: server.to_owned(),
        user_id: ADMIN_USER,
        secret_id: Uuid::from_u128(number),
        url: "https://a.example/mcp".to_owned(),
        issuer: "https://id.example".to_owned(),
        scopes: "a b".to_owned(),
        expires_at: Some(7),
        can_refresh: true,
        created_at: i64::try_from(number).unwrap(),
        updated_at: 1,
    }
}

#[tokio::test]
async fn a_sign_in_is_kept_with_its_token_and_goes_with_it() {
    for fresh in engines().await {
        let db = &fresh.db;
        db.ensure_first_users(1).await.unwrap();
        let client = ServerClientRow {
            server: "a".to_owned(),
            issuer: "https://id.example".to_owned(),
            redirect_uri: "https://tools.example/callback".to_owned(),
            secret_id: Uuid::from_u128(3),
            created_at: 1,
        };
        db.write(&[
            Write::Secret(secret(1)),
            Write::Secret(secret(2)),
            Write::Secret(secret(3)),
            Write::ServerToken(token("b", 2)),
            Write::ServerToken(token("a", 1)),
            Write::ServerClient(client.clone()),
        ])
        .await
        .unwrap();
        let rows = db.server_tokens().await.unwrap();
        assert_eq!(
            rows,
            [token("a", 1), token("b", 2)],
            "whoever came first, is first"
        );
        assert_eq!(db.server_clients().await.unwrap(), [client]);
        let renewed = ServerTokenRow {
            scopes: "c".to_owned(),
            expires_at: None,
            can_refresh: false,
            updated_at: 9,
            ..token("a", 1)
        };
        db.write(&[Write::ServerTokenRenewed(renewed.clone())])
            .await
            .unwrap();
        assert_eq!(db.server_tokens().await.unwrap()[0], renewed);
        // A token is not left without its secret, nor a secret of one that is gone brought back.
        assert!(
            db.write(&[Write::NoSecret(Uuid::from_u128(1))])
                .await
                .is_err()
        );
        let gone = Write::NoServerToken {
            server: "a".to_owned(),
            user: ADMIN_USER,
        };
        db.write(&[gone, Write::NoSecrets(vec![Uuid::from_u128(1)])])
            .await
            .unwrap();
        let late = db
            .write(&[Write::ServerTokenRenewed(renewed), Write::Secret(secret(1))])
            .await;
        assert!(matches!(late, Err(Error::Taken(_))), "{late:?}");
        assert_eq!(db.secrets().await.unwrap().len(), 2);
        db.write(&[
            Write::NoServerClient(Uuid::from_u128(3)),
            Write::NoSecrets(vec![Uuid::from_u128(3)]),
        ])
        .await
        .unwrap();
        assert!(db.server_clients().await.unwrap().is_empty());
        let folder = tempfile::tempdir().unwrap();
        db.backup_to(folder.path()).await.unwrap();
        if db.engine() == "postgres" {
            let gone = Write::NoServerToken {
                server: "b".to_owned(),
                user: ADMIN_USER,
            };
            db.write(&[gone]).await.unwrap();
            db.restore_from(folder.path()).await.unwrap();
        }
        assert_eq!(db.server_tokens().await.unwrap(), [token("b", 2)]);
    }
}
