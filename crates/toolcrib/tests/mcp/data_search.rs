//! The tools that search data, as their specification shows them: every example gives the documented JSON over REST, over
//! MCP in both eras and on the command line, with a real ChromaDB server, with the store of our own, and with a real
//! PostgreSQL.

use crate::bga::Bga;
use crate::chroma::Chroma;
use crate::client::{Client, call};
use crate::crib::{Crib, sandbox};
use crate::harness::Sandbox;
use crate::site::Site;
use serde_json::{Value, json};

/// What a text is about, e-mail or dates, as a model would know it. The first six are documents.
const MEANINGS: [(&str, [f64; 2]); 8] = [
    ("shipments.ship_date DATE 발송 날짜", [0.3, 0.7]),
    ("accounts.user_email VARCHAR(255) 계정 이메일", [0.8, 0.2]),
    ("orders.order_date TIMESTAMP 주문 생성 일시", [0.05, 1.0]),
    ("users.email VARCHAR(255) 사용자 이메일 주소", [1.0, 0.05]),
    ("orders.created_at TIMESTAMP 레코드 생성 시간", [0.2, 0.9]),
    (
        "customers.contact_email VARCHAR(255) 고객 연락처",
        [0.9, 0.1],
    ),
    ("사용자 이메일 칼럼", [1.0, 0.0]),
    ("주문 날짜 필드", [0.0, 1.0]),
];

const TOOLS: [&str; 4] = [
    "get_text_embedding",
    "get_sim_search",
    "query_bga_database",
    "serialize_for_cell",
];

/// An endpoint that speaks OpenAI's wire format, with a model that knows the texts above; the others mean nothing.
fn endpoint() -> Site {
    Site::start(|request| {
        let (_, body) = request.split_once("\r\n\r\n").unwrap();
        let asked: Value = serde_json::from_str(body).unwrap();
        let vector = |text: &Value| {
            let known = MEANINGS.iter().find(|(known, _)| text == known);
            known.map_or([0.5, 0.5], |(_, vector)| *vector)
        };
        let texts = asked["input"].as_array().unwrap().iter().enumerate();
        let data: Vec<Value> = texts
            .map(|(index, text)| json!({"object": "embedding", "index": index, "embedding": vector(text)}))
            .collect();
        let answer = json!({"object": "list", "data": data, "model": asked["model"]});
        (200, "application/json", answer.to_string().into_bytes())
    })
}

/// With the variables of the specification, and its names.
fn configured(endpoint: &Site) -> Sandbox {
    let url = format!("{}/v1/embeddings", endpoint.url);
    sandbox()
        .with("TEXT_EMBEDDING_MODEL_URL", &url)
        .with("TEXT_EMBEDDING_MODEL_NAME", "bge-m3-ko")
}

/// What a tool answers over REST, MCP in both eras, and on the command line, all the same: as REST gives it.
fn everywhere(crib: &Crib, tool: &str, arguments: &Value) -> Value {
    let rest = crib.call(tool, arguments).data().clone();
    let text = arguments.to_string();
    let printed = crib.sandbox.ok(&["call", tool, &text]);
    assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), rest);
    let told = crib.sandbox.json(&["call", tool, &text]);
    assert_eq!(told["data"], rest);
    for era in ["legacy", "modern"] {
        let story = client(crib, era).script(&[call(tool, arguments)]);
        let structured = &story.result(0)["structuredContent"];
        assert_eq!(structured["result"], rest, "{era}: {structured}");
    }
    rest
}

fn client(crib: &Crib, era: &'static str) -> Client {
    let address = format!("{}/mcp/data-search", crib.server.url());
    Client::new("http", &address, era).with_key(&crib.server.key)
}

fn documents() -> String {
    let line = |(text, _): &(&str, [f64; 2])| {
        let id = text.split(' ').next().unwrap();
        json!({"id": id, "document": text}).to_string() + "\n"
    };
    MEANINGS[..6].iter().map(line).collect()
}

#[test]
fn the_set_holds_exactly_the_four_under_its_own_name() {
    let crib = Crib::new();
    let cell = json!({"data": "SELECT\u{a0}user_id,\u{a0}email\u{a0}FROM users"});
    // A client that knows the era beforehand asks nobody for their name.
    for era in ["legacy", "auto"] {
        let steps = [json!({"action": "list"}), call("serialize_for_cell", &cell)];
        let story = client(&crib, era).script(&steps);
        let info = &story.events[0]["serverInfo"];
        assert_eq!(info["name"], "BGA Data Search Tools", "{era}: {info}");
        assert_eq!(story.names(0, "tools"), TOOLS, "{era}");
        assert_eq!(story.text(1), "SELECT user_id, email FROM users");
        let all = Client::new("http", &format!("{}/mcp", crib.server.url()), era);
        let all = all.with_key(&crib.server.key);
        let info = &all.script(&[json!({"action": "list"})]).events[0]["serverInfo"];
        assert_eq!(info["name"], "toolcrib", "{era}: {info}");
    }
    let path = "/api/v1/toolsets/data-search";
    let (status, set) = crib.server.request("GET", path, None);
    assert_eq!((status, &set["tools"]), (200, &json!(TOOLS)), "{set}");
    assert_eq!(
        (&set["missing"], &set["owner"]),
        (&json!([]), &json!("system"))
    );
    let another = json!({"name": "data-search", "tools": ["calculator"]});
    let changes = [
        ("DELETE", path, None),
        ("PUT", path, Some(&another)),
        ("PATCH", path, Some(&another)),
        ("POST", "/api/v1/toolsets", Some(&another)),
    ];
    for (method, path, body) in changes {
        let (status, answer) = crib.server.request(method, path, body);
        assert_eq!(status, 409, "{method}: {answer}");
    }
    let own = json!({"name": "mine", "tools": ["calculator"], "server_name": "My tools"});
    let (status, made) = crib.server.request("POST", "/api/v1/toolsets", Some(&own));
    assert_eq!(
        (status, &made["server_name"]),
        (201, &json!("My tools")),
        "{made}"
    );
}

#[test]
fn what_is_not_configured_says_what_to_set() {
    let crib = Crib::new();
    let cases = [
        (
            "get_text_embedding",
            json!({"text_list": ["x"]}),
            "TEXT_EMBEDDING_MODEL_URL",
        ),
        (
            "get_sim_search",
            json!({"query_list": ["x"]}),
            "TEXT_EMBEDDING_MODEL_NAME",
        ),
        (
            "query_bga_database",
            json!({"generated_sql": "SELECT 1"}),
            "POSTGRESQL_DB_USER",
        ),
    ];
    for (tool, arguments, variable) in cases {
        let answer = crib.call(tool, &arguments);
        let message = answer.failed("not_configured");
        assert!(message.contains(variable), "{tool}: {message}");
    }
    let endpoint = endpoint();
    let crib = Crib::of(configured(&endpoint));
    let missing = crib.call("get_sim_search", &json!({"query_list": ["x"]}));
    let message = missing.failed("not_configured");
    assert!(
        message.contains("no collection 'column_metadata'"),
        "{message}"
    );
}

#[test]
fn the_examples_of_embedding_and_search() {
    let endpoint = endpoint();
    let chroma = Chroma::start();
    let on_chroma = configured(&endpoint)
        .with("CHROMADB_HOST", "127.0.0.1")
        .with("CHROMADB_PORT", &chroma.port)
        .with("CHROMADB_COLLECTION_NAME", "column_metadata");
    for (sandbox, store) in [(on_chroma, "chromadb"), (configured(&endpoint), "embedded")] {
        let crib = Crib::of(sandbox);
        crib.sandbox.write("documents.jsonl", &documents());
        let done = crib.sandbox.json(&["vectors", "import", "documents.jsonl"]);
        let expected = json!({"collection": "column_metadata", "records": 6, "embedded": 6});
        assert_eq!(done, expected, "{store}");

        let asked = json!({"query_list": ["사용자 이메일 칼럼", "주문 날짜 필드"], "n_results": 3});
        let expected = json!([
            [
                "users.email VARCHAR(255) 사용자 이메일 주소",
                "customers.contact_email VARCHAR(255) 고객 연락처",
                "accounts.user_email VARCHAR(255) 계정 이메일"
            ],
            [
                "orders.order_date TIMESTAMP 주문 생성 일시",
                "orders.created_at TIMESTAMP 레코드 생성 시간",
                "shipments.ship_date DATE 발송 날짜"
            ]
        ]);
        assert_eq!(everywhere(&crib, "get_sim_search", &asked), expected);
        let unsaid = json!({"query_list": asked["query_list"]});
        assert_eq!(
            crib.call("get_sim_search", &unsaid).data(),
            &expected,
            "three unless told"
        );
        let one = json!({"query_list": ["주문 날짜 필드"], "n_results": 1});
        assert_eq!(
            crib.call("get_sim_search", &one).data(),
            &json!([[expected[1][0]]])
        );

        let texts = json!({"text_list": ["사용자 이메일 칼럼", "주문 날짜 필드"]});
        let vectors = json!([[1.0, 0.0], [0.0, 1.0]]);
        assert_eq!(everywhere(&crib, "get_text_embedding", &texts), vectors);
        let last = endpoint.requests().pop().unwrap();
        let (head, body) = last.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /v1/embeddings HTTP/1.1"), "{head}");
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!(
            body,
            json!({"input": texts["text_list"], "model": "bge-m3-ko"})
        );
        commands(&crib, store);
    }
}

/// Listing, searching, correcting and removing by commands alone.
fn commands(crib: &Crib, store: &str) {
    let sandbox = &crib.sandbox;
    let listed = sandbox.json(&["vectors", "list"]);
    assert_eq!(
        (&listed["store"], &listed["collection"]),
        (&json!(store), &json!("column_metadata"))
    );
    let collection =
        json!({"name": "column_metadata", "space": "cosine", "dimension": 2, "documents": 6});
    assert_eq!(listed["items"], json!([collection]), "{store}");
    let found = sandbox.json(&["vectors", "search", "주문 날짜 필드", "--n", "1"]);
    let nearest = &found["items"][0];
    assert_eq!(nearest["id"], "orders.order_date", "{found}");
    assert!(nearest["distance"].as_f64().unwrap() < 0.01, "{found}");
    // The same id is the same record.
    let line = r#"{"id": "orders.order_date", "document": "gone", "embedding": [-1, -1], "metadata": {"table": "orders"}}"#;
    sandbox.write("more.jsonl", line);
    let done = sandbox.json(&["vectors", "import", "more.jsonl"]);
    assert_eq!(
        (&done["records"], &done["embedded"]),
        (&json!(1), &json!(0))
    );
    let found = sandbox.json(&["vectors", "search", "주문 날짜 필드", "--n", "6"]);
    let items = found["items"].as_array().unwrap();
    assert_eq!(
        (items.len(), &items[5]["document"]),
        (6, &json!("gone")),
        "{store}"
    );
    assert_eq!(items[5]["metadata"]["table"], "orders");
    sandbox.write(
        "bad.jsonl",
        "{\"id\": \"a\", \"document\": \"d\"}\n\n{\"id\": \"a\"}\nx\n",
    );
    let refused = sandbox.run(&["vectors", "import", "bad.jsonl"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    for part in ["bad.jsonl", "line 3:", "line 4:"] {
        assert!(refused.stderr.contains(part), "{refused:?}");
    }
    sandbox.write(
        "short.jsonl",
        r#"{"id": "b", "document": "d", "embedding": [1, 2, 3]}"#,
    );
    let refused = sandbox.run(&["vectors", "import", "short.jsonl"]);
    assert!(refused.stderr.contains("3 dimensions"), "{refused:?}");
    sandbox.ok(&[
        "vectors",
        "import",
        "more.jsonl",
        "--collection",
        "other",
        "--space",
        "l2",
    ]);
    let listed = sandbox.json(&["vectors", "list"]);
    assert_eq!(listed["items"].as_array().unwrap().len(), 2, "{listed}");
    sandbox.ok(&["vectors", "remove", "other"]);
    assert_eq!(sandbox.run(&["vectors", "remove", "other"]).code, 1);
    let (_, acts) = crib
        .server
        .request("GET", "/api/v1/audit?target=vectors:other", None);
    let acts = acts["items"].as_array().unwrap().iter();
    let acts: Vec<&str> = acts.map(|act| act["action"].as_str().unwrap()).collect();
    assert_eq!(acts, ["vectors.delete", "vectors.import"]);
}

/// A file that is longer than one request takes is sent in parts, and a backup holds what came of it.
#[test]
fn a_long_file_is_imported_in_parts_and_is_in_a_backup() {
    let endpoint = endpoint();
    let sandbox = configured(&endpoint);
    let long = "x".repeat(1_000_000);
    let line = |number: u32| {
        json!({"id": format!("d{number}"), "document": format!("{number} {long}"), "embedding": [number, 1]})
            .to_string()
            + "\r\n"
    };
    let text: String = (1..=9).map(line).collect();
    sandbox.write("long.jsonl", &format!("\u{feff}{text}"));
    // No server runs: the command opens the workspace itself.
    let done = sandbox.json(&["vectors", "import", "long.jsonl", "--collection", "long"]);
    assert_eq!(
        done,
        json!({"collection": "long", "records": 9, "embedded": 0})
    );
    let first = |sandbox: &Sandbox| {
        let found = sandbox.json(&["vectors", "search", "x", "--n", "9", "--collection", "long"]);
        let items = found["items"].as_array().unwrap();
        let ids: Vec<&str> = items.iter().map(|it| it["id"].as_str().unwrap()).collect();
        ids.join(" ")
    };
    let expected = "d1 d2 d3 d4 d5 d6 d7 d8 d9";
    assert_eq!(first(&sandbox), expected);
    sandbox.ok(&["backup", "copy"]);
    sandbox.ok(&["vectors", "remove", "long"]);
    sandbox.ok(&["restore", "copy"]);
    assert_eq!(first(&sandbox), expected);
}

#[test]
fn what_comes_through_a_pipe_is_imported() {
    let endpoint = endpoint();
    let sandbox = configured(&endpoint);
    let line = r#"{"id": "a", "document": "d", "embedding": [1, 2], "metadata": {"n": 0.1}}"#;
    let import = ["vectors", "import", "/dev/stdin", "--json"];
    let done = sandbox.run_with_stdin(&import, line);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.stdout.contains("\"records\":1"), "{done:?}");
    let found = sandbox.json(&["vectors", "search", "x"]);
    assert_eq!(found["items"][0]["metadata"], json!({"n": 0.1}), "{found}");
    let done = sandbox.run_with_stdin(&import, "\n");
    assert_eq!(done.code, 1, "{done:?}");
}

/// The endpoint's vectors have two numbers, which nobody knows before it is asked.
#[test]
fn what_is_stored_before_a_part_fails_is_told() {
    let endpoint = endpoint();
    let sandbox = configured(&endpoint);
    let long = "x".repeat(1_000_000);
    let line = |number: u32| {
        json!({"id": format!("d{number}"), "document": long, "embedding": [number, 1, 1]})
            .to_string()
            + "\n"
    };
    let text: String = (1..=9).map(line).collect();
    sandbox.write("odd.jsonl", &(text + r#"{"id": "odd", "document": "d"}"#));
    let done = sandbox.run(&["vectors", "import", "odd.jsonl", "--json"]);
    assert_eq!(done.code, 1, "{done:?}");
    let told = "6 of 10 documents are stored in column_metadata already";
    assert!(done.stderr.contains(told), "{done:?}");
    let told: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(told["error"]["details"]["stored"], 6, "{told}");
    let listed = sandbox.json(&["vectors", "list"]);
    assert_eq!(listed["items"][0]["documents"], 6, "{listed}");
}

/// The source `bga` is made of the variables of the specification.
#[test]
fn the_examples_of_the_database() {
    let Some(bga) = Bga::start() else { return };
    let endpoint = endpoint();
    let crib = Crib::of(
        bga.variables()
            .into_iter()
            .fold(configured(&endpoint), |sandbox, (name, value)| {
                sandbox.with(name, &value)
            }),
    );
    let sql = "SELECT user_id, username, email FROM users LIMIT 3";
    let expected = json!({
        "status": "success",
        "message": "SQL executed.",
        "data": {
            "type": "csv_table",
            "content": {
                "sql": sql,
                "records": [
                    {"user_id": 101, "username": "alice", "email": "alice@example.com"},
                    {"user_id": 102, "username": "bob", "email": "bob@example.com"},
                    {"user_id": 103, "username": "charlie", "email": "charlie@example.com"}
                ]
            }
        }
    });
    told_everywhere(&crib, sql, 200, &expected);
    // Two of its spaces are no plain ones, as models like to write them.
    told_everywhere(&crib, &sql.replacen(' ', "\u{a0}", 2), 200, &expected);
    let wrong = json!({"status": "error", "message": "Error while querying DB: syntax error at or near \"SELEC\""});
    told_everywhere(&crib, "SELEC user_id FROM users", 502, &wrong);
    let cut = crib.call(
        "query_bga_database",
        &json!({"generated_sql": "SELECT * FROM generate_series(1, 100000) n"}),
    );
    assert_eq!(cut.data()["content"]["truncated"], true);
    let refused = crib.call(
        "query_bga_database",
        &json!({"generated_sql": "DELETE FROM users"}),
    );
    let message = refused.failed("tool_execution_error");
    assert!(
        message.starts_with("Error while querying DB: "),
        "{message}"
    );

    digits_and_cuts(&crib);
    let done = crib.sandbox.json(&["vectors", "from-schema", "bga"]);
    let expected =
        json!({"collection": "column_metadata", "records": 3, "embedded": 3, "removed": 0});
    assert_eq!(done, expected);
    let found = crib
        .sandbox
        .json(&["vectors", "search", "사용자 이메일 칼럼", "--n", "1"]);
    assert_eq!(
        found["items"][0]["document"],
        "users.email VARCHAR(255) 사용자 이메일 주소"
    );
    assert_eq!(found["items"][0]["id"], "bga:users.email");
    bga.change("ALTER TABLE users DROP COLUMN email");
    let done = crib.sandbox.run(&["vectors", "from-schema", "bga"]);
    assert!(done.stderr.contains("stored 2 documents"), "{done:?}");
    assert!(done.stderr.contains("removed 1"), "{done:?}");
    let listed = crib.sandbox.json(&["vectors", "list"]);
    assert_eq!(listed["items"][0]["documents"], 2, "{listed}");
    drop(crib);
    bga.end();
}

/// What is printed is what the database wrote, and says so where that is not all of it.
fn digits_and_cuts(crib: &Crib) {
    let call = |sql: &str, more: &[&str]| {
        let arguments = json!({"generated_sql": sql}).to_string();
        let all = [&["call", "query_bga_database", &arguments], more].concat();
        crib.sandbox.run(&all)
    };
    let number = r#"{"n": 0.12345678901234567890}"#;
    let sql = format!("SELECT '{number}'::jsonb AS j, '1e-400'::json AS s");
    for more in [&[][..], &["--json"]] {
        let done = call(&sql, more);
        let expected = r#""records":[{"j":{"n":0.12345678901234567890},"s":1e-400}]"#;
        assert!(done.stdout.contains(expected), "{done:?}");
        assert_eq!(done.stdout.lines().count(), 1, "{done:?}");
    }
    let log = crib.sandbox.ok(&["log", "--limit", "1", "--json"]);
    assert!(log.contains(r#"{"n":0.12345678901234567890}"#), "{log}");
    let cut = call("SELECT * FROM generate_series(1, 100000) n", &[]);
    let told = "warning: The data is cut: there is more than is shown";
    assert!(cut.stderr.starts_with(told), "{:?}", cut.stderr);
}

/// The object as it is documented: over REST with what is ours beside it, over MCP exactly.
fn told_everywhere(crib: &Crib, sql: &str, status: u16, expected: &Value) {
    let arguments = json!({"generated_sql": sql});
    let whole = |told: &Value| {
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(told[name], *value, "{sql}: {told}");
        }
    };
    let rest = crib.call("query_bga_database", &arguments);
    assert_eq!(rest.status, status, "{}", rest.body);
    whole(&rest.body);
    let done = crib.sandbox.run(&[
        "call",
        "query_bga_database",
        &arguments.to_string(),
        "--json",
    ]);
    assert_eq!(done.code, i32::from(status != 200), "{done:?}");
    whole(&serde_json::from_str(&done.stdout).unwrap());
    for era in ["legacy", "modern"] {
        let story = client(crib, era).script(&[call("query_bga_database", &arguments)]);
        let result = story.result(0);
        assert_eq!(result["structuredContent"], *expected, "{era}");
        assert_eq!(result["isError"] == true, status != 200, "{era}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(text).unwrap(),
            *expected,
            "{era}"
        );
    }
}
