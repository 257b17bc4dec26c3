//! Reads a tool's definition out of a document and reports everything that is wrong with it at once.
//! The same checks serve `tools.json`, request bodies and database rows.

mod auth;
mod cases;
mod config;
mod fault;
mod http;
mod http_auth;
mod schemas;
mod sql;

pub use auth::PUBLIC_AUTH_KEYS;
pub(crate) use auth::is_variable_name;
pub(crate) use config::http_url_fault;
pub use fault::Fault;
pub(crate) use fault::report;
pub use http::FRAMING;

use crate::json::{
    Document, Member, Node, NodeKind, Reader, did_you_mean, member, path_of_key, present,
    quoted_list, to_map, unknown_key,
};
use crate::problem::Problem;
use crate::tool::{
    Annotations, Definition, KindName, OutputFormat, RateLimit, Shelf, is_valid_name,
};
use serde_json::{Map, Value, json};

/// Longest `description` or `description_user`, in bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 16 * 1024;

/// Other names under which a field is accepted.
pub(crate) const ALIASES: [(&str, &str); 2] =
    [("tool_type", "kind"), ("description_agent", "description")];

/// MCP's names of the annotations.
pub(crate) const ANNOTATION_ALIASES: [(&str, &str); 4] = [
    ("readOnlyHint", "read_only"),
    ("destructiveHint", "destructive"),
    ("idempotentHint", "idempotent"),
    ("openWorldHint", "open_world"),
];

/// What an author may write, in the order in which it is written out.
pub const FIELDS: [&str; 20] = [
    "name",
    "description",
    "description_agent",
    "description_user",
    "kind",
    "tool_type",
    "config",
    "auth_config",
    "input_schema",
    "output_schema",
    "output_format",
    "timeout_seconds",
    "parallel_capable",
    "rate_limit",
    "annotations",
    "approval",
    "examples",
    "tests",
    "is_active",
    "is_public",
];

/// What the server adds when it shows a tool: accepted and ignored in a body, so that a tool can be
/// fetched, edited and sent back.
const SERVER_FIELDS: [&str; 11] = [
    "id",
    "owner",
    "version",
    "shelf",
    "created_at",
    "rules",
    "used_by",
    "tested",
    "trouble",
    "updated_at",
    "hash",
];

/// Where a definition comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// An entry of `tools.json`: nothing but the author's fields, secrets by reference only.
    ToolsFile,
    /// A request body or database row for a tool of that shelf; `"shelf": "file"` in it has the same effect
    /// as `Body(Shelf::File)`. Secrets by reference only if it goes to the file shelf.
    Body(Shelf),
}

/// Reads one definition document; `file` is the name its problems are reported under.
pub fn definition_from_text(
    file: &str,
    text: &str,
    origin: Origin,
) -> Result<Definition, Vec<Problem>> {
    checked_definition_from_text(file, text, origin, |_| Vec::new())
}

/// The same, and asks `check` about a definition that can be read.
pub fn checked_definition_from_text(
    file: &str,
    text: &str,
    origin: Origin,
    check: impl Fn(&Definition) -> Vec<Fault>,
) -> Result<Definition, Vec<Problem>> {
    let doc = Document::new(file, text);
    let node = doc.parse()?;
    let mut problems = Vec::new();
    let definition = read_definition(&doc, &node, "$", origin, &mut problems);
    if let Some(definition) = &definition {
        report(&doc, &node, "$", check(definition), &mut problems);
    }
    definition.filter(|_| problems.is_empty()).ok_or(problems)
}

/// Reads the definition at `node`; `None` if anything is wrong with it.
pub fn read_definition(
    doc: &Document<'_>,
    node: &Node,
    path: &str,
    origin: Origin,
    problems: &mut Vec<Problem>,
) -> Option<Definition> {
    let mut reader = Reader::new(doc, problems);
    let definition = reader.members(node, path).and_then(|members| {
        reader.duplicate_keys(node, path);
        let fields = Fields {
            node,
            members,
            path,
            origin,
        };
        fields.read(&mut reader)
    });
    definition.filter(|_| reader.met == 0)
}

/// The members of one definition.
struct Fields<'n> {
    node: &'n Node,
    members: &'n [Member],
    path: &'n str,
    origin: Origin,
}

impl<'n> Fields<'n> {
    fn read(&self, r: &mut Reader<'_>) -> Option<Definition> {
        self.check_keys(r);
        let name = self.name(r);
        let description = self.description(r);
        let kind = self.kind(r);
        let definition = Definition {
            name: String::new(),
            description: String::new(),
            description_user: self.description_user(r),
            kind: KindName::Builtin,
            config: self.config(r, kind),
            input_schema: self.input_schema(r),
            output_schema: self.output_schema(r),
            output_format: self.output_format(r),
            timeout_seconds: self
                .get("timeout_seconds")
                .and_then(|m| r.seconds(m, self.path)),
            parallel_capable: self.flag(r, "parallel_capable"),
            rate_limit: self.rate_limit(r),
            is_active: self.flag(r, "is_active").unwrap_or(true),
            is_public: self.flag(r, "is_public").unwrap_or(false),
            auth_config: self.auth_config(r, kind),
            annotations: self.annotations(r),
            examples: self.examples(r),
            tests: self.tests(r),
            approval: self.approval(r),
        };
        // Last, so that a missing field does not hide what is wrong in the others.
        Some(Definition {
            name: name?,
            description: description?,
            kind: kind?,
            ..definition
        })
    }

    fn get(&self, key: &str) -> Option<&'n Member> {
        present(self.members, key)
    }

    fn flag(&self, r: &mut Reader<'_>, key: &str) -> Option<bool> {
        self.get(key).and_then(|m| r.boolean(m, self.path))
    }

    fn check_keys(&self, r: &mut Reader<'_>) {
        let in_body = matches!(self.origin, Origin::Body(_));
        for m in self.members {
            let key = m.key.as_str();
            if FIELDS.contains(&key) || (in_body && SERVER_FIELDS.contains(&key)) {
                continue;
            }
            r.push(|doc| {
                // Of what the server adds, only the shelf is for an author to choose.
                let known = FIELDS.iter().copied().chain(in_body.then_some("shelf"));
                let known: Vec<&str> = known.collect();
                let mut problem = unknown_key(doc, m, self.path, &known);
                if SERVER_FIELDS.contains(&key) {
                    problem.remedy = format!("Delete \"{key}\": the server keeps it by itself.");
                }
                problem
            });
        }
        if in_body && let Some(m) = self.get("shelf") {
            r.one_of(m, self.path, &["file", "database", "builtin"]);
        }
    }

    /// The member under its own or its other name; reports it when it is there under both.
    fn aliased(&self, r: &mut Reader<'_>, members: &'n [Member], key: &str) -> Option<&'n Member> {
        let alias = alias_of(key);
        let own = present(members, key);
        let other = alias.and_then(|alias| present(members, alias));
        if let (Some(own), Some(other)) = (own, other) {
            let remedy = format!("Delete \"{}\" and keep \"{}\".", other.key, own.key);
            let found = format!("both, the first in line {}", r.doc.line(own.key_span.start));
            let expected = format!("either \"{}\" or \"{}\"", own.key, other.key);
            let path = path_of_key(self.path, &other.key);
            r.report(other.key_span.start, path, expected, found, remedy);
        }
        own.or(other)
    }

    fn missing(&self, r: &mut Reader<'_>, key: &str, remedy: &str) {
        if is_misspelt(self.members, key, &FIELDS) {
            return;
        }
        let of = match member(self.members, "name").and_then(|m| m.value.as_str()) {
            Some(name) if key != "name" => format!("\"{key}\" in the tool \"{name}\""),
            _ => format!("\"{key}\" in the tool"),
        };
        let path = path_of_key(self.path, key);
        r.report(self.node.span.start, path, of, "nothing", remedy);
    }

    fn name(&self, r: &mut Reader<'_>) -> Option<String> {
        let Some(m) = member(self.members, "name") else {
            self.missing(r, "name", "Add a name, such as \"name\": \"get_weather\".");
            return None;
        };
        let name = r.string(m, self.path)?;
        if is_valid_name(name) {
            return Some(name.to_owned());
        }
        let expected = "1 to 64 characters out of A-Z a-z 0-9 _ . -";
        let usable: String = name
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "_.-".contains(c) {
                    c
                } else {
                    '_'
                }
            })
            .take(64)
            .collect();
        let remedy = match usable.trim_matches('_') {
            "" => "Give it a short name of letters, digits and _.".to_owned(),
            _ => format!("Rename it, for example to \"{usable}\"."),
        };
        r.wrong(m, self.path, expected, &remedy);
        None
    }

    fn description(&self, r: &mut Reader<'_>) -> Option<String> {
        let Some(m) = self.aliased(r, self.members, "description") else {
            let remedy = "Say what the tool does and when to use it: agents choose by this text.";
            self.missing(r, "description", remedy);
            return None;
        };
        r.text(m, self.path)
            .filter(|text| self.fits(r, m, text))
            .map(str::to_owned)
    }

    fn description_user(&self, r: &mut Reader<'_>) -> Option<String> {
        let m = self.get("description_user")?;
        r.string(m, self.path)
            .filter(|text| self.fits(r, m, text))
            .map(str::to_owned)
    }

    fn fits(&self, r: &mut Reader<'_>, m: &Member, text: &str) -> bool {
        let fits = text.len() <= DESCRIPTION_BYTES_MAX;
        if !fits {
            let found = format!("{} bytes", text.len());
            let path = path_of_key(self.path, &m.key);
            let expected = format!("at most {DESCRIPTION_BYTES_MAX} bytes");
            let remedy = "Shorten it: every agent reads it in every request.";
            r.report(m.value.span.start, path, expected, found, remedy);
        }
        fits
    }

    fn kind(&self, r: &mut Reader<'_>) -> Option<KindName> {
        let allowed = KindName::ALL.map(KindName::as_str);
        let Some(m) = self.aliased(r, self.members, "kind") else {
            let remedy = format!("Add \"kind\": one of {}.", quoted_list(&allowed));
            self.missing(r, "kind", &remedy);
            return None;
        };
        let written = m.value.as_str().map(str::to_ascii_lowercase);
        if let Some(kind) = written.as_deref().and_then(KindName::from_name) {
            return Some(kind);
        }
        r.one_of(m, self.path, &allowed);
        None
    }

    fn config(&self, r: &mut Reader<'_>, kind: Option<KindName>) -> Map<String, Value> {
        let Some(m) = self.get("config") else {
            if let Some(kind) = kind {
                let example = config::example(kind);
                let remedy = format!(
                    "A tool of kind \"{}\" needs \"config\": {example}.",
                    kind.as_str()
                );
                self.missing(r, "config", &remedy);
            }
            return Map::new();
        };
        let Some(members) = r.object(m, self.path) else {
            return Map::new();
        };
        if let Some(kind) = kind {
            config::check(
                r,
                &m.value,
                members,
                &path_of_key(self.path, "config"),
                kind,
            );
        }
        to_map(members)
    }

    fn input_schema(&self, r: &mut Reader<'_>) -> Value {
        match self.get("input_schema") {
            Some(m) => schemas::input(r, m, self.path),
            None => json!({"type": "object"}),
        }
    }

    fn output_schema(&self, r: &mut Reader<'_>) -> Option<Value> {
        let m = self.get("output_schema")?;
        schemas::check(r, m, self.path);
        Some(m.value.to_value())
    }

    fn output_format(&self, r: &mut Reader<'_>) -> OutputFormat {
        let m = self.get("output_format");
        match m.and_then(|m| r.one_of(m, self.path, &["json", "text"])) {
            Some("text") => OutputFormat::Text,
            _ => OutputFormat::Json,
        }
    }

    fn rate_limit(&self, r: &mut Reader<'_>) -> Option<RateLimit> {
        const KEYS: [&str; 3] = [
            "requests_per_minute",
            "requests_per_hour",
            "concurrent_requests",
        ];
        let m = self.get("rate_limit")?;
        let members = r.object(m, self.path)?;
        let path = path_of_key(self.path, "rate_limit");
        r.unknown_keys(members, &path, &KEYS);
        let mut limit = |key| present(members, key).and_then(|m| r.positive(m, &path));
        Some(RateLimit {
            requests_per_minute: limit(KEYS[0]),
            requests_per_hour: limit(KEYS[1]),
            concurrent_requests: limit(KEYS[2]),
        })
    }

    fn annotations(&self, r: &mut Reader<'_>) -> Annotations {
        let Some(m) = self.get("annotations") else {
            return Annotations::default();
        };
        let Some(members) = r.object(m, self.path) else {
            return Annotations::default();
        };
        let path = &path_of_key(self.path, "annotations");
        let mut known = vec!["title"];
        known.extend(
            ANNOTATION_ALIASES
                .iter()
                .flat_map(|(alias, key)| [*key, *alias]),
        );
        r.unknown_keys(members, path, &known);
        let inner = Fields {
            members,
            path,
            ..*self
        };
        let mut flag = |key| {
            inner
                .aliased(r, members, key)
                .and_then(|m| r.boolean(m, path))
        };
        Annotations {
            read_only: flag("read_only"),
            destructive: flag("destructive"),
            idempotent: flag("idempotent"),
            open_world: flag("open_world"),
            title: inner
                .get("title")
                .and_then(|m| r.string(m, path))
                .map(str::to_owned),
        }
    }

    fn approval(&self, r: &mut Reader<'_>) -> Option<Value> {
        let m = self.get("approval")?;
        let value = m.value.to_value();
        if !(value.is_boolean() || value == "always" || value == "never") {
            let remedy =
                "Write \"always\" where a person must agree before each call, else leave it out.";
            let path = path_of_key(self.path, "approval");
            let expected = "\"always\", \"never\", true or false";
            r.report(
                m.value.span.start,
                path,
                expected,
                m.value.describe(),
                remedy,
            );
        }
        Some(value)
    }

    fn auth_config(&self, r: &mut Reader<'_>, kind: Option<KindName>) -> Option<Value> {
        let m = self.get("auth_config")?;
        if kind == Some(KindName::Http) {
            http_auth::check(r, m, self.path);
        }
        let body_says_file = self.get("shelf").and_then(|m| m.value.as_str()) == Some("file");
        let to_file = matches!(self.origin, Origin::ToolsFile | Origin::Body(Shelf::File));
        auth::check(r, m, self.path, to_file || body_says_file).then(|| m.value.to_value())
    }
}

fn alias_of(key: &str) -> Option<&'static str> {
    let mut all = ALIASES.iter().chain(&ANNOTATION_ALIASES);
    all.find(|(_, own)| *own == key).map(|(alias, _)| *alias)
}

/// Whether a key that is missing is there with a slip in it: that is reported where it stands, and once is enough.
fn is_misspelt(members: &[Member], key: &str, known: &[&str]) -> bool {
    members
        .iter()
        .any(|m| !known.contains(&m.key.as_str()) && did_you_mean(&m.key, known) == Some(key))
}

/// Whether the node is `{"$env": …}`, `{"$secret": …}` or `{"$sealed": …}`, well formed or not.
pub(crate) fn is_reference(node: &Node) -> bool {
    let known = ["$env", "$secret", "$sealed"];
    let references = |m: &Member| m.key.starts_with('$') && did_you_mean(&m.key, &known).is_some();
    matches!(&node.kind, NodeKind::Object(members) if members.iter().any(references))
}
