//! SQL tools through the whole server: the demo of the starter workspace, rights, and tools of another builder's database.

use crate::crib::{Crib, sandbox};
use serde_json::{Value, json};
use std::path::Path;
use store::custom_tools::{CustomParameter, CustomTool};

/// With a second source that takes writes and tools of everybody.
pub(crate) fn crib() -> Crib {
    let sandbox = sandbox();
    let file = sandbox.workspace().join("toolcrib.toml");
    let mut text = std::fs::read_to_string(&file).unwrap();
    text.push_str("\n[sources.open]\nkind = \"sqlite\"\npath = \"demo.db\"\nallow_write = true\nauthors = \"everyone\"\n");
    std::fs::write(&file, text).unwrap();
    Crib::of(sandbox)
}

/// Makes a user of this role and gives a key of theirs with all that the role may.
pub(crate) fn key_of(crib: &Crib, name: &str, role: &str) -> String {
    let user = json!({"name": name, "password": "a password for tests 1", "role": role});
    let (status, answer) = crib.server.request("POST", "/api/v1/users", Some(&user));
    assert_eq!(status, 201, "{answer}");
    let key =
        json!({"name": format!("{name}-key"), "user": name, "scopes": ["read", "call", "author"]});
    let (status, answer) = crib.server.request("POST", "/api/v1/keys", Some(&key));
    assert_eq!(status, 201, "{answer}");
    answer["key"].as_str().unwrap().to_owned()
}

fn read(source: &str) -> Value {
    json!({"source": source, "query": "SELECT count(*) FROM h_user", "result": "scalar"})
}

pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Runtime::new().unwrap().block_on(work)
}

#[test]
fn the_demo_answers_as_documented() {
    let crib = Crib::new();
    let limit = json!({"user_nm": "hong", "max_count": 50});
    let hong = json!({"user_name": "hong"});
    assert_eq!(
        crib.call("get_user_daily_limit", &hong).body["data"].to_string(),
        limit.to_string()
    );
    let numbers = json!({"num1": 5, "num2": 3});
    assert_eq!(crib.call("multiply_numbers", &numbers).data(), 15);
    let said = crib
        .sandbox
        .ok(&["call", "get_user_daily_limit", r#"{"user_name":"hong"}"#]);
    assert_eq!(said, "{\"user_nm\":\"hong\",\"max_count\":50}\n");
    let said = crib
        .sandbox
        .ok(&["call", "multiply_numbers", r#"{"num1":5,"num2":3}"#]);
    assert_eq!(said, "15\n");
    let (_, tool) = crib
        .server
        .request("GET", "/api/v1/tools/get_user_daily_limit", None);
    assert_eq!(
        tool["annotations"],
        json!({"read_only": true, "destructive": false})
    );
    let (status, plan) = crib.server.request(
        "POST",
        "/api/v1/tools/get_user_daily_limit/explain",
        Some(&json!({"arguments": hong})),
    );
    assert_eq!(status, 200, "{plan}");
    assert!(plan["plan"].to_string().contains("SCAN"), "{plan}");
    assert_eq!(plan.get("note"), None, "{plan}");
    let explain = |arguments: &[&str]| {
        let all = [&["tools", "explain", "get_user_daily_limit"], arguments].concat();
        crib.sandbox.run(&all)
    };
    let bare = explain(&[]);
    assert!(
        bare.code == 0 && bare.stderr.contains("planned without arguments"),
        "{bare:?}"
    );
    for wrong in ["{}", r#"{"user_name": 5}"#] {
        let refused = explain(&[wrong]);
        assert!(
            refused.code != 0 && refused.stderr.contains("Input validation failed"),
            "{wrong}: {refused:?}"
        );
    }
    let (status, refused) = crib.server.request(
        "POST",
        "/api/v1/tools/multiply_numbers/explain",
        Some(&json!({})),
    );
    assert_eq!(status, 422, "{refused}");
    let listed = crib
        .sandbox
        .ok(&["tools", "list", "--source", "demo", "--risk", "read_only"]);
    assert!(listed.contains("get_user_daily_limit"), "{listed}");
    assert!(!listed.contains("multiply_numbers"), "{listed}");
}

/// What is being written is planned, not what is saved, and nothing is kept of it.
#[test]
fn a_query_that_is_not_saved_is_planned() {
    let crib = Crib::new();
    let asked = |name: &str, query: &str| {
        let tool = json!({"name": "get_user_daily_limit", "description": "d", "kind": "sql",
            "config": {"source": "demo", "query": query},
            "input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}}});
        let path = format!("/api/v1/tools/{name}/explain");
        crib.server.request(
            "POST",
            &path,
            Some(&json!({"tool": tool, "arguments": {"n": 1}})),
        )
    };
    let name = "get_user_daily_limit";
    let (status, plan) = asked(name, "SELECT * FROM h_user WHERE rowid = :n");
    assert_eq!(status, 200, "{plan}");
    assert!(plan["plan"].to_string().contains("h_user"), "{plan}");
    let (status, refused) = asked("another", "SELECT 1");
    assert_eq!(status, 422, "{refused}");
    assert!(refused.to_string().contains("tool.name"), "{refused}");
    let (status, refused) = asked(name, "SELEC 1");
    assert_eq!(status, 422, "{refused}");
    let (_, saved) = crib
        .server
        .request("GET", "/api/v1/tools/get_user_daily_limit", None);
    assert_eq!(saved["version"], 1, "{saved}");
}

#[test]
fn writing_and_closed_sources_are_for_admins() {
    let mut crib = crib();
    let write = json!({"source": "open", "query": "UPDATE h_mcp_tool_limit SET max_count = :n WHERE target_id = 2", "write": true});
    let takes =
        json!({"input_schema": {"type": "object", "properties": {"n": {"type": "integer"}}}});
    crib.add("set_limit", "sql", &write, &takes);
    assert_eq!(
        crib.call("set_limit", &json!({"n": 7})).data(),
        &json!({"affected_rows": 1})
    );
    let (_, tool) = crib.server.request("GET", "/api/v1/tools/set_limit", None);
    assert_eq!(
        tool["annotations"],
        json!({"read_only": false, "destructive": true})
    );
    let limit = crib.call("get_user_daily_limit", &json!({"user_name": "kim"}));
    assert_eq!(limit.data()["max_count"], 7);
    let closed = json!({"source": "demo", "query": "DELETE FROM h_user", "write": true});
    let (status, refused) = crib.try_add("wipe", "sql", &closed, &json!({}));
    assert_eq!(status, 422, "{refused}");
    let key = key_of(&crib, "ada", "author");
    crib.server.key = key;
    let (status, refused) = crib.try_add("own", "sql", &write, &takes);
    assert_eq!(status, 403, "{refused}");
    let (status, refused) = crib.try_add("own", "sql", &read("demo"), &json!({}));
    assert_eq!(status, 403, "{refused}");
    crib.add("own", "sql", &read("open"), &json!({}));
    assert_eq!(crib.call("own", &json!({})).data(), 3);
    // A source that comes later is not theirs because they were first.
    crib.add("early", "sql", &read("later"), &json!({}));
    crib.call("early", &json!({})).failed("not_configured");
    let body = json!({"name": "others", "description": "d", "kind": "expression", "config": {"expression": "1"}});
    let (status, refused) = crib
        .server
        .request("POST", "/api/v1/tools?owner=admin", Some(&body));
    assert_eq!(status, 403, "{refused}");
}

#[test]
fn a_wrong_definition_is_told_at_its_place() {
    let crib = Crib::new();
    let config = json!({"source": "demo", "query": "SELECT 1\nWHERE :who = :what", "caller": {"who": "name"}});
    let (status, answer) = crib.try_add("t", "sql", &config, &json!({}));
    assert_eq!(status, 422);
    let problems = answer["error"]["details"]["problems"].to_string();
    assert!(problems.contains("$.config.caller.who"), "{problems}");
    let config = json!({"source": "demo", "query": "SELECT 1\nWHERE :who = :what", "caller": {"who": "user"}});
    let (status, answer) = crib.try_add("t", "sql", &config, &json!({}));
    assert_eq!(status, 422);
    let problems = answer["error"]["details"]["problems"].to_string();
    assert!(
        problems.contains("`:what` at line 2, column 14 of the query"),
        "{problems}"
    );
}

pub(crate) fn rows() -> Vec<CustomTool> {
    let parameter = |name: &str, kind: &str| CustomParameter {
        name: name.to_owned(),
        kind: kind.to_owned(),
        is_required: "Y".to_owned(),
        description: None,
    };
    let limit = CustomTool {
        name: "limit_of".to_owned(),
        description_agent: "특정 사용자의 일일 제한량을 조회합니다.".to_owned(),
        tool_type: "SQL".to_owned(),
        definition: "SELECT u.user_nm, l.max_count FROM h_user u JOIN h_mcp_tool_limit l ON u.uid = l.target_id WHERE u.user_nm = {{user_name}} AND l.target_type = 'USER'".to_owned(),
        is_active: "Y".to_owned(),
        reg_dt: Some("2024-05-06 12:00:00".to_owned()),
        created_by: Some("ada".to_owned()),
        parameters: vec![parameter("user_name", "STRING")],
        ..CustomTool::default()
    };
    let product = CustomTool {
        name: "product".to_owned(),
        tool_type: "PYTHON".to_owned(),
        definition: "result = num1 * num2".to_owned(),
        created_by: Some("nobody".to_owned()),
        parameters: vec![parameter("num1", "NUMBER"), parameter("num2", "NUMBER")],
        ..limit.clone()
    };
    let off = CustomTool {
        name: "off".to_owned(),
        is_active: "N".to_owned(),
        ..product.clone()
    };
    vec![limit, product, off]
}

#[test]
fn tools_of_another_builder_are_taken_over_and_handed_on() {
    let crib = crib();
    key_of(&crib, "ada", "author");
    let file = crib.sandbox.folder().join("theirs.db");
    block_on(store::custom_tools::write(&file, &rows())).unwrap();
    let import = |more: &[&str]| {
        let file = file.to_str().unwrap();
        let all = [&["import", "h-custom-tool", file, "--source", "open"], more].concat();
        crib.sandbox.run(&all)
    };
    let dry = import(&["--dry-run"]);
    assert_eq!(dry.code, 0, "{dry:?}");
    assert!(
        dry.stderr
            .contains("would be added: limit_of, product, off")
    );
    let none = import(&["--only", "nosuch"]);
    assert_eq!(none.code, 2, "{none:?}");
    let done = import(&[]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(
        done.stderr.contains("'product' is yours, not nobody's"),
        "{done:?}"
    );
    let limit = crib.call("limit_of", &json!({"user_name": "hong"}));
    assert_eq!(limit.data(), &json!({"user_nm": "hong", "max_count": 50}));
    let product = crib.call("product", &json!({"num1": 5, "num2": 3}));
    assert_eq!(product.data(), 15);
    crib.call("off", &json!({"num1": 5, "num2": 3}))
        .failed("tool_inactive");
    let (_, tool) = crib.server.request("GET", "/api/v1/tools/limit_of", None);
    assert_eq!(
        (&tool["owner"], &tool["created_at"]),
        (&json!("ada"), &json!("2024-05-06T12:00:00.000Z"))
    );
    let again = import(&["--json"]);
    let told: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(told["unchanged"], json!(["limit_of", "product", "off"]));
    let clash = import(&["--result", "records"]);
    assert!(
        clash.code == 1 && clash.stderr.contains("another tool 'limit_of'"),
        "{clash:?}"
    );
    assert_eq!(import(&["--result", "records", "--force"]).code, 0);
    let limit = crib.call("limit_of", &json!({"user_name": "hong"}));
    assert_eq!(limit.data()[0]["max_count"], 50);
    export(&crib, &rows());
}

fn export(crib: &Crib, rows: &[CustomTool]) {
    let file = crib.sandbox.folder().join("ours.db");
    let shown = file.to_str().unwrap();
    let only = "limit_of,product,off";
    crib.sandbox
        .ok(&["export", "h-custom-tool", shown, "--only", only]);
    let mut ours = read_again(&file);
    ours.sort_by_key(|row| rows.iter().position(|it| it.name == row.name));
    for (ours, theirs) in ours.iter().zip(rows) {
        assert_eq!(ours.definition, theirs.definition);
        assert_eq!(ours.parameters, theirs.parameters);
        assert_eq!(ours.tool_type, theirs.tool_type);
        assert_eq!(ours.is_active, theirs.is_active);
    }
    assert_eq!(ours.len(), rows.len());
    let again = crib.sandbox.run(&["export", "h-custom-tool", shown]);
    assert_eq!(again.code, 1, "{again:?}");
}

fn read_again(file: &Path) -> Vec<CustomTool> {
    block_on(store::custom_tools::read(file)).unwrap().tools
}
