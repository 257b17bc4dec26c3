//! What `doctor` says of other servers on the same PostgreSQL.

use super::findings::Findings;
use super::tools::text;
use crate::client::Client;
use fetch::{Fetcher, Request, Trust};
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;

/// How long another server may take to say who it is. They are near each other.
const PATIENCE: Duration = Duration::from_secs(2);

/// Who answers where the others say that they are reached, by the address: the name of a process, or why there is none.
pub(crate) type Reached = HashMap<String, Result<String, String>>;

/// Asks at each address who is there, unless this is another machine than the server's: it may reach others than we do.
pub(crate) async fn look(client: &Client, replicas: &Value) -> Reached {
    let mut reached = Reached::new();
    if matches!(client, Client::Http { .. }) {
        return reached;
    }
    let fetcher = Fetcher::new(fetch::Options {
        connect_timeout: PATIENCE,
        ..fetch::Options::default()
    });
    let others = replicas["others"].as_array().into_iter().flatten();
    for address in others.filter_map(|other| other["address"].as_str()) {
        let said = match tokio::time::timeout(PATIENCE, who(&fetcher, address)).await {
            Ok(said) => said,
            Err(_) => Err("it did not answer in time".to_owned()),
        };
        reached.insert(address.to_owned(), said);
    }
    reached
}

async fn who(fetcher: &Fetcher, address: &str) -> Result<String, String> {
    let url = format!("{address}/healthz");
    let request = Request::new(hyper::Method::GET, url, Trust::Operator);
    let answer = fetcher.send(request).await.map_err(|e| e.to_string())?;
    let said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let instance = said["instance"].as_str().map(str::to_owned);
    instance.ok_or_else(|| "what answers there is no toolcrib server".to_owned())
}

pub(crate) fn judge(findings: &mut Findings, replicas: &Value, reached: &Reached) {
    let others = replicas["others"].as_array().cloned().unwrap_or_default();
    let before = findings.wrong();
    for other in &others {
        one(findings, other, reached);
    }
    let unread = replicas["unread"].as_array().into_iter().flatten();
    for what in unread.filter_map(Value::as_str) {
        findings.bad(
            "replicas.unread",
            format!("another server has stored what this one cannot read of its {what}; what was known before counts on here"),
            "bring this server to the version of the others",
        );
    }
    if !others.is_empty() && findings.wrong() == before {
        let message = format!("{} other servers on this database, all alike", others.len());
        findings.good("replicas", message);
    }
}

fn one(findings: &mut Findings, other: &Value, reached: &Reached) {
    // Its number says nothing to people; where it is reached does.
    let node = match other["address"].as_str() {
        Some(address) => format!("at {address}"),
        None => text(other, "node").to_owned(),
    };
    if other["same_keys"] == false {
        findings.bad(
            "replicas.keys",
            format!("the server {node} seals secrets with a key that is not known here"),
            "give all servers the same TOOLCRIB_SECRET_KEY, and start them again",
        );
        // It has to be started again: what else is wrong with it is told then.
        return;
    }
    if other["same_files"] == false {
        findings.bad(
            "replicas.files",
            format!("tools.json or mcp.json of the server {node} is not the same as here, so what a client gets depends on where it comes out"),
            "put the same files on all servers",
        );
    }
    let version = text(other, "version");
    if version != env!("CARGO_PKG_VERSION") {
        findings.warning(
            "replicas.version",
            format!(
                "the server {node} is of version {version}, and this is {}",
                env!("CARGO_PKG_VERSION")
            ),
            "bring all servers to the same version",
        );
    }
    let lost = "so MCP sessions that it began are lost at the others";
    let wrong = match other["address"].as_str() {
        None => Some(format!(
            "the server {node} tells nobody where it is reached, {lost}"
        )),
        // One of another version may not say who it is.
        Some(_) if version != env!("CARGO_PKG_VERSION") => None,
        Some(address) => match reached.get(address) {
            Some(Ok(who)) if who != text(other, "instance") => Some(format!(
                "another server answers at {address} than the one that says it is reached there, {lost}"
            )),
            Some(Err(why)) => Some(format!(
                "a server says that it is reached at {address}, but is not ({why}), {lost}"
            )),
            _ => None,
        },
    };
    if let Some(message) = wrong {
        let remedy = "set server.advertise there to the address at which this machine reaches it";
        findings.warning("replicas.address", message, remedy);
    }
}
