//! Lists of tools: filtered, counted, page by page; and who names one.

use crate::testapp::{ADMIN, TestApp, definition, on_both};
use serde_json::{Value, json};

#[tokio::test]
async fn lists_are_filtered_ordered_and_paged() {
    on_both(async |app: &TestApp| {
        for name in ["delta", "alpha", "charlie", "bravo"] {
            let mut body = definition(name);
            body["description"] = json!(format!("The {name} tool for taxes"));
            body["is_active"] = json!(name != "charlie");
            assert_eq!(app.post("/api/v1/tools", body).await.status, 201);
        }
        let names = async |query: &str| {
            let page = app.get(&format!("/api/v1/tools?{query}")).await;
            let names: Vec<_> = page.body["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|t| t["name"].as_str().unwrap().to_owned())
                .collect();
            (names, page.body["next_cursor"].clone())
        };
        assert_eq!(
            names("q=taxes&limit=3").await,
            (
                ["alpha", "bravo", "charlie"].map(String::from).into(),
                json!("charlie")
            )
        );
        assert_eq!(
            names("q=taxes&limit=3&cursor=charlie").await,
            (vec!["delta".to_owned()], Value::Null)
        );
        assert_eq!(names("q=TOOL+brav").await.0, ["bravo"]);
        assert_eq!(names("q=taxes&active=false").await.0, ["charlie"]);
        assert_eq!(names("owner=admin&limit=2").await.0, ["alpha", "bravo"]);
        assert_eq!(names("kind=http").await.0, [""; 0]);
        for wrong in [
            "kind=nonsense",
            "shelf=drawer",
            "risk=none",
            "limit=0",
            "limit=501",
            "limit=x",
            "colour=red",
        ] {
            let refused = app.get(&format!("/api/v1/tools?{wrong}")).await;
            assert!(
                matches!(refused.status, 400 | 422),
                "{wrong}: {}",
                refused.status
            );
            assert!(!refused.message().is_empty());
        }
    })
    .await;
}

/// With one filter, the counts of the others are of what it leaves; its own are of what other values would show.
#[tokio::test]
async fn a_list_is_counted_by_what_it_can_be_filtered_by() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await.key;
        for (name, risk) in [
            ("fetch_a", json!({"read_only": true})),
            ("fetch_b", json!({"destructive": false})),
            ("fetch_c", json!({})),
        ] {
            let mut body = definition(name);
            body["kind"] = json!("shell");
            body["config"] = json!({"command": ["true"]});
            body["annotations"] = risk;
            body["is_active"] = json!(name != "fetch_c");
            let made = app.post("/api/v1/tools", body).await;
            assert_eq!(made.status, 201, "{}", made.body);
        }
        let mut computed = definition("fetch_d");
        computed["kind"] = json!("expression");
        computed["config"] = json!({"expression": "1 + 1"});
        let made = app.as_key(&kim, "POST", "/api/v1/tools", computed).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let counts = async |query: &str| {
            let query = format!("/api/v1/tools?q=fetch_&limit=1&count=true&{query}");
            let page = app.get(&query).await;
            assert_eq!(page.status, 200, "{}", page.body);
            page.body["counts"].clone()
        };
        let all = counts("").await;
        assert_eq!(all["total"], 4);
        assert_eq!(all["kind"], json!({"expression": 1, "shell": 3}));
        assert_eq!(
            all["risk"],
            json!({"destructive": 1, "read_only": 2, "writes": 1})
        );
        assert_eq!(all["active"], json!({"false": 1, "true": 3}));
        assert_eq!(all["owner"], json!({"admin": 3, "kim": 1}));
        assert_eq!(
            (&all["shelf"], &all["source"]),
            (&json!({"database": 4}), &json!({}))
        );
        let some = counts("risk=read_only").await;
        assert_eq!(some["total"], 2);
        assert_eq!(some["kind"], json!({"expression": 1, "shell": 1}));
        assert_eq!(some["risk"], all["risk"]);
        let fewer = counts("risk=read_only&kind=shell").await;
        assert_eq!(fewer["total"], 1);
        assert_eq!(
            fewer["risk"],
            json!({"destructive": 1, "read_only": 1, "writes": 1})
        );
        assert_eq!(fewer["owner"], json!({"admin": 1}));
        // What somebody may not see is not counted for them.
        let path = "/api/v1/tools?q=fetch_&count=true";
        let theirs = app.as_key(&kim, "GET", path, Value::Null).await;
        assert_eq!(theirs.body["counts"]["total"], 1, "{}", theirs.body);
        assert_eq!(
            app.get("/api/v1/tools?q=fetch_").await.body.get("counts"),
            None
        );
    })
    .await;
}

/// Told to who may change it; what they may not see is counted.
#[tokio::test]
async fn a_tool_says_who_names_it() {
    on_both(async |app: &TestApp| {
        let kim = app.person("kim", "author").await.key;
        let mut body = definition("shared");
        body["is_public"] = json!(true);
        let made = app.as_key(&kim, "POST", "/api/v1/tools", body).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let own = json!({"name": "kims", "tools": [made.body["id"]]});
        let set = app.as_key(&kim, "POST", "/api/v1/toolsets", own).await;
        assert_eq!(set.status, 201, "{}", set.body);
        let gone = json!({"name": "gone", "tools": ["shared"]});
        assert_eq!(app.as_key(&kim, "POST", "/api/v1/toolsets", gone).await.status, 201);
        let path = "/api/v1/toolsets/gone";
        assert_eq!(app.as_key(&kim, "DELETE", path, Value::Null).await.status, 204);
        let agent = json!({"name": "clerk", "model_provider": "openai", "model_name": "m", "tools": ["shared"]});
        let made = app.post("/api/v1/agents", agent).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let used_by = async |key: &str| {
            let got = app.as_key(key, "GET", "/api/v1/tools/shared", Value::Null).await;
            got.body.get("used_by").cloned()
        };
        let all = json!({"agents": ["clerk"], "toolsets": ["kims"], "hidden": 0});
        assert_eq!(used_by(ADMIN).await, Some(all));
        let own = json!({"agents": [], "toolsets": ["kims"], "hidden": 1});
        assert_eq!(used_by(&kim).await, Some(own));
        let lee = app.person("lee", "author").await.key;
        assert_eq!(used_by(&lee).await, None);
    })
    .await;
}
