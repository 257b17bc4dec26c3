//! The keys of the configuration: what each may hold, and which names the environment has for it.

use app::oidc::is_address;
use std::net::SocketAddr;
use toml::Value;

/// One key of the configuration.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) holds: Holds,
    /// A name in the environment besides `TOOLCRIB_A_B`.
    pub(crate) also: Option<&'static str>,
    /// Never shown.
    pub(crate) secret: bool,
}

/// What a key may hold.
#[derive(Clone, Copy)]
pub(crate) enum Holds {
    Address,
    Yes,
    Count {
        least: i64,
        most: i64,
    },
    Seconds,
    Names,
    OneOf(&'static [&'static str]),
    /// The address of a PostgreSQL, or nothing.
    Postgres,
    /// The path of a file, or nothing.
    File,
    /// Some words, or nothing.
    Text,
    /// A web address that secrets may go to, or nothing.
    Url,
    /// The same without a path.
    Site,
    /// Where a server is reached by others of its own network.
    Peer,
    /// A web address of the operator's own, http:// too, or nothing.
    Own,
    /// From 0 to 1.
    Share,
}

const fn key(name: &'static str, holds: Holds) -> Key {
    Key {
        name,
        holds,
        also: None,
        secret: false,
    }
}

impl Key {
    const fn also(self, also: &'static str) -> Self {
        Key {
            also: Some(also),
            ..self
        }
    }

    const fn secret(self) -> Self {
        Key {
            secret: true,
            ..self
        }
    }

    /// `TOOLCRIB_A_B` for `a.b`.
    pub(crate) fn variable(&self) -> String {
        format!(
            "TOOLCRIB_{}",
            self.name.replace('.', "_").to_ascii_uppercase()
        )
    }
}

const BYTES: Holds = Holds::Count {
    least: 1,
    most: 1 << 30,
};
const MANY: Holds = Holds::Count {
    least: 1,
    most: 1_000_000,
};

/// Every key, in the order of the default file.
pub(crate) const KEYS: &[Key] = &[
    key("server.listen", Holds::Address),
    key("server.hosts", Holds::Names),
    key("server.url", Holds::Site),
    key("server.proxy_hops", Holds::Count { least: 0, most: 9 }),
    key("server.body_bytes_max", BYTES),
    key("server.head_timeout_seconds", Holds::Seconds),
    key("server.body_timeout_seconds", Holds::Seconds),
    key("server.connections_max", MANY),
    key("server.requests_max", MANY),
    key("server.streams_max", MANY),
    key("server.grace_seconds", Holds::Seconds),
    key("server.drain_seconds", Holds::Seconds),
    key("server.advertise", Holds::Peer),
    key("database.url", Holds::Postgres)
        .also("DATABASE_URL")
        .secret(),
    key("tools.timeout_seconds", Holds::Seconds).also("TOOL_TIMEOUT_SECONDS"),
    key("tools.output_bytes_max", BYTES),
    key("tools.queue_max", MANY),
    key(
        "log.retention_days",
        Holds::Count {
            least: 0,
            most: 36_500,
        },
    ),
    key(
        "log.retention_megabytes",
        Holds::Count {
            least: 0,
            most: 1_000_000_000,
        },
    ),
    key("log.durability", Holds::OneOf(&["normal", "full"])),
    key("log.entry_bytes_max", BYTES),
    key("secrets.key_file", Holds::File),
    key("oidc.issuer", Holds::Url),
    key("oidc.client_id", Holds::Text),
    key("oidc.client_secret", Holds::Text).secret(),
    key("oidc.scopes", Holds::Names),
    key("oidc.name_claim", Holds::Text),
    key(
        "oidc.new_users",
        Holds::OneOf(&["none", "groups", "viewer", "operator", "author", "admin"]),
    ),
    key("oidc.roles_claim", Holds::Text),
    key("oidc.roles", Holds::Names),
    key("oidc.access_tokens", Holds::Yes),
    key("oidc.audience", Holds::Text),
    key("oidc.token_scopes", Holds::Names),
    key("policy.enforced", Holds::Yes).also("FEATURE_TOOLS_POLICY"),
    key("policy.whitelist", Holds::Names).also("TOOL_WHITELIST"),
    key("mcp.instructions", Holds::Text),
    key("mcp.session_idle_seconds", Holds::Seconds),
    key("mcp.sessions_max", MANY),
    key(
        "mcp.user_sessions_max",
        Holds::Count {
            least: 0,
            most: 1_000_000,
        },
    ),
    key(
        "mcp.program_idle_seconds",
        Holds::Count {
            least: 0,
            most: 1_000_000,
        },
    ),
    key(
        "mcp.find_tools_above",
        Holds::Count {
            least: 0,
            most: 1_000_000,
        },
    ),
    key("mcp.names", Holds::OneOf(&["dotted", "plain"])),
    key("mcp.commands_allowed", Holds::Names),
    key("mcp.pinning", Holds::OneOf(&["off", "flag", "approve"])),
    key("mcp.conformance", Holds::Yes),
    key("features.mcp_tools", Holds::Yes).also("FEATURE_MCP_TOOLS"),
    key("pipeline.tools_timeout_seconds", Holds::Seconds),
    key("http.allow", Holds::Names),
    key(
        "web_search.provider",
        Holds::OneOf(&["", "brave", "tavily", "exa", "searxng", "naver"]),
    ),
    key("web_search.base_url", Holds::Text),
    key("web_search.api_key", Holds::Text).secret(),
    key("skills.folder", Holds::File),
    key("selection.gold", Holds::File),
    key("selection.confirmed", Holds::Yes),
    key("selection.encoder", Holds::OneOf(&["auto", "own"])),
    key("vectors.embeddings_url", Holds::Text).also("TEXT_EMBEDDING_MODEL_URL"),
    key("vectors.embeddings_model", Holds::Text).also("TEXT_EMBEDDING_MODEL_NAME"),
    key("vectors.embeddings_key", Holds::Text).secret(),
    key("vectors.chromadb_host", Holds::Text).also("CHROMADB_HOST"),
    key(
        "vectors.chromadb_port",
        Holds::Count {
            least: 1,
            most: 65_535,
        },
    )
    .also("CHROMADB_PORT"),
    key("vectors.chromadb_token", Holds::Text).secret(),
    key("vectors.collection", Holds::Text).also("CHROMADB_COLLECTION_NAME"),
    key("providers.anthropic_key", Holds::Text)
        .also("ANTHROPIC_API_KEY")
        .secret(),
    key("providers.anthropic_url", Holds::Own).also("ANTHROPIC_BASE_URL"),
    key("providers.openai_key", Holds::Text)
        .also("OPENAI_API_KEY")
        .secret(),
    key("providers.openai_url", Holds::Own).also("OPENAI_BASE_URL"),
    key("providers.zhipuai_key", Holds::Text)
        .also("ZHIPUAI_API_KEY")
        .secret(),
    key("providers.zhipuai_url", Holds::Own).also("ZHIPUAI_BASE_URL"),
    key("runs.model", Holds::Text),
    key("runs.max_steps", MANY),
    key("runs.max_tool_calls", MANY),
    key("runs.max_seconds", Holds::Seconds),
    key("runs.tools_max", Holds::Count { least: 1, most: 50 }),
    key("runs.result_chars_max", BYTES),
    key("runs.answer_within_hours", MANY),
    key("runs.guard_untrusted", Holds::Yes),
    key("runs.prices", Holds::Names),
    key("runs.under_way_max", MANY),
    key(
        "runs.keep_days",
        Holds::Count {
            least: 1,
            most: 36_500,
        },
    ),
    key("python.interpreter", Holds::Text),
    key("python.memory_bytes_max", BYTES),
    key("builtins.disabled", Holds::Names),
    key("builtins.fixtures", Holds::Yes),
    key(
        "telemetry.level",
        Holds::OneOf(&["off", "error", "warn", "info", "debug", "trace"]),
    ),
    key("telemetry.format", Holds::OneOf(&["text", "json"])),
    key("telemetry.otlp_endpoint", Holds::Own).also("OTEL_EXPORTER_OTLP_ENDPOINT"),
    key("telemetry.otlp_headers", Holds::Names)
        .also("OTEL_EXPORTER_OTLP_HEADERS")
        .secret(),
    key("telemetry.service_name", Holds::Text).also("OTEL_SERVICE_NAME"),
    key("telemetry.trace_ratio", Holds::Share).also("OTEL_TRACES_SAMPLER_ARG"),
];

/// Names of the environment that are not keys of the configuration, those kept for what is to come, and those
/// of our own test runs.
pub(crate) const OTHER_VARIABLES: &[&str] = &[
    "TOOLCRIB_ADMIN_KEY",
    "TOOLCRIB_URL",
    "TOOLCRIB_KEY",
    "TOOLCRIB_WORKSPACE",
    "TOOLCRIB_DATA",
    "TOOLCRIB_SECRET_KEY",
    "TOOLCRIB_TEST_POSTGRES",
    "TOOLCRIB_TEST_PYTHON",
    "TOOLCRIB_TEST_SEARX",
    "TOOLCRIB_SOAK",
];

impl Holds {
    /// What is expected, in words.
    fn expected(self) -> String {
        match self {
            Holds::Address => "an address with a port, such as \"127.0.0.1:8787\"".to_owned(),
            Holds::Yes => "true or false".to_owned(),
            Holds::Count { least, most } => format!("a whole number from {least} to {most}"),
            Holds::Seconds => "a number of seconds above 0 and up to 86400".to_owned(),
            Holds::Names => "a list of names, such as [\"calculator\"]".to_owned(),
            Holds::OneOf(names) => format!("one of {}", names.join(", ")),
            Holds::File => "the path of a file, or nothing".to_owned(),
            Holds::Text => "a text on one line, or nothing".to_owned(),
            Holds::Url => "an address that begins with https:// (or http:// on this machine), or nothing".to_owned(),
            Holds::Site => "an address such as https://tools.example.com, without a path (http:// only on this machine), or nothing".to_owned(),
            Holds::Own => "an address such as http://10.0.0.5:8787, or nothing".to_owned(),
            Holds::Share => "a number from 0 to 1".to_owned(),
            Holds::Peer => "an address such as http://10.0.0.5:8787, without a path, or nothing".to_owned(),
            Holds::Postgres => {
                "a PostgreSQL address: postgres://user:password@host:port/database (or postgresql://…), or nothing for SQLite".to_owned()
            }
        }
    }

    /// What was given, in words that may be shown: an address can hold a password.
    fn given(self, value: &Value) -> String {
        match (self, value.as_str()) {
            (Holds::Postgres, Some(text)) => match text.split_once("://") {
                Some((scheme, _)) if is_scheme(scheme) => {
                    format!("one that begins with {scheme}://")
                }
                _ => "a text that does not begin with postgres://".to_owned(),
            },
            (_, Some(text)) => format!("'{text}'"),
            (_, None) => value.to_string(),
        }
    }

    /// The value in its plain form, or what is wrong with it.
    pub(crate) fn check(self, value: Value) -> Result<Value, String> {
        let wrong =
            |value: &Value| format!("expected {}, got {}", self.expected(), self.given(value));
        let fits = match (self, &value) {
            (Holds::Address, Value::String(text)) => address(text).is_some(),
            (Holds::Yes, Value::Boolean(_)) => true,
            (Holds::Count { least, most }, Value::Integer(number)) => {
                (least..=most).contains(number)
            }
            (Holds::Seconds, Value::Float(number)) => *number > 0.0 && *number <= 86_400.0,
            (Holds::Seconds, Value::Integer(number)) => {
                let seconds = u32::try_from(*number).map(f64::from);
                return seconds
                    .map_err(|_| wrong(&value))
                    .and_then(|seconds| self.check(Value::Float(seconds)));
            }
            (Holds::Names, Value::Array(items)) => {
                let named = |item: &Value| item.as_str().is_some_and(|name| !name.is_empty());
                items.iter().all(named)
            }
            (Holds::OneOf(names), Value::String(text)) => names.contains(&text.as_str()),
            (Holds::File, Value::String(text)) => !text.contains('\0'),
            (Holds::Text, Value::String(text)) => !text.contains(char::is_control),
            (Holds::Url, Value::String(text)) => text.is_empty() || is_address(text),
            (Holds::Site, Value::String(text)) => {
                let authority = text.split_once("://").map_or("", |(_, rest)| rest);
                let bare = !authority.trim_end_matches('/').contains(['/', '?']);
                text.is_empty() || (is_address(text) && bare)
            }
            (Holds::Own, Value::String(text)) => {
                let rest = text
                    .strip_prefix("http://")
                    .or(text.strip_prefix("https://"));
                let is_plain = |rest: &str| {
                    !rest.is_empty()
                        && !rest.contains(|c: char| c.is_whitespace() || "@?#".contains(c))
                };
                text.is_empty() || rest.is_some_and(is_plain)
            }
            (Holds::Share, Value::Float(number)) => (0.0..=1.0).contains(number),
            (Holds::Share, Value::Integer(number @ (0 | 1))) => {
                return Ok(Value::Float(if *number == 1 { 1.0 } else { 0.0 }));
            }
            (Holds::Peer, Value::String(text)) => text.is_empty() || is_peer(text),
            (Holds::Postgres, Value::String(text)) => {
                let schemes = ["postgres://", "postgresql://"];
                text.is_empty() || schemes.iter().any(|scheme| text.starts_with(scheme))
            }
            _ => false,
        };
        if fits { Ok(value) } else { Err(wrong(&value)) }
    }

    /// Reads the text of an environment variable or a flag.
    pub(crate) fn read(self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let wrong = || format!("expected {}, got '{text}'", self.expected());
        let value = match self {
            Holds::Address
            | Holds::OneOf(_)
            | Holds::Postgres
            | Holds::File
            | Holds::Text
            | Holds::Url
            | Holds::Own
            | Holds::Site
            | Holds::Peer => Value::String(text.to_owned()),
            Holds::Yes => match text.to_ascii_lowercase().as_str() {
                "true" | "1" | "yes" => Value::Boolean(true),
                "false" | "0" | "no" => Value::Boolean(false),
                _ => {
                    return Err(format!(
                        "expected true, 1, yes, false, 0 or no, got '{text}'"
                    ));
                }
            },
            Holds::Count { .. } => Value::Integer(text.parse().map_err(|_| wrong())?),
            Holds::Seconds | Holds::Share => Value::Float(text.parse().map_err(|_| wrong())?),
            Holds::Names => {
                let names = text
                    .split(',')
                    .map(str::trim)
                    .filter(|name| !name.is_empty());
                Value::Array(names.map(|name| Value::String(name.to_owned())).collect())
            }
        };
        self.check(value)
    }
}

fn is_scheme(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    (1..=20).contains(&text.len()) && text.chars().all(fits)
}

/// What one server can call another by: a scheme and a host, and nothing else.
fn is_peer(text: &str) -> bool {
    let rest = ["http://", "https://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    let rest = rest.map(|it| it.strip_suffix('/').unwrap_or(it));
    let is_host = |rest: &str| {
        let odd = |c: char| matches!(c, '/' | '?' | '#' | '@' | '\\') || c.is_whitespace();
        let has_host = !rest.is_empty() && !rest.starts_with(':');
        has_host && !rest.contains(odd) && !rest.contains(char::is_control)
    };
    rest.is_some_and(is_host)
}

/// A listen address; `localhost` stands for 127.0.0.1.
pub(crate) fn address(text: &str) -> Option<SocketAddr> {
    let text = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    text.parse().ok()
}

/// The known name that a mistyped one most likely meant.
pub(crate) fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.collect();
    let scored = known.iter().map(|name| (distance(typed, name), *name));
    let (steps, name) = scored.min()?;
    // What is further away was meant for something else.
    if steps <= 1 + typed.len() / 8 {
        return Some(name);
    }
    // TOOLCRIB_LISTEN for TOOLCRIB_SERVER_LISTEN, where there is but one of it.
    let last = |name: &str| name.rsplit(['_', '.']).next().map(str::to_owned);
    let mut alike = known.into_iter().filter(|name| last(name) == last(typed));
    alike.next().filter(|_| alike.next().is_none())
}

/// How many letters must be typed, removed or changed to get from one text to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().take(200).enumerate() {
        let mut before = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in to.iter().enumerate() {
            let changed = before + usize::from(a != *b);
            before = row[j + 1];
            row[j + 1] = changed.min(before + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_guessed_from_few_letters_or_from_its_only_end() {
        let known = [
            "server.listen",
            "server.url",
            "tools.url",
            "log.retention_days",
        ];
        for (typed, meant) in [
            ("server.listn", Some("server.listen")),
            ("listen", Some("server.listen")),
            ("web.listen", Some("server.listen")),
            ("web.url", None),
            ("colour", None),
        ] {
            assert_eq!(nearest(typed, known.into_iter()), meant, "{typed}");
        }
    }

    #[test]
    fn a_server_is_reached_in_its_own_network() {
        for fine in [
            "http://10.0.0.5:8787",
            "http://crib-0.crib:8787/",
            "https://[fd00::5]",
        ] {
            assert!(is_peer(fine), "{fine}");
        }
        for bad in [
            "10.0.0.5:8787",
            "http://",
            "http://:8787",
            "http://10.0.0.5:8787/mcp",
            "http://me:secret@10.0.0.5",
            "ftp://10.0.0.5",
            "http://10.0.0.5?x",
            "http://10.0.0.5 ",
        ] {
            assert!(!is_peer(bad), "{bad}");
        }
    }
}
