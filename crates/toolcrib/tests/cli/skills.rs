//! `toolcrib skills`: what is in the folder, and what is wrong there.

use crate::harness::Sandbox;

#[test]
fn skills_are_listed_and_shown() {
    let sandbox = Sandbox::new();
    let listed = sandbox.run(&["skills", "list"]);
    assert!(listed.stdout.contains("weekly-limit"), "{listed:?}");
    assert_eq!((listed.code, listed.stderr.as_str()), (0, ""));
    let shown = sandbox.ok(&["skills", "show", "weekly-limit"]);
    assert!(shown.starts_with("1. Look up"), "{shown}");
    let whole = sandbox.json(&["skills", "show", "weekly-limit"]);
    assert_eq!(whole["tools"][1], "multiply_numbers");
    assert_eq!(whole.get("tools_missing"), None);
    let none = sandbox.run(&["skills", "show", "none"]);
    assert_eq!(none.code, 1, "{none:?}");
}

#[test]
fn a_broken_skill_is_told_with_its_place() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "skills/weekly-limit/SKILL.md",
        "---\nname: x\n---\n# Steps\n",
    );
    let listed = sandbox.run(&["skills", "list"]);
    assert_eq!(listed.code, 0, "{listed:?}");
    assert!(
        listed.stderr.contains("weekly-limit/SKILL.md:1"),
        "{listed:?}"
    );
    assert!(listed.stderr.contains("at description"), "{listed:?}");
}
