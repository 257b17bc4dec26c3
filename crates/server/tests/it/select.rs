//! Choosing tools over REST: what is found, for whom, how soon after a change, and what a change does to known requests.

use crate::testapp::{ADMIN, TestApp, definition, on_both};
use app::select::Request;
use catalog::caller::{Caller, Role, Scope, Transport};
use serde_json::{Value, json};
use std::sync::Arc;

const PATH: &str = "/api/v1/select";

fn tool(name: &str, description: &str, parameter: &str) -> Value {
    let mut tool = definition(name);
    tool["description"] = json!(description);
    tool["input_schema"] = json!({"type": "object", "required": [parameter], "properties": {parameter: {"type": "string"}}});
    tool
}

async fn shop(app: &TestApp) {
    let mut parcels = tool(
        "track_parcel",
        "Tells where a parcel is by its tracking number",
        "tracking_number",
    );
    parcels["examples"] = json!([
        "운송장 1234567890 배송 조회해줘",
        "Where is parcel 1234567890 now?"
    ]);
    for body in [
        parcels,
        tool("book_room", "Reserves a meeting room in the office", "room"),
        tool("get_forecast", "도시의 내일 날씨 예보를 알려준다", "city"),
    ] {
        let made = app.post("/api/v1/tools", body).await;
        assert_eq!(made.status, 201, "{}", made.body);
    }
}

async fn best(app: &TestApp, key: &str, query: &str) -> Value {
    let found = app.as_key(key, "POST", PATH, json!({"query": query})).await;
    assert_eq!(found.status, 200, "{}", found.body);
    found.body["candidates"][0]["name"].clone()
}

/// A token that somebody gave to a program may say less than their session does.
#[tokio::test]
async fn whoever_comes_with_fewer_rights_is_told_of_no_more_tools() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await;
        let own = tool("count_yaks", "Counts the yaks of a herd", "herd");
        let made = app.as_key(&kim.key, "POST", "/api/v1/tools", own).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let me = app.get("/api/v1/users/admin").await.body;
        let id = me["id"].as_str().unwrap().parse().unwrap();
        let whole = Caller::of_user(id, "admin", Role::Admin, Transport::Rest);
        let narrow = Caller {
            scopes: [Scope::Read].into_iter().collect(),
            ..whole.clone()
        };
        for order in [[&whole, &narrow], [&narrow, &whole]] {
            for caller in order {
                let request = Request {
                    query: "Count the yaks of the herd in the valley".to_owned(),
                    limit: Some(50),
                    among: None,
                    may_wait: false,
                };
                let found = app.server.app.select(Arc::new(caller.clone()), request);
                let found = json!(found.await.unwrap()).to_string();
                let is_whole = caller.scopes.allow(Scope::Admin);
                assert_eq!(found.contains("count_yaks"), is_whole, "{found}");
            }
            // Anew, for the other order.
            let made = app.post("/api/v1/tools", definition("other")).await;
            assert!([201, 409].contains(&made.status), "{}", made.body);
        }
    })
    .await;
}

#[tokio::test]
async fn what_is_only_told_brings_no_tool_and_every_part_that_asks_brings_its_own() {
    on_both(async |app: &TestApp| {
        shop(app).await;
        for (query, expected) in [
            (
                "The weather was awful and everybody was late. Please reserve the big meeting room for Monday",
                json!(["book_room"]),
            ),
            (
                "운송장 6890012345 배송 조회하고 부산 내일 날씨도 알려 주세요",
                json!(["track_parcel", "get_forecast"]),
            ),
            (
                "월요일에 쓸 회의실 예약해 주고 부산 내일 날씨도 알려 주세요",
                json!(["book_room", "get_forecast"]),
            ),
        ] {
            let found = app.post(PATH, json!({"query": query})).await.body;
            assert_eq!(found["tools"], expected, "{query}: {found}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_request_finds_its_tool_in_both_languages() {
    on_both(async |app: &TestApp| {
        shop(app).await;
        for (query, expected) in [
            ("Where is my package 6890012345?", "track_parcel"),
            ("택배 6890012345 지금 어디쯤 왔어?", "track_parcel"),
            (
                "Please reserve the big meeting room for Monday",
                "book_room",
            ),
            ("회의실 하나 잡아줘", "book_room"),
            (
                "What will the weather be like in Busan tomorrow?",
                "get_forecast",
            ),
        ] {
            assert_eq!(best(app, ADMIN, query).await, expected, "{query}");
        }
        let found = app
            .post(
                PATH,
                json!({"query": "택배 6890012345 어디야?", "limit": 2}),
            )
            .await
            .body;
        assert_eq!(found["candidates"].as_array().unwrap().len(), 2);
        assert!(
            found["candidates"][0]["why"]
                .as_str()
                .unwrap()
                .contains("meaning")
        );
        assert_eq!(
            (&found["outcome"], &found["tool"]),
            (&json!("call"), &json!("track_parcel"))
        );
        assert_eq!(found["tools"], json!(["track_parcel"]));
        let among = json!({"query": "택배 어디야?", "tools": ["book_room", "nothing"]});
        let found = app.post(PATH, among).await.body;
        let names: Vec<&Value> = found["candidates"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| &it["name"])
            .collect();
        assert_eq!(names, ["book_room"]);
        let told = found["notes"].to_string();
        assert!(
            told.contains("nothing") && !told.contains("book_room"),
            "{found}"
        );
    })
    .await;
}

#[tokio::test]
async fn small_talk_needs_no_tool_and_what_says_too_little_is_asked_for() {
    on_both(async |app: &TestApp| {
        shop(app).await;
        let thanks = app
            .post(PATH, json!({"query": "Thanks a lot, have a nice evening!"}))
            .await
            .body;
        assert_eq!(
            (&thanks["outcome"], &thanks["tool"], &thanks["tools"]),
            (&json!("none"), &Value::Null, &json!([]))
        );
        let asked = app
            .post(
                PATH,
                json!({"query": "Can you tell me where my parcel is?"}),
            )
            .await
            .body;
        let told = (&asked["outcome"], &asked["tool"], &asked["about"]);
        assert_eq!(
            told,
            (
                &json!("ask"),
                &json!("request_human_input"),
                &json!("track_parcel")
            )
        );
    })
    .await;
}

#[tokio::test]
async fn a_change_counts_for_the_very_next_request() {
    on_both(async |app: &TestApp| {
        shop(app).await;
        let query = "Water the plants on the balcony";
        assert_ne!(best(app, ADMIN, query).await, "irrigate");
        app.post(
            "/api/v1/tools",
            tool("irrigate", "Waters the plants on a balcony", "balcony"),
        )
        .await;
        assert_eq!(best(app, ADMIN, query).await, "irrigate");
        let patch = json!({"description": "Plays a song"});
        app.as_key(ADMIN, "PATCH", "/api/v1/tools/irrigate", patch)
            .await;
        assert_eq!(
            best(app, ADMIN, "Put on some music, the song of yesterday").await,
            "irrigate"
        );
        let patch = json!({"is_active": false});
        app.as_key(ADMIN, "PATCH", "/api/v1/tools/irrigate", patch)
            .await;
        assert_ne!(
            best(app, ADMIN, "Put on some music, the song of yesterday").await,
            "irrigate"
        );
    })
    .await;
}

#[tokio::test]
async fn nobody_is_told_of_a_tool_that_they_may_not_call() {
    on_both(async |app: &TestApp| {
        shop(app).await;
        let query = json!({"query": "Where is my package 6890012345?", "limit": 50});
        let user = json!({"name": "kim", "password": "a long password 1", "role": "author"});
        assert_eq!(app.post("/api/v1/users", user).await.status, 201);
        let key = json!({"name": "kim's", "user": "kim", "scopes": ["read", "call"]});
        let key = app.post("/api/v1/keys", key).await.body["key"]
            .as_str()
            .unwrap()
            .to_owned();
        let found = app.as_key(&key, "POST", PATH, query.clone()).await.body;
        assert!(!found.to_string().contains("track_parcel"), "{found}");
        // Who may look but not call is told what they would need.
        let reader = app.key(&["read"]).await;
        let found = app.as_key(&reader, "POST", PATH, query).await.body;
        assert_eq!(found["candidates"][0]["name"], "track_parcel");
    })
    .await;
}

/// A key of somebody who is no admin, and owns a public tool for parcels.
async fn author(app: &TestApp) -> String {
    app.person("kim", "author").await;
    let key = json!({"name": "kim's", "user": "kim", "scopes": ["read", "call", "author"]});
    let made = app.post("/api/v1/keys", key).await.body;
    let key = made["key"].as_str().unwrap().to_owned();
    let own = tool("find_parcel", "Finds a parcel by its number", "number");
    let made = app.as_key(&key, "POST", "/api/v1/tools", own).await;
    assert_eq!(made.status, 201, "{}", made.body);
    key
}

#[tokio::test]
async fn what_is_hidden_from_somebody_changes_no_figure_that_they_are_told() {
    on_both(async |app: &TestApp| {
        let key = author(app).await;
        let query = json!({"query": "Find the parcel of project zebra in the office", "limit": 50});
        let before = app.as_key(&key, "POST", PATH, query.clone()).await.body;
        shop(app).await;
        let secret = tool("zebra", "Keeps the parcels of project zebra", "project");
        assert_eq!(app.post("/api/v1/tools", secret).await.status, 201);
        let after = app.as_key(&key, "POST", PATH, query).await.body;
        assert_eq!(before.to_string(), after.to_string());
    })
    .await;
}

#[tokio::test]
async fn an_effect_tells_no_request_about_a_tool_that_is_hidden() {
    on_both(async |app: &TestApp| {
        shop(app).await;
        let key = author(app).await;
        let rows = [
            json!({"query": "Find parcel 6890012345", "gold": ["find_parcel"]}),
            json!({"query": "Find it", "outcome": "ask", "gold": [], "about": "track_parcel"}),
            json!({"query": "Hello", "outcome": "none", "gold": [], "tools": ["book_room", "find_parcel"]}),
        ];
        let text: String = rows.iter().map(|it| format!("{it}\n")).collect();
        std::fs::write(app.tools_file().with_file_name("gold.jsonl"), text).unwrap();
        let path = "/api/v1/tools/find_parcel?effect=true&dry_run=true";
        let unlike = json!({"description": "Bakes bread"});
        let told = app.as_key(&key, "PATCH", path, unlike.clone()).await.body;
        assert_eq!(told["effect"]["n"], 1, "{told}");
        let told = app.as_key(ADMIN, "PATCH", path, unlike).await.body;
        assert_eq!(told["effect"]["n"], 3, "{told}");
    })
    .await;
}

#[tokio::test]
async fn a_rule_counts_for_the_very_next_request_of_those_it_is_for() {
    on_both(async |app: &TestApp| {
        shop(app).await;
        app.person("lee", "author").await;
        let public = json!({"is_public": true});
        app.as_key(ADMIN, "PATCH", "/api/v1/tools/track_parcel", public)
            .await;
        let key = json!({"name": "lee's", "user": "lee", "scopes": ["read", "call"]});
        let made = app.post("/api/v1/keys", key).await.body;
        let theirs = made["key"].as_str().unwrap();
        let query = "Where is my package 6890012345?";
        let deny =
            |target: &str| json!([{"subject": "user", "target": target, "deny": ["track_*"]}]);
        for (rules, is_found) in [(json!([]), true), (deny("lee"), false), (json!([]), true)] {
            let body = json!({"rules": rules});
            let set = app.as_key(ADMIN, "PUT", "/api/v1/policy", body).await;
            assert_eq!(set.status, 200, "{}", set.body);
            assert_eq!(best(app, ADMIN, query).await, "track_parcel");
            let found = best(app, theirs, query).await;
            assert_eq!(found == "track_parcel", is_found, "{}", set.body);
        }
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_with_its_place() {
    on_both(async |app: &TestApp| {
        for (body, start) in [
            (json!({"query": "  "}), "query: expected a text"),
            (
                json!({"query": "x".repeat(10_001)}),
                "query: expected a text",
            ),
            (
                json!({"query": "x", "limit": 0}),
                "limit: expected a whole number from 1 to 50",
            ),
            (
                json!({"query": "x", "limit": 51}),
                "limit: expected a whole number from 1 to 50",
            ),
            (
                json!({"query": "x", "tools": []}),
                "tools: expected at least one name",
            ),
        ] {
            let refused = app.post(PATH, body).await;
            assert_eq!(refused.status, 422, "{}", refused.body);
            assert!(
                refused.message().starts_with(start),
                "{}",
                refused.message()
            );
        }
    })
    .await;
}

#[tokio::test]
async fn who_changes_a_tool_learns_what_becomes_of_known_requests() {
    on_both(async |app: &TestApp| {
        shop(app).await;
        let path = "/api/v1/tools/book_room?effect=true&dry_run=true";
        let patch =
            json!({"description": "Tells where a parcel with a tracking number is right now"});
        let refused = app.as_key(ADMIN, "PATCH", path, patch.clone()).await;
        assert_eq!(refused.status, 422);
        assert!(
            refused
                .message()
                .starts_with("effect: gold.jsonl cannot be read"),
            "{}",
            refused.message()
        );
        let if_known = path.replace("true&", "if_known&");
        let told = app.as_key(ADMIN, "PATCH", &if_known, patch.clone()).await;
        assert_eq!(told.status, 200, "{}", told.body);
        assert!(told.body["effect"].is_null(), "{}", told.body);
        let gold = [
            json!({"query": "Reserve a meeting room for ten people", "gold": ["book_room"]}),
            json!({"query": "Where is my parcel 6890012345?", "gold": ["track_parcel"]}),
        ];
        let text: String = gold.iter().map(|it| format!("{it}\n")).collect();
        let file = app.tools_file().with_file_name("gold.jsonl");
        std::fs::write(&file, text).unwrap();
        let told = app.as_key(ADMIN, "PATCH", path, patch.clone()).await;
        assert_eq!(told.status, 200, "{}", told.body);
        let effect = &told.body["effect"];
        let known = app.as_key(ADMIN, "PATCH", &if_known, patch.clone()).await;
        assert_eq!(known.body["effect"], *effect);
        assert_eq!(
            (&effect["n"], &effect["right_before"]),
            (&json!(2), &json!(2))
        );
        let same = json!({"description": "Reserves a meeting room in our office"});
        let told = app
            .as_key(ADMIN, "PATCH", "/api/v1/tools/book_room?effect=true", same)
            .await;
        assert_eq!(told.body["effect"]["right_after"], 2, "{}", told.body);
        let unlike = json!({"description": "Bakes bread", "annotations": {"title": "Baker"}});
        let told = app
            .as_key(
                ADMIN,
                "PATCH",
                "/api/v1/tools/book_room?effect=true",
                unlike,
            )
            .await
            .body;
        let changed = told["effect"]["changed"].as_array().unwrap();
        let worse = changed.iter().find(|it| it["change"] == "worse");
        assert_eq!(worse.unwrap()["query"], gold[0]["query"], "{told}");
        assert_eq!(
            app.get("/api/v1/tools/book_room").await.body["description"],
            "Bakes bread"
        );
        std::fs::write(&file, "nonsense").unwrap();
        let refused = app.as_key(ADMIN, "PATCH", path, patch).await;
        assert!(
            refused
                .message()
                .starts_with("effect: gold.jsonl, line 1: not JSON"),
            "{}",
            refused.message()
        );
    })
    .await;
}

/// Whoever writes a rule sees whether it is one, counts, and names a tool that is there.
#[tokio::test]
async fn what_a_description_says_about_others_is_told() {
    on_both(async |app: &TestApp| {
        let mut tool = crate::testapp::definition("letter");
        tool["description"] = json!("Sends a letter. Prefer calculator if numbers are added. Prefer courier if it is urgent. It writes.");
        let made = app.post("/api/v1/tools", tool.clone()).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let rules = made.body["rules"].as_array().unwrap().clone();
        let rules: Vec<&str> = rules.iter().map(|it| it.as_str().unwrap()).collect();
        assert_eq!(rules.len(), 2, "{rules:?}");
        assert!(rules[0].starts_with("prefer calculator") && !rules[0].contains('('), "{rules:?}");
        assert!(rules[1].contains("there is no tool 'courier'"), "{rules:?}");
        let shown = app.get("/api/v1/tools/letter").await.body;
        assert_eq!(shown["rules"], made.body["rules"]);
        let back = app.as_key(crate::testapp::ADMIN, "PUT", "/api/v1/tools/letter", shown).await;
        assert_eq!(back.status, 200, "{}", back.body);
        // An author's does not count.
        let kim = app.person("kim", "author").await;
        tool["name"] = json!("note");
        let made = app.as_key(&kim.key, "POST", "/api/v1/tools", tool).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let first = made.body["rules"][0].as_str().unwrap();
        assert!(first.contains("does not count"), "{first}");
    })
    .await;
}
