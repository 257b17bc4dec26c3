//! Encrypted lines to a server whose certificate was made here.

use crate::cluster::{Cluster, open};
use crate::{json, read, within};
use serde_json::Value;
use sources::{Error, PostgresConfig, Shape};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

fn openssl(folder: &Path, arguments: &[&str]) {
    let done = Command::new("openssl")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// An authority and a certificate of it for a name, as `NAME.pem` and `NAME.key`.
fn certify(folder: &Path, authority: &str, name: &str, host: &str) {
    let (key, pem) = (format!("{authority}.key"), format!("{authority}.pem"));
    let subject = format!("/CN={authority}");
    let new = [
        "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-sha256",
    ];
    let usage = ["-addext", "keyUsage=critical,keyCertSign"];
    openssl(
        folder,
        &[
            &new[..],
            &["-subj", &subject, "-keyout", &key, "-out", &pem],
            &usage,
        ]
        .concat(),
    );
    let (server_key, request, server) = (
        format!("{name}.key"),
        format!("{name}.csr"),
        format!("{name}.pem"),
    );
    let subject = format!("/CN={name}");
    openssl(
        folder,
        &[
            "req",
            "-new",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-subj",
            &subject,
            "-keyout",
            &server_key,
            "-out",
            &request,
        ],
    );
    let extensions = format!("{name}.ext");
    std::fs::write(
        folder.join(&extensions),
        format!("subjectAltName={host}\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n"),
    )
    .unwrap();
    openssl(
        folder,
        &[
            "x509",
            "-req",
            "-in",
            &request,
            "-CA",
            &pem,
            "-CAkey",
            &key,
            "-CAcreateserial",
            "-days",
            "2",
            "-sha256",
            "-extfile",
            &extensions,
            "-out",
            &server,
        ],
    );
    std::fs::set_permissions(
        folder.join(&server_key),
        std::fs::Permissions::from_mode(0o600),
    )
    .unwrap();
}

fn is_installed() -> bool {
    let found = Command::new("openssl")
        .arg("version")
        .stdout(Stdio::null())
        .status()
        .is_ok();
    if !found {
        println!("skipped: openssl is not installed");
    }
    found
}

fn config(cluster: &Cluster, host: &str, options: &str) -> PostgresConfig {
    PostgresConfig::new(format!(
        "postgres://reader@{host}:{}/postgres?{options}",
        cluster.port
    ))
}

async fn refusal(config: PostgresConfig) -> String {
    let answer = read(
        &open(config),
        "SELECT 1",
        Value::Null,
        &within(Shape::Scalar, Duration::from_secs(10)),
    )
    .await;
    match answer {
        Err(error @ (Error::Unavailable { .. } | Error::Source { .. })) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_certificate_is_checked_whenever_there_is_one() {
    if !is_installed() {
        return;
    }
    let settings = [
        ("ssl", "on"),
        ("ssl_cert_file", "../server.pem"),
        ("ssl_key_file", "../server.key"),
    ];
    let prepare = |folder: &Path| {
        certify(folder, "authority", "server", "DNS:localhost,IP:127.0.0.1");
        certify(folder, "stranger", "other", "DNS:localhost");
    };
    let Some(cluster) = Cluster::start(&settings, prepare).await else {
        return;
    };
    let folder = cluster.folder.path();
    let trusted = format!("sslrootcert={}", folder.join("authority.pem").display());
    let strange = format!("sslrootcert={}", folder.join("stranger.pem").display());
    let encrypted = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    for mode in ["verify-full", "require"] {
        for host in ["127.0.0.1", "localhost"] {
            let source = open(config(&cluster, host, &format!("sslmode={mode}&{trusted}")));
            assert_eq!(
                json(&source, encrypted, Shape::Scalar).await,
                true,
                "{mode} {host}"
            );
        }
        // Whoever signed it is not trusted: neither by the system nor by the file.
        for options in [
            format!("sslmode={mode}"),
            format!("sslmode={mode}&{strange}"),
        ] {
            let error = refusal(config(&cluster, "localhost", &options)).await;
            assert!(
                error.contains("sslrootcert") && !error.contains("reader"),
                "{error}"
            );
        }
    }
    let missing = refusal(config(
        &cluster,
        "localhost",
        "sslmode=require&sslrootcert=/no/such/file",
    ))
    .await;
    assert!(missing.contains("certificates to trust"), "{missing}");
    // On this machine nothing is encrypted unless it is asked for.
    for options in ["sslmode=disable", "sslmode=prefer", ""] {
        let source = open(config(&cluster, "127.0.0.1", options));
        assert_eq!(
            json(&source, encrypted, Shape::Scalar).await,
            false,
            "{options}"
        );
    }
}

#[tokio::test]
async fn a_certificate_for_another_name_or_none_at_all_is_refused() {
    if !is_installed() {
        return;
    }
    let prepare = |folder: &Path| certify(folder, "authority", "server", "DNS:elsewhere.example");
    let settings = [
        ("ssl", "on"),
        ("ssl_cert_file", "../server.pem"),
        ("ssl_key_file", "../server.key"),
    ];
    let Some(cluster) = Cluster::start(&settings, prepare).await else {
        return;
    };
    let options = format!(
        "sslmode=verify-full&sslrootcert={}",
        cluster.folder.path().join("authority.pem").display()
    );
    for host in ["localhost", "127.0.0.1"] {
        let error = refusal(config(&cluster, host, &options)).await;
        assert!(error.contains("TLS failed"), "{error}");
    }
    drop(cluster);
    let Some(plain) = Cluster::start(&[], |_| {}).await else {
        return;
    };
    let error = refusal(config(&plain, "localhost", "sslmode=require")).await;
    assert!(error.contains("offers no TLS"), "{error}");
}
