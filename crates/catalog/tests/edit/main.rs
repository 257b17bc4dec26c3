//! Edits of `tools.json` change what they must and not a byte more.

#![expect(clippy::unwrap_used, reason = "a test may stop at once")]

mod model;

use catalog::tool::{Annotations, Definition, KindName};
use catalog::tools_file::{Edit, edit, read_tools};
use serde_json::json;

const FILE: &str = r#"{
  "version": 1,
  "tools": [
    {
      "name": "first",
      "description_agent": "caf\u00e9",
      "tool_type": "SQL",
      "config": { "source": "s",   "query": "SELECT 1" },
      "is_active": true,
      "annotations": {"readOnlyHint": true, "title": "T"},
      "timeout_seconds": 30.0
    },
    {
      "name": "second",
      "description": "d",
      "kind": "http",
      "config": {
        "base_url": "http://h",
        "method": "GET"
      },
      "input_schema": {"type": "object", "properties": {"annotations": {"readOnlyHint": 1}}}
    }
  ]
}
"#;

fn tool(text: &str, name: &str) -> Definition {
    let file = read_tools("tools.json", text).unwrap();
    file.definitions
        .into_iter()
        .find(|d| d.name == name)
        .unwrap()
}

/// The lines that went and the lines that came, as a diff shows them.
fn diff(old: &str, new: &str) -> (Vec<String>, Vec<String>) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(same).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = tail.take_while(same).count();
    let middle = |lines: &[&str]| {
        lines[head..lines.len() - tail]
            .iter()
            .map(|l| l.trim().to_owned())
            .collect()
    };
    (middle(&old), middle(&new))
}

fn put(text: &str, name: &str, change: impl Fn(&mut Definition)) -> String {
    let mut changed = tool(text, name);
    change(&mut changed);
    let new = edit(text, &[Edit::Put(changed.clone())]).unwrap();
    assert_eq!(tool(&new, name), changed);
    new
}

#[test]
fn nothing_changes_when_nothing_is_different() {
    assert_eq!(put(FILE, "first", |_| ()), FILE);
    assert_eq!(put(FILE, "second", |_| ()), FILE);
    let with_mark = format!("\u{feff}{FILE}");
    assert_eq!(put(&with_mark, "second", |_| ()), with_mark);
}

#[test]
fn one_changed_field_is_one_changed_line() {
    type Case = (fn(&mut Definition), &'static str, &'static str);
    let cases: [Case; 6] = [
        (
            |d| d.is_active = false,
            r#""is_active": true,"#,
            r#""is_active": false,"#,
        ),
        (
            |d| d.timeout_seconds = Some(45.0),
            r#""timeout_seconds": 30.0"#,
            r#""timeout_seconds": 45"#,
        ),
        (
            |d| d.description = "x\"y".into(),
            r#""description_agent": "caf\u00e9","#,
            r#""description_agent": "x\"y","#,
        ),
        (
            |d| drop(d.config.insert("query".into(), json!("SELECT 2"))),
            r#""config": { "source": "s",   "query": "SELECT 1" },"#,
            r#""config": { "source": "s",   "query": "SELECT 2" },"#,
        ),
        (
            |d| drop(d.config.insert("max_rows".into(), json!(5))),
            r#""config": { "source": "s",   "query": "SELECT 1" },"#,
            r#""config": { "source": "s",   "query": "SELECT 1", "max_rows": 5 },"#,
        ),
        (
            |d| d.annotations.read_only = Some(false),
            r#""annotations": {"readOnlyHint": true, "title": "T"},"#,
            r#""annotations": {"readOnlyHint": false, "title": "T"},"#,
        ),
    ];
    for (change, gone, came) in cases {
        let mut changed = tool(FILE, "first");
        change(&mut changed);
        let new = edit(FILE, &[Edit::Put(changed.clone())]).unwrap();
        assert_eq!(
            diff(FILE, &new),
            (vec![gone.to_owned()], vec![came.to_owned()])
        );
        assert_eq!(tool(&new, "first"), changed);
    }
}

#[test]
fn other_names_of_a_field_are_kept() {
    let new = put(FILE, "first", |d| {
        d.kind = KindName::Builtin;
        d.config = json!({"name": "n"}).as_object().unwrap().clone();
    });
    assert!(new.contains(r#""tool_type": "builtin""#), "{new}");
    assert!(new.contains(r#""config": {"name": "n"}"#), "{new}");
}

#[test]
fn schema_keys_that_look_like_annotations_are_no_annotations() {
    let new = put(FILE, "second", |d| {
        d.input_schema["properties"]["annotations"]["readOnlyHint"] = json!(2);
    });
    assert_eq!(
        new,
        FILE.replace("\"readOnlyHint\": 1", "\"readOnlyHint\": 2")
    );
}

#[test]
fn fields_come_and_go_with_their_commas() {
    let added = put(FILE, "second", |d| d.is_active = false);
    let (_, came) = diff(FILE, &added);
    assert_eq!(came.last().unwrap(), "\"is_active\": false");
    let back = put(&added, "second", |d| d.is_active = true);
    assert_eq!(diff(&added, &back).1, ["\"is_active\": true"]);

    let without_last = put(FILE, "first", |d| d.timeout_seconds = None);
    assert_eq!(
        diff(FILE, &without_last).1,
        [r#""annotations": {"readOnlyHint": true, "title": "T"}"#]
    );
    let without_middle = put(FILE, "first", |d| d.annotations = Annotations::default());
    assert_eq!(diff(FILE, &without_middle).1, Vec::<String>::new());
    let both = put(FILE, "first", |d| {
        d.timeout_seconds = None;
        d.is_public = true;
        d.annotations.title = None;
    });
    assert!(
        both.contains(
            "      \"annotations\": {\"readOnlyHint\": true},\n      \"is_public\": true\n    },"
        ),
        "{both}"
    );
}

#[test]
fn renamed_appended_and_removed() {
    let renamed = edit(
        FILE,
        &[Edit::Replace {
            name: "first".into(),
            definition: Definition {
                name: "1st".into(),
                ..tool(FILE, "first")
            },
        }],
    );
    assert_eq!(diff(FILE, &renamed.unwrap()).1, ["\"name\": \"1st\","]);

    let third = Definition {
        name: "third".into(),
        ..tool(FILE, "second")
    };
    let appended = edit(FILE, &[Edit::Put(third.clone())]).unwrap();
    let before_end = FILE.strip_suffix("\n  ]\n}\n").unwrap();
    assert!(
        appended.starts_with(&format!(
            "{before_end},\n    {{\n      \"name\": \"third\",\n"
        )),
        "{appended}"
    );
    assert!(appended.ends_with("\n    }\n  ]\n}\n"), "{appended}");
    let remove = |text: &str, name: &str| edit(text, &[Edit::Remove(name.into())]).unwrap();
    assert_eq!(remove(&appended, "third"), FILE);

    let empty = remove(&remove(FILE, "first"), "second");
    assert_eq!(empty, "{\n  \"version\": 1,\n  \"tools\": []\n}\n");
    let one = edit(&empty, &[Edit::Put(third)]).unwrap();
    assert!(
        one.starts_with(
            "{\n  \"version\": 1,\n  \"tools\": [\n    {\n      \"name\": \"third\",\n"
        ),
        "{one}"
    );
    assert!(one.ends_with("\n    }\n  ]\n}\n"), "{one}");
}

#[test]
fn the_manner_of_the_file_is_kept() {
    let tabs = FILE.replace("  ", "\t").replace('\n', "\r\n");
    let third = Definition {
        name: "third".into(),
        ..tool(FILE, "second")
    };
    let new = edit(&tabs, &[Edit::Put(third.clone())]).unwrap();
    assert!(
        new.contains("\r\n\t\t{\r\n\t\t\t\"name\": \"third\",\r\n"),
        "{new}"
    );
    assert_eq!(new.matches('\n').count(), new.matches("\r\n").count());
    assert_eq!(tool(&new, "third"), third);

    let tight = r#"{"version":1,"tools":[]}"#;
    let new = edit(tight, &[Edit::Put(tool(FILE, "first"))]).unwrap();
    assert_eq!(
        new,
        r#"{"version":1,"tools":[{"name":"first","description":"café","kind":"sql","config":{"source":"s","query":"SELECT 1"},"input_schema":{"type":"object"},"timeout_seconds":30,"annotations":{"read_only":true,"title":"T"}}]}"#
    );
    let lines = "{\"version\": 1, \"tools\": [\n {\"name\": \"a\", \"description\": \"d\", \"kind\": \"expression\", \"config\": {\"expression\": \"1\"}}\n]}";
    let a = tool(lines, "a");
    let new = edit(
        lines,
        &[Edit::Put(Definition {
            name: "b".into(),
            ..a
        })],
    )
    .unwrap();
    assert_eq!(new.lines().count(), 4, "{new}");
}

#[test]
fn a_bad_edit_changes_nothing_and_says_why() {
    let gone = edit(FILE, &[Edit::Remove("third".into())]).unwrap_err();
    assert!(
        gone[0].expected.contains("third") && gone[0].path == "$.tools",
        "{}",
        gone[0]
    );
    let clash = Definition {
        name: "second".into(),
        ..tool(FILE, "first")
    };
    let clash = edit(
        FILE,
        &[Edit::Replace {
            name: "first".into(),
            definition: clash,
        }],
    )
    .unwrap_err();
    assert!(clash[0].expected.contains("no other tool"), "{}", clash[0]);
    let secret = Definition {
        auth_config: Some(json!({"token": "plain"})),
        ..tool(FILE, "first")
    };
    let secret = edit(FILE, &[Edit::Put(secret)]).unwrap_err();
    assert!(
        secret[0].path.ends_with("auth_config.token"),
        "{}",
        secret[0]
    );
    assert!(edit("{", &[]).is_err());
    // A batch is judged by where it ends.
    let bad = Definition {
        description: String::new(),
        is_active: false,
        ..tool(FILE, "first")
    };
    let good = tool(FILE, "first");
    let new = edit(FILE, &[Edit::Put(bad), Edit::Put(good.clone())]).unwrap();
    assert_eq!(tool(&new, "first"), good);
}
