//! Reading a source from what an admin wrote, with everything that is wrong with it.

use super::url::decoded;
use super::{Authors, Password, SourceDefinition, SourceKind, UrlParts};
use crate::auth::{Reference, is_mask};
use crate::definition::{DESCRIPTION_BYTES_MAX, is_variable_name};
use crate::json::{Member, Reader, path_of_key, present, read_body};
use crate::problem::Problem;
use crate::secret::Secret;

const NAME: &str = "1 to 64 characters out of A-Z a-z 0-9 _ and -";
const TEXT_BYTES_MAX: usize = 4 * 1024;
const NAMES_MAX: usize = 1_000;
const CONNECTIONS_MAX: u32 = 500;
/// Unless a source says otherwise.
const CONNECTIONS_MAX_DEFAULT: u32 = 20;

pub const SOURCE_KEYS: [&str; 14] = [
    "name",
    "description",
    "kind",
    "path",
    "url",
    "password",
    "allow_write",
    "authors",
    "pgbouncer",
    "allow_superuser",
    "functions",
    "search_path",
    "connections_min",
    "connections_max",
];

/// What is shown of a source besides what its author wrote.
const TOLD: [&str; 4] = ["origin", "state", "cause", "warnings"];

/// What only one of the engines knows.
const OF_SQLITE: [&str; 1] = ["path"];
const OF_POSTGRES: [&str; 7] = [
    "url",
    "password",
    "pgbouncer",
    "allow_superuser",
    "functions",
    "search_path",
    "connections_min",
];

/// Reads one source. `name` is what it is called already.
pub fn source_from_text(text: &str, name: Option<&str>) -> Result<SourceDefinition, Vec<Problem>> {
    read_body(text, &SOURCE_KEYS, &TOLD, |r, at, members| {
        source(r, at, members, name)
    })
}

fn source(
    r: &mut Reader<'_>,
    at: usize,
    members: &[Member],
    called: Option<&str>,
) -> Option<SourceDefinition> {
    let given = |key: &str| present(members, key);
    let name = named(r, at, given("name"), called);
    let kind = kind(r, at, members);
    let strangers: &[&str] = match kind {
        Some(SourceKind::Sqlite) => &OF_POSTGRES,
        Some(SourceKind::Postgres) => &OF_SQLITE,
        None => &[],
    };
    for m in strangers.iter().filter_map(|key| given(key)) {
        let is_off = m.value.to_value() == false || m.value.as_array().is_some_and(<[_]>::is_empty);
        if !is_off {
            let expected = format!("nothing here: the source is of kind {}", kind?.as_str());
            r.wrong(m, "$", &expected, "Leave it out, or correct \"kind\".");
        }
    }
    let path = given("path").and_then(|m| long(r, m, TEXT_BYTES_MAX));
    let (url, in_url) = given("url").map_or((None, None), |m| url(r, m));
    let password = given("password").and_then(|m| password(r, m, in_url.is_some()));
    needed(r, at, kind, members);
    let flag = |r: &mut Reader<'_>, key: &str| {
        given(key).is_some_and(|m| r.boolean(m, "$").unwrap_or(false))
    };
    let definition = SourceDefinition {
        kind: kind.unwrap_or_default(),
        description: given("description").and_then(|m| long(r, m, DESCRIPTION_BYTES_MAX)),
        path,
        url,
        // A mask beside a new address with a password is what was fetched before.
        password: in_url.or(password),
        allow_write: flag(r, "allow_write"),
        authors: given("authors").map_or(Authors::Admins, |m| authors(r, m)),
        pgbouncer: flag(r, "pgbouncer"),
        allow_superuser: flag(r, "allow_superuser"),
        functions: given("functions").map_or_else(Vec::new, |m| names(r, m, "functions")),
        search_path: given("search_path").map_or_else(Vec::new, |m| names(r, m, "schemas")),
        connections_min: given("connections_min").and_then(|m| count(r, m, 0)),
        connections_max: given("connections_max").and_then(|m| count(r, m, 1)),
        name: name.unwrap_or_default(),
    };
    let most = definition
        .connections_max
        .unwrap_or(CONNECTIONS_MAX_DEFAULT);
    if let Some(m) = given("connections_min").filter(|_| definition.connections_min > Some(most)) {
        let expected = format!("at most connections_max, which is {most}");
        r.wrong(
            m,
            "$",
            &expected,
            "Keep fewer connections open, or allow more.",
        );
    }
    Some(definition)
}

fn named(
    r: &mut Reader<'_>,
    at: usize,
    given: Option<&Member>,
    called: Option<&str>,
) -> Option<String> {
    let Some(m) = given else {
        if called.is_none() {
            r.report(at, "$.name", "\"name\"", "nothing", "Add \"name\": \"…\".");
        }
        return called.map(str::to_owned);
    };
    let name = r.text(m, "$")?;
    if let Some(called) = called.filter(|called| *called != name) {
        let remedy = "A source keeps its name, which its tools carry: leave it out here, or remove the source and add it under another.";
        r.wrong(m, "$", &format!("\"{called}\""), remedy);
        return None;
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !(1..=64).contains(&name.len()) || !name.chars().all(fits) {
        r.wrong(m, "$", NAME, "Write a name such as \"shop\".");
        return None;
    }
    Some(name.to_owned())
}

fn kind(r: &mut Reader<'_>, at: usize, members: &[Member]) -> Option<SourceKind> {
    let Some(m) = present(members, "kind") else {
        let remedy = "Add \"kind\": \"sqlite\" with \"path\", or \"postgres\" with \"url\".";
        r.report(at, "$.kind", "\"kind\"", "nothing", remedy);
        return None;
    };
    match r.one_of(m, "$", &SourceKind::NAMES)? {
        "sqlite" => Some(SourceKind::Sqlite),
        _ => Some(SourceKind::Postgres),
    }
}

fn needed(r: &mut Reader<'_>, at: usize, kind: Option<SourceKind>, members: &[Member]) {
    let (key, remedy) = match kind {
        Some(SourceKind::Sqlite) => ("path", "Add \"path\": the file, such as \"shop.db\"."),
        Some(SourceKind::Postgres) => (
            "url",
            "Add \"url\": \"postgres://user:password@host:5432/database\".",
        ),
        None => return,
    };
    if present(members, key).is_none() {
        let expected = format!("\"{key}\"");
        r.report(at, path_of_key("$", key), expected, "nothing", remedy);
    }
}

/// The address without its password, and the password. What was written is never repeated.
fn url(r: &mut Reader<'_>, m: &Member) -> (Option<String>, Option<Password>) {
    let Some(text) = long(r, m, TEXT_BYTES_MAX) else {
        return (None, None);
    };
    let wrong = |r: &mut Reader<'_>, found: &str, remedy: &str| {
        let expected = "a PostgreSQL address: postgres://user@host:port/database";
        r.report(m.value.span.start, "$.url", expected, found, remedy);
        (None, None)
    };
    if text.starts_with("${") {
        return (Some(text), None);
    }
    let Some(mut parts) = UrlParts::of(&text) else {
        let remedy = "Begin it with postgres:// or postgresql://, or name a variable that holds it: \"${DATABASE}\".";
        return wrong(r, "a text that is none", remedy);
    };
    if parts.is_ambiguous() {
        let remedy = "Encode each / ? # and @ of the password as %2F %3F %23 and %40, or write it as \"password\".";
        return wrong(r, "an @ behind the host", remedy);
    }
    if parts
        .options()
        .any(|name| name.eq_ignore_ascii_case("password"))
    {
        let remedy = "Write it before the @ or as \"password\", where it is sealed.";
        return wrong(r, "a password among its options", remedy);
    }
    let Some(encoded) = parts.password.take() else {
        return (Some(text), None);
    };
    let Some(plain) = decoded(&encoded) else {
        let remedy = "Write the password as \"password\", or encode each % in it as %25.";
        return wrong(r, "a password with a % that encodes nothing", remedy);
    };
    (Some(parts.text()), Some(of_text(plain)))
}

fn password(r: &mut Reader<'_>, m: &Member, is_in_url: bool) -> Option<Password> {
    let value = m.value.to_value();
    let expected = "a password as text, \"${NAME}\" for a variable, or the mask that was shown";
    let (found, remedy) = match value.as_str() {
        Some(_) if is_in_url => (
            "a second one beside that of \"url\"",
            "Leave one of the two out.",
        ),
        Some(text) if text.len() <= TEXT_BYTES_MAX && !text.contains('\0') => {
            return Some(of_text(text.to_owned()));
        }
        Some(_) => ("a text that is too long, or holds U+0000", "Shorten it."),
        None if is_mask(&value) => return Some(Password::Kept),
        None => match Reference::of(&value) {
            Some(Reference::Sealed(id)) => return Some(Password::Sealed(id)),
            _ => ("something else", "Put it in double quotes."),
        },
    };
    r.report(m.value.span.start, "$.password", expected, found, remedy);
    None
}

/// What is exactly `${NAME}` names a variable; anything else is the password itself.
fn of_text(text: String) -> Password {
    let inside = text.strip_prefix("${").and_then(|it| it.strip_suffix('}'));
    match inside.filter(|name| is_variable_name(name)) {
        Some(name) => Password::Variable(name.to_owned()),
        None => Password::Given(Secret::new(text)),
    }
}

fn authors(r: &mut Reader<'_>, m: &Member) -> Authors {
    match r.one_of(m, "$", &Authors::NAMES) {
        Some("everyone") => Authors::Everyone,
        _ => Authors::Admins,
    }
}

fn long(r: &mut Reader<'_>, m: &Member, bytes_max: usize) -> Option<String> {
    let text = r.text(m, "$")?;
    if text.len() > bytes_max || text.contains('\0') {
        let expected = format!("text of at most {bytes_max} bytes without U+0000");
        r.report(
            m.value.span.start,
            path_of_key("$", &m.key),
            expected,
            "another",
            "Shorten it.",
        );
        return None;
    }
    Some(text.to_owned())
}

fn names(r: &mut Reader<'_>, m: &Member, of: &str) -> Vec<String> {
    let items = r.array(m, "$", of).unwrap_or_default();
    if items.len() > NAMES_MAX {
        let expected = format!("at most {NAMES_MAX} {of}");
        r.wrong(m, "$", &expected, "Name fewer.");
        return Vec::new();
    }
    let mut names = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        let name = item.as_str().filter(|it| !it.trim().is_empty());
        match name.filter(|it| it.len() <= TEXT_BYTES_MAX && !it.contains('\0')) {
            Some(name) => names.push(name.to_owned()),
            None => r.report(
                item.span.start,
                format!("$.{}[{i}]", m.key),
                "a name",
                item.describe(),
                "Write the name as the database has it, in double quotes.",
            ),
        }
    }
    names
}

fn count(r: &mut Reader<'_>, m: &Member, least: u32) -> Option<u32> {
    let number = m.value.to_value().as_u64();
    let number = number.and_then(|n| u32::try_from(n).ok());
    let fits = number.filter(|n| (least..=CONNECTIONS_MAX).contains(n));
    if fits.is_none() {
        let expected = format!("a whole number from {least} to {CONNECTIONS_MAX}");
        r.wrong(m, "$", &expected, "Leave it out for 5 to 20 connections.");
    }
    fits
}
