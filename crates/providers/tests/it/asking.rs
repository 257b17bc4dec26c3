//! A question and its answer over HTTP.

use crate::bodies::{APIS, events, whole};
use crate::{KEY, World, events_answer, json_answer, request, server, streaming};
use providers::{Api, Arguments, Class, Delta, Request, Stop, Usage};
use serde_json::json;

#[tokio::test]
async fn each_format_gives_the_same_turn_whole_and_streamed() {
    for api in APIS {
        let replies = vec![json_answer(&whole(api)), events_answer(&events(api))];
        let mut world = World::in_turn(api, replies).await;
        let at_once = world.ask(&request()).await.unwrap();
        assert_eq!(world.told, [], "{api:?}");
        let streamed = world.ask(&streaming()).await.unwrap();
        assert_eq!(at_once.text, "Let me add.", "{api:?}");
        assert_eq!(at_once.calls.len(), 1, "{api:?}");
        assert_eq!(at_once.calls[0].id, "call_1", "{api:?}");
        assert_eq!(at_once.calls[0].name, "math.add", "{api:?}");
        assert_eq!(
            at_once.calls[0].arguments,
            Arguments::Json(json!({"a": 2})),
            "{api:?}"
        );
        assert_eq!(at_once.stop, Stop::Calls, "{api:?}");
        assert_eq!(at_once.model.as_deref(), Some("some-model-1"), "{api:?}");
        let counted = |usage: Usage| {
            (
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_read_tokens,
            )
        };
        assert_eq!(counted(at_once.usage), (20, 7, 4), "{api:?}");
        assert_eq!(streamed.text, at_once.text, "{api:?}");
        assert_eq!(streamed.calls, at_once.calls, "{api:?}");
        assert_eq!(streamed.usage, at_once.usage, "{api:?}");
        assert_eq!(streamed.stop, at_once.stop, "{api:?}");
    }
}

#[tokio::test]
async fn pieces_are_told_as_they_come() {
    for api in APIS {
        let mut world = World::in_turn(api, vec![events_answer(&events(api))]).await;
        world.ask(&streaming()).await.unwrap();
        let (mut text, mut arguments, mut begun) = (String::new(), String::new(), Vec::new());
        for delta in &world.told {
            match delta {
                Delta::Text(piece) => text += piece,
                Delta::Thinking(piece) => assert_eq!(piece, "Hm."),
                Delta::CallStarted { index, id, name } => {
                    begun.push((*index, id.clone(), name.clone()));
                }
                Delta::CallArguments { index: 0, text } => arguments += text,
                other => panic!("{api:?}: {other:?}"),
            }
        }
        assert_eq!(text, "Let me add.", "{api:?}");
        assert_eq!(arguments, "{\"a\": 2}", "{api:?}");
        assert_eq!(
            begun,
            [(0, "call_1".to_owned(), "math.add".to_owned())],
            "{api:?}"
        );
    }
}

#[tokio::test]
async fn each_provider_is_asked_where_and_as_it_wants_it() {
    for (api, path) in [
        (Api::Messages, "/v1/messages"),
        (Api::Chat, "/chat/completions"),
        (Api::Zhipu, "/chat/completions"),
        (Api::Responses, "/responses"),
    ] {
        let mut world = World::in_turn(api, vec![json_answer(&whole(api))]).await;
        world.ask(&request()).await.unwrap();
        let seen = world.server.last();
        assert_eq!((seen.method.as_str(), seen.target.as_str()), ("POST", path));
        let header = |name: &str| seen.headers.get(name).cloned().unwrap_or_default();
        assert_eq!(header("content-type"), "application/json");
        match api {
            Api::Messages => {
                assert_eq!(header("x-api-key"), KEY);
                assert_eq!(header("anthropic-version"), "2023-06-01");
                assert_eq!(header("authorization"), "");
            }
            _ => assert_eq!(header("authorization"), format!("Bearer {KEY}")),
        }
    }
}

#[tokio::test]
async fn the_providers_id_of_the_exchange_is_kept() {
    let body = whole(Api::Messages).to_string();
    let headers = [
        ("Content-Type", "application/json"),
        ("Request-Id", "req_7"),
    ];
    let refusal = json!({"type": "error", "error": {"type": "not_found_error", "message": "model: x"}, "request_id": "req_8"});
    let replies = vec![
        server::answer("200 OK", &headers, body.as_bytes()),
        json_answer(&whole(Api::Messages)),
        server::answer("404 Not Found", &[], refusal.to_string().as_bytes()),
    ];
    let mut world = World::in_turn(Api::Messages, replies).await;
    let first = world.ask(&request()).await.unwrap();
    assert_eq!(first.request_id.as_deref(), Some("req_7"));
    let second = world.ask(&request()).await.unwrap();
    assert_eq!(second.request_id.as_deref(), Some("msg_1"));
    let refused = world.ask(&request()).await.unwrap_err();
    assert_eq!(refused.class, Class::BadRequest);
    assert_eq!(refused.request_id.as_deref(), Some("req_8"));
    assert_eq!(refused.message, "model: x");
}

#[tokio::test]
async fn no_key_is_none_and_a_bad_one_is_not_sent() {
    let mut world = World::in_turn(Api::Chat, vec![json_answer(&whole(Api::Chat))]).await;
    world.target.key = None;
    world.ask(&request()).await.unwrap();
    assert!(!world.server.last().headers.contains_key("authorization"));
    world.target.key = Some("two\nlines".to_owned());
    let error = world.ask(&Request::default()).await.unwrap_err();
    assert_eq!(error.class, Class::Auth);
    assert!(!error.message.contains("two"), "{error}");
    assert_eq!(world.asked(), 1);
}
