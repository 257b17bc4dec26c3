//! Skills over REST: the folder as it is right now, what is wrong in it, and who is shown what.

use crate::testapp::{TestApp, definition, on_both};
use serde_json::{Value, json};
use std::fs;

pub(crate) fn write(app: &TestApp, file: &str, text: &str) {
    let file = app.folder.path().join("skills").join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

pub(crate) fn skill(name: &str, description: &str, tools: &str) -> String {
    format!(
        "---\nname: {name}\ndescription: {description}\ntools: {tools}\n---\n# How\n1. Begin.\n"
    )
}

async fn names(app: &TestApp) -> Vec<Value> {
    let page = app.get("/api/v1/skills").await.body;
    let items = page["items"].as_array().unwrap();
    items.iter().map(|it| it["name"].clone()).collect()
}

#[tokio::test]
async fn the_folder_is_shown_as_it_is_now() {
    on_both(async |app: &TestApp| {
        assert!(names(app).await.is_empty());
        write(
            app,
            "sums/SKILL.md",
            &skill("sums", "Adds up a list.", "[calculator, no_such]"),
        );
        let shown = app.get("/api/v1/skills/sums").await.body;
        assert_eq!(shown["instructions"], "# How\n1. Begin.");
        assert_eq!(shown["tools"], json!(["calculator", "no_such"]));
        assert_eq!(shown["tools_missing"], json!(["no_such"]));
        assert_eq!(shown["file"], "sums/SKILL.md");
        let page = app.get("/api/v1/skills").await.body;
        assert_eq!(page["items"][0].get("instructions"), None);
        assert_eq!(page.get("problems"), None);
        write(app, "more.md", &skill("more", "Does more.", "[]"));
        assert_eq!(names(app).await, ["more", "sums"]);
        fs::remove_dir_all(app.folder.path().join("skills")).unwrap();
        assert_eq!(app.get("/api/v1/skills/sums").await.status, 404);
    })
    .await;
}

#[tokio::test]
async fn a_file_that_cannot_be_used_is_told_and_hides_no_other() {
    on_both(async |app: &TestApp| {
        write(app, "good.md", &skill("good", "Is good.", "[]"));
        write(app, "bad.md", "---\nname: bad one\n---\n");
        assert_eq!(names(app).await, ["good"]);
        let ready = app.get("/readyz").await.body;
        assert_eq!(ready["status"], "ready");
        let problems = ready["files"]["skills_problems"].as_array().unwrap();
        let first = &problems[0];
        assert_eq!(
            (&first["file"], &first["line"]),
            (&json!("bad.md"), &json!(2))
        );
        let page = app.get("/api/v1/skills").await.body;
        assert_eq!(page["problems"].as_array(), Some(problems));
        // Mended, it is there at once.
        write(app, "bad.md", &skill("mended", "Is good again.", "[]"));
        assert_eq!(names(app).await, ["good", "mended"]);
        let ready = app.get("/readyz").await.body;
        assert_eq!(ready["files"]["skills_problems"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn whoever_may_call_none_of_its_tools_is_not_shown_a_skill() {
    on_both(async |app: &TestApp| {
        // Nobody else may call it.
        let made = app.post("/api/v1/tools", definition("mine")).await;
        assert_eq!(made.status, 201, "{}", made.body);
        write(app, "own.md", &skill("own", "Is the admin's.", "[mine]"));
        write(
            app,
            "both.md",
            &skill("both", "Does both.", "[calculator, mine]"),
        );
        write(app, "none.md", &skill("none", "Needs none.", "[]"));
        assert_eq!(names(app).await, ["both", "none", "own"]);
        let vic = app.person("vic", "viewer").await.key;
        let shown = app
            .as_key(&vic, "GET", "/api/v1/skills", Value::Null)
            .await
            .body;
        let items = shown["items"].as_array().unwrap();
        let seen: Vec<&Value> = items.iter().map(|it| &it["name"]).collect();
        assert_eq!(seen, ["both", "none"]);
        assert_eq!(items[0]["tools_missing"], json!(["mine"]));
        let hidden = app
            .as_key(&vic, "GET", "/api/v1/skills/own", Value::Null)
            .await;
        assert_eq!(hidden.status, 404);
    })
    .await;
}
