//! What is ZhipuAI's own. Written by hand: no recording of a tool call, or of an error in a stream, is known.

use crate::bodies::events;
use crate::{World, events_answer, json_answer, refusal, request, result, streaming};
use providers::{Api, Arguments, Choice, Class, Request, Said, Stop};
use serde_json::{Value, json};

fn error(code: &str) -> Value {
    json!({"error": {"code": code, "message": format!("Said with {code}")}})
}

#[tokio::test]
async fn a_call_keeps_its_first_id_and_goes_back_with_its_thoughts() {
    let done = json!({"id": "2", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "5"}}], "usage": {}});
    let replies = vec![events_answer(&events(Api::Zhipu)), json_answer(&done)];
    let mut world = World::in_turn(Api::Zhipu, replies).await;
    let mut asked = streaming();
    asked.extra.insert(
        "thinking".to_owned(),
        json!({"type": "enabled", "clear_thinking": false}),
    );
    let turn = world.ask(&asked).await.unwrap();
    assert_eq!(world.sent()["tool_stream"], true);
    assert_eq!(turn.calls[0].id, "call_1");
    assert_eq!(turn.calls[0].name, "math.add");
    asked.said.push(Said::Model(turn));
    asked
        .said
        .push(Said::Results(vec![result("call_1", "5", false)]));
    asked.stream = false;
    let last = world.ask(&asked).await.unwrap();
    assert_eq!((last.text.as_str(), last.stop), ("5", Stop::End));
    let sent = world.sent();
    assert_eq!(
        sent["messages"].as_array().unwrap()[2..],
        [
            json!({"role": "assistant", "content": "Let me add.", "reasoning_content": "Hm.", "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "math__add", "arguments": "{\"a\": 2}"}}]}),
            json!({"role": "tool", "tool_call_id": "call_1", "content": "5"}),
        ]
    );
    assert_eq!(
        sent["thinking"],
        json!({"type": "enabled", "clear_thinking": false})
    );
}

#[tokio::test]
async fn numbers_have_meanings_whatever_status_they_come_with() {
    let limited = Class::RateLimited;
    for (status, code, class) in [
        ("429 Too Many Requests", "1302", limited),
        ("429 Too Many Requests", "1113", Class::Quota),
        ("429 Too Many Requests", "1308", Class::Quota),
        ("400 Bad Request", "1261", Class::TooLong),
        ("400 Bad Request", "1301", Class::Filtered),
        ("400 Bad Request", "1210", Class::BadRequest),
        ("500 Internal Server Error", "1234", Class::Overloaded),
        ("200 OK", "1002", Class::Auth),
    ] {
        let mut world = World::new(Api::Zhipu, move |_| refusal(status, &error(code))).await;
        let refused = world.ask(&request()).await.unwrap_err();
        assert_eq!(refused.class, class, "{code}");
        assert_eq!(refused.message, format!("Said with {code}"));
        let is_passing = matches!(class, Class::RateLimited | Class::Overloaded);
        assert_eq!(world.asked(), if is_passing { 3 } else { 1 }, "{code}");
    }
}

#[tokio::test]
async fn an_error_inside_of_a_good_stream_is_an_error() {
    let chunk = json!({"id": "1", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Half"}}]});
    let stream = format!("data: {chunk}\n\ndata: {}\n\n", error("1302"));
    let replies = vec![events_answer(&stream), events_answer(&events(Api::Zhipu))];
    let mut world = World::in_turn(Api::Zhipu, replies).await;
    let turn = world.ask(&streaming()).await.unwrap();
    assert_eq!(turn.text, "Let me add.");
    let spent = format!("data: {}\n\n", error("1113"));
    let mut world = World::new(Api::Zhipu, move |_| events_answer(&spent)).await;
    assert_eq!(
        world.ask(&streaming()).await.unwrap_err().class,
        Class::Quota
    );
    assert_eq!(world.asked(), 1);
}

#[tokio::test]
async fn its_own_reasons_to_end() {
    for (reason, stop) in [
        ("sensitive", Ok(Stop::Filtered)),
        ("model_context_window_exceeded", Ok(Stop::TooLong)),
        ("length", Ok(Stop::Length)),
        ("network_error", Err(Class::Overloaded)),
    ] {
        let body = json!({"choices": [{"index": 0, "finish_reason": reason, "message": {"role": "assistant", "content": "Half"}}]});
        let mut world = World::new(Api::Zhipu, move |_| json_answer(&body)).await;
        let ended = world.ask(&request()).await;
        assert_eq!(
            ended.map(|turn| turn.stop).map_err(|error| error.class),
            stop,
            "{reason}"
        );
    }
}

/// Seen with GLM-4.7: a call without a name, and one whose arguments end too soon.
#[tokio::test]
async fn a_garbled_call_can_be_answered() {
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let body = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "",
        "tool_calls": [call("", "", "{}"), call("call_b", "math__add", "{\"a\": ")]}}]});
    let done = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ok"}}]});
    let mut world = World::in_turn(Api::Zhipu, vec![json_answer(&body), json_answer(&done)]).await;
    let turn = world.ask(&request()).await.unwrap();
    assert_eq!(
        (turn.calls[0].id.as_str(), turn.calls[0].name.as_str()),
        ("call_0", "")
    );
    assert_eq!(
        turn.calls[1].arguments,
        Arguments::Bad("{\"a\": ".to_owned())
    );
    let mut next = request();
    next.said.push(Said::Model(turn));
    world.ask(&next).await.unwrap();
    let told = world.sent()["messages"][2]["tool_calls"].clone();
    assert_eq!(told[0], call("call_0", "unnamed", "{}"));
    assert_eq!(
        told[1],
        call("call_b", "math__add", "{\"INVALID_JSON\":\"{\\\"a\\\": \"}")
    );
}

#[tokio::test]
async fn only_auto_is_a_choice() {
    let body = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "{}"}}]});
    let mut world = World::new(Api::Zhipu, move |_| json_answer(&body)).await;
    let required = Request {
        tool_choice: Choice::Required,
        parallel: Some(false),
        output_schema: Some(json!({"type": "object", "properties": {"n": {"type": "integer"}}})),
        ..request()
    };
    let turn = world.ask(&required).await.unwrap();
    assert_eq!(turn.notes.len(), 3, "{:?}", turn.notes);
    let sent = world.sent();
    assert!(sent.get("tool_choice").is_none() && sent.get("parallel_tool_calls").is_none());
    assert_eq!(sent["response_format"], json!({"type": "json_object"}));
    let system = sent["messages"][0]["content"].as_str().unwrap();
    assert!(
        system.starts_with("Use tools.") && system.contains("\"integer\""),
        "{system}"
    );
    let none = Request {
        tool_choice: Choice::None,
        ..request()
    };
    world.ask(&none).await.unwrap();
    assert!(world.sent().get("tools").is_none());
}
