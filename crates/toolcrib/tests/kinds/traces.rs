//! One call in one picture: from whoever asks through two servers to the site that a tool calls, as a collector of OpenTelemetry
//! hears of it.

use crate::crib::{Crib, sandbox, until};
use crate::harness::{Running, request_with_head};
use crate::site::{Site, read};
use catalog::clock::Clock;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;

/// What a client says: its own span, which is kept.
const CLIENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CLIENT_SPAN: &str = "00f067aa0ba902b7";
const SECRET: &str = "a-secret-that-no-trace-holds";

fn collector() -> Site {
    Site::start(|_| (200, "application/json", b"{}".to_vec()))
}

/// Everything of this sort that the collector was sent.
fn sent(collector: &Site, path: &str, members: [&str; 3]) -> Vec<Value> {
    let mut all = Vec::new();
    for request in collector.requests() {
        let Some(body) = request.split_once("\r\n\r\n").map(|it| it.1) else {
            continue;
        };
        if !request.starts_with(&format!("POST {path} ")) {
            continue;
        }
        let body: Value = serde_json::from_str(body).unwrap();
        for resource in body[members[0]].as_array().unwrap() {
            let service = resource["resource"]["attributes"][0]["value"]["stringValue"].clone();
            for scope in resource[members[1]].as_array().unwrap() {
                for item in scope[members[2]].as_array().unwrap() {
                    let mut item = item.clone();
                    item["service"] = service.clone();
                    all.push(item);
                }
            }
        }
    }
    all
}

fn spans(collector: &Site) -> Vec<Value> {
    let all = sent(
        collector,
        "/v1/traces",
        ["resourceSpans", "scopeSpans", "spans"],
    );
    all.into_iter()
        .filter(|span| span["traceId"] == TRACE)
        .collect()
}

fn attribute<'a>(span: &'a Value, name: &str) -> &'a Value {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|it| it["key"] == name);
    found.map_or(&Value::Null, |it| {
        it["value"].as_object().unwrap().values().next().unwrap()
    })
}

fn call(server: &Running, tool: &str, arguments: &Value) -> (u16, Value) {
    call_at(&server.address, server, tool, arguments)
}

/// The same by another way to the server.
fn call_at(address: &str, server: &Running, tool: &str, arguments: &Value) -> (u16, Value) {
    let body = json!({"arguments": arguments}).to_string();
    let head = format!(
        "POST /api/v1/tools/{tool}/call HTTP/1.1\r\nHost: {}\r\nX-API-Key: {}\r\ntraceparent: {CLIENT}\r\ntracestate: vendor=1\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        server.address,
        server.key,
        body.len()
    );
    request_with_head(address, &head, &body).unwrap()
}

/// The way from a span up to the client: the names, the last first.
fn way(spans: &[Value], from: &Value) -> Vec<String> {
    let by_id: HashMap<&str, &Value> = spans
        .iter()
        .map(|it| (it["spanId"].as_str().unwrap(), it))
        .collect();
    let (mut way, mut at) = (Vec::new(), from);
    loop {
        way.push(format!(
            "{} {}",
            at["service"].as_str().unwrap(),
            at["name"].as_str().unwrap()
        ));
        match at["parentSpanId"].as_str() {
            Some(CLIENT_SPAN) => return way,
            parent => at = by_id[parent.unwrap()],
        }
    }
}

/// A server with a tool that calls the site, and one in front of it that has its tools.
fn two_servers(collector: &Site, site: &Site) -> (Crib, Crib) {
    let traced = |name: &str| {
        sandbox()
            .with("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)
            .with("TOOLCRIB_TELEMETRY_SERVICE_NAME", name)
            .with(
                "TOOLCRIB_HTTP_ALLOW",
                site.url.trim_start_matches("http://"),
            )
    };
    let behind = Crib::of(traced("behind"));
    let config = json!({"base_url": site.url, "method": "GET", "path": "/things"});
    let secret = json!({"input_schema": {"type": "object", "properties": {"token": {"type": "string", "x-secret": true}}}});
    behind.add("things", "http", &config, &secret);
    let front = traced("front");
    let server = json!({"mcpServers": {"behind": {"url": format!("{}/mcp", behind.server.url()), "headers": {"X-API-Key": behind.server.key}}}});
    front.write("mcp.json", &server.to_string());
    let front = Crib::of(front);
    until("the server behind is connected", || {
        let (status, _) = front
            .server
            .request("GET", "/api/v1/tools/behind.things", None);
        (status == 200).then_some(())
    });
    (behind, front)
}

/// A proxy that is part of the trace, as those in front of servers are: it passes a request on as its own step, and tells the
/// collector of it. Its address.
fn proxy(collector: &Site, server: &Running) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (there, collector) = (server.address.clone(), collector.url.clone());
    std::thread::spawn(move || {
        for (number, mut client) in listener.incoming().flatten().enumerate() {
            let request = read(&client).unwrap();
            let own = format!("{:016x}", 0xaaaa_0000 + number);
            let passed = request.replace(CLIENT_SPAN, &own);
            let nanos = || Clock::System.now() * 1_000_000;
            let began = nanos();
            let mut server = TcpStream::connect(&there).unwrap();
            server.write_all(passed.as_bytes()).unwrap();
            let mut answer = Vec::new();
            server.read_to_end(&mut answer).unwrap();
            let span = json!({"traceId": TRACE, "spanId": own, "parentSpanId": CLIENT_SPAN, "name": "POST", "kind": 3,
                "startTimeUnixNano": began.to_string(), "endTimeUnixNano": nanos().to_string(), "attributes": []});
            let service = json!([{"key": "service.name", "value": {"stringValue": "proxy"}}]);
            let told = json!({"resourceSpans": [{"resource": {"attributes": service}, "scopeSpans": [{"spans": [span]}]}]});
            let (_, place) = collector.split_once("://").unwrap();
            let to = ("POST", "/v1/traces");
            crate::harness::request_to(place, "", to, Some(&told)).unwrap();
            client.write_all(&answer).unwrap();
        }
    });
    address
}

/// A trace as a tree: each step below the one that it is part of, with how long it took.
fn picture(spans: &[Value], parent: &str, depth: usize, to: &mut String) {
    let nanos =
        |span: &Value, member: &str| span[member].as_str().unwrap().parse::<u128>().unwrap();
    let mut parts: Vec<&Value> = spans
        .iter()
        .filter(|it| it["parentSpanId"] == parent)
        .collect();
    parts.sort_by_key(|it| nanos(it, "startTimeUnixNano"));
    for span in parts {
        let took = nanos(span, "endTimeUnixNano") - nanos(span, "startTimeUnixNano");
        let text = |member: &str| span[member].as_str().unwrap();
        let name = format!("{}{} {}", "  ".repeat(depth), text("service"), text("name"));
        to.push_str(&format!("  {name:<50} {:>8.2} ms\n", took as f64 / 1e6));
        picture(spans, text("spanId"), depth + 1, to);
    }
}

#[test]
fn one_trace_holds_a_call_through_a_proxy_two_servers_and_a_site() {
    let collector = collector();
    let site = Site::start(|_| (200, "application/json", b"{\"ok\": true}".to_vec()));
    let (_behind, front) = two_servers(&collector, &site);
    let way_in = proxy(&collector, &front.server);
    let asked = json!({"token": SECRET});
    let (status, answer) = call_at(&way_in, &front.server, "behind.things", &asked);
    assert_eq!(
        (status, &answer["data"]),
        (200, &json!({"ok": true})),
        "{answer}"
    );
    let (status, _) = call(&front.server, "nothing_of_that_name", &json!({}));
    assert_eq!(status, 404);
    let asked = until("the last span is there", || {
        let all = spans(&collector);
        all.iter()
            .find(|it| it["name"] == "GET" && it["kind"] == 3)
            .cloned()
    });
    until("all spans are there", || {
        (spans(&collector).len() == 8).then_some(())
    });
    let all = spans(&collector);
    let way = way(&all, &asked);
    let expected = [
        "behind GET",
        "behind execute_tool things",
        "front tools/call things",
        "front execute_tool behind.things",
        "front POST",
        "proxy POST",
    ];
    assert_eq!(way, expected);
    // The site was told of the span that asked it.
    let seen = site.requests().remove(0).to_lowercase();
    let parent = format!(
        "traceparent: 00-{TRACE}-{}-01",
        asked["spanId"].as_str().unwrap()
    );
    assert!(
        seen.contains(&parent) && seen.contains("tracestate: vendor=1"),
        "{seen}"
    );
    let named = |name: &str| all.iter().find(|it| it["name"] == name).unwrap();
    let executed = named("execute_tool behind.things");
    assert_eq!(attribute(executed, "gen_ai.operation.name"), "execute_tool");
    assert_eq!(
        attribute(executed, "gen_ai.tool.call.id"),
        &answer["execution_id"]
    );
    assert_eq!(attribute(&asked, "http.response.status_code"), "200");
    let refused = named("execute_tool nothing_of_that_name");
    assert_eq!(
        (&refused["status"]["code"], attribute(refused, "error.type")),
        (&json!(2), &json!("tool_not_found"))
    );
    // Its parts lie within each other in time.
    let nanos =
        |span: &Value, member: &str| span[member].as_str().unwrap().parse::<u128>().unwrap();
    assert!(nanos(executed, "startTimeUnixNano") <= nanos(&asked, "startTimeUnixNano"));
    assert!(nanos(&asked, "endTimeUnixNano") <= nanos(executed, "endTimeUnixNano"));
    assert!(
        !collector.requests().concat().contains(SECRET),
        "a trace holds a secret"
    );
    let mut shown = String::new();
    picture(&all, CLIENT_SPAN, 0, &mut shown);
    assert_eq!(
        shown.lines().count(),
        all.len(),
        "every span is in the picture: {shown}"
    );
    println!(
        "one call in one trace: {} spans, {} deep\n{shown}",
        all.len(),
        way.len()
    );
}

#[test]
fn without_a_collector_a_trace_is_passed_on_and_with_a_dead_one_nothing_waits() {
    let site = Site::start(|_| (200, "application/json", b"1".to_vec()));
    let allowed = site.url.trim_start_matches("http://").to_owned();
    // Nobody listens there.
    for endpoint in ["", "http://127.0.0.1:9"] {
        let sandbox = sandbox().with("TOOLCRIB_HTTP_ALLOW", &allowed);
        let crib = Crib::of(sandbox.with("TOOLCRIB_TELEMETRY_OTLP_ENDPOINT", endpoint));
        crib.add(
            "one",
            "http",
            &json!({"base_url": site.url, "method": "GET", "path": "/"}),
            &json!({}),
        );
        let (status, answer) = call(&crib.server, "one", &json!({}));
        assert_eq!((status, &answer["data"]), (200, &json!(1)), "{answer}");
        let seen = site.requests().pop().unwrap().to_lowercase();
        let own = format!("traceparent: {CLIENT}");
        assert!(
            seen.contains(&format!("traceparent: 00-{TRACE}-")),
            "{seen}"
        );
        assert_eq!(seen.contains(&own), endpoint.is_empty(), "{seen}");
        assert_eq!(crib.server.terminate(), 0);
    }
}

#[test]
fn what_the_server_logs_goes_to_the_collector_too() {
    let collector = collector();
    let crib = Crib::of(sandbox().with("TOOLCRIB_TELEMETRY_OTLP_ENDPOINT", &collector.url));
    crib.sandbox.write("tools.json", "{ this is no JSON");
    let logs = || {
        sent(
            &collector,
            "/v1/logs",
            ["resourceLogs", "scopeLogs", "logRecords"],
        )
    };
    let told = until("it is told", || {
        let is_it = |log: &Value| {
            log["body"]["stringValue"]
                .as_str()
                .is_some_and(|it| it.contains("tools.json is not valid"))
        };
        logs().into_iter().find(is_it)
    });
    assert_eq!(
        (&told["severityText"], &told["severityNumber"]),
        (&json!("ERROR"), &json!(17)),
        "{told}"
    );
}

#[test]
fn what_is_logged_for_a_request_stands_in_its_trace() {
    let collector = collector();
    let crib = Crib::of(sandbox().with("TOOLCRIB_TELEMETRY_OTLP_ENDPOINT", &collector.url));
    let body = json!({"name": "nobody", "password": "not-the-right-one"}).to_string();
    let head = format!(
        "POST /api/v1/login HTTP/1.1\r\nHost: {}\r\ntraceparent: {CLIENT}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        crib.server.address,
        body.len()
    );
    let (status, answer) = request_with_head(&crib.server.address, &head, &body).unwrap();
    assert_eq!(status, 401, "{answer}");
    let logs = ["resourceLogs", "scopeLogs", "logRecords"];
    let told = until("it is told", || {
        let is_it = |log: &Value| log["body"]["stringValue"] == "a failed login";
        sent(&collector, "/v1/logs", logs).into_iter().find(is_it)
    });
    let span = until("its span is told", || spans(&collector).into_iter().next());
    assert_eq!(
        (&told["traceId"], &told["spanId"]),
        (&json!(TRACE), &span["spanId"]),
        "{told}"
    );
}

#[test]
fn a_step_that_is_cut_off_by_the_deadline_is_an_error_in_the_trace() {
    let collector = collector();
    // It takes the connection and says nothing.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let behind = Crib::of(sandbox().with("TOOLCRIB_HTTP_ALLOW", &address));
    let config =
        json!({"base_url": format!("http://{address}"), "method": "GET", "path": "/things"});
    behind.add("slow", "http", &config, &json!({"timeout_seconds": 20}));
    let front = sandbox()
        .with("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)
        .with("TOOL_TIMEOUT_SECONDS", "1");
    let server = json!({"mcpServers": {"behind": {"url": format!("{}/mcp", behind.server.url()), "headers": {"X-API-Key": behind.server.key}}}});
    front.write("mcp.json", &server.to_string());
    let front = Crib::of(front);
    until("the server behind is connected", || {
        let path = "/api/v1/tools/behind.slow";
        let (status, _) = front.server.request("GET", path, None);
        (status == 200).then_some(())
    });
    let (status, answer) = call(&front.server, "behind.slow", &json!({}));
    let code = &answer["error"]["code"];
    assert_eq!((status, code), (504, &json!("timeout")), "{answer}");
    let asked = until("the step is told", || {
        let all = spans(&collector);
        all.into_iter().find(|it| it["name"] == "tools/call slow")
    });
    assert_eq!(
        (&asked["status"]["code"], attribute(&asked, "error.type")),
        (&json!(2), &json!("timeout")),
        "{asked}"
    );
}

#[test]
fn why_a_server_could_not_start_reaches_the_collector() {
    let collector = collector();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let sandbox = sandbox().with("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url);
    let done = sandbox.run(&["serve", "--listen", &address]);
    assert_eq!(done.code, 1, "{done:?}");
    let logs = ["resourceLogs", "scopeLogs", "logRecords"];
    let told = sent(&collector, "/v1/logs", logs);
    let is_it = |log: &Value| {
        log.to_string()
            .contains(&format!("cannot listen on {address}"))
    };
    assert!(told.iter().any(is_it), "{told:?}");
}
