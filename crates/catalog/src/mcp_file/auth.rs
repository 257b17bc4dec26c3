//! `auth` of a server: which tokens it is shown, and whose they are.

use super::Entry;
use super::server::is_kept;
use crate::definition::http_url_fault;
use crate::json::{Member, NodeKind, Reader, path_of_key, present};
use std::fmt;

const KEYS: [&str; 7] = [
    "type",
    "for",
    "issuer",
    "client_id",
    "client_secret",
    "scopes",
    "grant",
];
const EXAMPLE: &str = "{\"type\": \"oauth\", \"for\": \"user\"}";

/// In place of a secret that is sealed.
const KEPT: &str = "sealed";

/// How tokens for a server are had (OAuth 2.1). `Debug` shows no secret.
#[derive(Clone, PartialEq)]
pub struct Auth {
    pub holder: Holder,
    pub grant: Grant,
    /// Who gives its tokens, letter by letter; none is whoever the server names.
    pub issuer: Option<String>,
    /// As the authorization server knows us; none where we introduce ourselves.
    pub client_id: Option<String>,
    pub client_secret: Option<String>,
    /// What is asked for; none is what the server wants.
    pub scopes: Vec<String>,
}

/// Whose token is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// One for all.
    Server,
    /// Everybody's own.
    User,
}

impl Holder {
    pub fn as_str(self) -> &'static str {
        match self {
            Holder::Server => "server",
            Holder::User => "user",
        }
    }
}

/// How a token is had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grant {
    /// A person signs in.
    AuthorizationCode,
    /// We ask in our own name.
    ClientCredentials,
}

impl Grant {
    pub fn as_str(self) -> &'static str {
        match self {
            Grant::AuthorizationCode => "authorization_code",
            Grant::ClientCredentials => "client_credentials",
        }
    }
}

impl Default for Auth {
    fn default() -> Self {
        Auth {
            holder: Holder::Server,
            grant: Grant::AuthorizationCode,
            issuer: None,
            client_id: None,
            client_secret: None,
            scopes: Vec::new(),
        }
    }
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Auth")
            .field("holder", &self.holder)
            .field("grant", &self.grant)
            .field("issuer", &self.issuer)
            .field("client_id", &self.client_id)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

impl Entry<'_> {
    pub(super) fn auth(&mut self, r: &mut Reader<'_>, members: &[Member]) -> Option<Auth> {
        let m = present(members, "auth")?;
        self.check_alone(r, members, m);
        match &m.value.kind {
            NodeKind::String(word) if word == "oauth" => Some(Auth::default()),
            NodeKind::Object(_) => self.auth_object(r, m),
            _ => {
                // It may be a token that somebody has pasted.
                let path = path_of_key(&self.path, "auth");
                let remedy = format!(
                    "Write \"oauth\", or an object such as {EXAMPLE}; a token that never changes is a header: \"headers\": {{\"Authorization\": \"Bearer ${{TOKEN}}\"}}."
                );
                let found = super::sort_of(&m.value);
                r.report(
                    m.value.span.start,
                    path,
                    "\"oauth\" or an object",
                    found,
                    remedy,
                );
                None
            }
        }
    }

    /// It is about servers that are reached by an address, and the header it would write is nobody else's.
    fn check_alone(&self, r: &mut Reader<'_>, members: &[Member], m: &Member) {
        if present(members, "command").is_some() {
            self.misplaced(r, members, &["auth"], "command", "url");
        }
        let headers = present(members, "headers").and_then(|it| it.value.as_object());
        let written = headers
            .into_iter()
            .flatten()
            .any(|it| it.key.eq_ignore_ascii_case("authorization"));
        if written {
            let path = path_of_key(&self.path, "auth");
            let expected = "either \"auth\" or the header Authorization";
            let remedy = "Delete one of the two: the token of \"auth\" goes into that header.";
            r.report(m.key_span.start, path, expected, "both", remedy);
        }
    }

    fn auth_object(&mut self, r: &mut Reader<'_>, m: &Member) -> Option<Auth> {
        let path = path_of_key(&self.path, "auth");
        let members = r.members(&m.value, &path)?;
        let before = r.met;
        r.unknown_keys(members, &path, &KEYS);
        if let Some(kind) = present(members, "type")
            && kind.value.as_str() != Some("oauth")
        {
            let remedy = format!("Write \"oauth\"; {}.", super::transport::A_TOKEN);
            r.wrong(kind, &path, "\"oauth\"", &remedy);
        }
        let holder =
            present(members, "for").and_then(|it| r.one_of(it, &path, &["server", "user"]));
        let grants = ["authorization_code", "client_credentials"];
        let grant = present(members, "grant").and_then(|it| r.one_of(it, &path, &grants));
        let is_body = self.is_body;
        let mut text = |r: &mut Reader<'_>, key: &str| {
            let m = present(members, key)?;
            if is_body && key == "client_secret" && is_kept(&m.value) {
                return Some(KEPT.to_owned());
            }
            let text = self.expander.expand(r, &m.value, &path_of_key(&path, key));
            text.filter(|text| !text.is_empty())
        };
        let auth = Auth {
            issuer: text(r, "issuer"),
            client_id: text(r, "client_id"),
            client_secret: text(r, "client_secret"),
            scopes: scopes(r, members, &path),
            holder: match holder {
                Some("user") => Holder::User,
                _ => Holder::Server,
            },
            grant: match grant {
                Some("client_credentials") => Grant::ClientCredentials,
                _ => Grant::AuthorizationCode,
            },
        };
        check(r, m, &path, &auth);
        (r.met == before).then_some(auth)
    }
}

fn scopes(r: &mut Reader<'_>, members: &[Member], path: &str) -> Vec<String> {
    let listed = present(members, "scopes").and_then(|m| r.array(m, path, "strings"));
    let fits = |text: &&str| {
        let letter = |b: u8| b.is_ascii_graphic() && b != b'"' && b != b'\\';
        !text.is_empty() && text.bytes().all(letter)
    };
    let mut scopes = Vec::new();
    for (number, node) in listed.unwrap_or_default().iter().enumerate() {
        match node.as_str().filter(fits) {
            Some(scope) => scopes.push(scope.to_owned()),
            None => {
                let path = format!("{path}.scopes[{number}]");
                let remedy = "Write each scope by itself, such as \"repo:read\".";
                r.report(
                    node.span.start,
                    path,
                    "a scope without spaces",
                    node.describe(),
                    remedy,
                );
            }
        }
    }
    scopes
}

fn check(r: &mut Reader<'_>, m: &Member, path: &str, auth: &Auth) {
    let mut wrong = |expected: &str, found: &str, remedy: &str| {
        r.report(m.value.span.start, path, expected, found, remedy);
    };
    if auth.client_secret.is_some() && auth.client_id.is_none() {
        wrong(
            "\"client_id\" beside \"client_secret\"",
            "only the secret",
            "Add \"client_id\".",
        );
    } else if auth.client_secret.is_some() && auth.issuer.is_none() {
        wrong(
            "\"issuer\" beside \"client_secret\"",
            "no \"issuer\"",
            "Add \"issuer\": the address of the authorization server that gave you the secret, as it writes it in \"issuer\" of its metadata. The secret is shown to nobody else.",
        );
    }
    // One that waits for a variable cannot be judged yet.
    let issuer = auth.issuer.as_deref().filter(|it| !it.contains("${"));
    if let Some(fault) = issuer.and_then(http_url_fault) {
        let remedy = format!("{fault} Write it like https://id.example.com.");
        wrong(
            "the address of an authorization server in \"issuer\"",
            "none",
            &remedy,
        );
    }
    if auth.grant == Grant::ClientCredentials {
        if auth.holder == Holder::User {
            let remedy = "Nobody signs in with client_credentials: delete \"for\", or use \"authorization_code\".";
            wrong(
                "\"for\": \"server\" with \"client_credentials\"",
                "\"for\": \"user\"",
                remedy,
            );
        }
        if auth.client_id.is_none() || auth.client_secret.is_none() {
            let remedy = "Register Toolcrib at the server's authorization server, and write both here, the secret as ${VARIABLE}.";
            wrong("\"client_id\" and \"client_secret\"", "not both", remedy);
        }
    }
}
