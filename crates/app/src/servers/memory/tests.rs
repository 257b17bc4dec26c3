//! What is made of what servers say.

use super::*;

fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object"}})
}

fn names(listed: &[Value]) -> Vec<&str> {
    listed
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect()
}

fn offers(memory: &mut Memory, tools: &[Value]) {
    let mut known = Known::default();
    known.lists.tools = tools.to_vec();
    memory.take_known("s", "a".to_owned(), known, 1);
}

fn first_seen(tools: &[Value]) -> Memory {
    let mut memory = Memory::default();
    offers(&mut memory, tools);
    for (tool, held) in &memory.judge(Pinning::Approve).fresh {
        memory.pin("s", tool, held, 1);
    }
    memory
}

#[test]
fn what_is_seen_first_is_held() {
    for pinning in [Pinning::Flag, Pinning::Approve] {
        let tools = [tool("a", "A"), tool("b", "B")];
        let judged = judge(&BTreeMap::new(), true, &tools, pinning);
        assert_eq!(judged.fresh.len(), 2);
        assert_eq!(judged.listed, tools);
        assert!(judged.changes.is_empty(), "{:?}", judged.changes);
    }
    let off = judge(&BTreeMap::new(), true, &[tool("a", "A")], Pinning::Off);
    assert!(off.fresh.is_empty() && off.approved.is_none());
}

#[test]
fn a_change_is_told_or_waits() {
    let mut memory = first_seen(&[tool("a", "A"), tool("b", "B"), tool("gone", "G")]);
    offers(
        &mut memory,
        &[tool("a", "A!"), tool("b", "B"), tool("c", "C")],
    );
    let flagged = memory.judge(Pinning::Flag);
    assert_eq!(flagged.listed, memory.known.lists.tools);
    assert_eq!((flagged.changes.len(), flagged.fresh.len()), (1, 1));
    assert!(flagged.approved.is_none());
    let waits = memory.judge(Pinning::Approve);
    assert_eq!(waits.listed, [tool("a", "A"), tool("b", "B")]);
    assert_eq!(waits.approved, Some(HashSet::from(["b".to_owned()])));
    assert_eq!((waits.changes.len(), waits.fresh.len()), (2, 0));
    let flags = waits.flags();
    assert!(
        flags["a"][0].contains("changed") && flags["c"][0].contains("new"),
        "{flags:?}"
    );
    let off = memory.judge(Pinning::Off);
    assert_eq!(names(&off.listed), ["a", "b", "c"]);
    assert!(off.changes.is_empty());
    // Approved as it is, it is what counts.
    let new = waits.changes[0].new.clone();
    memory.pin("s", "a", &new, 2);
    let again = memory.judge(Pinning::Approve);
    assert_eq!(names(&again.listed), ["a", "b"]);
    assert_eq!(again.listed[0]["description"], "A!");
}

#[test]
fn letters_that_hide_wait_even_at_first_sight() {
    let tools = [tool("plain", "P"), tool("odd", "Adds.\u{e0041}")];
    let mut memory = first_seen(&tools);
    for _ in 0..2 {
        let waits = memory.judge(Pinning::Approve);
        assert_eq!(names(&waits.listed), ["plain"]);
        assert_eq!(waits.changes.len(), 1);
        assert_eq!(waits.hidden_letters["odd"], ["U+E0041"]);
        let flags = &waits.flags()["odd"];
        assert!(flags[0].contains("waits for approval"), "{flags:?}");
        // The next time the others are held already.
        offers(&mut memory, &tools);
    }
    // Where nothing waits, it is told.
    let told = judge(&BTreeMap::new(), true, &tools, Pinning::Flag);
    assert_eq!((told.listed.len(), told.fresh.len()), (2, 2));
    assert_eq!(told.hidden_letters["odd"], ["U+E0041"]);
    let new = memory.judge(Pinning::Approve).changes[0].new.clone();
    memory.pin("s", "odd", &new, 2);
    let seen = memory.judge(Pinning::Approve);
    assert_eq!(names(&seen.listed), ["plain", "odd"]);
    assert!(seen.changes.is_empty() && seen.hidden_letters.contains_key("odd"));
}

#[test]
fn what_was_seen_once_is_not_first_again() {
    let odd = tool("odd", "Adds.\u{e0041}");
    for first in [vec![], vec![odd]] {
        let mut memory = first_seen(&first);
        assert!(memory.pins.is_empty());
        assert!(memory.see("s", Pinning::Off, 1).is_none());
        let row = memory.see("s", Pinning::Approve, 1).unwrap();
        assert!(memory.see("s", Pinning::Approve, 1).is_none());
        // The next process knows it, too.
        let mut again = Memory::default();
        again.take_pin(row);
        assert!(again.pins.is_empty());
        for memory in [&mut memory, &mut again] {
            offers(memory, &[tool("evil", "E")]);
            let waits = memory.judge(Pinning::Approve);
            assert!(waits.listed.is_empty() && waits.fresh.is_empty());
            assert_eq!(
                (waits.changes.len(), &waits.approved),
                (1, &Some(HashSet::new()))
            );
        }
        memory.address = "file 1".to_owned();
        assert!(memory.is_at("database 1".to_owned()));
        offers(&mut memory, &[tool("other", "O")]);
        assert_eq!(
            memory.judge(Pinning::Approve).fresh.len(),
            1,
            "another server"
        );
    }
}

#[test]
fn what_is_too_large_is_held_by_its_hash() {
    let large = tool("a", &"x".repeat(PIN_BYTES_MAX));
    let mut memory = first_seen(std::slice::from_ref(&large));
    assert_eq!(memory.pins["a"].definition, None);
    assert!(memory.judge(Pinning::Approve).changes.is_empty());
    offers(&mut memory, &[tool("a", "small")]);
    let waits = memory.judge(Pinning::Approve);
    assert_eq!(waits.changes.len(), 1);
    assert!(waits.listed.is_empty(), "what it was is not known");
    let much = Known {
        way: Some(Way::Legacy),
        lists: Lists {
            tools: vec![tool("a", &"x".repeat(KNOWN_BYTES_MAX))],
            ..Lists::default()
        },
        ..Known::default()
    };
    let text = known_text("s", &much);
    assert!(
        text.len() < 1000 && text.contains("legacy"),
        "{}",
        text.len()
    );
}

#[test]
fn what_is_known_ends_with_the_address_and_what_is_held_with_the_server() {
    let mut memory = first_seen(&[tool("a", "A")]);
    memory.address = "file 1".to_owned();
    assert!(!memory.is_at("file 1".to_owned()));
    assert_eq!(memory.known.lists.tools.len(), 1);
    assert!(!memory.is_at("file 2".to_owned()));
    assert!(memory.known.lists.tools.is_empty() && !memory.pins.is_empty());
    assert!(memory.is_at("database 2".to_owned()));
    assert!(memory.pins.is_empty());
}

#[test]
fn so_many_are_held_and_no_more() {
    let named = |from: usize, to: usize| -> Vec<Value> {
        (from..to).map(|n| tool(&format!("t{n}"), "T")).collect()
    };
    let mut memory = first_seen(&named(0, PINS_MAX + 3));
    assert_eq!(memory.pins.len(), PINS_MAX);
    let kept: usize = memory.pins.values().map(|it| it.bytes).sum();
    assert_eq!(memory.pin_bytes, kept);
    assert!(kept <= PINS_BYTES_MAX, "{kept}");
    // Others in their place are neither held nor listed; what is held stays.
    for pinning in [Pinning::Flag, Pinning::Approve] {
        offers(&mut memory, &named(PINS_MAX - 1, PINS_MAX + 5));
        let judged = memory.judge(pinning);
        assert_eq!((judged.listed.len(), judged.left_out), (1, 5));
        assert!(judged.fresh.is_empty() && judged.changes.is_empty());
    }
    memory.pin("s", "t0", &tool("t0", "Something longer"), 2);
    let kept: usize = memory.pins.values().map(|it| it.bytes).sum();
    assert_eq!(memory.pin_bytes, kept);
}

#[test]
fn what_one_person_has_is_forgotten() {
    let mut memory = first_seen(&[tool("a", "A")]);
    assert!(memory.keep_common("s", 2).is_none());
    memory.known.lists.resources = vec![json!({"uri": "x://of-alice"})];
    let row = memory.keep_common("s", 2).unwrap();
    assert!(!row.known.contains("alice") && row.known.contains("\"A\""));
    assert!(memory.keep_common("s", 2).is_none());
}

#[test]
fn names_that_nobody_could_write_are_left_out() {
    let long = "n".repeat(NAME_BYTES_MAX + 1);
    let tools = [tool("a\0b", ""), tool(&long, ""), tool("fine", "")];
    let judged = judge(&BTreeMap::new(), true, &tools, Pinning::Flag);
    assert_eq!(names(&judged.listed), ["fine"]);
}
