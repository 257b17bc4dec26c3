//! What comes back, in the shapes that are not of every day.

use crate::bodies::{APIS, events, whole};
use crate::{request, streaming};
use providers::wire::Written;
use providers::{Api, Class, Error, Stop, Turn};
use serde_json::{Value, json};

fn read(api: Api, body: &Value) -> Result<Turn, Error> {
    Written::new(api, &request()).read(body.to_string().as_bytes())
}

fn streamed(api: Api, pieces: &[&[u8]]) -> Result<Turn, Error> {
    let written = Written::new(api, &streaming());
    let mut incoming = written.incoming(1 << 20);
    for piece in pieces {
        incoming.take(piece, &mut |_| {})?;
    }
    incoming.finish(&mut |_| {})
}

#[test]
fn streams_do_not_depend_on_their_pieces_and_never_end_halfway() {
    for api in APIS {
        let events = events(api);
        let body = events.as_bytes();
        let turn = streamed(api, &[body]).unwrap();
        let crlf = events.replace('\n', "\r\n");
        let bytes: Vec<&[u8]> = crlf.as_bytes().chunks(1).collect();
        assert_eq!(streamed(api, &bytes).unwrap(), turn, "{api:?}");
        let mut whole = 0;
        for at in 0..body.len() {
            assert_eq!(
                streamed(api, &[&body[..at], &body[at..]]).unwrap(),
                turn,
                "{api:?} at {at}"
            );
            match streamed(api, &[&body[..at]]) {
                Ok(read) => {
                    assert_eq!(read, turn, "{api:?} cut at {at}");
                    whole += 1;
                }
                Err(error) => {
                    assert_eq!(error.class, Class::Network, "{api:?} cut at {at}: {error}")
                }
            }
        }
        // The end of the last event, and for a chat its last word.
        assert!(whole < 20, "{api:?} is whole at {whole} places");
    }
}

#[test]
fn calls_decide_and_not_the_reason() {
    let mut chat = whole(Api::Chat);
    chat["choices"][0]["finish_reason"] = json!("stop");
    assert_eq!(read(Api::Chat, &chat).unwrap().stop, Stop::Calls);
    let mut messages = whole(Api::Messages);
    messages["content"].as_array_mut().unwrap().pop();
    assert_eq!(read(Api::Messages, &messages).unwrap().stop, Stop::End);
}

#[test]
fn reasons_are_told_apart() {
    for (reason, stop) in [
        ("end_turn", Stop::End),
        ("stop_sequence", Stop::End),
        ("max_tokens", Stop::Length),
        ("pause_turn", Stop::Paused),
        ("refusal", Stop::Filtered),
        ("model_context_window_exceeded", Stop::TooLong),
        ("something_new", Stop::Other("something_new".to_owned())),
    ] {
        let body = json!({"content": [{"type": "text", "text": "a"}], "stop_reason": reason});
        assert_eq!(read(Api::Messages, &body).unwrap().stop, stop);
    }
    let incomplete = |reason: &str| json!({"status": "incomplete", "incomplete_details": {"reason": reason}, "output": []});
    assert_eq!(
        read(Api::Responses, &incomplete("max_output_tokens"))
            .unwrap()
            .stop,
        Stop::Length
    );
    assert_eq!(
        read(Api::Responses, &incomplete("content_filter"))
            .unwrap()
            .stop,
        Stop::Filtered
    );
}

#[test]
fn who_would_not_say_it_says_why() {
    let chat = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": null, "refusal": "I will not."}}]});
    let responses = json!({"status": "completed", "output": [{"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I will not."}]}]});
    for (api, body) in [(Api::Chat, chat), (Api::Responses, responses)] {
        let turn = read(api, &body).unwrap();
        assert_eq!(
            (turn.text.as_str(), turn.stop),
            ("I will not.", Stop::Filtered)
        );
    }
}

#[test]
fn arguments_that_end_too_soon_are_told_as_they_are() {
    let events = events(Api::Messages)
        .replace(" 2}", "")
        .replace("tool_use\",\"stop_sequence", "max_tokens\",\"stop_sequence");
    let turn = streamed(Api::Messages, &[events.as_bytes()]).unwrap();
    assert_eq!(turn.stop, Stop::Length);
    assert_eq!(
        turn.calls[0].arguments,
        providers::Arguments::Bad("{\"a\":".to_owned())
    );
    let raw = turn.echo.unwrap().raw;
    assert_eq!(raw[2]["input"], json!({"INVALID_JSON": "{\"a\":"}));
}

#[test]
fn no_arguments_are_none() {
    let mut chat = whole(Api::Chat);
    chat["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = json!("");
    let turn = read(Api::Chat, &chat).unwrap();
    assert_eq!(turn.calls[0].object().unwrap().len(), 0);
}

/// Some number calls by their ids alone, or not at all.
#[test]
fn calls_without_numbers_are_told_apart_by_their_ids() {
    let chunk = |call: Value| json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
    let call = |id: &str, arguments: &str| json!({"id": id, "function": {"name": "math__add", "arguments": arguments}});
    let chunks = [
        chunk(call("a", "{\"a\":")),
        chunk(json!({"function": {"arguments": "1}"}})),
        chunk(call("b", "{\"a\":2}")),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
    ];
    let lines: String = chunks
        .iter()
        .map(|chunk| format!("data: {chunk}\n\n"))
        .collect();
    let turn = streamed(Api::Chat, &[lines.as_bytes(), b"data: [DONE]\n\n"]).unwrap();
    let calls: Vec<(&str, Value)> = turn
        .calls
        .iter()
        .map(|call| (call.id.as_str(), json!(call.object())))
        .collect();
    assert_eq!(calls, [("a", json!({"a": 1})), ("b", json!({"a": 2}))]);
}
