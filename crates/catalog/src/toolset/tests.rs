//! What is in a set, under which name, and what is wrong with one that is not valid.

use super::*;
use crate::catalogue::Change;
use crate::tool::SYSTEM_USER;
use crate::tool::tests::tool;
use serde_json::json;

fn set(body: &Value) -> Toolset {
    let definition = toolset_from_text(&body.to_string()).unwrap();
    Toolset::new(SYSTEM_USER, definition)
}

fn catalogue(names: &[&str]) -> Catalogue {
    let tools = names.iter().map(|name| tool(name, SYSTEM_USER));
    Catalogue::default().with(tools.map(Change::Put).collect())
}

fn names(set: &Toolset, catalogue: &Catalogue) -> Vec<String> {
    let shown = set.members(catalogue).into_iter();
    let one = |it: Shown<'_>| match it.name == &*it.entry.name {
        true => it.name.to_owned(),
        false => format!("{}={}", it.name, it.entry.name),
    };
    shown.map(one).collect()
}

#[test]
fn the_listed_come_first_in_their_order_then_what_fits() {
    let all = catalogue(&["a", "b", "b2", "c", "sql_read", "sql_write"]);
    for (body, expected) in [
        (json!({"name": "s"}), "a b b2 c sql_read sql_write"),
        (
            json!({"name": "s", "tools": []}),
            "a b b2 c sql_read sql_write",
        ),
        (json!({"name": "s", "allow": []}), ""),
        (json!({"name": "s", "tools": ["c", "a"]}), "c a"),
        (json!({"name": "s", "tools": ["c", "later"]}), "c"),
        (json!({"name": "s", "allow": ["b*"]}), "b b2"),
        (
            json!({"name": "s", "tools": ["c", "b2"], "allow": ["b*", "a"]}),
            "c b2 a b",
        ),
        (json!({"name": "s", "deny": ["sql_*", "?"]}), "b2"),
        (
            json!({"name": "s", "tools": ["c", "a"], "deny": ["c"]}),
            "a",
        ),
        (
            json!({"name": "s", "tools": [{"tool": "a", "name": "x"}, "b"]}),
            "x=a b",
        ),
        // What was given a name here covers a tool of that name.
        (
            json!({"name": "s", "tools": [{"tool": "a", "name": "b"}], "allow": ["*"]}),
            "b=a b2 c sql_read sql_write",
        ),
        // One tool under two names.
        (
            json!({"name": "s", "tools": [{"tool": "a", "name": "x"}, {"tool": "a", "name": "y"}]}),
            "x=a y=a",
        ),
    ] {
        let set = set(&body);
        assert_eq!(names(&set, &all).join(" "), expected, "{body}");
        for entry in all.after(None) {
            let found = set
                .members(&all)
                .iter()
                .any(|it| it.entry.name == entry.name);
            assert_eq!(
                set.membership(Judged::tool(&entry.tool)).is_in(),
                found,
                "{} in {body}",
                entry.name
            );
        }
    }
}

#[test]
fn a_tool_by_its_id_follows_its_name_and_no_name_is_an_id() {
    let all = catalogue(&["a", "b"]);
    let id = all.get("a").unwrap().tool.id;
    let by_id = set(&json!({"name": "s", "tools": [id, "b"]}));
    assert_eq!(names(&by_id, &all), ["a", "b"]);
    let mut renamed = all.get("a").unwrap().tool.clone();
    renamed.definition.name = "z".into();
    let moved = all.with(vec![Change::Put(renamed)]);
    assert_eq!(names(&by_id, &moved), ["z", "b"]);
    assert!(by_id.find(&moved, "a").is_none());
    // Somebody takes the id as the name of a tool.
    let false_one = tool(&id.to_string(), SYSTEM_USER);
    let taken = moved.with(vec![Change::Put(false_one)]);
    assert_eq!(names(&by_id, &taken), ["z", "b"]);
    assert!(by_id.find(&taken, &id.to_string()).is_none());
    // The same tool by id and by name is there once.
    let twice = set(&json!({"name": "s", "tools": [id, "a"]}));
    assert_eq!(names(&twice, &all), ["a"]);
}

#[test]
fn a_renamed_tool_has_only_its_new_name() {
    let all = catalogue(&["a", "b"]);
    let set = set(
        &json!({"name": "s", "tools": [{"tool": "a", "name": "x", "arguments": {"k": 1}}], "allow": ["*"]}),
    );
    let found = set.find(&all, "x").unwrap();
    assert_eq!(
        (
            &*found.entry.name,
            found.pick.unwrap().arguments["k"].clone()
        ),
        ("a", json!(1))
    );
    let id = all.get("a").unwrap().tool.id.to_string();
    for name in ["a", id.as_str(), "nothing"] {
        assert!(set.find(&all, name).is_none(), "{name}");
    }
    assert!(set.find(&all, "b").unwrap().pick.is_none());
}

#[test]
fn what_is_set_beforehand_is_neither_seen_nor_sent() {
    let body = json!({"name": "s", "tools": [{"tool": "a", "arguments": {"k": 1, "n": null}}]});
    let set = set(&body);
    let pick = &set.definition.tools[0];
    let schema =
        json!({"type": "object", "properties": {"k": {}, "q": {}}, "required": ["k", "q"]});
    let left = json!({"type": "object", "properties": {"q": {}}, "required": ["q"]});
    assert_eq!(pick.input_schema(&schema), left);
    let schema = json!({"properties": {"k": {}}, "required": ["k"]});
    assert_eq!(pick.input_schema(&schema), json!({"properties": {}}));
    let mut arguments = json!({"q": 2});
    assert_eq!(pick.fill(&mut arguments), Ok(()));
    assert_eq!(arguments, json!({"q": 2, "k": 1, "n": null}));
    let mut none = Value::Null;
    assert_eq!(pick.fill(&mut none), Ok(()));
    assert_eq!(none, json!({"k": 1, "n": null}));
    // Not even the same value, and nothing is changed.
    let mut arguments = json!({"k": 1});
    assert_eq!(pick.fill(&mut arguments), Err("k".to_owned()));
    assert_eq!(arguments, json!({"k": 1}));
}

#[test]
fn what_is_written_is_read_again() {
    let body = json!({"name": "s", "description": "d", "tools": ["a", {"tool": "b", "name": "x", "description": "한글", "arguments": {"z": 1, "a": 2}}],
        "allow": null, "deny": ["c*"], "instructions": "Use\nthem", "find_tools": true, "names": "plain", "is_public": true});
    let read = toolset_from_text(&body.to_string()).unwrap();
    let text = serde_json::to_string(&read).unwrap();
    assert_eq!(toolset_from_text(&text).unwrap(), read);
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), body);
}

#[test]
fn every_mistake_is_reported_at_its_place() {
    let text = r#"{"description": 5, "allow": ["a b", 1], "deny": "x", "instructions": "\u0000", "find_tools": true,
        "is_public": "yes", "colour": 1, "tools": ["a b", 7, {"name": "x"}, {"tool": "a", "name": "ä", "arguments": []},
        {"tool": "a", "nmae": "x"}, "a", "call_tool", {"tool": "b", "arguments": {"k": {"$secret": "s"}}}]}"#;
    let problems = toolset_from_text(text).unwrap_err();
    let mut paths: Vec<&str> = problems.iter().map(|p| p.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        [
            "$.allow[0]",
            "$.allow[1]",
            "$.colour",
            "$.deny",
            "$.description",
            "$.instructions",
            "$.is_public",
            "$.name",
            "$.tools[0]",
            "$.tools[1]",
            "$.tools[2].tool",
            "$.tools[3].arguments",
            "$.tools[3].name",
            "$.tools[4].nmae",
            // The last of three that are called `a`, and the one before it.
            "$.tools[4]",
            "$.tools[5]",
            "$.tools[6]",
            "$.tools[7].arguments.k",
        ]
        .into_iter()
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect::<Vec<_>>()
    );
}

fn of_server(server: &str, theirs: &str) -> Change {
    let mut tool = tool(&format!("{server}.{theirs}"), SYSTEM_USER);
    tool.shelf = crate::tool::Shelf::Server;
    let config = &mut tool.definition.config;
    config.insert("server_name".to_owned(), server.into());
    config.insert("tool_name".to_owned(), theirs.into());
    Change::Put(tool)
}

#[test]
fn a_tool_of_a_set_is_found_by_its_name_without_dots_and_under_no_other() {
    let all = catalogue(&["a", "s__echo"]);
    let all = all.with(vec![
        of_server("s", "add"),
        of_server("s", "echo"),
        of_server("s", "sub"),
    ]);
    let found = |set: &Toolset, name: &str| {
        let found = set.find(&all, name);
        found.map_or_else(String::new, |it| format!("{}={}", it.name, it.entry.name))
    };
    let kit = set(&json!({"name": "s", "tools": [
        "s.add", {"tool": "a", "name": "my.a"}, {"tool": "s.sub", "name": "less"}, "s.echo",
    ]}));
    for (name, expected) in [
        ("s.add", "s.add=s.add"),
        ("s__add", "s.add=s.add"),
        ("my.a", "my.a=a"),
        ("my_a", "my.a=a"),
        ("less", "less=s.sub"),
        // It was given another name, so that there is no way around what was set for it.
        ("s.sub", ""),
        ("s__sub", ""),
        ("a", ""),
        // The tool of exactly this name is not in the set.
        ("s__echo", "s.echo=s.echo"),
        ("add", ""),
    ] {
        assert_eq!(found(&kit, name), expected, "{name}");
    }
    assert_eq!(
        names(&kit, &all),
        ["s.add", "my.a=a", "less=s.sub", "s.echo"]
    );
    let both = set(
        &json!({"name": "s", "tools": ["s__echo", "s.echo", {"tool": "a", "name": "s__add"}, "s.add"]}),
    );
    assert_eq!(found(&both, "s__echo"), "s__echo=s__echo");
    assert_eq!(found(&both, "s__add"), "s__add=a");
    for shown in both.members(&all) {
        let Some(plain) = both.plain_name(&shown) else {
            continue;
        };
        let again = both.find(&all, &plain.hashed).unwrap();
        assert!(again.is_same(&shown), "{}", plain.hashed);
    }
}

#[test]
fn names_are_dotted_or_plain() {
    let read = |names: Value| toolset_from_text(&json!({"name": "s", "names": names}).to_string());
    assert_eq!(read(json!("plain")).unwrap().names, Some(Names::Plain));
    assert_eq!(read(Value::Null).unwrap().names, None);
    let problems = read(json!("short")).unwrap_err();
    assert_eq!(problems[0].path, "$.names");
}

#[test]
fn an_argument_that_does_not_fit_is_named_where_it_stands() {
    let text =
        "{\"name\": \"s\", \"tools\": [\n{\"tool\": \"a\", \"arguments\": {\n\"limit\": 99}}]}";
    let schema = json!({"properties": {"limit": {"maximum": 50}}});
    let problems = checked_toolset_from_text(text, |pick| pick.misfits(&schema)).unwrap_err();
    let [problem] = &problems[..] else {
        panic!("{problems:?}")
    };
    assert_eq!(
        (problem.line, &*problem.path),
        (3, "$.tools[0].arguments.limit")
    );
    assert!(problem.expected.contains("50"), "{problem}");
}

#[test]
fn the_server_is_called_as_the_set_says_on_one_line() {
    let called = |name: Value| {
        let body = json!({"name": "s", "server_name": name}).to_string();
        toolset_from_text(&body).map(|set| set.server_name)
    };
    let name = "BGA Data Search Tools";
    assert_eq!(called(json!(name)).unwrap().as_deref(), Some(name));
    assert_eq!(called(Value::Null).unwrap(), None);
    for wrong in [
        json!(""),
        json!(" "),
        json!("a\nb"),
        json!("x".repeat(201)),
        json!(7),
    ] {
        assert_eq!(
            called(wrong.clone()).unwrap_err()[0].path,
            "$.server_name",
            "{wrong}"
        );
    }
}
