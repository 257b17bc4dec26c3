//! What `doctor` says of the PostgreSQL that the configuration names, from a look that changes nothing.

use super::findings::Findings;
use crate::config::Config;
use app::sealing_keys::{self, KeySource};
use catalog::clock::Clock;
use store::Why;
use store::look::{Look, Looked, Schema};

/// How far the clocks may be apart: what expires is judged by both.
const SKEW_MS_MAX: i64 = 5_000;

/// The names of the tools that are stored there; nothing where there is no PostgreSQL, or none that can be used.
pub(super) async fn look(
    findings: &mut Findings,
    config: &Config,
    sealing: &KeySource,
) -> Option<Vec<String>> {
    let url = config.database_url()?;
    let looked = match store::look::at(&url).await {
        Ok(Looked::Direct(looked)) => looked,
        Ok(Looked::Pooled) => {
            findings.bad(
                "database.pooled",
                "DATABASE_URL leads to a pooler that lends sessions out for a transaction (such as PgBouncer with pool_mode = transaction): servers do not hear of each other's changes through it",
                "name PostgreSQL itself in DATABASE_URL, or a pooler that keeps a session for each client (pool_mode = session)",
            );
            return None;
        }
        Err(error) => {
            refused(findings, error);
            return None;
        }
    };
    let is_usable = usable(findings, &looked);
    clocks(findings, &looked);
    if let Err(fault) = sealing_keys::look(sealing, &looked.secrets) {
        findings.bad("secrets.key", fault.what, fault.remedy);
        return None;
    }
    is_usable.then_some(looked.tools)
}

fn refused(findings: &mut Findings, error: store::Error) {
    match error {
        store::Error::Unreachable { why, what, remedy } => {
            let id = match why {
                Why::Silent => "database.unreachable",
                Why::Password => "database.password",
                Why::Missing => "database.missing",
                Why::Crowded => "database.crowded",
                Why::Tls => "database.tls",
                Why::Other => "database.refused",
            };
            findings.bad(id, what, remedy);
        }
        other => findings.bad(
            "database.refused",
            other.to_string(),
            "correct DATABASE_URL, or database.url of toolcrib.toml",
        ),
    }
}

fn usable(findings: &mut Findings, looked: &Look) -> bool {
    let mut is_usable = true;
    let mut bad = |id, message: String, remedy: &str| {
        findings.bad(id, message, remedy);
        is_usable = false;
    };
    if looked.encoding != "UTF8" {
        bad(
            "database.encoding",
            format!(
                "the database keeps text as {}, not as UTF8",
                looked.encoding
            ),
            "make another with `createdb --encoding=UTF8 --template=template0 NAME` and name it in DATABASE_URL",
        );
    }
    if looked.is_read_only {
        bad(
            "database.read_only",
            "the database takes no writes: it is a standby, or default_transaction_read_only is on"
                .to_owned(),
            "name the primary in DATABASE_URL, or switch default_transaction_read_only off for this database and role",
        );
    }
    if let Schema::Newer(version) = looked.schema {
        bad(
            "database.newer",
            format!("the database was made by a newer version of toolcrib (migration {version})"),
            "upgrade toolcrib here, or restore a backup made by this version",
        );
    }
    let has_to_create = matches!(looked.schema, Schema::Empty | Schema::Older);
    if has_to_create && !looked.may_create && !looked.is_read_only {
        bad(
            "database.rights",
            "the role of DATABASE_URL may not make tables in this database".to_owned(),
            "as its owner or a superuser: GRANT CREATE ON SCHEMA public TO ROLE, or make the role the owner of the database",
        );
    }
    match looked.schema {
        Schema::Older => findings.warning(
            "database.older",
            "the database is of an older version of toolcrib; the next start of this one changes it, and there is no way back",
            "make a backup, stop every server of the older version that uses it, then start this one",
        ),
        Schema::Empty if is_usable => findings.good("database", "PostgreSQL answers, the database is empty"),
        Schema::Current if is_usable => findings.good(
            "database",
            format!("PostgreSQL answers, its schema is current; {} tools are stored", looked.tools.len()),
        ),
        _ => {}
    }
    is_usable
}

fn clocks(findings: &mut Findings, looked: &Look) {
    let apart = Clock::System.now() - looked.clock;
    if apart.abs() > SKEW_MS_MAX {
        let (seconds, side) = (
            (apart.abs() + 500) / 1000,
            if apart > 0 { "behind" } else { "ahead of" },
        );
        findings.warning(
            "clock.database",
            format!("PostgreSQL's clock is {seconds} s {side} this machine's"),
            "let both keep their clocks by NTP: keys, logins and the log go by them",
        );
    }
}
