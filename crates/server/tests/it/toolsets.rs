//! Toolsets over REST: made, shown, changed, removed and brought back, on both engines.

use crate::testapp::{ADMIN, Answer, TestApp, definition, on_both};
use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

const PATH: &str = "/api/v1/toolsets";

async fn change(app: &TestApp, method: &str, name: &str, body: Value) -> Answer {
    app.as_key(ADMIN, method, &format!("{PATH}/{name}"), body)
        .await
}

#[tokio::test]
async fn a_toolset_is_made_shown_changed_and_removed() {
    on_both(async |app: &TestApp| {
        app.post("/api/v1/tools", definition("adder")).await;
        let body = json!({
            "name": "data", "description": "For figures", "instructions": "Add first.\nThen ask.",
            "tools": ["later", {"tool": "adder", "name": "sum", "description": "Adds", "arguments": {"z": 1, "a": [2]}}],
            "allow": ["serialize_*"], "deny": ["x*"], "is_public": true
        });
        let made = app.post(PATH, body.clone()).await;
        assert_eq!(made.status, 201, "{}", made.body);
        assert_eq!(made.headers["etag"], "\"1\"");
        for (name, value) in body.as_object().unwrap() {
            assert_eq!(made.body[name], *value, "{name}");
        }
        assert_eq!(made.body["missing"], json!(["later"]));
        assert_eq!((&made.body["owner"], &made.body["find_tools"]), (&json!("admin"), &json!(false)));
        // The tool comes later.
        app.post("/api/v1/tools", definition("later")).await;
        let id = made.body["id"].as_str().unwrap();
        for name in ["data", id] {
            let got = app.get(&format!("{PATH}/{name}")).await;
            assert_eq!((got.status, &got.body["missing"]), (200, &json!([])), "{name}");
            assert_eq!(got.body["tools"][1]["arguments"].to_string(), r#"{"z":1,"a":[2]}"#, "in the author's order");
        }
        // What is fetched can be sent back.
        let shown = app.get(&format!("{PATH}/data")).await.body;
        let same = change(app, "PUT", "data", shown).await;
        assert_eq!((same.status, &same.body["version"]), (200, &json!(2)), "{}", same.body);
        let patched = change(app, "PATCH", "data", json!({"allow": null, "find_tools": true})).await;
        assert_eq!((patched.status, &patched.body["version"]), (200, &json!(3)), "{}", patched.body);
        assert_eq!((&patched.body["allow"], &patched.body["find_tools"]), (&Value::Null, &json!(true)));
        assert_eq!(patched.body["tools"], body["tools"]);
        let request = Request::put(format!("{PATH}/data")).header("x-api-key", ADMIN);
        let request = request.header("if-match", "\"2\"").header("content-type", "application/json");
        let stale = app.send(request.body(Body::from(body.to_string())).unwrap()).await;
        assert_eq!((stale.status, stale.code()), (409, "conflict"), "{}", stale.body);

        let app = app.restart().await;
        let kept = app.get(&format!("{PATH}/data")).await.body;
        assert_eq!(kept, patched.body, "a restart changes nothing");
        assert_eq!(change(&app, "DELETE", "data", Value::Null).await.status, 204);
        assert_eq!(app.get(&format!("{PATH}/data")).await.status, 404);
        let next = app.post(PATH, json!({"name": "data"})).await;
        assert_eq!(next.status, 201, "{}", next.body);
        let taken = app.post(&format!("{PATH}/{id}/restore"), Value::Null).await;
        assert_eq!((taken.status, taken.code()), (409, "conflict"), "{}", taken.body);
        change(&app, "PATCH", "data", json!({"name": "other"})).await;
        let back = app.post(&format!("{PATH}/data/restore"), Value::Null).await;
        assert_eq!((back.status, &back.body["id"]), (200, &json!(id)), "{}", back.body);

        let acts = app.get("/api/v1/audit?target=toolset:data").await.body;
        let acts: Vec<&str> = acts["items"].as_array().unwrap().iter().map(|act| act["action"].as_str().unwrap()).collect();
        let expected = ["toolset.restore", "toolset.create", "toolset.delete", "toolset.update", "toolset.update", "toolset.create"];
        assert_eq!(acts, expected);
        assert_eq!(app.get("/api/v1/audit/verify").await.body["valid"], true);
        app.stop().await;
    })
    .await;
}

#[tokio::test]
async fn toolsets_are_listed_page_by_page_and_found_by_words_and_owner() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await.key;
        for name in ["a1", "a2", "b1"] {
            let body = json!({"name": name, "description": format!("Set {name}"), "is_public": name != "b1"});
            let made = app.as_key(&kim, "POST", PATH, body).await;
            assert_eq!(made.status, 201, "{}", made.body);
        }
        app.post(PATH, json!({"name": "mine"})).await;
        let lee = app.person("lee", "viewer").await.key;
        let names = async |key: &str, query: &str| {
            let page = app.as_key(key, "GET", &format!("{PATH}{query}"), Value::Null).await.body;
            let items = page["items"].as_array().unwrap().iter();
            let names: Vec<String> = items.map(|it| it["name"].as_str().unwrap().to_owned()).collect();
            format!("{} {}", names.join(","), page["next_cursor"].as_str().unwrap_or("-"))
        };
        assert_eq!(names(ADMIN, "").await, "a1,a2,b1,data-search,mine -");
        assert_eq!(names(ADMIN, "?owner=kim&limit=2").await, "a1,a2 a2");
        assert_eq!(names(ADMIN, "?owner=kim&limit=2&cursor=a2").await, "b1 -");
        assert_eq!(names(ADMIN, "?q=SET+a").await, "a1,a2 -");
        assert_eq!(names(&lee, "").await, "a1,a2,data-search -");
        assert_eq!(names(&kim, "").await, "a1,a2,b1,data-search -");
    })
    .await;
}

/// What a pattern fits is told to nobody who may not know of it.
#[tokio::test]
async fn patterns_show_what_they_come_to_for_who_asks() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await.key;
        let lee = app.person("lee", "author").await.key;
        for (name, is_public) in [("job_open", true), ("job_own", false), ("late_own", false)] {
            let mut tool = definition(name);
            tool["is_public"] = json!(is_public);
            let made = app.as_key(&kim, "POST", "/api/v1/tools", tool).await;
            assert_eq!(made.status, 201, "{}", made.body);
        }
        let set = json!({"name": "kit", "tools": ["calculator"], "allow": ["job_*", "none_*"],
            "deny": ["late_*", "calculator_?"], "is_public": true});
        let made = app.as_key(&kim, "POST", PATH, set).await;
        let seen = async |key: &str| {
            let path = format!("{PATH}/kit");
            let shown = app.as_key(key, "GET", &path, Value::Null).await.body;
            (shown["fitting"].clone(), shown["fits_nothing"].clone())
        };
        let all = (
            json!(["job_open", "job_own"]),
            json!(["none_*", "calculator_?"]),
        );
        assert_eq!(
            (
                made.body["fitting"].clone(),
                made.body["fits_nothing"].clone()
            ),
            all
        );
        assert_eq!(seen(&kim).await, all);
        let some = (
            json!(["job_open"]),
            json!(["none_*", "late_*", "calculator_?"]),
        );
        assert_eq!(seen(&lee).await, some);
    })
    .await;
}

#[tokio::test]
async fn a_wrong_toolset_is_refused_with_every_place() {
    on_both(async |app: &TestApp| {
        let wrong = json!({"name": "a b", "tools": ["x y", {"tool": "calculator", "nmae": "x"}], "allow": "all"});
        let refused = app.post(PATH, wrong).await;
        assert_eq!((refused.status, refused.code()), (422, "invalid"), "{}", refused.body);
        let problems = refused.body["error"]["details"]["problems"].as_array().unwrap();
        let mut paths: Vec<&str> = problems.iter().map(|it| it["path"].as_str().unwrap()).collect();
        paths.sort_unstable();
        assert_eq!(paths, ["$.allow", "$.name", "$.tools[0]", "$.tools[1].nmae"]);
        let twice = json!({"name": "s", "tools": ["a", {"tool": "b", "name": "a"}]});
        let refused = app.post(PATH, twice).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        app.post(PATH, json!({"name": "s"})).await;
        let again = app.post(PATH, json!({"name": "s"})).await;
        assert_eq!((again.status, again.code()), (409, "conflict"), "{}", again.body);
    })
    .await;
}

/// What somebody who is no admin is told about a tool and a set.
#[tokio::test]
async fn an_explanation_names_the_set() {
    on_both(async |app: &TestApp| {
        let (kim, lee) = (
            app.person("kim", "author").await.key,
            app.person("lee", "author").await.key,
        );
        let set = json!({"name": "kit", "tools": ["calculator"], "deny": ["serialize*"]});
        app.as_key(&kim, "POST", PATH, set).await;
        let told = async |key: &str, tool: &str| {
            let path = format!("/api/v1/policy/explain?tool={tool}&toolset=kit");
            let told = app.as_key(key, "GET", &path, Value::Null).await.body;
            let reasons = told["reasons"].as_array().unwrap().iter();
            let reason = reasons
                .filter(|it| it["check"] == "toolset")
                .map(|it| it["message"].as_str().unwrap());
            format!(
                "{} {}",
                told["verdict"].as_str().unwrap(),
                reason.collect::<String>()
            )
        };
        assert_eq!(
            told(&kim, "calculator").await,
            "allowed the toolset 'kit' lists it"
        );
        assert_eq!(
            told(&kim, "web_fetch").await,
            "hidden the toolset 'kit' does not hold it"
        );
        assert_eq!(
            told(&kim, "serialize_for_cell").await,
            "hidden the toolset 'kit' leaves out 'serialize*'"
        );
        assert_eq!(told(&kim, "nothing").await, "hidden ");
        // What is private is as if it were not there.
        assert_eq!(
            told(&lee, "calculator").await,
            "hidden the toolset 'kit' is not there for them"
        );
        assert_eq!(
            told(ADMIN, "calculator").await,
            "allowed the toolset 'kit' lists it"
        );
    })
    .await;
}
