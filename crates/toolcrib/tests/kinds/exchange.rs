//! Tools of another builder's database: what is left out and why, what a dry run finds, and what the format cannot hold.

use crate::crib::Crib;
use crate::harness::Done;
use crate::sql::{block_on, crib, key_of, rows};
use serde_json::{Value, json};
use store::custom_tools::{self, CustomTool};

fn import(crib: &Crib, tools: &[CustomTool], name: &str, more: &[&str]) -> Done {
    let file = crib.sandbox.folder().join(name);
    if !file.exists() {
        block_on(custom_tools::write(&file, tools)).unwrap();
    }
    let file = file.to_str().unwrap();
    crib.sandbox
        .run(&[&["import", "h-custom-tool", file], more].concat())
}

fn document(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap()
}

fn tool(crib: &Crib, name: &str) -> Value {
    let path = format!("/api/v1/tools/{name}");
    let (status, tool) = crib.server.request("GET", &path, None);
    assert_eq!(status, 200, "{tool}");
    tool
}

/// Tools that work, and one for each way in which one is refused.
fn mixed() -> Vec<CustomTool> {
    let (limit, product) = (rows().remove(0), rows().remove(1));
    let named = |tool: &CustomTool, name: &str, definition: &str| CustomTool {
        name: name.to_owned(),
        definition: definition.to_owned(),
        ..tool.clone()
    };
    let mut typed = named(&product, "typed", "num1 + num2");
    typed.parameters[0].kind = "INTEGER".to_owned();
    let kind = CustomTool {
        tool_type: "JAVA".to_owned(),
        ..named(&product, "java", "1")
    };
    vec![
        named(&product, "badpy", "num1 *"),
        named(
            &limit,
            "writes",
            "DELETE FROM h_user WHERE user_nm = {{user_name}}",
        ),
        typed,
        kind,
        named(&product, "two words", "num1"),
        named(
            &limit,
            "quoted",
            "SELECT uid FROM h_user WHERE user_nm = '{{user_name}}'",
        ),
        named(
            &limit,
            "pasted",
            "SELECT uid FROM h_user WHERE user_nm LIKE '%{{user_name}}%'",
        ),
        limit,
        product,
    ]
}

#[test]
fn a_dry_run_finds_what_the_import_finds() {
    let crib = crib();
    key_of(&crib, "ada", "author");
    let (_, before) = crib.server.request("GET", "/api/v1/tools?limit=500", None);
    let run = |more: &[&str]| import(&crib, &mixed(), "mixed.db", &[&["--json"], more].concat());
    let unknown = run(&["--source", "nosuch", "--dry-run", "--only", "limit_of"]);
    assert_eq!(unknown.code, 0, "{unknown:?}");
    let warnings = document(&unknown)["warnings"].to_string();
    assert!(warnings.contains("nosuch"), "{warnings}");
    let dry = run(&["--source", "open", "--dry-run"]);
    let (_, after) = crib.server.request("GET", "/api/v1/tools?limit=500", None);
    assert_eq!(before, after);
    let real = run(&["--source", "open"]);
    assert_eq!((dry.code, real.code), (1, 1), "{dry:?} {real:?}");
    let (dry, real) = (document(&dry), document(&real));
    for list in ["added", "replaced", "unchanged", "failed", "warnings"] {
        assert_eq!(dry[list], real[list], "{list}");
    }
    let added = json!(["quoted", "pasted", "limit_of", "product"]);
    assert_eq!(real["added"], added, "{real}");
    let failed = real["failed"].as_array().unwrap();
    let mut failed: Vec<&str> = failed.iter().map(first).collect();
    failed.sort_unstable();
    let expected = ["badpy", "java", "two words", "typed", "writes"];
    assert_eq!(failed, expected, "{real}");
    let warned = real["warnings"].to_string();
    for part in [
        "'product' is yours, not nobody's",
        "'quoted': {{user_name}} stood in quotes",
        "'pasted': {{user_name}} stood in quotes",
    ] {
        assert!(warned.contains(part), "{part}: {warned}");
    }
    let quoted = crib.call("quoted", &json!({"user_name": "kim"}));
    assert_eq!(quoted.data(), &json!({"uid": 2}));
    let pasted = crib.call("pasted", &json!({"user_name": "ki"}));
    assert_eq!(pasted.data(), &json!({"uid": 2}));
}

/// Who is no admin takes tools over as their own, made now.
#[test]
fn authors_take_tools_over_as_their_own() {
    let crib = crib();
    let key = key_of(&crib, "ada", "author");
    let url = crib.server.url();
    let as_ada = ["--source", "open", "--url", &url, "--key", &key, "--json"];
    let done = import(&crib, &rows(), "theirs.db", &as_ada);
    assert_eq!(done.code, 0, "{done:?}");
    let told = document(&done);
    assert_eq!(told["added"], json!(["limit_of", "product", "off"]));
    let warnings = told["warnings"].as_array().unwrap();
    let expected = [
        "new tools count as made now: only an admin may say when a tool was made",
        "'product' is yours, not nobody's: only an admin may say whose a new tool is",
        "'off' is yours, not nobody's: only an admin may say whose a new tool is",
    ];
    assert_eq!(warnings, &expected.map(Value::from));
    let limit = tool(&crib, "limit_of");
    assert_eq!(limit["owner"], "ada");
    assert_ne!(limit["created_at"], "2024-05-06T12:00:00.000Z");
}

/// The name before the reason.
fn first(line: &Value) -> &str {
    line.as_str().unwrap().split(": ").next().unwrap()
}

#[test]
fn who_takes_nothing_over_says_so() {
    let crib = crib();
    for (only, more) in [
        ("badpy", None),
        ("java", None),
        ("typed", Some("--dry-run")),
    ] {
        let base = ["--source", "open", "--only", only];
        let all: Vec<&str> = base.into_iter().chain(more).collect();
        let done = import(&crib, &mixed(), "mixed.db", &all);
        assert_eq!(done.code, 1, "{done:?}");
        assert!(!done.stderr.contains("the others"), "{done:?}");
        assert!(done.stderr.contains("nothing w"), "{done:?}");
    }
    let both = ["--source", "open", "--only", "java,product"];
    let done = import(&crib, &mixed(), "mixed.db", &both);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(
        done.stderr.contains("the others were taken over"),
        "{done:?}"
    );
    // One that is there and says something else is left out like any other.
    let more = [
        CustomTool {
            definition: "num1".to_owned(),
            ..rows().remove(1)
        },
        CustomTool {
            name: "fresh".to_owned(),
            ..rows().remove(1)
        },
    ];
    let done = import(&crib, &more, "more.db", &["--source", "open"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(
        done.stderr.contains("another tool 'product' already"),
        "{done:?}"
    );
    assert_eq!(
        tool(&crib, "fresh")["config"]["expression"],
        "result = num1 * num2"
    );
    assert_eq!(
        tool(&crib, "product")["config"]["expression"],
        "result = num1 * num2"
    );
}

/// What the format has no place for.
fn rich(crib: &Crib) {
    let config = json!({"source": "open", "query": "SELECT user_nm FROM h_user WHERE uid >= :n", "max_rows": 2});
    let more = json!({
        "description": "Lists users.",
        "input_schema": {"type": "object", "additionalProperties": false,
            "properties": {"n": {"type": "integer", "default": 2, "description": "from which on"}}},
        "annotations": {"idempotent": true},
        "examples": ["who is there"],
        "tests": [{"arguments": {"n": 3}, "expect": [{"user_nm": "lee"}]}],
        "rate_limit": {"requests_per_minute": 50},
    });
    crib.add("rich", "sql", &config, &more);
}

#[test]
fn what_the_format_cannot_hold_is_told_and_kept() {
    let crib = crib();
    rich(&crib);
    let file = crib.sandbox.folder().join("ours.db");
    let shown = file.to_str().unwrap();
    let done = crib
        .sandbox
        .run(&["export", "h-custom-tool", shown, "--only", "rich", "--json"]);
    assert_eq!(done.code, 0, "{done:?}");
    let missing = document(&done)["not_in_file"]["rich"].clone();
    for part in [
        "config.max_rows",
        "config.result (\"records\")",
        "input_schema.additionalProperties",
        "input_schema.properties.n.default",
        "input_schema.properties.n.type (\"integer\")",
        "annotations",
        "examples",
        "tests",
        "rate_limit",
    ] {
        let is_listed = missing.as_array().unwrap().contains(&json!(part));
        assert!(is_listed && done.stderr.contains(part), "{part}: {done:?}");
    }
    let before = tool(&crib, "rich");
    let same = import(&crib, &[], "ours.db", &["--source", "open", "--json"]);
    assert_eq!(document(&same)["unchanged"], json!(["rich"]), "{same:?}");
    let mut row = block_on(custom_tools::read(&file)).unwrap().tools.remove(0);
    row.definition = "SELECT user_nm FROM h_user WHERE uid <= {{n}}".to_owned();
    row.description_agent = "Lists other users.".to_owned();
    let force = ["--source", "open", "--force"];
    let dry = [&force[..], &["--dry-run"]].concat();
    let done = import(&crib, std::slice::from_ref(&row), "edited.db", &dry);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(tool(&crib, "rich"), before);
    let done = import(&crib, &[], "edited.db", &force);
    assert!(done.stderr.contains("replaced: rich"), "{done:?}");
    assert!(done.stderr.contains("'rich' keeps its tests"), "{done:?}");
    let after = tool(&crib, "rich");
    for member in [
        "input_schema",
        "annotations",
        "examples",
        "tests",
        "rate_limit",
    ] {
        assert_eq!(after[member], before[member], "{member}");
    }
    assert_eq!(after["description"], "Lists other users.");
    let config = json!({"source": "open", "query": row.definition, "max_rows": 2});
    assert_eq!(after["config"], config);
    let found = crib.call("rich", &json!({}));
    assert_eq!(
        found.data(),
        &json!([{"user_nm": "hong"}, {"user_nm": "kim"}])
    );
    // What cannot fit any more goes, and that is told.
    row.parameters[0].kind = "STRING".to_owned();
    let done = import(&crib, &[row], "again.db", &force);
    assert!(
        done.stderr
            .contains("loses input_schema.properties.n.default"),
        "{done:?}"
    );
    let text = json!({"type": "string", "description": "from which on"});
    assert_eq!(tool(&crib, "rich")["input_schema"]["properties"]["n"], text);
}

/// Nothing stays that would refuse every call or every answer of what the file says.
#[test]
fn a_tool_that_is_replaced_can_be_called() {
    let crib = crib();
    let config = json!({"source": "open", "query": "SELECT uid FROM h_user WHERE user_nm = :nm OR uid = :id", "result": "row"});
    let more = json!({
        "input_schema": {"type": "object", "additionalProperties": false,
            "properties": {"nm": {"type": "string"}, "id": {"type": "integer"}},
            "anyOf": [{"required": ["nm"]}, {"required": ["id"]}]},
        "output_schema": {"type": "object", "required": ["uid"]},
        "tests": [{"arguments": {"nm": "kim"}, "expect": {"uid": 2}}],
    });
    crib.add("limit_of", "sql", &config, &more);
    let force = ["--source", "open", "--force", "--json"];
    let dry = [&force[..], &["--dry-run"]].concat();
    let dry = import(&crib, &rows()[..1], "theirs.db", &dry);
    let real = import(&crib, &[], "theirs.db", &force);
    assert_eq!((dry.code, real.code), (0, 0), "{dry:?} {real:?}");
    let warnings = document(&real)["warnings"].clone();
    assert_eq!(document(&dry)["warnings"], warnings);
    let told = "'limit_of' loses input_schema.anyOf, output_schema, tests: ";
    assert!(warnings.to_string().contains(told), "{warnings}");
    let limit = crib.call("limit_of", &json!({"user_name": "hong"}));
    assert_eq!(limit.data(), &json!({"user_nm": "hong", "max_count": 50}));
}

#[test]
fn a_tool_of_another_kind_loses_what_is_told() {
    let crib = crib();
    let auth = json!({"auth_config": {"type": "bearer", "token": "for tests only"}});
    crib.add("product", "builtin", &json!({"name": "calculator"}), &auth);
    assert!(tool(&crib, "product")["auth_config"].is_object());
    let force = ["--source", "open", "--force", "--only", "product"];
    let done = import(&crib, &rows(), "theirs.db", &force);
    assert!(
        done.stderr.contains("'product' loses auth_config"),
        "{done:?}"
    );
    assert_eq!(tool(&crib, "product")["auth_config"], Value::Null);
}

/// What we wrote ourselves is no other tool when it is read.
#[test]
fn an_export_that_comes_back_is_the_same() {
    let crib = crib();
    let config = |query: &str| json!({"source": "open", "query": query});
    let spaced = json!({"description": " Counts. ", "description_user": "", "input_schema": {"type": "object",
        "properties": {"n": {"type": "integer", "description": " from which on "}}}});
    let query = "  SELECT count(*) FROM h_user WHERE uid >= :n\n";
    crib.add("spaced", "sql", &config(query), &spaced);
    let beside =
        json!({"input_schema": {"type": "object", "required": ["ghost"], "properties": {}}});
    crib.add("beside", "sql", &config("SELECT 1"), &beside);
    let quoted =
        json!({"input_schema": {"type": "object", "properties": {"a": {"type": "string"}}}});
    let query = "SELECT uid FROM h_user WHERE user_nm = '{{a}}' OR user_nm = :a";
    crib.add("quoted", "sql", &config(query), &quoted);
    let file = crib.sandbox.folder().join("ours.db");
    let shown = file.to_str().unwrap();
    let only = "spaced,beside,quoted";
    let done = crib
        .sandbox
        .run(&["export", "h-custom-tool", shown, "--only", only, "--json"]);
    let missing = document(&done)["not_in_file"].clone();
    let missing = [&missing["beside"], &missing["quoted"]].map(Value::to_string);
    assert!(missing[0].contains("ghost"), "{missing:?}");
    assert!(missing[1].contains("'{{a}}' as text"), "{missing:?}");
    let same = ["--source", "open", "--json", "--only", "spaced,beside"];
    let done = import(&crib, &[], "ours.db", &same);
    let unchanged = document(&done)["unchanged"].clone();
    let unchanged: Vec<&str> = unchanged
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(
        unchanged.contains(&"spaced") && unchanged.contains(&"beside"),
        "{done:?}"
    );
}

#[test]
fn an_export_without_a_tool_writes_no_file() {
    let crib = crib();
    let write = json!({"source": "open", "query": "DELETE FROM h_user", "write": true});
    crib.add("wipe", "sql", &write, &json!({}));
    let file = crib.sandbox.folder().join("none.db");
    let shown = file.to_str().unwrap();
    let done = crib
        .sandbox
        .run(&["export", "h-custom-tool", shown, "--only", "wipe"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.stderr.contains("wipe: it writes"), "{done:?}");
    assert!(!file.exists());
}

#[test]
fn what_is_off_is_looked_at_and_parameters_of_no_tool_are_told() {
    let crib = crib();
    let broken = CustomTool {
        name: "sleeping".to_owned(),
        definition: "SELECT nosuch FROM h_user WHERE user_nm = {{user_name}}".to_owned(),
        is_active: "N".to_owned(),
        ..rows().remove(0)
    };
    let source = ["--source", "demo"];
    let file = crib.sandbox.folder().join("off.db");
    block_on(custom_tools::write(&file, &[broken])).unwrap();
    let script = "import sqlite3; it = sqlite3.connect('off.db'); it.execute(\"INSERT INTO h_custom_tool_param (tool_id, param_name, param_type) VALUES (77, 'lost', 'STRING')\"); it.commit()";
    let made = std::process::Command::new("python3")
        .args(["-c", script])
        .current_dir(crib.sandbox.folder())
        .status();
    assert!(made.unwrap().success());
    for more in [&["--dry-run"][..], &[]] {
        let done = import(&crib, &[], "off.db", &[&source, more].concat());
        assert_eq!(done.code, 0, "{done:?}");
        for part in [
            "'sleeping' is off, and could not be switched on as it is",
            "no such column: nosuch",
            "the parameter 'lost' is left out: its tool_id is 77",
        ] {
            assert!(done.stderr.contains(part), "{part}: {done:?}");
        }
    }
    std::fs::write(crib.sandbox.folder().join("empty.db"), "").unwrap();
    let done = import(&crib, &[], "empty.db", &source);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(
        done.stderr
            .contains("empty.db has no table h_custom_tool\n")
            && !done.stderr.contains("cannot be opened"),
        "{done:?}"
    );
}
