//! Seed 001's story 4 word for word, with servers of others: connected from mcp.json over every transport, their resources
//! read by an agent.

use crate::crib::{Crib, sandbox};
use crate::dialect::Dialect;
use crate::model::{call, model, output, run, say};
use crate::programs::{LONG, Listening, npm};
use crate::world::servers;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Waits until a server is connected, and tells what is shown of it.
fn connected(crib: &Crib, name: &str) -> Value {
    let began = Instant::now();
    loop {
        let path = format!("/api/v1/servers/{name}");
        let (_, shown) = crib.server.request("GET", &path, None);
        if shown["state"] == "connected" {
            return shown;
        }
        assert!(began.elapsed() < LONG, "{name}: {shown}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// US4.1: Given an MCP server URL is configured in `mcp.json`, when the agent initializes, then it establishes a connection
/// to the MCP server.
#[test]
fn us4_1_servers_in_mcp_json_are_connected_over_every_transport() {
    let http = Listening::everything("streamableHttp", "/mcp");
    let sse = Listening::everything("sse", "/sse");
    let sandbox = sandbox();
    let entries = json!({
        "over_http": {"url": http.url},
        "over_sse": {"url": sse.url, "type": "sse"},
        "over_stdio": {"command": npm("mcp-server-everything"), "args": ["stdio"]},
    });
    servers(&sandbox, &entries);
    let crib = Crib::of(sandbox);
    for name in ["over_http", "over_sse", "over_stdio"] {
        let shown = connected(&crib, name);
        assert!(shown["tools"].as_u64().unwrap() > 5, "{shown}");
    }
}

/// US4.2: Given an active MCP connection, when a user request requires a resource from the MCP server, then the agent
/// successfully retrieves and uses that resource.
#[test]
fn us4_2_a_resource_of_a_real_server_is_read_and_used() {
    let everything = Listening::everything("streamableHttp", "/mcp");
    let sandbox = sandbox();
    servers(&sandbox, &json!({"everything": {"url": everything.url}}));
    let crib = Crib::of(sandbox);
    connected(&crib, "everything");
    let model = model(|results| match results {
        [] => call("list_resources", json!({"server": "everything"})),
        [list] => {
            let list: Value = serde_json::from_str(list).unwrap();
            let listed = list.as_array().unwrap().iter();
            let text = listed.filter(|it| {
                it["mime_type"]
                    .as_str()
                    .is_some_and(|it| it.starts_with("text/"))
            });
            let uri = text.map(|it| it["uri"].clone()).next();
            call("read_resource", json!({"server": "everything", "uri": uri}))
        }
        [_, text, ..] => say(text),
    });
    let path = "/api/v1/servers/everything/resources";
    let (_, listed) = crib.server.request("GET", path, None);
    for dialect in Dialect::ALL {
        let name = format!("agent_{dialect:?}").to_lowercase();
        let agent = dialect.agent(&name, &model.url);
        let (status, made) = crib.server.request("POST", "/api/v1/agents", Some(&agent));
        assert_eq!(status, 201, "{made}");
        let run = run(
            &crib.sandbox,
            &name,
            "What does the first document of the server say?",
        );
        let told = output(&run);
        println!("{dialect:?}: {} characters of a resource", told.len());
        assert!(told.len() > 50, "{told}: {listed}");
    }
    let path = "/api/v1/executions?tool=resources%2Fread";
    let (_, log) = crib.server.request("GET", path, None);
    assert_eq!(
        log["items"].as_array().unwrap().len(),
        Dialect::ALL.len(),
        "{log}"
    );
}
