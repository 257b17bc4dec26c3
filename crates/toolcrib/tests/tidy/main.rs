//! The house rules as tests: what docs/STYLE.md and docs/ARCHITECTURE.md promise about the sources.
//! Each finding names the file, the line and the remedy. Reads the source tree, runs nothing of it.

mod rules;
mod source;

use std::fmt::Write as _;

use rules::*;
use source::{Source, sources};

#[test]
fn our_tables_are_named_only_by_their_owners() {
    check(
        table_names,
        "move the query into crates/store (or crates/executions for the log) and call it from here",
    );
}

#[test]
fn libraries_stay_in_their_crates() {
    check(
        confined_libraries,
        "go through the crate that owns the library; the list is CONFINED in tidy/rules.rs",
    );
}

#[test]
fn the_environment_is_read_in_one_place() {
    check(
        environment_reads,
        "add a key to the configuration in crates/toolcrib/src/config.rs and hand its value down",
    );
}

#[test]
fn unsafe_stays_in_process() {
    check(
        unsafe_code,
        "use a safe crate, or put the call behind a safe function in crates/process",
    );
}

#[test]
fn each_file_says_what_it_is() {
    check(
        opening_comment,
        "open the file with `//!` and one to three lines that say what it is",
    );
}

#[test]
fn files_are_short() {
    check(long_file, "split the file along a real seam");
}

#[test]
fn nothing_is_left_for_later() {
    check(
        leftovers,
        "finish it now, or open an issue and remove the mark; a test that cannot run is deleted or mended",
    );
}

#[test]
fn crates_depend_downwards() {
    check(
        upward_dependency,
        "turn the dependency round, or move the shared type down; the order is RANKS in tidy/rules.rs",
    );
}

#[test]
fn there_are_no_drawers() {
    check(drawer, "name the file or folder for what it holds");
}

#[test]
fn links_in_documents_resolve() {
    check(
        dead_link,
        "mend or remove the link; it is relative to the document it stands in",
    );
}

#[test]
fn no_path_of_a_developers_machine() {
    check(
        personal_path,
        "write a path relative to the repository, or `~`",
    );
}

// Every rule on a source that breaks it, and on one that only looks as if it did.

const APP_FILE: &str = "crates/app/src/x.rs";

#[test]
fn rules_about_crates_can_fail() {
    breaks(
        table_names,
        APP_FILE,
        "//! x\nconst A: &str = \"SELECT 1 FROM\n  tools t\";",
        &[3],
    );
    breaks(
        table_names,
        APP_FILE,
        "const A: &str = r#\"INSERT INTO \"keys\" VALUES\"#;",
        &[1],
    );
    breaks(
        table_names,
        APP_FILE,
        "// FROM tools\nconst A: &str = \"removed from tools; FROM tools_mirror\";",
        &[],
    );
    breaks(
        table_names,
        "crates/store/src/x.rs",
        "const A: &str = \"SELECT 1 FROM tools\";",
        &[],
    );
    breaks(
        confined_libraries,
        APP_FILE,
        "//! axum\nuse axum::Router;\n#[cfg(test)]\nmod tests { use sqlx::Row; }",
        &[2],
    );
    for free in [
        "crates/server/src/x.rs",
        "crates/app/src/tests.rs",
        "crates/app/tests/x.rs",
    ] {
        breaks(confined_libraries, free, "use axum::Router;", &[]);
    }
    breaks(
        confined_libraries,
        "crates/app/Cargo.toml",
        "[dependencies]\nsqlx.workspace = true\n[dev-dependencies]\naxum = \"1\"",
        &[2],
    );
    breaks(
        upward_dependency,
        "crates/executor/Cargo.toml",
        "[dependencies]\ncatalog.workspace = true\nstore = { path = \"x\" }\n",
        &[3],
    );
    breaks(
        upward_dependency,
        "crates/kinds/Cargo.toml",
        "[dependencies.store]\nworkspace = true\n[dev-dependencies]\napp.workspace = true",
        &[1],
    );
    breaks(
        upward_dependency,
        "crates/newcomer/Cargo.toml",
        "[dependencies]",
        &[1],
    );
}

#[test]
fn rules_about_code_can_fail() {
    breaks(
        environment_reads,
        APP_FILE,
        "fn f() { std::env::var_os(\"A\"); }\n// env::var\nfn g() { env!(\"A\"); }",
        &[1],
    );
    breaks(
        environment_reads,
        ENVIRONMENT_READER,
        "fn f() { std::env::var(\"A\"); }",
        &[],
    );
    breaks(
        unsafe_code,
        APP_FILE,
        "fn f() { unsafe { g() } }\nlet a = \"unsafe\"; let c = '\"'; unsafe_name();",
        &[1],
    );
    breaks(
        leftovers,
        APP_FILE,
        concat!(
            "// TO",
            "DO: x\n#[ig",
            "nore]\nto",
            "do!();\n#[ignore_this]\nlet t = \"to",
            "do!(\";"
        ),
        &[1, 2, 3],
    );
}

#[test]
fn rules_about_files_can_fail() {
    breaks(
        opening_comment,
        APP_FILE,
        "use std::fs;\n//! too late",
        &[1],
    );
    breaks(
        long_file,
        APP_FILE,
        &"\n".repeat(LINES_MAX + 1),
        &[LINES_MAX + 1],
    );
    breaks(drawer, "crates/app/src/utils/x.rs", "", &[1]);
    breaks(drawer, "crates/app/tests/common.rs", "", &[1]);
    breaks(
        dead_link,
        "docs/x.md",
        "[a](nowhere.md#part) [b](../Cargo.toml)\n```\n[c](nowhere.md)\n```\n`[d](no)` [e](https://x.y)",
        &[1],
    );
    breaks(
        personal_path,
        "docs/x.md",
        concat!("a /ro", "ot/x\nb /ho", "me/ann/x\nc /home/ only, /rooted"),
        &[1, 2],
    );
}

/// Asserts that the rule finds something on exactly these lines.
fn breaks(rule: Rule, path: &str, text: &str, lines: &[usize]) {
    let found = rule(&Source::new(path, text));
    let found: Vec<usize> = found.iter().map(|finding| finding.line).collect();
    assert_eq!(found, lines, "{path}: {text:?}");
}

fn check(rule: Rule, remedy: &str) {
    let mut report = String::new();
    for source in sources() {
        for Finding { line, what } in rule(&source) {
            writeln!(report, "{}:{line} {what}", source.path)
                .expect("writing to a String cannot fail");
        }
    }
    assert!(report.is_empty(), "\n{report}remedy: {remedy}\n");
}
