//! What a journal leads to.

use super::*;
use crate::entry::PendingKind;
use providers::Arguments;
use serde_json::json;

fn began(limits: Limits) -> Entry {
    Entry::Began(Box::new(Began {
        input: "do it".to_owned(),
        before: Vec::new(),
        is_tainted: false,
        tools: Vec::new(),
        limits,
        has_model: true,
        output_schema: None,
        asked: None,
    }))
}

fn turn(text: &str, calls: &[(&str, &str)]) -> Entry {
    let call = |(id, name): &(&str, &str)| Call {
        id: (*id).to_owned(),
        name: (*name).to_owned(),
        arguments: Arguments::Json(json!({"n": 1})),
    };
    let turn = Turn {
        text: text.to_owned(),
        calls: calls.iter().map(call).collect(),
        usage: Usage {
            input_tokens: 10,
            output_tokens: 5,
            ..Usage::default()
        },
        ..Turn::default()
    };
    Entry::Turn {
        turn: Box::new(turn),
        cost: Some(0.5),
    }
}

fn started(call: &str) -> Entry {
    Entry::Started {
        call: call.to_owned(),
        arguments: json!({}),
    }
}

fn result(call: &str, text: &str) -> Entry {
    Entry::Result(Box::new(CallResult::told(call, text, None)))
}

fn asked(call: &str, kind: PendingKind) -> Entry {
    Entry::Asked(Box::new(Pending {
        definition: None,
        request_id: format!("r-{call}"),
        kind,
        call: call.to_owned(),
        question: "?".to_owned(),
        schema: Value::Null,
        tool: None,
        arguments: json!({"n": 1}),
        because: String::new(),
        asked_at: 0,
        expires_at: 0,
    }))
}

fn answered(call: &str, answer: Value) -> Entry {
    Entry::Answered {
        request_id: format!("r-{call}"),
        answer,
        by: "kim".to_owned(),
    }
}

fn declined(call: &str) -> Entry {
    Entry::Declined {
        request_id: format!("r-{call}"),
        by: "kim".to_owned(),
    }
}

/// The state after these, one second between them.
fn after(entries: &[Entry]) -> State {
    State::of(
        entries
            .iter()
            .enumerate()
            .map(|(i, e)| (i as i64 * 1_000, e)),
    )
}

fn texts(state: &State) -> Vec<&str> {
    match state.said.last() {
        Some(Said::Results(results)) => results.iter().map(|it| it.text.as_str()).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn results_are_told_in_the_order_of_the_calls() {
    let mut entries = vec![
        began(Limits::default()),
        turn("", &[("a", "t"), ("b", "t")]),
    ];
    assert_eq!(after(&entries).next(0), Next::Act);
    entries.extend([started("a"), started("b"), result("b", "second")]);
    let state = after(&entries);
    assert_eq!(state.next(0), Next::Act);
    assert_eq!(state.in_flight().count(), 1);
    entries.push(result("a", "first"));
    let state = after(&entries);
    assert_eq!(texts(&state), ["first", "second"]);
    assert_eq!(state.next(0), Next::Think);
    assert_eq!((state.calls, state.steps), (2, 1));
    entries.push(turn("That is all", &[]));
    let concluded = Next::Conclude("That is all".to_owned());
    assert_eq!(after(&entries).next(0), concluded);
}

#[test]
fn two_that_wait_are_answered_in_any_order() {
    let mut entries = vec![
        began(Limits::default()),
        turn("", &[("a", "t"), ("b", "u"), ("c", "v")]),
        asked("a", PendingKind::Approval),
        asked("b", PendingKind::Approval),
        started("c"),
    ];
    assert_eq!(after(&entries).status(), Status::Running, "one still runs");
    entries.push(result("c", "ran"));
    let state = after(&entries);
    assert_eq!(
        (state.status(), state.next(0)),
        (Status::NeedsInput, Next::Wait)
    );
    entries.push(answered(
        "b",
        json!({"decision": "reject", "text": "too dear"}),
    ));
    assert_eq!(after(&entries).status(), Status::NeedsInput);
    entries.push(answered(
        "a",
        json!({"decision": "edit", "arguments": {"n": 2}}),
    ));
    let state = after(&entries);
    assert_eq!(state.next(0), Next::Act);
    let Phase::Cleared(cleared) = &state.open[0].phase else {
        panic!("{:?}", state.open[0].phase)
    };
    assert_eq!(cleared.arguments, json!({"n": 2}));
    entries.extend([started("a"), result("a", "edited")]);
    let state = after(&entries);
    assert!(texts(&state)[1].ends_with("too dear"));
    assert_eq!(state.pending().count(), 0);
}

#[test]
fn what_cannot_be_read_lets_nothing_run() {
    let state = after(&[
        began(Limits::default()),
        turn("", &[("a", "t")]),
        asked("a", PendingKind::Approval),
        answered("a", json!("yes")),
    ]);
    assert!(matches!(&state.said.last(), Some(Said::Results(r)) if r[0].is_error));
}

#[test]
fn always_counts_for_the_rest_of_the_run() {
    let state = after(&[
        began(Limits::default()),
        turn("", &[("a", "t")]),
        asked("a", PendingKind::Approval),
        answered("a", json!({"decision": "always"})),
    ]);
    let always = state.always("t").unwrap();
    assert_eq!(state.open[0].phase, Phase::Cleared(always.clone()));
    assert_eq!(always.arguments, json!({"n": 1}));
    assert!(
        always.is_of("any"),
        "older journals do not tell what it was"
    );
}

#[test]
fn a_late_result_does_not_change_what_was_told() {
    let state = after(&[
        began(Limits::default()),
        turn("", &[("a", "t"), ("b", "t")]),
        started("a"),
        result("a", "interrupted"),
        result("a", "late"),
        started("b"),
        result("b", "b"),
    ]);
    assert_eq!(texts(&state), ["interrupted", "b"]);
}

#[test]
fn each_limit_is_met() {
    let reached = |limits: Limits, rounds: usize| {
        let mut entries = vec![began(limits)];
        for round in 0..rounds {
            let id = format!("c{round}");
            entries.extend([turn("", &[(&id, "t")]), started(&id), result(&id, "r")]);
        }
        match after(&entries).next(1_000_000) {
            Next::Limit(reached) => Some((reached.code, reached.may_answer)),
            _ => None,
        }
    };
    let with = |change: fn(&mut Limits)| {
        let mut limits = Limits {
            repeats_max: 100,
            ..Limits::default()
        };
        change(&mut limits);
        limits
    };
    let steps = with(|it| it.steps_max = 2);
    assert_eq!(reached(steps.clone(), 1), None);
    assert_eq!(reached(steps, 2), Some(("max_steps", true)));
    let calls = with(|it| it.calls_max = 3);
    assert_eq!(reached(calls, 3), Some(("max_tool_calls", true)));
    let tokens = with(|it| it.tokens_max = Some(30));
    assert_eq!(reached(tokens.clone(), 1), None);
    assert_eq!(reached(tokens, 2), Some(("token_budget", false)));
    let cost = with(|it| it.cost_max = Some(1.0));
    assert_eq!(reached(cost, 2), Some(("cost_budget", false)));
    let time = with(|it| it.seconds_max = Some(10.0));
    assert_eq!(reached(time, 1), Some(("max_seconds", false)));
    let fail = with(|it| (it.steps_max, it.at_limit) = (1, AtLimit::Fail));
    assert_eq!(reached(fail, 1), Some(("max_steps", false)));
    assert_eq!(reached(Limits::default(), 4), Some(("repetition", true)));
}

#[test]
fn after_a_limit_the_model_answers_once_and_calls_nothing() {
    let mut entries = vec![began(Limits::default())];
    entries.push(Entry::Limited {
        code: "max_steps".to_owned(),
        message: "The run took 20 steps".to_owned(),
    });
    assert_eq!(after(&entries).next(0), Next::Think);
    entries.push(turn("half an answer", &[("a", "t")]));
    let state = after(&entries);
    let concluded = Next::Conclude("half an answer".to_owned());
    assert_eq!(state.next(0), concluded);
    assert!(
        matches!(state.said.last(), Some(Said::Results(it)) if it[0].call_id == "a" && it[0].is_error),
        "a conversation that goes on from here holds no half of a pair"
    );
    assert_eq!(state.calls, 0);
}

#[test]
fn two_calls_with_one_id_run_once_each() {
    let mut entries = vec![
        began(Limits::default()),
        turn("", &[("a", "t"), ("a", "t")]),
        started("a"),
        result("a", "first"),
    ];
    let state = after(&entries);
    assert_eq!((state.next(0), state.calls), (Next::Act, 1));
    entries.extend([started("a"), started("a"), result("a", "second")]);
    let state = after(&entries);
    assert_eq!(texts(&state), ["first", "second"]);
    assert_eq!((state.next(0), state.calls), (Next::Think, 2));
}

#[test]
fn a_turn_that_is_paused_again_and_again_ends_at_a_limit() {
    let paused = || {
        let Entry::Turn { mut turn, cost } = turn("so far", &[]) else {
            unreachable!()
        };
        turn.stop = Stop::Paused;
        Entry::Turn { turn, cost }
    };
    let limits = Limits {
        steps_max: 2,
        ..Limits::default()
    };
    let mut entries = vec![began(limits), paused()];
    assert_eq!(after(&entries).next(0), Next::Think);
    entries.push(paused());
    let Next::Limit(reached) = after(&entries).next(0) else {
        panic!("it goes on for ever")
    };
    entries.push(Entry::Limited {
        code: reached.code.to_owned(),
        message: reached.message,
    });
    entries.push(paused());
    let concluded = Next::Conclude("so far".to_owned());
    assert_eq!(after(&entries).next(0), concluded);
}

#[test]
fn what_somebody_outside_may_have_written_is_remembered() {
    let shown = |is_trusted| Entry::Shown {
        text: "documents".to_owned(),
        is_trusted,
    };
    assert!(after(&[began(Limits::default()), shown(false)]).is_tainted);
    assert!(!after(&[began(Limits::default()), shown(true)]).is_tainted);
    let Entry::Began(mut before) = began(Limits::default()) else {
        unreachable!()
    };
    before.is_tainted = true;
    assert!(after(&[Entry::Began(before)]).is_tainted);
}

#[test]
fn documents_are_looked_for_once_whatever_came_of_it() {
    let note = |code: &str| Entry::Note {
        code: code.to_owned(),
        message: String::new(),
    };
    let shown = Entry::Shown {
        text: "documents".to_owned(),
        is_trusted: false,
    };
    let planned = Entry::Plan {
        tools: Vec::new(),
        because: String::new(),
        parts: Vec::new(),
        left: Vec::new(),
    };
    for (entry, expected) in [
        (shown, true),
        (note("retrieval_failed"), true),
        (note("retrieval_denied"), true),
        (note("tools_missing"), false),
        (planned, false),
    ] {
        let state = after(&[began(Limits::default()), entry]);
        assert_eq!(state.is_retrieved, expected);
    }
}

#[test]
fn calls_that_a_given_up_run_left_open_have_a_result_for_the_next() {
    let entries = [
        began(Limits::default()),
        turn("", &[("a", "one"), ("b", "two")]),
        result("a", "1"),
    ];
    let state = after(&entries);
    let Some(Said::Results(results)) = state.unknown() else {
        panic!("{state:?}")
    };
    let told = |it: &ToolResult| (it.call_id.clone(), it.is_error);
    let told: Vec<_> = results.iter().map(told).collect();
    assert_eq!(told, [("a".to_owned(), false), ("b".to_owned(), true)]);
    assert_eq!(results[0].text, "1");
    let closed = [entries.as_slice(), &[result("b", "2")]].concat();
    assert_eq!(after(&closed).unknown(), None);
}

#[test]
fn waiting_for_people_does_not_count_as_time() {
    let entries = [
        began(Limits::default()),
        turn("", &[("a", "request_human_input")]),
        asked("a", PendingKind::Question),
    ];
    let mut state = State::of(entries.iter().map(|e| (0, e)));
    assert!(state.seconds_spent(86_400_000).abs() < 1e-9);
    state.apply(86_400_000, &answered("a", json!("blue")));
    assert!((state.seconds_spent(86_401_000) - 1.0).abs() < 1e-9);
    assert_eq!(texts(&state), ["blue"]);
}

#[test]
fn a_question_that_nobody_wants_to_answer_has_a_result() {
    let entries = [
        began(Limits::default()),
        turn("", &[("a", "t")]),
        asked("a", PendingKind::Question),
        declined("a"),
    ];
    let state = after(&entries);
    assert_eq!(state.status(), Status::Running);
    let Some(Said::Results(results)) = state.said.last() else {
        panic!("{:?}", state.said);
    };
    assert_eq!(
        (results[0].code.as_deref(), results[0].is_error),
        (Some(DECLINED), true)
    );
}

#[test]
fn a_cancelled_run_does_not_wait() {
    let state = after(&[
        began(Limits::default()),
        turn("", &[("a", "t")]),
        asked("a", PendingKind::Question),
        Entry::CancelAsked {
            by: "kim".to_owned(),
        },
    ]);
    assert_eq!(state.next(0), Next::Cancel("kim".to_owned()));
}

#[test]
fn the_journal_reads_back() {
    let entries = [
        began(Limits::default()),
        turn("hi", &[("a", "t")]),
        asked("a", PendingKind::Approval),
        answered("a", json!({"decision": "approve"})),
        started("a"),
        result("a", "r"),
    ];
    for entry in entries {
        let text = serde_json::to_string(&entry).unwrap();
        assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry);
    }
}
