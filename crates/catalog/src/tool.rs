//! What a tool is: the `Definition` its author writes, and the `Tool` the crib makes of it.

use crate::hex::hex;
use crate::test_case::TestCase;
use serde::Serialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use uuid::Uuid;

/// The user that owns builtins and everything on the file shelf.
pub const SYSTEM_USER: Uuid = Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0001);

/// Namespace of the ids that follow from a tool's name (file shelf and builtins).
const TOOL_ID_NAMESPACE: Uuid = Uuid::from_u128(0x7f5c_3c1e_52b0_4a55_9e0d_0d1f_6f6c_4b01);

/// Milliseconds since 1970 in UTC: the one way this program stores a time.
pub type Millis = i64;

/// Where a tool is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shelf {
    /// Compiled in; changed only by switching it off.
    Builtin,
    /// `tools.json` of the workspace.
    File,
    /// The registry database.
    Database,
    /// An upstream MCP server, which says what there is.
    Server,
}

impl Shelf {
    pub const ALL: [Shelf; 4] = [Shelf::Builtin, Shelf::File, Shelf::Database, Shelf::Server];

    pub fn as_str(self) -> &'static str {
        match self {
            Shelf::Builtin => "builtin",
            Shelf::File => "file",
            Shelf::Database => "database",
            Shelf::Server => "server",
        }
    }
}

/// Which machinery runs the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KindName {
    Http,
    Mcp,
    Python,
    Shell,
    Builtin,
    Sql,
    Expression,
}

impl KindName {
    pub const ALL: [KindName; 7] = [
        KindName::Http,
        KindName::Mcp,
        KindName::Python,
        KindName::Shell,
        KindName::Builtin,
        KindName::Sql,
        KindName::Expression,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            KindName::Http => "http",
            KindName::Mcp => "mcp",
            KindName::Python => "python",
            KindName::Shell => "shell",
            KindName::Builtin => "builtin",
            KindName::Sql => "sql",
            KindName::Expression => "expression",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|k| k.as_str() == name)
    }

    /// What `parallel_capable` is when the author does not say (B6).
    pub fn parallel_by_default(self) -> bool {
        matches!(self, KindName::Builtin | KindName::Http | KindName::Sql)
    }
}

/// How the data of a result is handed out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputFormat {
    #[default]
    Json,
    /// Rendered as plain text.
    Text,
}

/// What a call may do to the world. Absent means "not said": MCP's careful defaults apply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Annotations {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

impl Annotations {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How often a tool may be called (seed 002 REQ-009).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RateLimit {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_hour: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrent_requests: Option<u32>,
}

/// What an author writes: the same fields in `tools.json`, over REST and in the page.
/// Fields at their default are left out when written, so that files stay short.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Definition {
    pub name: String,
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description_user: Option<String>,
    pub kind: KindName,
    pub config: Map<String, Value>,
    pub input_schema: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    #[serde(skip_serializing_if = "is_default")]
    pub output_format: OutputFormat,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_capable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
    #[serde(skip_serializing_if = "is_true")]
    pub is_active: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub is_public: bool,
    /// References only (`{"$env":…}`, `{"$secret":…}`); values are never kept here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth_config: Option<Value>,
    #[serde(skip_serializing_if = "Annotations::is_empty")]
    pub annotations: Annotations,
    /// Prompts that should pick this tool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<TestCase>,
    /// When a person must agree before it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Value>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_true(value: &bool) -> bool {
    *value
}

impl Definition {
    /// Fingerprint of everything the author wrote; part of every log entry. The order of members does not
    /// count, as it does not count when two definitions are compared.
    pub fn hash(&self) -> Arc<str> {
        let value = serde_json::to_value(self).expect("a definition is plain JSON");
        let digest = Sha256::digest(sorted(value).to_string().as_bytes());
        hex(&digest[..16]).into()
    }

    pub fn runs_in_parallel(&self) -> bool {
        self.parallel_capable
            .unwrap_or_else(|| self.kind.parallel_by_default())
    }

    /// The author's deadline: the tool's own, else the one in its config (B5).
    pub fn timeout_seconds(&self) -> Option<f64> {
        self.timeout_seconds
            .or_else(|| self.config.get("timeout_seconds").and_then(Value::as_f64))
    }

    /// Whether it is a query that may change data.
    pub fn writes(&self) -> bool {
        self.kind == KindName::Sql && self.config.get("write") == Some(&Value::Bool(true))
    }

    /// Whether it is a request that by HTTP's own rules changes nothing.
    fn only_gets(&self) -> bool {
        let method = self.config.get("method").and_then(Value::as_str);
        matches!(method, None | Some("GET" | "HEAD"))
    }

    /// Whether a call that was cut off may have changed something. An expression has nothing that it could change, and a
    /// query that does not write is held to that by the database.
    pub fn may_have_effects(&self) -> bool {
        match self.kind {
            KindName::Expression => false,
            KindName::Sql => self.writes(),
            _ => self.annotations.read_only != Some(true),
        }
    }

    /// What the author says of a call's effects and, where they do not, what follows from the kind.
    pub fn hints(&self) -> Annotations {
        let mut hints = self.annotations.clone();
        if self.kind == KindName::Sql {
            hints.read_only.get_or_insert(!self.writes());
            hints.destructive.get_or_insert(self.writes());
        }
        if self.kind == KindName::Http && self.only_gets() && hints.destructive != Some(true) {
            hints.read_only.get_or_insert(true);
        }
        hints
    }
}

/// The same value with the members of every object in the order of their names.
pub fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> = members
                .into_iter()
                .map(|(key, value)| (key, sorted(value)))
                .collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(members.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// A tool in the catalogue: the definition plus what the crib keeps about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub id: Uuid,
    pub owner: Uuid,
    pub shelf: Shelf,
    pub version: i64,
    pub created_at: Millis,
    pub updated_at: Millis,
    /// Fingerprint of the definition.
    pub hash: Arc<str>,
    pub definition: Definition,
}

/// The id of a tool whose id follows from its name.
pub fn id_from_name(name: &str) -> Uuid {
    Uuid::new_v5(&TOOL_ID_NAMESPACE, name.as_bytes())
}

/// Names that fit every model API and every URL (A1).
pub fn is_valid_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-'))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    pub(crate) fn tool(name: &str, owner: Uuid) -> Tool {
        let definition = definition(name);
        Tool {
            id: id_from_name(name),
            owner,
            shelf: Shelf::File,
            version: 1,
            created_at: 0,
            updated_at: 0,
            hash: definition.hash(),
            definition,
        }
    }

    fn definition(name: &str) -> Definition {
        Definition {
            name: name.to_owned(),
            description: "Adds".to_owned(),
            description_user: None,
            kind: KindName::Builtin,
            config: Map::new(),
            input_schema: json!({"type":"object"}),
            output_schema: None,
            output_format: OutputFormat::Json,
            timeout_seconds: None,
            parallel_capable: None,
            rate_limit: None,
            is_active: true,
            is_public: false,
            auth_config: None,
            annotations: Annotations::default(),
            examples: Vec::new(),
            tests: Vec::new(),
            approval: None,
        }
    }

    #[test]
    fn names_fit_urls_and_model_apis() {
        assert!(
            ["a", "get_user.v2-x", &"n".repeat(64)]
                .into_iter()
                .all(is_valid_name)
        );
        assert!(
            !["", "a b", "ä", "a/b", &"n".repeat(65)]
                .into_iter()
                .any(is_valid_name)
        );
    }

    #[test]
    fn every_change_of_the_definition_changes_the_hash() {
        let mut definition = tool("x", SYSTEM_USER).definition;
        let before = definition.hash();
        definition.is_active = false;
        assert_ne!(before, definition.hash());
        definition.is_active = true;
        assert_eq!(before, definition.hash());
    }

    #[test]
    fn the_deadline_is_the_tools_then_its_configs() {
        let mut definition = tool("x", SYSTEM_USER).definition;
        assert_eq!(definition.timeout_seconds(), None);
        definition.config.insert("timeout_seconds".into(), json!(7));
        assert_eq!(definition.timeout_seconds(), Some(7.0));
        definition.timeout_seconds = Some(0.5);
        assert_eq!(definition.timeout_seconds(), Some(0.5));
    }

    #[test]
    fn a_query_only_reads_unless_it_says_otherwise() {
        let mut definition = tool("x", SYSTEM_USER).definition;
        assert_eq!(definition.hints(), Annotations::default());
        definition.kind = KindName::Sql;
        let told = |of: &Definition| (of.hints().read_only, of.hints().destructive);
        assert_eq!(told(&definition), (Some(true), Some(false)));
        assert!(!definition.may_have_effects());
        definition.config.insert("write".into(), json!(true));
        assert_eq!(told(&definition), (Some(false), Some(true)));
        assert!(definition.may_have_effects());
        definition.annotations.destructive = Some(false);
        assert_eq!(told(&definition), (Some(false), Some(false)));
    }

    #[test]
    fn a_request_that_only_gets_only_reads_unless_it_says_otherwise() {
        let mut definition = tool("x", SYSTEM_USER).definition;
        definition.kind = KindName::Http;
        let read_only = |of: &Definition| of.hints().read_only;
        assert_eq!(read_only(&definition), Some(true));
        for (method, only_reads) in [("GET", Some(true)), ("HEAD", Some(true)), ("POST", None)] {
            definition.config.insert("method".into(), json!(method));
            assert_eq!(read_only(&definition), only_reads, "{method}");
        }
        definition.config.insert("method".into(), json!("GET"));
        definition.annotations.destructive = Some(true);
        assert_eq!(read_only(&definition), None);
        definition.annotations.read_only = Some(false);
        definition.annotations.destructive = None;
        assert_eq!(read_only(&definition), Some(false));
    }
}
