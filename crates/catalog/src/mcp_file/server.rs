//! One server as it comes in the body of a request: the keys of `mcp.json`, and its name beside them.

use super::{Entry, Expander, SERVER_KEYS, ServerConfig};
use crate::auth::{Reference, is_mask};
use crate::definition::is_variable_name;
use crate::json::{Document, Member, Node, NodeKind, Reader, present, unknown_key};
use crate::problem::Problem;
use serde_json::{Map, Value};

/// What is shown of a server besides what its author wrote; ignored in a body, so that one can be fetched, edited and
/// sent back.
const SERVER_FIELDS: [&str; 27] = [
    "id",
    "owner",
    "source",
    "version",
    "created_at",
    "updated_at",
    "state",
    "attempt",
    "attempts_max",
    "cause",
    "era",
    "protocol_version",
    "server_info",
    "capabilities",
    "instructions",
    "connected_seconds",
    "tools",
    "tools_left_out",
    "resource_templates",
    "resources",
    "prompts",
    "stderr",
    "pinning_now",
    "changed",
    "hidden_letters",
    "is_guarded",
    "sign_in",
];

/// A server that somebody wrote into a body.
#[derive(Debug)]
pub struct ServerBody {
    pub name: String,
    /// Its keys as they were written, without the name.
    pub definition: Map<String, Value>,
    /// With the variables of the environment filled in, and nothing in place of what is sealed.
    pub config: ServerConfig,
}

/// Reads one server, with everything that is wrong with it. `name` is what it is called already.
pub fn server_from_text(
    text: &str,
    name: Option<&str>,
    lookup_env: &dyn Fn(&str) -> Option<String>,
) -> Result<ServerBody, Vec<Problem>> {
    let doc = Document::new("body", text);
    let root = doc.parse()?;
    let (mut problems, mut warnings) = (Vec::new(), Vec::new());
    let mut r = Reader::new(&doc, &mut problems);
    let read = r.members(&root, "$").and_then(|members| {
        r.duplicate_keys(&root, "$");
        let own = [&["name"][..], &SERVER_KEYS[..]].concat();
        // What is only shown is nothing that somebody would want to write.
        let is_known = |m: &&Member| {
            let key = m.key.as_str();
            own.contains(&key) || SERVER_FIELDS.contains(&key)
        };
        for m in members.iter().filter(|m| !is_known(m)) {
            r.push(|doc| unknown_key(doc, m, "$", &own));
        }
        let named = named(&mut r, &root, members, name)?;
        let mut entry = Entry {
            path: "$".to_owned(),
            expander: Expander::new(lookup_env),
            warnings: &mut warnings,
            is_body: true,
            refused: None,
        };
        let config = entry.read(&mut r, &named)?;
        Some(ServerBody {
            definition: written(members),
            name: named.key,
            config,
        })
    });
    problems.sort_by_key(|problem| (problem.line, problem.column));
    read.filter(|_| problems.is_empty()).ok_or(problems)
}

/// The server as `mcp.json` would have it: under its name.
fn named(
    r: &mut Reader<'_>,
    root: &Node,
    members: &[Member],
    name: Option<&str>,
) -> Option<Member> {
    let written = present(members, "name");
    let (key, key_span) = match (written, name) {
        (Some(m), None) => (r.string(m, "$")?.to_owned(), m.value.span.clone()),
        (Some(m), Some(name)) if m.value.as_str() == Some(name) => {
            (name.to_owned(), m.value.span.clone())
        }
        (Some(m), Some(name)) => {
            let expected = format!("\"{name}\"");
            let remedy = "A server keeps its name, which its tools carry: leave it out here, or remove the server and add it under another.";
            r.wrong(m, "$", &expected, remedy);
            return None;
        }
        (None, Some(name)) => (name.to_owned(), root.span.clone()),
        (None, None) => {
            let remedy = "Add \"name\": \"…\".";
            r.report(root.span.start, "$.name", "\"name\"", "nothing", remedy);
            return None;
        }
    };
    Some(Member {
        key,
        key_span,
        value: root.clone(),
    })
}

/// What the author wrote: the keys of a server that are there.
pub(super) fn written(members: &[Member]) -> Map<String, Value> {
    let own = members
        .iter()
        .filter(|m| SERVER_KEYS.contains(&m.key.as_str()) && !m.value.is_null());
    own.map(|m| (m.key.clone(), m.value.to_value())).collect()
}

/// Whether this stands for a value that is sealed.
pub(super) fn is_kept(node: &Node) -> bool {
    let NodeKind::Object(_) = node.kind else {
        return false;
    };
    let value = node.to_value();
    is_mask(&value) || matches!(Reference::of(&value), Some(Reference::Sealed(_)))
}

/// Whether a header or variable may be read by others: it only says which variable of the environment holds it.
pub fn is_public_value(text: &str) -> bool {
    let words = ["Bearer ", "Basic ", "Token "];
    let bare = words.iter().find_map(|word| text.strip_prefix(word));
    let inside = bare.unwrap_or(text).strip_prefix("${");
    inside
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(is_variable_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pinning::Pinning;
    use serde_json::json;

    fn read(body: &Value, name: Option<&str>) -> Result<ServerBody, Vec<Problem>> {
        let env = |name: &str| (name == "TOKEN").then(|| "t0ken".to_owned());
        server_from_text(&body.to_string(), name, &env)
    }

    #[test]
    fn a_server_is_read_and_what_is_only_shown_is_left_out() {
        let body = json!({
            "name": "search", "url": "https://a.example/mcp", "pinning": "approve", "state": "connected", "version": 3,
            "headers": {"Authorization": {"set": true, "last4": null}, "X-A": "Bearer ${TOKEN}"}, "timeout_seconds": null,
        });
        let read = read(&body, None).unwrap();
        assert_eq!(
            (read.name.as_str(), read.config.pinning),
            ("search", Some(Pinning::Approve))
        );
        let keys: Vec<&String> = read.definition.keys().collect();
        assert_eq!(keys, ["url", "pinning", "headers"]);
        let super::super::Transport::Http { headers, .. } = &read.config.transport else {
            panic!("{:?}", read.config)
        };
        assert_eq!(headers["X-A"], "Bearer t0ken");
    }

    #[test]
    fn every_fault_of_a_body_is_told() {
        let paths = |body: Value, name| -> Vec<String> {
            let problems = read(&body, name).unwrap_err();
            problems.into_iter().map(|it| it.path).collect()
        };
        assert_eq!(paths(json!({"url": "https://a.example"}), None), ["$.name"]);
        assert_eq!(
            paths(json!({"name": "a.b", "url": "https://a.example"}), None),
            ["$.name"]
        );
        let other = json!({"name": "b", "url": "https://a.example"});
        assert_eq!(paths(other, Some("a")), ["$.name"]);
        let wrong = json!({"name": "a", "comand": "x", "url": "ftp://a", "headers": {"A": {"$env": "TOKEN"}}, "pinning": "on"});
        assert_eq!(
            paths(wrong, None),
            ["$.comand", "$.url", "$.headers.A", "$.pinning"]
        );
        assert_eq!(
            paths(json!({"command": "x", "args": ["${NONE}"]}), Some("a")),
            ["$.args[0]"]
        );
    }

    #[test]
    fn an_unknown_key_is_held_against_those_that_are_written() {
        let body = json!({"name": "a", "url": "https://a.example", "colour": 1});
        let problems = read(&body, None).unwrap_err();
        let [problem] = problems.as_slice() else {
            panic!("{problems:?}")
        };
        assert!(problem.expected.contains("\"timeout_seconds\""));
        assert!(!problem.expected.contains("\"stderr\""), "{problem}");
    }

    #[test]
    fn only_a_reference_may_be_read_by_others() {
        for public in ["${TOKEN}", "Bearer ${TOKEN}", "Basic ${A_1}"] {
            assert!(is_public_value(public), "{public}");
        }
        for secret in [
            "",
            "abc",
            "Bearer abc",
            "${TOKEN:-abc}",
            "a${TOKEN}",
            "${TOKEN}b",
            "${A}${B}",
        ] {
            assert!(!is_public_value(secret), "{secret}");
        }
    }
}
