//! Why a PostgreSQL could not be reached, in words that name the host and never the password.

use crate::db::{Error, Why};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection};
use std::io::ErrorKind;
use std::time::Duration;

pub(crate) const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// A pool tries again until its time is up and then tells only that; one connection of its own tells why.
pub(crate) async fn explain(options: &PgConnectOptions, error: sqlx::Error) -> Error {
    if !matches!(error, sqlx::Error::PoolTimedOut) {
        return unreachable(options, &error);
    }
    let once: Result<PgConnection, sqlx::Error> =
        match tokio::time::timeout(PROBE_TIMEOUT, options.connect()).await {
            Ok(tried) => tried,
            Err(_) => Err(sqlx::Error::Io(ErrorKind::TimedOut.into())),
        };
    match once {
        Err(why) => unreachable(options, &why),
        Ok(connection) => {
            let _ = connection.close().await;
            unreachable(options, &error)
        }
    }
}

pub(crate) fn unreachable(options: &PgConnectOptions, error: &sqlx::Error) -> Error {
    let database = options.get_database().unwrap_or(options.get_username());
    let at = match options.get_socket() {
        Some(folder) => format!("in {}", folder.display()),
        None => format!("at {}:{}", options.get_host(), options.get_port()),
    };
    let (why, said, remedy) = match error {
        sqlx::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => (
            Why::Silent,
            "connection refused".to_owned(),
            "start PostgreSQL there, or correct the host and the port in DATABASE_URL",
        ),
        sqlx::Error::Io(error) if error.kind() == ErrorKind::InvalidData => distrusted(error),
        sqlx::Error::Tls(error) => (
            Why::Tls,
            format!("TLS failed: {error}"),
            "switch TLS on in PostgreSQL (ssl = on), or write sslmode=disable in DATABASE_URL where the network is your own",
        ),
        sqlx::Error::Io(error) => (
            Why::Silent,
            error.to_string(),
            "correct the host and the port in DATABASE_URL, and check the network between",
        ),
        sqlx::Error::Database(error) => {
            let (why, remedy) = refused(error.code().as_deref());
            (why, error.message().to_owned(), remedy)
        }
        other => (
            Why::Other,
            other.to_string(),
            "check DATABASE_URL and that a PostgreSQL answers there",
        ),
    };
    Error::Unreachable {
        why,
        what: format!("PostgreSQL {at} (database {database}): {said}"),
        remedy,
    }
}

/// What PostgreSQL refuses with this code, and what to do about it.
fn refused(code: Option<&str>) -> (Why, &'static str) {
    match code {
        Some("28000" | "28P01") => (
            Why::Password,
            "correct the user and the password in DATABASE_URL",
        ),
        Some("3D000") => (
            Why::Missing,
            "make the database with `createdb`, or correct its name in DATABASE_URL",
        ),
        Some("53300") => (
            Why::Crowded,
            "let PostgreSQL take more connections (max_connections), or end some",
        ),
        _ => (
            Why::Other,
            "mend what PostgreSQL complains about; its own log says more",
        ),
    }
}

/// What the handshake held against the certificate of the server.
fn distrusted(error: &std::io::Error) -> (Why, String, &'static str) {
    let why = error.to_string();
    let (said, remedy) = if why.contains("UnknownIssuer") {
        (
            "nobody trusted here has signed its certificate",
            "name the file of the authority that signed it with sslrootcert in DATABASE_URL",
        )
    } else if why.contains("not valid for") {
        (
            "its certificate is for another name",
            "write the host in DATABASE_URL as the certificate has it, or give PostgreSQL a certificate for this name; sslmode=verify-ca does not look at the name",
        )
    } else if why.contains("xpired") {
        (
            "its certificate has expired",
            "give PostgreSQL a new certificate, and check the clock of this machine",
        )
    } else {
        (
            "its certificate is not accepted",
            "give PostgreSQL a certificate that verifies, or correct sslmode and sslrootcert in DATABASE_URL",
        )
    };
    (Why::Tls, format!("TLS failed: {said} ({why})"), remedy)
}
