//! `mcp.json`: the upstream MCP servers, in the shape desktop clients use. Read and checked, not connected.

mod auth;
mod config;
mod expand;
mod secrets;
mod server;
mod transport;

pub use auth::{Auth, Grant, Holder};
pub use config::{ServerConfig, Transport};
use secrets::has_user;
pub use secrets::{HIDDEN, in_the_clear, masked};
pub use server::{ServerBody, is_public_value, server_from_text};

use crate::definition::http_url_fault;
use crate::json::{
    Document, Member, Node, NodeKind, Reader, did_you_mean, member, path_of_key, present,
    quote_short, to_map, unknown_key,
};
use crate::pinning::Pinning;
use crate::problem::Problem;
use expand::Expander;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use uuid::Uuid;

/// What may be written of a server, in the order in which it is written out.
pub const SERVER_KEYS: [&str; 12] = [
    "url",
    "transport",
    "type",
    "headers",
    "command",
    "args",
    "env",
    "cwd",
    "auth",
    "pinning",
    "timeout_seconds",
    "disabled",
];
const EXAMPLE: &str =
    "{\"mcpServers\": {\"files\": {\"command\": \"mcp-files\", \"args\": [\"--root\", \".\"]}}}";

const USER_REMEDY: &str = "Write the address without them, and give them as a header: \"headers\": {\"Authorization\": \"Basic …\"}, with the base64 of user:password, or with ${NAME} for a variable that holds it.";

/// What `mcp.json` says.
#[derive(Debug, Clone, PartialEq)]
pub struct McpFile {
    /// In the order of the file.
    pub servers: Vec<ServerConfig>,
    /// What stands there for each of them, by its name, with no variable filled in.
    pub written: BTreeMap<String, Map<String, Value>>,
    /// Oddities that do not keep the file from being used.
    pub warnings: Vec<Problem>,
    /// Top-level keys of other programs, kept.
    pub extra: Map<String, Value>,
}

/// Reads the text of `mcp.json`; `lookup_env` gives the value of an environment variable.
pub fn read_servers(
    file_name: &str,
    text: &str,
    lookup_env: &dyn Fn(&str) -> Option<String>,
) -> Result<McpFile, Vec<Problem>> {
    let doc = Document::new(file_name, text);
    let root = doc.parse()?;
    let (mut problems, mut warnings) = (Vec::new(), Vec::new());
    let mut r = Reader::new(&doc, &mut problems);
    let mut file = McpFile {
        servers: Vec::new(),
        written: BTreeMap::new(),
        warnings: Vec::new(),
        extra: Map::new(),
    };
    if let Some(members) = r.members(&root, "$") {
        r.duplicate_keys(&root, "$");
        file.extra = unknown(&r, members, "$", &["mcpServers"], &mut warnings);
        for m in server_entries(&mut r, &root, members) {
            let mut entry = Entry {
                path: path_of_key("$.mcpServers", &m.key),
                expander: Expander::new(lookup_env),
                warnings: &mut warnings,
                is_body: false,
                refused: None,
            };
            file.servers.extend(entry.read(&mut r, m));
            let members = m.value.as_object().unwrap_or(&[]);
            file.written.insert(m.key.clone(), server::written(members));
        }
    }
    problems.sort_by_key(|p| (p.line, p.column));
    file.warnings = warnings;
    if problems.is_empty() {
        Ok(file)
    } else {
        Err(problems)
    }
}

fn server_entries<'n>(r: &mut Reader<'_>, root: &Node, members: &'n [Member]) -> &'n [Member] {
    if let Some(m) = member(members, "mcpServers") {
        return r.object(m, "$").unwrap_or_default();
    }
    let remedy = format!("Put the servers under \"mcpServers\": {EXAMPLE}.");
    r.report(
        root.span.start,
        "$.mcpServers",
        "\"mcpServers\": { … }",
        "nothing",
        remedy,
    );
    &[]
}

/// The members this program does not know, each with a warning.
fn unknown(
    r: &Reader<'_>,
    members: &[Member],
    path: &str,
    known: &[&str],
    warnings: &mut Vec<Problem>,
) -> Map<String, Value> {
    let unknown = members.iter().filter(|m| !known.contains(&m.key.as_str()));
    let unknown: Vec<Member> = unknown.cloned().collect();
    warnings.extend(unknown.iter().map(|m| {
        let mut problem = unknown_key(r.doc, m, path, known);
        if !problem.remedy.starts_with("Did you mean") {
            problem.remedy = "It is kept and has no effect here.".to_owned();
        }
        problem
    }));
    to_map(&unknown)
}

/// One server being read.
struct Entry<'a> {
    path: String,
    expander: Expander<'a>,
    warnings: &'a mut Vec<Problem>,
    /// What stands in a body may be a mask, or refer to what is sealed.
    is_body: bool,
    /// What keeps this server from being used and no other.
    refused: Option<Problem>,
}

impl Entry<'_> {
    fn read(&mut self, r: &mut Reader<'_>, m: &Member) -> Option<ServerConfig> {
        self.check_name(r, m);
        let members = r.members(&m.value, &self.path)?;
        let extra = match self.is_body {
            true => Map::new(),
            false => unknown(r, members, &self.path, &SERVER_KEYS, self.warnings),
        };
        let flag =
            |r: &mut Reader<'_>, key| present(members, key).and_then(|m| r.boolean(m, &self.path));
        let disabled = flag(r, "disabled").unwrap_or(false);
        let timeout = present(members, "timeout_seconds");
        let timeout_seconds = timeout.and_then(|m| r.seconds(m, &self.path));
        let pinning = present(members, "pinning");
        let pinning = pinning.and_then(|m| r.one_of(m, &self.path, &Pinning::NAMES));
        self.expander.unset_is_fatal = self.is_body && !disabled;
        let auth = self.auth(r, members);
        let transport = self.transport(r, m, members);
        Some(ServerConfig {
            name: m.key.clone(),
            transport: transport?,
            disabled,
            timeout_seconds,
            pinning: pinning.and_then(Pinning::from_name),
            guarded: false,
            auth,
            unset: std::mem::take(&mut self.expander.unset),
            refused: self.refused.take(),
            extra,
        })
    }

    fn check_name(&self, r: &mut Reader<'_>, m: &Member) {
        let letter = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
        let is_word = (1..=64).contains(&m.key.len()) && m.key.bytes().all(letter);
        let fault = match is_word {
            false => Some((
                "a server name of 1 to 64 characters out of A-Z a-z 0-9 _ -",
                "Rename the server; a dot cannot be part of it because its tools are listed as server.tool.",
            )),
            // Servers are asked for by name or id.
            true => Uuid::parse_str(&m.key).is_ok().then_some((
                "a server name that does not look like an id",
                "Rename the server: what is meant for the server with this id would go to it.",
            )),
        };
        if let Some((expected, remedy)) = fault {
            let path = match self.is_body {
                true => "$.name",
                false => self.path.as_str(),
            };
            r.report(
                m.key_span.start,
                path,
                expected,
                quote_short(&m.key),
                remedy,
            );
        }
    }

    fn transport(
        &mut self,
        r: &mut Reader<'_>,
        m: &Member,
        members: &[Member],
    ) -> Option<Transport> {
        let named = self.named_transport(r, members);
        match (present(members, "command"), present(members, "url")) {
            (Some(command), None) => {
                self.misplaced(r, members, &["headers"], "command", "url");
                if matches!(named, Some("sse" | "http")) {
                    self.contradiction(
                        r,
                        members,
                        "a server with \"command\" speaks stdio",
                        "\"url\"",
                    );
                }
                self.stdio(r, command, members)
            }
            (None, Some(url)) => {
                self.misplaced(r, members, &["args", "env", "cwd"], "url", "command");
                if named == Some("stdio") {
                    self.contradiction(
                        r,
                        members,
                        "a server with \"url\" speaks sse or http",
                        "\"command\"",
                    );
                }
                self.remote(r, url, members, named)
            }
            (Some(_), Some(url)) => {
                let remedy = "Keep \"command\" for a program to start, or \"url\" for a server that runs elsewhere.";
                let path = path_of_key(&self.path, "url");
                r.report(
                    url.key_span.start,
                    path,
                    "either \"command\" or \"url\"",
                    "both",
                    remedy,
                );
                None
            }
            (None, None) => {
                let slip = |m: &&Member| {
                    let near = did_you_mean(&m.key, &["command", "url"]);
                    near.is_some() && !SERVER_KEYS.contains(&m.key.as_str())
                };
                if let Some(slip) = members.iter().find(slip) {
                    // Of a body's it has been told already.
                    if !self.is_body {
                        r.push(|doc| unknown_key(doc, slip, &self.path, &SERVER_KEYS));
                    }
                    return None;
                }
                let remedy = "Add \"command\" (and \"args\") for a program to start, or \"url\" for a server that runs elsewhere.";
                let expected = "either \"command\" or \"url\"";
                r.report(m.value.span.start, &self.path, expected, "neither", remedy);
                None
            }
        }
    }

    /// Members that belong to the other sort of server.
    fn misplaced(
        &self,
        r: &mut Reader<'_>,
        members: &[Member],
        keys: &[&str],
        has: &str,
        other: &str,
    ) {
        for m in keys.iter().filter_map(|key| present(members, key)) {
            let path = path_of_key(&self.path, &m.key);
            let expected = format!("no \"{}\" in a server with \"{has}\"", m.key);
            let remedy = format!("Delete it: \"{}\" goes with \"{other}\".", m.key);
            r.report(m.key_span.start, path, expected, m.value.describe(), remedy);
        }
    }

    fn stdio(
        &mut self,
        r: &mut Reader<'_>,
        command: &Member,
        members: &[Member],
    ) -> Option<Transport> {
        let program = r.text(command, &self.path);
        let program = program.and_then(|_| self.text(r, &command.value, "command"));
        let args = present(members, "args").and_then(|m| r.array(m, &self.path, "strings"));
        let args = args.unwrap_or_default().iter().enumerate();
        let args: Vec<_> = args
            .map(|(i, item)| self.text(r, item, &format!("args[{i}]")))
            .collect();
        let env = self.strings(r, members, "env", variable_fault);
        let cwd = present(members, "cwd").map(|m| self.text(r, &m.value, "cwd"));
        Some(Transport::Stdio {
            command: program?,
            args: args.into_iter().collect::<Option<_>>()?,
            env: env?,
            cwd: match cwd {
                Some(cwd) => Some(cwd?),
                None => None,
            },
        })
    }

    fn remote(
        &mut self,
        r: &mut Reader<'_>,
        url: &Member,
        members: &[Member],
        named: Option<&str>,
    ) -> Option<Transport> {
        let headers = self.strings(r, members, "headers", header_fault);
        let address = self.text(r, &url.value, "url")?;
        if has_user(&address) {
            self.refuse_user(r, url);
            if self.is_body {
                return None;
            }
        }
        // An address that waits for a variable cannot be judged yet; one that is refused is not shown.
        let is_judged = !address.contains("${") && self.refused.is_none();
        if let Some(fault) = http_url_fault(&address).filter(|_| is_judged) {
            let remedy = format!("{fault} Write it like https://host.example/mcp.");
            r.wrong(url, &self.path, "an http or https address", &remedy);
            return None;
        }
        let headers = headers?;
        // Before streamable HTTP, clients told the older transport by this ending.
        let path = address.split(['?', '#']).next().unwrap_or_default();
        let sse = named == Some("sse") || (named.is_none() && path.ends_with("/sse"));
        Some(if sse {
            Transport::Sse {
                url: address,
                headers,
            }
        } else {
            Transport::Http {
                url: address,
                headers,
            }
        })
    }

    /// What stands before the host would be kept and shown in the clear, and is sent to nobody.
    fn refuse_user(&mut self, r: &mut Reader<'_>, url: &Member) {
        let path = path_of_key(&self.path, "url");
        let (start, expected) = (
            url.value.span.start,
            "an address without a user or password",
        );
        let found = "one with a user or password before its host";
        if self.is_body {
            r.report(start, path, expected, found, USER_REMEDY);
        } else {
            self.refused = Some(r.doc.problem(start, path, expected, found, USER_REMEDY));
        }
    }

    /// One string with its variables filled in.
    fn text(&mut self, r: &mut Reader<'_>, node: &Node, key: &str) -> Option<String> {
        let path = format!("{}.{key}", self.path);
        self.expander.expand(r, node, &path)
    }

    /// An object of strings; `fault` says what is wrong with a name and its expanded value.
    fn strings(
        &mut self,
        r: &mut Reader<'_>,
        members: &[Member],
        key: &str,
        fault: fn(&str, &str) -> Option<&'static str>,
    ) -> Option<BTreeMap<String, String>> {
        let Some(m) = present(members, key) else {
            return Some(BTreeMap::new());
        };
        let path = path_of_key(&self.path, key);
        let values = r.members(&m.value, &path)?;
        let values: Vec<_> = values
            .iter()
            .map(|m| {
                let path = path_of_key(&path, &m.key);
                if self.is_body && server::is_kept(&m.value) {
                    return Some((m.key.clone(), String::new()));
                }
                let value = self.expander.expand(r, &m.value, &path)?;
                if let Some(remedy) = fault(&m.key, &value) {
                    let expected = "a usable name and value";
                    let found = format!(
                        "{} with a value of {} characters",
                        quote_short(&m.key),
                        value.len()
                    );
                    r.report(m.key_span.start, path, expected, found, remedy);
                    return None;
                }
                Some((m.key.clone(), value))
            })
            .collect();
        values.into_iter().collect()
    }
}

fn variable_fault(name: &str, value: &str) -> Option<&'static str> {
    let usable = !name.is_empty() && !name.contains(['=', '\0']) && !value.contains('\0');
    (!usable).then_some(
        "The name of a variable is not empty and has no \"=\"; neither part holds a NUL character.",
    )
}

fn header_fault(name: &str, value: &str) -> Option<&'static str> {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty() || !name.bytes().all(token) {
        return Some("The name of a header has letters, digits and - only, such as X-API-Key.");
    }
    let broken = value.contains(|c: char| c.is_control() && c != '\t');
    broken.then_some(
        "The value of a header is one line: look for a line break in it or in its variable.",
    )
}

/// What is written instead of a string, for messages that must not repeat a secret.
fn sort_of(node: &Node) -> &'static str {
    match node.kind {
        NodeKind::Null => "null",
        NodeKind::Bool(_) => "true or false",
        NodeKind::Number(_) => "a number",
        NodeKind::String(_) => "a string",
        NodeKind::Array(_) => "an array",
        NodeKind::Object(_) => "an object",
    }
}
