//! What each kind's `config` may hold: one table per kind, checked member by member.

use super::auth::{REFERENCES, check_reference};
use super::{is_misspelt, is_reference};
use crate::json::{Member, Node, NodeKind, Reader, path_of_key, present};
use crate::tool::KindName;
use std::path::{Component, Path};

/// What a member of a config must look like.
#[derive(Clone, Copy)]
enum Shape {
    Any,
    Text,
    Bool,
    /// A positive whole number.
    Count,
    Seconds,
    Object,
    /// An object whose values are scalars or references.
    Values,
    OneOf(&'static [&'static str]),
    /// Parameters of a query with what of the caller each is.
    Bindings,
    /// Program and arguments.
    Argv,
    /// A file below the workspace.
    Script,
    HttpUrl,
}

struct Field {
    name: &'static str,
    shape: Shape,
    required: bool,
}

const fn required(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        shape,
        required: true,
    }
}

const fn optional(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        shape,
        required: false,
    }
}

const METHODS: Shape = Shape::OneOf(&["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]);
const SANDBOX: Field = optional("sandbox", Shape::OneOf(&["off", "auto", "require"]));
const TIMEOUT: Field = optional("timeout_seconds", Shape::Seconds);

const HTTP: &[Field] = &[
    required("base_url", Shape::HttpUrl),
    required("method", METHODS),
    optional("path", Shape::Text),
    optional("query", Shape::Object),
    optional("headers", Shape::Values),
    optional("body", Shape::Any),
    optional(
        "body_type",
        Shape::OneOf(&["json", "form", "multipart", "text"]),
    ),
    optional("response", Shape::Any),
    optional("retry", Shape::Object),
    TIMEOUT,
];
const MCP: &[Field] = &[
    required("server_name", Shape::Text),
    required("tool_name", Shape::Text),
    optional("arguments", Shape::Object),
    optional("transport", Shape::OneOf(&["stdio", "sse", "http"])),
    TIMEOUT,
];
const PYTHON: &[Field] = &[
    optional("script", Shape::Script),
    optional("module", Shape::Text),
    optional("function", Shape::Text),
    optional("async", Shape::Bool),
    optional("env", Shape::Values),
    SANDBOX,
    TIMEOUT,
];
const SHELL: &[Field] = &[
    required("command", Shape::Argv),
    optional("env", Shape::Values),
    optional("stdin", Shape::Any),
    optional("cwd", Shape::Text),
    SANDBOX,
    TIMEOUT,
];
const SQL: &[Field] = &[
    required("source", Shape::Text),
    required("query", Shape::Text),
    optional("result", Shape::OneOf(&["records", "row", "scalar"])),
    optional("write", Shape::Bool),
    optional("max_rows", Shape::Count),
    optional("max_bytes", Shape::Count),
    optional("caller", Shape::Bindings),
    TIMEOUT,
];
const EXPRESSION: &[Field] = &[required("expression", Shape::Text), TIMEOUT];
const BUILTIN: &[Field] = &[required("name", Shape::Text), SANDBOX, TIMEOUT];

fn fields(kind: KindName) -> &'static [Field] {
    match kind {
        KindName::Http => HTTP,
        KindName::Mcp => MCP,
        KindName::Python => PYTHON,
        KindName::Shell => SHELL,
        KindName::Sql => SQL,
        KindName::Expression => EXPRESSION,
        KindName::Builtin => BUILTIN,
    }
}

/// The smallest config that works, for messages.
pub(super) fn example(kind: KindName) -> &'static str {
    match kind {
        KindName::Http => r#"{"base_url": "https://api.example.com", "method": "GET"}"#,
        KindName::Mcp => r#"{"server_name": "files", "tool_name": "read_file"}"#,
        KindName::Python => r#"{"script": "tools/hello.py"}"#,
        KindName::Shell => r#"{"command": ["date", "-u"]}"#,
        KindName::Sql => r#"{"source": "demo", "query": "SELECT 1"}"#,
        KindName::Expression => r#"{"expression": "a * b"}"#,
        KindName::Builtin => r#"{"name": "calculator"}"#,
    }
}

pub(super) fn check(
    r: &mut Reader<'_>,
    node: &Node,
    members: &[Member],
    path: &str,
    kind: KindName,
) {
    let fields = fields(kind);
    let names: Vec<&str> = fields.iter().map(|f| f.name).collect();
    r.unknown_keys(members, path, &names);
    for field in fields {
        match present(members, field.name) {
            Some(m) => check_shape(r, m, path, field.shape),
            None if is_misspelt(members, field.name, &names) => {}
            None if field.required => missing(r, node, path, field.name, kind),
            None => {}
        }
    }
    match kind {
        // A slip in one of the two is told where it stands.
        KindName::Python if is_misspelt(members, "script", &names) => {}
        KindName::Python => check_python(r, node, members, path),
        KindName::Http => super::http::check(r, members, path),
        _ => {}
    }
}

fn missing(r: &mut Reader<'_>, node: &Node, path: &str, key: &str, kind: KindName) {
    let (name, example) = (kind.as_str(), example(kind));
    let expected = format!("\"{key}\" in the config of a tool of kind \"{name}\"");
    let remedy = format!("Add it; for example {example}.");
    r.report(
        node.span.start,
        path_of_key(path, key),
        expected,
        "nothing",
        remedy,
    );
}

/// A script, or a module with its function.
fn check_python(r: &mut Reader<'_>, node: &Node, members: &[Member], path: &str) {
    let script = present(members, "script");
    let module = present(members, "module");
    match (script, module) {
        (Some(_), Some(module)) => r.report(
            module.key_span.start,
            path_of_key(path, "module"),
            "either \"script\" or \"module\"",
            "both",
            "Keep \"script\" for a file of the workspace, or \"module\" for an installed package.",
        ),
        (None, None) => missing(r, node, path, "script", KindName::Python),
        (None, Some(_)) if present(members, "function").is_none() => r.report(
            node.span.start,
            path_of_key(path, "function"),
            "\"function\" beside \"module\"",
            "nothing",
            "Name the function of the module, such as \"function\": \"execute\".",
        ),
        _ => {}
    }
}

fn check_shape(r: &mut Reader<'_>, m: &Member, path: &str, shape: Shape) {
    match shape {
        Shape::Any => {}
        Shape::Text => drop(r.text(m, path)),
        Shape::Bool => drop(r.boolean(m, path)),
        Shape::Count => drop(r.positive(m, path)),
        Shape::Seconds => drop(r.seconds(m, path)),
        Shape::OneOf(allowed) => drop(r.one_of(m, path, allowed)),
        Shape::Object => drop(r.object(m, path)),
        Shape::Values => check_values(r, m, path),
        Shape::Bindings => super::sql::check_caller(r, m, path),
        Shape::Argv => check_argv(r, m, path),
        Shape::Script => check_script(r, m, path),
        Shape::HttpUrl => {
            if let Some(fault) = r.text(m, path).and_then(http_url_fault) {
                let remedy = format!("{fault} Write it like https://api.example.com.");
                r.wrong(m, path, "an http or https address", &remedy);
            }
        }
    }
}

fn check_values(r: &mut Reader<'_>, m: &Member, path: &str) {
    let members = r.object(m, path).unwrap_or_default();
    let path = path_of_key(path, &m.key);
    for m in members {
        match &m.value.kind {
            NodeKind::Object(_) if is_reference(&m.value) => {
                check_reference(r, &m.value, &path_of_key(&path, &m.key), REFERENCES);
            }
            NodeKind::Object(_) | NodeKind::Array(_) => {
                let expected = "a string, number, true, false or a reference";
                let remedy =
                    "Write one plain value, {\"$env\": \"NAME\"} or {\"$secret\": \"name\"}.";
                r.wrong(m, &path, expected, remedy);
            }
            _ => {}
        }
    }
}

fn check_argv(r: &mut Reader<'_>, m: &Member, path: &str) {
    let expected = "an array of strings: the program and its arguments";
    if let Some(line) = m.value.as_str() {
        let words: Vec<&str> = line.split_whitespace().take(8).collect();
        let argv = serde_json::to_string(&words).unwrap_or_default();
        let remedy = format!("No shell reads it: split it yourself, such as {argv}.");
        r.wrong(m, path, expected, &remedy);
        return;
    }
    let Some(items) = r.array(m, path, "strings") else {
        return;
    };
    let path = path_of_key(path, &m.key);
    if items
        .first()
        .is_none_or(|program| program.as_str() == Some(""))
    {
        let remedy = "Name the program first, such as [\"date\", \"-u\"].";
        r.report(
            m.value.span.start,
            &path,
            expected,
            m.value.describe(),
            remedy,
        );
    }
    for (i, item) in items
        .iter()
        .enumerate()
        .filter(|(_, item)| item.as_str().is_none())
    {
        let remedy = "Put each argument in double quotes.";
        r.report(
            item.span.start,
            format!("{path}[{i}]"),
            "a string",
            item.describe(),
            remedy,
        );
    }
}

fn check_script(r: &mut Reader<'_>, m: &Member, path: &str) {
    let Some(script) = r.text(m, path) else {
        return;
    };
    let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    // A backslash or drive letter would escape on another system.
    let portable = !script.contains(['\\', ':', '\0']);
    if !(portable && Path::new(script).components().all(inside)) {
        let remedy = "Put the script in the workspace and name it from there, such as tools/hello.py, without \"..\".";
        r.wrong(m, path, "a path below the workspace", remedy);
    }
}

/// Why this is no address of a web server, or `None`.
pub(crate) fn http_url_fault(url: &str) -> Option<&'static str> {
    let lower = url.to_ascii_lowercase();
    let Some(rest) = lower
        .strip_prefix("https://")
        .or_else(|| lower.strip_prefix("http://"))
    else {
        return Some("It must begin with http:// or https://.");
    };
    if url.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Some("It must not contain spaces.");
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host_port = authority.rsplit('@').next().unwrap_or_default();
    // An IPv6 address is in brackets because it has colons of its own.
    let (host, port) = match host_port.strip_prefix('[').and_then(|h| h.split_once(']')) {
        Some((host, after)) => (host, after.strip_prefix(':')),
        None => match host_port.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (host_port, None),
        },
    };
    if host.is_empty() {
        return Some("It names no host.");
    }
    // A template's port is known only when the tool is called.
    match port
        .filter(|port| !port.contains('{'))
        .map(str::parse::<u16>)
    {
        Some(Err(_) | Ok(0)) => Some("Its port is not a number from 1 to 65535."),
        _ => None,
    }
}
