//! Runs that wait for people: questions, approvals, restarts, expiry, and who may answer.

use crate::model::{Model, Say};
use crate::runs::calculate;
use crate::scripted::until;
use crate::testapp::{ADMIN, Answer, TestApp, definition, on_both, on_both_with};
use catalog::policy::Policy;
use serde_json::{Value, json};

const DAY_MS: i64 = 86_400_000;

impl TestApp {
    pub(crate) async fn answer(&self, run: &Value, pending: &Value, answer: Value) -> Answer {
        let id = run["id"].as_str().unwrap();
        let body = json!({"request_id": pending["request_id"], "answer": answer});
        self.post(&format!("/api/v1/runs/{id}/input"), body).await
    }

    /// What comes of it where somebody does not want to answer.
    pub(crate) async fn decline(&self, run: &Value, pending: &Value) -> Value {
        let id = run["id"].as_str().unwrap();
        let body = json!({"request_id": pending["request_id"], "decline": true});
        let said = self.post(&format!("/api/v1/runs/{id}/input"), body).await;
        assert_eq!(said.status, 200, "{}", said.body);
        self.rests(run).await
    }

    /// The run once it is not under way.
    pub(crate) async fn rests(&self, run: &Value) -> Value {
        let id = run["id"].as_str().unwrap();
        let view = self
            .get(&format!("/api/v1/runs/{id}?wait_seconds=60"))
            .await;
        assert_eq!(view.status, 200, "{}", view.body);
        view.body
    }
}

pub(crate) fn ask(question: &str) -> Say {
    Say::call("request_human_input", json!({"question": question}))
}

/// A tool that asks for approval, on the file shelf.
pub(crate) fn careful() -> Value {
    let mut tool = definition("careful");
    tool["approval"] = json!("always");
    json!([tool])
}

pub(crate) fn careful_call(expression: &str) -> (&'static str, Value) {
    ("careful", json!({"expression": expression}))
}

#[tokio::test]
async fn a_question_waits_over_a_restart_and_is_answered_the_next_day() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![ask("Which colour?"), Say::text("Blue it is.")]).await;
        app.agent(&model, json!({})).await;
        let run = app.run("paint it").await;
        assert_eq!(run["status"], "needs_input", "{run}");
        let pending = &run["pending"][0];
        assert_eq!(
            (&pending["kind"], &pending["question"]),
            (&json!("question"), &json!("Which colour?"))
        );
        let waiting = app.get("/api/v1/runs?status=needs_input").await;
        assert_eq!(waiting.body["items"][0]["pending"][0], *pending);
        let next = app.restart().await;
        next.clock.advance(DAY_MS);
        let wrong = next.answer(&run, pending, json!(5)).await;
        assert_eq!(wrong.status, 422, "{}", wrong.body);
        let answered = next.answer(&run, pending, json!("blue")).await;
        assert_eq!(answered.status, 200, "{}", answered.body);
        let done = next.rests(&run).await;
        assert_eq!(
            (&done["status"], &done["output"]),
            (&json!("done"), &json!("Blue it is.")),
            "{done}"
        );
        assert_eq!(model.results()[0], ("blue".to_owned(), false));
        let twice = next.answer(&run, pending, json!("red")).await;
        assert_eq!(twice.status, 409, "{}", twice.body);
        next.stop().await;
    })
    .await;
}

#[tokio::test]
async fn an_answer_fits_its_choices_or_its_form() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![
            Say::call("request_human_input", json!({"question": "?", "choices": ["red", "blue"]})),
            Say::call("request_human_input", json!({"question": "?", "schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}})),
        ])
        .await;
        app.agent(&model, json!({})).await;
        let run = app.run("choose").await;
        assert_eq!(app.answer(&run, &run["pending"][0], json!("green")).await.status, 422);
        assert_eq!(app.answer(&run, &run["pending"][0], json!("red")).await.status, 200);
        let run = app.rests(&run).await;
        assert_eq!(app.answer(&run, &run["pending"][0], json!({"n": "x"})).await.status, 422);
        assert_eq!(app.answer(&run, &run["pending"][0], json!({"n": 3})).await.status, 200);
        let run = app.rests(&run).await;
        assert_eq!(run["status"], "done", "{run}");
        assert_eq!(model.results()[1].0, "{\"n\":3}");
    })
    .await;
}

#[tokio::test]
async fn two_calls_wait_for_approval_and_are_decided_in_the_other_order() {
    on_both_with(careful(), Policy::default(), async |app: &TestApp| {
        let calls = vec![
            careful_call("1+1"),
            careful_call("2+2"),
            ("calculator", json!({"expression": "3+3"})),
        ];
        let model = Model::saying(vec![Say::Calls(calls)]).await;
        app.agent(&model, json!({})).await;
        let run = app.run("do it").await;
        assert_eq!(run["pending"].as_array().unwrap().len(), 2, "{run}");
        assert_eq!(run["calls"], 1, "what needs no approval runs meanwhile");
        let [first, second] = [&run["pending"][0], &run["pending"][1]];
        assert_eq!(
            (&first["kind"], &first["tool"]),
            (&json!("approval"), &json!("careful"))
        );
        // Who sends arguments means them: to approve of the others would be something else.
        let half = json!({"decision": "approve", "arguments": {"expression": "20+20"}});
        assert_eq!(app.answer(&run, second, half).await.status, 422);
        let edited = json!({"decision": "edit", "arguments": {"expression": "20+20"}});
        assert_eq!(
            app.answer(&run, second, json!({"decision": "edit", "arguments": {}}))
                .await
                .status,
            422
        );
        let once = app.answer(&run, second, edited).await;
        assert_eq!(once.status, 200, "{}", once.body);
        let between = until("the second has run", async || {
            let run = app.rests(&run).await;
            (run["calls"] == 2).then_some(run)
        })
        .await;
        assert_eq!(between["pending"].as_array().unwrap().len(), 1, "{between}");
        let decision = json!({"decision": "reject", "text": "not today"});
        assert_eq!(app.answer(&run, first, decision).await.status, 200);
        let done = app.rests(&run).await;
        assert_eq!(done["status"], "done", "{done}");
        let results = model.results();
        assert!(
            results[0].0.ends_with("not today") && results[0].1,
            "{results:?}"
        );
        assert!(
            results[1].0.contains("40") && results[2].0.contains('6'),
            "{results:?}"
        );
    })
    .await;
}

/// The driver that has asked is slow to let go: its next write takes half a second, and only that one.
async fn slow_to_let_go(app: &TestApp) {
    let store::Db::Postgres(pool, ..) = &app.server.app.store else {
        return;
    };
    let statements = "
        CREATE SEQUENCE slowed;
        CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF EXISTS (SELECT FROM runs WHERE status = 'needs_input' AND node IS NOT NULL)
                AND nextval('slowed') = 1 THEN PERFORM pg_sleep(0.5); END IF;
            RETURN NULL; END $$;
        CREATE TRIGGER slow BEFORE UPDATE ON runs FOR EACH STATEMENT EXECUTE FUNCTION slow()";
    sqlx::raw_sql(statements).execute(pool).await.unwrap();
}

/// A question is told before its driver has let go of the run: whoever answers at once and waits is told what comes of that.
#[tokio::test]
async fn whoever_answers_at_once_waits_for_what_comes_of_it() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![ask("And now?"), Say::text("Well then.")]).await;
        app.agent(&model, json!({})).await;
        slow_to_let_go(app).await;
        let run = app.run("x").await;
        let answered = app.answer(&run, &run["pending"][0], json!("on")).await;
        assert_eq!(answered.status, 200, "{}", answered.body);
        let run = app.rests(&run).await;
        assert_eq!(
            (&run["status"], &run["output"]),
            (&json!("done"), &json!("Well then.")),
            "{run}"
        );
    })
    .await;
}

#[tokio::test]
async fn always_and_respond_and_a_word_that_is_none() {
    on_both_with(careful(), Policy::default(), async |app: &TestApp| {
        let one = |expression| Say::Calls(vec![careful_call(expression)]);
        let model = Model::saying(vec![one("1"), one("2"), one("3"), Say::text("ok")]).await;
        app.agent(&model, json!({})).await;
        let run = app.run("do it").await;
        for odd in ["perhaps", "yes, but only half of it"] {
            let odd = app.answer(&run, &run["pending"][0], json!(odd)).await;
            assert_eq!(odd.status, 422, "{}", odd.body);
        }
        let respond = json!({"decision": "respond", "text": "take 9"});
        assert_eq!(
            app.answer(&run, &run["pending"][0], respond).await.status,
            200
        );
        let run = app.rests(&run).await;
        assert_eq!(
            app.answer(&run, &run["pending"][0], json!("항상"))
                .await
                .status,
            200
        );
        let run = app.rests(&run).await;
        assert_eq!(
            (&run["status"], &run["calls"]),
            (&json!("done"), &json!(2)),
            "{run}"
        );
        let results = model.results();
        assert_eq!(results[0], ("take 9".to_owned(), false));
        // Whoever reads along is told of an end of each call, too.
        let events = app.events(&run, "").await;
        let of = |name: &str| events.iter().filter(|it| it["event"] == name).count();
        assert_eq!((of("tool_call"), of("tool_result")), (3, 3), "{events:?}");
    })
    .await;
}

#[tokio::test]
async fn what_was_read_outside_destroys_nothing_without_approval() {
    let mut reads = definition("reads");
    reads["annotations"] = json!({"readOnlyHint": true, "openWorldHint": true});
    let mut wipes = definition("wipes");
    wipes["annotations"] = json!({"readOnlyHint": false, "destructiveHint": true});
    on_both_with(
        json!([reads, wipes]),
        Policy::default(),
        async |app: &TestApp| {
            let call = |name| Say::call(name, json!({"expression": "1"}));
            let model = Model::saying(vec![call("wipes"), call("reads"), call("wipes")]).await;
            app.agent(&model, json!({})).await;
            let run = app.run("clean up").await;
            assert_eq!(run["status"], "needs_input", "{run}");
            assert_eq!(run["calls"], 2, "before it read anything, it was let");
            assert_eq!(run["pending"][0]["tool"], "wipes");
            assert!(!run["pending"][0]["because"].as_str().unwrap().is_empty());
        },
    )
    .await;
}

#[tokio::test]
async fn nobody_answers_and_the_run_expires() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![ask("?")]).await;
        app.agent(&model, json!({})).await;
        let run = app.run("wait").await;
        app.clock.advance(8 * DAY_MS);
        let late = app.answer(&run, &run["pending"][0], json!("x")).await;
        assert_eq!(late.status, 409, "{}", late.body);
        let id = run["id"].as_str().unwrap();
        let over = until("it expires", async || {
            let view = app.get(&format!("/api/v1/runs/{id}")).await.body;
            (view["status"] == "expired").then_some(view)
        })
        .await;
        assert_eq!(over["error"]["code"], "expired");
    })
    .await;
}

#[tokio::test]
async fn a_run_is_its_owners_and_ends_with_their_rights() {
    on_both(async |app: &TestApp| {
        let model = Model::saying(vec![ask("?"), calculate("1+1")]).await;
        app.agent(&model, json!({"is_public": true})).await;
        let kim = app.person("kim", "author").await;
        let lee = app.person("lee", "author").await;
        let body = json!({"input": "hi", "agent": "helper"});
        let run = app
            .as_key(&kim.key, "POST", "/api/v1/runs", body)
            .await
            .body;
        let id = run["id"].as_str().unwrap();
        let path = format!("/api/v1/runs/{id}");
        assert_eq!(
            app.as_key(&lee.key, "GET", &path, Value::Null).await.status,
            404
        );
        let listed = app
            .as_key(&lee.key, "GET", "/api/v1/runs", Value::Null)
            .await;
        assert_eq!(listed.body["items"], json!([]));
        let input = json!({"request_id": run["pending"][0]["request_id"], "answer": "x"});
        let foreign = app
            .as_key(&lee.key, "POST", &format!("{path}/input"), input.clone())
            .await;
        assert_eq!(foreign.status, 404);
        let gone = app
            .as_key(ADMIN, "DELETE", "/api/v1/users/kim", Value::Null)
            .await;
        assert!(gone.status < 300, "{}", gone.body);
        // An admin may answer for them, but nothing is done on behalf of somebody who is gone.
        assert_eq!(app.post(&format!("{path}/input"), input).await.status, 200);
        let over = app.rests(&run).await;
        assert_eq!(
            (&over["status"], &over["error"]["code"]),
            (&json!("failed"), &json!("forbidden")),
            "{over}"
        );
        assert_eq!(model.requests().len(), 1);
    })
    .await;
}

async fn change_careful(app: &TestApp) {
    let other = json!({"description": "Does something else now"});
    let path = "/api/v1/tools/careful";
    let changed = app.as_key(ADMIN, "PATCH", path, other).await;
    assert_eq!(changed.status, 200, "{}", changed.body);
}

/// What a run asks anew, since the tool is another one than somebody let run; then it is let run.
async fn asked_anew(app: &TestApp, run: &Value, before: &Value) {
    let again = until("it asks again", async || {
        let run = app.rests(run).await;
        (run["pending"][0]["request_id"] != before["request_id"]).then_some(run)
    })
    .await;
    let because = again["pending"][0]["because"].as_str().unwrap();
    assert!(because.contains("was changed"), "{again}");
    let approved = app.answer(run, &again["pending"][0], json!("approve"));
    assert_eq!(approved.await.status, 200);
}

/// Days may lie between a question and its answer.
#[tokio::test]
async fn a_tool_that_was_changed_meanwhile_is_asked_about_anew() {
    on_both_with(careful(), Policy::default(), async |app: &TestApp| {
        let model = Model::saying(vec![Say::Calls(vec![careful_call("1+1")])]).await;
        app.agent(&model, json!({})).await;
        let run = app.run("do it").await;
        change_careful(app).await;
        let pending = &run["pending"][0];
        let edit = json!({"decision": "edit", "arguments": {"expression": "2+2"}});
        assert_eq!(app.answer(&run, pending, edit).await.status, 200);
        asked_anew(app, &run, pending).await;
        let done = app.rests(&run).await;
        assert_eq!(
            (&done["status"], &done["calls"]),
            (&json!("done"), &json!(1)),
            "{done}"
        );
        let log = app.get("/api/v1/executions?tool=careful").await;
        assert_eq!(log.body["items"][0]["arguments"]["expression"], "2+2");
    })
    .await;
}

#[tokio::test]
async fn always_is_for_the_tool_as_it_was() {
    on_both_with(careful(), Policy::default(), async |app: &TestApp| {
        let model = Model::saying(vec![
            Say::Calls(vec![careful_call("1+1")]),
            Say::Calls(vec![careful_call("2+2")]),
            Say::Hold("Once more", vec![careful_call("3+3")]),
        ])
        .await;
        app.agent(&model, json!({})).await;
        let run = app.run("do it").await;
        let pending = &run["pending"][0];
        assert_eq!(app.answer(&run, pending, json!("always")).await.status, 200);
        until("it was called twice unasked", async || {
            (model.requests().len() == 3).then_some(())
        })
        .await;
        change_careful(app).await;
        model.go_on();
        asked_anew(app, &run, pending).await;
        let done = app.rests(&run).await;
        assert_eq!(
            (&done["status"], &done["calls"]),
            (&json!("done"), &json!(3)),
            "{done}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_right_that_is_taken_away_ends_a_run_that_is_under_way() {
    on_both(async |app: &TestApp| {
        let sum = vec![("calculator", json!({"expression": "1+1"}))];
        let model = Model::saying(vec![Say::Hold("Let me see", sum)]).await;
        app.agent(&model, json!({"is_public": true})).await;
        let kim = app.person("kim", "author").await;
        let body = json!({"input": "hi", "agent": "helper", "wait": false});
        let run = app
            .as_key(&kim.key, "POST", "/api/v1/runs", body)
            .await
            .body;
        until("the model is asked", async || {
            (model.requests().len() == 1).then_some(())
        })
        .await;
        let admin = ADMIN;
        let gone = app
            .as_key(admin, "DELETE", "/api/v1/users/kim", Value::Null)
            .await;
        assert!(gone.status < 300, "{}", gone.body);
        model.go_on();
        let over = app.rests(&run).await;
        assert_eq!(
            (&over["status"], &over["error"]["code"], &over["calls"]),
            (&json!("failed"), &json!("forbidden"), &json!(0)),
            "{over}"
        );
        let log = app.get("/api/v1/executions?tool=calculator").await;
        assert_eq!(log.body["items"], json!([]));
    })
    .await;
}

#[tokio::test]
async fn the_planner_asks_for_what_a_request_does_not_say() {
    on_both(async |app: &TestApp| {
        let tool = json!({
            "name": "book_room", "kind": "builtin", "config": {"name": "calculator"}, "description": "Books a meeting room for a number of people",
            "input_schema": {"type": "object", "properties": {"expression": {"type": "string"}, "people": {"type": "integer", "description": "How many people"}}, "required": ["expression", "people"]},
            "examples": ["book a meeting room", "reserve a room for a meeting"]
        });
        app.post("/api/v1/tools", tool).await;
        let body = json!({"input": "Book a meeting room", "tools": ["book_room"]});
        let run = app.post("/api/v1/runs", body).await.body;
        assert_eq!(run["status"], "needs_input", "{run}");
        assert!(run["pending"][0]["schema"].to_string().contains("integer"), "{run}");
    })
    .await;
}

#[tokio::test]
async fn the_planner_waits_for_an_approval_as_a_model_does() {
    let mut tools = careful();
    tools[0]["description"] = json!(
        "Evaluates an arithmetic expression exactly: + - * / ^ %, parentheses, percentages ('12.5% of 340'). Use it for any calculation with numbers."
    );
    on_both_with(tools, Policy::default(), async |app: &TestApp| {
        let body = json!({"input": "What is 12.5% of 340?", "tools": ["careful"]});
        let run = app.post("/api/v1/runs", body.clone()).await.body;
        assert_eq!(run["status"], "needs_input", "{run}");
        let pending = &run["pending"][0];
        assert_eq!(
            (&pending["kind"], &pending["tool"]),
            (&json!("approval"), &json!("careful"))
        );
        app.answer(&run, pending, json!("approve")).await;
        let done = app.rests(&run).await;
        assert_eq!(
            (&done["status"], &done["output"]),
            (&json!("done"), &json!("42.5")),
            "{done}"
        );
        let run = app.post("/api/v1/runs", body).await.body;
        app.answer(&run, &run["pending"][0], json!("reject")).await;
        let done = app.rests(&run).await;
        assert_eq!(
            (&done["status"], &done["calls"]),
            (&json!("done"), &json!(0)),
            "{done}"
        );
        assert_eq!(
            done["error"]["code"], "rejected",
            "nothing was done: {done}"
        );
        // Who only asks which tool fits is told of none that would not run.
        let asked = json!({"query": "What is 12.5% of 340?", "tools": ["careful"]});
        let chosen = app.post("/api/v1/select", asked).await.body;
        assert_eq!(chosen["outcome"], "none", "{chosen}");
    })
    .await;
}
