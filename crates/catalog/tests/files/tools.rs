//! The file as a whole: bad JSON, wrong top level, missing fields, equal names.

use super::{check_one, tools_problems};

#[test]
fn text_that_is_not_json() {
    let cases: &[(&str, u32, &str, &str)] = &[
        ("", 1, "$", "empty or cut off"),
        (
            "{\"version\": 1,\n \"tools\": [],\n}",
            2,
            "$",
            "Delete the comma before `}`",
        ),
        (
            "{\"version\": 1, \"tools\": [\n {},\n ]}",
            2,
            "$.tools",
            "Delete the comma before `]`",
        ),
        ("{\n'version': 1}", 2, "$", "double quotes"),
        ("{\"version\": 'one'}", 1, "$.version", "double quotes"),
        ("{\n // mine\n \"version\": 1}", 2, "$", "no comments"),
        ("{\"version\": 1 # mine\n}", 1, "$", "no comments"),
        ("{\"version\": 1}\n/* end */", 2, "$", "no comments"),
        ("{\n version: 1}", 2, "$", "\"version\""),
        (
            "{\"version\": 1,\n \"tools\": [{\"name\": \"a}]}",
            2,
            "$.tools[0].name",
            "Close this string",
        ),
        ("{\"a\": \"x\n\"}", 1, "$.a", "\\n"),
        (
            "{\"version\": 1,\n \"tools\": [\n",
            2,
            "$.tools",
            "`[` of line 2",
        ),
        ("{\n\"version\": 1", 2, "$", "`{` of line 1"),
        ("{\n\"a\":", 2, "$.a", "`{` of line 1"),
        ("{\"version\": NaN}", 1, "$.version", "no such number"),
        ("{\"version\": -Infinity}", 1, "$.version", "no such number"),
        (
            "{\"version\": 1\n \"tools\": []}",
            1,
            "$",
            "comma after this value",
        ),
        (
            "{\"version\": 1, \"tools\": [1 2]}",
            1,
            "$.tools",
            "comma after this value",
        ),
        ("{\"version\": True}", 1, "$.version", "lower case"),
        ("{\"version\": None}", 1, "$.version", "null"),
        ("{\"version\": 01}", 1, "$.version", "leading zeros"),
        ("{\"version\": .5}", 1, "$.version", "digit first"),
        ("{\"version\": 1e999}", 1, "$.version", "smaller number"),
        ("{\"a\": \"C:\\dir\"}", 1, "$.a", "\\\\"),
        ("{\"a\": \"\\ud800\"}", 1, "$.a", "both halves"),
        ("{\"a\": \"\\u12\"}", 1, "$.a", "four digits"),
        ("{\"a\": \"\t\"}", 1, "$.a", "\\t"),
        ("{\"a\" = 1}", 1, "$", "instead of `=`"),
        ("{\"tools\": [1}", 1, "$.tools", "`[` of line 1 with `]`"),
        ("{} {}", 1, "$", "one JSON value"),
    ];
    for (text, line, path, remedy) in cases {
        let problems = tools_problems(text);
        check_one(&problems, "tools.json", *line, path, remedy);
    }
}

#[test]
fn json_that_is_no_tools_file() {
    let cases: &[(&str, u32, &str, &str)] = &[
        ("[]", 1, "$", "under \"tools\""),
        ("3", 1, "$", "\"version\": 1"),
        ("{\"version\": 1}", 1, "$.tools", "\"tools\": []"),
        ("{\"tools\": []}", 1, "$.version", "\"version\": 1"),
        (
            "{\"version\": \"1\",\n\"tools\": []}",
            1,
            "$.version",
            "no other version",
        ),
        (
            "{\"version\": 2, \"tools\": []}",
            1,
            "$.version",
            "no other version",
        ),
        ("{\"version\": 1,\n \"tools\": {}}", 2, "$.tools", "array"),
        (
            "{\"version\": 1, \"tools\": [],\n \"toolz\": 1}",
            2,
            "$.toolz",
            "\"tools\"",
        ),
        (
            "{\"version\": 1, \"tools\": [\n7]}",
            2,
            "$.tools[0]",
            "object",
        ),
        (
            "{\"version\": 1, \"tools\": [],\n\"version\": 1}",
            2,
            "$.version",
            "Merge",
        ),
    ];
    for (text, line, path, remedy) in cases {
        check_one(&tools_problems(text), "tools.json", *line, path, remedy);
    }
}

#[test]
fn missing_fields_and_equal_names() {
    let text = "{\"version\": 1, \"tools\": [\n{},\n{\"name\": \"a\"}]}";
    let paths: Vec<_> = tools_problems(text)
        .into_iter()
        .map(|p| (p.line, p.path))
        .collect();
    let expected: Vec<_> = [
        (2, "[0].name"),
        (2, "[0].description"),
        (2, "[0].kind"),
        (3, "[1].description"),
        (3, "[1].kind"),
    ]
    .map(|(line, path)| (line, format!("$.tools{path}")))
    .into();
    assert_eq!(paths, expected);

    let tool =
        r#"{"name": "a", "description": "d", "kind": "expression", "config": {"expression": "1"}}"#;
    let text = format!("{{\"version\": 1, \"tools\": [\n{tool},\n\n{tool}]}}");
    let problems = tools_problems(&text);
    check_one(
        &problems,
        "tools.json",
        4,
        "$.tools[1].name",
        "Rename or delete",
    );
    assert!(problems[0].found.contains("line 2"), "{}", problems[0]);
}

#[test]
fn the_answer_to_a_hostile_file_is_bounded() {
    let keys: Vec<String> = (0..50_000).map(|i| format!("\"k{i}\": 1")).collect();
    let tools = format!("{{{}}},", keys.join(",")).repeat(2);
    let text = format!("{{\"version\": 1, \"tools\": [{tools} 7]}}");
    assert_eq!(tools_problems(&text).len(), 1000);
}

#[test]
fn five_mistakes_are_five_problems() {
    let text = r#"{
  "version": 1,
  "tools": [
    {"name": "a b", "description": "d", "kind": "expression", "config": {"expression": "1"}},
    {"name": "b", "description": "", "kind": "expression", "config": {"expression": "1"}},
    {"name": "c", "description": "d", "kind": "http", "config": {"base_url": "http://h"}},
    {"name": "d", "description": "d", "kind": "sql", "config": {"source": "s", "query": "q"}, "is_activ": true},
    {"name": "d", "description": "d", "kind": "sql", "config": {"source": "s", "query": "q"}}
  ]
}"#;
    let problems = tools_problems(text);
    let lines: Vec<u32> = problems.iter().map(|p| p.line).collect();
    assert_eq!(lines, [4, 5, 6, 7, 8]);
}
