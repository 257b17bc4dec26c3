//! Lines to a PostgreSQL that speaks TLS: what `sslmode` and `sslrootcert` ask for is what is done.

use crate::cluster::Cluster;
use store::Db;

const IS_ENCRYPTED: &str = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

async fn is_encrypted(url: &str) -> bool {
    let db = Db::open_postgres(url).await.unwrap();
    let Db::Postgres(pool, ..) = &db else {
        panic!("not PostgreSQL")
    };
    let found = sqlx::query_scalar(IS_ENCRYPTED).fetch_one(pool).await;
    let found: bool = found.unwrap();
    // The line on which changes are heard and that of the log are made in the same way.
    let heard = db.listen().await.unwrap();
    let lines = "SELECT count(*) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) \
        WHERE a.backend_type = 'client backend' AND s.ssl <> $1";
    let log = Db::log_pool(url).await.unwrap();
    let others: i64 = sqlx::query_scalar(lines)
        .bind(found)
        .fetch_one(&log)
        .await
        .unwrap();
    assert_eq!(others, 0, "{url}");
    drop(heard);
    log.close().await;
    db.close().await;
    found
}

async fn refusal(url: &str) -> String {
    match Db::open_postgres(url).await {
        Ok(_) => panic!("{url} was opened"),
        Err(store::Error::Unreachable { what, remedy, .. }) => format!("{what}; {remedy}"),
        Err(other) => other.to_string(),
    }
}

#[tokio::test]
async fn a_line_is_encrypted_and_its_certificate_checked_as_sslmode_says() {
    let Some(cluster) = Cluster::start(Some("DNS:localhost,IP:127.0.0.1")).await else {
        return;
    };
    let (ours, strange) = (cluster.root("authority"), cluster.root("stranger"));
    for (options, expected) in [
        ("".to_owned(), true),
        ("sslmode=prefer".to_owned(), true),
        ("sslmode=disable".to_owned(), false),
        ("sslmode=require".to_owned(), true),
        (format!("sslmode=verify-ca&{ours}"), true),
        (format!("sslmode=verify-full&{ours}"), true),
    ] {
        for host in ["localhost", "127.0.0.1"] {
            let url = cluster.url(host, &options);
            assert_eq!(is_encrypted(&url).await, expected, "{url}");
        }
    }
    for options in [
        format!("sslmode=verify-full&{strange}"),
        format!("sslmode=verify-ca&{strange}"),
        format!("sslmode=require&{strange}"),
        "sslmode=verify-full".to_owned(),
    ] {
        let said = refusal(&cluster.url("localhost", &options)).await;
        for part in ["nobody trusted here has signed", "sslrootcert"] {
            assert!(said.contains(part), "{options}: {said}");
        }
        assert!(
            Db::log_pool(&cluster.url("localhost", &options))
                .await
                .is_err()
        );
    }
}

#[tokio::test]
async fn another_name_is_refused_where_the_name_is_asked_for_and_a_plain_server_where_tls_is() {
    let Some(cluster) = Cluster::start(Some("DNS:elsewhere.example")).await else {
        return;
    };
    let ours = cluster.root("authority");
    let said = refusal(&cluster.url("localhost", &format!("sslmode=verify-full&{ours}"))).await;
    assert!(said.contains("is for another name"), "{said}");
    assert!(is_encrypted(&cluster.url("localhost", &format!("sslmode=verify-ca&{ours}"))).await);
    drop(cluster);
    let Some(plain) = Cluster::start(None).await else {
        return;
    };
    for mode in ["require", "verify-full"] {
        let said = refusal(&plain.url("127.0.0.1", &format!("sslmode={mode}"))).await;
        for part in ["server does not support TLS", "ssl = on"] {
            assert!(said.contains(part), "{said}");
        }
    }
    assert!(!is_encrypted(&plain.url("127.0.0.1", "sslmode=prefer")).await);
}
