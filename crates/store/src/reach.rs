//! Why a PostgreSQL could not be reached, in words that name the host and never the password.

use crate::db::Error;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection};
use std::io::ErrorKind;
use std::time::Duration;

const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

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

fn unreachable(options: &PgConnectOptions, error: &sqlx::Error) -> Error {
    let database = options.get_database().unwrap_or(options.get_username());
    let at = match options.get_socket() {
        Some(folder) => format!("in {}", folder.display()),
        None => format!("at {}:{}", options.get_host(), options.get_port()),
    };
    let (why, remedy) = match error {
        sqlx::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => (
            "connection refused".to_owned(),
            "start PostgreSQL there, or correct the host and the port in DATABASE_URL",
        ),
        sqlx::Error::Io(error) => (
            error.to_string(),
            "correct the host and the port in DATABASE_URL, and check the network between",
        ),
        sqlx::Error::Database(error) => {
            let remedy = match error.code().as_deref() {
                Some("28000" | "28P01") => "correct the user and the password in DATABASE_URL",
                Some("3D000") => {
                    "make the database with `createdb`, or correct its name in DATABASE_URL"
                }
                Some("53300") => {
                    "let PostgreSQL take more connections (max_connections), or end some"
                }
                _ => "mend what PostgreSQL complains about; its own log says more",
            };
            (error.message().to_owned(), remedy)
        }
        other => (
            other.to_string(),
            "check DATABASE_URL and that a PostgreSQL answers there",
        ),
    };
    Error::Unreachable {
        what: format!("PostgreSQL {at} (database {database}): {why}"),
        remedy,
    }
}
