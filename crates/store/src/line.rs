//! How a line to PostgreSQL is made of its address: encrypted as `sslmode` says, with the meaning that the word has for
//! PostgreSQL's own programs.

use crate::db::{Error, Result, Why};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use std::str::FromStr;
use url::Url;

/// What `sslrootcert` says for "the authorities that the system trusts".
const OF_SYSTEM: &str = "system";
const ROOTS: [&str; 3] = ["sslrootcert", "ssl-root-cert", "ssl-ca"];

/// What a connection to this address begins with; an address that cannot be meant is refused before anybody is asked.
pub(crate) fn options(address: &str) -> Result<PgConnectOptions> {
    let wrong = |what: String| Error::Open(format!("DATABASE_URL: {what}"));
    let mut url = Url::parse(address).map_err(|error| wrong(error.to_string()))?;
    let pairs: Vec<(String, String)> = url.query_pairs().into_owned().collect();
    let is_root = |name: &str| ROOTS.contains(&name);
    let root = pairs.iter().rev().find(|(name, _)| is_root(name));
    let root = root.map(|(_, value)| value.as_str());
    if root == Some(OF_SYSTEM) {
        let others = pairs.iter().filter(|(name, _)| !is_root(name));
        url.query_pairs_mut().clear().extend_pairs(others);
    }
    let options = PgConnectOptions::from_str(url.as_str()).map_err(|e| wrong(e.to_string()))?;
    if options.get_socket().is_some() || options.get_host().starts_with('/') {
        // Nobody listens in on a socket of this machine, and PostgreSQL does not encrypt there.
        return Ok(options.ssl_mode(PgSslMode::Disable));
    }
    let has_mode = pairs
        .iter()
        .any(|(name, _)| name == "sslmode" || name == "ssl-mode");
    match (options.get_ssl_mode(), root) {
        (PgSslMode::VerifyFull, _) => {}
        // Any certificate that was ever bought would do, for whatever name.
        (_, Some(OF_SYSTEM)) if has_mode => {
            return Err(wrong(
                "sslrootcert=system needs sslmode=verify-full".to_owned(),
            ));
        }
        (_, Some(OF_SYSTEM)) => return Ok(options.ssl_mode(PgSslMode::VerifyFull)),
        (PgSslMode::VerifyCa, None) => {
            return Err(wrong("sslmode=verify-ca needs sslrootcert, the file of the authority that signed the server's certificate".to_owned()));
        }
        // So it is with libpq: who names an authority wants to have it checked.
        (PgSslMode::Require, Some(_)) => {
            readable(root)?;
            return Ok(options.ssl_mode(PgSslMode::VerifyCa));
        }
        _ => {}
    }
    readable(root.filter(|root| *root != OF_SYSTEM))?;
    Ok(options)
}

/// A file that is missing would be told as if the server were.
fn readable(root: Option<&str>) -> Result<()> {
    let Some(file) = root.filter(|root| !root.trim_start().starts_with("-----BEGIN")) else {
        return Ok(());
    };
    match std::fs::File::open(file) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::Unreachable {
            why: Why::Tls,
            what: format!("sslrootcert={file} cannot be read: {error}"),
            remedy: "name the file with the certificate of the authority in DATABASE_URL, readable for this user",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(query: &str) -> Result<PgSslMode> {
        options(&format!("postgres://me@db.example/crib{query}")).map(|it| it.get_ssl_mode())
    }

    #[test]
    fn the_words_mean_what_they_mean_to_postgresql() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let root = format!("sslrootcert={}", file.path().display());
        let is = |query: &str, expected: PgSslMode| {
            let found = mode(query).unwrap();
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{query}");
        };
        is("", PgSslMode::Prefer);
        is("?sslmode=disable", PgSslMode::Disable);
        is("?sslmode=require", PgSslMode::Require);
        is(&format!("?sslmode=require&{root}"), PgSslMode::VerifyCa);
        is(&format!("?sslmode=verify-ca&{root}"), PgSslMode::VerifyCa);
        is(
            &format!("?sslmode=verify-full&{root}"),
            PgSslMode::VerifyFull,
        );
        is("?sslmode=verify-full", PgSslMode::VerifyFull);
        is("?sslrootcert=system", PgSslMode::VerifyFull);
        is("?host=/run/postgresql&sslmode=require", PgSslMode::Disable);
        for (query, part) in [
            ("?sslmode=verify-ca", "needs sslrootcert"),
            (
                "?sslmode=verify-ca&sslrootcert=system",
                "needs sslmode=verify-full",
            ),
            (
                "?sslmode=require&sslrootcert=/no/such",
                "/no/such cannot be read",
            ),
            ("?sslmode=sometimes", "sometimes"),
        ] {
            let error = mode(query).unwrap_err().to_string();
            assert!(error.contains(part), "{query}: {error}");
        }
    }
}
