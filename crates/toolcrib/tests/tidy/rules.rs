//! The rules, each a function from one file to what breaks the rule in it; the lists they consult come first.

use std::path::Path;

use crate::source::{Source, dependencies, lines_with, root, words};

/// Our crates from the bottom up: a crate may depend only on crates of a lower rank.
const RANKS: &[(&str, u8)] = &[
    ("catalog", 0),
    ("documents", 0),
    ("encoder", 0),
    ("expression", 0),
    ("fetch", 0),
    ("page", 0),
    ("process", 0),
    ("sources", 0),
    ("executions", 1),
    ("executor", 2),
    ("agent", 3),
    ("kinds", 3),
    ("mcp", 2),
    ("oauth", 1),
    ("openapi", 1),
    ("providers", 1),
    ("selection", 1),
    ("store", 3),
    ("telemetry", 1),
    ("vectors", 1),
    ("app", 4),
    ("face", 5),
    ("server", 6),
    ("toolcrib", 7),
];

/// Libraries that only some crates may use in their own code (tests are free).
const CONFINED: &[(&str, &[&str])] = &[
    ("axum", &["server", "bench"]),
    ("sqlx", &["store", "executions"]),
    ("rusqlite", &["store", "executions", "sources", "bench"]),
    ("tokio_postgres", &["sources", "bench"]),
];

const TABLES: &[&str] = &[
    "agents",
    "audit",
    "confirmed_requests",
    "executions",
    "idempotency",
    "keys",
    "lease_blocks",
    "lease_days",
    "lease_places",
    "lease_servers",
    "lease_times",
    "limits",
    "login_links",
    "policies",
    "run_entries",
    "runs",
    "secrets",
    "server_clients",
    "server_lists",
    "server_pins",
    "server_tokens",
    "servers",
    "sessions",
    "sources",
    "tool_versions",
    "tools",
    "toolsets",
    "users",
];
const TABLE_OWNERS: &[&str] = &["store", "executions"];
const UNSAFE_OWNERS: &[&str] = &["process"];
pub(crate) const ENVIRONMENT_READER: &str = "crates/toolcrib/src/config.rs";
pub(crate) const LINES_MAX: usize = 500;
const DRAWERS: &[&str] = &["util", "utils", "helper", "helpers", "common", "misc"];
pub(crate) type Rule = fn(&Source) -> Vec<Finding>;

pub(crate) struct Finding {
    pub(crate) line: usize,
    pub(crate) what: String,
}

pub(crate) fn table_names(source: &Source) -> Vec<Finding> {
    if !source.is_product_code() || TABLE_OWNERS.contains(&source.krate()) {
        return Vec::new();
    }
    let words: Vec<(usize, &str)> = words(&source.strings).collect();
    let named = words.windows(2).filter(|pair| {
        ["FROM", "INTO", "UPDATE", "JOIN"].contains(&pair[0].1)
            && TABLES.contains(&pair[1].1.to_lowercase().as_str())
    });
    named
        .map(|pair| finding(pair[1].0, format!("names our table `{}`", pair[1].1)))
        .collect()
}

pub(crate) fn confined_libraries(source: &Source) -> Vec<Finding> {
    let allowed = |library: &str| {
        CONFINED
            .iter()
            .all(|(name, owners)| *name != library || owners.contains(&source.krate()))
    };
    let used: Vec<(usize, &str)> = if source.is_crate_manifest() {
        dependencies(&source.text)
    } else if source.is_product_code() {
        words(source.code_without_tests()).collect()
    } else {
        Vec::new()
    };
    let strangers = used.into_iter().filter(|(_, library)| !allowed(library));
    strangers
        .map(|(line, library)| finding(line, format!("uses `{library}`")))
        .collect()
}

pub(crate) fn environment_reads(source: &Source) -> Vec<Finding> {
    if !source.is_product_code() || source.krate() == "bench" || source.path == ENVIRONMENT_READER {
        return Vec::new();
    }
    lines_with(source.code_without_tests(), |line| {
        line.contains("env::var")
    })
    .map(|line| finding(line, "reads the environment"))
    .collect()
}

pub(crate) fn unsafe_code(source: &Source) -> Vec<Finding> {
    if !source.is_rust() || UNSAFE_OWNERS.contains(&source.krate()) {
        return Vec::new();
    }
    words(&source.code)
        .filter(|(_, word)| *word == "unsafe")
        .map(|(line, _)| finding(line, "uses `unsafe`"))
        .collect()
}

pub(crate) fn opening_comment(source: &Source) -> Vec<Finding> {
    let silent = source.is_rust() && !source.text.starts_with("//! ");
    silent
        .then(|| finding(1, "does not say what it is"))
        .into_iter()
        .collect()
}

pub(crate) fn long_file(source: &Source) -> Vec<Finding> {
    let lines = source.text.lines().count();
    let long = source.is_rust() && lines > LINES_MAX;
    long.then(|| finding(lines, format!("has {lines} lines, the most is {LINES_MAX}")))
        .into_iter()
        .collect()
}

pub(crate) fn leftovers(source: &Source) -> Vec<Finding> {
    // Taken apart so that this file does not find itself.
    let marks = [concat!("TO", "DO"), concat!("FIX", "ME")];
    let comments = if source.is_rust() {
        &source.comments
    } else {
        &source.text
    };
    if !(source.is_rust() || source.has_ending(&["py", "sql", "toml"])) {
        return Vec::new();
    }
    let mut found: Vec<Finding> = words(comments)
        .filter(|(_, word)| marks.contains(word))
        .map(|(line, word)| finding(line, format!("holds a {word}")))
        .collect();
    let stop = |line: &str| {
        ["#[ignore]", "#[ignore ", "#[ignore=", "todo!("]
            .iter()
            .any(|mark| line.contains(mark))
    };
    found.extend(lines_with(&source.code, stop).map(|line| finding(line, "is not finished")));
    found
}

pub(crate) fn upward_dependency(source: &Source) -> Vec<Finding> {
    if !source.is_crate_manifest() || source.krate() == "bench" {
        return Vec::new();
    }
    let rank = |name: &str| {
        RANKS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, rank)| *rank)
    };
    let Some(own) = rank(source.krate()) else {
        return vec![finding(1, "is a crate without a rank")];
    };
    let upward = dependencies(&source.text)
        .into_iter()
        .filter(|(_, name)| rank(name).is_some_and(|other| other >= own));
    upward
        .map(|(line, name)| finding(line, format!("points up or sideways to `{name}`")))
        .collect()
}

pub(crate) fn drawer(source: &Source) -> Vec<Finding> {
    let path = Path::new(&source.path).with_extension("");
    let found = path
        .iter()
        .find(|part| DRAWERS.iter().any(|drawer| *part == *drawer));
    found
        .map(|part| finding(1, format!("is or lies in a drawer, `{}`", part.display())))
        .into_iter()
        .collect()
}

pub(crate) fn dead_link(source: &Source) -> Vec<Finding> {
    if !source.has_ending(&["md"]) {
        return Vec::new();
    }
    let file = root().join(&source.path);
    let folder = file.parent().expect("a file is in a folder");
    let mut found = Vec::new();
    let mut fenced = false;
    for (index, line) in source.text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        // Every second piece between backticks is code.
        let prose = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for link in prose.split("](").skip(1).filter(|_| !fenced) {
            let target = link.split([')', ' ', '#']).next().unwrap_or_default();
            let elsewhere =
                target.is_empty() || target.contains("://") || target.starts_with("mailto:");
            if !elsewhere && !folder.join(target).exists() {
                found.push(finding(
                    index + 1,
                    format!("links to `{target}`, which is not there"),
                ));
            }
        }
    }
    found
}

pub(crate) fn personal_path(source: &Source) -> Vec<Finding> {
    let root_home = concat!("/ro", "ot/");
    let user_home = concat!("/ho", "me/");
    let personal = |line: &str| {
        let named = |rest: &str| rest.starts_with(|first: char| first.is_ascii_alphanumeric());
        line.contains(root_home) || line.split(user_home).skip(1).any(named)
    };
    lines_with(&source.text, personal)
        .map(|line| finding(line, "names a folder of one machine"))
        .collect()
}

fn finding(line: usize, what: impl Into<String>) -> Finding {
    Finding {
        line,
        what: what.into(),
    }
}
