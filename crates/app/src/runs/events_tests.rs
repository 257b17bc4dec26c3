//! What followers are told, from whichever place on.

use super::*;
use agent::entry::{PendingKind, RunError};
use providers::{Turn, Usage};

fn journal() -> Vec<Entry> {
    let call = |id: &str| Call {
        id: id.to_owned(),
        name: "t".to_owned(),
        arguments: Arguments::Json(json!({})),
    };
    vec![
        Entry::Plan {
            tools: vec!["t".to_owned()],
            because: String::new(),
            parts: Vec::new(),
            left: Vec::new(),
        },
        Entry::Turn {
            turn: Box::new(Turn {
                text: "가나다".to_owned(),
                calls: vec![call("a"), call("b")],
                ..Turn::default()
            }),
            cost: None,
        },
        Entry::refused(&call("a"), "timeout", "late"),
        Entry::refused(&call("b"), "timeout", "late"),
        Entry::Ended(Box::new(Ending {
            status: Status::Failed,
            output: None,
            value: None,
            error: Some(RunError::new("max_steps", "enough")),
            usage: Usage::default(),
            cost: None,
        })),
    ]
}

fn asked(call: &str, kind: PendingKind) -> Entry {
    Entry::Asked(Box::new(Pending {
        request_id: format!("r-{call}"),
        kind,
        call: call.to_owned(),
        question: "?".to_owned(),
        schema: Value::Null,
        tool: Some("t".to_owned()),
        definition: None,
        arguments: json!({"n": 1}),
        because: String::new(),
        asked_at: 0,
        expires_at: 1,
    }))
}

fn answered(call: &str, answer: Value) -> Entry {
    Entry::Answered {
        request_id: format!("r-{call}"),
        answer,
        by: "kim".to_owned(),
    }
}

fn turn(calls: &[&str]) -> Entry {
    let call = |id: &&str| Call {
        id: (*id).to_owned(),
        name: "t".to_owned(),
        arguments: Arguments::Json(json!({"n": 1})),
    };
    let calls = calls.iter().map(call).collect();
    Entry::Turn {
        turn: Box::new(Turn {
            calls,
            ..Turn::default()
        }),
        cost: None,
    }
}

/// What somebody is told who goes on from `position`; `written` is what they see of the turn before it is stored.
fn told(position: Position, written: &[&str]) -> Vec<RunEvent> {
    let mut teller = Teller::new(position);
    let mut all = Vec::new();
    for entry in journal() {
        if matches!(entry, Entry::Turn { .. }) {
            all.extend(written.iter().flat_map(|text| teller.writing(text)));
        }
        all.extend(teller.entry(&entry));
    }
    assert!(teller.is_over());
    all
}

#[test]
fn whoever_goes_on_from_any_event_is_told_the_rest_and_nothing_twice() {
    let all = told(Position::default(), &["가", "가나"]);
    let names: Vec<&str> = all.iter().map(|it| it.event).collect();
    let expected = [
        "plan",
        "text_delta",
        "text_delta",
        "text_delta",
        "tool_call",
        "tool_call",
        "tool_result",
        "tool_result",
        "error",
    ];
    assert_eq!(names, expected);
    for (i, event) in all.iter().enumerate() {
        let position = Position::read(event.id.as_deref().unwrap()).unwrap();
        // What is written now is at least what they have read of it.
        let written: Vec<&str> = ["가", "가나"]
            .into_iter()
            .filter(|it| it.len() >= position.text)
            .collect();
        let rest = told(position, &written);
        assert_eq!(rest, all[i + 1..], "after {event:?}");
    }
}

#[test]
fn whoever_missed_the_writing_gets_the_text_whole() {
    let all = told(Position::default(), &[]);
    assert_eq!(all[1].data, json!({"text": "가나다"}));
    let first = &told(Position::default(), &["가"])[1];
    let position = Position::read(first.id.as_deref().unwrap()).unwrap();
    assert_eq!(told(position, &[])[0].data, json!({"text": "나다"}));
}

/// What a reader makes of what they are told: all text that counts.
fn read(all: &[RunEvent]) -> String {
    let mut text = String::new();
    for event in all {
        match event.event {
            "text_delta" => text += event.data["text"].as_str().unwrap(),
            "text_reset" => text.clear(),
            _ => {}
        }
    }
    text
}

#[test]
fn two_tries_are_never_spliced() {
    // What an earlier try wrote: the same, more, less, something else, cut inside of a letter of the other.
    for before in ["가나", "가나다라마", "다", "ab", "abcd", "가b"] {
        let mut teller = Teller::new(Position::default());
        let mut all = teller.entry(&journal()[0]);
        all.extend(teller.writing(before));
        let position = Position::read(all.last().unwrap().id.as_deref().unwrap()).unwrap();
        for written in [&[][..], &["가"], &["가", "가나"]] {
            let rest = told(position, written);
            let whole: Vec<RunEvent> = all.iter().chain(&rest).cloned().collect();
            assert_eq!(read(&whole), "가나다", "{before} {written:?}: {rest:?}");
            let is_reset = rest.iter().any(|it| it.event == "text_reset");
            let is_needed = !"가나다".starts_with(before);
            assert!(is_reset || !is_needed, "{before} {written:?}");
        }
    }
}

#[test]
fn what_somebody_adds_while_a_turn_is_written_tells_nothing_twice() {
    let asked = Entry::CancelAsked {
        by: "kim".to_owned(),
    };
    let mut teller = Teller::new(Position::default());
    let mut all = teller.writing("가");
    all.extend(teller.entry(&asked));
    all.extend(teller.writing("가나"));
    assert_eq!(read(&all), "가나", "{all:?}");
    let position = Position::read(all[1].id.as_deref().unwrap()).unwrap();
    let mut teller = Teller::new(position);
    let mut rest = teller.entry(&asked);
    rest.extend(teller.writing("가나"));
    assert_eq!(rest, all[2..], "{rest:?}");
}

#[test]
fn what_a_call_says_of_itself_is_told_once() {
    let lines = |of: &[&str]| -> Vec<(String, String)> {
        let line = |it: &&str| ("a".to_owned(), (*it).to_owned());
        of.iter().map(line).collect()
    };
    let mut teller = Teller::new(Position::default());
    let first = teller.progress(&lines(&["1 of 3"]));
    assert_eq!(first.len(), 1);
    assert!(teller.progress(&lines(&["1 of 3"])).is_empty());
    let position = Position::read(first[0].id.as_deref().unwrap()).unwrap();
    let mut back = Teller::new(position);
    assert!(back.progress(&lines(&["1 of 3"])).is_empty());
    assert_eq!(back.progress(&lines(&["2 of 3"])).len(), 1);
}

#[test]
fn an_id_that_is_none_is_not_read() {
    for id in [
        "",
        "x",
        "1.x",
        "1.2.g",
        "1.2.3.4.5.6",
        "-1",
        "+1",
        "1.2.fffffffff",
    ] {
        assert_eq!(Position::read(id), None, "{id}");
    }
}

/// Calls that somebody rejects or answers in place of the tool, questions, and calls after a limit: none of them runs.
#[test]
fn every_call_that_is_told_of_gets_its_result() {
    let journal = [
        turn(&["no", "instead", "question", "yes"]),
        asked("no", PendingKind::Approval),
        asked("instead", PendingKind::Approval),
        asked("question", PendingKind::Question),
        asked("yes", PendingKind::Approval),
        answered("no", json!({"decision": "reject", "text": "not today"})),
        answered("instead", json!({"decision": "respond", "text": "9"})),
        answered("question", json!("blue")),
        answered("yes", json!({"decision": "edit", "arguments": {"n": 2}})),
        Entry::Started {
            call: "yes".to_owned(),
            arguments: json!({"n": 2}),
        },
        Entry::refused(
            &Call {
                id: "yes".to_owned(),
                name: "t".to_owned(),
                arguments: Arguments::Json(json!({})),
            },
            "timeout",
            "late",
        ),
        Entry::Limited {
            code: "max_steps".to_owned(),
            message: "enough".to_owned(),
        },
        turn(&["late"]),
    ];
    let told = |position| {
        let mut teller = Teller::new(position);
        let events = journal.iter().flat_map(|entry| teller.entry(entry));
        events.collect::<Vec<RunEvent>>()
    };
    let all = told(Position::default());
    let of = |name: &str| {
        let found = all.iter().filter(|it| it.event == name);
        found.map(|it| it.data.clone()).collect::<Vec<Value>>()
    };
    let results = of("tool_result");
    let short: Vec<Value> = results
        .iter()
        .map(|it| json!([it["call_id"], it["tool"], it["is_error"], it["code"]]))
        .collect();
    let expected = [
        json!(["no", "t", true, "rejected"]),
        json!(["instead", "t", false, null]),
        json!(["question", "t", false, null]),
        json!(["yes", "t", true, "timeout"]),
        json!(["late", "t", true, "max_steps"]),
    ];
    assert_eq!(short, expected);
    assert!(results[0]["text"].as_str().unwrap().ends_with("not today"));
    assert_eq!(
        (&results[1]["text"], &results[2]["text"]),
        (&json!("9"), &json!("blue"))
    );
    assert_eq!(of("tool_started")[0]["arguments"], json!({"n": 2}));
    assert_eq!(
        of("answered")[0],
        json!({"request_id": "r-no", "answer": {"decision": "reject", "text": "not today"},
            "by": "kim", "call_id": "no", "tool": "t"})
    );
    for (i, event) in all.iter().enumerate() {
        let position = Position::read(event.id.as_deref().unwrap()).unwrap();
        assert_eq!(told(position), all[i + 1..], "after {event:?}");
    }
}
