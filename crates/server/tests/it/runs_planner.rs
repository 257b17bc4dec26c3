//! The built-in planner and the people it asks: answers as people write them, days that do not move, what was said kept, and
//! nobody there to ask.

use crate::testapp::{ADMIN, TestApp, definition, on_both, on_both_runs};
use app::runs::Settings;
use serde_json::{Value, json};

const DAY_MS: i64 = 86_400_000;

/// A tool that takes what the parameters say, each required.
pub(crate) async fn tool(app: &TestApp, name: &str, description: &str, parameters: Value) {
    let mut tool = definition(name);
    let names: Vec<&String> = parameters.as_object().unwrap().keys().collect();
    tool["description"] = json!(description);
    tool["input_schema"] =
        json!({"type": "object", "required": names, "properties": parameters.clone()});
    let made = app.post("/api/v1/tools", tool).await;
    assert_eq!(made.status, 201, "{}", made.body);
}

pub(crate) async fn begin(app: &TestApp, input: &str, tool: &str) -> Value {
    let body = json!({"input": input, "tools": [tool]});
    let run = app.post("/api/v1/runs", body).await;
    assert_eq!(run.body["status"], "needs_input", "{}", run.body);
    run.body
}

/// What a tool was called with in a run.
async fn called_with(app: &TestApp, run: &Value, tool: &str) -> Value {
    let events = app.events(run, "").await;
    let started = |it: &&Value| it["event"] == "tool_started" && it["data"]["tool"] == tool;
    let started = events.iter().find(started);
    started.unwrap_or_else(|| panic!("{events:?}"))["data"]["arguments"].clone()
}

#[tokio::test]
async fn people_answer_as_they_write() {
    on_both(async |app: &TestApp| {
        let text = json!({"type": "string"});
        let number = json!({"type": "integer", "maximum": 5000});
        let flag = json!({"type": "boolean"});
        let day = json!({"type": "string", "format": "date"});
        for (at, (schema, answer, expected)) in [
            (&text, "12345", json!("12345")),
            (&text, "true", json!("true")),
            (&text, "{\"a\": 1}", json!("{\"a\": 1}")),
            (&number, "1,200개", json!(1200)),
            (&flag, "yes", json!(true)),
            (&flag, "아니요", json!(false)),
            (&day, "tomorrow", json!("2027-01-16")),
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("file_report_{at}");
            let about = "Files the quarterly report of the warehouse";
            tool(app, &name, about, json!({"it": schema})).await;
            let run = begin(app, "File the quarterly report of the warehouse", &name).await;
            let said = app.answer(&run, &run["pending"][0], json!(answer)).await;
            assert_eq!(said.status, 200, "{answer}: {}", said.body);
            app.rests(&run).await;
            let called = called_with(app, &run, &name).await;
            assert_eq!(called["it"], expected, "{answer}");
        }
        // What cannot be read is refused at once, and the question stands.
        let run = begin(app, "File the quarterly report", "file_report_3").await;
        for (answer, says) in [("some", "a whole number"), ("6000", "5000")] {
            let said = app.answer(&run, &run["pending"][0], json!(answer)).await;
            assert_eq!(said.status, 422, "{}", said.body);
            let message = said.body["error"]["message"].as_str().unwrap();
            assert!(message.contains(says), "{message}");
        }
        assert_eq!(app.rests(&run).await["status"], "needs_input");
    })
    .await;
}

#[tokio::test]
async fn what_was_asked_for_tomorrow_stays_on_its_day() {
    on_both(async |app: &TestApp| {
        let parameters = json!({
            "day": {"type": "string", "format": "date", "description": "The day"},
            "people": {"type": "integer", "description": "How many people come"},
        });
        let about = "Books a meeting room on a day for a number of people";
        tool(app, "book_room", about, parameters).await;
        let run = begin(app, "Book a meeting room for tomorrow", "book_room").await;
        app.clock.advance(DAY_MS);
        app.answer(&run, &run["pending"][0], json!("twelve people"))
            .await;
        app.rests(&run).await;
        assert_eq!(
            called_with(app, &run, "book_room").await,
            json!({"day": "2027-01-16", "people": 12})
        );
    })
    .await;
}

#[tokio::test]
async fn what_was_said_when_it_was_not_clear_is_kept() {
    on_both(async |app: &TestApp| {
        let parameters = json!({
            "amount": {"type": "number", "description": "How much money"},
            "currency": {"type": "string", "enum": ["EUR", "KRW", "USD"]},
        });
        let about = "Converts an amount of money to another currency";
        tool(app, "convert_money", about, parameters).await;
        let run = begin(app, "do it please", "convert_money").await;
        assert_eq!(run["pending"][0]["schema"], json!({"type": "string"}));
        let more = json!("convert an amount of money: 250");
        app.answer(&run, &run["pending"][0], more).await;
        let run = app.rests(&run).await;
        let asked = &run["pending"][0];
        assert_eq!(
            asked["schema"]["enum"][1], "KRW",
            "only the currency: {run}"
        );
        app.answer(&run, asked, json!("krw")).await;
        app.rests(&run).await;
        assert_eq!(
            called_with(app, &run, "convert_money").await,
            json!({"amount": 250, "currency": "KRW"})
        );
    })
    .await;
}

/// What is said when it was not clear is a request, and no text that the first one hands over.
#[tokio::test]
async fn what_is_said_when_it_was_not_clear_is_no_text_to_work_on() {
    on_both(async |app: &TestApp| {
        let parameters = json!({
            "text": {"type": "string"},
            "target_language": {"type": "string", "enum": ["ko", "en", "ja"]},
        });
        let about = "Translates a text into another language";
        tool(app, "translate_text", about, parameters).await;
        let run = begin(app, "do it please", "translate_text").await;
        let more = json!("translate a text into another language, into Korean");
        app.answer(&run, &run["pending"][0], more).await;
        let run = app.rests(&run).await;
        let asked = &run["pending"][0];
        assert_eq!(asked["schema"], json!({"type": "string"}), "{run}");
        app.answer(&run, asked, json!("hello")).await;
        app.rests(&run).await;
        assert_eq!(
            called_with(app, &run, "translate_text").await,
            json!({"text": "hello", "target_language": "ko"})
        );
    })
    .await;
}

#[tokio::test]
async fn a_run_after_another_answers_what_it_was_asked() {
    on_both(async |app: &TestApp| {
        let first = app
            .post("/api/v1/runs", json!({"input": "What is 12.5% of 340?"}))
            .await
            .body;
        assert_eq!(first["output"], "42.5");
        let next = json!({"input": "What is 3 * 4?", "after": first["id"]});
        let second = app.post("/api/v1/runs", next).await.body;
        assert_eq!(second["output"], "12", "{second}");
        // No two calls of a conversation have one id, and each is one that every provider takes.
        let id = |events: Vec<Value>| {
            let call = events.iter().find(|it| it["event"] == "tool_call").cloned();
            call.unwrap()["data"]["call_id"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        let (one, other) = (
            id(app.events(&first, "").await),
            id(app.events(&second, "").await),
        );
        assert_ne!(one, other);
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        assert!(one.chars().all(plain), "{one}");
    })
    .await;
}

#[tokio::test]
async fn where_nobody_can_be_asked_it_is_said_what_is_missing() {
    on_both(async |app: &TestApp| {
        let rules = json!({"rules": [{"subject": "everyone", "hide": ["request_human_input"]}]});
        let set = app.as_key(ADMIN, "PUT", "/api/v1/policy", rules).await;
        assert_eq!(set.status, 200, "{}", set.body);
        let about = "Files the quarterly report of the warehouse";
        tool(
            app,
            "file_report",
            about,
            json!({"quarter": {"type": "integer"}}),
        )
        .await;
        let body = json!({"input": "File the quarterly report", "tools": ["file_report"]});
        let run = app.post("/api/v1/runs", body).await.body;
        assert_eq!(run["status"], "done", "{run}");
        assert_eq!(run["calls"], 0, "{run}");
        let output = run["output"].as_str().unwrap();
        assert!(output.contains("quarter"), "{output}");
    })
    .await;
}

/// Whoever reads only how a run ended must not think that something was done.
#[tokio::test]
async fn a_run_whose_only_call_failed_has_failed() {
    on_both(async |app: &TestApp| {
        let ran = app
            .post("/api/v1/runs", json!({"input": "What is 1 / 0?"}))
            .await
            .body;
        assert_eq!(ran["status"], "failed", "{ran}");
        assert_eq!(ran["error"]["code"], "tools_failed", "{ran}");
        let said = ran["error"]["message"].as_str().unwrap();
        assert!(said.contains("calculator"), "{ran}");
    })
    .await;
}

#[tokio::test]
async fn what_may_destroy_something_is_asked_about_first() {
    on_both(async |app: &TestApp| {
        let mut wipes = definition("wipe_archive");
        wipes["description"] = json!("Wipes the archive of the warehouse");
        wipes["annotations"] = json!({"destructive": true});
        let made = app.post("/api/v1/tools", wipes).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let wanted = r#"Wipe the archive of the warehouse, expression="7""#;
        let run = begin(app, wanted, "wipe_archive").await;
        let asked = &run["pending"][0];
        assert_eq!(asked["kind"], "approval", "{run}");
        assert_eq!(asked["arguments"], json!({"expression": "7"}), "{run}");
        assert_eq!(run["calls"], 0, "{run}");
        app.answer(&run, asked, json!("reject")).await;
        let refused = app.rests(&run).await;
        assert_eq!(refused["status"], "done", "{refused}");
        let run = begin(app, wanted, "wipe_archive").await;
        app.answer(&run, &run["pending"][0], json!("approve")).await;
        let done = app.rests(&run).await;
        assert_eq!(
            (&done["status"], &done["output"]),
            (&json!("done"), &json!("7")),
            "{done}"
        );
        // What only looks is not asked about.
        let run = app
            .post("/api/v1/runs", json!({"input": "1+1은?"}))
            .await
            .body;
        assert_eq!(
            (&run["status"], &run["output"]),
            (&json!("done"), &json!("2")),
            "{run}"
        );
    })
    .await;
}

/// A tool without parameters.
pub(crate) async fn plain(app: &TestApp, name: &str, description: &str, annotations: Value) {
    let mut tool = definition(name);
    tool["description"] = json!(description);
    tool["annotations"] = annotations;
    tool["input_schema"] = json!({"type": "object", "properties": {}});
    let made = app.post("/api/v1/tools", tool).await;
    assert_eq!(made.status, 201, "{}", made.body);
}

#[tokio::test]
async fn nothing_overtakes_a_call_that_waits() {
    on_both(async |app: &TestApp| {
        let wipes = json!({"destructive": true});
        plain(
            app,
            "wipe_archive",
            "Wipes the archive of the warehouse",
            wipes,
        )
        .await;
        let looks = json!({"read_only": true});
        plain(app, "list_drivers", "Lists all drivers of the fleet", looks).await;
        let input = "Wipe the archive of the warehouse, and then list all drivers of the fleet";
        let body = json!({"input": input, "tools": ["wipe_archive", "list_drivers"]});
        let run = app.post("/api/v1/runs", body).await.body;
        assert_eq!(run["pending"][0]["tool"], "wipe_archive", "{run}");
        assert_eq!(run["calls"], 0, "{run}");
        app.answer(&run, &run["pending"][0], json!("reject")).await;
        app.rests(&run).await;
        called_with(app, &run, "list_drivers").await;
    })
    .await;
}

#[tokio::test]
async fn a_calculation_goes_only_to_what_takes_one() {
    on_both(async |app: &TestApp| {
        let looks = json!({"read_only": true});
        plain(app, "list_drivers", "Lists all drivers of the fleet", looks).await;
        let volume = json!({"volume": {"type": "number"}});
        tool(app, "set_volume", "Sets the volume", volume).await;
        for tools in ["list_drivers", "set_volume"] {
            for input in ["2^10", "sqrt 16"] {
                let body = json!({"input": input, "tools": [tools]});
                let run = app.post("/api/v1/runs", body).await.body;
                assert_eq!(run["calls"], 0, "{tools} {input}: {run}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_calculation_among_other_things_to_do_is_made_too() {
    on_both(async |app: &TestApp| {
        let looks = json!({"read_only": true});
        plain(app, "list_drivers", "Lists all drivers of the fleet", looks).await;
        let body = json!({
            "input": "Add 5 and 6, then list all drivers of the fleet",
            "tools": ["calculator", "list_drivers"],
        });
        let run = app.post("/api/v1/runs", body).await.body;
        assert_eq!(run["calls"], 2, "{run}");
        let output = run["output"].as_str().unwrap();
        assert!(output.contains("11"), "{output}");
    })
    .await;
}

/// What a run was not allowed to call is told, with what came of the calls before it.
#[tokio::test]
async fn a_limit_takes_nothing_from_what_was_done() {
    for (steps, calls, told, code) in [
        (2, 100, ["5", "6"], "max_steps"),
        (
            20,
            1,
            ["5", "`list_trucks` was not called: The run made 1 call"],
            "max_tool_calls",
        ),
    ] {
        let mut runs = Settings::default();
        runs.limits.steps_max = steps;
        runs.limits.calls_max = calls;
        on_both_runs(runs, async |app: &TestApp| {
            let one = |it: &str| json!({"expression": {"const": it}});
            tool(
                app,
                "list_drivers",
                "Lists all drivers of the fleet",
                one("2+3"),
            )
            .await;
            tool(
                app,
                "list_trucks",
                "Lists all trucks of the fleet",
                one("2*3"),
            )
            .await;
            let input = "List all drivers of the fleet, and then list all trucks of the fleet";
            let body = json!({"input": input, "tools": ["list_drivers", "list_trucks"]});
            let run = app.post("/api/v1/runs", body).await.body;
            assert_eq!(run["status"], "done", "{run}");
            assert_eq!(run["error"]["code"], code, "{run}");
            let output = run["output"].as_str().unwrap();
            let lines: Vec<&str> = output.lines().collect();
            let is_told = |it: &&str| {
                let named = format!(": {it}");
                lines
                    .iter()
                    .any(|line| line == it || line.ends_with(&named))
            };
            assert!(told.iter().all(is_told), "{output}");
        })
        .await;
    }
}

#[tokio::test]
async fn a_run_whose_only_call_never_began_has_failed_unless_somebody_wanted_that() {
    on_both(async |app: &TestApp| {
        plain(
            app,
            "wipe_archive",
            "창고의 보관함을 모두 지웁니다. Wipes the archive of the warehouse",
            json!({"destructive": true}),
        )
        .await;
        let wanted = "창고의 보관함을 모두 지워줘";
        let run = begin(app, wanted, "wipe_archive").await;
        app.answer(&run, &run["pending"][0], json!("reject")).await;
        let refused = app.rests(&run).await;
        assert_eq!(refused["status"], "done", "{refused}");
        let output = refused["output"].as_str().unwrap();
        assert!(output.contains("허락하지 않았습니다"), "{output}");
        assert!(!output.contains("was not called"), "{output}");
        let run = begin(app, wanted, "wipe_archive").await;
        let path = "/api/v1/tools/wipe_archive";
        let gone = app.as_key(ADMIN, "DELETE", path, Value::Null).await;
        assert_eq!(gone.status, 204, "{}", gone.body);
        app.answer(&run, &run["pending"][0], json!("approve")).await;
        let failed = app.rests(&run).await;
        assert_eq!(failed["status"], "failed", "{failed}");
        assert_eq!(failed["error"]["code"], "tools_failed", "{failed}");
        // The same where it is gone before its arguments are told.
        let about = "Files the quarterly report of the warehouse";
        let quarter = json!({"quarter": {"type": "integer"}});
        tool(app, "file_report", about, quarter).await;
        let run = begin(app, "File the quarterly report", "file_report").await;
        let path = "/api/v1/tools/file_report";
        let gone = app.as_key(ADMIN, "DELETE", path, Value::Null).await;
        assert_eq!(gone.status, 204, "{}", gone.body);
        app.answer(&run, &run["pending"][0], json!("3")).await;
        let failed = app.rests(&run).await;
        assert_eq!(failed["error"]["code"], "tools_failed", "{failed}");
        let why = failed["error"]["message"].as_str().unwrap();
        assert!(why.contains("'file_report' is not there any more"), "{why}");
    })
    .await;
}

/// Without a model, what a person reads of a call that failed is what the tool's failure says: no JSON for programs.
#[tokio::test]
async fn a_call_that_is_blocked_is_told_in_words() {
    on_both(async |app: &TestApp| {
        let parameters = json!({"it": {"type": "integer"}});
        let about = "Files the quarterly report of the warehouse";
        tool(app, "file_report", about, parameters).await;
        let run = begin(app, "File the quarterly report", "file_report").await;
        let rule = json!({"rules": [{"subject": "everyone", "deny": ["file_report"]}]});
        let set = app.as_key(ADMIN, "PUT", "/api/v1/policy", rule).await;
        assert_eq!(set.status, 200, "{}", set.body);
        app.answer(&run, &run["pending"][0], json!("3")).await;
        let run = app.rests(&run).await;
        assert_eq!(run["error"]["code"], "tools_failed", "{run}");
        let message = run["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("Blocked by the policy for everyone") && !message.contains('{'),
            "{message}"
        );
    })
    .await;
}
