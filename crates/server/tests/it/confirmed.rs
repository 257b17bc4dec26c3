//! Confirmed requests over REST: what they change, for how long, how many there are, and who may say so.

use crate::testapp::{ADMIN, Setup, TestApp, definition, on_both, on_both_given};
use crate::toolsets_mcp::Client;
use catalog::policy::Policy;
use serde_json::{Value, json};

const PARCEL: &str = "/api/v1/tools/track_parcel/confirmed";

/// Nothing that any tool says of itself is like it.
const QUERY: &str = "Do the purple elephant thing for aunt Mathilda";

async fn on_both_confirmed<F: AsyncFn(&TestApp)>(test: F) {
    let setup = Setup {
        confirmed: true,
        ..Setup::default()
    };
    on_both_given(json!([]), Policy::default(), setup, test).await;
}

fn tool(name: &str, description: &str) -> Value {
    let mut tool = definition(name);
    tool["description"] = json!(description);
    tool
}

async fn shop(app: &TestApp) {
    for (name, description) in [
        ("track_parcel", "Tells where a parcel is by its number"),
        ("book_room", "Reserves a meeting room in the office"),
    ] {
        let made = app.post("/api/v1/tools", tool(name, description)).await;
        assert_eq!(made.status, 201, "{}", made.body);
    }
}

async fn best(app: &TestApp) -> Value {
    let among = json!({"query": QUERY, "tools": ["track_parcel", "book_room"]});
    let found = app.post("/api/v1/select", among).await;
    assert_eq!(found.status, 200, "{}", found.body);
    found.body["candidates"][0]["name"].clone()
}

/// The one of the two that is not found.
async fn other(app: &TestApp) -> (&'static str, String) {
    let name = match best(app).await == "book_room" {
        true => "track_parcel",
        false => "book_room",
    };
    (name, format!("/api/v1/tools/{name}/confirmed"))
}

async fn queries(app: &TestApp, path: &str) -> Vec<String> {
    let page = app.get(path).await;
    assert_eq!(page.status, 200, "{}", page.body);
    let items = page.body["items"].as_array().unwrap().iter();
    items
        .map(|it| it["query"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_confirmed_request_counts_for_the_very_next_one() {
    on_both_confirmed(async |app: &TestApp| {
        shop(app).await;
        let before = best(app).await;
        let (name, path) = other(app).await;
        let body = json!({"query": format!("  {QUERY}\n")});
        let made = app.post(&path, body.clone()).await;
        assert_eq!(made.status, 201, "{}", made.body);
        assert_eq!(
            (&made.body["query"], &made.body["user"]),
            (&json!(QUERY), &json!("admin"))
        );
        assert_eq!(best(app).await, name);
        assert_eq!(app.post(&path, body.clone()).await.status, 200);
        assert_eq!(queries(app, &path).await, [QUERY]);
        assert_eq!(app.get(&path).await.body["counts"], true);

        let next = app.restart().await;
        assert_eq!(best(&next).await, name, "also after a restart");
        let gone = next.as_key(ADMIN, "DELETE", &path, body.clone()).await;
        assert_eq!(gone.status, 204, "{}", gone.body);
        assert_eq!(best(&next).await, before);
        let gone = next.as_key(ADMIN, "DELETE", &path, body).await;
        assert_eq!((gone.status, gone.code()), (404, "not_found"));
        assert!(
            gone.message().starts_with("Confirmed request 'Do the"),
            "{}",
            gone.message()
        );

        let acts = next.get("/api/v1/audit?action=tool.confirm").await.body;
        assert_eq!(acts["items"][0]["target"], format!("tool:{name}"), "{acts}");
        assert_eq!(acts["items"][0]["after"]["query"], QUERY);
        let acts = next.get("/api/v1/audit?action=tool.unconfirm").await.body;
        assert_eq!(acts["items"].as_array().unwrap().len(), 1, "{acts}");
        assert_eq!(acts["items"][0]["before"]["queries"], json!([QUERY]));
        next.stop().await;
    })
    .await;
}

#[tokio::test]
async fn it_is_off_unless_somebody_switches_it_on() {
    on_both(async |app: &TestApp| {
        shop(app).await;
        let before = best(app).await;
        let (name, path) = other(app).await;
        let refused = app.post(&path, json!({"query": QUERY})).await;
        assert_eq!((refused.status, refused.code()), (409, "conflict"));
        assert!(
            refused.message().contains("selection.confirmed"),
            "{}",
            refused.message()
        );
        let on = app.restart_confirmed(true).await;
        assert_eq!(on.post(&path, json!({"query": QUERY})).await.status, 201);
        assert_eq!(best(&on).await, name);
        // What is kept can be seen and removed, and does not count.
        let off = on.restart_confirmed(false).await;
        assert_eq!(best(&off).await, before);
        assert_eq!(queries(&off, &path).await, [QUERY]);
        assert_eq!(off.get(&path).await.body["counts"], false);
        let all = format!("{path}?all=true");
        let gone = off.as_key(ADMIN, "DELETE", &all, Value::Null).await;
        assert_eq!(gone.status, 204, "{}", gone.body);
        assert!(queries(&off, &path).await.is_empty());
        off.stop().await;
    })
    .await;
}

#[tokio::test]
async fn the_newest_twenty_are_kept_and_the_tool_may_go_and_come_back() {
    on_both_confirmed(async |app: &TestApp| {
        shop(app).await;
        for number in 1..=22 {
            let body = json!({"query": format!("request {number}")});
            let made = app.post(PARCEL, body).await;
            assert_eq!(made.status, 201, "{}", made.body);
        }
        let again = json!({"query": "request 3"});
        assert_eq!(app.post(PARCEL, again).await.status, 200);
        let long = "한".repeat(1_000);
        assert_eq!(app.post(PARCEL, json!({"query": long})).await.status, 201);
        let kept = queries(app, PARCEL).await;
        assert_eq!(kept.len(), 20);
        assert_eq!(kept[..3], [long.as_str(), "request 3", "request 22"]);
        assert_eq!(kept[19], "request 5");
        for query in ["", "  \n", &"x".repeat(1_001), "a\0b"] {
            let refused = app.post(PARCEL, json!({"query": query})).await;
            assert_eq!(refused.status, 422, "{}", refused.body);
            assert!(
                refused
                    .message()
                    .starts_with("query: expected a text of 1 to 1000 characters"),
                "{}",
                refused.message()
            );
        }
        let path = "/api/v1/tools/track_parcel";
        assert_eq!(
            app.as_key(ADMIN, "DELETE", path, Value::Null).await.status,
            204
        );
        assert_eq!(app.get(PARCEL).await.status, 404);
        let back = app.post(&format!("{path}/restore"), Value::Null).await;
        assert_eq!(back.status, 200, "{}", back.body);
        assert_eq!(queries(app, PARCEL).await, kept);
        // A body that got lost takes nothing with it, and one too many says that something was misunderstood.
        let all = format!("{PARCEL}?all=true");
        let one = json!({"query": "request 3"});
        for (path, body) in [(PARCEL, Value::Null), (&*all, one)] {
            let refused = app.as_key(ADMIN, "DELETE", path, body).await;
            assert_eq!(refused.status, 422, "{}", refused.body);
            assert!(
                refused.message().contains("all=true"),
                "{}",
                refused.message()
            );
        }
        assert_eq!(queries(app, PARCEL).await, kept);
        let gone = app.as_key(ADMIN, "DELETE", &all, Value::Null).await;
        assert_eq!(gone.status, 204, "{}", gone.body);
        let gone = app.as_key(ADMIN, "DELETE", &all, Value::Null).await;
        assert_eq!(gone.status, 204, "there is nothing left to do");
        assert!(queries(app, PARCEL).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn only_who_may_change_a_tool_says_what_it_is_right_for() {
    on_both_confirmed(async |app: &TestApp| {
        let kim = app.person("kim", "author").await.key;
        let lee = app.person("lee", "author").await.key;
        let viewer = app.person("park", "viewer").await.key;
        let mut body = tool("fold", "Folds a paper");
        body["is_public"] = json!(true);
        let made = app.as_key(&kim, "POST", "/api/v1/tools", body).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let path = "/api/v1/tools/fold/confirmed";
        let body = json!({"query": "Make a crane"});
        for (key, expected) in [(&*kim, 201), (&lee, 403), (&viewer, 403), (ADMIN, 200)] {
            let said = app.as_key(key, "POST", path, body.clone()).await;
            assert_eq!(said.status, expected, "{}", said.body);
            let said = app.as_key(key, "GET", path, Value::Null).await;
            assert_eq!(said.status, 200, "{}", said.body);
        }
        let refused = app.as_key(&lee, "DELETE", path, body.clone()).await;
        assert_eq!(refused.status, 403);
        assert!(
            refused.message().starts_with("Only its owner or an admin"),
            "{}",
            refused.message()
        );
        // What nobody owns is for admins.
        let mut filed = tool("unfold", "Unfolds a paper");
        filed["shelf"] = json!("file");
        assert_eq!(app.post("/api/v1/tools", filed).await.status, 201);
        for name in ["calculator", "unfold"] {
            let path = format!("/api/v1/tools/{name}/confirmed");
            let refused = app.as_key(&kim, "POST", &path, body.clone()).await;
            assert_eq!(refused.status, 403, "{}", refused.body);
            assert!(
                refused.message().starts_with("Only an admin"),
                "{}",
                refused.message()
            );
            assert_eq!(app.post(&path, body.clone()).await.status, 201);
        }
        // Nobody learns of what is hidden from them.
        shop(app).await;
        for method in ["GET", "POST", "DELETE"] {
            let body = match method {
                "GET" => Value::Null,
                _ => body.clone(),
            };
            let said = app.as_key(&kim, method, PARCEL, body).await;
            assert_eq!(said.status, 404, "{method}: {}", said.body);
        }
    })
    .await;
}

#[tokio::test]
async fn a_toolset_that_calls_its_tools_otherwise_follows() {
    on_both_confirmed(async |app: &TestApp| {
        shop(app).await;
        let set = json!({"name": "kit", "find_tools": true, "tools": [
            {"tool": "track_parcel", "name": "parcel"}, {"tool": "book_room", "name": "room"}]});
        let made = app.post("/api/v1/toolsets", set).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let client = Client::modern(app, ADMIN, "/mcp/kit");
        let found = async || {
            let params = json!({"name": "find_tools", "arguments": {"query": QUERY, "limit": 1}});
            let said = client.ask("tools/call", params).await;
            said.result()["structuredContent"]["tools"][0]["name"].clone()
        };
        let (other, tool) = match found().await == "parcel" {
            true => ("room", "book_room"),
            false => ("parcel", "track_parcel"),
        };
        let path = format!("/api/v1/tools/{tool}/confirmed");
        assert_eq!(app.post(&path, json!({"query": QUERY})).await.status, 201);
        assert_eq!(found().await, other);
    })
    .await;
}
