//! What `doctor` says of other servers on the same PostgreSQL.

use super::findings::Findings;
use super::tools::text;
use serde_json::Value;

pub(crate) fn judge(findings: &mut Findings, replicas: &Value) {
    let others = replicas["others"].as_array().cloned().unwrap_or_default();
    if others.is_empty() {
        return;
    }
    let is_alike = |other: &Value| {
        other["same_keys"] == true
            && other["same_files"] == true
            && text(other, "version") == env!("CARGO_PKG_VERSION")
            && other["address"].is_string()
    };
    if others.iter().all(is_alike) {
        let message = format!("{} other servers on this database, all alike", others.len());
        findings.good("replicas", message);
    }
    for other in &others {
        let node = text(other, "node");
        if other["same_keys"] == false {
            findings.bad(
                "replicas.keys",
                format!("the server {node} seals secrets with a key that is not known here"),
                "give all servers the same TOOLCRIB_SECRET_KEY, and start them again",
            );
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
        if other["address"].is_null() {
            findings.warning(
                "replicas.address",
                format!("the server {node} tells nobody where it is reached, so MCP sessions that it began are lost at the others"),
                "set server.advertise there",
            );
        }
    }
}
