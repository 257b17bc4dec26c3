//! `tools search`, `tools confirm` and `eval`: the right tool for a request, and how often it is the right one.

use crate::harness::Sandbox;
use serde_json::{Value, json};

#[test]
fn the_best_tool_comes_first_and_what_to_do_is_said() {
    let sandbox = Sandbox::new();
    let said = sandbox.run(&[
        "tools", "search", "What", "is", "15", "percent", "of", "2,300?",
    ]);
    assert!(said.stdout.starts_with("calculator\t"), "{}", said.stdout);
    assert!(said.stderr.contains("call calculator ("), "{}", said.stderr);
    let found = sandbox.json(&[
        "tools",
        "search",
        "2300의 15퍼센트는 얼마야?",
        "--limit",
        "1",
    ]);
    assert_eq!(
        (&found["outcome"], &found["tool"]),
        (&json!("call"), &json!("calculator"))
    );
    assert_eq!(found["candidates"].as_array().unwrap().len(), 1);
}

#[test]
fn an_evaluation_counts_and_tells_what_changed() {
    let sandbox = Sandbox::new();
    let rows = [
        json!({"query": "2300의 15퍼센트는 얼마야?", "outcome": "call", "gold": ["calculator"]}),
        json!({"query": "Thanks a lot, have a nice evening!", "outcome": "none", "gold": []}),
        json!({"query": "Ring the bell", "gold": ["bell"], "tools": [
            {"name": "bell", "description": "Rings a bell"}, {"name": "horn", "description": "Blows a horn"}]}),
        json!({"query": "What is 15 percent of 60?", "outcome": "call", "gold": ["nothing_of_this_name"]}),
    ];
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    sandbox.write("rows.jsonl", &text);
    let report = sandbox.json(&["eval", "rows.jsonl"]);
    assert_eq!(
        (&report["n"], &report["accuracy"]),
        (&json!(4), &json!(0.75)),
        "{report}"
    );
    assert_eq!(report["by_outcome"]["call"]["n"], 3);
    assert_eq!(report["by_language"]["ko"]["accuracy"], 1.0);
    assert_eq!(report["confusions"][0]["expected"], "nothing_of_this_name");
    assert_eq!(report["changed"], Value::Null);
    sandbox.write(
        "rows.jsonl",
        &text.replace("nothing_of_this_name", "calculator"),
    );
    let again = sandbox.json(&["eval", "rows.jsonl"]);
    assert_eq!(
        again["changed"]["better"],
        json!(["What is 15 percent of 60?"]),
        "{again}"
    );
    let said = sandbox.run(&["eval", "rows.jsonl", "--min", "100"]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(
        said.stdout.starts_with("all\t4 of 4\t100.0 %"),
        "{}",
        said.stdout
    );
    sandbox.write("rows.jsonl", &text);
    let said = sandbox.run(&["eval", "rows.jsonl", "--min", "80", "--failures"]);
    assert_eq!(said.code, 1);
    assert!(
        said.stderr.contains("nothing_of_this_name") && !said.stderr.contains("bell"),
        "{}",
        said.stderr
    );
    assert!(
        said.stderr
            .contains("75.0 % are right, and at least 80 % should be"),
        "{}",
        said.stderr
    );
    assert!(
        said.stdout
            .contains("\"query\":\"What is 15 percent of 60?\""),
        "{}",
        said.stdout
    );
}

#[test]
fn what_is_wrong_with_the_rows_is_told_with_their_lines() {
    let sandbox = Sandbox::new();
    sandbox.write("rows.jsonl", "{\"query\": \"x\", \"gold\": 1}\n{}\n");
    let said = sandbox.run(&["eval", "rows.jsonl"]);
    assert_ne!(said.code, 0);
    assert!(
        said.stderr
            .contains("rows.jsonl: line 1: gold: expected a list of texts"),
        "{}",
        said.stderr
    );
    assert!(
        said.stderr
            .contains("rows.jsonl: line 2: query: expected a text"),
        "{}",
        said.stderr
    );
    let said = sandbox.run(&["eval", "none.jsonl"]);
    assert!(said.stderr.contains("none.jsonl: "), "{}", said.stderr);
}

/// Nothing that any tool says of itself is like it.
const QUERY: &str = "Do the purple elephant thing for aunt Mathilda";

#[test]
fn what_is_confirmed_counts_until_it_is_taken_back() {
    let sandbox = Sandbox::new().with("TOOLCRIB_SELECTION_CONFIRMED", "true");
    let best = || {
        let found = sandbox.json(&["tools", "search", QUERY]);
        found["candidates"][0]["name"].clone()
    };
    let before = best();
    let tool = match before == "clean_text" {
        true => "calculator",
        false => "clean_text",
    };
    let words: Vec<&str> = QUERY.split(' ').collect();
    let said = sandbox.run(&[&["tools", "confirm", tool], &words[..]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    let told = format!("{tool} is right for \"{QUERY}\"");
    assert!(said.stderr.contains(&told), "{said:?}");
    assert_eq!(best(), tool);
    let listed = sandbox.ok(&["tools", "confirmed", tool]);
    assert!(listed.starts_with(&format!("{QUERY}\t")), "{listed}");
    let page = sandbox.json(&["tools", "confirmed", tool]);
    assert_eq!(
        (&page["items"][0]["query"], &page["counts"]),
        (&json!(QUERY), &json!(true))
    );
    sandbox.ok(&["backup", "copy"]);
    sandbox.ok(&["tools", "unconfirm", tool, QUERY]);
    assert_eq!(best(), before);
    let said = sandbox.run(&["tools", "unconfirm", tool, QUERY]);
    assert_eq!(said.code, 1, "{said:?}");
    sandbox.ok(&["restore", "copy"]);
    assert_eq!(sandbox.json(&["tools", "confirmed", tool]), page);
    assert_eq!(best(), tool);
    let gone = sandbox.json(&["tools", "unconfirm", tool, "--all"]);
    assert_eq!(gone["removed"], true);
    assert_eq!(sandbox.ok(&["tools", "confirmed", tool]), "");
}

#[test]
fn nothing_is_confirmed_unless_it_is_switched_on() {
    let sandbox = Sandbox::new();
    let said = sandbox.run(&["tools", "confirm", "calculator", QUERY]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("selection.confirmed"), "{said:?}");
    assert_eq!(sandbox.ok(&["tools", "confirmed", "calculator"]), "");
    let said = sandbox.run(&["tools", "confirm", "calculator"]);
    assert_eq!(said.code, 2, "a request is needed: {said:?}");
}

#[test]
fn a_change_tells_its_effect_on_known_requests() {
    let sandbox = Sandbox::new();
    for (name, description) in [
        ("alpha", "Reserves a meeting room in the office"),
        ("beta", "Reserves a seat in a theatre"),
    ] {
        let tool = json!({"name": name, "description": description, "kind": "builtin",
            "config": {"name": "calculator"}, "input_schema": {"type": "object"}});
        sandbox.ok(&["tools", "add", &tool.to_string()]);
    }
    let third = json!({"name": "gamma", "description": "d", "kind": "builtin", "config": {"name": "calculator"},
        "input_schema": {"type": "object"}});
    let said = sandbox.run(&["tools", "add", &third.to_string(), "--dry-run"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("nothing was changed"), "{said:?}");
    assert_ne!(sandbox.run(&["tools", "show", "gamma"]).code, 0);
    let row = json!({"query": "Reserve a meeting room for ten people", "gold": ["alpha"]});
    let patch = r#"{"description": "Bakes bread from flour"}"#;
    let update = ["tools", "update", "alpha", patch, "--patch", "--effect"];
    let said = sandbox.run(&update);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.stderr.contains("gold.jsonl cannot be read"),
        "{said:?}"
    );
    sandbox.write("gold.jsonl", &format!("{row}\n"));
    let dry = [&update[..], &["--dry-run"]].concat();
    let effect = sandbox.json(&dry)["effect"].clone();
    assert_eq!(effect["n"], 1, "{effect}");
    for arguments in [&dry[..], &update] {
        let said = sandbox.run(arguments);
        assert_eq!(said.code, 0, "{said:?}");
        let mut lines = said.stdout.lines();
        let counts = "right before: 1 of 1, after: 0 of 1";
        assert_eq!(lines.next(), Some(counts), "{said:?}");
        for changed in effect["changed"].as_array().unwrap() {
            let cell = |name: &str| changed[name].as_str().unwrap();
            let line = ["change", "query", "expected", "before", "after"].map(cell);
            assert_eq!(lines.next(), Some(&*line.join("\t")), "{said:?}");
        }
        assert_eq!(lines.next(), None, "{said:?}");
        let is_dry = arguments.contains(&"--dry-run");
        assert_eq!(said.stderr.contains("nothing was changed"), is_dry);
        let about = sandbox.json(&["tools", "show", "alpha"])["description"].clone();
        assert_eq!(about == "Bakes bread from flour", !is_dry);
    }
}

#[test]
fn no_request_goes_to_an_endpoint_where_the_own_encoder_is_wanted() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/v1/embeddings", listener.local_addr().unwrap());
    let sandbox = Sandbox::new()
        .with("TEXT_EMBEDDING_MODEL_URL", &url)
        .with("TEXT_EMBEDDING_MODEL_NAME", "silent")
        .with("TOOLCRIB_SELECTION_ENCODER", "own");
    let found = sandbox.json(&["tools", "search", "2300의 15퍼센트는 얼마야?"]);
    assert_eq!(found["tool"], "calculator");
    assert!(found["notes"].as_array().is_none_or(Vec::is_empty));
    let asked = listener.accept().map(|_| ()).unwrap_err();
    assert_eq!(asked.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn an_endpoint_that_hangs_holds_nobody_up_and_is_told() {
    // Takes connections and never says anything.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/embeddings", listener.local_addr().unwrap());
    let sandbox = Sandbox::new()
        .with("TEXT_EMBEDDING_MODEL_URL", &url)
        .with("TEXT_EMBEDDING_MODEL_NAME", "silent");
    let request = ["tools", "search", "calculator for 15 percent of 2,300"];
    let begun = std::time::Instant::now();
    let said = sandbox.run(&request);
    let took = begun.elapsed();
    assert!(took.as_secs() < 12, "{took:?}");
    assert!(said.stdout.starts_with("calculator\t"), "{said:?}");
    assert!(
        said.stderr
            .contains("warning: tools were ranked by their words alone")
            && said
                .stderr
                .contains("The embeddings endpoint could not be asked"),
        "{said:?}"
    );
    let found = sandbox.json(&request);
    assert!(
        found["notes"][0]
            .as_str()
            .unwrap()
            .contains("embeddings endpoint"),
        "{found}"
    );
    // A server says so as well, at the latest when it has found out.
    let _server = sandbox.serve(&[]);
    let begun = std::time::Instant::now();
    let found = sandbox.json(&request);
    assert!(begun.elapsed().as_secs() < 12, "{:?}", begun.elapsed());
    assert!(
        found["notes"][0]
            .as_str()
            .unwrap()
            .contains("embeddings endpoint"),
        "{found}"
    );
}
