//! What is sent, body by body.

use crate::bodies::{APIS, whole};
use crate::{calls, request, result};
use providers::wire::Written;
use providers::{Api, Choice, Request, Said, Tool, Turn};
use serde_json::{Value, json};

fn body(api: Api, request: &Request) -> Value {
    Written::new(api, request).body
}

/// A conversation after two calls, one of which failed.
fn after_calls(model: Turn) -> Request {
    let mut request = request();
    request.said.push(Said::Model(model));
    request.said.push(Said::Results(vec![
        result("call_1", "5", false),
        result("call_2", "no such number", true),
    ]));
    request.said.push(Said::User("And now?".to_owned()));
    request
}

fn from_elsewhere() -> Turn {
    Turn {
        text: "Let me add.".to_owned(),
        calls: calls(),
        ..Turn::default()
    }
}

#[test]
fn messages_hold_all_results_of_a_turn_first_and_in_one() {
    let sent = body(Api::Messages, &after_calls(from_elsewhere()));
    assert_eq!(
        sent["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "What is 2 + 3?"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "Let me add."},
                {"type": "tool_use", "id": "call_1", "name": "math__add", "input": {"a": 2}},
                {"type": "tool_use", "id": "call_2", "name": "math__add", "input": {"INVALID_JSON": "{\"a\""}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": [{"type": "text", "text": "5"}]},
                {"type": "tool_result", "tool_use_id": "call_2", "content": [{"type": "text", "text": "no such number"}], "is_error": true},
                {"type": "text", "text": "And now?"}]},
        ])
    );
    assert_eq!(
        sent["system"],
        json!([{"type": "text", "text": "Use tools."}])
    );
    assert_eq!(
        sent["tools"],
        json!([{"name": "math__add", "description": "Adds.", "input_schema": request().tools[0].input_schema}])
    );
    assert_eq!(sent["max_tokens"], 16_384);
    assert!(sent.get("tool_choice").is_none());
}

#[test]
fn chats_hold_a_message_for_each_result() {
    let sent = body(Api::Chat, &after_calls(from_elsewhere()));
    let messages = sent["messages"].as_array().unwrap();
    assert_eq!(
        messages[0],
        json!({"role": "system", "content": "Use tools."})
    );
    let arguments =
        |index: usize| messages[2]["tool_calls"][index]["function"]["arguments"].clone();
    assert_eq!(arguments(0), "{\"a\":2}");
    assert_eq!(arguments(1), "{\"INVALID_JSON\":\"{\\\"a\\\"\"}");
    assert_eq!(
        messages[3],
        json!({"role": "tool", "tool_call_id": "call_1", "content": "5"})
    );
    assert_eq!(messages[4]["content"], "Error: no such number");
    assert_eq!(messages[5], json!({"role": "user", "content": "And now?"}));
}

#[test]
fn responses_keep_nothing_over_there() {
    let sent = body(Api::Responses, &after_calls(from_elsewhere()));
    assert_eq!(sent["store"], false);
    assert_eq!(sent["instructions"], "Use tools.");
    assert!(sent.get("include").is_none(), "not every model takes it");
    assert_eq!(sent["tools"][0]["strict"], false);
    let input = sent["input"].as_array().unwrap();
    let kinds: Vec<&str> = input
        .iter()
        .map(|item| item["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "message",
            "message",
            "function_call",
            "function_call",
            "function_call_output",
            "function_call_output",
            "message"
        ]
    );
    assert_eq!(input[5]["output"], "Error: no such number");
    let thinking = Request {
        model: "gpt-5.6".to_owned(),
        ..request()
    };
    assert_eq!(
        body(Api::Responses, &thinking)["include"],
        json!(["reasoning.encrypted_content"])
    );
}

/// What a model wrote goes back as it was, to whom it belongs; anybody else is told what it comes to.
#[test]
fn a_turn_goes_back_in_the_words_of_its_own_format() {
    for api in APIS {
        let asked = request();
        let answer = whole(api);
        let turn = Written::new(api, &asked)
            .read(answer.to_string().as_bytes())
            .unwrap();
        for other in APIS {
            let mut next = request();
            next.said.push(Said::Model(turn.clone()));
            let sent = body(other, &next);
            let told = match other {
                Api::Messages => sent["messages"][1]["content"].clone(),
                Api::Chat | Api::Zhipu => sent["messages"][2].clone(),
                Api::Responses => json!(sent["input"].as_array().unwrap()[1..]),
            };
            let has_thoughts = ["Hm.", "c2ln", "c2VhbGVk"]
                .iter()
                .any(|it| told.to_string().contains(it));
            assert_eq!(has_thoughts, api == other, "{api:?} to {other:?}: {told}");
            assert!(
                told.to_string().contains("math__add"),
                "{api:?} to {other:?}"
            );
            assert!(told.to_string().contains("call_1"), "{api:?} to {other:?}");
        }
    }
}

#[test]
fn what_only_an_answer_may_hold_is_not_sent_back() {
    let echoed = |api: Api| {
        let turn = Written::new(api, &request()).read(whole(api).to_string().as_bytes());
        let mut next = request();
        next.said.push(Said::Model(turn.unwrap()));
        body(api, &next)
    };
    let chat = &echoed(Api::Chat)["messages"][2];
    assert!(
        chat.get("refusal").is_none() && chat.get("annotations").is_none(),
        "{chat}"
    );
    let thought = &echoed(Api::Responses)["input"][1];
    assert_eq!(
        *thought,
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VhbGVk"})
    );
}

#[test]
fn settings_are_sent_where_the_model_takes_them() {
    let set = |model: &str| Request {
        model: model.to_owned(),
        temperature: Some(0.5),
        top_p: Some(0.9),
        max_tokens: Some(100),
        stop_sequences: vec!["END".to_owned()],
        tool_choice: Choice::Required,
        parallel: Some(false),
        ..request()
    };
    let written = Written::new(Api::Messages, &set("some-model"));
    assert_eq!(written.notes, Vec::<String>::new());
    assert_eq!(written.body["temperature"], 0.5);
    assert_eq!(written.body["stop_sequences"], json!(["END"]));
    assert_eq!(
        written.body["tool_choice"],
        json!({"type": "any", "disable_parallel_tool_use": true})
    );

    let written = Written::new(Api::Messages, &set("claude-fable-5"));
    assert_eq!(written.notes.len(), 3, "{:?}", written.notes);
    assert!(written.body.get("temperature").is_none() && written.body.get("top_p").is_none());
    assert_eq!(written.body["tool_choice"]["type"], "auto");

    let written = Written::new(Api::Messages, &set("claude-sonnet-4-5"));
    assert_eq!(written.body["temperature"], 0.5);
    assert!(written.body.get("top_p").is_none(), "not both at once");

    let written = Written::new(Api::Chat, &set("gpt-4o"));
    assert_eq!(written.notes, Vec::<String>::new());
    assert_eq!(written.body["max_tokens"], 100);
    assert_eq!(written.body["stop"], json!(["END"]));
    assert_eq!(written.body["tool_choice"], "required");
    assert_eq!(written.body["parallel_tool_calls"], false);

    let written = Written::new(Api::Chat, &set("gpt-5-nano"));
    assert_eq!(written.body["max_completion_tokens"], 100);
    assert_eq!(written.notes.len(), 3, "{:?}", written.notes);
    assert!(written.body.get("stop").is_none());

    let written = Written::new(Api::Responses, &set("gpt-4o"));
    assert_eq!(written.body["max_output_tokens"], 100);
    assert!(written.body.get("stop").is_none());
    assert!(
        written.notes[0].contains("stop_sequences"),
        "{:?}",
        written.notes
    );
}

#[test]
fn nothing_is_said_of_tools_where_there_are_none() {
    for api in APIS {
        let bare = Request {
            tools: Vec::new(),
            tool_choice: Choice::Required,
            parallel: Some(false),
            ..request()
        };
        let sent = body(api, &bare);
        for field in ["tools", "tool_choice", "parallel_tool_calls", "tool_stream"] {
            assert!(sent.get(field).is_none(), "{api:?} {field}");
        }
    }
}

#[test]
fn an_answers_schema_is_asked_for_as_each_format_has_it() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]});
    let closed = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false});
    let asked = |model: &str| Request {
        model: model.to_owned(),
        output_schema: Some(schema.clone()),
        ..request()
    };
    let messages = Written::new(Api::Messages, &asked("claude-sonnet-4-6"));
    assert_eq!(
        messages.body["output_config"],
        json!({"format": {"type": "json_schema", "schema": closed}})
    );
    assert!(
        messages.notes[0].contains("minimum"),
        "{:?}",
        messages.notes
    );
    let chat = body(Api::Chat, &asked("gpt-4o"));
    assert_eq!(
        chat["response_format"],
        json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": closed, "strict": true}})
    );
    let responses = body(Api::Responses, &asked("gpt-4o"));
    assert_eq!(
        responses["text"],
        json!({"format": {"type": "json_schema", "name": "answer", "schema": closed, "strict": true}})
    );
    let old = body(Api::Messages, &asked("claude-3-opus-20240229"));
    assert!(old.get("output_config").is_none());
    assert!(
        old["system"][0]["text"]
            .as_str()
            .unwrap()
            .contains("\"minimum\"")
    );
}

#[test]
fn what_will_be_asked_again_is_marked() {
    let mark = json!({"type": "ephemeral"});
    let mut cached = after_calls(from_elsewhere());
    cached.cache = true;
    let other = Tool {
        name: "other".to_owned(),
        ..cached.tools[0].clone()
    };
    cached.tools.push(other);
    let sent = body(Api::Messages, &cached);
    assert_eq!(sent["system"][0]["cache_control"], mark);
    assert_eq!(sent["tools"][1]["cache_control"], mark);
    assert_eq!(sent["messages"][2]["content"][2]["cache_control"], mark);
    assert_eq!(sent.to_string().matches("cache_control").count(), 3);
    for api in [Api::Chat, Api::Zhipu, Api::Responses] {
        assert!(!body(api, &cached).to_string().contains("cache_control"));
    }
}

#[test]
fn fields_of_the_providers_own_are_added_and_ours_stay() {
    let extra = json!({"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}, "max_tokens": null, "stream": true, "model": "x"});
    let asked = Request {
        output_schema: Some(json!({"type": "object", "properties": {}})),
        extra: extra.as_object().unwrap().clone(),
        ..request()
    };
    let written = Written::new(Api::Messages, &asked);
    assert_eq!(written.body["thinking"], json!({"type": "adaptive"}));
    assert_eq!(written.body["output_config"]["effort"], "low");
    assert_eq!(
        written.body["output_config"]["format"]["type"],
        "json_schema"
    );
    assert!(written.body.get("max_tokens").is_none() && written.body.get("stream").is_none());
    assert_eq!(written.body["model"], "some-model");
    assert_eq!(written.notes.len(), 2, "{:?}", written.notes);
}

#[test]
fn messages_hold_no_blank_texts() {
    let mut answer = whole(Api::Messages);
    answer["content"][1]["text"] = json!("\n");
    let turn = Written::new(Api::Messages, &request()).read(answer.to_string().as_bytes());
    let mut asked = request();
    asked.said.push(Said::Model(turn.unwrap()));
    asked.said.push(Said::Results(vec![
        result("call_1", "", true),
        result("call_2", "", false),
    ]));
    let sent = body(Api::Messages, &asked);
    let kinds = |index: usize| -> Vec<Value> {
        let blocks = sent["messages"][index]["content"].as_array().unwrap();
        blocks.iter().map(|block| block["type"].clone()).collect()
    };
    assert_eq!(kinds(1), ["thinking", "tool_use"]);
    let results = &sent["messages"][2]["content"];
    assert_eq!(
        results[0]["content"],
        json!([{"type": "text", "text": "Error"}])
    );
    assert!(results[1].get("content").is_none());
}

#[test]
fn a_turn_without_words_is_left_out_of_messages() {
    let mut asked = request();
    asked.said.push(Said::Model(Turn::default()));
    asked.said.push(Said::User("Hello?".to_owned()));
    let sent = body(Api::Messages, &asked);
    assert_eq!(sent["messages"].as_array().unwrap().len(), 1);
    assert_eq!(sent["messages"][0]["content"].as_array().unwrap().len(), 2);
}

/// There are servers that leave it out of what they stream, and none that takes a message back without it.
#[test]
fn a_message_that_came_without_a_role_goes_back_with_one() {
    for api in [Api::Chat, Api::Zhipu] {
        let mut answer = whole(api);
        let message = answer["choices"][0]["message"].as_object_mut();
        message.unwrap().remove("role").unwrap();
        let answer = answer.to_string();
        let turn = Written::new(api, &request()).read(answer.as_bytes());
        let sent = body(api, &after_calls(turn.unwrap()));
        let messages = sent["messages"].as_array().unwrap();
        let roles: Vec<&Value> = messages.iter().map(|it| &it["role"]).collect();
        assert!(roles.contains(&&json!("assistant")), "{sent}");
        assert!(!roles.contains(&&Value::Null), "{sent}");
    }
}
