//! Skills in runs: the model is told names, loads what it needs, and is shown the tools of that from then on, also by the next
//! driver of the run.

use crate::model::{Model, Say};
use crate::runs::calculate;
use crate::scripted::until;
use crate::skills::{skill, write};
use crate::testapp::{Setup, TestApp, on_both, on_both_given};
use catalog::policy::Policy;
use serde_json::{Value, json};
use uuid::Uuid;

/// The names of the tools that a model was shown.
fn shown(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().unwrap().iter();
    tools.map(|it| it["name"].as_str().unwrap()).collect()
}

fn load(name: &str) -> Say {
    Say::call("load_skill", json!({"name": name}))
}

/// What a model is told first.
fn system(request: &Value) -> String {
    request["system"].to_string()
}

/// Where a model is shown one tool of all.
async fn with_few_tools<F: AsyncFn(&TestApp)>(test: F) {
    let runs = app::runs::Settings {
        tools_max: 1,
        ..app::runs::Settings::default()
    };
    let setup = Setup {
        runs,
        ..Setup::default()
    };
    on_both_given(json!([]), Policy::default(), setup, test).await;
}

#[tokio::test]
async fn a_model_loads_a_skill_and_is_shown_its_tools() {
    with_few_tools(async |app: &TestApp| {
        let text = skill("sums", "Adds up receipts.", "[calculator, no_such]");
        write(app, "sums/SKILL.md", &text);
        write(app, "sums/notes/tax.md", "The tax is 19 %.");
        let model = Model::saying(vec![
            load("none"),
            load("sums"),
            Say::call(
                "load_skill",
                json!({"name": "sums", "file": "notes/tax.md"}),
            ),
            Say::call(
                "load_skill",
                json!({"name": "sums", "file": "../../tools.json"}),
            ),
            calculate("1+2"),
            Say::text("3"),
        ])
        .await;
        app.agent(&model, json!({"system_prompt": "Be brief."}))
            .await;
        let run = app.run("Read the document notes.md").await;
        assert_eq!(run["output"], "3", "{run}");
        let requests = model.requests();
        let told = system(&requests[0]);
        assert!(
            told.contains("Be brief.") && told.contains("- sums: Adds up receipts."),
            "{told}"
        );
        assert!(
            !shown(&requests[0]).contains(&"calculator"),
            "{:?}",
            shown(&requests[0])
        );
        assert!(shown(&requests[0]).contains(&"load_skill"));
        assert!(!shown(&requests[1]).contains(&"calculator"));
        assert!(
            shown(&requests[2]).contains(&"calculator"),
            "{:?}",
            shown(&requests[2])
        );
        let results = model.results();
        assert!(results[0].1 && results[0].0.contains("sums"), "{results:?}");
        assert!(results[1].0.ends_with("# How\n1. Begin."), "{results:?}");
        assert!(results[1].0.contains("cannot call: no_such"), "{results:?}");
        assert_eq!(results[2], ("The tax is 19 %.".to_owned(), false));
        assert!(results[3].1, "{results:?}");
        assert_eq!(results[4].0, "3");
        let events = app.events(&run, "").await;
        let skills = events.iter().find(|it| it["event"] == "skills").unwrap();
        assert_eq!(skills["data"], json!({"skills": ["sums"]}));
    })
    .await;
}

#[tokio::test]
async fn a_run_that_another_takes_up_offers_the_same() {
    with_few_tools(async |app: &TestApp| {
        write(
            app,
            "sums.md",
            &skill("sums", "Adds up receipts.", "[calculator]"),
        );
        let model = Model::saying(vec![
            load("sums"),
            Say::call("fixture_wait", json!({"seconds": 60})),
            Say::text("Done."),
        ])
        .await;
        app.agent(&model, json!({})).await;
        let body = json!({"input": "x", "agent": "helper", "wait": false});
        let begun = app.post("/api/v1/runs", body).await.body;
        until("the call runs", async || {
            let events = app.events(&begun, "").await;
            let mut started = events.iter().filter(|it| it["event"] == "tool_started");
            started
                .any(|it| it["data"]["tool"] == "fixture_wait")
                .then_some(())
        })
        .await;
        let before = model.requests().last().unwrap().clone();
        // Others have come, and this one has changed: what the run was told stays.
        write(app, "other.md", &skill("other", "Does other things.", "[]"));
        write(app, "sums.md", &skill("sums", "Is another now.", "[]"));
        let id: Uuid = begun["id"].as_str().unwrap().parse().unwrap();
        let store = &app.server.app.store;
        let entries = store.run_entries(id, 0).await.unwrap();
        let bodies: Vec<String> = entries.into_iter().map(|it| it.body).collect();
        let mut copy = store.run(id).await.unwrap().unwrap();
        (copy.id, copy.node, copy.last_seq) = (Uuid::now_v7(), None, bodies.len() as i64);
        store.begin_run(&copy, &bodies).await.unwrap();
        until("it is taken up and done", async || {
            let view = app.get(&format!("/api/v1/runs/{}", copy.id)).await.body;
            (view["status"] == "done").then_some(())
        })
        .await;
        let after = model.requests().last().unwrap().clone();
        assert!(shown(&after).contains(&"calculator"), "{:?}", shown(&after));
        assert_eq!(shown(&after), shown(&before));
        assert_eq!(system(&after), system(&before));
        app.post(&format!("/api/v1/runs/{id}/cancel"), Value::Null)
            .await;
    })
    .await;
}

#[tokio::test]
async fn a_run_is_told_only_of_skills_that_it_can_follow() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![]).await;
        app.agent(&model, json!({"tools": ["calculator"]})).await;
        app.run("x").await;
        assert!(
            !shown(&model.requests()[0]).contains(&"load_skill"),
            "there is none"
        );
        write(app, "a.md", &skill("a", "Can be done.", "[calculator]"));
        write(
            app,
            "b.md",
            &skill("b", "Is not for this agent.", "[fixture_wait]"),
        );
        write(app, "c.md", &skill("c", "Needs nothing.", "[]"));
        app.run("x").await;
        let told = system(model.requests().last().unwrap());
        assert!(told.contains("- a:") && told.contains("- c:"), "{told}");
        assert!(!told.contains("- b:"), "{told}");
        write(app, "gone.md", &skill("gone", "Is soon gone.", "[]"));
        let named = |names: Value| {
            let body = json!({"config": {"skills": names}});
            app.as_key(
                crate::testapp::ADMIN,
                "PATCH",
                "/api/v1/agents/helper",
                body,
            )
        };
        let changed = named(json!(["c", "gone"])).await;
        assert_eq!(changed.status, 200, "{}", changed.body);
        std::fs::remove_file(app.folder.path().join("skills/gone.md")).unwrap();
        let run = app.run("x").await;
        let told = system(model.requests().last().unwrap());
        assert!(told.contains("- c:") && !told.contains("- a:"), "{told}");
        let events = app.events(&run, "").await;
        let missing = events
            .iter()
            .find(|it| it["data"]["code"] == "skill_missing");
        assert!(missing.unwrap().to_string().contains("gone"));
        let refused = named(json!(["a b"])).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        // What it named before stays; what is new has to be there.
        let kept = named(json!(["c", "gone", "a"])).await;
        assert_eq!(kept.status, 200, "{}", kept.body);
        write(app, "monthly.md", &skill("monthly", "Counts.", "[]"));
        let refused = named(json!(["gone", "montly", "zzz"])).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
        let message = refused.body["error"]["message"].as_str().unwrap();
        for part in [
            "config.skills",
            "'montly' (did you mean 'monthly'?)",
            "'zzz'",
        ] {
            assert!(message.contains(part), "{message}");
        }
        assert!(!message.contains("'gone'"), "{message}");
    })
    .await;
}

#[tokio::test]
async fn of_many_skills_those_are_told_that_fit() {
    on_both(async |app: &TestApp| {
        for i in 0..30 {
            let about = format!("Fills in form {i} of the tax office.");
            write(
                app,
                &format!("form{i}.md"),
                &skill(&format!("form{i}"), &about, "[]"),
            );
        }
        let about = "Writes the minutes of a meeting from somebody's notes.";
        write(app, "minutes.md", &skill("minutes", about, "[]"));
        let model = Model::saying(vec![]).await;
        app.agent(&model, json!({})).await;
        app.run("Please write the minutes of yesterday's meeting from my notes")
            .await;
        let told = system(&model.requests()[0]);
        assert!(told.contains("- minutes:"), "{told}");
        assert!(told.matches("- form").count() < 20, "{told}");
    })
    .await;
}
