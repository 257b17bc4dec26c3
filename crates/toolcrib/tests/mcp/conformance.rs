//! The official conformance suite: every scenario that it requires of a server, for both requirement sets, and of a client
//! as our upstream side is one.

use crate::crib::{Crib, sandbox};
use crate::programs::{Ended, root, run_within};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// It starts a program for each scenario of a client.
const SUITE: Duration = Duration::from_secs(600);

fn suite(arguments: &[&str]) -> Ended {
    let mut command = Command::new(root().join("scripts/conformance"));
    command.args(arguments);
    run_within(SUITE, command, "")
}

/// Prints what the suite counted, and fails where a required scenario did.
fn all_required(ended: &Ended, required: &[&str]) {
    let lines = || ended.stdout.lines();
    let is_shown = |line: &&str| {
        let words = ["FAIL ", " unscored ", " auth/"];
        words.iter().any(|word| line.contains(word))
    };
    for line in lines().filter(is_shown) {
        println!("{line}");
    }
    for line in lines().filter(|line| line.starts_with("conformance ")) {
        println!("{line}");
    }
    assert!(ended.is_good, "{ended:?}");
    for counts in required {
        assert!(ended.stdout.contains(counts), "{counts}: {}", ended.stdout);
    }
}

#[test]
fn every_required_scenario_of_a_server() {
    let sandbox = sandbox().with("TOOLCRIB_MCP_CONFORMANCE", "true");
    let server = sandbox.serve(&["--dev"]);
    let crib = Crib { sandbox, server };
    let ended = suite(&[&format!("{}/mcp", crib.server.url())]);
    let required = [
        "conformance server 2025-11-25: 30 of 30 required pass",
        "conformance server 2026-07-28: 37 of 37 required pass",
    ];
    all_required(&ended, &required);
}

/// What the suite looks for is there only for whoever asks for it.
#[test]
fn its_tools_are_off_by_default() {
    let crib = Crib::new();
    let (status, answer) = crib.server.request("GET", "/api/v1/tools?limit=200", None);
    assert_eq!(status, 200, "{answer}");
    let names = answer.to_string();
    assert!(names.contains("\"calculator\""), "{names}");
    assert!(!names.contains("test_simple_text"), "{names}");
}

#[test]
fn every_required_scenario_of_a_client() {
    let tests = std::env::current_exe().unwrap();
    let target = tests.parent().and_then(Path::parent).unwrap();
    // Cargo builds examples before it runs tests, beside them.
    let client = target.join("examples/conformance_client");
    assert!(client.exists(), "{} is not built", client.display());
    let ended = suite(&["--client", client.to_str().unwrap()]);
    let required = [
        "conformance client 2025-11-25: 18 of 18 required pass",
        "conformance client 2026-07-28: 32 of 32 required pass",
    ];
    all_required(&ended, &required);
}
