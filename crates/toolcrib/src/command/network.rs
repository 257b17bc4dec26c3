//! What `doctor` finds of how this server is reached and of whom it has to reach: port, names, proxies, keys, provider, collector.

use super::findings::Findings;
use crate::config::{Config, KEYS, Origin};
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;
use tokio::net::TcpStream;

const PATIENCE: Duration = Duration::from_secs(3);

/// Whether a server could listen where it shall. Only asked where none runs: it has the port.
pub(super) fn port(findings: &mut Findings, config: &Config) {
    let listen = config.listen();
    let Err(error) = TcpListener::bind(listen) else {
        return;
    };
    let remedy = match error.kind() {
        ErrorKind::AddrInUse => {
            "end that program (`ss -ltnp` says which it is), or set server.listen to another port"
        }
        ErrorKind::PermissionDenied => {
            "set server.listen to a port above 1023, with a proxy in front of it"
        }
        _ => "set server.listen to an address of this machine, such as 127.0.0.1:8787",
    };
    let (id, why) = match error.kind() {
        ErrorKind::AddrInUse => (
            "server.port_taken",
            "another program has the port".to_owned(),
        ),
        _ => ("server.address", error.to_string()),
    };
    findings.bad(
        id,
        format!("a server could not listen on {listen}: {why}"),
        remedy,
    );
}

/// What stands between this server and those who use it.
pub(super) fn exposure(findings: &mut Findings, config: &Config) {
    let (listen, url) = (config.listen(), config.text("server.url"));
    let is_local = listen.ip().is_loopback();
    let is_encrypted = url.starts_with("https://");
    let hosts = config.names("server.hosts");
    let is_behind = config.count("server.proxy_hops") > 0;
    if is_encrypted && !is_behind {
        findings.warning(
            "server.no_hops",
            format!("server.url is {url}, so a proxy stands in front, but server.proxy_hops is 0: every client seems to be the proxy, and one who guesses passwords shuts out all"),
            "set server.proxy_hops to the number of proxies that add to X-Forwarded-For",
        );
    }
    let named = name_in(url);
    let is_answered = hosts.iter().any(|host| host.eq_ignore_ascii_case(named));
    let own = hosts.is_empty() && (!is_local || server::LOOPBACK.contains(&named));
    if !url.is_empty() && !is_answered && !own {
        findings.warning(
            "server.unknown_name",
            format!("server.url is {url}, but requests for '{named}' are answered 403: it is not in server.hosts"),
            format!("set server.hosts to [\"{named}\"]"),
        );
    }
    if !is_local && !is_encrypted && !is_behind {
        findings.warning(
            "server.plain",
            format!("the server listens on {listen}, beyond this machine, and speaks plain HTTP: keys and passwords can be read on the way"),
            "put a proxy with TLS in front and set server.proxy_hops, and server.url to its https:// address, or listen on 127.0.0.1",
        );
    }
}

/// The host of an address, without its port.
fn name_in(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if port.chars().all(|c| c.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// Keys that may be guessed, and a file with passwords in it that everybody may read.
pub(super) fn secrets(findings: &mut Findings, config: &Config) {
    let weak = config.secret_key.as_deref();
    if weak.is_some_and(app::sealing_keys::holds_plain_text) {
        findings.warning(
            "secrets.guessable",
            "TOOLCRIB_SECRET_KEY holds a plain text, which may be guessed",
            "put a random key before it (k2:$(openssl rand -base64 32),TEXT) and run `toolcrib secrets rotate`",
        );
    }
    let short = |key: &&String| key.chars().count() < 16;
    if config.admin_key.as_ref().filter(short).is_some() {
        findings.warning(
            "keys.guessable",
            "TOOLCRIB_ADMIN_KEY is short and may be guessed",
            "take 32 random characters or more: openssl rand -hex 32",
        );
    }
    for key in KEYS.iter().filter(|key| key.secret) {
        let setting = config.setting(key.name);
        let Origin::File(file) = &setting.origin else {
            continue;
        };
        let text = setting.value.as_str().unwrap_or_default();
        let holds_secret = match key.name {
            "database.url" => has_password(text),
            _ => !text.is_empty(),
        };
        let is_open = std::fs::metadata(file).is_ok_and(|about| about.mode() & 0o004 != 0);
        if holds_secret && is_open {
            let shown = file.display();
            findings.warning(
                "configuration.open",
                format!(
                    "{shown} holds {}, and every user of this machine may read it",
                    key.name
                ),
                format!("chmod o= {shown}, or set {} instead", key.variable()),
            );
        }
    }
}

fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    authority
        .rsplit_once('@')
        .is_some_and(|(user, _)| user.contains(':'))
}

/// Else the first who logs in finds out.
pub(super) async fn provider(findings: &mut Findings, config: &Config) {
    let Some(settings) = config.oidc().ok().flatten() else {
        return;
    };
    let issuer = settings.issuer.clone();
    let probed = tokio::time::timeout(PATIENCE * 4, app::oidc::probe(settings)).await;
    let why = match probed {
        Ok(Ok(())) => {
            return findings.good("login", format!("the identity provider {issuer} answers"));
        }
        Ok(Err(why)) => why,
        Err(_) => "it took too long".to_owned(),
    };
    findings.warning(
        "login.provider",
        format!("nobody can log in through {issuer}: {why}"),
        "check oidc.issuer, and whether this machine reaches it",
    );
}

/// A collector that is not there: nothing fails for it, and nobody would notice.
pub(super) async fn collector(findings: &mut Findings, config: &Config) {
    let endpoint = config.text("telemetry.otlp_endpoint");
    if endpoint.is_empty() {
        return;
    }
    let name = name_in(endpoint);
    let rest = endpoint
        .split_once("://")
        .map_or(endpoint, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let usual = if endpoint.starts_with("https://") {
        443
    } else {
        80
    };
    let port = authority
        .get(name.len() + 1..)
        .and_then(|port| port.parse().ok());
    let host = name.trim_start_matches('[').trim_end_matches(']');
    let there = (host.to_owned(), port.unwrap_or(usual));
    let why = match tokio::time::timeout(PATIENCE, TcpStream::connect(there)).await {
        Ok(Ok(_)) => {
            return findings.good("telemetry", format!("the collector {endpoint} answers"));
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => "it took too long".to_owned(),
    };
    findings.warning(
        "telemetry.collector",
        format!("the collector {endpoint} cannot be reached, so traces and logs are lost: {why}"),
        "start it, or correct telemetry.otlp_endpoint (OTEL_EXPORTER_OTLP_ENDPOINT)",
    );
}
