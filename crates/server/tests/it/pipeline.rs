//! The seven-step pipeline over REST: what is skipped, blocked, called and kept, as the team that asked for it wrote it
//! down.

use crate::model::{Model, Say};
use crate::testapp::{ADMIN, Setup, TestApp, on_both_given};
use app::pipeline::{Request, Settings};
use catalog::caller::{Caller, Role, Transport};
use catalog::policy::Policy;
use serde_json::{Value, json};
use std::sync::Arc;

const PATH: &str = "/api/v1/pipeline";
const STEPS: [&str; 7] = [
    "intent", "retrieve", "plan", "tools", "compose", "cite", "respond",
];

fn with_tools(is_on: bool) -> Setup {
    Setup {
        pipeline: Settings {
            mcp_tools: is_on,
            ..Settings::default()
        },
        ..Setup::default()
    }
}

/// A tool that waits as it is told; `also` is put to its definition.
fn waiting(name: &str, also: &Value) -> Value {
    let mut tool = json!({
        "name": name, "description": "Waits.", "kind": "builtin", "config": {"name": "fixture_wait"},
        "input_schema": {"type": "object", "properties": {"seconds": {"type": "number"}, "fail": {"type": "string"}}}
    });
    for (key, value) in also.as_object().unwrap() {
        tool[key] = value.clone();
    }
    tool
}

/// Runs a test with the tools step on.
async fn on<F: AsyncFn(&TestApp)>(tools: Value, policy: Policy, test: F) {
    on_both_given(tools, policy, with_tools(true), test).await;
}

async fn run(app: &TestApp, body: Value) -> Value {
    let answer = app.post(PATH, body).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body
}

fn errors(state: &Value) -> Vec<&str> {
    let results = state["tool_results"].as_array().unwrap();
    results
        .iter()
        .map(|it| it["error"].as_str().unwrap_or_default())
        .collect()
}

async fn logged(app: &TestApp) -> Vec<(String, String)> {
    let found = app.get("/api/v1/executions?limit=100").await.body;
    let items = found["items"].as_array().unwrap().iter().rev();
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    items
        .map(|it| (text(&it["tool_name"]), text(&it["status"])))
        .collect()
}

#[tokio::test]
async fn without_the_flag_the_tools_step_changes_nothing() {
    on_both_given(
        json!([]),
        Policy::default(),
        with_tools(false),
        async |app: &TestApp| {
            let plan = json!({"tools": ["calculator"], "calculator_input": {"expression": "1+1"}});
            let state = run(app, json!({"query": "1+1", "plan": plan})).await;
            assert_eq!(state["tool_results"], json!([]));
            assert_eq!(state["plan"], plan);
            let why = state["skipped"]["tools"].as_str().unwrap();
            assert!(why.starts_with("mcp_tools flag OFF"), "{state}");
            assert!(why.contains("FEATURE_MCP_TOOLS"), "{state}");
            assert_eq!(state["answer"], Value::Null);
            assert!(logged(app).await.is_empty());
            for step in STEPS {
                assert!(
                    state["step_timings"][step].as_f64().unwrap() >= 0.0,
                    "{step}"
                );
            }
            assert_eq!(
                state["step_timings"].as_object().unwrap().len(),
                STEPS.len()
            );
        },
    )
    .await;
}

#[tokio::test]
async fn a_tool_of_the_plan_is_called_with_its_input() {
    on(json!([]), Policy::default(), async |app: &TestApp| {
        let plan = json!({"tools": ["calculator"], "calculator_input": {"expression": "12.5% of 340"}, "strategy": "mine"});
        let state = run(app, json!({"query": "what is it?", "plan": plan})).await;
        let result = &state["tool_results"][0];
        assert_eq!((&result["tool"], &result["success"]), (&json!("calculator"), &json!(true)));
        assert_eq!((&result["result"], &result["error"]), (&json!(42.5), &Value::Null));
        assert!(result["elapsed"].as_f64().unwrap() >= 0.0);
        assert_eq!(result.as_object().unwrap().len(), 5);
        assert_eq!((&state["answer"], &state["intent"]), (&json!("42.5"), &json!("question")));
        assert_eq!(state["sources"][0]["name"], "calculator");
        assert_eq!(state["plan"]["strategy"], "mine");
        assert_eq!(state.get("skipped"), None);
        assert_eq!(logged(app).await, [("calculator".to_owned(), "success".to_owned())]);
    })
    .await;
}

/// A plan has one input for each tool, so the second call is left, and that is said.
#[tokio::test]
async fn a_tool_that_two_parts_of_a_query_need_is_called_once_and_that_is_said() {
    on(json!([]), Policy::default(), async |app: &TestApp| {
        let query = "2^10 and the square root of 2";
        let state = run(app, json!({"query": query})).await;
        assert_eq!(state["plan"]["tools"], json!(["calculator"]), "{state}");
        assert_eq!(state["tool_results"].as_array().unwrap().len(), 1);
        assert_eq!(state["tool_results"][0]["result"], json!(1024));
        let note = state["notes"][0].as_str().unwrap();
        assert!(note.contains("'calculator' is called once"), "{note}");
        assert!(note.contains("square root of 2"), "{note}");
    })
    .await;
}

#[tokio::test]
async fn an_empty_plan_is_skipped() {
    on(json!([]), Policy::default(), async |app: &TestApp| {
        for plan in [json!({"tools": []}), json!({}), json!({"tools": null})] {
            let state = run(app, json!({"query": "1+1", "plan": plan})).await;
            assert_eq!(state["tool_results"], json!([]));
            assert_eq!(state["skipped"]["tools"], "no tools in plan");
        }
        assert!(logged(app).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn the_whitelist_is_asked_before_the_lookup() {
    let policy = Policy::new(true, "calculator, ghost");
    on(json!([waiting("waiter", &json!({}))]), policy, async |app: &TestApp| {
        let plan = json!({"tools": ["waiter", "nothing_at_all", "ghost", "calculator"], "calculator_input": {"expression": "1+1"}});
        let state = run(app, json!({"query": "x", "plan": plan})).await;
        let blocked = "Blocked by whitelist policy";
        assert_eq!(errors(&state), [blocked, blocked, "Tool 'ghost' not found", ""]);
        assert_eq!(state["tool_results"][0]["result"], Value::Null);
        assert_eq!(state["tool_results"][3]["result"], json!(2));
        // Refused calls stand in the log like any others.
        assert_eq!(logged(app).await.len(), 4);
    })
    .await;
    // What is not enforced blocks nobody, and neither does an empty one.
    for policy in [Policy::new(false, "other"), Policy::new(true, " , ")] {
        on(json!([]), policy, async |app: &TestApp| {
            let plan = json!({"tools": ["calculator"], "calculator_input": {"expression": "1+1"}});
            let state = run(app, json!({"query": "x", "plan": plan})).await;
            assert_eq!(errors(&state), [""]);
        })
        .await;
    }
}

#[tokio::test]
async fn one_failure_leaves_three_results() {
    let tools = json!([waiting("waiter", &json!({"parallel_capable": false}))]);
    on(tools, Policy::default(), async |app: &TestApp| {
        let plan = json!({
            "tools": ["calculator", "waiter", "serialize_for_cell"],
            "calculator_input": {"expression": "2*3"}, "waiter_input": {"fail": "broken"},
            "serialize_for_cell_input": {"data": "a\u{a0}b"}
        });
        let state = run(app, json!({"query": "x", "plan": plan})).await;
        assert_eq!(errors(&state), ["", "Execution error: broken", ""]);
        let results = state["tool_results"].as_array().unwrap();
        assert_eq!(
            (&results[0]["result"], &results[2]["result"]),
            (&json!(6), &json!("a b"))
        );
        assert_eq!(state["answer"], "calculator: 6\nserialize_for_cell: a b");
        assert_eq!(
            state["notes"],
            json!(["'waiter' failed: Execution error: broken"])
        );
        let confidence = state["confidence"].as_f64().unwrap();
        assert!((confidence - 2.0 / 3.0).abs() < 1e-9);
    })
    .await;
}

#[tokio::test]
async fn wrong_input_and_unknown_tools_are_failures_of_their_own() {
    on(json!([]), Policy::default(), async |app: &TestApp| {
        let plan = json!({"tools": ["calculator", "no_such", "calculator"], "calculator_input": {"expression": 5}});
        let state = run(app, json!({"query": "x", "plan": plan})).await;
        let errors = errors(&state);
        assert!(errors[0].starts_with("Input validation failed: "), "{}", errors[0]);
        assert_eq!(errors[1], "Tool 'no_such' not found");
        assert_eq!(errors.len(), 3);
        // Without an input, and with a query that gives none: the tool refuses what is missing.
        let state = run(app, json!({"query": "hello", "plan": {"tools": ["calculator"]}})).await;
        assert!(self::errors(&state)[0].starts_with("Input validation failed: "));
        // It is mistaken for `tools`, and nothing would be called.
        let body = json!({"query": "x", "plan": {"tool": "calculator"}});
        let refused = app.post("/api/v1/pipeline", body).await;
        assert_eq!(refused.status, 422, "{}", refused.body);
    })
    .await;
}

#[tokio::test]
async fn a_tool_that_takes_too_long_times_out_and_the_rest_goes_on() {
    let tools = json!([waiting("slow", &json!({"timeout_seconds": 0.5}))]);
    on(tools, Policy::default(), async |app: &TestApp| {
        let plan = json!({"tools": ["slow", "calculator"], "slow_input": {"seconds": 30}, "calculator_input": {"expression": "1+1"}});
        let state = run(app, json!({"query": "x", "plan": plan})).await;
        assert_eq!(errors(&state), ["Tool execution timeout (0.5s)", ""]);
    })
    .await;
}

#[tokio::test]
async fn the_deadline_of_the_step_keeps_what_has_ended() {
    let one_by_one = json!({"parallel_capable": false});
    let tools = json!([
        waiting("first", &one_by_one),
        waiting("second", &one_by_one),
        waiting("third", &one_by_one)
    ]);
    on(tools, Policy::default(), async |app: &TestApp| {
        let plan = json!({
            "tools": ["first", "second", "third"],
            "first_input": {"seconds": 0}, "second_input": {"seconds": 30}, "third_input": {"seconds": 0}
        });
        let state = run(app, json!({"query": "x", "plan": plan, "timeout_seconds": 1.5})).await;
        let results = state["tool_results"].as_array().unwrap();
        assert_eq!(results[0]["success"], true);
        let errors = errors(&state);
        assert!(errors[1].starts_with("Tool execution timeout ("), "{}", errors[1]);
        assert_eq!(errors[2], "Tool execution timeout (1.5s)");
        assert!(state["step_timings"]["tools"].as_f64().unwrap() < 20.0);
        // The work is gone, and not only waited for no longer.
        let found = app.get("/api/v1/executions").await.body;
        let items = found["items"].as_array().unwrap();
        for (tool, code) in [("first", Value::Null), ("second", json!("timeout")), ("third", json!("timeout"))] {
            let found = items.iter().find(|it| it["tool_name"] == tool).unwrap();
            assert_eq!(found["error"]["code"], code, "{found}");
        }
    })
    .await;
}

#[tokio::test]
async fn tools_that_may_run_side_by_side_do_and_keep_their_order() {
    let beside = json!({"parallel_capable": true});
    let tools = json!([waiting("late", &beside), waiting("soon", &beside)]);
    on(tools, Policy::default(), async |app: &TestApp| {
        let plan = json!({"tools": ["late", "soon"], "late_input": {"seconds": 2}, "soon_input": {"seconds": 2}});
        let state = run(app, json!({"query": "x", "plan": plan})).await;
        let results = state["tool_results"].as_array().unwrap();
        assert_eq!((&results[0]["tool"], &results[1]["tool"]), (&json!("late"), &json!("soon")));
        let both: f64 = results.iter().map(|it| it["elapsed"].as_f64().unwrap()).sum();
        let took = state["step_timings"]["tools"].as_f64().unwrap();
        assert!(took < both, "{took} s for {both} s of work");
    })
    .await;
}

#[tokio::test]
async fn without_a_plan_one_is_made() {
    on(json!([]), Policy::default(), async |app: &TestApp| {
        for query in ["What is 12.5% of 340?", "340의 12.5%는 얼마야?"] {
            let state = run(app, json!({"query": query})).await;
            assert_eq!(state["plan"]["tools"], json!(["calculator"]), "{state}");
            assert_eq!(
                state["plan"]["calculator_input"],
                json!({"expression": "12.5% of 340"})
            );
            assert_eq!(
                (&state["answer"], &state["plan"]["strategy"]),
                (&json!("42.5"), &json!("selection"))
            );
        }
        let state = run(app, json!({"query": "What is the capital of France?"})).await;
        assert_eq!(
            (&state["plan"]["tools"], &state["answer"]),
            (&json!([]), &Value::Null)
        );
        assert_eq!(state["plan"]["strategy"], "none");
        // Given without input, it is filled where that is certain.
        let state = run(
            app,
            json!({"query": "12.5% of 340", "plan": {"tools": ["calculator"]}}),
        )
        .await;
        assert_eq!(state["answer"], "42.5");
    })
    .await;
}

#[tokio::test]
async fn a_wrong_request_is_told_what_is_wrong() {
    on(json!([]), Policy::default(), async |app: &TestApp| {
        for (body, says) in [
            (json!({"query": " "}), "query: expected a text"),
            (
                json!({"query": "x", "plan": {"tools": "calculator"}}),
                "plan.tools: expected a list",
            ),
            (
                json!({"query": "x", "plan": {"tools": ["a"], "a_input": 3}}),
                "plan.a_input: expected an object",
            ),
            (
                json!({"query": "x", "timeout_seconds": 0}),
                "timeout_seconds: expected a number above 0",
            ),
        ] {
            let answer = app.post(PATH, body).await;
            assert_eq!(answer.status, 422, "{}", answer.body);
            let message = answer.body["error"]["message"].as_str().unwrap();
            assert!(message.contains(says), "{message}");
        }
        assert!(logged(app).await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn the_caller_calls_and_their_rules_count() {
    on(json!([]), Policy::default(), async |app: &TestApp| {
        let rules = json!({"rules": [{"subject": "everyone", "deny": ["calc*"]}]});
        let set = app.as_key(ADMIN, "PUT", "/api/v1/policy", rules).await;
        assert_eq!(set.status, 200, "{}", set.body);
        let plan = json!({"tools": ["calculator"], "calculator_input": {"expression": "1+1"}});
        let state = run(app, json!({"query": "x", "plan": plan.clone()})).await;
        assert_eq!(state["tool_results"][0]["success"], false);
        // The same through the Rust API, for somebody without the right to call.
        let request = Request {
            query: "x".to_owned(),
            plan: plan.as_object().cloned(),
            ..Request::default()
        };
        let viewer = Caller::of_user(uuid::Uuid::new_v4(), "guest", Role::Viewer, Transport::Rest);
        let caller = Arc::new(viewer);
        let state = app.server.app.pipeline(caller, request).await.unwrap();
        assert!(!state.tool_results[0].success);
    })
    .await;
}

/// The tools step on, and a model for the answer.
fn with_model(model: &Model) -> Setup {
    let provider = app::runs::ProviderSettings {
        key: Some(catalog::secret::Secret::new("key".to_owned())),
        base_url: Some(model.url.clone()),
    };
    Setup {
        runs: app::runs::Settings {
            model: Some(("anthropic".to_owned(), "claude-test".to_owned())),
            providers: [("anthropic", provider)].into(),
            ..app::runs::Settings::default()
        },
        ..with_tools(true)
    }
}

#[tokio::test]
async fn a_configured_model_writes_the_answer_from_what_was_found() {
    let model = Model::saying(vec![Say::text("It is 42.5 [1].")]).await;
    let test = async |app: &TestApp| {
        let plan = json!({"tools": ["nothing", "calculator"], "calculator_input": {"expression": "12.5% of 340"}});
        let state = run(app, json!({"query": "12.5% of 340?", "plan": plan})).await;
        assert_eq!(state["answer"], "It is 42.5 [1].", "{state}");
        assert_eq!(state["sources"][0]["name"], "calculator");
        let asked = model.requests().last().unwrap().clone();
        let said = asked["messages"].to_string();
        assert!(
            said.contains("12.5% of 340?") && said.contains("[1] tool calculator"),
            "{said}"
        );
        assert!(said.contains("The tool nothing failed"), "{said}");
        let count = model.requests().len();
        // There is nothing to write an answer from.
        let state = run(app, json!({"query": "x", "plan": {"tools": []}})).await;
        assert_eq!(
            (state["answer"].as_str(), model.requests().len()),
            (None, count)
        );
    };
    on_both_given(json!([]), Policy::default(), with_model(&model), test).await;
}

#[tokio::test]
async fn where_the_model_does_not_answer_the_tools_do() {
    let refusal =
        json!({"type": "error", "error": {"type": "authentication_error", "message": "no"}});
    let model = Model::saying(vec![Say::Refuse(401, refusal)]).await;
    let test = async |app: &TestApp| {
        let plan =
            json!({"tools": ["calculator"], "calculator_input": {"expression": "12.5% of 340"}});
        let state = run(app, json!({"query": "12.5% of 340?", "plan": plan})).await;
        assert_eq!(state["answer"], "42.5", "{state}");
        assert!(
            state["notes"][0].as_str().unwrap().contains("the model"),
            "{state}"
        );
    };
    on_both_given(json!([]), Policy::default(), with_model(&model), test).await;
}

#[tokio::test]
async fn what_may_destroy_something_is_called_only_by_a_plan_that_names_it() {
    let mut wipes = crate::testapp::definition("wipe_archive");
    wipes["description"] = json!("Wipes the archive of the warehouse");
    wipes["annotations"] = json!({"destructive": true});
    on(json!([wipes]), Policy::default(), async |app: &TestApp| {
        let query = r#"Wipe the archive of the warehouse, expression="7""#;
        let state = run(app, json!({"query": query})).await;
        assert_eq!(state["tool_results"], json!([]), "{state}");
        assert!(
            state["notes"].to_string().contains("may destroy something"),
            "{state}"
        );
        assert!(logged(app).await.is_empty());
        let plan = json!({"tools": ["wipe_archive"]});
        let state = run(app, json!({"query": query, "plan": plan})).await;
        assert_eq!(state["tool_results"][0]["result"], json!(7), "{state}");
    })
    .await;
}
