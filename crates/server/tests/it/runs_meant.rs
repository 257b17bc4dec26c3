//! What a run is meant to do: whether a tool is wanted at all, what each part of a request needs, and people who do not want to
//! answer.

use crate::model::{Model, Say};
use crate::runs_people::{ask, careful, careful_call};
use crate::runs_planner::{begin, plain, tool};
use crate::testapp::{TestApp, on_both, on_both_with};
use catalog::policy::Policy;
use serde_json::{Value, json};

/// What goes by words alone does not carry out what is only asked about, or is to be undone or left.
#[tokio::test]
async fn what_wants_something_else_than_the_tool_does_is_not_carried_out_unasked() {
    on_both(async |app: &TestApp| {
        let room = json!({"room": {"enum": ["large", "small", "lab"]}});
        tool(
            app,
            "book_room",
            "Books a meeting room. 회의실을 예약합니다",
            room,
        )
        .await;
        let calls = async |input: &str| {
            let body = json!({"input": input, "tools": ["book_room"]});
            app.post("/api/v1/runs", body).await.body
        };
        let booked = calls("Book the large room").await;
        assert_eq!(booked["calls"], 1, "{booked}");
        for input in [
            "Cancel the booking of the large room",
            "large 회의실 예약 취소해줘",
            "Who booked the large room?",
            "Do not book the large room",
            "large 회의실을 예약하지 말아줘",
            // Of several parts one may be meant, and the others not.
            "Book the large room. Cancel the booking of the small room",
            "Book the large room. Otherwise book the small room",
            "Book the large room. No, book the small room instead",
        ] {
            let run = calls(input).await;
            assert_eq!(run["calls"], 0, "{input}: {run}");
        }
        // Whether it is meant at all comes before what it would need.
        for (answers, calls_made) in [(&["yes", "lab"][..], 1), (&["아니오"], 0)] {
            let mut run = calls("Cancel the booking of a meeting room").await;
            let asked = &run["pending"][0];
            assert_eq!(asked["schema"], json!({"type": "boolean"}), "{run}");
            let question = asked["question"].as_str().unwrap();
            assert!(question.contains("taken back"), "{question}");
            for answer in answers {
                app.answer(&run, &run["pending"][0], json!(answer)).await;
                run = app.rests(&run).await;
            }
            assert_eq!(run["calls"], calls_made, "{run}");
            assert_eq!(
                run["pending"],
                json!([]),
                "it is not asked about again: {run}"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_tool_that_two_parts_need_is_called_for_each() {
    on_both(async |app: &TestApp| {
        let of_user = json!({"user_name": {"type": "string", "description": "Whose limit"}});
        let about = "Looks up the daily limit of a user";
        tool(app, "daily_limit", about, of_user).await;
        plain(
            app,
            "list_drivers",
            "Lists all drivers of the fleet",
            json!({"read_only": true}),
        )
        .await;
        for (input, tool, member, expected) in [
            (
                "2^10 and the square root of 2",
                "calculator",
                "expression",
                json!(["2^10", "sqrt(2)"]),
            ),
            (
                "Look up the daily limit of Hong, and then look up the daily limit of Kim",
                "daily_limit",
                "user_name",
                json!(["Hong", "Kim"]),
            ),
            // What says more of the same is no second call.
            (
                "List all drivers of the fleet. List the drivers of the fleet all together",
                "list_drivers",
                "",
                json!([null]),
            ),
        ] {
            let body =
                json!({"input": input, "tools": ["calculator", "daily_limit", "list_drivers"]});
            let run = app.post("/api/v1/runs", body).await.body;
            let run = until_over(app, run).await;
            assert_eq!(run["pending"], json!([]), "{input}: {run}");
            let events = app.events(&run, "").await;
            let calls = events.iter().filter(|it| it["event"] == "tool_call");
            let calls: Vec<&Value> = calls.map(|it| &it["data"]).collect();
            assert!(
                calls.iter().all(|it| it["tool"] == tool),
                "{input}: {calls:?}"
            );
            let given: Vec<&Value> = calls.iter().map(|it| &it["arguments"][member]).collect();
            assert_eq!(json!(given), expected, "{input}");
        }
    })
    .await;
}

/// Whoever asked for two things must not think that both are done.
#[tokio::test]
async fn what_nothing_was_found_for_is_said() {
    on_both(async |app: &TestApp| {
        let of_user = json!({"user_name": {"type": "string", "description": "Whose limit"}});
        let about = "Looks up the daily limit of a user";
        tool(app, "daily_limit", about, of_user).await;
        for (input, calls, left) in [
            (
                "What is the capital of France and what is 2+2?",
                json!(["2 + 2"]),
                Some("What is the capital of France"),
            ),
            (
                "Calculate 3 * 4, then delete everything",
                json!(["3 * 4"]),
                Some("delete everything"),
            ),
            (
                "Look up the daily limit of Hong and email it to lee",
                json!(["Hong"]),
                Some("email it to lee"),
            ),
            (
                "Look up the daily limit of Hong, and what is 5 + 6?",
                json!(["Hong", "5 + 6"]),
                None,
            ),
            (
                "12.5% of 340 and what is 7*8",
                json!(["12.5% of 340", "7 * 8"]),
                None,
            ),
            (
                "Look up the daily limit of Hong and tell me the result",
                json!(["Hong"]),
                None,
            ),
        ] {
            let body = json!({"input": input, "tools": ["calculator", "daily_limit"]});
            let run = app.post("/api/v1/runs", body).await.body;
            let run = until_over(app, run).await;
            let events = app.events(&run, "").await;
            let made = events.iter().filter(|it| it["event"] == "tool_call");
            let first = |it: &Value| {
                it["data"]["arguments"]
                    .as_object()
                    .unwrap()
                    .values()
                    .next()
                    .cloned()
            };
            let made: Vec<Value> = made.filter_map(first).collect();
            assert_eq!(json!(made), calls, "{input}");
            // Tools made for a test call nothing that takes a user.
            let output = run["output"].as_str();
            let output = output.or(run["error"]["message"].as_str()).unwrap();
            let told = output.split("Not done: ").nth(1);
            assert_eq!(told, left, "{input}: {output}");
        }
    })
    .await;
}

#[tokio::test]
async fn without_an_answer_the_planner_calls_nothing_and_says_so() {
    on_both(async |app: &TestApp| {
        let parameters = json!({"day": {"type": "string", "format": "date"}});
        let about = "Books a meeting room on a day";
        tool(app, "book_room", about, parameters).await;
        for (input, says) in [
            ("Book a meeting room", "you did not want to give day"),
            ("book_room으로 회의실 예약해 줘", "답하지 않으신 값: day"),
        ] {
            let run = begin(app, input, "book_room").await;
            assert_eq!(
                run["pending"][0]["tool"], "book_room",
                "what it is for: {run}"
            );
            let done = app.decline(&run, &run["pending"][0]).await;
            assert_eq!(done["status"], "done", "{done}");
            assert_eq!(done["error"]["code"], "declined", "{done}");
            let output = done["output"].as_str().unwrap();
            assert!(output.contains(says), "{output}");
        }
        let run = begin(app, "do it please", "book_room").await;
        assert_eq!(run["pending"][0]["tool"], Value::Null, "{run}");
        let done = app.decline(&run, &run["pending"][0]).await;
        assert_eq!(done["output"], "Nothing was done, as you asked.", "{done}");
    })
    .await;
}

/// Approves of whatever it asks about.
async fn until_over(app: &TestApp, mut run: Value) -> Value {
    while run["status"] == "needs_input" {
        let asked = run["pending"][0].clone();
        assert_eq!(asked["kind"], "approval", "{run}");
        app.answer(&run, &asked, json!("yes")).await;
        run = app.rests(&run).await;
    }
    run
}

#[tokio::test]
async fn nobody_has_to_answer() {
    let tools = careful();
    on_both_with(tools, Policy::default(), async |app: &TestApp| {
        let pay = careful_call("6*7");
        let script = vec![
            ask("Which colour?"),
            Say::Calls(vec![pay]),
            Say::text("As you like."),
        ];
        let model = Model::saying(script).await;
        app.agent(&model, json!({})).await;
        let run = app.run("paint it").await;
        let path = format!("/api/v1/runs/{}/input", run["id"].as_str().unwrap());
        let request = &run["pending"][0]["request_id"];
        for odd in [
            json!({"request_id": request}),
            json!({"request_id": request, "decline": false}),
            json!({"request_id": request, "decline": true, "answer": "blue"}),
            json!({"request_id": request, "decline": true, "answer": null}),
        ] {
            let refused = app.post(&path, odd).await;
            assert_eq!(refused.status, 422, "{}", refused.body);
        }
        let asks = app.decline(&run, &run["pending"][0]).await;
        let done = app.decline(&run, &asks["pending"][0]).await;
        assert_eq!(done["output"], "As you like.", "{done}");
        let results = model.results();
        assert!(results[0].0.contains("does not want to answer") && results[0].1);
        assert!(results[1].0.contains("did not let") && results[1].1);
        let events = app.events(&run, "").await;
        let told = |name: &str| {
            let told = events.iter().filter(|it| it["event"] == name);
            told.map(|it| it["data"].clone()).collect::<Vec<_>>()
        };
        let answered = told("answered");
        assert_eq!(
            (&answered[0]["declined"], &answered[0]["answer"]),
            (&json!(true), &Value::Null)
        );
        assert_eq!(answered[1]["answer"], json!({"decision": "reject"}));
        assert_eq!(told("tool_result")[0]["code"], "declined");
    })
    .await;
}
