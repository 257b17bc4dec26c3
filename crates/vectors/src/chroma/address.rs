//! Where a ChromaDB server keeps its collections, from the host and port that its own client is given.

use super::Settings;
use crate::Result;
use crate::error::Error;
use fetch::Url;

/// The address of the collections.
pub(super) fn collections(settings: &Settings) -> Result<Url> {
    let host = settings.host.trim().trim_end_matches('/');
    let bad = |why: &str| {
        Error::Invalid(format!(
            "'{host}' is no host of a ChromaDB server: {why}. Give a name or an address, such as localhost"
        ))
    };
    let text = match host.split_once("://") {
        Some(_) => host.to_owned(),
        // An address of IP version 6.
        None if host.matches(':').count() > 1 && !host.starts_with('[') => {
            format!("http://[{host}]")
        }
        None => format!("http://{host}"),
    };
    let mut url = Url::parse(&text).map_err(|error| bad(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("it begins with neither http:// nor https://"));
    }
    // Not asked of the address: it keeps silent about a port that is the usual one.
    let (_, after) = text.split_once("://").unwrap_or_default();
    let authority = after.split('/').next().unwrap_or_default();
    let is_number = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let has_port = authority
        .rsplit_once(':')
        .is_some_and(|(_, port)| is_number(port));
    if !has_port && url.set_port(Some(settings.port)).is_err() {
        return Err(bad("it has no place for a port"));
    }
    let path = ["api", "v2", "tenants", &settings.tenant, "databases"];
    match url.path_segments_mut() {
        Ok(mut segments) => {
            segments.pop_if_empty().extend(path);
            segments.extend([settings.database.as_str(), "collections"]);
        }
        Err(()) => return Err(bad("it has no place for a path")),
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_server() {
        let at = |host: &str| {
            let settings = Settings {
                host: host.to_owned(),
                ..Settings::default()
            };
            collections(&settings).map(|url| url.to_string())
        };
        let rest = "/api/v2/tenants/default_tenant/databases/default_database/collections";
        for (host, expected) in [
            ("localhost", "http://localhost:8000"),
            (" 10.0.0.7 ", "http://10.0.0.7:8000"),
            ("chroma:9000", "http://chroma:9000"),
            ("::1", "http://[::1]:8000"),
            ("https://chroma.example/", "https://chroma.example:8000"),
            ("https://chroma.example:443", "https://chroma.example"),
            (
                "https://chroma.example:444/db",
                "https://chroma.example:444/db",
            ),
        ] {
            assert_eq!(at(host).unwrap(), format!("{expected}{rest}"), "{host}");
        }
        for host in ["", "a b", "ftp://chroma"] {
            assert!(at(host).is_err(), "{host}");
        }
        let odd = Settings {
            tenant: "a/../b".to_owned(),
            database: "d?x#y".to_owned(),
            ..Settings::default()
        };
        let url = collections(&odd).unwrap();
        assert_eq!(
            url.path(),
            "/api/v2/tenants/a%2F..%2Fb/databases/d%3Fx%23y/collections"
        );
    }
}
